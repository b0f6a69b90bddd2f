/*
 * test_generator.c: the generated data equal ssb-dbgen's, byte for byte, at every scale factor, mode and
 * variant whose checksums are known. A range of rows equals the same rows of a longer range. Large scale
 * factors do not overflow. Bad scale factors are refused.
 *
 * Text is printed range by range and piped into sha256sum (coreutils), so that the 600 MB of SF 1 never touch
 * the disk.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "ssb/data/generator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* All tests run in it. */
static struct execution execution;

#define PIPE_ROWS 16384u

static struct ssb_generator *make(double scale_factor, enum ssb_mode mode, enum ssb_variant variant,
                                  enum ssb_dates dates)
{
    const struct ssb_options options = {
        .scale_factor = scale_factor, .mode = mode, .variant = variant, .dates = dates};
    struct ssb_generator *generator = NULL;
    struct error error = {0};
    if (ssb_generator_create(&options, 0, &generator, &error) != STATUS_OK)
        fail_msg("%s", error.text);
    return generator;
}

/* ---- Checksums ---- */

/* Computes the SHA-256 of a table's text in hexadecimal; returns the number of its bytes. */
static uint64_t digest(const struct ssb_generator *generator, enum ssb_table table, char hex[65])
{
    char path[] = "/tmp/tessera_digest_XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    char command[128];
    snprintf(command, sizeof command, "sha256sum > %s", path);
    FILE *sink = popen(command, "w");
    assert_non_null(sink);
    char *text = malloc((size_t)PIPE_ROWS * SSB_TEXT_ROW_BYTES);
    assert_non_null(text);
    uint64_t total = 0;
    const uint64_t rows = ssb_rows(generator, table);
    for (uint64_t row = 0; row < rows; row += PIPE_ROWS) {
        const uint64_t count = rows - row < PIPE_ROWS ? rows - row : PIPE_ROWS;
        const size_t bytes = ssb_format_tbl(generator, table, row, count, text);
        assert_int_equal(fwrite(text, 1, bytes, sink), bytes);
        total += bytes;
    }
    free(text);
    assert_int_equal(pclose(sink), 0);
    assert_int_equal(read(file, hex, 64), 64);
    hex[64] = '\0';
    close(file);
    unlink(path);
    return total;
}

struct known {
    enum ssb_table table;
    uint64_t rows;
    const char *sha256;
};

static void expect(double scale_factor, enum ssb_mode mode, enum ssb_variant variant,
                   const struct known *known, size_t count)
{
    struct ssb_generator *generator = make(scale_factor, mode, variant, SSB_DATES_CLASSIC);
    for (size_t i = 0; i < count; i++) {
        char hex[65];
        assert_int_equal(ssb_rows(generator, known[i].table), known[i].rows);
        digest(generator, known[i].table, hex);
        if (strcmp(hex, known[i].sha256) != 0)
            fail_msg("%s at SF %g, mode %d, variant %d: %s, should be %s",
                     ssb_table_info(known[i].table)->name, scale_factor, mode, variant, hex, known[i].sha256);
    }
    ssb_generator_destroy(generator);
}

#define EXPECT(scale_factor, mode, variant, ...)                             \
    expect(scale_factor, mode, variant, (const struct known[]){__VA_ARGS__}, \
           sizeof((const struct known[]){__VA_ARGS__}) / sizeof(struct known))

