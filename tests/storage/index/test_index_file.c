/*
 * test_index_file.c: bitmap indexes of columns of every type have exactly the rows of their bins and of the NULLs; they
 * are dropped, built again with their table, and refused when damaged; and a change that fails leaves nothing.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "storage/index/bitset.h"
#include "storage/column/statistics.h"
#include "storage/index/index_bins.h"
#include "storage/index/index_file.h"
#include "storage/index/wah.h"
#include "lab/bitmaps/wah/wah_many.h"
#include "tests/support/database_files.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static const struct index_wish automatic = {.format = INDEX_WAH64};

static const struct column *sale_column(struct database *database, const char *name)
{
    const struct table *table;
    const struct column *column;
    must(database_table(database, "sale", &table, error));
    must(table_column(table, name, &column, error));
    return column;
}

/* ---- Round trips ---- */

/* The vector that a row must be in. */
static uint32_t right_vector(const struct index_data *index, int column, uint64_t row)
{
    if (sale_null(column, row))
        return index->index->bin_count;
    const int64_t value = sale_value(column, row);
    uint32_t bin = 0;
    assert_true(value >= index->index->bounds[0]);
    while (bin + 1 < index->index->bin_count && index->index->bounds[bin + 1] <= value)
        bin++;
    if (index->index->exact)
        assert_int_equal(index->index->bounds[bin], value);
    return bin;
}

static void vector_bits(const struct index_data *index, const struct index_segment *segment, uint32_t v,
                        uint64_t *bits)
{
    const struct index_vector *const vector = &segment->vectors[v];
    const enum index_format format = index->index->wish.format;
    const bool pieces = format != INDEX_FLAT && vector->words > INDEX_SHORT_WORDS;
    assert_int_equal(vector->pieces != INDEX_NO_PIECES, pieces);
    if (format == INDEX_WAH64) {
        const struct wah_vector words = {(const uint64_t *)segment->words + vector->first, vector->words};
        wah_to_bits(words, segment->rows, bits);
        if (pieces)
            assert_true(wah_directory_valid(words, segment->rows, segment->pieces + vector->pieces));
    } else if (format == INDEX_WAH32) {
        const struct wah32_vector words = {(const uint32_t *)segment->words + vector->first, vector->words};
        wah32_to_bits(words, segment->rows, bits);
        if (pieces)
            assert_true(wah32_directory_valid(words, segment->rows, segment->pieces + vector->pieces));
    } else {
        memcpy(bits, (const uint64_t *)segment->words + vector->first, vector->words * 8);
    }
}

static void index_must_be_right(struct database *database, const struct column *column, int number)
{
    const struct index_data *index;
    must(index_data_open(database, column, 2, &index, error));
    assert_int_equal(index->segment_count, column->table->segment_count);
    assert_int_equal(index->vector_count, index->index->bin_count + (column->statistics.nulls > 0));
    uint64_t *bits = calloc(column->table->rows / 64 + 2, sizeof *bits), row = 0, words = 0;
    uint32_t *vectors = malloc((column->table->rows + 1) * sizeof *vectors);
    assert_true(bits && vectors);
    for (uint64_t r = 0; r < column->table->rows; r++)
        vectors[r] = right_vector(index, number, r);
    for (uint32_t s = 0; s < index->segment_count; s++) {
        for (uint32_t v = 0; v < index->vector_count; v++) {
            uint64_t rows = 0;
            vector_bits(index, &index->segments[s], v, bits);
            for (uint32_t r = 0; r < index->segments[s].rows; r++) {
                const bool set = bits[r / 64] >> r % 64 & 1;
                if (set != (vectors[row + r] == v))
                    fail_msg("%s: vector %u, row %u", column->schema.name, v, r);
                rows += set;
            }
            assert_int_equal(index->segments[s].vectors[v].rows, rows);
        }
        row += index->segments[s].rows;
        words += index->segments[s].word_count;
    }
    assert_int_equal(row, column->table->rows);
    assert_int_equal(words, index->index->words);
    free(bits);
    free(vectors);
}

