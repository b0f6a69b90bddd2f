/*
 * test_load_workload.c: `--cluster-by auto --workload FILE` takes the levels and columns that conditions of the statements name,
 * those of most statements first, as long as cells have some tiles; words elsewhere in a statement do not count; and files
 * that say nothing are refused. The rows stay the same.
 *
 * Facts have 200,000 rows: 196 tiles, so that there may be 39 cells, divided into 392 parts.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/load_program.h"

#include "storage/database/database.h"

#define FACTS 200000u

/* 3 regions of 3 countries of 4 cities; 4 years of 12 months of 28 days. */
static int write_files(void **state)
{
    const int failed = setup(state);
    FILE *out = file_beside("star.sql");
    fputs("CREATE TABLE shops (s_id INT PRIMARY KEY, region TEXT NOT NULL, country TEXT NOT NULL, city TEXT "
          "NOT NULL, note INT);\n"
          "CREATE TABLE days (d_id INT PRIMARY KEY, year INT NOT NULL, month INT NOT NULL);\n"
          "CREATE TABLE facts (shop INT NOT NULL REFERENCES shops, day INT REFERENCES days, price INT NOT "
          "NULL, "
          "kind TEXT NOT NULL, \"odd name\" INT NOT NULL);\n",
          out);
    fclose(out);
    out = file_beside("shops.csv");
    for (unsigned s = 0; s < 360; s++) {
        const unsigned city = s * 7 % 36;
        fprintf(out, "%u,region %u,country %u,city %u,%u\n", s, city / 12, city / 4, city, s * 11 % 360);
    }
    fclose(out);
    out = file_beside("days.csv");
    for (unsigned d = 0; d < 4 * 12 * 28; d++)
        fprintf(out, "%u,%u,%u\n", d, 2000 + d / 336, (2000 + d / 336) * 100 + d / 28 % 12);
    fclose(out);
    out = file_beside("facts.csv");
    for (unsigned f = 0; f < FACTS; f++) {
        const unsigned x = f * 2654435761u;
        fprintf(out, "%u,%u,%u,kind %u,%u\n", (x >> 7) % 360, (x >> 5) % 1344, (x >> 3) % 1000, x % 4,
                f % 50);
    }
    fclose(out);
    return failed;
}

static void write_workload(const char *statements)
{
    FILE *const out = file_beside("asked.sql");
    fputs(statements, out);
    fclose(out);
}

#define LOAD                                                                                             \
    "--force --levels shops=region,country,city --levels days=year,month shops=shops.csv days=days.csv " \
    "facts=facts.csv "

#define QUESTION                                                                                           \
    "select count(*), sum(price), sum(note), min(year) from facts join shops on shop = s_id join days on " \
    "day = d_id"

/* The terms of facts, as --cluster-by has them. */
static const char *terms_of(void)
{
    static char text[256];
    struct database *database;
    const struct table *facts;
    struct error error = {0};
    assert_int_equal(database_open(path, &database, &error), STATUS_OK);
    assert_int_equal(database_table(database, "facts", &facts, &error), STATUS_OK);
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t t = 0; t < facts->clustering.count; t++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s:%u", t ? "," : "",
                                 facts->columns[facts->clustering.terms[t].column].schema.name,
                                 facts->clustering.terms[t].number);
    database_close(database);
    return text;
}

static void answer_of(const char *question, char *text, size_t bytes)
{
    setenv("Q", question, 1);
    run_shell("$T sql --device cpu --db $D --format csv \"$Q\"", &run);
    assert_int_equal(run.exit_code, 0);
    assert_true((size_t)snprintf(text, bytes, "%s", run.output) < bytes);
}

