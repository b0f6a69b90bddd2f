/*
 * test_index_step.c: statements answer the same whether bitmap indexes decide conditions or not: for every format and
 * kind of bins, ranges, lists, semi-joins, NULLs, several terms, two segments. EXPLAIN tells what an index does, and
 * counts need no column. (test_sql_fuzz asks random statements of random indexes and compares with SQLite.)
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/plan/partial.h"
#include "storage/column/column_path.h"
#include "tests/support/sql/sql_answer.h"

#define ROWS         150011 /* several pieces of each format, the last one partly filled, and so is the last tile */
#define COUNT(array) (sizeof array / sizeof *(array))

static char path[PATH_BYTES];
static struct database *database;
static struct engine *engine;

static const int indexed[] = {SALE_AMOUNT, SALE_PRICE, SALE_DAY, SALE_PAID, SALE_NOTE, SALE_COLOR};

static void create_indexes(struct index_wish wish)
{
    for (size_t i = 0; i < COUNT(indexed); i++) {
        const int column = indexed[i];
        const bool few = column == SALE_PAID || column == SALE_NOTE || column == SALE_COLOR;
        if (wish.format != INDEX_FLAT || few || wish.count)
            must(database_index_create(path, "sale", sale_columns[column].name, wish, 2, NULL, error));
    }
    must(database_open(path, &database, error));
    must(engine_open(&(struct engine_options){.device = test_device(), .threads = 2}, &engine, error));
}

static void open_sale(uint64_t rows, struct index_wish wish)
{
    directory_make(path);
    database_make(path, "auto", rows);
    create_indexes(wish);
}

static void close_sale(void)
{
    engine_close(engine);
    database_close(database);
    directory_remove(path);
}

/* The caller frees the text. */
static char *answer(const char *sql, enum plan_index_use use)
{
    struct sql_statement *statement;
    struct rowset rows;
    size_t used;
    must(sql_prepare(engine, database, sql, strlen(sql), NULL, &statement, &used, error));
    sql_statement_set(statement, (struct sql_settings){.index = use});
    must(sql_run(statement, &rows, NULL, error));
    char *const text = rowset_csv(&rows);
    rowset_free(&rows);
    sql_statement_free(statement);
    return text;
}

static void must_say(const char *sql, enum plan_index_use use, bool says, const char *part)
{
    char *const text = answer(sql, use);
    if ((strstr(text, part) != NULL) != says)
        fail_msg("%s\nsays %s'%s':\n%s", sql, says ? "no " : "", part, text);
    free(text);
}

/* ---- The same answers ---- */

/* Each has a condition that an index can decide, unless bins make it a part of it only. */
static const char *const conditions[] = {
    "s_amount between -100 and 100",
    "s_amount = 7",
    "s_amount < -500",
    "s_amount in (3, 4, 5, 6, 7)",
    "s_amount in (-500, -3, 0, 77, 78, 499, 5000)",
    "s_amount = 1 or s_amount = 400 or s_amount = -20",
    "s_amount not in (1, 2, 3) and s_amount > 450",
    "s_amount is null and s_color = 20",
    "s_day between '1992-03-04' and '1993-07-08'",
    "s_day = '1992-01-01'",
    "s_day > '2100-01-01'",
    "s_day in ('1991-12-01', '1993-05-05', '1995-05-05')",
    "s_price < 50000.00",
    "s_price > 123.45 and s_price <= 400000.00 and s_price <> 1000.00",
    "s_price in (0, 10000.00, 30000.00, 30001.00)",
    "s_paid = true",
    "s_note = ''",
    "s_note > ''",
    "s_color = 20",
    "c_name = 'red'",
    "c_name in ('blue', 'green')",
    "c_name = 'red' and s_amount between 0 and 50",
    "c_name <> 'red' and s_paid = false and s_amount >= 490 and s_day < '1994-01-01'",
    "s_amount between 0 and 9 and s_amount in (1, 3, 5, 50) and s_price > 100000.00",
    "s_paid = true and s_amount + 1 > 300 and s_color = 10",
};