static void every_type_at_every_size(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {0, 1, 62, 63, 64, 1025, 3000, 63 * 1024 - 1, 63 * 1024, 63 * 1024 + 1};
    static const struct index_wish wishes[] = {
        {INDEX_WAH64, INDEX_AUTO, 0},  {INDEX_WAH32, INDEX_AUTO, 0},   {INDEX_FLAT, INDEX_AUTO, 0},
        {INDEX_WAH64, INDEX_DEPTH, 7}, {INDEX_WAH32, INDEX_WIDTH, 13}, {INDEX_FLAT, INDEX_WIDTH, 1},
    };
    char path[PATH_BYTES];
    for (size_t size = 0; size < sizeof sizes / sizeof *sizes; size++) {
        directory_make(path);
        for (size_t w = 0; w < sizeof wishes / sizeof *wishes; w++) {
            struct database *database;
            struct database_writer *writer;
            must(database_writer_open(path, &writer, error));
            write_color(writer, "plain");
            struct table_writer *const table = write_sale(writer, w % 2 ? "lane-for" : "plain", sizes[size]);
            for (uint32_t c = 0; c < SALE_COLUMNS; c++)
                must(table_writer_index(table, c, wishes[w], error));
            must(database_writer_commit(writer, error));
            must(database_open(path, &database, error));
            for (int c = 0; c < SALE_COLUMNS; c++)
                index_must_be_right(database, sale_column(database, sale_columns[c].name), c);
            database_close(database);
            must(database_check(path, 2, NULL, NULL, NULL, error));
        }
        directory_remove(path);
    }
}

static void too_many_values_get_bins(void **state)
{
    (void)state;
    const struct index_wish values = {.format = INDEX_WAH64, .bins = INDEX_VALUES};
    char path[PATH_BYTES];
    struct database *database;
    directory_make(path);
    database_make(path, "lane-for", 10000);
    const uint64_t files = directory_files(path);
    must_refuse(STATUS_BAD_INPUT, "sale.s_key", "more than 4096 different values", "--bins",
                database_index_create(path, "sale", "s_key", values, 1, NULL, error));
    assert_int_equal(directory_files(path), files);
    must(database_index_create(path, "sale", "s_key", automatic, 1, NULL, error));
    must(database_index_create(path, "sale", "s_day", values, 1, NULL, error));
    must(database_open(path, &database, error));
    const struct column_index *key = sale_column(database, "s_key")->index,
                              *day = sale_column(database, "s_day")->index;
    assert_int_equal(key->bin_count, INDEX_BINS_OWN);
    assert_false(key->exact);
    assert_int_equal(day->bin_count, 100);
    assert_true(day->exact);
    index_must_be_right(database, sale_column(database, "s_key"), SALE_KEY);
    const struct index_data *index;
    must(index_data_open(database, sale_column(database, "s_key"), 1, &index, error));
    for (uint32_t v = 0; v < index->vector_count; v++) /* equal depth */
        assert_in_range(index->segments[0].vectors[v].rows, 38, 41);
    must_refuse(STATUS_BAD_INPUT, "sale.s_paid", "has no index", "index create",
                index_data_open(database, sale_column(database, "s_paid"), 1, &index, error));
    database_close(database);
    directory_remove(path);
}

