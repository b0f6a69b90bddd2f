/* test_stored_dictionary.c: dictionaries in the side files of a database: large ones in blocks, small ones plain as older
 * programs wrote all; read by many threads at once; damaged, cut and forged ones are refused with the file's name. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "storage/base/parallel.h"
#include "storage/column/dictionary/stored_dictionary.h"
#include "storage/database/catalogue.h"
#include "tests/fuzz/fuzz_random.h"
#include "tests/support/database_files.h"
#include "tests/support/codec/string_cases.h"

#define SEED 20261122u
#define SIDE "tables/words/word.side.1"

/* Table words: a row for each string, which is its own code; one row that is NULL if there are none. */
static void make(const char *path, const struct dictionary *strings)
{
    const struct column_schema columns[] = {{.name = "word", .type = TYPE_STRING, .nullable = true}};
    const uint32_t rows = strings->count ? strings->count : 1;
    const uint64_t none = 0;
    struct database_writer *writer;
    struct table_writer *table;
    int32_t *const codes = calloc(rows, sizeof *codes);
    for (uint32_t row = 0; row < rows; row++)
        codes[row] = (int32_t)row;
    must(database_writer_open(path, &writer, error));
    must(database_writer_table(writer, "words", columns, 1, rows, &table, error));
    must(table_writer_dictionary(table, 0, strings, error));
    must(table_writer_segment(table, 0, 0, codes, strings->count ? NULL : &none, error));
    must(database_writer_commit(writer, error));
    free(codes);
}

/* Opens the database and loads the strings; compares them if there is something to compare with. */
static enum status load(const char *path, const struct dictionary *expected, struct error *error)
{
    struct database *database;
    const struct table *table;
    enum status status = database_open(path, &database, error);
    if (status != STATUS_OK)
        return status;
    status = database_table(database, "words", &table, error);
    const struct dictionary *found;
    status = AND_THEN(status, column_dictionary(&table->columns[0], 2, &found, error));
    if (status == STATUS_OK && expected) {
        assert_int_equal(found->count, expected->count);
        assert_memory_equal(found->starts, expected->starts, (found->count + (size_t)1) * sizeof(uint64_t));
        assert_memory_equal(found->bytes, expected->bytes, expected->starts[expected->count]);
    } else if (status == STATUS_OK) {
        for (uint32_t code = 0; code < found->count; code++) {
            uint32_t length;
            const char *const string = dictionary_string(found, code, &length);
            (void)dictionary_find(found, string, length);
        }
    }
    database_close(database);
    return status;
}

static bool in_blocks(const char *path)
{
    struct catalogue catalogue;
    must(catalogue_read(path, &catalogue, error));
    const bool blocks = catalogue.tables[0].columns[0].dictionary_blocks;
    catalogue_free(&catalogue);
    struct bytes text = bytes_read(path, "catalogue");
    assert_int_equal(text.data[strlen("tessera catalogue ")], blocks ? '7' : '1');
    free(text.data);
    return blocks;
}

static void strings_of_all_kinds_and_numbers_come_back(void **state)
{
    (void)state;
    static const uint32_t counts[] = {0, 1, 31, 1023, 1025, 40000};
    for (int kind = 0; kind < STRINGS_KINDS; kind++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            char path[PATH_BYTES];
            if ((kind == STRINGS_NESTED && counts[c] > 1025) || (kind == STRINGS_LONG && counts[c] > 31))
                continue;
            struct dictionary strings = strings_make((enum string_kind)kind, counts[c]);
            directory_make(path);
            make(path, &strings);
            must(load(path, &strings, error));
            const uint64_t plain = (strings.count + UINT64_C(1)) * 8 + strings.starts[strings.count];
            assert_int_equal(in_blocks(path), plain >= DICTIONARY_PLAIN_BYTES);
            must(database_check(path, 2, NULL, NULL, NULL, error));
            directory_remove(path);
            strings_free(&strings);
        }
}

/* ---- Threads ---- */

static enum status load_item(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct dictionary *dictionary;
    uint32_t length;
    (void)thread;
    RETURN_IF_ERROR(column_dictionary(context, 2, &dictionary, error));
    (void)dictionary_string(dictionary, (int64_t)item * 5000, &length);
    return length == strlen("Customer#000000000") ? STATUS_OK : error_set(error, STATUS_BAD_INPUT, "other");
}

static void threads_may_load_at_the_same_time(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    struct database *database;
    const struct table *table;
    struct dictionary strings = strings_make(STRINGS_NUMBERED, 40000);
    directory_make(path);
    make(path, &strings);
    must(database_open(path, &database, error));
    must(database_table(database, "words", &table, error));
    must(parallel_for(8, 8, load_item, (void *)&table->columns[0], error));
    database_close(database);
    directory_remove(path);
    strings_free(&strings);
}

/* ---- Damage ---- */

struct damaged {
    char path[PATH_BYTES];
    struct dictionary strings;
    struct bytes side;
};

