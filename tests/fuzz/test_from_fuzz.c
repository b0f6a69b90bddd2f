/*
 * test_from_fuzz.c: FROM clauses at random, of commas, JOIN, LEFT, RIGHT, FULL and CROSS JOIN by ON and USING over stored
 * tables and answers, with names with and without their table's: each is answered as SQLite answers a statement that
 * needs no scopes.
 *
 * There each column has a name of its own, each join is a subquery, and a column of USING is coalesce of both sides:
 *
 *     FROM a AS t0, b AS t1 FULL JOIN c AS t2 USING (k)
 *     FROM (SELECT k AS t0_k, v AS t0_v FROM a) CROSS JOIN
 *          (SELECT *, coalesce(t1_k, t2_k) AS m2_k FROM (SELECT ...) FULL JOIN (SELECT ...) ON t1_k = t2_k)
 *
 * Without arguments it asks the same QUERIES every time. `test_from_fuzz SECONDS SEED` does more; seed 0 is the time.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "loader/table/table_loader.h"
#include "storage/base/clock.h"
#include "tests/fuzz/fuzz_random.h"
#include "tests/fuzz/fuzz_reached.h"
#include "tests/support/sql/as_sqlite.h"
#include "tests/support/not_run.h"

#define QUERIES      2000u
#define STAR_QUERIES 200u
#define TABLES       5u /* the last is that of subqueries */
#define SOURCES_MAX  5u
#define COLUMNS      3u /* of a table */
#define VISIBLE_MAX  (SOURCES_MAX * COLUMNS)
#define ROWS_MAX     6u
#define TEXT_BYTES   ((size_t)1 << 18)

static uint64_t seed = 20261123;
static double seconds; /* 0: QUERIES */

static const char script[] = "CREATE TABLE d (k INTEGER PRIMARY KEY, l INTEGER, x INTEGER);\n"
                             "CREATE TABLE f (k INTEGER REFERENCES d, l INTEGER, y INTEGER);\n"
                             "CREATE TABLE p (k INTEGER, l INTEGER, x INTEGER);\n"
                             "CREATE TABLE q (l INTEGER, k INTEGER, z INTEGER);\n"
                             "CREATE TABLE r (n INTEGER, o INTEGER, s INTEGER);\n";
static const char *const table_names[TABLES] = {"d", "f", "p", "q", "r"};
static const char *const table_columns[TABLES][COLUMNS] = {
    {"k", "l", "x"}, {"k", "l", "y"}, {"k", "l", "x"}, {"l", "k", "z"}, {"n", "o", "s"}};

/* ---- Texts ---- */

static char texts[TEXT_BYTES];
static size_t text_used;

__attribute__((format(printf, 1, 2))) static const char *form(const char *format, ...)
{
    char *const text = texts + text_used;
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text, TEXT_BYTES - text_used, format, arguments);
    va_end(arguments);
    assert_true(length >= 0 && text_used + (size_t)length < TEXT_BYTES);
    text_used += (size_t)length + 1;
    return text;
}

/* ---- FROM ---- */

/* A column as ours may name it without its table, and by its name in SQLite's relation. */
struct named {
    const char *name, *theirs;
};

struct from {
    uint32_t number; /* its alias is t and this */
    struct named columns[COLUMNS];
};

/* An item of FROM, as far as it is made: `theirs` is a relation of all its columns. */
struct relation {
    const char *ours, *theirs;
    uint32_t first, end; /* sources */
    struct named visible[VISIBLE_MAX];
    uint32_t visible_count;
};

static struct from sources[SOURCES_MAX];
static uint32_t source_count;

/* Adds a stored table, or an answer whose columns may have other names. */
static struct relation new_source(void)
{
    static const char *const names[] = {"k", "l", "m"};
    struct from *const source = &sources[source_count];
    struct relation item = {.first = source_count, .end = source_count + 1, .visible_count = COLUMNS};
    const uint32_t table = below(TABLES - 1), turn = below(3);
    const bool answer = chance(40), renamed = answer && chance(50);
    const char *ours = "", *theirs = "";
    source->number = source_count++;
    for (uint32_t c = 0; c < COLUMNS; c++) {
        const char *const own = table_columns[table][c], *const name = renamed ? names[(c + turn) % 3] : own;
        source->columns[c] = (struct named){name, form("t%u_%s", source->number, name)};
        item.visible[c] = source->columns[c];
        ours = form("%s%s%s AS %s", ours, c ? ", " : "", own, name);
        theirs = form("%s%s%s AS %s", theirs, c ? ", " : "", own, source->columns[c].theirs);
    }
    const char *const where = answer && chance(30) ? " WHERE k > 1" : "";
    item.ours = answer ? form("(SELECT %s FROM %s%s) AS t%u", ours, table_names[table], where, source->number)
                       : form("%s AS t%u", table_names[table], source->number);
    item.theirs = form("(SELECT %s FROM %s%s)", theirs, table_names[table], where);
    return item;
}

