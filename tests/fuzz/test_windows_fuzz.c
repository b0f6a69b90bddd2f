/*
 * test_windows_fuzz.c: random window functions over tables of 0, 1, 1023, 1025 and 5000 rows, with NULLs and duplicates,
 * on one thread and on two: answers equal SQLite's, cell by cell.
 *
 * Dates and times are whole numbers there, of days and of seconds, and so are intervals. SQLite has no DISTINCT in windows:
 * it is asked a subquery over the rows whose numbers, or whose groups' numbers, are in the frame. Its min and max are
 * wrong in frames of some hundred rows that move, and forget FILTER there (3.40): it is given others.
 *
 * The same is asked with so little memory that windows spill: TESSERA_WINDOWS_MEMORY, or 192K.
 *
 * On the device that TESSERA_TEST_DEVICE names; with TESSERA_TEST_KERNEL=general and TESSERA_LIBCUDA also on the emulated GPU
 * (tests/emulator).
 *
 * Without arguments it asks the same QUERIES every time. `test_windows_fuzz SECONDS SEED` does more; seed 0 is the time.
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

#define QUERIES       150u
#define TABLE_QUERIES 150u
#define TABLES        5u
#define DISTINCT_MOST 1025u /* rows of a table that SQLite joins with itself */
#define LENGTH(list)  (sizeof(list) / sizeof *(list))

static uint64_t seed = 20261123;
static double seconds; /* 0: QUERIES */

static const char *memory; /* of each engine; NULL: the default */
static uint64_t spilled;   /* bytes, of all statements */
static uint32_t too_little;

static const uint32_t table_rows[TABLES] = {0, 1, 1023, 1025, 5000};

/* g is the partition; v, x, r, d and t are numbers that a RANGE goes by, and s is a string. */
static const char script[] =
    "CREATE TABLE t%u (id INTEGER, g INTEGER, v INTEGER, x DECIMAL(8,2), r DOUBLE, d DATE, t TIMESTAMP, "
    "s VARCHAR);\n";

/* ---- Statements: the text for us, and that for SQLite ---- */

struct statement {
    FILE *ours, *theirs;
};

__attribute__((format(printf, 2, 3))) static void say(struct statement *to, const char *format, ...)
{
    FILE *const both[] = {to->ours, to->theirs};
    for (size_t i = 0; i < 2; i++) {
        va_list arguments;
        va_start(arguments, format);
        vfprintf(both[i], format, arguments);
        va_end(arguments);
    }
}

static const char *pick(const char *const *list, uint32_t count)
{
    return list[below(count)];
}
#define PICK(...) pick((const char *const[]){__VA_ARGS__}, LENGTH(((const char *const[]){__VA_ARGS__})))

/* ---- Frames ---- */

enum unit { NO_FRAME, ROWS, RANGE, GROUPS, UNITS };
static const char *const unit_names[UNITS] = {"", "ROWS", "RANGE", "GROUPS"};

enum edge { FIRST, BEFORE, CURRENT, AFTER, LAST };

struct window {
    const char *partition, *order, *direction; /* of the order's first term */
    enum unit unit;
    enum edge edges[2];
    uint32_t numbers[2];
    const char *exclude;
    bool total; /* no two rows are peers */
};

static bool is_time(const struct window *window)
{
    return window->order[0] == 'd' || window->order[0] == 't';
}

static struct window new_window(void)
{
    /* rows stand in the order of id */
    struct window made = {
        .partition = PICK("", "", "g", "g", "g, s", "v % 3", "id - id % 5", "id - id % 700"),
        .direction = PICK(" NULLS FIRST", " NULLS LAST", " DESC NULLS FIRST", " DESC NULLS LAST"),
        .unit = below(UNITS),
        .exclude = chance(60) ? "" : PICK("CURRENT ROW", "GROUP", "TIES", "NO OTHERS")};
    made.order = made.unit == RANGE ? PICK("v", "x", "r", "d", "t")
                                    : PICK("v", "x", "d", "s", "g", "r", "id - id % 3");
    made.total = made.unit == NO_FRAME || made.unit == ROWS || (made.unit == GROUPS && chance(30));
    do
        for (int e = 0; e < 2; e++) {
            made.edges[e] = below(5);
            made.numbers[e] = below(chance(20) ? 2000 : 5);
        }
    while (made.edges[0] > made.edges[1] || made.edges[0] == LAST || made.edges[1] == FIRST);
    return made;
}

