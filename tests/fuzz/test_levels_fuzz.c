/*
 * test_levels_fuzz.c: answers to statements of several levels over random star queries (fuzz_query.h) equal SQLite's:
 * groups, windows, joins, sets and lists of answers, in FROM or by WITH, some three levels deep; and joins of stored
 * tables that are no star.
 *
 * Without arguments it asks the same QUERIES every time, some 20 s. `test_levels_fuzz SECONDS SEED DEVICE` does more, as
 * test_sql_fuzz does.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/fuzz/fuzz_query.h"
#include "tests/fuzz/fuzz_reached.h"

#define QUERIES      500u
#define STAR_QUERIES 40u
#define COLUMNS      6u /* of an answer that the next level names */

static uint64_t seed = 20261122;
static double seconds; /* 0: QUERIES */

/* A level: its text for both, and its columns c0, c1, ... that are no floating-point numbers. */
struct nested {
    const char *text[2]; /* ours, SQLite's */
    struct term columns[COLUMNS];
    uint32_t names[COLUMNS], count;
};

static const struct term counted = {.kind = NUMBER};

static struct nested star_level(void)
{
    static struct query query;
    struct nested level;
    for (;;) {
        make_query(&query);
        level = (struct nested){.text = {write_query(&query, true), write_query(&query, false)}};
        for (uint32_t o = 0; o < query.group_count + query.aggregate_count && level.count < COLUMNS; o++)
            if (output_of(&query, o)->scale < SCALE_DOUBLE) {
                level.names[level.count] = o;
                level.columns[level.count++] = *output_of(&query, o);
            }
        if (level.count)
            return level;
    }
}

static uint32_t pick(const struct nested *level)
{
    return below(level->count);
}

/* A text in which each @ is a name that no other level has. */
static const char *named(const char *text)
{
    static uint32_t number;
    char *const out = texts + text_used;
    size_t used = 0;
    number++;
    for (const char *c = text; *c; c++)
        used += (size_t)sprintf(out + used, *c == '@' ? "q%u" : "%c", *c == '@' ? (int)number : *c);
    text_used += used + 1;
    assert_true(text_used < sizeof texts);
    return out;
}

/* Adds an output to a level that is being made, and gives it to `list`. */
static const char *output(struct nested *level, const char *list, const char *text, struct term type)
{
    level->names[level->count] = level->count;
    level->columns[level->count] = type;
    list = form("%s%s%s AS c%u", list, level->count ? ", " : "", text, level->count);
    level->count++;
    return list;
}

static const char *column(const struct nested *level, const char *of, uint32_t c)
{
    return form("%sc%u", of, level->names[c]);
}

/* Makes the texts of a level from the text around the levels that it asks. */
static void around(struct nested *level, const char *begin, const struct nested *asked, const char *end)
{
    for (int side = 0; side < 2; side++)
        level->text[side] = form("%s(%s)%s", begin, asked->text[side], end);
}

static struct nested group_level(const struct nested *asked)
{
    struct nested level = {.count = 0};
    const uint32_t key = pick(asked), value = pick(asked);
    const char *list = output(&level, "", column(asked, "t.", key), asked->columns[key]);
    list = output(&level, list, "count(*)", counted);
    list = output(&level, list, form("min(%s)", column(asked, "", value)), asked->columns[value]);
    list = output(&level, list, form("count(DISTINCT %s)", column(asked, "t.", value)), counted);
    if (asked->columns[value].kind == NUMBER)
        list = output(&level, list, form("sum(%s)", column(asked, "t.", value)), asked->columns[value]);
    const char *const having = chance(30) ? " HAVING count(*) > 1" : "";
    around(&level, form("SELECT %s FROM ", list), asked,
           form(" AS t GROUP BY t.c%u%s", asked->names[key], having));
    return level;
}

/* All columns, so that rows that are equal in it are equal. */
static const char *whole_order(const struct nested *asked, const char *first)
{
    const char *list = first;
    for (uint32_t c = 0; c < asked->count; c++)
        list = form("%s%s%s%s", list, c || first[0] ? ", " : "", column(asked, "", c),
                    chance(30) ? " DESC" : "");
    return list;
}

static const char *random_frame(void)
{
    static const char *const frames[] = {"",
                                         " ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
                                         " ROWS 2 PRECEDING",
                                         " ROWS BETWEEN 1 PRECEDING AND 3 FOLLOWING",
                                         " ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
                                         " ROWS BETWEEN 5 PRECEDING AND 2 PRECEDING",
                                         " ROWS BETWEEN 1 FOLLOWING AND 4 FOLLOWING",
                                         " ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"};
    return frames[below(sizeof frames / sizeof *frames)];
}

