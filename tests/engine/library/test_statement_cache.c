/* test_statement_cache.c: statements that are kept answer what they would answer if they were prepared again, with other
 * parameters, other settings, and for several users; the cache keeps to its bytes and gives memory back. Over the small
 * star of sql_star.h. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/library/statement_cache.h"
#include "engine/run/engine_internal.h"
#include "tests/support/sql/sql_star.h"

#include <unistd.h>

static struct sql_cache *open_cache(const char *most)
{
    struct sql_cache *cache;
    must(sql_cache_open(star_engine, star_database, most, &cache, error));
    return cache;
}

static struct sql_statement *take_with(struct sql_cache *cache, const char *sql, struct sql_settings settings)
{
    struct sql_statement *statement;
    size_t used;
    must(sql_cache_take(cache, sql, strlen(sql), NULL, settings, &statement, &used, error));
    assert_int_equal(used, strlen(sql));
    return statement;
}

static struct sql_statement *take(struct sql_cache *cache, const char *sql)
{
    return take_with(cache, sql, (struct sql_settings){.like = SQL_LIKE_STANDARD});
}

static void set_number(struct sql_statement *statement, uint32_t index, int64_t value)
{
    const struct sql_parameter parameter = {.type = {.kind = VALUE_INTEGER}, .value = value};
    must(sql_parameter_set(statement, index, &parameter, error));
}

static void use(struct sql_cache *cache, const char *sql, const char *expected)
{
    struct sql_statement *const statement = take(cache, sql);
    statement_answers(statement, sql, expected);
    sql_cache_give(cache, statement);
}

static const char sums[] = "select shop, sum(pieces) from sales group by shop order by shop";
static const char joined[] =
    "select v.people from visits v join (select shop, count(*) n from sales group by "
    "shop) s on s.shop = v.shop and s.n = 2 order by 1";

static void the_same_text_is_the_same_statement(void **state)
{
    struct sql_cache *const cache = open_cache(NULL);
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        use(cache, sums, "A,4\nB,10\nC,-2\n");
        use(cache, joined, "3\n100\n250\n");
    }
    const struct sql_cache_counts counts = sql_cache_counts(cache);
    assert_int_equal(counts.prepared, 2);
    assert_int_equal(counts.found, 4);
    assert_int_equal(counts.statements, 2);
    assert_true(counts.bytes > 0 && counts.bytes < 2 << 20);
    sql_cache_close(cache);
    assert_int_equal(star_engine->memory.used, 0);
}

/* The second user has a statement of his own. */
static void a_statement_in_use_is_not_shared(void **state)
{
    struct sql_cache *const cache = open_cache(NULL);
    (void)state;
    use(cache, sums, "A,4\nB,10\nC,-2\n");
    struct sql_statement *const one = take(cache, sums), *const two = take(cache, sums);
    assert_ptr_not_equal(one, two);
    statement_answers(two, sums, "A,4\nB,10\nC,-2\n");
    statement_answers(one, sums, "A,4\nB,10\nC,-2\n");
    sql_cache_give(cache, one);
    sql_cache_give(cache, two);
    assert_int_equal(sql_cache_counts(cache).statements, 2);
    sql_cache_close(cache);
}

/* Positions in errors, and the text that EXPLAIN shows, are those of the text: so it is compared as it stands. The text
 * behind the semicolon is another statement's. */
static void the_text_ends_with_its_semicolon(void **state)
{
    struct sql_cache *const cache = open_cache(NULL);
    struct sql_statement *statement;
    size_t used;
    static const char script[] = "select count(*) from sales; select 'a;b', /* ; */ 1; ";
    (void)state;
    for (unsigned round = 0; round < 2; round++) {
        must(sql_cache_take(cache, script, strlen(script), NULL, (struct sql_settings){0}, &statement, &used,
                            error));
        assert_int_equal(used, 27);
        statement_answers(statement, script, "5\n");
        sql_cache_give(cache, statement);
        must(sql_cache_take(cache, script + used, strlen(script) - used, NULL, (struct sql_settings){0},
                            &statement, &used, error));
        assert_int_equal(used, 25);
        statement_answers(statement, script, "a;b,1\n");
        sql_cache_give(cache, statement);
    }
    assert_int_equal(sql_cache_counts(cache).found, 2);
    must(sql_cache_take(cache, " ; ", 3, NULL, (struct sql_settings){0}, &statement, &used, error));
    assert_null(statement);
    sql_cache_give(cache, NULL);
    assert_int_equal(
        sql_cache_take(cache, "select 'open", 12, NULL, (struct sql_settings){0}, &statement, &used, NULL),
        STATUS_BAD_INPUT);
    sql_cache_close(cache);
}