static uint32_t visible_as(const struct relation *item, const char *name)
{
    uint32_t count = 0;
    for (uint32_t v = 0; v < item->visible_count; v++)
        count += strcmp(item->visible[v].name, name) == 0;
    return count;
}

/* A column of an item: ours with its table, or without if there it is one; *theirs in its relation. */
static const char *reference(const struct relation *item, const char **theirs)
{
    const uint32_t v = below(item->visible_count);
    if (chance(40) && visible_as(item, item->visible[v].name) == 1) {
        *theirs = item->visible[v].theirs;
        return item->visible[v].name;
    }
    const struct from *const source = &sources[item->first + below(item->end - item->first)];
    const struct named *const column = &source->columns[below(COLUMNS)];
    *theirs = column->theirs;
    return form("t%u.%s", source->number, column->name);
}

/* Two items as one, for names in ON and outside FROM; a name may be two columns of it. */
static struct relation both(const struct relation *left, const struct relation *right)
{
    struct relation all = *left;
    all.end = right->end;
    for (uint32_t v = 0; v < right->visible_count; v++)
        all.visible[all.visible_count++] = right->visible[v];
    return all;
}

/* A reference that is a name of both items, too: a name that both see is ambiguous in ON. */
static const char *side_reference(const struct relation *side, const struct relation *all,
                                  const char **theirs)
{
    for (;;) {
        const char *const name = reference(side, theirs);
        if (strchr(name, '.') || visible_as(all, name) == 1)
            return name;
    }
}

static void conjunct(const struct relation *left, const struct relation *right, const struct relation *all,
                     bool correlated, const char *texts_of[2])
{
    static const char *const comparisons[] = {"=", "=", "=", "<=", "<>"};
    const char *sides[2], *const comparison = comparisons[below(5)];
    const char *const a = side_reference(left, all, &sides[0]), *const b =
                                                                    side_reference(right, all, &sides[1]);
    const uint32_t kind = below(10);
    if (kind == 0) {
        texts_of[0] = form("%s IS %sNULL", a, chance(50) ? "NOT " : "");
        texts_of[1] = form("%s%s", sides[0], texts_of[0] + strlen(a));
    } else if (kind == 1) {
        texts_of[0] = form("%s < %u", b, 1 + below(5));
        texts_of[1] = form("%s%s", sides[1], texts_of[0] + strlen(b));
    } else if (kind == 2 && correlated) {
        const char *const value = chance(50) ? "max(o)" : "count(*)";
        const bool turned = chance(40); /* it depends on the right side */
        texts_of[0] =
            form("%s %s (SELECT %s FROM r WHERE n = %s)", turned ? a : b, comparison, value, turned ? b : a);
        texts_of[1] =
            form("%s %s (SELECT %s FROM r WHERE n = %s)", sides[!turned], comparison, value, sides[turned]);
    } else if (kind == 3) {
        const char *const word = chance(30) ? "NOT " : "";
        texts_of[0] = form("%sEXISTS (SELECT 1 FROM r WHERE %s = n AND o < 4)", word, b);
        texts_of[1] = form("%sEXISTS (SELECT 1 FROM r WHERE %s = n AND o < 4)", word, sides[1]);
    } else if (kind == 4 && chance(30)) {
        texts_of[0] = form("%s IN (SELECT n FROM r WHERE o IS NOT NULL)", b);
        texts_of[1] = form("%s%s", sides[1], texts_of[0] + strlen(b));
    } else {
        texts_of[0] = form("%s %s %s", a, comparison, b);
        texts_of[1] = form("%s %s %s", sides[0], comparison, sides[1]);
    }
}