static void scale_factor_a_hundredth_is_identical(void **state)
{
    (void)state;
    EXPECT(0.01, SSB_MODE_SINGLE, SSB_VARIANT_EYALROZ,
           {SSB_PART, 2000, "5aec4de726245b1075d6c557ec2bd13693339267c0527e2ce86e8a1255e7eff9"},
           {SSB_SUPPLIER, 20, "ac6c8f1f9538495612438706bd261ca50f446407ab10efba40e6616c474263b4"},
           {SSB_DATE, 25, "20342ada3f2185b008ea9961cc4ce7bd4379844a1216388e720da52d4a3143c2"},
           {SSB_CUSTOMER, 300, "5c9f4e988ce1d57db74daad6343ec3935219c93824a363700ed5b5ba2acbb457"},
           {SSB_LINEORDER, 60175, "cd6f83ef5fdaef9a7cc42119f18817d2b5b2c0a509dc664df6101cd19183b0c3"});
    EXPECT(0.01, SSB_MODE_ALL, SSB_VARIANT_EYALROZ,
           {SSB_PART, 2000, "5aec4de726245b1075d6c557ec2bd13693339267c0527e2ce86e8a1255e7eff9"},
           {SSB_SUPPLIER, 20, "ac6c8f1f9538495612438706bd261ca50f446407ab10efba40e6616c474263b4"},
           {SSB_DATE, 25, "20342ada3f2185b008ea9961cc4ce7bd4379844a1216388e720da52d4a3143c2"},
           {SSB_CUSTOMER, 300, "c82a776ba66bedf340adac8289d91b013285534df80edf456a31bec70aa029ea"},
           {SSB_LINEORDER, 60176, "36bdb8fc2c6edfd9b4b54114d57921b0099dc5ffba55f4b29c7e409c55063e4b"});
}

static void scale_factor_a_tenth_is_identical(void **state)
{
    (void)state;
    EXPECT(0.1, SSB_MODE_SINGLE, SSB_VARIANT_EYALROZ,
           {SSB_PART, 20000, "d07a9e7fd0fca35dc124b84c643cbe74e97e4a889294c6ad4ac7f243297245eb"},
           {SSB_SUPPLIER, 200, "e4aa875b53acdce7593634eb3500b77555e029ff7c992ec31f4c6f32623155b6"},
           {SSB_DATE, 255, "e6a3ff9cf5b5ba1a40b862f53707a822d8ee55efaa53294504c7099e92ffd75d"},
           {SSB_CUSTOMER, 3000, "fedab1b58b31a2611e202c1a49c9c4c49c98d7a3924cc0316c35988674db12c3"},
           {SSB_LINEORDER, 600572, "8a449676015389bcbb3e8c53bc94e7a96db85dd916120c35cfdb502cfab07b57"});
    EXPECT(0.1, SSB_MODE_ALL, SSB_VARIANT_EYALROZ,
           {SSB_PART, 20000, "d07a9e7fd0fca35dc124b84c643cbe74e97e4a889294c6ad4ac7f243297245eb"},
           {SSB_SUPPLIER, 200, "e4aa875b53acdce7593634eb3500b77555e029ff7c992ec31f4c6f32623155b6"},
           {SSB_DATE, 255, "e6a3ff9cf5b5ba1a40b862f53707a822d8ee55efaa53294504c7099e92ffd75d"},
           {SSB_CUSTOMER, 3000, "01299eaefd8ecf252298ddf306548a113135ef21b950bbbc2d0ce38dcc67d52d"},
           {SSB_LINEORDER, 600597, "92e2e89e5df28f1996d0b9b9c0e2d95dec8d13c1ab7aed863b35cd86733ae344"});
}

static void scale_factor_one_is_identical(void **state)
{
    (void)state;
    EXPECT(1, SSB_MODE_SINGLE, SSB_VARIANT_EYALROZ,
           {SSB_PART, 200000, "7c1b8e710b9677d75f34939b965cb512cbe4d313d1316301d25bf6fc5965f54c"},
           {SSB_SUPPLIER, 2000, "d09faf5a22389e895eb27eb3989934715c8124a0048fd66b06c75a833b420e2e"},
           {SSB_DATE, 2557, "a389677a574fc53906f17b3bfb0be93dd4ebe9c12295d45c01eb1c58a1152aa7"},
           {SSB_CUSTOMER, 30000, "d3b0bc8dae47a34e3975e884831273587de15caf09158c92bb516c5c8a36fda9"},
           {SSB_LINEORDER, 6001215, "da09bea3580f8c4c7d08c689f48091d40400553a0ea40215b598750dc7d73c32"});
    EXPECT(1, SSB_MODE_ALL, SSB_VARIANT_EYALROZ,
           {SSB_CUSTOMER, 30000, "1948243884d70a882945cf4f65df79f46ee7e5b8d2daa304bfaa3d20925b5326"},
           {SSB_LINEORDER, 6001173, "8f976c4d1512b731a15852f501de9481089591d0d7b700ff07d7bcbfb137ae88"});
}