static void say_edge(struct statement *to, const struct window *window, int e)
{
    static const char *const texts[] = {"UNBOUNDED PRECEDING", " PRECEDING", "CURRENT ROW", " FOLLOWING",
                                        "UNBOUNDED FOLLOWING"};
    const uint32_t number = window->numbers[e];
    if (window->edges[e] == BEFORE || window->edges[e] == AFTER) {
        if (window->unit == RANGE && is_time(window)) {
            const bool days = window->order[0] == 'd';
            fprintf(to->ours, "INTERVAL '%u' %s", number, days ? "DAY" : "HOUR");
            fprintf(to->theirs, "%u", days ? number : 3600 * number);
        } else if (window->unit == RANGE && window->order[0] != 'v') {
            say(to, "%u.%u", number, 25 * (number % 4));
        } else {
            say(to, "%u", number);
        }
    }
    say(to, "%s", texts[window->edges[e]]);
}

static void say_window(struct statement *to, const struct window *window)
{
    say(to, "%s%s%sORDER BY %s%s%s", window->partition[0] ? "PARTITION BY " : "", window->partition,
        window->partition[0] ? " " : "", window->order, window->direction, window->total ? ", id" : "");
    if (window->unit == NO_FRAME)
        return;
    say(to, " %s BETWEEN ", unit_names[window->unit]);
    say_edge(to, window, 0);
    say(to, " AND ");
    say_edge(to, window, 1);
    if (window->exclude[0])
        say(to, " EXCLUDE %s", window->exclude);
}

/* ---- Functions ---- */

static const char *new_number(void)
{
    return PICK("v", "x", "r", "g", "v * 2 + g", "id");
}

static const char *new_value(void)
{
    return PICK("v", "x", "r", "s", "id");
}

static void say_filter(struct statement *to)
{
    if (chance(20))
        say(to, " FILTER (WHERE %s)", PICK("v > 0", "r IS NOT NULL", "g = 1", "s < 'c'"));
}

static void say_aggregate(struct statement *to)
{
    bool least;
    switch (below(6)) {
    case 0:
        say(to, "count(*)");
        break;
    case 1:
        say(to, "count(%s)", new_value());
        break;
    case 2:
        say(to, "sum(%s)", new_number());
        break;
    case 3:
        say(to, "avg(%s)", new_number());
        break;
    default:
        least = chance(50);
        fputs(least ? "min" : "max", to->ours);
        fputs(least ? "least_of" : "greatest_of", to->theirs);
        say(to, "(%s)", new_value());
    }
    say_filter(to);
}

/* Functions whose result does not depend on the order of peers. */
static void say_of_peers(struct statement *to)
{
    if (chance(75))
        say_aggregate(to);
    else
        say(to, "%s()", PICK("rank", "dense_rank", "percent_rank", "cume_dist"));
}

static void say_of_rows(struct statement *to)
{
    switch (below(9)) {
    case 0:
        say(to, "row_number()");
        break;
    case 1:
        say(to, "ntile(%u)", 1 + below(chance(20) ? 2000 : 6));
        break;
    case 2:
        say(to, "%s(%s, %u%s)", PICK("lag", "lead"), new_value(), below(chance(20) ? 2000 : 4), "");
        break;
    case 3:
        say(to, "%s(v, %u, %s)", PICK("lag", "lead"), below(4), PICK("g", "-7", "id"));
        break;
    case 4:
        say(to, "nth_value(%s, %u)", new_value(), 1 + below(4));
        break;
    case 5:
        say(to, "group_concat(s, '+')");
        break;
    case 6:
    case 7:
        say(to, "%s(%s)", PICK("first_value", "last_value"), new_value());
        break;
    default:
        say_of_peers(to);
    }
}

/* ---- DISTINCT, as SQLite is asked it ---- */

static void say_number_bound(FILE *to, const char *column, const struct window *window, int e)
{
    if (window->edges[e] == FIRST || window->edges[e] == LAST)
        return;
    fprintf(to, " AND m.%s %s n.%s %c %u", column, e ? "<=" : ">=", column,
            window->edges[e] == BEFORE ? '-' : '+', window->edges[e] == CURRENT ? 0 : window->numbers[e]);
}

