/* test_database.c: what is written is read again, whole, from any thread, after any number of changes; and
 * what must not be written is refused. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/database_cases.h"

#include <dirent.h>
#include <sys/stat.h>

static void check_sale(const char *path, const char *codec, uint64_t rows)
{
    struct database *database;
    const struct table *table;
    must(database_open(path, &database, error));
    must(database_table(database, "sale", &table, error));
    assert_int_equal(table->rows, rows);
    assert_int_equal(table->column_count, SALE_COLUMNS);
    for (int c = 0; c < SALE_COLUMNS; c++) {
        const struct column *column = &table->columns[c];
        struct column_data *data;
        must(column_data_open(database, column, codec_by_name(codec)->id, 2, &data, error));
        assert_int_equal(sale_difference(data, c), -1);
        column_data_close(data);
    }
    database_close(database);
}

static void every_type_comes_back_at_odd_sizes(void **state)
{
    (void)state;
    const uint64_t sizes[] = {0, 1, 31, 32, 33, 1023, 1024, 1025, 5000};
    const char *const codecs[] = {"plain", "lane-for"};
    for (size_t k = 0; k < 2; k++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            char path[PATH_BYTES];
            directory_make(path);
            database_make(path, codecs[k], sizes[s]);
            check_sale(path, codecs[k], sizes[s]);
            directory_remove(path);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_comes_back_at_odd_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