static void crystals_variant_is_identical(void **state)
{
    (void)state;
    EXPECT(1, SSB_MODE_SINGLE, SSB_VARIANT_CRYSTAL,
           {SSB_PART, 200000, "9fb468e8a3e6ca9f5b6f841cf5a81276315fd241fbfdb35c8839328729bb816b"},
           {SSB_DATE, 2556, "7057acc5ebc0b92225a4937488028767f46e9f8719126a8e29d4bf164e5461d1"},
           {SSB_SUPPLIER, 2000, "90b636621dc449bedce76f347af5802701db6f6334d209f002d73f4044cf9404"},
           {SSB_CUSTOMER, 30000, "e84ecfcde0f73bbc48f710ffe1c6d340321e875171013b272cbccee45f1d3cbc"},
           {SSB_LINEORDER, 6001215, "fa50b494c9685582a2a2b2106baf795c229eaa4108cae22f57c0c96717eda4e4"});
    EXPECT(1, SSB_MODE_ALL, SSB_VARIANT_CRYSTAL,
           {SSB_SUPPLIER, 2000, "5f713926d67923694dba3d2e683d2ebd62c4c1c8109bac37ee182a4e802ccf75"},
           {SSB_CUSTOMER, 30000, "382490b85db6edf66e0a03c1bb488d22d2bdee44d00038c19bb8773e9047e74e"},
           {SSB_LINEORDER, 6001171, "7af6585a6ffe86aaf9bb16a6a530027fccf7d438d0aa24c788ac125057e74723"});
}

static void the_dimensions_of_larger_scale_factors_are_identical(void **state)
{
    (void)state;
    EXPECT(2, SSB_MODE_SINGLE, SSB_VARIANT_EYALROZ,
           {SSB_PART, 400000, "3353cbbbe238a9f8ccc00120b0bb27f42e7322127bb714abf4a34a0ec3b3973c"},
           {SSB_CUSTOMER, 60000, "e9d4c38a5de8cbf94798effe47c8ac8d36834e0c14fedd81a1ada262f5a1691f"});
    EXPECT(3, SSB_MODE_ALL, SSB_VARIANT_EYALROZ,
           {SSB_SUPPLIER, 6000, "df6447c1de4c8af0962c0149ed911d5eb0d692fef8d82833d7f3e22828ae1074"},
           {SSB_CUSTOMER, 90000, "2ef90ffd16d7a2c00477bd82500bcdda3e802319f0476ede94f68fceb425021f"});
    EXPECT(10, SSB_MODE_ALL, SSB_VARIANT_EYALROZ,
           {SSB_SUPPLIER, 20000, "ef4a51fb9a006187f8171796afb37e0fdb9adc975892282398969b955c027683"},
           {SSB_CUSTOMER, 300000, "25fa596b57468730e69a6869e4ced945a35be552f5955ac07621be10acbafaea"});
}

static void a_fraction_above_one_is_dropped(void **state)
{
    (void)state;
    struct ssb_generator *generator = make(1.9, SSB_MODE_SINGLE, SSB_VARIANT_EYALROZ, SSB_DATES_FULL);
    assert_int_equal(ssb_rows(generator, SSB_LINEORDER), 6001215);
    assert_int_equal(ssb_rows(generator, SSB_PART), 200000);
    ssb_generator_destroy(generator);
}