/* The rows m of the frame of n; their numbers and those of their groups are in columns. */
static void say_frame_of_numbers(FILE *to, const struct window *window)
{
    const bool rows = window->unit == ROWS, groups = window->unit == GROUPS;
    fprintf(to, "m.p = n.p");
    for (int e = 0; e < 2 && (rows || groups); e++)
        say_number_bound(to, rows ? "row" : "peers", window, e);
    if (!rows && !groups)
        fprintf(to, " AND m.peers <= n.peers");
    if (strcmp(window->exclude, "CURRENT ROW") == 0)
        fprintf(to, " AND m.id <> n.id");
    if (strcmp(window->exclude, "GROUP") == 0)
        fprintf(to, " AND m.peers <> n.peers");
    if (strcmp(window->exclude, "TIES") == 0)
        fprintf(to, " AND (m.peers <> n.peers OR m.id = n.id)");
}

static void say_distinct(struct statement *to, uint32_t table)
{
    struct window window = new_window();
    while (window.unit == RANGE)
        window = new_window();
    if (window.unit == NO_FRAME)
        window.exclude = "";
    const char *const aggregate = PICK("count", "count", "sum", "avg"), *const value =
                                                                            aggregate[0] == 'c'
                                                                                ? PICK("v", "s", "r")
                                                                                : "v";
    const char *const partition = window.partition[0] ? window.partition : "1";
    fprintf(to->ours, "SELECT id, %s(DISTINCT %s) OVER (", aggregate, value);
    FILE *const theirs = to->theirs, *const none = fopen("/dev/null", "w");
    assert_non_null(none);
    to->theirs = none;
    say_window(to, &window);
    fclose(none);
    to->theirs = theirs;
    fprintf(to->ours, ") FROM t%u ORDER BY id", table);
    fprintf(theirs,
            "WITH n AS MATERIALIZED (SELECT *, dense_rank() OVER (ORDER BY %s) AS p, row_number() OVER "
            "(PARTITION BY %s "
            "ORDER BY %s%s%s) AS row, dense_rank() OVER (PARTITION BY %s ORDER BY %s%s%s) AS peers FROM t%u) "
            "SELECT id, (SELECT %s(DISTINCT m.%s) FROM n AS m WHERE ",
            partition[0] == '1' ? "NULL" : partition, partition, window.order, window.direction,
            window.total ? ", id" : "", partition, window.order, window.direction, window.total ? ", id" : "",
            table, aggregate, value);
    say_frame_of_numbers(theirs, &window);
    fprintf(theirs, ") FROM n ORDER BY id");
}

/* ---- Whole statements ---- */

static void say_functions(struct statement *to, uint32_t table)
{
    const uint32_t count = 1 + below(3);
    const struct window shared = new_window();
    const bool named = chance(30);
    say(to, "SELECT id");
    for (uint32_t f = 0; f < count; f++) {
        const struct window window = named ? shared : new_window();
        say(to, ", ");
        if (window.total)
            say_of_rows(to);
        else
            say_of_peers(to);
        say(to, " OVER %s", named ? "w" : "(");
        if (!named)
            say_window(to, &window);
        say(to, "%s", named ? "" : ")");
    }
    say(to, " FROM t%u", table);
    if (chance(20))
        say(to, " WHERE %s", PICK("v > 0", "g = 2", "id % 3 = 1"));
    if (named) {
        say(to, " WINDOW w AS (");
        say_window(to, &shared);
        say(to, ")");
    }
    say(to, " ORDER BY id");
}

/* The first row of each partition: of those in which rows stand together, the others are not sorted. */
static void say_first(struct statement *to, uint32_t table)
{
    struct window window = new_window();
    while (!window.total)
        window = new_window();
    window.unit = NO_FRAME;
    say(to, "SELECT %s FROM (SELECT id, g, v, row_number() OVER (",
        chance(50) ? "id, w" : "count(*), sum(id), max(w)");
    say_window(to, &window);
    say(to, ") w FROM t%u%s) q WHERE %s%s ORDER BY 1", table, chance(30) ? " WHERE v > -20" : "",
        PICK("w = 1", "w <= 1", "w < 2", "1 = w", "w <= 2"), PICK("", "", " AND v > 0"));
}