/* JOIN ... USING by columns that are one on both sides; false: there are none. */
static bool join_using(struct relation *left, const struct relation *right, const char *word)
{
    const char *list = "", *on = "", *merged = "";
    struct relation made = {.first = left->first, .end = right->end};
    uint32_t count = 0;
    for (uint32_t v = 0; v < left->visible_count; v++) {
        struct named column = left->visible[v];
        for (uint32_t r = 0; r < right->visible_count && visible_as(left, column.name) == 1; r++) {
            if (strcmp(right->visible[r].name, column.name) != 0 || (count && chance(60)))
                continue;
            list = form("%s%s%s", list, count ? ", " : "", column.name);
            on = form("%s%s%s = %s", on, count ? " AND " : "", column.theirs, right->visible[r].theirs);
            merged = form("%s, coalesce(%s, %s) AS m%u_%s", merged, column.theirs, right->visible[r].theirs,
                          right->first, column.name);
            column.theirs = form("m%u_%s", right->first, column.name);
            count++;
            break;
        }
        made.visible[made.visible_count++] = column;
    }
    for (uint32_t r = 0; r < right->visible_count; r++) {
        const struct named *const column = &right->visible[r];
        bool shared = false;
        for (uint32_t v = 0; v < left->visible_count; v++)
            shared |= strcmp(made.visible[v].name, column->name) == 0 &&
                      made.visible[v].theirs != left->visible[v].theirs;
        if (!shared)
            made.visible[made.visible_count++] = *column;
    }
    if (count == 0)
        return false;
    made.ours = form("%s %s %s USING (%s)", left->ours, word, right->ours, list);
    made.theirs = form("(SELECT *%s FROM %s %s %s ON %s)", merged, left->theirs, word, right->theirs, on);
    *left = made;
    return true;
}

static void join_on(struct relation *left, const struct relation *right, const char *word)
{
    const struct relation all = both(left, right);
    struct relation made = all;
    const char *on[2] = {"", ""}, *one[2];
    const uint32_t count = 1 + chance(30);
    for (uint32_t i = 0; i < count; i++) {
        conjunct(left, right, &all, true, one);
        for (int side = 0; side < 2; side++)
            on[side] = form("%s%s%s", on[side], i ? " AND " : "", one[side]);
    }
    made.ours = form("%s %s %s ON %s", left->ours, word, right->ours, on[0]);
    made.theirs = form("(SELECT * FROM %s %s %s ON %s)", left->theirs, word, right->theirs, on[1]);
    *left = made;
}

static void join(struct relation *left)
{
    static const char *const words[] = {"JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"};
    const struct relation right = new_source();
    const char *const word = words[below(4)];
    if (chance(10)) {
        struct relation made = both(left, &right);
        made.ours = form("%s CROSS JOIN %s", left->ours, right.ours);
        made.theirs = form("(SELECT * FROM %s CROSS JOIN %s)", left->theirs, right.theirs);
        *left = made;
    } else if (!chance(55) || !join_using(left, &right, word)) {
        join_on(left, &right, word);
    }
}

static struct relation new_item(void)
{
    struct relation item = new_source();
    while (source_count < SOURCES_MAX && chance(55))
        join(&item);
    return item;
}

/* ---- Statements ---- */

struct statement {
    const char *ours, *theirs;
    const char *refused; /* a part of the sentence with which ours is refused; NULL: it is answered */
    uint32_t columns;
};

/* The select list: a star, a table's star, columns, or groups of one. */
static void select_list(struct statement *made, const struct relation *all, const char *lists[2],
                        const char **group)
{
    const uint32_t kind = below(10);
    const char *theirs;
    *group = "";
    lists[0] = lists[1] = "";
    if (kind < 3) {
        lists[0] = "*";
        for (uint32_t v = 0; v < all->visible_count; v++)
            lists[1] = form("%s%s%s", lists[1], v ? ", " : "", all->visible[v].theirs);
        made->columns = all->visible_count;
    } else if (kind == 3) {
        const struct from *const source = &sources[below(source_count)];
        lists[0] = form("t%u.*", source->number);
        for (uint32_t c = 0; c < COLUMNS; c++)
            lists[1] = form("%s%s%s", lists[1], c ? ", " : "", source->columns[c].theirs);
        made->columns = COLUMNS;
    } else if (kind < 6) {
        const char *const key = reference(all, &theirs),
                          *sum_theirs, *const sum = reference(all, &sum_theirs);
        lists[0] = form("%s, count(*), sum(%s)", key, sum);
        lists[1] = form("%s, count(*), sum(%s)", theirs, sum_theirs);
        *group = form(" GROUP BY %s", key);
        made->columns = 3;
    } else {
        made->columns = 1 + below(4);
        for (uint32_t c = 0; c < made->columns; c++) {
            lists[0] = form("%s%s%s", lists[0], c ? ", " : "", reference(all, &theirs));
            lists[1] = form("%s%s%s", lists[1], c ? ", " : "", theirs);
        }
    }
}

