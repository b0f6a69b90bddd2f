/*
 * test_explain.c: EXPLAIN is one tree. Its JSON has the fields that docs/sql.md lists; EXPLAIN runs nothing; and counting what
 * passes conditions changes the order in which tables are answered.
 *
 * Over tables of 50,000, 2,000 and 10 rows that no reference joins, in $D/db.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/database_cases.h"
#include "tests/support/run_program.h"

#include <jansson.h>

static char database[PATH_BYTES], folder[PATH_BYTES];
static struct program_run run;

/* ---- The database ---- */

static FILE *file_of(const char *name)
{
    char path[PATH_BYTES + 32];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    return file;
}

/* The note of one row of 1,000 begins with r, of all others with o: LIKE's own guess is the same for both. */
static int load(void **state)
{
    (void)state;
    directory_make(database);
    snprintf(folder, sizeof folder, "%.*s", (int)(strlen(database) - strlen("/db")), database);
    setenv("D", folder, 1);
    FILE *out = file_of("s.sql");
    fputs("CREATE TABLE large (k INTEGER, note VARCHAR, v INTEGER); CREATE TABLE middle (k INTEGER, w "
          "INTEGER, s "
          "INTEGER); CREATE TABLE small (s INTEGER, name VARCHAR);",
          out);
    fclose(out);
    out = file_of("large.csv");
    for (int row = 0; row < 50000; row++)
        fprintf(out, "%d,%c%05d,%d\n", row % 2000, row % 1000 ? 'o' : 'r', row, row % 97);
    fclose(out);
    out = file_of("middle.csv");
    for (int row = 0; row < 2000; row++)
        fprintf(out, "%d,%d,%d\n", row % 1000, row % 31, row % 10);
    fclose(out);
    out = file_of("small.csv");
    for (int row = 0; row < 10; row++)
        fprintf(out, "%d,name %d\n", row, row);
    fclose(out);
    run_shell(
        "$T load --db $D/db --schema $D/s.sql large=$D/large.csv middle=$D/middle.csv small=$D/small.csv",
        &run);
    return run.exit_code;
}

static int unload(void **state)
{
    (void)state;
    directory_remove(database);
    return 0;
}

/* ---- Trees ---- */

/* Gives the tree of a statement, which the caller frees. */
static json_t *tree_of(const char *sql)
{
    char command[4096];
    json_error_t why;
    snprintf(command, sizeof command, "$T sql --db $D/db --device cpu --threads 2 --format json \"%s\"", sql);
    run_shell(command, &run);
    if (run.exit_code)
        fail_msg("%s: %s", sql, run.errors);
    json_t *const rows = json_loads(run.output, 0, &why);
    assert_int_equal(json_array_size(rows), 1);
    json_t *const tree =
        json_loads(json_string_value(json_object_get(json_array_get(rows, 0), "plan")), 0, &why);
    if (!tree)
        fail_msg("%s: %s in %s", sql, why.text, run.output);
    json_decref(rows);
    return tree;
}

static const char *operator_of(const json_t *node)
{
    return json_string_value(json_object_get(node, "operator"));
}

/* Finds the first operator of that name for which a field contains the text. */
static const json_t *find(const json_t *node, const char *operator, const char * field, const char *text)
{
    const json_t *input;
    size_t i;
    const char *const value = json_string_value(json_object_get(node, field));
    if (strcmp(operator_of(node), operator) == 0 && value && strstr(value, text))
        return node;
    json_array_foreach(json_object_get(node, "inputs"), i, input)
    {
        const json_t *const found = find(input, operator, field, text);
        if (found)
            return found;
    }
    return NULL;
}

/* The plan that scans a table, and has the field `estimated_rows`. */
static const json_t *plan_of(const json_t *node, const char *table)
{
    const json_t *input;
    size_t i;
    json_array_foreach(json_object_get(node, "inputs"), i, input)
    {
        const json_t *const name = json_object_get(input, "table");
        if (strcmp(operator_of(node), "plan") == 0 && name && strcmp(json_string_value(name), table) == 0)
            return node;
        const json_t *const found = plan_of(input, table);
        if (found)
            return found;
    }
    return NULL;
}

/* ---- The schema ---- */

static const char *const operators[] = {"plan",         "select",         "item",      "join",   "set",
                                        "values",       "window",         "recursive", "shared", "filter",
                                        "inner answer", "scan of tables", NULL};
static const char *const parts[] = {
    "note",   "scan",       "column",    "waiting", "reference", "index",   "step",
    "result", "aggregate",  "merge",     "having",  "order",     "limit",   "grouping",
    "tiles",  "whole scan", "moves",     "device",  "exchange",  "process", "processes exchange",
    "time",   "cold",       "statement", NULL};

