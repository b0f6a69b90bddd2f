/*
 * test_tree_fuzz.c: random statements that are trees of joins, subqueries, sets, groups and windows (fuzz_tree.h) over
 * tables of no, one, some, 1023, 1025 and 5,000 rows with NULLs and keys that occur several times, with and without
 * declared references, on one and on two threads: each is answered as SQLite answers it.
 *
 * A statement whose answer is different is made smaller as long as it stays so, and printed with its seed; the others are
 * asked nevertheless. Those that ours refuses are counted by their reason, and those for which SQLite takes more than
 * STEPS_MAX steps or has more than ROWS_MAX rows are left out.
 *
 *     TESSERA_TREE_STATEMENTS=100000 TESSERA_TREE_SEED=7 build/release/test_tree_fuzz
 *
 * Then others are asked with so little memory that their operators spill: TESSERA_TREE_MEMORY, or LITTLE_MEMORY. Last come
 * pairs of statements that logic makes equal (fuzz_tree_logic.h): the second is asked of our other engine, and of no SQLite;
 * and forms that SQLite has not (fuzz_tree_short.h).
 *
 * An argument names the tests that run: test_tree_fuzz 'short*'. At the end of a run of so many statements it says what none
 * of them had (fuzz_reached.h).
 *
 * TESSERA_TEST_DEVICE=cuda asks a GPU; with TESSERA_TEST_KERNEL=general and TESSERA_LIBCUDA also the emulated one (tests/emulator).
 * TESSERA_TREE_FOLDER keeps the tables of the last seed as CSV files, and schema.sql and statements.sql, a statement a
 * line, in a folder that is there: tests/fuzz/tree_duckdb.py asks DuckDB.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "loader/table/table_loader.h"
#include "storage/base/execution/execution.h"
#include "tests/fuzz/fuzz_reached.h"
#include "tests/fuzz/fuzz_tree_logic.h"
#include "tests/fuzz/fuzz_tree_short.h"
#include "tests/support/sql/as_sqlite.h"
#include "tests/support/not_run.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#define STATEMENTS       300u /* by default */
#define LITTLE_MEMORY    "192K"
#define WORLD_STATEMENTS 250u /* of the same tables */
#define ROWS_MAX         20000u
#define LOGIC_ROWS_MAX   200000u
#define STEPS_MAX        150u /* times STEPS of SQLite's machine */
#define STEPS            10000
#define SECONDS_MAX      5u /* of ours, for a statement that SQLite answers in STEPS_MAX */
#define REASONS_MAX      64u
#define DIFFERENCES_MAX  10u
#define SHRINKS_MAX      3000u

static const uint32_t table_rows[TREE_TABLES] = {30, 0, 1, 1023, 1025, 5000};

static const char *memory; /* of each engine; NULL: the default */
static const char *(*next_statement)(uint32_t length) = tree_statement;

/* Of the rows with which tables are made; references lead to `small` and `low`. */
struct world {
    uint64_t seed;
    bool references;
    char path[PATH_BYTES];
    struct database *database;
    struct engine *engines[2]; /* of one and of two threads */
    sqlite3 *sqlite;
};

/* ---- Tables ---- */