/* What a GPU is asked above a window whose rows it has: an aggregation, or the rows that pass. */
static void say_above(struct statement *to, uint32_t table)
{
    const struct window window = new_window();
    const bool aggregated = chance(60), grouped = aggregated && chance(30);
    say(to, "SELECT %s FROM (SELECT id, g, ",
        grouped      ? "g, count(*), max(w)"
        : aggregated ? "count(*), sum(id), count(w), min(w), max(w)"
                     : "id, w");
    if (window.total)
        say_of_rows(to);
    else
        say_of_peers(to);
    say(to, " OVER (");
    say_window(to, &window);
    say(to, ") w FROM t%u%s) q", table, chance(30) ? " WHERE v > -20" : "");
    if (!aggregated || chance(50))
        say(to, " WHERE %s", PICK("w IS NOT NULL", "id % 5 = 1", "w IS NULL OR id < 900"));
    say(to, "%s", grouped ? " GROUP BY g ORDER BY g NULLS FIRST" : aggregated ? "" : " ORDER BY id");
}

/* The texts are to be freed. */
static void new_statement(char *texts[2])
{
    size_t bytes[2];
    struct statement made = {open_memstream(&texts[0], &bytes[0]), open_memstream(&texts[1], &bytes[1])};
    const uint32_t place = below(20), table = place < 2 ? place : place < 5 ? 4 : 2 + below(2);
    assert_non_null(made.ours);
    assert_non_null(made.theirs);
    if (table_rows[table] <= DISTINCT_MOST && chance(10))
        say_distinct(&made, table_rows[table]);
    else if (chance(15))
        say_first(&made, table_rows[table]);
    else if (chance(30))
        say_above(&made, table_rows[table]);
    else
        say_functions(&made, table_rows[table]);
    fclose(made.ours);
    fclose(made.theirs);
}

/* ---- Minima and maxima, for SQLite ---- */

/* The values of a frame; the first one leaves it first. */
struct moving {
    sqlite3_value **values;
    uint32_t first, end, room;
};

static bool is_less(sqlite3_value *a, sqlite3_value *b)
{
    return sqlite3_value_type(a) == SQLITE_TEXT
               ? strcmp((const char *)sqlite3_value_text(a), (const char *)sqlite3_value_text(b)) < 0
               : sqlite3_value_double(a) < sqlite3_value_double(b);
}

static void moving_step(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct moving *const moving = sqlite3_aggregate_context(context, sizeof *moving);
    (void)count;
    if (sqlite3_value_type(values[0]) == SQLITE_NULL)
        return;
    if (moving->end == moving->room) {
        moving->room = 2 * moving->room + 64;
        moving->values = realloc(moving->values, moving->room * sizeof(*moving->values));
        assert_non_null(moving->values);
    }
    moving->values[moving->end++] = sqlite3_value_dup(values[0]);
}

static void moving_inverse(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct moving *const moving = sqlite3_aggregate_context(context, sizeof *moving);
    (void)count;
    if (sqlite3_value_type(values[0]) != SQLITE_NULL)
        sqlite3_value_free(moving->values[moving->first++]);
}

static void moving_value(sqlite3_context *context)
{
    const struct moving *const moving = sqlite3_aggregate_context(context, 0);
    const bool least = sqlite3_user_data(context) != NULL;
    sqlite3_value *best = NULL;
    for (uint32_t i = moving ? moving->first : 0; moving && i < moving->end; i++)
        if (!best || (least ? is_less(moving->values[i], best) : is_less(best, moving->values[i])))
            best = moving->values[i];
    if (best)
        sqlite3_result_value(context, best);
}

static void moving_final(sqlite3_context *context)
{
    struct moving *const moving = sqlite3_aggregate_context(context, 0);
    moving_value(context);
    for (uint32_t i = moving ? moving->first : 0; moving && i < moving->end; i++)
        sqlite3_value_free(moving->values[i]);
    if (moving)
        free(moving->values);
}

static void add_functions(sqlite3 *sqlite)
{
    static int least;
    for (int f = 0; f < 2; f++)
        assert_int_equal(sqlite3_create_window_function(sqlite, f ? "least_of" : "greatest_of", 1,
                                                        SQLITE_UTF8, f ? &least : NULL, moving_step,
                                                        moving_final, moving_value, moving_inverse, NULL),
                         SQLITE_OK);
}

/* ---- Tables ---- */