/* Values at the ends of int64, and a column of nothing but NULLs. */
static void the_widest_range_and_none(void **state)
{
    (void)state;
    static const struct column_schema columns[] = {{.name = "wide", .type = TYPE_INT64},
                                                   {.name = "none", .type = TYPE_INT64, .nullable = true}};
    static const struct index_wish wishes[] = {{INDEX_WAH64, INDEX_VALUES, 0},
                                               {INDEX_WAH32, INDEX_WIDTH, 3},
                                               {INDEX_FLAT, INDEX_WIDTH, 4096},
                                               {INDEX_WAH64, INDEX_DEPTH, 4096}};
    static const int64_t wide[] = {INT64_MAX, INT64_MIN, 0, -1, INT64_MAX, INT64_MAX, INT64_MIN};
    static const int64_t zeros[7];
    static const uint64_t null;
    char path[PATH_BYTES];
    directory_make(path);
    for (size_t w = 0; w < sizeof wishes / sizeof *wishes; w++) {
        struct database_writer *writer;
        struct table_writer *writing;
        struct database *database;
        const struct table *table;
        const struct index_data *index;
        must(database_writer_open(path, &writer, error));
        must(database_writer_table(writer, "t", columns, 2, 7, &writing, error));
        must(table_writer_segment(writing, 0, 0, wide, NULL, error));
        must(table_writer_segment(writing, 1, 0, zeros, &null, error));
        must(table_writer_index(writing, 0, wishes[w], error));
        must(table_writer_index(writing, 1, wishes[w], error));
        must(database_writer_commit(writer, error));
        must(database_open(path, &database, error));
        must(database_table(database, "t", &table, error));
        must(index_data_open(database, &table->columns[0], 1, &index, error));
        assert_in_range(index->vector_count, 3, 4096);
        assert_int_equal(index->index->bounds[0], INT64_MIN);
        assert_int_equal(index->segments[0].vectors[0].rows, 2);
        assert_int_equal(index->segments[0].vectors[index->vector_count - 1].rows, 3);
        must(index_data_open(database, &table->columns[1], 1, &index, error));
        assert_int_equal(index->vector_count, 1);
        assert_int_equal(index->segments[0].vectors[0].rows, 7);
        database_close(database);
        must(database_check(path, 1, NULL, NULL, NULL, error));
    }
    directory_remove(path);
}

/* ---- Changes of the table ---- */

static void a_replaced_table_gets_its_indexes_again(void **state)
{
    const char *path = *state;
    const struct index_wish flat = {.format = INDEX_FLAT, .bins = INDEX_WIDTH, .count = 5};
    struct database *before, *after;
    must(database_index_create(path, "sale", "s_note", automatic, 1, NULL, error));
    must(database_index_create(path, "sale", "s_price", flat, 1, NULL, error));
    const uint64_t files = directory_files(path);
    must(database_open(path, &before, error));
    database_make(path, "plain", 2 * ROWS);
    index_must_be_right(before, sale_column(before, "s_note"), SALE_NOTE); /* the old state is whole */
    must(database_open(path, &after, error));
    assert_int_equal(sale_column(after, "s_price")->index->wish.count, 5);
    index_must_be_right(after, sale_column(after, "s_note"), SALE_NOTE);
    index_must_be_right(after, sale_column(after, "s_price"), SALE_PRICE);
    assert_null(sale_column(after, "s_day")->index);
    database_close(before);
    database_close(after);
    must(database_check(path, 1, NULL, NULL, NULL, error));
    assert_int_equal(directory_files(path), files);
    must_refuse(STATUS_BAD_INPUT, "sale.s_note", "has an index already", "drop",
                database_index_create(path, "sale", "s_note", automatic, 1, NULL, error));
    must(database_index_drop(path, "sale", "s_note", error));
    must_refuse(STATUS_BAD_INPUT, "sale.s_note", "has no index", "",
                database_index_drop(path, "sale", "s_note", error));
    must_refuse(STATUS_BAD_INPUT, "s_nothing", "has no column", "",
                database_index_drop(path, "sale", "s_nothing", error));
    must_refuse(STATUS_BAD_INPUT, "no table", "nothing", "",
                database_index_drop(path, "nothing", "s_note", error));
    must(database_index_drop(path, "sale", "s_price", error));
    struct bytes catalogue = bytes_read(path, "catalogue");
    assert_memory_equal(catalogue.data, "tessera catalogue 1 ", 20); /* older programs can read it again */
    free(catalogue.data);
}

