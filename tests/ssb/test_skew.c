/*
 * test_skew.c: values of skewed data are as frequent as docs/ssb.md says, and the other columns are those of uniform data. The
 * rows depend neither on threads, on parts, nor on the way in, and are the same on every machine. Answers of queries on them
 * are SQLite's.
 *
 * Formulas are computed here in double precision from their definition. A sum of squared errors has the chi-square
 * distribution with one degree of freedom fewer than there are values; its mean is that number, and one that is above it by
 * 4.5 standard deviations would come once in 10^5 tries. The data never change, so no test fails by chance. $D is the test's folder.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/database_cases.h"
#include "tests/support/run_program.h"

#include "ssb/data/generator.h"
#include "ssb/data/skew.h"

#include <math.h>

static struct execution execution;
static char database[PATH_BYTES];
static struct program_run run;

static int make(void **state)
{
    (void)state;
    char folder[PATH_BYTES];
    execution_enter(&execution);
    directory_make(database);
    snprintf(folder, sizeof folder, "%.*s", (int)(strlen(database) - strlen("/db")), database);
    setenv("D", folder, 1);
    return 0;
}

static int unmake(void **state)
{
    (void)state;
    directory_remove(database);
    return 0;
}

static void assert_runs(const char *shell)
{
    run_shell(shell, &run);
    if (run.exit_code != 0)
        fail_msg("%s: exit code %d\n%s%s", shell, run.exit_code, run.output, run.errors);
}

static struct ssb_generator *generator_of(double scale_factor, bool skew, unsigned threads)
{
    const struct ssb_options options = {.scale_factor = scale_factor, .skew = skew};
    struct ssb_generator *generator = NULL;
    struct error error = {0};
    if (ssb_generator_create(&options, threads, &generator, &error) != STATUS_OK)
        fail_msg("%s", error.text);
    return generator;
}

/* ---- Formulas ---- */

static void one_of_rank(unsigned count, double *shares)
{
    for (unsigned value = 0; value < count; value++)
        shares[value] = 1. / (value + 1);
}

static void falling(unsigned count, double factor, double *shares)
{
    for (unsigned value = 0; value < count; value++)
        shares[value] = pow(factor, value);
}

static const char *const nations[5][6] = {
    {"ASIA", "CHINA", "INDIA", "INDONESIA", "JAPAN", "VIETNAM"},
    {"AMERICA", "UNITED STATES", "BRAZIL", "ARGENTINA", "CANADA", "PERU"},
    {"EUROPE", "RUSSIA", "GERMANY", "FRANCE", "UNITED KINGDOM", "ROMANIA"},
    {"AFRICA", "ETHIOPIA", "KENYA", "ALGERIA", "MOROCCO", "MOZAMBIQUE"},
    {"MIDDLE EAST", "EGYPT", "IRAN", "IRAQ", "SAUDI ARABIA", "JORDAN"}};

/* Counts have the shares, which need not sum to 1. */
static void assert_shares(const char *what, const uint64_t *counts, const double *shares, unsigned values)
{
    double sum = 0, all = 0, errors = 0;
    for (unsigned v = 0; v < values; v++) {
        sum += shares[v];
        all += (double)counts[v];
    }
    for (unsigned v = 0; v < values; v++) {
        const double expected = all * shares[v] / sum;
        assert_true(expected > 4); /* else the distribution is another */
        errors += pow((double)counts[v] - expected, 2) / expected;
    }
    const double degrees = values - 1;
    if (errors > degrees + 4.5 * sqrt(2 * degrees))
        fail_msg("%s: chi-square %.1f for %u values", what, errors, values);
}

static void tables_have_every_state_once(void **state)
{
    (void)state;
    static struct skew_table tables[SKEWS];
    skew_tables_make(tables);
    for (int skew = 0; skew < SKEWS; skew++) {
        const struct skew_table *const table = &tables[skew];
        assert_int_equal(table->begin[0], 1);
        assert_int_equal(table->begin[table->count], 2147483647);
        for (uint32_t value = 0; value < table->count; value++) {
            assert_true(table->begin[value] < table->begin[value + 1]);
            assert_int_equal(skew_value(table, table->begin[value]), value);
            assert_int_equal(skew_value(table, table->begin[value + 1] - 1), value);
        }
        /* Numbers begin with 0, end with width - 1 and never fall; 3 is below the number of values. */
        const uint64_t widths[] = {1, 3, 99, table->count, 101, 20000, 2147460000};
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
            int64_t before = 0;
            assert_int_equal(skew_number(table, 1, widths[w]), 0);
            assert_true(skew_number(table, 2147483646, widths[w]) >=
                        (int64_t)(widths[w] - 1 - widths[w] / 1000));
            for (uint64_t at = 1; at < 2147483647; at += 99991) {
                const int64_t number = skew_number(table, (uint32_t)at, widths[w]);
                assert_true(number >= before && number < (int64_t)widths[w]);
                before = number;
            }
        }
    }
}