static void what_most_statements_name_is_taken(void **state)
{
    (void)state;
    static const struct {
        const char *statements, *terms;
    } cases[] = {
        /* a level that is named, and those above it, but none below nor of others */
        {"select 1 from facts, shops where shop = s_id and country = 'country 1'", "shop:2"},
        {"select 1 from facts, days where day = d_id and year = 2001;", "day:1"},
        /* 4 years by 3 regions by 3 countries are 36 cells */
        {"select 1 from facts, days where day = d_id and year = 2001;\n"
         "select 2 from facts, days, shops where day = d_id and shop = s_id and country <> 'x' and year > "
         "2000;",
         "shop:2,day:1"},
        /* 48 months are too many; 32 cells of a year and 3 bits are not, and months divide a cell of 6 tiles */
        {"select 1 from facts, days where month = 200101; select 2 from facts, days where month = 200102;"
         "select 3 from facts where price < 10",
         "price:3,day:2"},
        /* two statements name bits, one a level; a statement counts once; 32 cells, which 3 bits divide */
        {"select 1 from facts where price < 10; select 2 from facts where price > 900;"
         "select 3 from facts, shops where region = 'a' or region = 'b' or region = 'c'",
         "price:8"},
        {"select 1 from facts where price < 10 and price > 5 and price <> 7; select 2 from days where year = "
         "1;"
         "select 3 from days where year = 2",
         "day:1,price:6"},
        /* keys of dimensions, and columns that no level decides, say nothing */
        {"select 1 from facts, shops where shop = s_id and s_id between 3 and 9 and note = 4", ""},
        /* of the rest of a statement nothing counts */
        {"SELECT region, price FROM facts JOIN shops ON shop = s_id WHERE KIND = 'where price' /* where year "
         "= 1 */\n"
         "GROUP BY year HAVING sum(price) > 3 ORDER BY country; -- where price = 1\n"
         "select 1",
         "kind:8"},
        {"select 1 from facts where \"odd name\" = 4 union select price from facts order by price",
         "odd name:8"},
        /* subqueries, joins and parentheses */
        {"with a as (select price from facts f join shops s on f.shop = s.s_id and s.region = 'x' group by "
         "price) "
         "select 1 from a where ((price in (select max(price) from days group by year) or 1 = 1) and kind = "
         "'y')",
         "shop:1,kind:1,price:6"},
    };
    char plain[256];
    load_ends(LOAD, 0, "");
    assert_string_equal(terms_of(), "");
    answer_of(QUESTION, plain, sizeof plain);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_workload(cases[i].statements);
        load_ends(LOAD "--cluster-by auto --workload asked.sql", 0, "");
        if (strcmp(terms_of(), cases[i].terms) != 0)
            fail_msg("%s\n%s, not %s", cases[i].statements, terms_of(), cases[i].terms);
        answer_is(QUESTION, plain);
    }
}

/* The choice is remembered: appended rows go on so. */
static void an_append_goes_on(void **state)
{
    (void)state;
    write_workload("select 1 from facts, days where day = d_id and year = 2001;");
    load_ends(LOAD "--cluster-by auto --workload asked.sql", 0, "");
    load_ends("--append facts=facts.csv", 0, "");
    assert_string_equal(terms_of(), "day:1");
    write_workload("select 1 from facts where price = 2001;");
    load_ends("--append facts=facts.csv --cluster-by auto --workload asked.sql", 0, "");
    assert_non_null(strstr(terms_of(), "price:"));
    char rows[256], thrice[256];
    answer_of("select count(*), sum(price) from facts where price < 500", rows, sizeof rows);
    load_ends(LOAD, 0, "");
    answer_of(
        "select 3 * count(*) as \"count(*)\", 3 * sum(price) as \"sum(price)\" from facts where price < 500",
        thrice, sizeof thrice);
    assert_string_equal(strchr(rows, '\n'), strchr(thrice, '\n'));
}

static void files_that_say_nothing_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *statements, *arguments, *said;
    } cases[] = {
        {"select 1 from facts where price = 1", "--workload asked.sql", "give that, too"},
        {"select 1 from facts where price = 1", "--workload asked.sql --cluster-by none",
         "--cluster-by auto"},
        {"select 1 from facts where price = 1", "--workload asked.sql --cluster-by price",
         "--cluster-by auto"},
        {"select 1 from facts where price = 1", "--workload missing.sql --cluster-by auto", "missing.sql"},
        {"select 1 from facts where price = 1", "--workload .. --cluster-by auto", ".."},
        {"", "--workload asked.sql --cluster-by auto", "names a column"},
        {"select price from facts where other = 1 order by price", "--workload asked.sql --cluster-by auto",
         "names a column"},
        {"select 1 from facts;\n where price = 'x", "--workload asked.sql --cluster-by auto",
         "asked.sql: line 2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char arguments[512];
        write_workload(cases[i].statements);
        snprintf(arguments, sizeof arguments, LOAD "%s", cases[i].arguments);
        load_ends(arguments, 2, cases[i].said);
    }
    FILE *const out = file_beside("asked.sql");
    fputs("select 1 from facts where ", out);
    for (int i = 0; i < 300; i++)
        fputc('(', out);
    fputs("price", out);
    fclose(out);
    load_ends(LOAD "--cluster-by auto --workload asked.sql", 2, "parentheses");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_most_statements_name_is_taken),
        cmocka_unit_test(an_append_goes_on),
        cmocka_unit_test(files_that_say_nothing_are_refused),
    };
    return cmocka_run_group_tests(tests, write_files, teardown);
}
