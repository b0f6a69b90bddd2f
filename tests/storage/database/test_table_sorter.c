/* test_table_sorter.c: a table that is sorted as it is loaded holds the same rows, every type of column, in
 * the order asked for; and what cannot be sorted is refused with nothing left behind. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/not_run.h"
#include "tests/support/one_directory.h"

/* ---- The rows of sale (database_cases.h), by the column they are to be sorted by ---- */

static int by_column;

static int compare_rows(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    const bool a_null = sale_null(by_column, a), b_null = sale_null(by_column, b);
    if (a_null != b_null)
        return b_null - a_null; /* NULLs first */
    const int64_t x = sale_value(by_column, a), y = sale_value(by_column, b);
    if (!a_null && x != y)
        return x < y ? -1 : 1;
    return (a > b) - (a < b);
}

static uint64_t *sorted_rows(int column, uint64_t rows)
{
    uint64_t *order = malloc((rows + 1) * sizeof *order);
    assert_non_null(order);
    for (uint64_t r = 0; r < rows; r++)
        order[r] = r;
    by_column = column;
    qsort(order, rows, sizeof *order, compare_rows);
    return order;
}

static void check_column(const struct column_data *data, int column, const uint64_t *order)
{
    int64_t tile[TILE_ROWS];
    uint64_t place = 0;
    for (uint32_t s = 0; s < data->segment_count; s++) {
        const struct segment_data *segment = &data->segments[s];
        for (uint32_t t = 0; t < segment->chunk.tiles; t++) {
            const uint32_t left = segment->chunk.rows - t * TILE_ROWS;
            segment->chunk.codec->decode_tile(&segment->chunk, t, tile);
            for (uint32_t r = 0; r < TILE_ROWS && r < left; r++, place++) {
                const bool valid = !segment->validity || (segment->validity[t * 32 + r % 32] >> r / 32 & 1);
                const int64_t value = segment->chunk.value_bytes == 8 ? tile[r] : ((int32_t *)tile)[r];
                if (valid == sale_null(column, order[place]))
                    fail_msg("column %d, place %llu: NULL or not", column, (unsigned long long)place);
                if (valid && value != sale_value(column, order[place]))
                    fail_msg("column %d, place %llu: %lld", column, (unsigned long long)place,
                             (long long)value);
            }
        }
    }
    assert_int_equal(place, data->column->table->rows);
}

/* write_sale with an order: its columns are declared before, its segments given after. */
static void make_sorted(int column, uint64_t rows, unsigned threads)
{
    static const char *const notes[] = {"", "it's \"quoted\", with a comma"};
    struct database_writer *writer;
    struct table_writer *table;
    uint64_t starts[3];
    char bytes[64];
    struct dictionary dictionary = dictionary_of(notes, 2, starts, bytes);
    must(database_writer_open(path, &writer, error));
    write_color(writer, "plain");
    must(database_writer_table(writer, "sale", sale_columns, SALE_COLUMNS, rows, &table, error));
    must(table_writer_sort_by(table, (uint32_t)column, error));
    for (int c = 0; c < SALE_COLUMNS; c++)
        write_sale_column(table, c, rows);
    must(table_writer_dictionary(table, SALE_NOTE, &dictionary, error));
    must(table_writer_sort(table, threads, NULL, error));
    must(database_writer_commit(writer, error));
}

static void check_sorted(int column, uint64_t rows)
{
    struct database *database;
    const struct table *table;
    uint64_t *order = sorted_rows(column, rows);
    must(database_open(path, &database, error));
    must(database_table(database, "sale", &table, error));
    assert_int_equal(table->rows, rows);
    for (int c = 0; c < SALE_COLUMNS; c++) {
        struct column_data *data;
        must(column_data_open(database, &table->columns[c], table->columns[c].own, 2, &data, error));
        check_column(data, c, order);
    }
    database_close(database);
    free(order);
    must(database_check(path, 1, NULL, NULL, NULL, error));
}

static void rows_are_stored_in_the_order_asked_for(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {0, 1, 31, 1023, 1025, 70000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int column = 0; column < SALE_COLUMNS; column++) {
            make_sorted(column, sizes[s], 1 + (unsigned)column % 3);
            check_sorted(column, sizes[s]);
        }
}