/* ---- Rows ---- */

static void dimensions_have_the_shares(void **state)
{
    (void)state;
    struct ssb_generator *const generator = generator_of(1, true, 2);
    struct ssb_row row;
    double shares[40];
    uint64_t mfgrs[5] = {0}, categories[5] = {0}, brands[40] = {0};
    for (uint64_t r = 0; r < ssb_rows(generator, SSB_PART); r++) {
        ssb_generate_row(generator, SSB_PART, r, &row);
        mfgrs[row.strings[2][5] - '1']++;
        categories[row.strings[3][6] - '1']++;
        brands[atoi(row.strings[4] + 7) - 1]++;
        assert_memory_equal(row.strings[3], row.strings[2], 6);
        assert_memory_equal(row.strings[4], row.strings[3], 7);
    }
    one_of_rank(40, shares);
    assert_shares("p_mfgr", mfgrs, shares, 5);
    assert_shares("p_category", categories, shares, 5);
    assert_shares("p_brand1", brands, shares, 40);
    for (enum ssb_table table = SSB_SUPPLIER; table <= SSB_CUSTOMER; table++) {
        uint64_t people[25] = {0}, cities[10] = {0};
        for (uint64_t r = 0; r < ssb_rows(generator, table); r++) {
            ssb_generate_row(generator, table, r, &row);
            cities[row.strings[3][9] - '0']++;
            for (unsigned n = 0; n < 25; n++)
                if (strcmp(row.strings[4], nations[n / 5][1 + n % 5]) == 0) {
                    people[n]++;
                    assert_string_equal(row.strings[5], nations[n / 5][0]);
                }
        }
        one_of_rank(10, shares);
        assert_shares("city", cities, shares, 10);
        for (unsigned n = 0; n < 25; n++)
            shares[n] = 1. / ((1 + n / 5) * (1 + n % 5));
        assert_shares("nation", people, shares, 25);
    }
    ssb_generator_destroy(generator);
}

#define ROWS 600572u /* of lineorder at SF 0.1 */

static void rows_of(double scale_factor, bool skew, int32_t *columns[LO_COLUMNS])
{
    struct ssb_generator *const generator = generator_of(scale_factor, skew, 2);
    void *wanted[SSB_COLUMNS_MAX];
    assert_int_equal(ssb_rows(generator, SSB_LINEORDER), ROWS);
    for (int column = 0; column < LO_COLUMNS; column++) {
        columns[column] = malloc(ROWS * sizeof(int64_t));
        assert_non_null(wanted[column] = columns[column]);
    }
    ssb_generate_lineorder(generator, 0, ROWS, wanted);
    ssb_generator_destroy(generator);
}

static void free_columns(int32_t *columns[LO_COLUMNS])
{
    for (int column = 0; column < LO_COLUMNS; column++)
        free(columns[column]);
}

static void lines_have_the_shares(void **state)
{
    (void)state;
    int32_t *columns[LO_COLUMNS];
    double shares[100];
    uint64_t quantities[50] = {0}, discounts[11] = {0}, parts[100] = {0}, suppliers[100] = {0};
    uint64_t customers[100] = {0};
    rows_of(0.1, true, columns);
    for (uint32_t r = 0; r < ROWS; r++) {
        assert_in_range(columns[LO_QUANTITY][r], 1, 50);
        assert_in_range(columns[LO_DISCOUNT][r], 0, 10);
        quantities[columns[LO_QUANTITY][r] - 1]++;
        discounts[columns[LO_DISCOUNT][r]]++;
        parts[(columns[LO_PARTKEY][r] - 1) / 200]++;
        suppliers[(columns[LO_SUPPKEY][r] - 1) / 2]++;
        customers[(columns[LO_CUSTKEY][r] - 1) / 30] += columns[LO_LINENUMBER][r] == 1; /* one an order */
        assert_int_not_equal(columns[LO_CUSTKEY][r] % 3, 0);
        assert_int_equal(columns[LO_REVENUE][r],
                         (int64_t)columns[LO_EXTENDEDPRICE][r] * (100 - columns[LO_DISCOUNT][r]) / 100);
    }
    one_of_rank(100, shares);
    assert_shares("lo_partkey", parts, shares, 100);
    assert_shares("lo_suppkey", suppliers, shares, 100);
    /* a multiple of 3 becomes the key after it, which after the 30th key is the first of the next hundredth: so a
     * thirtieth of each goes there, and that of the last, which has no key after it, stays */
    for (unsigned p = 99; p > 0; p--)
        shares[p] += (shares[p - 1] - (p < 99 ? shares[p] : 0)) / 30;
    shares[0] *= 29. / 30;
    assert_shares("lo_custkey", customers, shares, 100);
    falling(50, 0.9, shares);
    assert_shares("lo_quantity", quantities, shares, 50);
    falling(11, 0.7, shares);
    assert_shares("lo_discount", discounts, shares, 11);
    free_columns(columns);
}

