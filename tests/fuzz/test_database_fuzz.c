/* test_database_fuzz.c: random damage to any file of a database gives an error or the right data; random
 * damage that was given right checksums gives an error or any data, and never a read outside of the file
 * (build with TESSERA_SANITIZE).
 *
 * `test_database_fuzz ROUNDS SEED` does more of the same. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/fuzz/fuzz_decode.h"
#include "tests/fuzz/fuzz_random.h"
#include "tests/support/database_files.h"

#define SEED   20260117u
#define ROUNDS 250 /* for each codec */

static void decode_all(const char *path)
{
    struct database *database;
    if (database_open(path, &database, NULL) != STATUS_OK)
        return;
    for (uint32_t t = 0; t < database_table_count(database); t++) {
        const struct table *table = database_table_at(database, t);
        for (uint32_t c = 0; c < table->column_count; c++)
            decode_anything(database, &table->columns[c]);
    }
    database_close(database);
    /* It opens every index and compares it with its column. */
    enum status status = database_check(path, 1, NULL, NULL, NULL, NULL);
    assert_true(status == STATUS_OK || status == STATUS_CHECK_FAILED || status == STATUS_BAD_INPUT);
}

/* All tables in that codec, and an index in each format. */
static void make_indexed(const char *path, const char *codec)
{
    struct database_writer *writer;
    must(database_writer_open(path, &writer, error));
    write_color(writer, codec);
    struct table_writer *const sale = write_sale(writer, codec, ROWS);
    must(table_writer_index(sale, SALE_AMOUNT, (struct index_wish){INDEX_WAH64, INDEX_DEPTH, 9}, error));
    must(table_writer_index(sale, SALE_NOTE, (struct index_wish){INDEX_WAH32, INDEX_VALUES, 0}, error));
    must(table_writer_index(sale, SALE_PAID, (struct index_wish){INDEX_FLAT, INDEX_AUTO, 0}, error));
    must(database_writer_commit(writer, error));
}

static void fuzz(const char *codec, unsigned count)
{
    char path[PATH_BYTES];
    directory_make(path);
    make_indexed(path, codec);
    files_gather(path);
    assert_true(gathered_count > SALE_COLUMNS);
    for (unsigned round = 0; round < count; round++) {
        const struct bytes *file = &gathered[below((uint32_t)gathered_count)];
        uint8_t *copy = malloc(file->size);
        assert_non_null(copy);
        memcpy(copy, file->data, file->size);
        size_t size = mutate(copy, file->size);
        bytes_write(file->path, copy, size);
        assert_int_not_equal(read_all(path, codec, NULL), STATUS_MACHINE); /* wrong data fail in there */
        reseal(copy, size);
        bytes_write(file->path, copy, size);
        decode_all(path);
        bytes_write(file->path, file->data, file->size);
        free(copy);
    }
    must(read_all(path, codec, error));
    files_forget();
    directory_remove(path);
}

static unsigned rounds = ROUNDS;

static void random_damage_gives_an_error_or_the_right_data(void **state)
{
    (void)state;
    print_message("seed %llu, %u rounds\n", (unsigned long long)random_state, rounds);
    for (uint32_t id = CODEC_PLAIN; id < CODEC_COUNT; id++)
        if (!codec_needs_levels(codec_by_id(id)))
            fuzz(codec_by_id(id)->name, rounds);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_damage_gives_an_error_or_the_right_data),
    };
    rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : ROUNDS;
    random_state = argc > 2 ? strtoull(argv[2], NULL, 10) : SEED;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