static void damaged_make(struct damaged *damaged, uint32_t count)
{
    damaged->strings = strings_make(STRINGS_NUMBERED, count);
    directory_make(damaged->path);
    make(damaged->path, &damaged->strings);
    assert_true(in_blocks(damaged->path));
    damaged->side = bytes_read(damaged->path, SIDE);
}

static void damaged_remove(struct damaged *damaged)
{
    bytes_write(damaged->side.path, damaged->side.data, damaged->side.size);
    must(load(damaged->path, &damaged->strings, error));
    free(damaged->side.data);
    directory_remove(damaged->path);
    strings_free(&damaged->strings);
}

static void every_flipped_byte_is_seen(void **state)
{
    (void)state;
    struct damaged damaged;
    damaged_make(&damaged, 1025);
    for (size_t b = 0; b < damaged.side.size; b += b < 256 || b >= 4096 ? 1 : 7) {
        struct error error = {0};
        byte_write(damaged.side.path, b, damaged.side.data[b] ^ 0x04);
        /* Tile minima and maxima are read with values only. */
        enum status status = load(damaged.path, NULL, &error);
        if (status == STATUS_OK)
            status = database_check(damaged.path, 1, NULL, NULL, NULL, &error);
        if (status == STATUS_OK || !strstr(error.text, damaged.side.path))
            fail_msg("byte %zu: status %d, \"%s\"", b, (int)status, error.text);
        byte_write(damaged.side.path, b, damaged.side.data[b]);
    }
    byte_write(damaged.side.path, 4096, damaged.side.data[4096] ^ 1);
    must_refuse(STATUS_CHECK_FAILED, damaged.side.path, "the directory of the dictionary is damaged", "",
                load(damaged.path, NULL, error));
    bytes_write(damaged.side.path, damaged.side.data, damaged.side.size);
    byte_write(damaged.side.path, 4096 + 128, damaged.side.data[4096 + 128] ^ 1);
    must_refuse(STATUS_CHECK_FAILED, damaged.side.path, "the compressed dictionary is damaged",
                "load the table again", load(damaged.path, NULL, error));
    damaged_remove(&damaged);
}

static void a_cut_file_is_refused(void **state)
{
    (void)state;
    struct damaged damaged;
    damaged_make(&damaged, 1025);
    for (size_t size = 0; size < damaged.side.size; size += 13) {
        bytes_write(damaged.side.path, damaged.side.data, size);
        must_refuse(STATUS_BAD_INPUT, damaged.side.path, "", "", load(damaged.path, NULL, error));
    }
    damaged_remove(&damaged);
}

static void random_damage_with_right_checksums_stays_inside(void **state)
{
    (void)state;
    struct damaged damaged;
    uint32_t refused = 0;
    random_state = SEED;
    print_message("seed %u\n", SEED);
    damaged_make(&damaged, 40000);
    for (int round = 0; round < 1500; round++) {
        uint8_t *const copy = malloc(damaged.side.size);
        memcpy(copy, damaged.side.data, damaged.side.size);
        const size_t size = mutate(copy, damaged.side.size);
        reseal(copy, size);
        bytes_write(damaged.side.path, copy, size);
        struct error error = {0};
        const enum status status = load(damaged.path, NULL, &error);
        assert_true(status == STATUS_OK || strstr(error.text, damaged.side.path));
        refused += status != STATUS_OK;
        free(copy);
    }
    assert_true(refused > 500);
    damaged_remove(&damaged);
}

/* A catalogue that says something else than the file. */
static void the_catalogue_says_how_a_dictionary_is_stored(void **state)
{
    (void)state;
    static const char flag[] = "\"dictionary_blocks\": true,";
    struct damaged damaged;
    damaged_make(&damaged, 1025);
    struct bytes catalogue = bytes_read(damaged.path, "catalogue");
    char *const body = (char *)memchr(catalogue.data, '\n', catalogue.size) + 1;
    const size_t size = catalogue.size - (size_t)(body - (char *)catalogue.data);
    char *const place = memmem(body, size, flag, strlen(flag));
    assert_non_null(place);
    memcpy(place + strlen("\"dictionary_blocks\": "), "4444", 4);
    catalogue_forge(catalogue.path, 7, body, size);
    must_refuse(STATUS_BAD_INPUT, catalogue.path, "dictionary_blocks", "", load(damaged.path, NULL, error));
    memset(place, ' ', strlen(flag));
    catalogue_forge(catalogue.path, 1, body, size);
    must_refuse(STATUS_BAD_INPUT, damaged.side.path, "the dictionary is missing or not valid", "",
                load(damaged.path, NULL, error));
    memcpy(place, flag, strlen(flag));
    catalogue_forge(catalogue.path, 7, body, size);
    free(catalogue.data);
    damaged_remove(&damaged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_of_all_kinds_and_numbers_come_back),
        cmocka_unit_test(threads_may_load_at_the_same_time),
        cmocka_unit_test(every_flipped_byte_is_seen),
        cmocka_unit_test(a_cut_file_is_refused),
        cmocka_unit_test(random_damage_with_right_checksums_stays_inside),
        cmocka_unit_test(the_catalogue_says_how_a_dictionary_is_stored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
