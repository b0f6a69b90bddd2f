/* database_cases.h: a temporary directory with a small star schema in it, for the tests of the column
 * store. */
#ifndef TESSERA_TESTS_SUPPORT_DATABASE_CASES_H
#define TESSERA_TESTS_SUPPORT_DATABASE_CASES_H

#include "storage/codec/chunk_reader.h"
#include "storage/database/writer.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 512

/* Makes a directory and gives the path "<directory>/db"; directory_remove removes it. */
static inline void directory_make(char path[PATH_BYTES])
{
    const char *parent = getenv("TMPDIR");
    snprintf(path, PATH_BYTES - 16, "%s/tessera-test-XXXXXX", parent && *parent ? parent : "/tmp");
    assert_non_null(mkdtemp(path));
    strcat(path, "/db");
}

static inline int remove_one(const char *path, const struct stat *stat, int type, struct FTW *walk)
{
    (void)stat, (void)type, (void)walk;
    return remove(path);
}

static inline void directory_remove(const char *path)
{
    char parent[PATH_BYTES];
    snprintf(parent, sizeof parent, "%.*s", (int)(strlen(path) - strlen("/db")), path);
    nftw(parent, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static uint64_t files_counted;

static inline int count_one(const char *path, const struct stat *stat, int type, struct FTW *walk)
{
    (void)path, (void)stat, (void)walk;
    files_counted += type == FTW_F;
    return 0;
}

/* The device of tests that every device must pass: TESSERA_TEST_DEVICE, or the CPU. */
static inline const char *test_device(void)
{
    const char *device = getenv("TESSERA_TEST_DEVICE");
    return device && *device ? device : "cpu";
}

/* The number of files (directories do not count) below `path`, at any depth. */
static inline uint64_t directory_files(const char *path)
{
    files_counted = 0;
    nftw(path, count_one, 16, FTW_PHYS);
    return files_counted;
}

/* Fails the test with the error's sentence if the call failed, or if it left one although it succeeded. */
#define must(expression)                                                                        \
    do {                                                                                        \
        struct error error_of_call_ = {0};                                                      \
        struct error *error = &error_of_call_;                                                  \
        if ((expression) != STATUS_OK)                                                          \
            fail_msg("%s: %s", #expression, error_of_call_.text);                               \
        if (error_of_call_.text[0])                                                             \
            fail_msg("%s succeeded, and its error says: %s", #expression, error_of_call_.text); \
    } while (0)

/* Fails the test unless the call returns that status and its sentence contains all three texts (give "" for
 * fewer). */
#define must_refuse(expected, one, two, three, expression)                                                 \
    do {                                                                                                   \
        struct error error_of_call_ = {0};                                                                 \
        struct error *error = &error_of_call_;                                                             \
        enum status status_of_call_ = (expression);                                                        \
        if (status_of_call_ != (expected) || !strstr(error->text, (one)) || !strstr(error->text, (two)) || \
            !strstr(error->text, (three)))                                                                 \
            fail_msg("%s: status %d, \"%s\"", #expression, (int)status_of_call_, error->text);             \
    } while (0)

/* ---- A small star schema: tables color (key, name) and sale (one column of each type) ---- */

static const char *const color_names[] = {"blue", "green", "red"};

static const struct column_schema color_columns[] = {
    {.name = "c_key", .type = TYPE_INT32, .primary_key = true},
    {.name = "c_name", .type = TYPE_STRING},
};

enum { SALE_KEY, SALE_AMOUNT, SALE_PRICE, SALE_DAY, SALE_PAID, SALE_NOTE, SALE_COLOR, SALE_COLUMNS };

static const struct column_schema sale_columns[SALE_COLUMNS] = {
    {.name = "s_key", .type = TYPE_INT64, .primary_key = true},
    {.name = "s_amount", .type = TYPE_INT32, .nullable = true},
    {.name = "s_price", .type = TYPE_DECIMAL, .precision = 12, .scale = 2},
    {.name = "s_day", .type = TYPE_DATE},
    {.name = "s_paid", .type = TYPE_BOOL},
    {.name = "s_note", .type = TYPE_STRING, .nullable = true},
    {.name = "s_color", .type = TYPE_INT32, .references_table = "color", .references_column = "c_key"},
};

/* The value that is written into a row, and that a reader must find. */
static inline int64_t sale_value(int column, uint64_t row)
{
    switch (column) {
    case SALE_KEY:
        return (int64_t)row * 4 + 5000000000;
    case SALE_AMOUNT:
        return (int64_t)(row * 2654435761u % 1000) - 500;
    case SALE_PRICE:
        return (int64_t)(row * 40503u % 100000) * 1000000;
    case SALE_DAY:
        return 8000 + (int64_t)(row / 100);
    case SALE_PAID:
        return row % 3 == 0;
    case SALE_NOTE:
        return (int64_t)(row % 2);
    default:
        return (int64_t)(row * 7 % 3);
    }
}

static inline bool sale_null(int column, uint64_t row)
{
    return (column == SALE_AMOUNT && row % 5 == 2) || (column == SALE_NOTE && row % 1100 > 30);
}

static inline struct dictionary dictionary_of(const char *const *strings, uint32_t count, uint64_t *starts,
                                              char *bytes)
{
    starts[0] = 0;
    for (uint32_t s = 0; s < count; s++) {
        memcpy(bytes + starts[s], strings[s], strlen(strings[s]));
        starts[s + 1] = starts[s] + strlen(strings[s]);
    }
    return (struct dictionary){.count = count, .starts = starts, .bytes = bytes};
}

static inline void write_color(struct database_writer *writer, const char *codec)
{
    struct table_writer *table;
    uint64_t starts[4];
    char bytes[64];
    struct dictionary names = dictionary_of(color_names, 3, starts, bytes);
    const int32_t keys[] = {10, 20, 30}, codes[] = {2, 0, 1};
    must(database_writer_table(writer, "color", color_columns, 2, 3, &table, error));
    for (uint32_t c = 0; c < 2; c++)
        must(table_writer_codec(table, c, codec, error));
    must(table_writer_dictionary(table, 1, &names, error));
    must(table_writer_segment(table, 0, 0, keys, NULL, error));
    must(table_writer_segment(table, 1, 0, codes, NULL, error));
}

static inline void write_sale_column(struct table_writer *table, int column, uint64_t rows)
{
    bool wide = column_schema_value_bytes(&sale_columns[column]) == 8;
    for (uint32_t segment = 0; (uint64_t)segment * SEGMENT_ROWS < rows; segment++) {
        uint64_t first = (uint64_t)segment * SEGMENT_ROWS, left = rows - first;
        uint32_t count = left < SEGMENT_ROWS ? (uint32_t)left : SEGMENT_ROWS;
        void *values = calloc(count, 8);
        uint64_t *validity = calloc(count / 64 + 1, 8);
        assert_non_null(values);
        assert_non_null(validity);
        for (uint32_t r = 0; r < count; r++) {
            bool null = sale_null(column, first + r);
            int64_t value = null ? -77 : sale_value(column, first + r);
            if (wide)
                ((int64_t *)values)[r] = value;
            else
                ((int32_t *)values)[r] = (int32_t)value;
            validity[r / 64] |= (uint64_t)!null << r % 64;
        }
        must(table_writer_segment(table, (uint32_t)column, segment, values,
                                  sale_columns[column].nullable ? validity : NULL, error));
        free(values);
        free(validity);
    }
}

static inline struct table_writer *write_sale(struct database_writer *writer, const char *codec,
                                              uint64_t rows)
{
    static const char *const notes[] = {"", "it's \"quoted\", with a comma"};
    struct table_writer *table;
    uint64_t starts[3];
    char bytes[64];
    struct dictionary dictionary = dictionary_of(notes, 2, starts, bytes);
    must(database_writer_table(writer, "sale", sale_columns, SALE_COLUMNS, rows, &table, error));
    for (uint32_t c = 0; c < SALE_COLUMNS; c++)
        must(table_writer_codec(table, c, codec, error));
    for (int c = SALE_COLUMNS - 1; c >= 0; c--)
        write_sale_column(table, c, rows);
    must(table_writer_dictionary(table, SALE_NOTE, &dictionary, error));
    return table;
}

/* Makes or replaces both tables. */
static inline void database_make(const char *path, const char *codec, uint64_t rows)
{
    struct database_writer *writer;
    must(database_writer_open(path, &writer, error));
    write_color(writer, codec);
    write_sale(writer, codec, rows);
    must(database_writer_commit(writer, error));
}

/* The first row of the sale column that differs from what was written, or -1. */
static inline int64_t sale_difference(const struct column_data *data, int column)
{
    struct chunk_reader reader = {0};
    uint64_t row = 0;
    for (uint32_t s = 0; s < data->segment_count; s++) {
        const struct segment_data *segment = &data->segments[s];
        for (uint32_t t = 0; t < segment->chunk.tiles; t++) {
            uint32_t count = segment->chunk.rows - t * TILE_ROWS;
            int64_t min = INT64_MAX, max = INT64_MIN;
            const void *values;
            if (chunk_reader_tile(&reader, &segment->chunk, t, &values, NULL) != STATUS_OK)
                return (int64_t)row;
            for (uint32_t r = 0; r < TILE_ROWS && r < count; r++, row++) {
                int64_t value = row_value(values, segment->chunk.value_bytes, r);
                bool valid = !segment->validity || (segment->validity[t * 32 + r % 32] >> r / 32 & 1);
                if (valid == sale_null(column, row) || (valid && value != sale_value(column, row)))
                    return (int64_t)row;
                min = valid && value < min ? value : min;
                max = valid && value > max ? value : max;
            }
            if (segment->tile_min_max[2 * t] != min || segment->tile_min_max[2 * t + 1] != max)
                return (int64_t)row;
        }
    }
    chunk_reader_close(&reader);
    return row == data->column->table->rows ? -1 : (int64_t)row;
}

/* Opens the database and checks every column of sale in that codec. */
static inline void check_sale(const char *path, const char *codec, uint64_t rows)
{
    struct database *database;
    const struct table *table;
    must(database_open(path, &database, error));
    must(database_table(database, "sale", &table, error));
    assert_int_equal(table->rows, rows);
    for (int c = 0; c < SALE_COLUMNS; c++) {
        struct column_data *data;
        must(column_data_open(database, &table->columns[c], codec_by_name(codec)->id, 2, &data, error));
        assert_int_equal(sale_difference(data, c), -1);
    }
    database_close(database);
}

#endif