static void row_counts_of_large_scale_factors_are_known(void **state)
{
    (void)state;
    const struct {
        double scale_factor;
        uint64_t all, single;
    } known[] = {{5, 29999810, 29999795},
                 {20, 119994745, 119994608},
                 {50, 300005883, 300005811},
                 {100, 600038146, 600037902}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        for (enum ssb_mode mode = SSB_MODE_SINGLE; mode <= SSB_MODE_ALL; mode++) {
            struct ssb_generator *generator =
                make(known[i].scale_factor, mode, SSB_VARIANT_EYALROZ, SSB_DATES_FULL);
            assert_int_equal(ssb_rows(generator, SSB_LINEORDER),
                             mode == SSB_MODE_ALL ? known[i].all : known[i].single);
            ssb_generator_destroy(generator);
        }
}

/* ---- Columns ---- */

static void *column_alloc(int column, uint64_t rows)
{
    void *values = malloc(rows * (column == LO_ORDERKEY ? 8 : 4));
    assert_non_null(values);
    return values;
}

static int64_t column_sum(int column, const void *values, uint64_t rows)
{
    int64_t sum = 0;
    for (uint64_t row = 0; row < rows; row++)
        sum += column == LO_ORDERKEY ? ((const int64_t *)values)[row] : ((const int32_t *)values)[row];
    return sum;
}

/* Each column is generated alone. This finds a column that does not generate the columns that it depends
 * on. */
static void each_column_alone_has_the_known_sum(void **state)
{
    (void)state;
    static const int64_t known[LO_COLUMNS] = {[LO_ORDERKEY] = 180228856825,
                                              [LO_LINENUMBER] = 1802574,
                                              [LO_CUSTKEY] = 901930700,
                                              [LO_PARTKEY] = 6005931871,
                                              [LO_SUPPKEY] = 60413338,
                                              [LO_ORDERDATE] = 11981193618840,
                                              [LO_ORDERPRIORITY] = -1,
                                              [LO_SHIPPRIORITY] = 0,
                                              [LO_QUANTITY] = 15330606,
                                              [LO_EXTENDEDPRICE] = 2160785566677,
                                              [LO_ORDTOTALPRICE] = 10679438497670,
                                              [LO_DISCOUNT] = 3007094,
                                              [LO_REVENUE] = 2052796485070,
                                              [LO_SUPPLYCOST] = 50799924052,
                                              [LO_TAX] = 2406133,
                                              [LO_COMMITDATE] = 11982100718629,
                                              [LO_SHIPMODE] = -1};
    struct ssb_generator *generator = make(0.1, SSB_MODE_ALL, SSB_VARIANT_EYALROZ, SSB_DATES_FULL);
    const uint64_t rows = ssb_rows(generator, SSB_LINEORDER);
    for (int column = 0; column < LO_COLUMNS; column++) {
        void *columns[SSB_COLUMNS_MAX] = {0};
        columns[column] = column_alloc(column, rows);
        ssb_generate_lineorder(generator, 0, rows, columns);
        if (known[column] >= 0)
            assert_int_equal(column_sum(column, columns[column], rows), known[column]);
        free(columns[column]);
    }
    ssb_generator_destroy(generator);
}

static void words_are_sorted_and_coded(void **state)
{
    (void)state;
    for (enum ssb_variant variant = SSB_VARIANT_EYALROZ; variant <= SSB_VARIANT_CRYSTAL; variant++) {
        struct ssb_generator *generator = make(0.01, SSB_MODE_ALL, variant, SSB_DATES_FULL);
        const uint32_t columns[2] = {LO_ORDERPRIORITY, LO_SHIPMODE}, counts[2] = {5, 7};
        for (int i = 0; i < 2; i++) {
            const char *const *words;
            assert_int_equal(ssb_lineorder_words(generator, columns[i], &words), counts[i]);
            for (uint32_t word = 1; word < counts[i]; word++)
                assert_true(strcmp(words[word - 1], words[word]) < 0);
        }
        ssb_generator_destroy(generator);
    }
}

/* Rows [first, first + rows) equal those of `all`, which begins at row `base`; the element after them is not
 * written. */
static void expect_range(const struct ssb_generator *generator, void *const all[SSB_COLUMNS_MAX],
                         uint64_t base, uint64_t first, uint64_t rows)
{
    for (int column = 0; column < LO_COLUMNS; column++) {
        const size_t bytes = column == LO_ORDERKEY ? 8 : 4;
        void *columns[SSB_COLUMNS_MAX] = {0};
        columns[column] = column_alloc(column, rows + 1);
        memset(columns[column], 0x5a, (rows + 1) * bytes);
        /* Another column is generated with it, because columns share intermediate values such as prices. */
        const int other = (column + 3) % LO_COLUMNS;
        columns[other] = column_alloc(other, rows + 1);
        ssb_generate_lineorder(generator, first, rows, columns);
        assert_memory_equal(columns[column], (char *)all[column] + (first - base) * bytes, rows * bytes);
        assert_memory_equal((char *)columns[column] + rows * bytes, "ZZZZ", 4);
        free(columns[column]);
        free(columns[other]);
    }
}

static void any_range_is_the_middle_of_the_whole(void **state)
{
    (void)state;
    struct ssb_generator *generator = make(0.01, SSB_MODE_SINGLE, SSB_VARIANT_EYALROZ, SSB_DATES_FULL);
    const uint64_t rows = ssb_rows(generator, SSB_LINEORDER);
    void *all[SSB_COLUMNS_MAX];
    for (int column = 0; column < LO_COLUMNS; column++)
        all[column] = column_alloc(column, rows);
    ssb_generate_lineorder(generator, 0, rows, all);

    const uint64_t lengths[] = {0, 1, 2, 7, 31, 1023, 1024, 1025, 5000};
    srand(20260);
    print_message("seed 20260\n");
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        expect_range(generator, all, 0, 0, lengths[i]);
        expect_range(generator, all, 0, rows - lengths[i], lengths[i]);
        for (int repeat = 0; repeat < 20; repeat++)
            expect_range(generator, all, 0, (uint64_t)rand() % (rows - lengths[i]), lengths[i]);
    }
    for (int column = 0; column < LO_COLUMNS; column++)
        free(all[column]);
    ssb_generator_destroy(generator);
}