static void execute(sqlite3 *sqlite, const char *sql)
{
    if (sqlite3_exec(sqlite, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(sqlite));
}

/* A value that may be NULL, which the file and the statement write otherwise. */
__attribute__((format(printf, 4, 5))) static void add_value(FILE *file, FILE *insert, bool null,
                                                            const char *format, ...)
{
    char text[64];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(file, ",%s", null ? "" : text);
    fprintf(insert, ", %s", null ? "NULL" : text);
}

static void add_moment(FILE *file, FILE *insert, bool null, int64_t moment, bool days)
{
    const struct calendar_date date = calendar_date_of(days ? moment : moment / 86400);
    char time[16] = "";
    if (!days)
        snprintf(time, sizeof time, " %02d:00:00", (int)(moment / 3600 % 24));
    if (null)
        fprintf(file, ",");
    else
        fprintf(file, ",%d-%02d-%02d%s", (int)date.year, date.month, date.day, time);
    fprintf(insert, null ? ", NULL" : ", %lld", (long long)moment);
}

static void add_row(FILE *file, FILE *insert, uint32_t rows, uint32_t row, uint32_t partitions)
{
    static const char *const strings[] = {"a", "b", "bb", "c", "d"};
    const bool null_string = chance(15);
    const char *const string = strings[below(LENGTH(strings))];
    const int spread = rows > 2000 ? 400 : 12;
    fprintf(file, "%u", row);
    fprintf(insert, "%s(%u", row ? ", " : "", row);
    add_value(file, insert, chance(15), "%u", below(partitions));
    add_value(file, insert, chance(15), "%d", (int)below(2 * (uint32_t)spread + 1) - spread);
    add_value(file, insert, chance(15), "%.2f", ((int)below(8 * (uint32_t)spread) - 4 * spread) / 4.0);
    add_value(file, insert, chance(15), "%.4f", ((int)below(32 * (uint32_t)spread) - 16 * spread) / 16.0);
    add_moment(file, insert, chance(15), 19700 + below((uint32_t)spread), true);
    add_moment(file, insert, chance(15), (19700 * INT64_C(24) + below(10 * (uint32_t)spread)) * 3600, false);
    fprintf(file, ",%s\n", null_string ? "" : string);
    if (null_string)
        fprintf(insert, ", NULL)");
    else
        fprintf(insert, ", '%s')", string);
}

static void make_rows(const char *path, uint32_t rows, sqlite3 *sqlite)
{
    char *text;
    size_t bytes;
    FILE *const file = fopen(path, "wb"), *const insert = open_memstream(&text, &bytes);
    const uint32_t partitions = chance(50) ? 3 : 1 + below(rows / 3 + 2);
    assert_non_null(file);
    fprintf(insert, "INSERT INTO t%u VALUES ", rows);
    for (uint32_t row = 0; row < rows; row++)
        add_row(file, insert, rows, row, partitions);
    fclose(file);
    fclose(insert);
    if (rows)
        execute(sqlite, text);
    free(text);
}

static sqlite3 *make_tables(char path[PATH_BYTES], struct database **database)
{
    char files[TABLES][PATH_BYTES + 16], names[TABLES][16], scripts[TABLES * sizeof script + 64] = "";
    const char *paths[TABLES];
    struct load_input inputs[TABLES];
    struct load_report report;
    struct schema_script schema;
    sqlite3 *sqlite;
    directory_make(path);
    assert_int_equal(sqlite3_open(":memory:", &sqlite), SQLITE_OK);
    add_functions(sqlite);
    for (uint32_t t = 0; t < TABLES; t++)
        sprintf(scripts + strlen(scripts), script, table_rows[t]);
    execute(sqlite, scripts);
    for (uint32_t t = 0; t < TABLES; t++) {
        snprintf(names[t], sizeof names[t], "t%u", table_rows[t]);
        snprintf(files[t], sizeof files[t], "%.*s/%s.csv", (int)(strlen(path) - 3), path, names[t]);
        make_rows(files[t], table_rows[t], sqlite);
        paths[t] = files[t];
        inputs[t] = (struct load_input){.table = names[t], .paths = &paths[t], .path_count = 1};
    }
    must(schema_script_parse("tables.sql", scripts, strlen(scripts), &schema, error));
    const struct load_options options = {
        .directory = path, .inputs = inputs, .input_count = TABLES, .threads = 1};
    must(tables_load(&schema, &options, &report, NULL, error));
    schema_script_free(&schema);
    must(database_open(path, database, error));
    return sqlite;
}

/* ---- Answers ---- */

static void ask(struct engine *engine, struct database *database, sqlite3 *sqlite, char *const texts[2],
                const char *place)
{
    struct sql_statement *prepared = NULL;
    struct rowset rows = {0};
    struct run_timing timing = {0};
    struct error why = {0};
    sqlite3_stmt *expected;
    uint64_t row = 0;
    size_t used;
    enum status status =
        sql_prepare(engine, database, texts[0], strlen(texts[0]), NULL, &prepared, &used, &why);
    if (status == STATUS_OK)
        status = sql_run(prepared, &rows, &timing, &why);
    spilled += timing.spilled_bytes;
    sql_statement_free(prepared);
    if (memory && status == STATUS_MACHINE && strstr(why.text, "a table of groups needs")) {
        too_little++; /* for the values of one frame */
        return;
    }
    if (status != STATUS_OK)
        fail_msg("%s: %s\n%s", place, why.text, texts[0]);
    if (sqlite3_prepare_v2(sqlite, texts[1], -1, &expected, NULL) != SQLITE_OK)
        fail_msg("%s: SQLite: %s\n%s", place, sqlite3_errmsg(sqlite), texts[1]);
    for (; sqlite3_step(expected) == SQLITE_ROW; row++) {
        char *const theirs = their_line(expected), *const ours =
                                                       row < rows.rows ? our_line(&rows, row) : NULL;
        if (!ours || strcmp(ours, theirs) != 0)
            fail_msg("%s: row %llu is %s, SQLite has %s\n%s\nSQLite: %s", place, (unsigned long long)row,
                     ours ? ours : "none", theirs, texts[0], texts[1]);
        free(theirs);
        free(ours);
    }
    if (row != rows.rows)
        fail_msg("%s: %llu rows, SQLite has %llu\n%s", place, (unsigned long long)rows.rows,
                 (unsigned long long)row, texts[0]);
    sqlite3_finalize(expected);
    rowset_free(&rows);
    reached_add(database, texts[0]);
}

static void random_windows_answer_as_sqlite_does(void **state)
{
    const double begin = clock_seconds();
    uint64_t tables = 0, asked = 0;
    (void)state;
    if (sqlite3_libversion_number() < 3035000) /* which has no MATERIALIZED */
        not_run("SQLite has not all that is asked before version 3.35");
    do {
        char path[PATH_BYTES], place[128];
        struct database *database;
        struct engine *engines[2];
        random_state = seed + 0x9e3779b97f4a7c15ull * ++tables;
        sqlite3 *const sqlite = make_tables(path, &database);
        for (unsigned e = 0; e < 2; e++)
            must(engine_open(&(struct engine_options){.device = test_device(),
                                                      .kernel = getenv("TESSERA_TEST_KERNEL") ? KERNEL_GENERAL
                                                                                              : KERNEL_AUTO,
                                                      .threads = e + 1,
                                                      .memory = memory,
                                                      .spill = spill_folder()},
                             &engines[e], error));
        for (uint32_t q = 0; q < TABLE_QUERIES && (seconds == 0 || clock_seconds() - begin < seconds);
             q++, asked++) {
            char *texts[2];
            new_statement(texts);
            snprintf(place, sizeof place, "seed %llu, tables %llu, query %u", (unsigned long long)seed,
                     (unsigned long long)tables, q);
            ask(engines[below(2)], database, sqlite, texts, place);
            free(texts[0]);
            free(texts[1]);
        }
        for (unsigned e = 0; e < 2; e++)
            engine_close(engines[e]);
        database_close(database);
        sqlite3_close(sqlite);
        directory_remove(path);
    } while (seconds > 0 ? clock_seconds() - begin < seconds : asked < QUERIES);
    print_message("seed %llu: %llu statements alike\n", (unsigned long long)seed, (unsigned long long)asked);
}

static void so_they_do_in_little_memory(void **state)
{
    memory = getenv("TESSERA_WINDOWS_MEMORY");
    memory = memory ? memory : "192K";
    spilled = 0;
    random_windows_answer_as_sqlite_does(state);
    memory = NULL;
    print_message("spilled %.1f MB, too little for %u statements\n", 1e-6 * (double)spilled, too_little);
    assert_true(spilled > 0);
    assert_true(seconds > 0 || too_little < QUERIES / 10);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_windows_answer_as_sqlite_does),
                                       cmocka_unit_test(so_they_do_in_little_memory)};
    seconds = argc > 1 ? atof(argv[1]) : 0;
    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : seed;
    seed = seed ? seed : (uint64_t)clock_ns();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (seconds > 0)
        reached_print();
    return failed;
}
