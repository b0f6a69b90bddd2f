/*
 * test_first_rows.c: ORDER BY with LIMIT gives the first rows of the whole order, whatever is dropped on the way: rows in
 * random, ascending and descending order, all equal, mostly NULL, and such that a sample misleads, in numbers around those of
 * tiles and samples; every type, with and without conditions; limits of 0, 1, many and all. Rows of the whole order are those
 * of the same statement without LIMIT, for which nothing is dropped. Few tiles are read where their minima and maxima tell
 * enough.
 * On the device that TESSERA_TEST_DEVICE names.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "loader/table/table_loader.h"
#include "tests/fuzz/fuzz_random.h"
#include "tests/support/sql/sql_answer.h"

/* CLUMPS: the least values are in a sixth of the tiles, in which most tiles of a sample are. */
enum pattern { RANDOM, ASCENDING, DESCENDING, EQUAL, NULLS, CLUMPS, PATTERNS };
static const char *const pattern_names[PATTERNS] = {"random", "ascending", "descending",
                                                    "equal",  "nulls",     "clumps"};

/* With the last size a sample is less than all tiles, and a list has no room for all rows. */
static const uint32_t sizes[] = {0, 1, 31, 1023, 1025, 150000};
#define SIZES  (sizeof sizes / sizeof *sizes)
#define TABLES (SIZES * PATTERNS)

#define DIMENSION_ROWS 40u

static char path[PATH_BYTES], names[TABLES + 1][32], files[TABLES + 1][PATH_BYTES + 64];
static struct database *database;
static struct engine *engine;

/* The value of a row, or -1: NULL. */
static int64_t value_of(enum pattern pattern, uint32_t row)
{
    switch (pattern) {
    case RANDOM:
        return below(1u << 20);
    case ASCENDING:
        return row;
    case DESCENDING:
        return 1000000 - row;
    case EQUAL:
        return 77;
    case CLUMPS:
        return row / 1024 % 16 >= 8 && row / 1024 % 16 < 11 ? below(5000) : 5000 + below(1u << 20);
    case NULLS:
    case PATTERNS:
        break;
    }
    return chance(5) ? (int64_t)below(50) : -1;
}

static void write_rows(enum pattern pattern, uint32_t rows, FILE *out)
{
    static const char *const words[] = {"pear", "apple", "fig", "quince", "plum"};
    for (uint32_t row = 0; row < rows; row++) {
        const int64_t value = value_of(pattern, row);
        fprintf(out, "%u,%u,", row, below(10));
        if (chance(90))
            fprintf(out, "%u", below(DIMENSION_ROWS));
        if (value < 0)
            fputs(",,,,,,\n", out);
        else
            fprintf(out, ",%lld,%lld,%.3f,%s %u,%04u-%02u-%02u,%lld.%02lld\n", (long long)value,
                    (long long)(value - 500000) * 10000000007, (double)(value - 300) / 7, words[value % 5],
                    (unsigned)(value % 977), (unsigned)(1990 + value % 40), (unsigned)(1 + value % 12),
                    (unsigned)(1 + value % 28), (long long)(value / 100), (long long)(value % 100));
    }
}

static void write_dimension(FILE *out)
{
    for (uint32_t row = 0; row < DIMENSION_ROWS; row++)
        fprintf(out, "%u,kind %u,%s\n", row, row * 7 % 11, row % 5 ? "0.25" : "");
}

static FILE *open_table(uint32_t t)
{
    snprintf(files[t], sizeof files[t], "%.*s/%.31s.csv", (int)(strlen(path) - 3), path, names[t]);
    FILE *file = fopen(files[t], "wb");
    assert_non_null(file);
    return file;
}