static void a_dimensions_rows_are_generated_one_by_one(void **state)
{
    (void)state;
    struct ssb_generator *generator = make(1, SSB_MODE_ALL, SSB_VARIANT_EYALROZ, SSB_DATES_FULL);
    static struct ssb_row row;
    ssb_generate_row(generator, SSB_SUPPLIER, 1999, &row);
    assert_int_equal(row.numbers[0], 2000);
    assert_string_equal(row.strings[1], "Supplier#000002000");
    assert_string_equal(row.strings[2], "QZ0f4,oOa3UeBY9bK");
    assert_string_equal(row.strings[3], "IRAQ     8");
    assert_string_equal(row.strings[5], "MIDDLE EAST");
    assert_string_equal(row.strings[6], "21-122-829-3487");
    ssb_generate_row(generator, SSB_CUSTOMER, 29999, &row);
    assert_string_equal(row.strings[2], " 3I5hj95W");
    assert_string_equal(row.strings[7], "BUILDING");
    ssb_generate_row(generator, SSB_PART, 199998, &row);
    assert_string_equal(row.strings[1], "azure cream");
    assert_string_equal(row.strings[4], "MFGR#5335");
    assert_int_equal(row.numbers[7], 24);
    ssb_generator_destroy(generator);
}

/* ---- Large ---- */