static const char *const selections[] = {
    "select count(*) from sale, color where s_color = c_key and (%s)",
    "select sum(s_amount), min(s_price), max(s_day), count(s_note), count(*) from sale, color "
    "where s_color = c_key and (%s)",
    "select c_name, s_paid, count(distinct s_amount), sum(s_price) from sale, color where s_color = c_key "
    "and "
    "(%s) group by c_name, s_paid order by 1, 2",
    "select s_key, s_amount from sale, color where s_color = c_key and (%s) order by s_key limit 40",
    "select s_key from sale, color where s_color = c_key and (%s) limit 7",
};

static void must_agree(const char *sql)
{
    char *const expected = answer(sql, PLAN_INDEX_OFF);
    for (enum plan_index_use use = PLAN_INDEX_AUTO; use < PLAN_INDEX_OFF; use++) {
        char *const got = answer(sql, use);
        if (strcmp(got, expected) != 0)
            fail_msg("%s\nanswers %s\nwith an index, and %s\nwithout", sql, got, expected);
        free(got);
    }
    free(expected);
}

static void all_agree(void)
{
    for (size_t c = 0; c < COUNT(conditions); c++)
        for (size_t s = 0; s < COUNT(selections); s++) {
            char sql[1000];
            snprintf(sql, sizeof sql, selections[s], conditions[c]);
            must_agree(sql);
        }
}

static const struct index_wish wishes[] = {
    {.format = INDEX_WAH64},
    {.format = INDEX_WAH32},
    {.format = INDEX_FLAT},
    {.format = INDEX_WAH64, .bins = INDEX_DEPTH, .count = 37},
    {.format = INDEX_WAH32, .bins = INDEX_WIDTH, .count = 11},
    {.format = INDEX_FLAT, .bins = INDEX_DEPTH, .count = 5},
    {.format = INDEX_WAH64, .bins = INDEX_WIDTH, .count = 1},
};

static void answers_are_the_same(void **state)
{
    (void)state;
    for (size_t w = 0; w < COUNT(wishes); w++) {
        open_sale(ROWS, wishes[w]);
        all_agree();
        close_sale();
    }
}

/* Terms of three formats in one mask: pieces of 63 and of 31 tiles, and flat words. */
static void formats_can_be_mixed(void **state)
{
    (void)state;
    directory_make(path);
    database_make(path, "auto", ROWS);
    must(database_index_create(path, "sale", "s_amount", (struct index_wish){.format = INDEX_WAH64}, 2, NULL,
                               error));
    must(database_index_create(path, "sale", "s_day", (struct index_wish){.format = INDEX_WAH32}, 2, NULL,
                               error));
    must(database_index_create(path, "sale", "s_paid", (struct index_wish){.format = INDEX_FLAT}, 2, NULL,
                               error));
    must(database_index_create(path, "sale", "s_color", (struct index_wish){.format = INDEX_WAH32}, 2, NULL,
                               error));
    must(database_open(path, &database, error));
    must(engine_open(&(struct engine_options){.device = test_device(), .threads = 3}, &engine, error));
    all_agree();
    must_agree("select count(*), sum(s_price) from sale where s_amount > 0 and s_day >= '1993-01-01' and "
               "s_paid = true "
               "and s_color in (10, 30)");
    close_sale();
}

/* Vectors of a table of no rows, of one, and of whole groups and pieces. */
static void small_tables_agree(void **state)
{
    static const uint64_t sizes[] = {0, 1, 31, 63, 1024, 1025, 31 * 1024, 63 * 1024, 63 * 1024 + 1};
    (void)state;
    for (size_t s = 0; s < COUNT(sizes); s++) {
        open_sale(sizes[s], wishes[s % 2]);
        for (size_t c = 0; c < COUNT(conditions); c += 4) {
            char sql[1000];
            snprintf(sql, sizeof sql, selections[1], conditions[c]);
            must_agree(sql);
        }
        close_sale();
    }
}

