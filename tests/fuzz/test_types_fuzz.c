/*
 * test_types_fuzz.c: whether a statement is answered depends on its types, never on its rows. Expressions at random over
 * columns of a subquery that gives a row of values, a row of NULLs, or none, are answered in all three cases, or refused in
 * all.
 *
 *     SELECT upper((SELECT s FROM f WHERE id = 1)) ...               a column is the value of a subquery of its own
 *     SELECT upper(s) ... FROM (SELECT * FROM f WHERE id = 1) t      it is one of an answer's
 *
 * Refusals that go by the least and greatest values are documented, and do not count. Without arguments it asks the same
 * EXPRESSIONS every time. `test_types_fuzz COUNT SEED` asks others.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/library/tessera.h"
#include "tests/fuzz/fuzz_random.h"
#include "tests/support/database_cases.h"

#define TEXT_BYTES   ((size_t)1 << 14)
#define LENGTH(list) (uint32_t)(sizeof(list) / sizeof *(list))

static uint64_t seed = 20261123;
static uint32_t expressions = 1500;

static char path[PATH_BYTES], file[PATH_BYTES + 32];
static struct tessera_database *database;
static struct tessera_error error;

static int setup(void **state)
{
    static const char *const tables[] = {"f"};
    const char *const files[] = {file};
    uint64_t rows;
    (void)state;
    directory_make(path);
    snprintf(file, sizeof file, "%.*s/f.csv", (int)(strlen(path) - 3), path);
    FILE *const out = fopen(file, "w");
    assert_non_null(out);
    fputs("1,2024-01-31,2024-01-31 12:00:00,one,1.50,7,2.5,true\n2,,,,,,,\n", out);
    fclose(out);
    if (tessera_load(
            path,
            "CREATE TABLE f (id INTEGER, d DATE, t TIMESTAMP, s VARCHAR, n DECIMAL(10,2), e DECIMAL(10,0), "
            "r DOUBLE, b BOOLEAN)",
            tables, files, 1, TESSERA_LOAD_NEW, &rows, &error) != TESSERA_OK ||
        tessera_open(path, "cpu", 1, &database, &error) != TESSERA_OK)
        fail_msg("%s", error.text);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    tessera_close(database);
    directory_remove(path);
    return 0;
}

/* ---- Expressions: a column is its letter after @, of id @i ---- */

static void put(char *text, const char *more, size_t bytes)
{
    const size_t used = strlen(text);
    assert_true(used + bytes < TEXT_BYTES);
    memcpy(text + used, more, bytes);
    text[used + bytes] = '\0';
}

static void put_leaf(char *text)
{
    static const char *const columns[] = {"@i", "@d", "@t", "@s", "@n", "@e", "@r", "@b"};
    static const char *const constants[] = {"1",
                                            "2.5",
                                            "1e0",
                                            "'a'",
                                            "'3'",
                                            "'2024-01-01'",
                                            "DATE '2024-02-01'",
                                            "TIMESTAMP '2024-01-01 01:02:03'",
                                            "TRUE",
                                            "NULL"};
    const char *const leaf =
        chance(60) ? columns[below(LENGTH(columns))] : constants[below(LENGTH(constants))];
    put(text, leaf, strlen(leaf));
}

/* Appends an expression; # stands for one in it. */
static void put_expression(char *text, uint32_t depth)
{
    static const char *const forms[] = {"(# + #)",
                                        "(# - #)",
                                        "(# * #)",
                                        "(# / #)",
                                        "(# % #)",
                                        "(# || #)",
                                        "(# = #)",
                                        "(# < #)",
                                        "(# AND #)",
                                        "(# OR #)",
                                        "(NOT #)",
                                        "(- #)",
                                        "(# IS DISTINCT FROM #)",
                                        "(# IS NULL)",
                                        "(# IS TRUE)",
                                        "(# IN (#, #))",
                                        "(# BETWEEN # AND #)",
                                        "(# LIKE 'a%')",
                                        "(# + INTERVAL 1 DAY)",
                                        "(# - INTERVAL 1 MONTH)",
                                        "upper(#)",
                                        "length(#)",
                                        "trim(#)",
                                        "substr(#, 1, 2)",
                                        "concat(#, #)",
                                        "round(#, 1)",
                                        "floor(#)",
                                        "abs(#)",
                                        "sign(#)",
                                        "sqrt(#)",
                                        "mod(#, #)",
                                        "isnan(#)",
                                        "coalesce(#, #)",
                                        "nullif(#, #)",
                                        "greatest(#, #)",
                                        "CASE WHEN # THEN # ELSE # END",
                                        "CASE # WHEN # THEN # END",
                                        "CAST(# AS INTEGER)",
                                        "CAST(# AS DECIMAL(12,2))",
                                        "CAST(# AS DECIMAL(10,0))",
                                        "CAST(# AS DOUBLE)",
                                        "CAST(# AS VARCHAR)",
                                        "CAST(# AS DATE)",
                                        "CAST(# AS TIMESTAMP)",
                                        "CAST(# AS BOOLEAN)",
                                        "date_trunc('month', #)",
                                        "extract(year FROM #)",
                                        "date_diff('day', #, #)",
                                        "strftime(#, '%Y')",
                                        "last_day(#)",
                                        "make_date(#, 1, 1)"};
    if (depth == 0) {
        put_leaf(text);
        return;
    }
    for (const char *form = forms[below(LENGTH(forms))]; *form; form++)
        if (*form == '#')
            put_expression(text, below(depth));
        else
            put(text, form, 1);
}