static void scale_factor_one_thousand_generates(void **state)
{
    (void)state;
    struct ssb_generator *generator = make(1000, SSB_MODE_SINGLE, SSB_VARIANT_EYALROZ, SSB_DATES_FULL);
    const uint64_t rows = ssb_rows(generator, SSB_LINEORDER), count = 10000;
    assert_in_range(rows, 5999000000, 6001000000);
    assert_int_equal(ssb_rows(generator, SSB_CUSTOMER), 30000000);
    assert_int_equal(ssb_rows(generator, SSB_SUPPLIER), 2000000);
    assert_int_equal(ssb_rows(generator, SSB_PART), 2000000);

    void *columns[SSB_COLUMNS_MAX];
    for (int column = 0; column < LO_COLUMNS; column++)
        columns[column] = column_alloc(column, count);
    const uint64_t starts[] = {0, rows / 2 + 3, rows - count};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        ssb_generate_lineorder(generator, starts[i], count, columns);
        const int64_t *order_keys = columns[LO_ORDERKEY];
        int32_t *const *numbers = (int32_t *const *)columns;
        for (uint64_t row = 0; row < count; row++) {
            assert_in_range(order_keys[row], 1, 6000000000);
            assert_true(order_keys[row] % 32 < 8);
            assert_in_range(numbers[LO_CUSTKEY][row], 1, 30000000);
            assert_int_not_equal(numbers[LO_CUSTKEY][row] % 3, 0);
            assert_in_range(numbers[LO_PARTKEY][row], 1, 1400000);
            assert_in_range(numbers[LO_SUPPKEY][row], 1, 2000000);
            assert_in_range(numbers[LO_ORDERDATE][row], 19920101, 19980802);
            assert_in_range(numbers[LO_COMMITDATE][row], 19920131, 19981031);
            assert_in_range(numbers[LO_EXTENDEDPRICE][row], 90000, 10495000);
            assert_in_range(numbers[LO_ORDTOTALPRICE][row], 1, 79999999);
            if (row > 0 && order_keys[row] == order_keys[row - 1])
                assert_int_equal(numbers[LO_LINENUMBER][row], numbers[LO_LINENUMBER][row - 1] + 1);
            else if (row > 0)
                assert_int_equal(numbers[LO_LINENUMBER][row], 1);
        }
        expect_range(generator, columns, starts[i], starts[i] + 1234, 1025);
    }
    assert_int_equal(((int64_t *)columns[LO_ORDERKEY])[count - 1], 6000000000);
    for (int column = 0; column < LO_COLUMNS; column++)
        free(columns[column]);

    static struct ssb_row row;
    ssb_generate_row(generator, SSB_CUSTOMER, 29999999, &row);
    assert_string_equal(row.strings[1], "Customer#030000000");
    ssb_generator_destroy(generator);
}

/* ---- Dates ---- */

static void below_one_every_date_is_kept_unless_asked_otherwise(void **state)
{
    (void)state;
    struct ssb_generator *full = make(0.1, SSB_MODE_ALL, SSB_VARIANT_EYALROZ, SSB_DATES_FULL);
    struct ssb_generator *classic = make(0.1, SSB_MODE_ALL, SSB_VARIANT_EYALROZ, SSB_DATES_CLASSIC);
    char hex[65], hex_classic[65];
    assert_int_equal(ssb_rows(full, SSB_DATE), 2557);
    assert_int_equal(digest(full, SSB_DATE, hex), 229628);
    assert_string_equal(hex,
                        "a389677a574fc53906f17b3bfb0be93dd4ebe9c12295d45c01eb1c58a1152aa7"); /* as at SF 1 */
    assert_int_equal(ssb_rows(classic, SSB_DATE), 255);
    /* The facts are the same: only the date table differs. */
    digest(full, SSB_LINEORDER, hex);
    digest(classic, SSB_LINEORDER, hex_classic);
    assert_string_equal(hex, hex_classic);
    ssb_generator_destroy(full);
    ssb_generator_destroy(classic);
}