static int load(void **state)
{
    (void)state;
    static const char *paths[TABLES + 1];
    static struct load_input inputs[TABLES + 1];
    struct load_report report;
    struct schema_script schema;
    char *script = NULL;
    size_t bytes;
    FILE *out = open_memstream(&script, &bytes);
    fputs("CREATE TABLE dims (dk INT PRIMARY KEY, name TEXT NOT NULL, weight DOUBLE);\n", out);
    random_state = 20261122;
    directory_make(path);
    for (uint32_t t = 0; t < TABLES; t++) {
        const enum pattern pattern = (enum pattern)(t % PATTERNS);
        snprintf(names[t], sizeof names[t], "%s_%u", pattern_names[pattern], sizes[t / PATTERNS]);
        fprintf(out,
                "CREATE TABLE %s (id INT NOT NULL, f INT NOT NULL, dim INT REFERENCES dims, v INT, big "
                "BIGINT, x DOUBLE, s TEXT, "
                "d DATE, p DECIMAL(9,2));\n",
                names[t]);
        FILE *file = open_table(t);
        write_rows(pattern, sizes[t / PATTERNS], file);
        fclose(file);
    }
    snprintf(names[TABLES], sizeof names[TABLES], "dims");
    FILE *file = open_table(TABLES);
    write_dimension(file);
    fclose(file);
    fclose(out);
    for (uint32_t t = 0; t <= TABLES; t++) {
        paths[t] = files[t];
        inputs[t] = (struct load_input){.table = names[t], .paths = &paths[t], .path_count = 1};
    }
    must(schema_script_parse("order.sql", script, strlen(script), &schema, error));
    /* In plain, tables share their kernels. */
    const struct load_options options = {
        .directory = path, .inputs = inputs, .input_count = TABLES + 1, .codecs = "plain", .threads = 2};
    must(tables_load(&schema, &options, &report, NULL, error));
    schema_script_free(&schema);
    free(script);
    must(database_open(path, &database, error));
    must(engine_open(&(struct engine_options){.device = test_device(), .threads = 2}, &engine, error));
    return 0;
}

static int unload(void **state)
{
    (void)state;
    engine_close(engine);
    database_close(database);
    directory_remove(path);
    return 0;
}

/* ---- Answers ---- */

/* What comes before and after the table's name. */
static const struct {
    const char *select, *order;
} statements[] = {
    {"select id, v", "order by v desc"},
    {"select id", "where f < 3 order by v"},
    {"select id, big", "where f = 7 order by big desc nulls first, f"},
    {"select v, id", "order by v nulls last, f desc, id desc"},
    {"select id, x", "order by x"},
    {"select v, id", "where v between 5 and 90000 order by v, id"},
    {"select v, id", "where v > 700 order by v desc, f"},
    {"select id, x", "where f > 0 order by x desc nulls last"},
    {"select s, id", "where f <> 2 order by s desc, id"},
    {"select id, d", "where s like '%p%' order by d"},
    {"select id, p", "where f < 9 order by p * f + v, id desc"},
    {"select id", "where v is not null order by f desc, v"},
    {"select id, name", "join dims on dim = dk order by name desc, x, s"},
    {"select id, weight",
     "left join dims on dim = dk and name > 'kind 3' where f > 2 order by weight, v desc, name"},
};
#define STATEMENTS (sizeof statements / sizeof *statements)

static const struct {
    uint64_t limit, offset;
} parts[] = {{0, 0}, {1, 0}, {10, 0}, {7, 5}, {1000, 0}, {3, 100000}, {200000, 0}};
#define PARTS (sizeof parts / sizeof *parts)

/* The line after `lines` lines; the end of the text if there are fewer. */
static const char *line_after(const char *text, uint64_t lines)
{
    for (; lines > 0 && *text; lines--)
        text = strchr(text, '\n') + 1;
    return text;
}

static void compare(const char *sql, const char *whole, uint64_t limit, uint64_t offset)
{
    char *const got = sql_answer(engine, database, sql);
    const char *const first = line_after(line_after(whole, 1), offset), *const end = line_after(first, limit),
                      *const rows = line_after(got, 1);
    if (strlen(rows) != (size_t)(end - first) || memcmp(rows, first, (size_t)(end - first)) != 0)
        fail_msg("%s:\n%.400s\nand not\n%.400s", sql, rows, first);
    free(got);
}