static const char *random_window(const struct nested *asked, bool frames)
{
    const char *const partition = chance(50) ? form("PARTITION BY %s ", column(asked, "", pick(asked))) : "";
    return form("OVER (%sORDER BY %s%s)", partition, whole_order(asked, ""), frames ? random_frame() : "");
}

static struct nested window_level(const struct nested *asked)
{
    static const char *const ranks[] = {"row_number()", "rank()", "dense_rank()", "ntile(3)"};
    static const char *const values[] = {"min(%s)", "max(%s)", "first_value(%s)", "last_value(%s)",
                                         "nth_value(%s, 2)"};
    struct nested level = {.count = 0};
    const uint32_t value = pick(asked), kept = pick(asked);
    const char *const name = column(asked, "", value);
    const char *list = output(&level, "", column(asked, "", kept), asked->columns[kept]);
    list = output(&level, list, form("%s %s", ranks[below(4)], random_window(asked, false)), counted);
    list = output(&level, list, form("count(%s) %s", name, random_window(asked, true)), counted);
    list = output(&level, list, form("%s %s", form(values[below(5)], name), random_window(asked, true)),
                  asked->columns[value]);
    list = output(
        &level, list,
        form("%s(%s, %u) %s", chance(50) ? "lag" : "lead", name, below(4), random_window(asked, false)),
        asked->columns[value]);
    if (asked->columns[value].kind == NUMBER) {
        const bool distinct = chance(20);
        const char *const aggregate = distinct     ? form("approx_count_distinct(%s)", name)
                                      : chance(25) ? form("approx_quantile(%s, 0.%02u)", name, below(100))
                                                   : form("sum(%s)", name);
        list = output(&level, list, form("%s %s", aggregate, random_window(asked, true)),
                      distinct ? counted : asked->columns[value]);
    }
    around(&level, form("SELECT %s FROM ", list), asked, " AS t");
    return level;
}

/* Rows of an answer whose column `by` is not its least, so that others find no partner. */
static const char *part_of(const struct nested *asked, const char *list, uint32_t by)
{
    return form("(SELECT DISTINCT %s FROM @ WHERE %s > (SELECT min(%s) FROM @))", list, column(asked, "", by),
                column(asked, "", by));
}

/* An answer joined to a part of itself, and perhaps to a part more, by ON or USING. */
static struct nested join_level(const struct nested *asked)
{
    static const char *const joins[] = {"JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"};
    struct nested level = {.count = 0};
    const uint32_t key = pick(asked), left = pick(asked), right = pick(asked), by = pick(asked);
    const bool using = chance(30), third = chance(40);
    const char *const word = joins[below(sqlite3_libversion_number() < 3039000 ? 2 : 4)];
    const char *const name = column(asked, "", key), *const other = column(asked, "", right);
    const char *const parts = key == right ? name : form("%s, %s", name, other);
    const char *const shared = third ? form("coalesce(a.%s, b.%s)", name, name) : name;
    const char *list =
        output(&level, "", left == key && using ? shared : column(asked, "a.", left), asked->columns[left]);
    list = output(&level, list, right == key && using ? shared : form("b.%s", other), asked->columns[right]);
    const char *on = form("USING (%s)", name);
    if (!using)
        on = form("ON a.%s = b.%s%s", name, name,
                  chance(30) && (left == key || left == right)
                      ? form(" AND a.%s <= b.%s", column(asked, "", left), column(asked, "", left))
                      : "");
    const char *more = "";
    if (third && chance(50)) {
        list = output(&level, list, form("c.%s", name), asked->columns[key]);
        more = form(" LEFT JOIN %s AS c ON coalesce(b.%s, a.%s) = c.%s", part_of(asked, name, by), name, name,
                    name);
    } else if (third) { /* a key that is an expression over rows that the join before may lack */
        list = output(&level, list, "c.k", counted);
        more = form(" LEFT JOIN (SELECT 0 AS k UNION SELECT 2) AS c ON CASE WHEN %s.%s IS NULL THEN 0 ELSE 1 "
                    "END = c.k",
                    chance(50) ? "a" : "b", name);
    }
    list = output(&level, list, "count(*)", counted);
    for (int side = 0; side < 2; side++)
        level.text[side] =
            named(form("WITH @ AS (%s) SELECT %s FROM @ AS a %s %s AS b %s%s GROUP BY %s", asked->text[side],
                       list, word, part_of(asked, parts, by), on, more, third ? "1, 2, 3" : "1, 2"));
    return level;
}