/* A name in the select list that is several columns. */
static void ask_ambiguous(struct statement *made, const struct relation *all, const char *lists[2])
{
    const uint32_t v = below(all->visible_count);
    if (visible_as(all, all->visible[v].name) == 1)
        return;
    lists[0] = form("%s, %s", lists[0], all->visible[v].name);
    made->refused = "could be a column of more than one table";
}

static struct statement new_statement(void)
{
    struct statement made = {.columns = 0};
    const char *lists[2], *where[2] = {"", ""}, *one[2], *group, *order = "", *grouped = "";
    source_count = 0;
    text_used = 0;
    struct relation items[SOURCES_MAX] = {new_item()}, all = items[0];
    uint32_t item_count = 1;
    for (; source_count < SOURCES_MAX && chance(50); item_count++) {
        items[item_count] = new_item();
        struct relation more = both(&all, &items[item_count]);
        more.ours = form("%s, %s", all.ours, items[item_count].ours);
        more.theirs = form("%s CROSS JOIN %s", all.theirs, items[item_count].theirs);
        all = more;
    }
    for (uint32_t i = 0; i < item_count; i++) {
        if (!chance(i ? 70 : 30))
            continue;
        conjunct(&items[i ? below(i) : 0], &items[i], &all, chance(30), one);
        for (int side = 0; side < 2; side++)
            where[side] = form("%s%s%s", where[side], where[side][0] ? " AND " : " WHERE ", one[side]);
    }
    select_list(&made, &all, lists, &group);
    if (group[0])
        grouped = " GROUP BY 1";
    else if (chance(10))
        ask_ambiguous(&made, &all, lists);
    for (uint32_t c = 0; c < made.columns; c++)
        order = form("%s%s%u", order, c ? ", " : " ORDER BY ", c + 1);
    made.ours = form("SELECT %s FROM %s%s%s%s", lists[0], all.ours, where[0], group, order);
    made.theirs = form("SELECT %s FROM %s%s%s%s", lists[1], all.theirs, where[1], grouped, order);
    return made;
}

/* ---- Tables ---- */

static void execute(sqlite3 *sqlite, const char *sql)
{
    assert_int_equal(sqlite3_exec(sqlite, sql, NULL, NULL, NULL), SQLITE_OK);
}

/* Writes random rows for both. Keys of d are distinct, and those of f are some of them. */
static void make_rows(uint32_t table, uint32_t d_rows, FILE *file, sqlite3 *sqlite)
{
    const uint32_t rows = table == 0 ? d_rows : below(ROWS_MAX + 1);
    for (uint32_t r = 0; r < rows; r++) {
        const char *values = "";
        for (uint32_t c = 0; c < COLUMNS; c++) {
            const bool key = c == 0 && table < 2;
            const uint32_t value = key && table == 0 ? r : below(key ? d_rows : 6);
            const bool null = key && table == 0 ? false : (key && d_rows == 0) || chance(15);
            values = form("%s%s%s", values, c ? "," : "", null ? "NULL" : form("%u", value));
            fprintf(file, null ? "%s" : "%s%u", c ? "," : "", value);
        }
        fputc('\n', file);
        execute(sqlite, form("INSERT INTO %s VALUES (%s)", table_names[table], values));
    }
}

static sqlite3 *make_tables(char path[PATH_BYTES], struct database **database)
{
    char files[TABLES][PATH_BYTES + 16];
    const char *paths[TABLES];
    struct load_input inputs[TABLES];
    struct load_report report;
    struct schema_script schema;
    sqlite3 *sqlite;
    const uint32_t d_rows = 1 + below(5);
    text_used = 0;
    directory_make(path);
    assert_int_equal(sqlite3_open(":memory:", &sqlite), SQLITE_OK);
    execute(sqlite, script);
    for (uint32_t t = 0; t < TABLES; t++) {
        snprintf(files[t], sizeof files[t], "%.*s/%s.csv", (int)(strlen(path) - 3), path, table_names[t]);
        FILE *const file = fopen(files[t], "wb");
        assert_non_null(file);
        make_rows(t, d_rows, file, sqlite);
        fclose(file);
        paths[t] = files[t];
        inputs[t] = (struct load_input){.table = table_names[t], .paths = &paths[t], .path_count = 1};
    }
    must(schema_script_parse("tables.sql", script, strlen(script), &schema, error));
    const struct load_options options = {
        .directory = path, .inputs = inputs, .input_count = TABLES, .threads = 1};
    must(tables_load(&schema, &options, &report, NULL, error));
    schema_script_free(&schema);
    must(database_open(path, database, error));
    return sqlite;
}