/* What one user has set, the next one has not. A value that breaks what the plan has proven (64 bits) is planned anew. */
static void parameters_are_of_one_use(void **state)
{
    static const char sql[] = "select sum(pieces * ?) from sales where pieces > ?";
    struct sql_cache *const cache = open_cache(NULL);
    struct sql_statement *statement = take(cache, sql), *again;
    (void)state;
    set_number(statement, 0, 2);
    set_number(statement, 1, 0);
    statement_answers(statement, sql, "28\n");
    sql_cache_give(cache, statement);

    again = take(cache, sql);
    assert_ptr_equal(again, statement);
    statement_answers(again, sql, "\n"); /* both are NULL */
    sql_cache_give(cache, again);

    again = take(cache, sql);
    set_number(again, 0, INT64_C(400000000000000000));
    set_number(again, 1, 2);
    statement_answers(again, sql, "5200000000000000000\n");
    set_number(again, 0, 2);
    statement_answers(again, sql, "26\n");
    sql_cache_give(cache, again);
    sql_cache_close(cache);
}

static void a_value_that_was_set_before_costs_no_plan(void **state)
{
    static const char sql[] = "select count(*) from sales where pieces >= ? and note = ?";
    const struct sql_parameter note = {.type = {.kind = VALUE_STRING}, .string = "plain", .length = 5};
    struct sql_cache *const cache = open_cache(NULL);
    const struct plan *plan = NULL, *same;
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct sql_statement *const statement = take(cache, sql);
        set_number(statement, 0, 3);
        must(sql_parameter_set(statement, 1, &note, error));
        statement_answers(statement, sql, "1\n");
        must(sql_plan(statement, &same, error));
        assert_true(i == 0 || same == plan);
        plan = same;
        sql_cache_give(cache, statement);
    }
    sql_cache_close(cache);
}

/* Blocks below operators are planned while the tree runs, with values and keys of others in them: plans of an earlier run
 * are taken for the same block alone. */
static void blocks_of_trees_are_those_of_their_values(void **state)
{
    static const char sql[] =
        "select s.shop, s.n, v.people from (select shop, count(*) n from sales where pieces > ? group by "
        "shop) s join "
        "visits v on v.shop = s.shop where v.people > (select min(people) + ? from visits) order by 1, 3";
    static const struct {
        int64_t pieces, more;
        const char *expected;
    } runs[] = {{0, 0, "A,2,100\nB,1,250\n"}, {0, 0, "A,2,100\nB,1,250\n"},
                {0, 97, "B,1,250\n"},         {5, 0, "B,1,250\n"},
                {0, 0, "A,2,100\nB,1,250\n"}, {-5, -1, "A,2,3\nA,2,100\nB,1,250\n"}};
    struct sql_cache *const cache = open_cache(NULL);
    (void)state;
    for (size_t r = 0; r < sizeof runs / sizeof *runs; r++) {
        struct sql_statement *const statement = take(cache, sql);
        set_number(statement, 0, runs[r].pieces);
        set_number(statement, 1, runs[r].more);
        for (unsigned again = 0; again < 2; again++)
            statement_answers(statement, sql, runs[r].expected);
        assert_true(sql_statement_bytes(statement) < 4 << 20);
        sql_cache_give(cache, statement);
    }
    assert_int_equal(sql_cache_counts(cache).prepared, 1);
    sql_cache_close(cache);
    assert_int_equal(star_engine->memory.used, 0);
}

static void settings_are_part_of_the_key(void **state)
{
    static const char sql[] = "select count(*) from sales where note like 'MIXED'";
    struct sql_cache *const cache = open_cache(NULL);
    (void)state;
    for (unsigned round = 0; round < 2; round++)
        for (enum sql_like like = SQL_LIKE_STANDARD; like <= SQL_LIKE_SQLITE; like++) {
            struct sql_statement *const statement =
                take_with(cache, sql, (struct sql_settings){.like = like});
            statement_answers(statement, sql, like == SQL_LIKE_SQLITE ? "1\n" : "0\n");
            sql_cache_give(cache, statement);
        }
    assert_int_equal(sql_cache_counts(cache).found, 2);
    struct sql_statement *const staged = take_with(cache, sql, (struct sql_settings){.staged = true});
    statement_answers(staged, sql, "0\n");
    sql_cache_give(cache, staged);
    assert_int_equal(sql_cache_counts(cache).found, 2);
    sql_cache_close(cache);
}

/* Also one that fails only when it runs. */
static void what_failed_or_explains_is_not_kept(void **state)
{
    static const char *const texts[] = {"explain select count(*) from sales",
                                        "select 1 where (select pieces from sales) = 1",
                                        "select nothing from sales"};
    struct sql_cache *const cache = open_cache(NULL);
    struct rowset rows;
    size_t used;
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct sql_statement *statement = NULL;
        must(sql_cache_take(cache, texts[i], strlen(texts[i]), NULL, (struct sql_settings){0}, &statement,
                            &used, error));
        const enum status status = sql_cache_run(cache, statement, &rows, NULL, NULL);
        assert_int_equal(status, i == 0 ? STATUS_OK : STATUS_BAD_INPUT);
        rowset_free(&rows);
        sql_cache_give(cache, statement);
    }
    assert_int_equal(sql_cache_counts(cache).statements, 0);
    sql_cache_close(cache);
}