static bool is_one(const char *const *names, const char *name)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

static bool ends(const char *name, const char *end)
{
    return strlen(name) > strlen(end) && strcmp(name + strlen(name) - strlen(end), end) == 0;
}

/* Every node has an operator; operators that give rows have estimates, and analysed ones what was; numbers are numbers. */
static void check(const json_t *node, bool analysed)
{
    const char *const operator= operator_of(node), *name;
    json_t *value;
    size_t i;
    assert_non_null(operator);
    if (!is_one(operators, operator) && !is_one(parts, operator))
        fail_msg("the operator %s is in no list", operator);
    json_object_foreach((json_t *)node, name, value)
    {
        const bool number =
            ends(name, "rows") || ends(name, "_ms") || ends(name, "bytes") || ends(name, "share");
        if (strcmp(name, "inputs") == 0)
            assert_true(json_is_array(value) && json_array_size(value) > 0);
        else if (number ? !json_is_number(value) : !json_is_number(value) && !json_is_string(value))
            fail_msg("%s of %s has a wrong type", name, operator);
        else if (json_is_number(value) && json_number_value(value) < 0)
            fail_msg("%s of %s is below 0", name, operator);
    }
    if (is_one(operators, operator) && strcmp(operator, "inner answer") != 0 &&
        strcmp(operator, "item") != 0) {
        static const char *const actual[] = {"rows", "ms", "bytes", "device", "memory_bytes"};
        assert_non_null(json_object_get(node, "estimated_rows"));
        for (i = 0; i < sizeof actual / sizeof *actual; i++)
            if ((json_object_get(node, actual[i]) != NULL) != analysed &&
                (analysed || strcmp(actual[i], "device") != 0))
                fail_msg("%s: %s of %s", analysed ? "EXPLAIN ANALYZE" : "EXPLAIN", actual[i], operator);
    }
    json_array_foreach(json_object_get(node, "inputs"), i, value) check(value, analysed);
}

/* Statements in which all operators occur. */
static const char *const statements[] = {
    "select name, count(*), sum(v) from large, middle, small where large.k = middle.k and middle.s = small.s "
    "and note "
    "like 'r%' group by name order by 2 limit 3",
    "with t as (select k, max(v) as m from large group by k) select a.k from t a, t b where a.m = b.m + 1 "
    "and a.k < b.k "
    "and a.k > (select avg(k) from middle)",
    "select k from large union select k from middle except select s from small",
    "with recursive c(n) as (select 1 union all select n + 1 from c where n < 20) select n, rank() over "
    "(order by n) from c, "
    "small where n = s",
    "select count(*) from large where v in (select w from middle where s = 3) or exists (select 1 from small "
    "where s = v)",
    "values (1, 2), (3, 4)"};

static void json_has_the_fields_of_the_manual(void **state)
{
    char sql[1024];
    (void)state;
    for (size_t s = 0; s < sizeof statements / sizeof *statements; s++)
        for (int analysed = 0; analysed < 2; analysed++) {
            snprintf(sql, sizeof sql, "explain (%sformat json) %s", analysed ? "analyze, " : "",
                     statements[s]);
            json_t *const tree = tree_of(sql);
            check(tree, analysed);
            json_decref(tree);
        }
}

/* Text and JSON are of the same tree. */
static void joins_have_rows_time_and_memory(void **state)
{
    (void)state;
    json_t *const tree = tree_of(
        "explain analyze (format json) select count(*) from middle, small where middle.s + 0 = small.s");
    const json_t *const join = find(tree, "join", "kind", "inner");
    assert_non_null(join);
    assert_int_equal(json_integer_value(json_object_get(join, "rows")), 2000);
    assert_int_equal(json_integer_value(json_object_get(join, "estimated_rows")), 2000);
    assert_string_equal(json_string_value(json_object_get(join, "condition")), "((s + 0) = s)");
    assert_true(json_number_value(json_object_get(join, "ms")) > 0);
    json_decref(tree);
    run_shell("$T sql --db $D/db --device cpu 'explain analyze select count(*) from middle, small where "
              "middle.s + 0 = small.s'",
              &run);
    if (!strstr(run.output, "inner join by 1 key (((s + 0) = s)): 2000 rows with 10, estimated 2000 rows, "
                            "gave 2000 rows in "))
        fail_msg("%s", run.output);
    run_shell("$T sql --db $D/db \"explain (format xml) select 1\"", &run);
    assert_int_equal(run.exit_code, 2);
    assert_non_null(strstr(run.errors, "after FORMAT"));
}

/* ---- EXPLAIN runs nothing ---- */

