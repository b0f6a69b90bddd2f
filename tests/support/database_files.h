/* database_files.h: for tests that damage the files of a database of ROWS sales and read all of it again. */
#ifndef TESSERA_TESTS_SUPPORT_DATABASE_FILES_H
#define TESSERA_TESTS_SUPPORT_DATABASE_FILES_H

#include "tests/support/database_cases.h"

#include <fcntl.h>
#include <inttypes.h>
#include <xxhash.h>

#define ROWS 3000 /* three tiles, the last one partly filled */

/* A file's bytes; the caller frees `data`. */
struct bytes {
    char path[2 * PATH_BYTES];
    uint8_t *data;
    size_t size;
};

static inline struct bytes bytes_of(const char *path)
{
    struct bytes bytes;
    struct stat stat_of;
    snprintf(bytes.path, sizeof bytes.path, "%s", path);
    FILE *file = fopen(bytes.path, "rb");
    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &stat_of), 0);
    bytes.size = (size_t)stat_of.st_size;
    bytes.data = malloc(bytes.size + 1);
    assert_non_null(bytes.data);
    assert_int_equal(fread(bytes.data, 1, bytes.size, file), bytes.size);
    fclose(file);
    return bytes;
}

#define GATHERED_MAX 200

/* All files below a directory, except empty ones. */
static struct bytes gathered[GATHERED_MAX];
static int gathered_count;

static inline int gather(const char *path, const struct stat *stat_of, int type, struct FTW *walk)
{
    (void)walk;
    if (type == FTW_F && stat_of->st_size > 0) {
        assert_true(gathered_count < GATHERED_MAX);
        gathered[gathered_count++] = bytes_of(path);
    }
    return 0;
}

static inline void files_gather(const char *directory)
{
    gathered_count = 0;
    nftw(directory, gather, 16, FTW_PHYS);
}

static inline void files_forget(void)
{
    while (gathered_count)
        free(gathered[--gathered_count].data);
}

static inline struct bytes bytes_read(const char *directory, const char *name)
{
    char path[2 * PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return bytes_of(path);
}

static inline void bytes_write(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    fclose(file);
}

static inline void byte_write(const char *path, size_t offset, uint8_t byte)
{
    int file = open(path, O_WRONLY);
    assert_true(file >= 0);
    assert_int_equal(pwrite(file, &byte, 1, (off_t)offset), 1);
    close(file);
}

/* Opens everything and reads every value. Returns the first failure's status, or STATUS_OK; a wrong value
 * fails the test. */
static inline enum status read_all(const char *path, const char *codec, struct error *error)
{
    struct database *database;
    const struct table *table;
    enum status status = database_open(path, &database, error);
    if (status != STATUS_OK)
        return status;
    status = database_table(database, "sale", &table, error);
    for (int c = 0; c < SALE_COLUMNS && status == STATUS_OK; c++) {
        struct column_data *data;
        status = column_data_open(database, &table->columns[c], codec_by_name(codec)->id, 1, &data, error);
        if (status != STATUS_OK)
            break;
        const struct dictionary *dictionary;
        status = column_dictionary(&table->columns[c], 1, &dictionary, error);
        if (status != STATUS_OK)
            break;
        assert_int_equal(table->rows, ROWS);
        assert_int_equal(sale_difference(data, c), -1);
    }
    database_close(database);
    return status;
}

static inline void put64(uint8_t *at, uint64_t value)
{
    memcpy(at, &value, sizeof value);
}

/* Computes all checksums of a column file again, as an attacker would. Then only the checks of its fields
 * protect the decoders. */
static inline void reseal(uint8_t *data, size_t size)
{
    uint64_t directory, parts = 0;
    if (size < 4096 + 32)
        return;
    memcpy(&parts, data + 40, 4);
    memcpy(&directory, data + 48, 8);
    if (directory > size - 32 || (size - 32 - directory) / 40 < parts)
        return;
    for (uint64_t p = 0; p < parts; p++) {
        uint8_t *entry = data + directory + 40 * p;
        uint64_t offset, bytes;
        memcpy(&offset, entry, 8);
        memcpy(&bytes, entry + 8, 8);
        uint64_t padded = (bytes + 127) / 128 * 128;
        if (offset <= size && padded >= bytes && padded <= size - offset)
            put64(entry + 16, XXH3_64bits(data + offset, padded));
    }
    put64(data + 4088, XXH3_64bits(data, 4088));
    memcpy(data + size - 24, data + 4088, 8);
    put64(data + size - 32, XXH3_64bits(data + directory, 40 * parts));
}

/* Writes a catalogue with that body and a right checksum. */
static inline void catalogue_forge(const char *path, unsigned version, const char *body, size_t size)
{
    char *text = malloc(size + 64);
    assert_non_null(text);
    int line =
        sprintf(text, "tessera catalogue %u %016" PRIx64 "\n", version, (uint64_t)XXH3_64bits(body, size));
    memcpy(text + line, body, size);
    bytes_write(path, text, (size_t)line + size);
    free(text);
}

/* Setup and teardown: *state is the path of a database with all columns in lane-for. */
static inline int database_begin(void **state)
{
    static char path[PATH_BYTES];
    directory_make(path);
    database_make(path, "lane-for", ROWS);
    *state = path;
    return 0;
}

static inline int database_end(void **state)
{
    directory_remove(*state);
    return 0;
}

#define in_a_database(test) cmocka_unit_test_setup_teardown(test, database_begin, database_end)

#endif