/* A subquery that names a key of the level around it. */
static struct nested correlated_level(const struct nested *asked)
{
    static const char *const aggregates[] = {"count(*)", "count(i.%s)", "min(i.%s)", "max(i.%s)"};
    struct nested level = {.count = 0};
    const uint32_t key = pick(asked), kept = pick(asked), value = pick(asked), by = pick(asked),
                   which = below(4);
    const char *const asks =
        form("FROM @ AS i WHERE i.%s = o.%s AND i.%s < (SELECT max(%s) FROM @)", column(asked, "", key),
             column(asked, "", key), column(asked, "", by), column(asked, "", by));
    const char *list = output(&level, "", column(asked, "o.", kept), asked->columns[kept]), *where = "";
    if (chance(50))
        where = form(" WHERE %sEXISTS (SELECT 1 %s)", chance(50) ? "NOT " : "", asks);
    else
        list = output(&level, list,
                      form("(SELECT %s %s)", form(aggregates[which], column(asked, "", value)), asks),
                      which < 2 ? counted : asked->columns[value]);
    for (int side = 0; side < 2; side++)
        level.text[side] =
            named(form("WITH @ AS (%s) SELECT %s FROM @ AS o%s", asked->text[side], list, where));
    return level;
}

static struct nested set_level(const struct nested *asked)
{
    static const char *const set_words[] = {"UNION", "UNION ALL", "EXCEPT", "INTERSECT"};
    struct nested level = {.count = 0};
    const uint32_t c = pick(asked), by = pick(asked);
    const char *const word = set_words[below(4)], *const list = output(&level, "", column(asked, "", c),
                                                                       asked->columns[c]);
    for (int side = 0; side < 2; side++)
        level.text[side] = named(
            form("WITH @ AS (%s) SELECT %s FROM @ %s SELECT %s FROM @ WHERE %s > (SELECT min(%s) FROM @)",
                 asked->text[side], list, word, column(asked, "", c), column(asked, "", by),
                 column(asked, "", by)));
    return level;
}

static struct nested list_level(const struct nested *asked)
{
    struct nested level = {.count = 0};
    const uint32_t c = pick(asked), by = pick(asked), value = pick(asked);
    const char *list = output(&level, "", column(asked, "", value), asked->columns[value]);
    list = output(&level, list, column(asked, "", c), asked->columns[c]);
    for (int side = 0; side < 2; side++)
        level.text[side] =
            named(form("WITH @ AS (%s) SELECT %s FROM @ WHERE %s IN (SELECT %s FROM @ WHERE %s < "
                       "(SELECT max(%s) FROM @))",
                       asked->text[side], list, column(asked, "", c), column(asked, "", c),
                       column(asked, "", by), column(asked, "", by)));
    return level;
}

/* ---- Joins of stored tables ---- */

#define TABLES_ROWS_MOST 2000u /* of a fact table that is joined to itself: at most 4 million pairs */

static bool random_reference(const struct fuzz_table **from, const struct fuzz_column **reference)
{
    *from = &fuzz_tables[below(fuzz_table_count)];
    *reference = &(*from)->columns[below((*from)->column_count)];
    return (*reference)->references >= 0;
}

/* The key that joins tables a and b: a dimension keeps its rows beside those that reference it, or rows meet that
 * reference the same. */
static const char *random_tables(const struct fuzz_table **a, const struct fuzz_table **b)
{
    const struct fuzz_column *reference;
    for (;;) {
        if (!random_reference(b, &reference))
            continue;
        *a = &fuzz_tables[reference->references];
        if (chance(60))
            return form("a.%s = b.%s", (*a)->columns[0].name, reference->name);
        *a = *b;
        if ((*b)->rows <= TABLES_ROWS_MOST)
            return form("a.%s = b.%s", reference->name, reference->name);
    }
}

static struct nested tables_level(void)
{
    static const char *const joined_by[] = {"JOIN", "LEFT JOIN", "LEFT JOIN", "FULL JOIN"};
    struct nested level = {.count = 0};
    struct scope scope = {.count = 2};
    const char *const key = random_tables(&scope.in[0].table, &scope.in[1].table),
                      *list[2] = {"", ""}, *const word = joined_by[below(4)];
    scope.in[0].alias = "a";
    scope.in[1].alias = "b";
    while (level.count < 2) {
        const struct term term = any_term(&scope, 1);
        if (term.scale >= SCALE_DOUBLE)
            continue;
        for (int side = 0; side < 2; side++)
            list[side] = form("%s%s AS c%u, ", list[side], side ? term.sqlites : term.ours, level.count);
        level.names[level.count] = level.count;
        level.columns[level.count++] = term;
    }
    output(&level, "", "count(*)", counted);
    const struct term condition = truth_term(&scope, 1);
    const bool in_on = chance(40) && word[0] != 'F', in_where = !in_on && chance(50);
    for (int side = 0; side < 2; side++) {
        const char *const text = side ? condition.sqlites : condition.ours;
        level.text[side] =
            form("SELECT %scount(*) AS c2 FROM %s AS a %s %s AS b ON %s%s%s%s%s GROUP BY 1, 2", list[side],
                 scope.in[0].table->name, word, scope.in[1].table->name, key, in_on ? " AND " : "",
                 in_on ? text : "", in_where ? " WHERE " : "", in_where ? text : "");
    }
    return level;
}