static void rows_move_between_segments(void **state)
{
    (void)state;
    const uint64_t rows = SEGMENT_ROWS + 1025;
    make_sorted(SALE_AMOUNT, rows, 2);
    check_sorted(SALE_AMOUNT, rows);
}

/* ---- Refusals ---- */

static struct table_writer *begin(struct database_writer **writer, uint64_t rows)
{
    struct table_writer *table;
    must(database_writer_open(path, writer, error));
    must(database_writer_table(*writer, "color", color_columns, 1, rows, &table, error));
    return table;
}

static void what_is_not_sorted_is_not_committed(void **state)
{
    (void)state;
    const int32_t keys[] = {3, 1, 2};
    struct database_writer *writer;
    struct table_writer *table = begin(&writer, 3);
    must_refuse(STATUS_BAD_INPUT, "color", "nobody said", "", table_writer_sort(table, 1, NULL, error));
    must_refuse(STATUS_BAD_INPUT, "column number 1", "", "", table_writer_sort_by(table, 1, error));
    must(table_writer_sort_by(table, 0, error));
    must_refuse(STATUS_BAD_INPUT, "sorted twice", "", "", table_writer_sort_by(table, 0, error));
    must_refuse(STATUS_BAD_INPUT, "c_key", "segment 0 of 1", "not written",
                table_writer_sort(table, 1, NULL, error));
    must(table_writer_segment(table, 0, 0, keys, NULL, error));
    must_refuse(STATUS_BAD_INPUT, "color", "was to be sorted", "", database_writer_commit(writer, error));
    assert_int_not_equal(access(path, F_OK), 0); /* nothing is left, the rows that were kept included */
}

static void values_are_checked_where_they_came_from(void **state)
{
    (void)state;
    const int32_t keys[] = {1, 2, 3};
    const uint64_t validity[] = {5};
    struct database_writer *writer;
    struct table_writer *table = begin(&writer, 3);
    must(table_writer_sort_by(table, 0, error));
    must_refuse(STATUS_BAD_INPUT, "c_key", "row 1", "NOT NULL",
                table_writer_segment(table, 0, 0, keys, validity, error));
    database_writer_abort(writer);
}

static void too_many_rows_are_refused_before_the_first(void **state)
{
    (void)state;
    struct database_writer *writer;
    struct table_writer *table = begin(&writer, (uint64_t)SORT_ROWS_MAX + 1);
    must_refuse(STATUS_BAD_INPUT, "color", "4294967296 rows", "unsorted",
                table_writer_sort_by(table, 0, error));
    database_writer_abort(writer);
}

/* 86 GB to sort 2^32 rows: skipped on a machine that has them. */
static void too_little_memory_is_told_in_bytes(void **state)
{
    (void)state;
    unsigned long long kilobytes = 0;
    char line[128];
    FILE *file = fopen("/proc/meminfo", "r");
    while (file && fgets(line, sizeof line, file) && sscanf(line, "MemAvailable: %llu kB", &kilobytes) != 1)
        ;
    if (file)
        fclose(file);
    if (kilobytes == 0 || kilobytes > (80ull << 20))
        not_run("this machine has too much memory, or does not say how much");
    struct database_writer *writer;
    struct table_writer *table = begin(&writer, SORT_ROWS_MAX);
    must_refuse(STATUS_MACHINE, "color by c_key needs 8", "bytes of memory", "available",
                table_writer_sort_by(table, 0, error));
    database_writer_abort(writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_are_stored_in_the_order_asked_for, setup, teardown),
        cmocka_unit_test_setup_teardown(rows_move_between_segments, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_not_sorted_is_not_committed, setup, teardown),
        cmocka_unit_test_setup_teardown(values_are_checked_where_they_came_from, setup, teardown),
        cmocka_unit_test_setup_teardown(too_many_rows_are_refused_before_the_first, setup, teardown),
        cmocka_unit_test_setup_teardown(too_little_memory_is_told_in_bytes, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