static void other_columns_are_those_of_uniform_data(void **state)
{
    (void)state;
    int32_t *uniform[LO_COLUMNS], *skewed[LO_COLUMNS];
    rows_of(0.1, false, uniform);
    rows_of(0.1, true, skewed);
    const enum ssb_lineorder_column same[] = {LO_ORDERKEY,     LO_LINENUMBER, LO_ORDERDATE,  LO_ORDERPRIORITY,
                                              LO_SHIPPRIORITY, LO_TAX,        LO_COMMITDATE, LO_SHIPMODE};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        assert_memory_equal(uniform[same[i]], skewed[same[i]],
                            ROWS * (same[i] == LO_ORDERKEY ? sizeof(int64_t) : sizeof(int32_t)));
    free_columns(uniform);
    free_columns(skewed);
}

static void any_range_has_the_rows_of_the_whole(void **state)
{
    (void)state;
    int32_t *whole[LO_COLUMNS];
    static int32_t some[LO_COLUMNS][2 * 1025];
    rows_of(0.1, true, whole);
    const uint32_t counts[] = {1, 31, 1023, 1025}, firsts[] = {0, 1, 1023, 300001, ROWS - 1025};
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        struct ssb_generator *const generator = generator_of(0.1, true, threads);
        for (size_t i = 0; i < sizeof counts / sizeof *counts * (sizeof firsts / sizeof *firsts); i++) {
            const uint32_t count = counts[i % 4], first = firsts[i / 4];
            void *columns[SSB_COLUMNS_MAX];
            for (int column = 0; column < LO_COLUMNS; column++)
                columns[column] = some[column];
            ssb_generate_lineorder(generator, first, count, columns);
            for (int column = 0; column < LO_COLUMNS; column++) {
                const size_t bytes = column == LO_ORDERKEY ? sizeof(int64_t) : sizeof(int32_t);
                assert_memory_equal(some[column], (const char *)whole[column] + first * bytes, count * bytes);
            }
        }
        ssb_generator_destroy(generator);
    }
    free_columns(whole);
}

/* ---- The program ---- */

static void files_are_those_of_the_docs(void **state)
{
    (void)state;
    /* docs/ssb.md has the same sums; mode and variant choose streams, which are skewed, too */
    assert_runs(
        "$T ssb generate --sf 0.1 --skew --threads 3 --out $D/files && cd $D/files && sha256sum *.tbl");
    assert_string_equal(run.output,
                        "288cfa3c657dc33f5045f320282efd56edc5e91f6e5576d9c1d3f25549d86755  customer.tbl\n"
                        "a389677a574fc53906f17b3bfb0be93dd4ebe9c12295d45c01eb1c58a1152aa7  date.tbl\n"
                        "124310ddc6a3850d7b4b085b2c3defff03c70e5bda1abd332d556c9b2dce4385  lineorder.tbl\n"
                        "abe26d2898cb09bc5a09f292e83f2223a7cb9617e83533c6e4161e091ffdbe84  part.tbl\n"
                        "f02708be3fe2cfa600f5daa26b8553610ca209c4e22e2113ff6b5f3ca6349c95  supplier.tbl\n");
    assert_runs("for t in 1 2; do $T ssb generate --sf 0.02 --skew --mode all --variant crystal --threads $t "
                "--out $D/t$t; "
                "done; diff -r $D/t1 $D/t2");
}

/* All but where the rows came from, which is what ssb.json says. */
static void both_ways_in_give_the_same_database(void **state)
{
    (void)state;
    assert_runs(
        "$T ssb load --sf 0.1 --skew --threads 2 --db $D/made && "
        "$T ssb load --sf 0.1 --skew --threads 1 --db $D/made1 && "
        "$T ssb load --from $D/files --sf 0.1 --skew --db $D/read && "
        "grep -q '\"skew\": true' $D/read/ssb.json && diff -r $D/made $D/made1 && "
        "diff -r -x ssb.json $D/made $D/read && "
        "$T ssb load --sf 0.1 --db $D/uniform && ! diff -rq -x ssb.json $D/made $D/uniform >$D/differ && "
        "grep -q '\"skew\": false' $D/uniform/ssb.json");
}