static struct nested random_level(uint32_t depth)
{
    static struct nested (*const makers[])(const struct nested *) = {
        group_level, window_level, join_level, correlated_level, set_level, list_level};
    struct nested level = chance(20) ? tables_level() : star_level();
    for (uint32_t d = 0; d < depth; d++)
        level = makers[below(sizeof makers / sizeof *makers)](&level);
    return level;
}

static void order_whole(struct nested *level)
{
    const char *const order = whole_order(level, "");
    for (int side = 0; side < 2; side++)
        level->text[side] = form("SELECT * FROM (%s) AS o ORDER BY %s", level->text[side], order);
}

/* SQLite joins some levels row by row for minutes: after so many steps of a thousand instructions it is interrupted. */
#define STEP_INSTRUCTIONS 1000
#define STEPS_MAX         300000u /* some seconds */

static uint32_t steps;

static int count_steps(void *unused)
{
    (void)unused;
    return ++steps > STEPS_MAX;
}

static enum verdict try_level(struct engine *engine, struct database *database, sqlite3 *sqlite,
                              const struct nested *level)
{
    static struct sql_parameter values[CONSTANTS_MAX];
    const struct term *types[COLUMNS];
    struct sql_statement *statement = NULL;
    sqlite3_stmt *expected = NULL;
    struct error told = {0};
    struct rowset rows = {0};
    uint32_t count;
    size_t used;
    ours = place_constants(level->text[0], false, values, &count);
    theirs = level->text[1];
    steps = 0;
    if (!ask_sqlite(sqlite, &expected))
        return DIFFERENT;
    for (uint32_t c = 0; c < level->count; c++)
        types[c] = &level->columns[c];
    enum status status = sql_prepare(engine, database, ours, strlen(ours), NULL, &statement, &used, &told);
    if (status == STATUS_OK)
        status = sql_run(statement, &rows, NULL, &told);
    sql_statement_free(statement);
    assert_true(status != STATUS_OK || rows.column_count == level->count);
    const enum verdict verdict = judge(status, &told, types, &rows, expected);
    return steps > STEPS_MAX ? REFUSED : verdict;
}

static void random_levels_answer_as_sqlite_does(void **state)
{
    uint64_t compared = 0, refused = 0, stars = 0;
    const double begin = clock_seconds();
    (void)state;
    do {
        char path[PATH_BYTES];
        struct database *database;
        struct engine *engine;
        random_state = seed + 0x9e3779b97f4a7c15ull * ++stars;
        sqlite3 *const sqlite = make_star(path, &database);
        make_functions(sqlite);
        fuzz_functions_register(sqlite);
        sqlite3_progress_handler(sqlite, STEP_INSTRUCTIONS, count_steps, NULL);
        must(engine_open(&(struct engine_options){.device = fuzz_device,
                                                  .threads = 2,
                                                  .memory = getenv("TESSERA_TEST_MEMORY")},
                         &engine, error));
        for (uint32_t q = 0; q < STAR_QUERIES; q++) {
            struct nested level = random_level(1 + below(3));
            order_whole(&level);
            const enum verdict verdict = try_level(engine, database, sqlite, &level);
            compared += verdict == SAME;
            if (verdict == SAME)
                reached_add(database, ours);
            refused += verdict == REFUSED;
            if (verdict == DIFFERENT)
                fail_msg("seed %llu, star %llu, query %u: %s\n%s\nSQLite: %s", (unsigned long long)seed,
                         (unsigned long long)stars, q, difference, ours, theirs);
        }
        engine_close(engine);
        database_close(database);
        sqlite3_close(sqlite);
        directory_remove(path);
    } while (seconds > 0 ? clock_seconds() - begin < seconds : stars * STAR_QUERIES < QUERIES);
    print_message("seed %llu: %llu stars, %llu statements alike (%llu with rows), %llu refused for a "
                  "documented reason, or too slow in SQLite\n",
                  (unsigned long long)seed, (unsigned long long)stars, (unsigned long long)compared,
                  (unsigned long long)with_rows, (unsigned long long)refused);
    assert_true(compared > refused);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_levels_answer_as_sqlite_does)};
    fuzz_hierarchies = 40;
    fuzz_arguments(argc, argv, &seconds, &seed);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (seconds > 0)
        reached_print();
    return failed;
}