static void appended_rows_are_indexed(void **state)
{
    const char *path = *state;
    const uint64_t more = 5000;
    struct database_writer *writer;
    struct table_writer *table;
    struct database *database;
    uint64_t validity[5000 / 64 + 1];
    int64_t *values = calloc(more, sizeof *values);
    assert_non_null(values);
    must(database_index_create(path, "sale", "s_amount", automatic, 1, NULL, error));
    must(database_writer_open(path, &writer, error));
    must(database_writer_append(writer, "sale", more, &table, error));
    for (uint32_t c = 0; c < SALE_COLUMNS; c++) {
        const bool wide = column_schema_value_bytes(&sale_columns[c]) == 8;
        struct old_rows old;
        if (c == SALE_NOTE) {
            static const char *const notes[] = {"", "it's \"quoted\", with a comma"};
            uint64_t starts[3];
            char bytes[64];
            struct dictionary dictionary = dictionary_of(notes, 2, starts, bytes);
            must(table_writer_dictionary(table, c, &dictionary, error));
        }
        memset(validity, 0xff, sizeof validity);
        must(table_writer_old(table, c, NULL, NULL, &old, error));
        for (uint64_t row = 0; row < more; row++) {
            if (wide)
                values[row] = sale_value((int)c, ROWS + row);
            else
                ((int32_t *)values)[row] = (int32_t)sale_value((int)c, ROWS + row);
            if (sale_null((int)c, ROWS + row))
                validity[row / 64] &= ~(1ull << row % 64);
        }
        must(table_writer_segment(table, c, old.segment, values, sale_columns[c].nullable ? validity : NULL,
                                  error));
    }
    must(table_writer_index(table, SALE_DAY, automatic, error));
    must(database_writer_commit(writer, error));
    must(database_open(path, &database, error));
    assert_int_equal(sale_column(database, "s_amount")->table->rows, ROWS + more);
    index_must_be_right(database, sale_column(database, "s_amount"), SALE_AMOUNT);
    index_must_be_right(database, sale_column(database, "s_day"), SALE_DAY);
    database_close(database);
    must(database_check(path, 1, NULL, NULL, NULL, error));
    free(values);
}

/* ---- Failures ---- */

static enum status create_limited(const char *path, rlim_t limit, struct error *error)
{
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit limited = {.rlim_cur = limit, .rlim_max = before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limited), 0);
    const enum status status = database_index_create(path, "sale", "s_amount", automatic, 1, NULL, error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_DFL);
    return status;
}

static void a_full_disk_leaves_no_index(void **state)
{
    const char *path = *state;
    const uint64_t files = directory_files(path);
    static const rlim_t limits[] = {0, 4000, 4096, 8192, 40000};
    struct bytes before = bytes_read(path, "catalogue");
    for (size_t l = 0; l < sizeof limits / sizeof *limits; l++) {
        must_refuse(STATUS_MACHINE, path, "File too large", "", create_limited(path, limits[l], error));
        assert_int_equal(directory_files(path), files);
        struct bytes after = bytes_read(path, "catalogue");
        assert_int_equal(after.size, before.size);
        assert_memory_equal(after.data, before.data, before.size);
        free(after.data);
    }
    must(create_limited(path, RLIM_INFINITY, error));
    must(database_check(path, 1, NULL, NULL, NULL, error));
    free(before.data);
}

/* The signal of a file that is too large ends the process in the middle of a write. */
static void a_killed_writer_leaves_the_old_state(void **state)
{
    const char *path = *state;
    const uint64_t files = directory_files(path);
    static const rlim_t limits[] = {0, 5000, 8192, 40000};
    for (size_t l = 0; l < sizeof limits / sizeof *limits; l++) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            const struct rlimit none = {0}, limited = {.rlim_cur = limits[l], .rlim_max = limits[l]};
            signal(SIGXFSZ, SIG_DFL);
            setrlimit(RLIMIT_CORE, &none);
            setrlimit(RLIMIT_FSIZE, &limited);
            _exit(database_index_create(path, "sale", "s_amount", automatic, 1, NULL, NULL) == STATUS_OK);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ);
        must(read_all(path, "lane-for", error));
        must(database_check(path, 1, NULL, NULL, NULL, error));
    }
    assert_true(directory_files(path) > files);
    must(database_index_create(path, "sale", "s_amount", automatic, 1, NULL, error));
    assert_int_equal(directory_files(path), files + 1);
    must(database_check(path, 1, NULL, NULL, NULL, error));
}

