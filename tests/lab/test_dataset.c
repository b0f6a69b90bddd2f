/*
 * test_dataset.c: the distributions of lab/bench/dataset.h: ranges, means, frequencies, and that the number of threads
 * does not change a value. Columns have an odd number of rows, more than two of the blocks in which they are made; time
 * series are in test_pattern.c.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "lab/bench/dataset.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS (UINT64_C(3) * DATASET_BLOCK_ROWS + 12345)

static struct lab lab = {.threads = 2, .scale = 1};
static struct error error;

static struct dataset make(uint64_t rows, dataset_fill *fill, const void *parameters)
{
    struct dataset dataset;
    assert_int_equal(dataset_make(&lab, "values", rows, fill, parameters, &dataset, &error), STATUS_OK);
    assert_true(dataset.rows == rows);
    return dataset;
}

static double mean_of(const struct dataset *dataset)
{
    double sum = 0;
    for (uint64_t row = 0; row < dataset->rows; row++)
        sum += dataset->values[row];
    return sum / (double)dataset->rows;
}

static double deviation_of(const struct dataset *dataset, double mean)
{
    double sum = 0;
    for (uint64_t row = 0; row < dataset->rows; row++)
        sum += (dataset->values[row] - mean) * (dataset->values[row] - mean);
    return sqrt(sum / (double)dataset->rows);
}

static double share_of(const struct dataset *dataset, int32_t value)
{
    uint64_t count = 0;
    for (uint64_t row = 0; row < dataset->rows; row++)
        count += dataset->values[row] == value;
    return (double)count / (double)dataset->rows;
}

static void assert_near(double is, double wanted, double share)
{
    if (!(fabs(is - wanted) <= share * fabs(wanted)))
        fail_msg("%.9g is not within %g %% of %.9g", is, 100 * share, wanted);
}

/* All bits of a width occur, none above it; each is set in half of the values. */
static void uniform_values_fill_their_width(void **state)
{
    (void)state;
    for (uint32_t width = 0; width <= 31; width++) {
        struct dataset dataset = make(ROWS, fill_uniform, &width);
        const double most = ldexp(1, (int)width) - 1;
        int32_t seen = 0;
        for (uint64_t row = 0; row < dataset.rows; row++) {
            assert_true(dataset.values[row] >= 0);
            seen |= dataset.values[row];
        }
        assert_true(seen == (int32_t)most);
        assert_near(mean_of(&dataset), most / 2, 0.01);
        assert_near(deviation_of(&dataset, most / 2), sqrt((most + 1) * (most + 1) - 1) / sqrt(12), 0.01);
        dataset_free(&lab, &dataset);
    }
}

static void sorted_values_are_equally_frequent(void **state)
{
    static const uint64_t distinct[] = {1, 4, 1000, 65536, UINT64_C(1) << 20};
    (void)state;
    for (size_t d = 0; d < sizeof distinct / sizeof *distinct; d++) {
        const struct sorted_parameters sorted = {.rows = ROWS, .distinct = distinct[d]};
        struct dataset dataset = make(ROWS, fill_sorted, &sorted);
        uint64_t values = 1, run = 1;
        assert_int_equal(dataset.values[0], 0);
        for (uint64_t row = 1; row < ROWS; row++, run++) {
            const int32_t step = dataset.values[row] - dataset.values[row - 1];
            assert_in_range(step, 0, 1);
            if (step == 0)
                continue;
            assert_in_range(run, ROWS / distinct[d], ROWS / distinct[d] + 1);
            values++;
            run = 0;
        }
        assert_true(values == distinct[d]);
        dataset_free(&lab, &dataset);
    }
}

static void sorted_values_end_with_the_rows(void **state)
{
    const struct sorted_parameters sorted = {.rows = ROWS, .distinct = UINT64_C(1) << 28};
    struct dataset dataset = make(ROWS, fill_sorted, &sorted);
    (void)state;
    for (uint64_t row = 0; row < ROWS; row++)
        assert_true(dataset.values[row] == (int32_t)row);
    dataset_free(&lab, &dataset);
}

/* Rounding to integers adds a variance of 1/12. */
static void normal_values_have_their_mean_and_deviation(void **state)
{
    static const double means[] = {64, 4096, 0x1p30};
    (void)state;
    for (size_t m = 0; m < sizeof means / sizeof *means; m++) {
        const struct normal_parameters normal = {.mean = means[m], .deviation = 20};
        struct dataset dataset = make(ROWS, fill_normal, &normal);
        const double mean = mean_of(&dataset);
        uint64_t within = 0;
        assert_true(fabs(mean - means[m]) < 0.01 * normal.deviation);
        assert_near(deviation_of(&dataset, mean), sqrt(20 * 20 + 1.0 / 12), 0.01);
        for (uint64_t row = 0; row < ROWS; row++)
            within += fabs(dataset.values[row] - means[m]) < 20.5;
        assert_near((double)within / (double)ROWS, erf(20.5 / 20 / sqrt(2)), 0.01);
        dataset_free(&lab, &dataset);
    }
}