static void answers_are_those_of_sqlite(void **state)
{
    (void)state;
    const char *const check =
        "$T ssb run --db $D/%s --device cpu --threads %u --repeat 1 --warmup 0 --codec %s --verify sqlite";
    const struct {
        const char *database, *codec;
        unsigned threads;
    } runs[] = {{"made", "auto", 1},      {"made", "plain", 3},     {"read", "auto", 2},
                {"clustered", "auto", 1}, {"clustered", "auto", 3}, {"sorted", "gpu-star", 2}};
    assert_runs(
        "$T ssb load --sf 0.1 --skew --cluster-by auto --db $D/clustered && "
        "$T ssb load --sf 0.1 --skew --sort-by lo_custkey --variant crystal --mode all --db $D/sorted");
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        char shell[512];
        snprintf(shell, sizeof shell, check, runs[i].database, runs[i].threads, runs[i].codec);
        assert_runs(shell);
    }
}

static void parts_together_are_the_whole(void **state)
{
    (void)state;
    /* whole orders, so each row is in one part; sums that stay exact in awk's doubles */
    assert_runs(
        "S='select count(*), sum(lo_quantity), sum(lo_discount), sum(lo_partkey * lo_linenumber), "
        "sum(lo_custkey) from (select lo_quantity, lo_discount, lo_linenumber, p_partkey as lo_partkey, "
        "c_custkey as lo_custkey from lineorder, part, customer where lo_partkey = p_partkey and "
        "lo_custkey = c_custkey)'; "
        "$T sql --db $D/made --format csv \"$S\" | tail -1 >$D/whole.csv; "
        "for i in 1 2 3; do $T ssb load --sf 0.1 --skew --part $i/3 --threads $i --db $D/part$i && "
        "$T sql --db $D/part$i --format csv \"$S\" | tail -1; done | awk -F, "
        "'{for (f = 1; f <= 5; f++) s[f] += $f} END {OFMT = \"%.0f\"; printf "
        "\"%.0f,%.0f,%.0f,%.0f,%.0f\\n\", "
        "s[1], s[2], s[3], s[4], s[5]}' >$D/parts.csv; "
        "cat $D/whole.csv $D/parts.csv; test -s $D/whole.csv && diff $D/whole.csv $D/parts.csv");
}

static void an_origin_without_skew_is_one_of_uniform_data(void **state)
{
    (void)state;
    const char *const check = "$T ssb run --db $D/uniform --device cpu --repeat 1 --warmup 0 --verify sqlite";
    assert_runs("sed -i '/\"skew\"/d' $D/uniform/ssb.json && ! grep -q skew $D/uniform/ssb.json");
    assert_runs(check);
    /* the reference of uniform rows is not taken for that of skewed ones in the same directory, nor the other way round */
    assert_runs("$T ssb load --sf 0.1 --skew --force --db $D/uniform");
    assert_runs(check);
    assert_runs("$T ssb load --sf 0.1 --force --db $D/uniform");
    assert_runs(check);
    /* nor is skewed data taken for uniform one, if the file says so */
    run_shell("sed -i '/\"skew\"/d' $D/made/ssb.json; "
              "$T ssb run --db $D/made --device cpu --repeat 1 --warmup 0 --verify sqlite",
              &run);
    assert_int_equal(run.exit_code, 1);
    run_shell("sed -i 's/\"mode\"/\"skew\": 1, \"mode\"/' $D/made/ssb.json; "
              "$T ssb run --db $D/made --device cpu --verify sqlite",
              &run);
    assert_int_equal(run.exit_code, 2);
    assert_non_null(strstr(run.errors, "\"skew\" must be true or false"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_have_every_state_once),
        cmocka_unit_test(dimensions_have_the_shares),
        cmocka_unit_test(lines_have_the_shares),
        cmocka_unit_test(other_columns_are_those_of_uniform_data),
        cmocka_unit_test(any_range_has_the_rows_of_the_whole),
        cmocka_unit_test(files_are_those_of_the_docs),
        cmocka_unit_test(both_ways_in_give_the_same_database),
        cmocka_unit_test(answers_are_those_of_sqlite),
        cmocka_unit_test(parts_together_are_the_whole),
        cmocka_unit_test(an_origin_without_skew_is_one_of_uniform_data),
    };
    return cmocka_run_group_tests(tests, make, unmake);
}