/* The inner answer takes minutes; that it is awaited is said. */
static void explain_runs_nothing(void **state)
{
    static const char sql[] = "explain (format json) select count(*) from large where k > (select count(*) "
                              "from large a, large b, large c where "
                              "a.v = b.v and b.v = c.v) and v < 50";
    (void)state;
    json_t *const tree = tree_of(sql); /* a run that does not end in time fails the test */
    const json_t *const outer = tree;
    assert_string_equal(operator_of(outer), "plan");
    assert_string_equal(json_string_value(json_object_get(outer, "after")), "count(*)");
    assert_non_null(find(outer, "step", "condition", "v between 0 and 49"));
    assert_non_null(find(outer, "waiting", "condition", "(k > count(*))"));
    assert_non_null(find(outer, "inner answer", "name", "value at line 1"));
    json_decref(tree);
}

/* ---- Counting ---- */

static void counting_changes_the_order(void **state)
{
    static const char *const order =
        "explain (format json) select sum(v) from large, middle, small where large.k = "
        "middle.k and middle.s = small.s and note like '%s%%'";
    static const struct {
        const char *like;
        int estimated, tolerance;
        bool first; /* the large table is answered before the middle one, whose rows then wait for its keys */
    } cases[] = {{"r", 50, 0, true}, {"o", 49950, 0, false}};
    char sql[1024];
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        snprintf(sql, sizeof sql, order, cases[c].like);
        json_t *const tree = tree_of(sql);
        const json_t *const large = plan_of(tree, "large"), *const middle = plan_of(tree, "middle");
        assert_non_null(large);
        assert_non_null(middle);
        assert_int_equal(json_integer_value(json_object_get(large, "estimated_rows")), cases[c].estimated);
        const char *const after = json_string_value(json_object_get(middle, "after"));
        if ((after && strstr(after, "k")) != cases[c].first)
            fail_msg("%s: middle is answered after %s", cases[c].like, after ? after : "nothing");
        json_decref(tree);
    }
}

/* True if the run looks values of an answer up in its scan. */
static bool has_dimension(const char *sql)
{
    char command[4096];
    snprintf(command, sizeof command, "$T sql --db $D/db --device cpu --threads 2 \"EXPLAIN ANALYZE %s\"",
             sql);
    run_shell(command, &run);
    if (run.exit_code)
        fail_msg("%s: %s", sql, run.errors);
    return strstr(run.output, "dimension at line 1") != NULL;
}

#define GROUPED "(select k, count(*) as n, min(note) as note from large group by k) x "

/* A side with one row for each key is looked up by the scan, unless something else restricts that. */
static void answers_with_unique_keys_are_dimensions(void **state)
{
    (void)state;
    assert_true(has_dimension("select sum(v * x.n) from large l join " GROUPED "on l.k = x.k"));
    assert_true(
        has_dimension("select x.n, count(*) from large l left join " GROUPED "on l.k = x.k group by x.n"));
    assert_true(has_dimension("select count(*) from large l join " GROUPED "on l.k = x.k where x.n > v"));
    assert_false(
        has_dimension("select sum(v * x.n) from large l join " GROUPED "on l.k = x.k where l.v = 5"));
    assert_false(has_dimension("select max(x.note) from large l join " GROUPED "on l.k = x.k"));
    assert_true(has_dimension("select l.v, x.n from large l join " GROUPED "on l.k = x.k"));
    assert_false(
        has_dimension("select sum(v * x.n) from large l join (select k, w, count(*) as n from middle "
                      "group by k, w) x on l.k = x.k"));
}

/* So is a stored table that no reference joins, if it is smaller than what the scan keeps, and its key has no value twice. */
static void tables_with_unique_keys_are_dimensions(void **state)
{
    (void)state;
    assert_true(
        has_dimension("select s.name, sum(w) from middle m join small s on m.s = s.s group by s.name"));
    assert_true(has_dimension("select s.name, sum(w) from middle m left join small s on m.s = s.s and "
                              "s.name <> 'name 1' group by s.name"));
    assert_true(has_dimension("select m.w, s.name from middle m, small s where m.s = s.s and m.w < 20"));
    assert_false(has_dimension("select m.w, sum(v) from large l join middle m on l.k = m.k group by m.w"));
    assert_false(has_dimension("select s.name, sum(w) from middle m, small s where m.s = s.s and m.k = 5 "
                               "group by s.name"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(answers_with_unique_keys_are_dimensions),
                                       cmocka_unit_test(tables_with_unique_keys_are_dimensions),
                                       cmocka_unit_test(json_has_the_fields_of_the_manual),
                                       cmocka_unit_test(joins_have_rows_time_and_memory),
                                       cmocka_unit_test(explain_runs_nothing),
                                       cmocka_unit_test(counting_changes_the_order)};
    return cmocka_run_group_tests(tests, load, unload);
}