/* A segment that is full and one that is not: the masks of both stand behind each other. */
static void segments_agree(void **state)
{
    (void)state;
    directory_make(path);
    database_make(path, "auto", SEGMENT_ROWS + 70000ull);
    must(database_index_create(path, "sale", "s_amount", wishes[3], 2, NULL, error));
    must(database_index_create(path, "sale", "s_day", wishes[4], 2, NULL, error));
    must(database_index_create(path, "sale", "s_paid", wishes[0], 2, NULL, error));
    must(database_open(path, &database, error));
    must(engine_open(&(struct engine_options){.device = test_device(), .threads = 3}, &engine, error));
    must_agree("select count(*) from sale where s_paid = true");
    must_agree("select sum(s_amount), count(*) from sale where s_paid = true and s_amount < 0");
    must_agree("select sum(s_amount), count(*) from sale where s_day > '2450-01-01' and s_amount < 100");
    must_agree(
        "select s_color, sum(s_amount) from sale where s_day between '2011-01-01' and '2475-01-01' and "
        "s_paid = true group by s_color order by 1");
    close_sale();
}

/* ---- What EXPLAIN says ---- */

static void explain_tells_what_indexes_do(void **state)
{
    static const char range[] =
        "explain select sum(s_price) from sale where s_amount between -100 and 100 and s_key > 0";
    static const char count[] =
        "explain select count(*) from sale where s_paid = true and s_day < '1993-01-01'";
    static const char join[] =
        "explain analyze select max(s_amount) from sale, color where s_color = c_key and c_name = 'red'";
    static const char nothing[] = "explain select count(*) from sale where s_day in ('1991-05-05')";
    (void)state;
    open_sale(ROWS, (struct index_wish){.format = INDEX_WAH64});
    must_say(range, PLAN_INDEX_ON, true, "  index      s_amount between -100 and 100, ");
    must_say(range, PLAN_INDEX_ON, true, "  index of s_amount: 161 of 801 vectors, ");
    must_say(range, PLAN_INDEX_ON, false, "  range ");
    must_say(range, PLAN_INDEX_OFF, true, "  range      s_amount between -100 and 100, ");
    must_say(range, PLAN_INDEX_OFF, false, "index");
    must_say(count, PLAN_INDEX_ON, true, "count from indexes alone: no column is read");
    must_say(count, PLAN_INDEX_OFF, false, "count from indexes alone");
    must_say(join, PLAN_INDEX_ON, true, "  index      s_color -> color where (color.c_name = 'red')");
    must_say(join, PLAN_INDEX_ON, true, "; kept 50004 of 150011 rows");
    must_say(nothing, PLAN_INDEX_ON, true, "no row can be in the answer: nothing is read");
    close_sale();
    open_sale(ROWS, (struct index_wish){.format = INDEX_WAH64, .bins = INDEX_DEPTH, .count = 10});
    must_say(range, PLAN_INDEX_ON, true, "  index      s_amount in part, ");
    must_say(range, PLAN_INDEX_ON, true, "  range      s_amount between -100 and 100, ");
    must_say(range, PLAN_INDEX_ON, true, "vectors, whose rows are candidates, ");
    close_sale();
}

/* An index decides where it is smaller than the column, and not where it is much larger. */
static void costs_decide(void **state)
{
    static const char days[] =
        "explain select sum(s_price) from sale where s_day between '1992-03-04' and '1992-03-08'",
                      most[] = "explain select sum(s_price) from sale where s_amount < 490";
    (void)state;
    directory_make(path);
    database_make(path, "lane-for", ROWS);
    create_indexes((struct index_wish){.format = INDEX_WAH64});
    engine_close(engine); /* on a GPU so few rows never pay */
    must(engine_open(&(struct engine_options){.device = "cpu", .threads = 2}, &engine, error));
    must_say(days, PLAN_INDEX_AUTO, true, "  index      s_day between");
    must_say(most, PLAN_INDEX_AUTO, true, "  no index of s_amount: 792 of 801 vectors, about ");
    must_say("explain select s_key from sale where s_paid = true limit 5", PLAN_INDEX_AUTO, false,
             "  index ");
    close_sale();
}