static void the_smallest_scale_factor_has_a_row_of_each(void **state)
{
    (void)state;
    struct ssb_generator *generator = make(1e-9, SSB_MODE_ALL, SSB_VARIANT_CRYSTAL, SSB_DATES_CLASSIC);
    for (enum ssb_table table = SSB_PART; table < SSB_LINEORDER; table++)
        assert_int_equal(ssb_rows(generator, table), 1);
    assert_in_range(ssb_rows(generator, SSB_LINEORDER), 1, 7);
    char hex[65];
    assert_true(digest(generator, SSB_LINEORDER, hex) > 0);
    ssb_generator_destroy(generator);
}

/* ---- Bad scale factors ---- */

static void a_bad_scale_factor_gets_one_sentence(void **state)
{
    (void)state;
    const char *bad[] = {"0",   "-1",  "nan",   "inf", "-inf",   "abc", "1x",    "",    " 1",
                         "0x1", "1e9", "1e999", "0.0", "1e-999", "1,5", "71583", "--1", "."};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct error error = {0};
        double scale_factor = 42;
        assert_int_equal(ssb_scale_factor_parse(bad[i], &scale_factor, &error), STATUS_BAD_INPUT);
        assert_int_equal(error.status, STATUS_BAD_INPUT);
        assert_non_null(strstr(error.text, "scale factor"));
        assert_non_null(strstr(error.text, bad[i]));
        assert_null(strchr(error.text, '\n'));
        assert_true(scale_factor == 42);
    }
    const struct {
        const char *text;
        double value;
    } good[] = {{"1", 1}, {"0.1", 0.1}, {"1e3", 1000}, {"+20", 20}, {".5", 0.5}, {"71582", 71582}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        double scale_factor = 0;
        assert_int_equal(ssb_scale_factor_parse(good[i].text, &scale_factor, NULL), STATUS_OK);
        assert_true(scale_factor == good[i].value);
    }
    const double numbers[] = {0, -0.0, -1, 1e300, (double)0x1p-1 / 0.0, -1 / 0.0, 0.0 / 0.0};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const struct ssb_options options = {.scale_factor = numbers[i]};
        struct ssb_generator *generator = NULL;
        struct error error = {0};
        assert_int_equal(ssb_generator_create(&options, 0, &generator, &error), STATUS_BAD_INPUT);
        assert_null(generator);
        assert_non_null(strstr(error.text, "scale factor"));
    }
}

static void counting_rows_can_be_cancelled(void **state)
{
    (void)state;
    const struct ssb_options options = {.scale_factor = 10};
    struct ssb_generator *generator = NULL;
    execution_stop(&execution);
    assert_int_equal(ssb_generator_create(&options, 2, &generator, NULL), STATUS_INTERRUPTED);
    execution_resume(&execution);
    assert_null(generator);
    ssb_generator_destroy(generator); /* NULL is legal */
}

int main(void)
{
    execution_enter(&execution);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scale_factor_a_hundredth_is_identical),
        cmocka_unit_test(scale_factor_a_tenth_is_identical),
        cmocka_unit_test(scale_factor_one_is_identical),
        cmocka_unit_test(crystals_variant_is_identical),
        cmocka_unit_test(the_dimensions_of_larger_scale_factors_are_identical),
        cmocka_unit_test(a_fraction_above_one_is_dropped),
        cmocka_unit_test(row_counts_of_large_scale_factors_are_known),
        cmocka_unit_test(each_column_alone_has_the_known_sum),
        cmocka_unit_test(words_are_sorted_and_coded),
        cmocka_unit_test(any_range_is_the_middle_of_the_whole),
        cmocka_unit_test(a_dimensions_rows_are_generated_one_by_one),
        cmocka_unit_test(scale_factor_one_thousand_generates),
        cmocka_unit_test(below_one_every_date_is_kept_unless_asked_otherwise),
        cmocka_unit_test(the_smallest_scale_factor_has_a_row_of_each),
        cmocka_unit_test(a_bad_scale_factor_gets_one_sentence),
        cmocka_unit_test(counting_rows_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