/* Replaces the columns of an expression by values of row `id`. */
static void put_columns(char *text, const char *expression, bool values, unsigned id)
{
    char column[64];
    for (const char *at = expression; *at; at++) {
        if (*at != '@') {
            put(text, at, 1);
            continue;
        }
        at++;
        const char *const name = *at == 'i' ? "id" : (char[]){*at, '\0'};
        if (values)
            snprintf(column, sizeof column, "(SELECT %s FROM f WHERE id = %u)", name, id);
        else
            snprintf(column, sizeof column, "t.%s", name);
        put(text, column, strlen(column));
    }
}

/* ---- Statements ---- */

enum outcome { ANSWERED, REFUSED, BY_RANGE };

static enum outcome ask(const char *text, char sentence[256])
{
    static const char *const by_range[] = {"going by the least and greatest", "possible values"};
    struct tessera_statement *statement;
    struct tessera_result *result = NULL;
    enum tessera_status status = tessera_prepare(database, text, &statement, &error);
    if (status == TESSERA_OK) {
        status = tessera_run(statement, &result, &error);
        tessera_finalize(statement);
    }
    if (status == TESSERA_OK) {
        tessera_result_free(result);
        return ANSWERED;
    }
    if (status != TESSERA_BAD_INPUT)
        fail_msg("%s: status %d, %s", text, (int)status, error.text);
    snprintf(sentence, 256, "%.255s", error.text);
    for (uint32_t r = 0; r < LENGTH(by_range); r++)
        if (strstr(error.text, by_range[r]))
            return BY_RANGE;
    return REFUSED;
}

/* Asks for two expressions, or their UNION, over a row of values, a row of NULLs, and none; true if they are answered. */
static bool outcomes_are_alike(const char *first, const char *second, bool values, bool both)
{
    static const unsigned ids[] = {1, 2, 99};
    enum outcome outcomes[3];
    char text[3][TEXT_BYTES], from[64], sentence[256] = "";
    for (uint32_t i = 0; i < 3; i++) {
        text[i][0] = from[0] = '\0';
        if (!values)
            snprintf(from, sizeof from, " FROM (SELECT * FROM f WHERE id = %u) t", ids[i]);
        put(text[i], "SELECT ", 7);
        put_columns(text[i], first, values, ids[i]);
        put(text[i], from, strlen(from));
        if (both) {
            put(text[i], " UNION ALL SELECT ", 18);
            put_columns(text[i], second, values, ids[i]);
            put(text[i], from, strlen(from));
        }
        outcomes[i] = ask(text[i], sentence);
        if (outcomes[i] == BY_RANGE)
            return false;
    }
    for (uint32_t i = 1; i < 3; i++)
        if (outcomes[i] != outcomes[0])
            fail_msg("seed %llu: one of these is answered, one refused, %s\n%s\n%s", (unsigned long long)seed,
                     sentence, text[0], text[i]);
    return outcomes[0] == ANSWERED;
}

static void refusals_do_not_depend_on_rows(void **state)
{
    char first[TEXT_BYTES], second[TEXT_BYTES];
    (void)state;
    random_state = seed;
    uint32_t answered = 0;
    for (uint32_t e = 0; e < expressions; e++) {
        first[0] = second[0] = '\0';
        put_expression(first, 1 + below(2));
        put_expression(second, below(3));
        answered += outcomes_are_alike(first, second, chance(60), chance(30));
    }
    printf("%u of %u answered\n", answered, expressions);
    assert_true(answered > expressions / 8);
}

int main(int count, char **arguments)
{
    if (count > 1)
        expressions = (uint32_t)strtoul(arguments[1], NULL, 10);
    if (count > 2)
        seed = strtoull(arguments[2], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(refusals_do_not_depend_on_rows, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
