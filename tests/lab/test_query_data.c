/* test_query_data.c: the answers and keys that the laboratory's queries are compared with (lab/ssb/query_data.h), against the benchmark's rows
 * read one by one with their words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "lab/ssb/lineorder.h"
#include "lab/ssb/query_data.h"

#include <stdlib.h>
#include <string.h>

static struct lab lab = {.threads = 2, .scale = 0.0005};
static struct ssb_generator *generator;

static int open_generator(void **state)
{
    struct error error = {0};
    (void)state;
    return lineorder_generator(&lab, &generator, &error) == STATUS_OK ? 0 : -1;
}

static int close_generator(void **state)
{
    (void)state;
    ssb_generator_destroy(generator);
    return 0;
}

static const char *word(enum ssb_table table, int32_t key, const char *name, struct ssb_row *row)
{
    uint32_t column = 0;
    while (strcmp(ssb_table_info(table)->columns[column].name, name) != 0)
        column++;
    ssb_generate_row(generator, table, (uint64_t)key - 1, row);
    assert_int_equal(row->numbers[0], key);
    return row->strings[column];
}

static int64_t sum_q11(const struct query_data *data)
{
    int64_t sum = 0;
    for (uint64_t r = 0; r < data->rows; r++) {
        const int32_t date = data->columns[0].values[r], discount = data->columns[1].values[r];
        if (date / 10000 == 1993 && abs(discount - 2) <= 1 && data->columns[2].values[r] <= 24)
            sum += (int64_t)data->columns[3].values[r] * discount;
    }
    return sum;
}

static void q11_is_one_sum(void **state)
{
    struct error error = {0};
    struct query_data data;
    (void)state;
    assert_int_equal(query_data_make(&lab, &query_kinds[0], &data, &error), STATUS_OK);
    assert_true(data.rows > 50000);
    assert_true(data.sums[0] > 0);
    assert_true(data.sums[0] == sum_q11(&data));
    query_data_free(&lab, &data);
}

static void q21_has_a_sum_for_each_year_and_brand(void **state)
{
    struct error error = {0};
    struct query_data data;
    int64_t sums[QUERY_GROUPS_MAX] = {0};
    uint32_t passed = 0;
    (void)state;
    assert_int_equal(query_data_make(&lab, &query_kinds[1], &data, &error), STATUS_OK);
    for (uint64_t r = 0; r < data.rows; r++) {
        struct ssb_row part, supplier;
        const char *const brand = word(SSB_PART, data.columns[1].values[r], "p_brand1", &part);
        if (strcmp(word(SSB_PART, data.columns[1].values[r], "p_category", &part), "MFGR#12") != 0 ||
            strcmp(word(SSB_SUPPLIER, data.columns[0].values[r], "s_region", &supplier), "AMERICA") != 0)
            continue;
        sums[(data.columns[2].values[r] / 10000 - 1992) * 40 + atoi(brand + 7) - 1] +=
            data.columns[3].values[r];
        passed++;
    }
    assert_true(passed > 100);
    for (uint32_t g = 0; g < QUERY_GROUPS_MAX; g++)
        assert_true(sums[g] == data.sums[g]);
    query_data_free(&lab, &data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(q11_is_one_sum),
                                       cmocka_unit_test(q21_has_a_sum_for_each_year_and_brand)};
    return cmocka_run_group_tests(tests, open_generator, close_generator);
}