static enum status open_amount(const char *path, struct error *error)
{
    struct database *database;
    const struct index_data *index;
    enum status status = database_open(path, &database, error);
    if (status != STATUS_OK)
        return status;
    status = index_data_open(database, sale_column(database, "s_amount"), 1, &index, error);
    database_close(database);
    return status;
}

static void a_damaged_byte_is_found(void **state)
{
    const char *path = *state;
    const struct index_wish wish = {.format = INDEX_WAH64, .bins = INDEX_DEPTH, .count = 6};
    must(database_index_create(path, "sale", "s_amount", wish, 1, NULL, error));
    struct bytes file = bytes_read(path, "tables/sale/s_amount.index.2");
    for (size_t at = 0; at < file.size; at += at < 256 || at >= 4080 ? 1 : 61) {
        byte_write(file.path, at, file.data[at] ^ 0x10);
        must_refuse(open_amount(path, NULL), file.path, "", "", open_amount(path, error));
        assert_int_not_equal(open_amount(path, NULL), STATUS_OK);
        byte_write(file.path, at, file.data[at]);
    }
    for (size_t size = 0; size < file.size; size += 97) {
        bytes_write(file.path, file.data, size);
        must_refuse(STATUS_BAD_INPUT, file.path, "", "", open_amount(path, error));
    }
    assert_int_equal(unlink(file.path), 0);
    must_refuse(STATUS_BAD_INPUT, file.path, "missing", "", open_amount(path, error));
    bytes_write(file.path, file.data, file.size);
    must(open_amount(path, error));
    free(file.data);
}

/* With right checksums: what opens is still right, or `check` finds it. No change leads out of the file. */
static void a_forged_index_is_found(void **state)
{
    const char *path = *state;
    static const enum index_format formats[] = {INDEX_WAH64, INDEX_WAH32, INDEX_FLAT};
    static const uint8_t changes[] = {0x01, 0x10, 0x40, 0x80, 0xff};
    for (int f = 0; f < 3; f++) {
        char name[64];
        const struct index_wish wish = {.format = formats[f], .bins = INDEX_DEPTH, .count = 3};
        must(database_index_create(path, "sale", "s_amount", wish, 1, NULL, error));
        snprintf(name, sizeof name, "tables/sale/s_amount.index.%d", 2 + 2 * f);
        struct bytes file = bytes_read(path, name);
        uint64_t directory;
        memcpy(&directory, file.data + 48, 8);
        uint8_t *copy = malloc(file.size);
        assert_non_null(copy);
        uint64_t found = 0, changed = 0;
        for (size_t at = 4096; at < file.size - 32; at += at < 4096 + 128 || at >= directory ? 1 : 7)
            for (size_t c = 0; c < sizeof changes; c++) {
                memcpy(copy, file.data, file.size);
                copy[at] ^= changes[c];
                reseal(copy, file.size);
                if (memcmp(copy, file.data, file.size) == 0)
                    continue; /* reseal put a checksum back */
                bytes_write(file.path, copy, file.size);
                changed++;
                found += database_check(path, 1, NULL, NULL, NULL, NULL) != STATUS_OK;
            }
        bytes_write(file.path, file.data, file.size);
        /* Only the padding between parts may differ. */
        if (changed - found > changed / 3)
            fail_msg("%s: %llu of %llu changes were found", name, (unsigned long long)found,
                     (unsigned long long)changed);
        must(database_check(path, 1, NULL, NULL, NULL, error));
        must(database_index_drop(path, "sale", "s_amount", error));
        free(copy);
        free(file.data);
    }
}