static void zipf_ranks_have_their_shares(void **state)
{
    static const double exponents[] = {1, 1.5, 2, 5};
    (void)state;
    for (size_t e = 0; e < sizeof exponents / sizeof *exponents; e++) {
        const struct zipf_parameters zipf = {.exponent = exponents[e], .ranks = 1u << 20};
        struct dataset dataset = make(ROWS, fill_zipf, &zipf);
        double all = 0;
        for (uint32_t rank = zipf.ranks; rank > 0; rank--)
            all += pow(rank, -zipf.exponent);
        for (uint64_t row = 0; row < ROWS; row++)
            assert_true(dataset.values[row] >= 1 && (uint32_t)dataset.values[row] <= zipf.ranks);
        for (int32_t rank = 1; rank <= 3; rank++)
            assert_near(share_of(&dataset, rank), pow(rank, -zipf.exponent) / all, 0.02);
        dataset_free(&lab, &dataset);
    }
}

static void gaps_have_their_mean(void **state)
{
    static const double means[] = {1, 2, 16, 8192};
    (void)state;
    for (size_t m = 0; m < sizeof means / sizeof *means; m++) {
        struct dataset dataset = make(ROWS, fill_gaps, &means[m]);
        for (uint64_t row = 0; row < ROWS; row++)
            assert_true(dataset.values[row] >= 1);
        assert_near(mean_of(&dataset), means[m], 0.01);
        assert_near(deviation_of(&dataset, means[m]), sqrt(means[m] * (means[m] - 1)), 0.01);
        dataset_free(&lab, &dataset);
    }
}

/* ---- Lists ---- */

static uint32_t *make_list(uint32_t rows, uint32_t limit)
{
    uint32_t *const list = malloc(rows * sizeof *list);
    uint64_t random = rows;
    assert_non_null(list);
    list_clustered(list, rows, limit, &random);
    for (uint32_t i = 0; i < rows; i++)
        assert_true(list[i] < limit && (i == 0 || list[i - 1] < list[i]));
    return list;
}

static void clustered_lists_ascend_below_their_limit(void **state)
{
    static const uint32_t rows[] = {1, 2, 10, 11, 1000, 65537, 1u << 20}, limits[] = {1u << 20, 1u << 29};
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        for (size_t l = 0; l < sizeof limits / sizeof *limits; l++)
            free(make_list(rows[r], limits[l]));
        free(make_list(rows[r], rows[r] + rows[r] / 7)); /* most integers are in the list */
        free(make_list(rows[r], rows[r]));               /* all are */
    }
}

/* Of a uniform list 6 % of the gaps are shorter than a sixteenth of their mean; clusters have more short ones,
 * 14 to 31 % in five lists. */
static void clustered_lists_have_clusters(void **state)
{
    const uint32_t rows = 65537, limit = 1u << 29;
    uint32_t *const list = make_list(rows, limit), near = 0;
    (void)state;
    for (uint32_t i = 1; i < rows; i++)
        near += list[i] - list[i - 1] < limit / rows / 16;
    free(list);
    assert_true(near > 0.12 * rows);
}

/* ---- Threads ---- */

static void threads_do_not_change_values(void **state)
{
    static const uint32_t width = 17;
    static const struct sorted_parameters sorted = {.rows = ROWS, .distinct = 1000};
    static const struct normal_parameters normal = {.mean = 1024, .deviation = 20};
    static const struct zipf_parameters zipf = {.exponent = 1, .ranks = 1u << 20};
    static const double mean = 16;
    static const struct {
        dataset_fill *fill;
        const void *parameters;
    } columns[] = {{fill_uniform, &width},
                   {fill_sorted, &sorted},
                   {fill_normal, &normal},
                   {fill_zipf, &zipf},
                   {fill_gaps, &mean}};
    (void)state;
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        struct dataset datasets[2];
        uint32_t sum = 0;
        for (lab.threads = 1; lab.threads <= 2; lab.threads++)
            datasets[lab.threads - 1] = make(ROWS, columns[c].fill, columns[c].parameters);
        for (uint64_t row = 0; row < ROWS; row++)
            sum += (uint32_t)datasets[0].values[row];
        assert_memory_equal(datasets[0].values, datasets[1].values, ROWS * sizeof *datasets[0].values);
        assert_int_equal(datasets[0].sum, sum);
        assert_int_equal(datasets[1].sum, sum);
        dataset_free(&lab, &datasets[0]);
        dataset_free(&lab, &datasets[1]);
    }
    lab.threads = 2;
}

/* Blocks do not repeat each other. */
static void blocks_differ(void **state)
{
    const uint32_t width = 20;
    struct dataset dataset = make(ROWS, fill_uniform, &width);
    uint64_t equal = 0;
    (void)state;
    for (uint64_t row = 0; row < DATASET_BLOCK_ROWS; row++)
        equal += dataset.values[row] == dataset.values[row + DATASET_BLOCK_ROWS];
    assert_true(equal < 20); /* 1 is expected */
    dataset_free(&lab, &dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uniform_values_fill_their_width),
        cmocka_unit_test(sorted_values_are_equally_frequent),
        cmocka_unit_test(sorted_values_end_with_the_rows),
        cmocka_unit_test(normal_values_have_their_mean_and_deviation),
        cmocka_unit_test(zipf_ranks_have_their_shares),
        cmocka_unit_test(gaps_have_their_mean),
        cmocka_unit_test(clustered_lists_ascend_below_their_limit),
        cmocka_unit_test(clustered_lists_have_clusters),
        cmocka_unit_test(threads_do_not_change_values),
        cmocka_unit_test(blocks_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