static void first_rows_are_those_of_the_whole(void **state)
{
    (void)state;
    for (uint32_t t = 0; t < TABLES; t++)
        for (uint32_t s = 0; s < STATEMENTS; s++) {
            char sql[300];
            const int length = snprintf(sql, sizeof sql, "%s from %s %s", statements[s].select, names[t],
                                        statements[s].order);
            char *const whole = sql_answer(engine, database, sql);
            for (uint32_t p = 0; p < PARTS; p++) {
                snprintf(sql + length, sizeof sql - (size_t)length, " limit %llu offset %llu",
                         (unsigned long long)parts[p].limit, (unsigned long long)parts[p].offset);
                compare(sql, whole, parts[p].limit, parts[p].offset);
            }
            free(whole);
        }
}

/* ---- Tiles ---- */

static uint64_t tiles_read(const char *sql)
{
    struct sql_statement *statement;
    const struct plan *plan;
    size_t used;
    must(sql_prepare(engine, database, sql, strlen(sql), NULL, &statement, &used, error));
    must(sql_plan(statement, &plan, error));
    const uint64_t tiles = plan->scan.kept_tiles;
    sql_statement_free(statement);
    return tiles;
}

static void few_tiles_are_read(void **state)
{
    (void)state;
    assert_in_range(tiles_read("select id from random_150000 order by v desc limit 10"), 1, 12);
    assert_int_equal(tiles_read("select v from random_150000 order by id limit 1000"), 1);
    assert_int_equal(tiles_read("select v from random_150000 order by id desc limit 2000 offset 500"), 3);
    assert_in_range(tiles_read("select id from descending_150000 order by x limit 100"), 1, 100);
    /* equal rows come in the order of the table, unless there is another term, of which these tiles tell nothing */
    assert_int_equal(tiles_read("select id from equal_150000 order by v limit 2000"), 2);
    assert_int_equal(tiles_read("select id from equal_150000 order by v desc, id limit 2000"), 2);
    assert_int_equal(tiles_read("select id from equal_150000 order by v, id desc limit 1"), 1);
    assert_int_equal(tiles_read("select id from equal_150000 order by v, id % 1000 limit 1"), 147);
    assert_int_equal(tiles_read("select id from nulls_150000 order by v nulls first, x limit 1"), 147);
    assert_int_equal(tiles_read("select id from random_150000 where f < 5 order by v limit 1"), 147);
    assert_int_equal(tiles_read("select id from random_150000 order by v + 1 limit 1"), 147);
    assert_int_equal(tiles_read("select id from random_150000 order by v limit 150000"), 147);
}

/* ---- Ranks ---- */

static void ranks_have_the_order(void **state)
{
    const struct first_term up = {.low = INT64_MIN,
                                  .high = INT64_MAX,
                                  .shift = 2,
                                  .null = 1ull << 62,
                                  .stride = 1},
                            down = {.low = -5, .high = 9, .descending = true, .best = 1, .stride = 3};
    (void)state;
    assert_true(first_term_part(&up, INT64_MIN, false) < first_term_part(&up, -1, false));
    assert_true(first_term_part(&up, -1, false) < first_term_part(&up, 0, false));
    assert_true(first_term_part(&up, INT64_MAX, false) < first_term_part(&up, 0, true));
    assert_int_equal(first_term_part(&down, 9, false), 3);
    assert_int_equal(first_term_part(&down, -5, false), 45);
    assert_int_equal(first_term_part(&down, 7, true), 0);
    assert_int_equal(first_term_part(&down, INT64_MIN, false), 45); /* outside of what a catalogue says */
    assert_int_equal(first_term_part(&down, INT64_MAX, false), 3);
}

static int compare_ranks(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static void the_nth_rank_is_found(void **state)
{
    uint64_t ranks[500], sorted[500];
    (void)state;
    for (uint32_t round = 0; round < 500; round++) {
        const uint32_t count = 1 + below(500), values = 1 + below(chance(50) ? 4 : 1u << 30);
        for (uint32_t i = 0; i < count; i++)
            ranks[i] = sorted[i] = chance(5) ? UINT64_MAX : below(values);
        qsort(sorted, count, sizeof *sorted, compare_ranks);
        const uint32_t nth = 1 + below(count);
        assert_true(first_rows_nth(ranks, count, nth) == sorted[nth - 1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_rows_are_those_of_the_whole),
        cmocka_unit_test(few_tiles_are_read),
        cmocka_unit_test(ranks_have_the_order),
        cmocka_unit_test(the_nth_rank_is_found),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