/* An index of other rows with right checksums opens, and `check` names the vector. */
static void an_index_of_other_rows_is_found(void **state)
{
    const char *path = *state;
    must(database_index_create(path, "sale", "s_paid", automatic, 1, NULL, error));
    struct bytes file = bytes_read(path, "tables/sale/s_paid.index.2");
    uint64_t word, *const words = (uint64_t *)(file.data + 4096 + 128);
    struct database *database;
    const struct index_data *index;
    memcpy(&word, words, 8);
    word = (word & ~3ull) | (~word & 3); /* the first two rows change places in both vectors */
    memcpy(words, &word, 8);
    uint64_t first;
    memcpy(&first, file.data + 4096 + 32, 8);
    words[first] = (words[first] & ~3ull) | (~words[first] & 3);
    reseal(file.data, file.size);
    bytes_write(file.path, file.data, file.size);
    must(database_open(path, &database, error));
    must(index_data_open(database, sale_column(database, "s_paid"), 1, &index, error));
    database_close(database);
    must_refuse(STATUS_CHECK_FAILED, file.path, "segment 0, vector 0", "index create",
                database_check(path, 1, NULL, NULL, NULL, error));
    free(file.data);
}

static void forge(const struct bytes *bytes, const char *from, const char *to)
{
    const char *const body = (const char *)memchr(bytes->data, '\n', bytes->size) + 1;
    const size_t size = bytes->size - (size_t)(body - (const char *)bytes->data);
    const char *const found = memmem(body, size, from, strlen(from));
    char *const text = malloc(size + strlen(to));
    if (!found || !text)
        fail_msg("the catalogue has no %s", from);
    const size_t before = (size_t)(found - body), after = size - before - strlen(from);
    memcpy(text, body, before);
    memcpy(text + before, to, strlen(to));
    memcpy(text + before + strlen(to), found + strlen(from), after);
    catalogue_forge(bytes->path, 3, text, before + strlen(to) + after);
    free(text);
}

static void a_hostile_catalogue_is_refused(void **state)
{
    const char *path = *state;
    static const struct {
        const char *from, *to, *says;
    } changes[] = {
        {"\"format\": \"wah64\"", "\"format\": \"none\"", "format"},
        {"\"format\": \"wah64\"", "\"format\": 1", "format"},
        {"\"bins\": \"auto\"", "\"bins\": \"many\"", "bins"},
        {"\"bins\": \"auto\"", "\"bins\": \"equal-width\"", "count"},
        {"\"bounds\": [", "\"bounds\": [-1,", "bounds"},
        {"\"bounds\": [", "\"bounds\": [0,", "bounds"},
        {"\"bounds\": [", "\"bounds\": [\"0\",", "bounds"},
        {"\"bounds\": [", "\"bounds\": {}, \"other\": [", "bounds"},
        {"\"bounds\": [", "\"bounds\": [], \"other\": [", "bounds"},
        {"\"exact\": true", "\"exact\": 7", "exact"},
        {"\"fills\": ", "\"fills\": 9999", "fills"},
    };
    must(database_index_create(path, "sale", "s_paid", automatic, 1, NULL, error));
    struct bytes bytes = bytes_read(path, "catalogue");
    assert_memory_equal(bytes.data, "tessera catalogue 3 ", 20);
    for (size_t c = 0; c < sizeof changes / sizeof *changes; c++) {
        struct database *database;
        forge(&bytes, changes[c].from, changes[c].to);
        must_refuse(STATUS_BAD_INPUT, bytes.path, "sale.s_paid", changes[c].says,
                    database_open(path, &database, error));
    }
    bytes_write(bytes.path, bytes.data, bytes.size);
    forge(&bytes, "\"words\": ", "\"words\": 1");
    must_refuse(STATUS_CHECK_FAILED, "s_paid.index.2", "not the catalogue's", "",
                database_check(path, 1, NULL, NULL, NULL, error));
    bytes_write(bytes.path, bytes.data, bytes.size);
    must(database_check(path, 1, NULL, NULL, NULL, error));
    free(bytes.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_at_every_size),
        cmocka_unit_test(too_many_values_get_bins),
        cmocka_unit_test(the_widest_range_and_none),
        in_a_database(a_replaced_table_gets_its_indexes_again),
        in_a_database(appended_rows_are_indexed),
        in_a_database(a_full_disk_leaves_no_index),
        in_a_database(a_killed_writer_leaves_the_old_state),
        in_a_database(a_damaged_byte_is_found),
        in_a_database(a_forged_index_is_found),
        in_a_database(an_index_of_other_rows_is_found),
        in_a_database(a_hostile_catalogue_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