/* The number of rows of one condition follows from the vectors' numbers of rows; of two from their words. */
static void counts_read_no_column(void **state)
{
    static const struct {
        const char *sql;
        bool known;
        uint64_t rows;
    } counts[] = {
        {"select count(*) from sale where s_paid = true", true, (ROWS + 2) / 3},
        {"select count(*), count(*) from sale", true, ROWS},
        {"select count(*) from sale where s_paid = true and s_color in (10, 20, 30)", false, 0},
    };
    (void)state;
    open_sale(ROWS, (struct index_wish){.format = INDEX_WAH32});
    for (size_t i = 0; i < COUNT(counts); i++) {
        struct sql_statement *statement;
        const struct plan *plan;
        size_t used;
        must(sql_prepare(engine, database, counts[i].sql, strlen(counts[i].sql), NULL, &statement, &used,
                         error));
        sql_statement_set(statement, (struct sql_settings){.index = PLAN_INDEX_ON});
        must(sql_plan(statement, &plan, error));
        assert_true(plan_counts_rows(plan));
        assert_int_equal(plan_rows_are_known(plan), counts[i].known);
        if (counts[i].known)
            assert_int_equal(plan_known_rows(plan, &plan->scan), counts[i].rows);
        sql_statement_free(statement);
        must_agree(counts[i].sql);
    }
    close_sale();
}

/* The last byte of the file of s_paid's index. */
static void damage_index(void)
{
    const struct table *table;
    char *file = NULL;
    must(database_open(path, &database, error));
    must(database_table(database, "sale", &table, error));
    const struct column *const column = &table->columns[SALE_PAID];
    must(column_index_path(path, column, column->index->files.list[0].generation, &file, error));
    FILE *const out = fopen(file, "r+b");
    assert_non_null(out);
    fseek(out, -1, SEEK_END);
    const int byte = fgetc(out);
    fseek(out, -1, SEEK_END);
    fputc(byte ^ 1, out);
    fclose(out);
    free(file);
    database_close(database);
}

/* A damaged index is left alone, unless it must be used. */
static void damaged_indexes_are_left_alone(void **state)
{
    static const char sql[] = "select count(*) from sale where s_paid = true";
    struct sql_statement *statement;
    const struct plan *plan;
    size_t used;
    (void)state;
    directory_make(path);
    database_make(path, "auto", ROWS);
    must(database_index_create(path, "sale", "s_paid", wishes[0], 2, NULL, error));
    damage_index();
    must(database_open(path, &database, error));
    must(engine_open(&(struct engine_options){.device = test_device(), .threads = 2}, &engine, error));
    char *const expected = answer(sql, PLAN_INDEX_OFF), *const got = answer(sql, PLAN_INDEX_AUTO);
    assert_string_equal(got, expected);
    must_say("explain select count(*) from sale where s_paid = true", PLAN_INDEX_AUTO, true,
             "no index of s_paid");
    must(sql_prepare(engine, database, sql, strlen(sql), NULL, &statement, &used, error));
    sql_statement_set(statement, (struct sql_settings){.index = PLAN_INDEX_ON});
    must_refuse(STATUS_CHECK_FAILED, "s_paid", "index", "checksum", sql_plan(statement, &plan, error));
    sql_statement_free(statement);
    free(expected);
    free(got);
    close_sale();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_the_same),
        cmocka_unit_test(formats_can_be_mixed),
        cmocka_unit_test(small_tables_agree),
        cmocka_unit_test(segments_agree),
        cmocka_unit_test(explain_tells_what_indexes_do),
        cmocka_unit_test(costs_decide),
        cmocka_unit_test(counts_read_no_column),
        cmocka_unit_test(damaged_indexes_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