/* ---- Answers ---- */

static uint64_t with_rows, refusals;

/* NULL if both answer alike, or what is different. */
static const char *difference(const struct rowset *rows, sqlite3_stmt *expected)
{
    const char *found = NULL;
    uint64_t row = 0;
    for (; !found && sqlite3_step(expected) == SQLITE_ROW; row++) {
        char *const theirs = their_line(expected), *const ours =
                                                       row < rows->rows ? our_line(rows, row) : NULL;
        if (!ours || strcmp(ours, theirs) != 0)
            found =
                form("row %llu is %s, SQLite has %s", (unsigned long long)row, ours ? ours : "none", theirs);
        free(theirs);
        free(ours);
    }
    if (!found && row != rows->rows)
        found = form("%llu rows, SQLite has %llu", (unsigned long long)rows->rows, (unsigned long long)row);
    return found;
}

static void ask(struct engine *engine, struct database *database, sqlite3 *sqlite,
                const struct statement *statement, const char *place)
{
    struct sql_statement *prepared = NULL;
    struct rowset rows = {0};
    struct error why = {0};
    sqlite3_stmt *expected;
    size_t used;
    enum status status =
        sql_prepare(engine, database, statement->ours, strlen(statement->ours), NULL, &prepared, &used, &why);
    if (status == STATUS_OK)
        status = sql_run(prepared, &rows, NULL, &why);
    sql_statement_free(prepared);
    if (statement->refused) {
        if (status != STATUS_BAD_INPUT || !strstr(why.text, statement->refused))
            fail_msg("%s: status %d, %s\n%s", place, (int)status, why.text, statement->ours);
        refusals++;
        return;
    }
    if (status != STATUS_OK)
        fail_msg("%s: %s\n%s", place, why.text, statement->ours);
    if (sqlite3_prepare_v2(sqlite, statement->theirs, -1, &expected, NULL) != SQLITE_OK)
        fail_msg("%s: SQLite: %s\n%s", place, sqlite3_errmsg(sqlite), statement->theirs);
    const char *const found = difference(&rows, expected);
    if (found)
        fail_msg("%s: %s\n%s\nSQLite: %s", place, found, statement->ours, statement->theirs);
    with_rows += rows.rows > 0;
    sqlite3_finalize(expected);
    rowset_free(&rows);
    reached_add(database, statement->ours);
}

static void random_from_answers_as_sqlite_does(void **state)
{
    const double begin = clock_seconds();
    uint64_t tables = 0;
    (void)state;
    if (sqlite3_libversion_number() < 3039000) /* which has no RIGHT JOIN */
        not_run("SQLite has no RIGHT JOIN before version 3.39");
    do {
        char path[PATH_BYTES];
        struct database *database;
        struct engine *engine;
        random_state = seed + 0x9e3779b97f4a7c15ull * ++tables;
        sqlite3 *const sqlite = make_tables(path, &database);
        must(engine_open(&(struct engine_options){.device = test_device(),
                                                  .threads = 1,
                                                  .memory = getenv("TESSERA_TEST_MEMORY")},
                         &engine, error));
        for (uint32_t q = 0; q < STAR_QUERIES; q++) {
            const struct statement statement = new_statement();
            ask(engine, database, sqlite, &statement,
                form("seed %llu, tables %llu, query %u", (unsigned long long)seed, (unsigned long long)tables,
                     q));
        }
        engine_close(engine);
        database_close(database);
        sqlite3_close(sqlite);
        directory_remove(path);
    } while (seconds > 0 ? clock_seconds() - begin < seconds : tables * STAR_QUERIES < QUERIES);
    print_message("seed %llu: %llu statements alike (%llu with rows), %llu ambiguous names refused\n",
                  (unsigned long long)seed, (unsigned long long)(tables * STAR_QUERIES - refusals),
                  (unsigned long long)with_rows, (unsigned long long)refusals);
    assert_true(with_rows > tables * STAR_QUERIES / 4);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_from_answers_as_sqlite_does)};
    seconds = argc > 1 ? atof(argv[1]) : 0;
    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : seed;
    seed = seed ? seed : (uint64_t)clock_ns();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (seconds > 0)
        reached_print();
    return failed;
}