static void the_time_is_that_of_the_run(void **state)
{
    char text[2][40], buffer[ROWSET_TEXT_BYTES];
    struct sql_cache *const cache = open_cache(NULL);
    struct rowset rows;
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        uint32_t length;
        struct sql_statement *const statement = take(cache, "select now()");
        must(sql_run(statement, &rows, NULL, error));
        const char *const said = rowset_text(&rows.columns[0], 0, buffer, &length);
        snprintf(text[i], sizeof text[i], "%.*s", (int)length, said);
        rowset_free(&rows);
        sql_cache_give(cache, statement);
        usleep(2000);
    }
    assert_string_not_equal(text[0], text[1]);
    sql_cache_close(cache);
}

/* The statements that were used least recently leave. */
static void the_cache_keeps_to_its_bytes(void **state)
{
    enum { TEXTS = 40 };
    char sql[100], expected[20];
    (void)state;
    struct sql_cache *const cache = open_cache("600K");
    for (unsigned round = 0; round < 2; round++)
        for (int i = 0; i < TEXTS; i++) {
            snprintf(sql, sizeof sql, "select count(*) + %d from sales", i);
            snprintf(expected, sizeof expected, "%d\n", i + 5);
            use(cache, sql, expected);
            assert_true(sql_cache_counts(cache).bytes <= 600 << 10);
        }
    const struct sql_cache_counts counts = sql_cache_counts(cache);
    assert_true(counts.statements > 0 && counts.statements < TEXTS);
    use(cache, sql, expected); /* the last one is still there */
    assert_int_equal(sql_cache_counts(cache).found, counts.found + 1);
    sql_cache_close(cache);

    struct sql_cache *const none = open_cache("0");
    for (unsigned i = 0; i < 2; i++)
        use(none, sums, "A,4\nB,10\nC,-2\n");
    assert_int_equal(sql_cache_counts(none).statements, 0);
    assert_int_equal(sql_cache_counts(none).bytes, 0);
    sql_cache_close(none);
}

/* Look-ups of a plan grow with the tables: a machine with more memory keeps more, if nobody says how much. */
static void the_usual_bytes_follow_the_memory(void **state)
{
    const uint64_t before = star_engine->memory.limit, mebibyte = 1 << 20;
    (void)state;
    star_engine->memory.limit = 100 * mebibyte;
    struct sql_cache *const small = open_cache(NULL);
    star_engine->memory.limit = 64 * 1024 * mebibyte;
    struct sql_cache *const large = open_cache(NULL), *const said = open_cache("1M");
    star_engine->memory.limit = before;
    assert_int_equal(sql_cache_counts(small).most, 64 * mebibyte);
    assert_int_equal(sql_cache_counts(large).most, 2048 * mebibyte);
    assert_int_equal(sql_cache_counts(said).most, mebibyte);
    sql_cache_close(small);
    sql_cache_close(large);
    sql_cache_close(said);
}

static void wrong_bytes_are_refused(void **state)
{
    struct sql_cache *cache;
    struct error why;
    (void)state;
    assert_int_equal(sql_cache_open(star_engine, star_database, "many", &cache, &why), STATUS_BAD_INPUT);
    assert_non_null(strstr(why.text, "--plan-cache"));
}

/* A statement that would have had enough memory alone has it. */
static void idle_statements_give_memory_back(void **state)
{
    struct sql_cache *const cache = open_cache(NULL);
    struct rowset rows;
    struct run_timing timing;
    (void)state;
    struct sql_statement *statement = take(cache, sums);
    must(sql_cache_run(cache, statement, &rows, &timing, error));
    rowset_free(&rows);
    sql_cache_give(cache, statement);
    star_engine->memory.limit = timing.memory_bytes;
    for (unsigned i = 0; i < 3; i++) {
        static const char other[] = "select note, sum(pieces) from sales group by note order by 1 limit 1";
        statement = take(cache, i % 2 ? sums : other);
        must(sql_cache_run(cache, statement, &rows, &timing, error));
        rowset_free(&rows);
        sql_cache_give(cache, statement);
    }
    sql_cache_close(cache);
    star_engine->memory.limit = UINT64_MAX / 2;
    assert_int_equal(star_engine->memory.used, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_text_is_the_same_statement),
        cmocka_unit_test(a_statement_in_use_is_not_shared),
        cmocka_unit_test(the_text_ends_with_its_semicolon),
        cmocka_unit_test(parameters_are_of_one_use),
        cmocka_unit_test(a_value_that_was_set_before_costs_no_plan),
        cmocka_unit_test(blocks_of_trees_are_those_of_their_values),
        cmocka_unit_test(settings_are_part_of_the_key),
        cmocka_unit_test(what_failed_or_explains_is_not_kept),
        cmocka_unit_test(the_time_is_that_of_the_run),
        cmocka_unit_test(the_cache_keeps_to_its_bytes),
        cmocka_unit_test(the_usual_bytes_follow_the_memory),
        cmocka_unit_test(wrong_bytes_are_refused),
        cmocka_unit_test(idle_statements_give_memory_back),
    };
    return cmocka_run_group_tests(tests, star_open, star_close);
}