static void execute(sqlite3 *sqlite, const char *sql)
{
    if (sqlite3_exec(sqlite, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("SQLite: %s: %.300s", sqlite3_errmsg(sqlite), sql);
}

/* The table that f of a table references: `low` from the larger ones, else `small`. */
static uint32_t parent_of(uint32_t table)
{
    return table > 3 ? 3 : 0;
}

static const char *table_script(uint32_t table, bool references)
{
    const uint32_t parent = parent_of(table);
    return form("CREATE TABLE %s (n INTEGER%s, k INTEGER, f INTEGER%s, a INTEGER, x DOUBLE, s VARCHAR);\n",
                tree_tables[table], references ? " PRIMARY KEY" : "",
                references && parent != table ? form(" REFERENCES %s", tree_tables[parent]) : "");
}

/* A row for CSV and for SQLite: NULL and no field, '' and "". */
static void write_row(uint32_t table, uint32_t row, FILE *file, FILE *insert)
{
    static const char *const strings[] = {"a", "b", "B", "", "ab", "zz", "Ab", "cb"};
    const uint32_t rows = table_rows[table], parent = table_rows[parent_of(table)];
    const uint32_t numbers[3] = {below(rows < 40 ? 12 : rows / 2), below(parent), below(10)};
    const uint32_t nulls[3] = {10, 20, 15};
    fprintf(file, "%u", row);
    fprintf(insert, "%s(%u", row ? "," : "", row);
    for (uint32_t c = 0; c < 3; c++) {
        const bool null = chance(nulls[c]);
        fprintf(file, null ? "," : ",%u", numbers[c]);
        fprintf(insert, null ? ",NULL" : ",%u", numbers[c]);
    }
    const int quarters = (int)below(120) - 40;
    const bool null = chance(12);
    fprintf(file, null ? "," : ",%.2f", quarters / 4.0);
    fprintf(insert, null ? ",NULL" : ",%.2f", quarters / 4.0);
    if (chance(15)) {
        fputs(",\n", file);
        fputs(",NULL)", insert);
    } else {
        const char *const text = strings[below(8)];
        fprintf(file, ",\"%s\"\n", text);
        fprintf(insert, ",'%s')", text);
    }
}

static void write_table(const struct world *world, uint32_t table, const char *path)
{
    char *text;
    size_t bytes;
    FILE *const file = fopen(path, "wb"), *const insert = open_memstream(&text, &bytes);
    assert_non_null(file);
    fprintf(insert, "INSERT INTO %s VALUES ", tree_tables[table]);
    fputs("n,k,f,a,x,s\n", file);
    for (uint32_t row = 0; row < table_rows[table]; row++)
        write_row(table, row, file, insert);
    fclose(file);
    fclose(insert);
    if (table_rows[table])
        execute(world->sqlite, text);
    for (uint32_t c = 0; c < 4; c++)
        execute(world->sqlite, form("CREATE INDEX %s_%s ON %s (%s)", tree_tables[table], tree_names[c],
                                    tree_tables[table], tree_names[c]));
    free(text);
}

static void world_open(struct world *world)
{
    char files[TREE_TABLES][PATH_BYTES + 16];
    const char *paths[TREE_TABLES], *script = "", *const kept = getenv("TESSERA_TREE_FOLDER");
    struct load_input inputs[TREE_TABLES];
    struct load_report report;
    struct schema_script schema;
    tape_text_used = 0;
    random_state = world->seed;
    directory_make(world->path);
    assert_int_equal(sqlite3_open(":memory:", &world->sqlite), SQLITE_OK);
    execute(world->sqlite, "PRAGMA case_sensitive_like = 1");
    for (uint32_t t = 0; t < TREE_TABLES; t++) {
        script = form("%s%s", script, table_script(t, world->references));
        execute(world->sqlite, table_script(t, false));
        const int length = (int)strlen(world->path) - 3;
        snprintf(files[t], sizeof files[t], "%.*s/%s.csv", kept ? (int)strlen(kept) : length,
                 kept ? kept : world->path, tree_tables[t]);
        write_table(world, t, files[t]);
        paths[t] = files[t];
        inputs[t] = (struct load_input){.table = tree_tables[t], .paths = &paths[t], .path_count = 1};
    }
    if (kept) {
        FILE *const schema_file = fopen(form("%s/schema.sql", kept), "wb");
        assert_non_null(schema_file);
        fputs(script, schema_file);
        fclose(schema_file);
    }
    must(schema_script_parse("tables.sql", script, strlen(script), &schema, error));
    static const char *const clusterings[] = {NULL, "none", "auto", "a:3", "f,s", "x:5,k:3,f"};
    const struct load_options options = {.directory = world->path,
                                         .inputs = inputs,
                                         .input_count = TREE_TABLES,
                                         .cluster_by = clusterings[below(6)],
                                         .threads = 1};
    must(tables_load(&schema, &options, &report, NULL, error));
    schema_script_free(&schema);
    must(database_open(world->path, &world->database, error));
    for (unsigned threads = 1; threads <= 2; threads++)
        must(engine_open(
            &(struct engine_options){.device = test_device(),
                                     .kernel = getenv("TESSERA_TEST_KERNEL") ? KERNEL_GENERAL : KERNEL_AUTO,
                                     .threads = threads,
                                     .memory = memory,
                                     .spill = spill_folder()},
            &world->engines[threads - 1], error));
}

static void world_close(struct world *world)
{
    for (int i = 0; i < 2; i++)
        engine_close(world->engines[i]);
    database_close(world->database);
    sqlite3_close(world->sqlite);
    directory_remove(world->path);
}

/* ---- Reasons of refusals ---- */

struct reason {
    char text[120], *example;
    uint64_t count;
};

static struct reason reasons[REASONS_MAX];
static uint32_t reason_count;

/* The sentence without its place, numbers and names. */
static void refused(const char *sentence, const char *sql)
{
    char text[sizeof reasons->text];
    size_t length = 0;
    const char *const place = strstr(sentence, "column ");
    if (strncmp(sentence, "line ", 5) == 0 && place && strstr(place, ": "))
        sentence = strstr(place, ": ") + 2;
    for (; *sentence && length + 1 < sizeof text; sentence++)
        if (*sentence < '0' || *sentence > '9')
            text[length++] = *sentence;
    text[length] = 0;
    uint32_t r = 0;
    while (r < reason_count && strcmp(reasons[r].text, text) != 0)
        r++;
    if (r == REASONS_MAX)
        return;
    if (r == reason_count) {
        reason_count++;
        memcpy(reasons[r].text, text, length + 1);
        reasons[r].example = strdup(sql);
    }
    reasons[r].count++;
}

/* ---- Answers ---- */

struct tally {
    uint64_t alike, with_rows, refusals, left_out, slow, spilled, spilled_bytes;
    uint32_t differences;
};

static uint32_t steps;

static int count_steps(void *unused)
{
    (void)unused;
    return ++steps > STEPS_MAX;
}

/* Reads SQLite's answer; false: it takes too long, has too many rows, or SQLite refuses the statement. */
static bool their_answer(sqlite3 *sqlite, const char *sql, char ***lines, uint64_t *count)
{
    sqlite3_stmt *statement;
    int code = SQLITE_DONE;
    *lines = calloc(ROWS_MAX + 1, sizeof **lines);
    *count = 0;
    steps = 0;
    sqlite3_progress_handler(sqlite, STEPS, count_steps, NULL);
    sqlite3_prepare_v2(sqlite, sql, -1, &statement, NULL); /* NULL: its parser's stack is too small */
    while (statement && *count <= ROWS_MAX && (code = sqlite3_step(statement)) == SQLITE_ROW)
        (*lines)[(*count)++] = their_line(statement);
    sqlite3_finalize(statement);
    return statement && code == SQLITE_DONE;
}

static void lines_free(char **lines, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        free(lines[i]);
    free(lines);
}

/* Cells are equal as texts, or as numbers but for the last digits. */
static bool lines_alike(const char *a, const char *b)
{
    while (*a && *b) {
        const size_t a_length = strcspn(a, "|"), b_length = strcspn(b, "|");
        if (a_length != b_length || memcmp(a, b, a_length) != 0) {
            char *a_end, *b_end;
            const double x = strtod(a, &a_end), y = strtod(b, &b_end);
            if (a_end != a + a_length || b_end != b + b_length ||
                fabs(x - y) > 1e-9 * fmax(fabs(x), fabs(y)) + 1e-12)
                return false;
        }
        a += a_length + (a[a_length] != 0);
        b += b_length + (b[b_length] != 0);
    }
    return *a == *b;
}

/* What is different, or NULL. */
static const char *difference(const struct rowset *rows, char **theirs, uint64_t count, bool ordered)
{
    if (rows->rows != count)
        return form("%llu rows, the other has %llu", (unsigned long long)rows->rows,
                    (unsigned long long)count);
    char **const ours = calloc(count + 1, sizeof *ours);
    const char *found = NULL;
    for (uint64_t row = 0; row < count; row++)
        ours[row] = our_line(rows, row);
    if (!ordered) {
        qsort(ours, count, sizeof *ours, compare_lines);
        qsort(theirs, count, sizeof *theirs, compare_lines);
    }
    for (uint64_t row = 0; !found && row < count; row++)
        if (!lines_alike(ours[row], theirs[row]))
            found = form("row %llu is %s, the other has %s", (unsigned long long)row, ours[row], theirs[row]);
    lines_free(ours, count);
    return found;
}

static const char is_slow[] = "";
static struct execution limited; /* that of each statement */
static pthread_t asker;
static sigjmp_buf crashed;
static volatile sig_atomic_t is_asking;

/* A statement that crashes is made smaller as the others are, and what it held is lost. */
static void on_crash(int signal_number)
{
    if (is_asking && pthread_equal(pthread_self(), asker))
        siglongjmp(crashed, signal_number);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void on_alarm(int signal_number)
{
    (void)signal_number;
    execution_stop(&limited);
}

/* Ours, in `rows`; the signal that ended it, or 0. */
static int our_answer(const struct world *world, unsigned threads, const char *sql, struct rowset *rows,
                      struct run_timing *timing, enum status *status, struct error *why)
{
    struct sql_statement *prepared = NULL;
    size_t used;
    const int signal_number = sigsetjmp(crashed, 1);
    is_asking = signal_number == 0;
    execution_enter(&limited);
    asker = pthread_self();
    alarm(SECONDS_MAX);
    if (signal_number == 0) {
        *status = sql_prepare(world->engines[threads - 1], world->database, sql, strlen(sql), NULL, &prepared,
                              &used, why);
        for (unsigned turn = 0; *status == STATUS_OK && turn < threads; turn++) {
            rowset_free(rows); /* on two threads it runs again, with the plans of the first run */
            *status = sql_run(prepared, rows, timing, why);
        }
        sql_statement_free(prepared);
    }
    is_asking = false;
    alarm(0);
    execution_leave(&limited);
    execution_resume(&limited);
    return signal_number;
}

/* In little memory the different values of one group may be too many, which nothing divides (docs/sql.md); pairs have
 * aggregates that keep all values of a group, or make a long text of them. */
static bool is_too_much(const char *why, const char *sql)
{
    const bool pair = next_statement == tree_logic_statement;
    return memory && ((strstr(why, "a table of groups needs") && (pair || strstr(sql, "(DISTINCT "))) ||
                      (strstr(why, "a text of string_agg needs") && pair));
}

/* A sentence about the tree itself is none for people. */
static bool is_refusal(enum status status, const struct error *why, const char *sql)
{
    return (status == STATUS_BAD_INPUT && !strstr(why->text, "of the tree") &&
            !strstr(why->text, "no item of that number")) ||
           (status == STATUS_MACHINE && is_too_much(why->text, sql));
}

/* Our other engine's answer to the second statement of a pair; false: it refuses, takes too long, or has too many rows. A fault
 * of it is for `found`. */
static bool second_answer(const struct world *world, unsigned threads, const char *sql, char ***lines,
                          uint64_t *count, const char **found)
{
    struct rowset rows = {0};
    struct run_timing timing;
    struct error why = {0};
    enum status status = STATUS_OK;
    const int signal_number = our_answer(world, 3 - threads, sql, &rows, &timing, &status, &why);
    *lines = calloc(rows.rows + 1, sizeof **lines);
    *count = 0;
    if (signal_number)
        *found = form("signal %d in the second statement", signal_number);
    else if (status != STATUS_OK && status != STATUS_INTERRUPTED && !is_refusal(status, &why, sql))
        *found = form("status %d of the second statement: %s", (int)status, why.text);
    if (signal_number)
        return false;
    const bool taken = status == STATUS_OK && rows.rows <= LOGIC_ROWS_MAX;
    for (; taken && *count < rows.rows; ++*count)
        (*lines)[*count] = our_line(&rows, *count);
    rowset_free(&rows);
    return taken;
}

/* What is different, "" if ours refuses, or NULL if nothing is. `tally` may be NULL. */
static const char *ask(const struct world *world, unsigned threads, const char *statement,
                       struct tally *tally)
{
    char *const sql = tape_text(statement, true), *const theirs = tape_text(statement, false), **lines;
    const char *const order = strrchr(sql, ')'), *found = NULL;
    const bool ordered = strstr(order ? order : sql, " ORDER BY 1") != NULL;
    struct rowset rows = {0};
    struct run_timing timing = {0};
    struct error why = {0};
    uint64_t count;
    if (!(next_statement == tree_logic_statement
              ? second_answer(world, threads, theirs, &lines, &count, &found)
              : their_answer(world->sqlite, theirs, &lines, &count))) {
        if (tally && !found)
            tally->left_out++;
    } else {
        enum status status = STATUS_OK;
        const int signal_number = our_answer(world, threads, sql, &rows, &timing, &status, &why);
        found = signal_number                   ? form("signal %d", signal_number)
                : status == STATUS_OK           ? difference(&rows, lines, count, ordered)
                : is_refusal(status, &why, sql) ? ""
                                                : form("status %d: %s", (int)status, why.text);
        if (signal_number)
            rows = (struct rowset){0};
        if (status == STATUS_INTERRUPTED)
            found = is_slow;
        if (tally && found && !*found && found != is_slow)
            refused(why.text, sql);
        if (tally && !found) {
            tally->alike++;
            reached_add(world->database, sql);
            tally->with_rows += count > 0;
            tally->spilled += timing.spilled_bytes > 0;
            tally->spilled_bytes += timing.spilled_bytes;
        }
        if (tally && found == is_slow) {
            tally->slow++;
            print_message("no answer in %u seconds: %s;\n", SECONDS_MAX, sql);
        } else if (tally && found && !*found) {
            tally->refusals++;
        }
    }
    rowset_free(&rows);
    lines_free(lines, count);
    free(sql);
    free(theirs);
    return found;
}

/* ---- Making a statement smaller ---- */

static uint32_t best[TAPE_MAX], best_length;

static const char *best_found;

/* Rows that differ, a crash, or a sentence of the tree. */
static bool is_same_kind(const char *a, const char *b)
{
    const bool rows[2] = {strncmp(a, "s", 1) != 0, strncmp(b, "s", 1) != 0};
    return rows[0] == rows[1] && (rows[0] || strncmp(a, b, 8) == 0);
}

/* Whether the tape with a part cleared or dropped still has a different answer; then it is the best. */
static bool shrinks(const struct world *world, unsigned threads, uint32_t at, uint32_t length, bool drop)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < best_length; i++)
        if (i < at || i >= at + length)
            tape[count++] = best[i];
        else if (!drop)
            tape[count++] = 0;
    if (count == 0 || (count == best_length && memcmp(tape, best, count * sizeof *tape) == 0))
        return false;
    const char *const statement = next_statement(count), *const found = ask(world, threads, statement, NULL);
    if (!found || !*found || !is_same_kind(found, best_found))
        return false;
    best_length = tape_at < count ? tape_at : count;
    memcpy(best, tape, best_length * sizeof *best);
    return true;
}

static void shrink(const struct world *world, unsigned threads)
{
    uint32_t tries = 0;
    bool smaller = true;
    best_length = tape_at;
    memcpy(best, tape, best_length * sizeof *best);
    while (smaller && tries < SHRINKS_MAX) {
        smaller = false;
        for (uint32_t length = best_length;
             length && tries<SHRINKS_MAX; length = length> 16 ? length / 2 : length - 1)
            for (uint32_t at = 0; at < best_length && tries < SHRINKS_MAX; at += length)
                for (int drop = 1; drop >= 0; drop--, tries++)
                    smaller |= shrinks(world, threads, at, length, drop != 0);
    }
    memcpy(tape, best, best_length * sizeof *best);
}

static void report(const struct world *world, unsigned threads, uint64_t statement, const char *text,
                   const char *found)
{
    char *const before = strdup(found), *const asked = tape_text(text, true);
    best_found = before;
    shrink(world, threads);
    const char *const smaller = next_statement(best_length), *const why = ask(world, threads, smaller, NULL);
    char *const ours = tape_text(smaller, true), *const theirs = tape_text(smaller, false);
    print_error("seed %llu%s, statement %llu, %u thread(s): %s\n%s;\nwas: %s\n%s;\n",
                (unsigned long long)world->seed, world->references ? ", references" : "",
                (unsigned long long)statement, threads, why ? why : "", ours, before, asked);
    if (strcmp(ours, theirs) != 0)
        print_error("the other: %s;\n", theirs);
    fflush(NULL);
    free(before);
    free(asked);
    free(ours);
    free(theirs);
}

/* ---- The run ---- */

static uint64_t number_of(const char *name, uint64_t otherwise)
{
    const char *const text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

static void keep(FILE *file, const char *statement)
{
    char *const text = tape_text(statement, true);
    fprintf(file, "%s;\n", text);
    free(text);
}

static void ask_world(uint64_t seed, uint64_t statements, struct tally *tally)
{
    struct world world = {.seed = seed, .references = seed & 1};
    const char *const folder = getenv("TESSERA_TREE_FOLDER");
    FILE *const kept = folder ? fopen(form("%s/statements.sql", folder), "wb") : NULL;
    world_open(&world);
    for (uint64_t s = 0; s < statements && tally->differences < DIFFERENCES_MAX; s++) {
        random_state = (seed * 1000003 + s) * 0x9e3779b97f4a7c15ull | 1;
        const char *const statement = next_statement(0);
        const unsigned threads = 1 + s % 2;
        if (kept)
            keep(kept, statement);
        const char *const found = ask(&world, threads, statement, tally);
        if (found && *found) {
            tally->differences++;
            report(&world, threads, s, statement, found);
        }
    }
    world_close(&world);
    if (kept)
        fclose(kept);
    fflush(NULL);
}

static struct tally ask_all(uint64_t wanted)
{
    const uint64_t first = number_of("TESSERA_TREE_SEED", 29);
    struct tally tally = {0};
    uint64_t asked = 0, seed = first;
    signal(SIGALRM, on_alarm);
    for (size_t i = 0; i < 3; i++)
        signal((const int[]){SIGSEGV, SIGFPE, SIGABRT}[i], on_crash);
    if (sqlite3_libversion_number() < 3039000) /* which has no RIGHT JOIN */
        not_run("SQLite has no RIGHT JOIN before version 3.39");
    for (; asked < wanted && tally.differences < DIFFERENCES_MAX; seed++) {
        const uint64_t count = wanted - asked < WORLD_STATEMENTS ? wanted - asked : WORLD_STATEMENTS;
        ask_world(seed, count, &tally);
        asked += count;
        if (asked % 2500 == 0) {
            print_message("%llu asked, %u different\n", (unsigned long long)asked, tally.differences);
            fflush(NULL);
        }
    }
    for (uint32_t r = 0; r < reason_count; r++) {
        print_message("refused %llu times: %s\n    %.600s\n", (unsigned long long)reasons[r].count,
                      reasons[r].text, reasons[r].example);
        free(reasons[r].example);
    }
    memset(reasons, 0, sizeof reasons);
    reason_count = 0;
    print_message("seeds %llu to %llu: %llu statements alike (%llu with rows), %llu refused, %llu left out, "
                  "%llu too slow, %llu spilled %.1f MB, %u different\n",
                  (unsigned long long)first, (unsigned long long)seed - 1, (unsigned long long)tally.alike,
                  (unsigned long long)tally.with_rows, (unsigned long long)tally.refusals,
                  (unsigned long long)tally.left_out, (unsigned long long)tally.slow,
                  (unsigned long long)tally.spilled, 1e-6 * (double)tally.spilled_bytes, tally.differences);
    assert_int_equal(tally.differences, 0);
    assert_true(tally.alike > asked / 2);
    return tally;
}

static int in_enough_memory(void **state)
{
    (void)state;
    memory = NULL;
    next_statement = tree_statement;
    return 0;
}

static int in_little_memory(void **state)
{
    (void)in_enough_memory(state);
    memory = getenv("TESSERA_TREE_MEMORY");
    memory = memory ? memory : LITTLE_MEMORY;
    return 0;
}

static void trees_are_answered_as_by_sqlite(void **state)
{
    (void)state;
    (void)ask_all(number_of("TESSERA_TREE_STATEMENTS", STATEMENTS));
}

/* Of those in little memory, of which many must spill. */
static void ask_in_little_memory(void)
{
    const uint64_t wanted = number_of("TESSERA_TREE_STATEMENTS", STATEMENTS) / 4;
    const struct tally tally = ask_all(wanted);
    assert_true(tally.spilled > wanted / 10);
}

static void trees_are_answered_in_little_memory(void **state)
{
    (void)state;
    ask_in_little_memory();
}

static void trees_are_answered_as_logic_says(void **state)
{
    (void)state;
    next_statement = tree_logic_statement;
    (void)ask_all(number_of("TESSERA_TREE_STATEMENTS", STATEMENTS));
}

static void logic_holds_in_little_memory(void **state)
{
    (void)state;
    next_statement = tree_logic_statement;
    ask_in_little_memory();
}

static void short_forms_are_answered_as_long_ones(void **state)
{
    (void)state;
    next_statement = tree_short_statement;
    (void)ask_all(number_of("TESSERA_TREE_STATEMENTS", STATEMENTS / 2));
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(trees_are_answered_as_by_sqlite, in_enough_memory),
        cmocka_unit_test_setup(trees_are_answered_in_little_memory, in_little_memory),
        cmocka_unit_test_setup(trees_are_answered_as_logic_says, in_enough_memory),
        cmocka_unit_test_setup(logic_holds_in_little_memory, in_little_memory),
        cmocka_unit_test_setup(short_forms_are_answered_as_long_ones, in_enough_memory)};
    if (count > 1)
        cmocka_set_test_filter(arguments[1]);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (getenv("TESSERA_TREE_STATEMENTS"))
        reached_print();
    return failed;
}
