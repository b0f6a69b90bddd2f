/*
 * test_four_processes.c: two processes change one database and two ask it, all at the same time, and some are killed.
 *
 * A writer has rows of its own (column `who`) in tables that both change, and SQLite has the same rows. Each change (append,
 * also in the place of other rows, INSERT, delete, compact, an index more or less, a further encoding) is made by the program
 * and in SQLite. One of five programs is killed at a random moment: its change must then be made, or not be made. Refused are
 * what SQLite refuses, and what waited too long for the other writer.
 *
 * What a state answers of each writer's rows is published before the change that makes it begins: a number for each question.
 * A reader opens the database, asks some questions, and must find one state of each writer that has all these numbers. It is
 * none that was followed by another one when the database was opened, and none whose change was not made. Then it waits, a few
 * seconds at most, and asks again, other questions, too: the same state must have these numbers. Readers are killed, as well.
 *
 * In the end `tessera check` passes and names no file that is left over, and no file is left beside the database.
 *
 *     TESSERA_PROCESSES_SECONDS  how long it goes on; without it, a few changes are made
 *     TESSERA_PROCESSES_SEED     the first random number
 *     TESSERA_PROCESSES_KEEP     a folder, which is made, for the files of a run that fails
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/storage/database/changes/four_processes.h"

#include <sys/mman.h>
#include <sys/wait.h>

/* ---- Readers ---- */

/* States of one writer that an answer may have: from `first` on, a bit each. */
struct candidates {
    uint32_t first, count;
    bool *possible;
};

static void keep_possible(struct candidates *candidates, unsigned who, size_t question, uint64_t number)
{
    bool any = false;
    for (uint32_t s = 0; s < candidates->count; s++) {
        const struct state *const state = &shared->writers[who].states[candidates->first + s];
        candidates->possible[s] &= state->numbers[question] == number;
        any |= candidates->possible[s];
    }
    need(any, "what was read of writer %u, states %u to %u, is none that it made: %s", who, candidates->first,
         candidates->first + candidates->count - 1, questions[question]);
}

/* One that was made, or the last one, which may be on its way. */
static void mark_seen(const struct candidates *candidates, unsigned who)
{
    for (uint32_t fate = MADE;; fate = PENDING) {
        for (uint32_t s = 0; s < candidates->count; s++) {
            struct state *const state = &shared->writers[who].states[candidates->first + s];
            if (!candidates->possible[s] || atomic_load(&state->fate) != fate)
                continue;
            if (fate == PENDING)
                atomic_store(&state->seen, 1);
            return;
        }
        need(fate == MADE, "a reader saw a state of writer %u, %u or a later one, that was not made", who,
             candidates->first);
    }
}

static void ask_some(struct database *database, struct candidates candidates[WRITERS], uint32_t chosen)
{
    for (size_t q = 0; q < QUESTIONS; q++) {
        uint64_t numbers[WRITERS];
        if (!(chosen >> q & 1))
            continue;
        ask(database, q, numbers);
        for (unsigned w = 0; w < WRITERS; w++)
            keep_possible(&candidates[w], w, q, numbers[w]);
    }
}

static void read_once(void)
{
    struct candidates candidates[WRITERS];
    for (unsigned w = 0; w < WRITERS; w++)
        candidates[w].first = atomic_load(&shared->writers[w].made);
    struct database *const database = open_database();
    for (unsigned w = 0; w < WRITERS; w++) {
        candidates[w].count = atomic_load(&shared->writers[w].last) - candidates[w].first + 1;
        candidates[w].possible = malloc(candidates[w].count);
        memset(candidates[w].possible, true, candidates[w].count);
    }
    const uint32_t some = below(ALL) + 1;
    ask_some(database, candidates, some);
    for (unsigned w = 0; w < WRITERS; w++)
        mark_seen(&candidates[w], w);
    for (uint32_t times = below(4); times > 0; times--) {
        sleep_us(below(forever && chance(10) ? 4000000 : 80000));
        ask_some(database, candidates, times == 1 ? ALL : below(ALL) + 1);
        atomic_fetch_add(&shared->held, 1);
    }
    for (unsigned w = 0; w < WRITERS; w++)
        free(candidates[w].possible);
    database_close(database);
}

/* Runs the program, kills it after `kill_us` (0: it is not killed), and gives its exit code, or -1. */
static int run_program(const char *const *arguments, uint64_t kill_us, char said[2048])
{
    FILE *const out = tmpfile();
    int ended;
    need(out, "no temporary file");
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(fileno(out), STDOUT_FILENO);
        dup2(fileno(out), STDERR_FILENO);
        execv(TESSERA_PROGRAM, (char *const *)(uintptr_t)arguments);
        _exit(127);
    }
    need(child > 0, "no process");
    if (kill_us) {
        sleep_us(kill_us);
        kill(child, SIGKILL);
    }
    need(waitpid(child, &ended, 0) == child, "a program was lost");
    rewind(out);
    said[fread(said, 1, 2047, out)] = '\0';
    fclose(out);
    return WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
}

static void check_once(void)
{
    const char *const arguments[] = {TESSERA_PROGRAM, "check", "--db", path, NULL};
    char said[2048];
    const int code = run_program(arguments, 0, said);
    need(code == 0, "check beside writers ends with exit code %d: %s", code, said);
    atomic_fetch_add(&shared->checked, 1);
}

static pid_t start_reader(unsigned r)
{
    static uint64_t started;
    const uint64_t seed = random_state + 7919 * ++started + r;
    const pid_t child = fork();
    if (child != 0)
        return child;
    begin_process(seed);
    while (!atomic_load(&shared->stop)) {
        read_once();
        if (chance(5))
            check_once();
    }
    engine_close(engine);
    _exit(0);
}

/* ---- Writers ---- */

struct writer {
    unsigned who;
    sqlite3 *sqlite;
    uint32_t next; /* number of its next sale: they are even or odd */
    double last_ms;
    uint32_t shop_count; /* that it has now, by their names */
    char shop_names[SHOPS][32];
    char sales[PATH_BYTES + 16], shops[PATH_BYTES + 16], sql[16384], condition[256];
};

static void execute(struct writer *writer, const char *sql)
{
    need(sqlite3_exec(writer->sqlite, sql, NULL, NULL, NULL) == SQLITE_OK, "%s: %s", sql,
         sqlite3_errmsg(writer->sqlite));
}

static int64_t count_sales(struct writer *writer)
{
    sqlite3_stmt *query;
    need(sqlite3_prepare_v2(writer->sqlite, "SELECT count(*) FROM sales", -1, &query, NULL) == SQLITE_OK &&
             sqlite3_step(query) == SQLITE_ROW,
         "%s", sqlite3_errmsg(writer->sqlite));
    const int64_t count = sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    return count;
}

static void read_shops(struct writer *writer)
{
    sqlite3_stmt *query;
    need(sqlite3_prepare_v2(writer->sqlite, "SELECT shop FROM shops ORDER BY 1", -1, &query, NULL) ==
             SQLITE_OK,
         "%s", sqlite3_errmsg(writer->sqlite));
    for (writer->shop_count = 0; sqlite3_step(query) == SQLITE_ROW; writer->shop_count++)
        snprintf(writer->shop_names[writer->shop_count], 32, "%s",
                 (const char *)sqlite3_column_text(query, 0));
    sqlite3_finalize(query);
}

/* One that is there, but for a third of them, which may then be deleted; seldom any one. */
static void pick_shop(const struct writer *writer, char name[32])
{
    const uint32_t count = writer->shop_count, from = count / 3;
    if (count == 0 || below(20000) == 0)
        snprintf(name, 32, "w%u s%u", writer->who, below(SHOPS));
    else
        snprintf(name, 32, "%s", writer->shop_names[from + below(count - from)]);
}

/* The values of a sale, as CSV and SQL have them, but for NULL and quotation marks. */
static void make_sale(struct writer *writer, char fields[6][32])
{
    snprintf(fields[0], 32, "%u", writer->next);
    writer->next += WRITERS;
    snprintf(fields[1], 32, "%u", writer->who);
    pick_shop(writer, fields[2]);
    snprintf(fields[3], 32, "%u", below(120));
    snprintf(fields[4], 32, "%c%u", 'a' + (int)below(20), below(4 + writer->next / 4096));
    snprintf(fields[5], 32, "%.3f", below(4000) / 8.0);
    for (int f = 2; f < 5; f++)
        if (chance(8))
            fields[f][0] = '\0';
}

/* Adds the rows to SQLite and to the file or, in the form of SQL's VALUES, to the statement. False: SQLite refuses them. */
static bool add_rows(struct writer *writer, bool sales, uint32_t rows, const char *file, FILE *statement)
{
    FILE *const out = statement ? statement : fopen(file, "w");
    const uint32_t columns = sales ? 6 : 3;
    sqlite3_stmt *insert;
    bool fine = true;
    need(out, "%s cannot be written", file);
    need(sqlite3_prepare_v2(writer->sqlite,
                            sales ? "INSERT INTO sales VALUES (?, ?, ?, ?, ?, ?)"
                                  : "INSERT INTO shops VALUES (?, ?, ?)",
                            -1, &insert, NULL) == SQLITE_OK,
         "%s", sqlite3_errmsg(writer->sqlite));
    for (uint32_t r = 0; r < rows; r++) {
        char fields[6][32];
        if (sales) {
            make_sale(writer, fields);
        } else {
            snprintf(fields[0], 32, "w%u s%u", writer->who, below(SHOPS));
            snprintf(fields[1], 32, "%u", writer->who);
            snprintf(fields[2], 32, "city %u", below(6));
        }
        for (uint32_t f = 0; f < columns; f++) {
            const char *const end = f + 1 < columns ? "," : statement ? ")" : "\n";
            if (statement)
                fprintf(out, fields[f][0] ? "%s'%s'%s" : "%s%.0sNULL%s",
                        f   ? ""
                        : r ? ",("
                            : "(",
                        fields[f], end);
            else
                fprintf(out, "%s%s", fields[f], end);
            if (fields[f][0])
                sqlite3_bind_text(insert, (int)f + 1, fields[f], -1, SQLITE_TRANSIENT);
            else
                sqlite3_bind_null(insert, (int)f + 1);
        }
        fine = fine && sqlite3_step(insert) == SQLITE_DONE;
        sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    if (!statement)
        fclose(out);
    return fine;
}

/* What a writer does next, in SQLite (in a transaction) and as arguments of the program. */
struct deed {
    const char *arguments[24];
    uint32_t count;
    bool refused;    /* by SQLite */
    bool may_refuse; /* an index that the other writer has dropped or made */
    bool changes;    /* rows */
};

#define SAY(deed, ...)                                                 \
    do {                                                               \
        const char *const words_[] = {__VA_ARGS__};                    \
        for (size_t w_ = 0; w_ < sizeof words_ / sizeof *words_; w_++) \
            (deed)->arguments[(deed)->count++] = words_[w_];           \
        (deed)->arguments[(deed)->count] = NULL;                       \
    } while (0)

static const char *file_of(const char *assignment)
{
    return strchr(assignment, '=') + 1;
}

static void append(struct writer *writer, struct deed *deed)
{
    static const uint32_t sizes[] = {1, 9, 60, 300, 1025, 2500};
    SAY(deed, "load", "--db", path, "--append", "--threads", chance(50) ? "1" : "2");
    const bool shops = chance(25);
    if (shops) {
        deed->refused = !add_rows(writer, false, 1 + below(2), file_of(writer->shops), NULL);
        SAY(deed, writer->shops);
    }
    if (!shops || chance(60)) {
        deed->refused |=
            !add_rows(writer, true, sizes[below(sizeof sizes / sizeof *sizes)], file_of(writer->sales), NULL);
        SAY(deed, writer->sales);
    }
}

/* Rows in the place of others, all of which pass the condition. */
static void replace(struct writer *writer, struct deed *deed)
{
    snprintf(writer->condition, sizeof writer->condition,
             "who = %u AND (number >= %u OR number < %u AND pieces BETWEEN %u AND 60)", writer->who,
             writer->next, writer->next / 2, below(60));
    snprintf(writer->sql, sizeof writer->sql, "DELETE FROM sales WHERE %s", writer->condition);
    execute(writer, writer->sql);
    deed->refused = !add_rows(writer, true, 1 + below(200), file_of(writer->sales), NULL);
    SAY(deed, "load", "--db", path, "--append", "--replace-where", writer->condition, writer->sales);
}

static void insert(struct writer *writer, struct deed *deed)
{
    FILE *const out = fmemopen(writer->sql, sizeof writer->sql, "w");
    const bool sales = chance(80);
    fprintf(out, "INSERT INTO %s VALUES ", sales ? "sales" : "shops");
    deed->refused = !add_rows(writer, sales, 1 + below(sales ? 40 : 2), NULL, out);
    fclose(out);
    SAY(deed, "sql", "--db", path, "--device", "cpu", writer->sql);
}

static void delete_rows(struct writer *writer, struct deed *deed)
{
    const bool sales = chance(85);
    char *const condition = writer->condition;
    const size_t bytes = sizeof writer->condition;
    if (sales && count_sales(writer) > ROWS)
        snprintf(condition, bytes, "who = %u AND number %% 4 < 3", writer->who);
    else if (!sales)
        snprintf(condition, bytes, "who = %u AND shop = 'w%u s%u'", writer->who, writer->who, below(SHOPS));
    else if (chance(50))
        snprintf(condition, bytes, "who = %u AND number %% %u = 1", writer->who, 3 + below(60));
    else
        snprintf(condition, bytes,
                 "who = %u AND shop IN (SELECT shop FROM shops WHERE city = 'city %u') AND pieces < %u",
                 writer->who, below(6), below(80));
    snprintf(writer->sql, sizeof writer->sql, "DELETE FROM %s WHERE %s", sales ? "sales" : "shops",
             condition);
    deed->refused = sqlite3_exec(writer->sqlite, writer->sql, NULL, NULL, NULL) != SQLITE_OK;
    if (chance(50))
        SAY(deed, "sql", "--db", path, "--device", "cpu", writer->sql);
    else
        SAY(deed, "delete", "--db", path, "--device", "cpu", sales ? "sales" : "shops", condition);
}

static void choose_deed(struct writer *writer, struct deed *deed)
{
    static const char *const columns[] = {"sales.pieces", "sales.note", "sales.shop", "sales.who"},
                             *const codecs[] = {"plain", "lane-for", "nsf", "gpu-star", "smallest"};
    const uint32_t kind = below(100);
    *deed = (struct deed){.changes = kind < 72};
    SAY(deed, TESSERA_PROGRAM);
    read_shops(writer);
    if (kind < 32) {
        append(writer, deed);
    } else if (kind < 40) {
        replace(writer, deed);
    } else if (kind < 52) {
        insert(writer, deed);
    } else if (kind < 72) {
        delete_rows(writer, deed);
    } else if (kind < 82) {
        SAY(deed, "compact", "--db", path);
        if (chance(60))
            SAY(deed, chance(70) ? "sales" : "shops");
    } else if (kind < 92) {
        SAY(deed, "index", kind < 88 ? "create" : "drop", "--db", path, columns[below(4)]);
        deed->may_refuse = true;
    } else {
        SAY(deed, "sql", "--db", path, "--device", "cpu", "--codec", codecs[below(5)],
            "SELECT sum(pieces), min(note), max(weight) FROM sales");
    }
}

/* Whether the database has this state of the writer's rows. */
static bool is_state(const struct writer *writer, const struct state *state)
{
    struct database *const database = open_database();
    bool same = true;
    for (size_t q = 0; same && q < QUESTIONS; q++) {
        uint64_t numbers[WRITERS];
        ask(database, q, numbers);
        same = numbers[writer->who] == state->numbers[q];
    }
    database_close(database);
    return same;
}

static const char *sentence_of(const struct deed *deed, char text[4096])
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t a = 1; a < deed->count && used < 3000; a++)
        used += (size_t)snprintf(text + used, 4096 - used, "%.400s ", deed->arguments[a]);
    return text;
}

/* Waited too long for the other one; or that one compacted the table before it could be encoded. */
static bool turned_away(const char *said)
{
    return strstr(said, "by another writer") || strstr(said, "compacted already") ||
           strstr(said, "was replaced since it was opened; start again");
}

static void change_once(struct writer *writer)
{
    const unsigned who = writer->who;
    const uint32_t before = atomic_load(&shared->writers[who].made),
                   next = atomic_load(&shared->writers[who].last) + 1;
    struct state *const state = &shared->writers[who].states[next];
    struct deed deed;
    char said[2048], text[4096];
    need(next < STATES, "there are more changes than room for them");
    execute(writer, "BEGIN");
    choose_deed(writer, &deed);
    for (size_t q = 0; q < QUESTIONS; q++)
        state->numbers[q] =
            deed.changes ? ask_sqlite(writer->sqlite, q) : shared->writers[who].states[before].numbers[q];
    atomic_store(&shared->writers[who].last, next);
    const bool killed = chance(20);
    const double begin = clock_ms();
    const int code =
        run_program(deed.arguments, killed ? 1 + below((uint32_t)(1300 * writer->last_ms)) : 0, said);
    if (!killed)
        writer->last_ms = clock_ms() - begin;
    const bool away = code == STATUS_BAD_INPUT && turned_away(said);
    const bool done = code == STATUS_OK || (code == -1 && is_state(writer, state));
    need(code != -1 || killed, "it died: %s: %s", sentence_of(&deed, text), said);
    need(code == -1 || code == STATUS_OK || code == STATUS_BAD_INPUT, "exit code %d: %s: %s", code,
         sentence_of(&deed, text), said);
    need(code != STATUS_OK || !deed.refused, "SQLite refuses: %s", sentence_of(&deed, text));
    need(code != STATUS_BAD_INPUT || deed.refused || deed.may_refuse || away, "SQLite does: %s: %s",
         sentence_of(&deed, text), said);
    atomic_store(&state->fate, done ? MADE : NOT_MADE);
    if (done)
        atomic_store(&shared->writers[who].made, next);
    execute(writer, done ? "COMMIT" : "ROLLBACK");
    need(is_state(writer, &shared->writers[who].states[done ? next : before]),
         "%s: it is not in the state %s (exit code %d): %s", sentence_of(&deed, text),
         done ? "after it" : "before it", code, said);
    atomic_fetch_add(&shared->made, done);
    atomic_fetch_add(&shared->refused, code == STATUS_BAD_INPUT && !away);
    atomic_fetch_add(&shared->turned_away, away);
    atomic_fetch_add(&shared->killed, code == -1);
    atomic_fetch_add(&shared->killed_made, code == -1 && done);
}

static void prepare_writer(struct writer *writer, unsigned who)
{
    const int length = (int)strlen(path) - (int)strlen("/db");
    *writer = (struct writer){.who = who, .next = who, .last_ms = 30};
    snprintf(writer->sales, sizeof writer->sales, "sales=%.*s/sales.%u.csv", length, path, who);
    snprintf(writer->shops, sizeof writer->shops, "shops=%.*s/shops.%u.csv", length, path, who);
    need(sqlite3_open(":memory:", &writer->sqlite) == SQLITE_OK, "no SQLite");
    execute(writer, schema);
    execute(writer, "CREATE INDEX a ON sales (shop); PRAGMA foreign_keys = ON");
}

/* The first rows of each writer: half of its shops, and sales. */
static void load_first_rows(struct writer *writer, unsigned who, const char *file)
{
    const char *const arguments[] = {
        TESSERA_PROGRAM,         "load", "--db", path, "--schema", file, writer->shops, writer->sales,
        who ? "--append" : NULL, NULL};
    char said[2048];
    FILE *const out = fopen(file_of(writer->shops), "w");
    need(out, "no file");
    for (unsigned s = 0; s < SHOPS; s += 2) {
        char sql[128];
        fprintf(out, "w%u s%u,%u,city %u\n", who, s, who, s % 6);
        snprintf(sql, sizeof sql, "INSERT INTO shops VALUES ('w%u s%u', %u, 'city %u')", who, s, who, s % 6);
        execute(writer, sql);
    }
    fclose(out);
    read_shops(writer);
    need(add_rows(writer, true, 10, file_of(writer->sales), NULL), "SQLite refuses the first sales");
    need(run_program(arguments, 0, said) == 0, "%s", said);
    for (size_t q = 0; q < QUESTIONS; q++)
        shared->writers[who].states[0].numbers[q] = ask_sqlite(writer->sqlite, q);
    atomic_store(&shared->writers[who].states[0].fate, MADE);
}

static pid_t start_writer(struct writer *writer)
{
    const uint64_t seed = random_state * 31 + writer->who + 1;
    const pid_t child = fork();
    if (child != 0)
        return child;
    begin_process(seed);
    for (uint32_t c = 0; forever ? !atomic_load(&shared->stop) : c < CHANGES; c++)
        change_once(writer);
    engine_close(engine);
    sqlite3_close(writer->sqlite);
    _exit(0);
}

/* ---- All of them ---- */

static pid_t children[WRITERS], readers[READERS];

static void end_all(void)
{
    for (unsigned c = 0; c < WRITERS + READERS; c++) {
        pid_t *const child = c < WRITERS ? &children[c] : &readers[c - WRITERS];
        if (*child == 0)
            continue;
        kill(*child, SIGKILL);
        waitpid(*child, NULL, 0);
        *child = 0;
    }
}

/* Copies the database in which something was wrong, if it is asked for. */
static void keep_database(void)
{
    static struct program_run run;
    if (getenv("TESSERA_PROCESSES_KEEP"))
        run_shell("cp -a $D/.. \"$TESSERA_PROCESSES_KEEP\"", &run);
}

/* True if it has ended, well; a writer or reader that failed ends all of them and the test. */
static bool has_ended(pid_t *child, bool wait)
{
    int ended;
    if (*child == 0 || waitpid(*child, &ended, wait ? 0 : WNOHANG) != *child)
        return *child == 0;
    const pid_t which = *child;
    *child = 0;
    if (WIFEXITED(ended) && WEXITSTATUS(ended) == 0)
        return true;
    end_all();
    keep_database();
    fail_msg("process %d ended with %s %d", which, WIFEXITED(ended) ? "exit code" : "signal",
             WIFEXITED(ended) ? WEXITSTATUS(ended) : WTERMSIG(ended));
    return false;
}

static void kill_reader(pid_t *reader, unsigned r)
{
    if (has_ended(reader, false))
        fail_msg("reader %u ended too early", r);
    kill(*reader, SIGKILL);
    waitpid(*reader, NULL, 0);
    *reader = start_reader(r);
}

/* Files beside the database: those that the test itself wrote. */
static void nothing_is_left(void)
{
    static struct program_run run;
    const char *const arguments[] = {TESSERA_PROGRAM, "compact", "--db", path, NULL};
    char said[2048];
    assert_int_equal(run_program(arguments, 0, said), 0); /* removes what killed programs left */
    run_shell("$T check --db $D", &run);
    printf("%s%s", run.output, run.errors);
    if (run.exit_code != 0)
        keep_database();
    assert_int_equal(run.exit_code, 0);
    assert_null(strstr(run.output, "not in the catalogue"));
    assert_null(strstr(run.output, "not a file of this database"));
    run_shell("cd $D/.. && rm -f sales.?.csv shops.?.csv world.sql && ls -A", &run);
    assert_string_equal(run.output, "db\n");
}

static void two_write_and_two_read(void **state)
{
    const char *const seconds = getenv("TESSERA_PROCESSES_SECONDS"), *const seed =
                                                                         getenv("TESSERA_PROCESSES_SEED");
    static struct writer writers[WRITERS];
    char file[PATH_BYTES];
    uint64_t killed = 0;
    (void)state;
    random_state = seed ? strtoull(seed, NULL, 10) : 1;
    forever = seconds != NULL;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    snprintf(file, sizeof file, "%.*s/world.sql", (int)(strlen(path) - strlen("/db")), path);
    FILE *const out = fopen(file, "w");
    assert_non_null(out);
    fputs(schema, out);
    fclose(out);
    for (unsigned w = 0; w < WRITERS; w++) {
        prepare_writer(&writers[w], w);
        load_first_rows(&writers[w], w, file);
    }
    for (unsigned w = 0; w < WRITERS; w++)
        children[w] = start_writer(&writers[w]);
    for (unsigned r = 0; r < READERS; r++)
        readers[r] = start_reader(r);
    const double end = clock_seconds() + (seconds ? atof(seconds) : 0);
    for (bool over = false; !over;) {
        sleep_us(20000 + below(100000));
        over = true;
        if (forever && clock_seconds() > end)
            atomic_store(&shared->stop, true);
        for (unsigned w = 0; w < WRITERS; w++)
            over &= has_ended(&children[w], false);
        for (unsigned r = 0; r < READERS && !atomic_load(&shared->stop); r++)
            if (chance(3)) {
                kill_reader(&readers[r], r);
                killed++;
            } else if (has_ended(&readers[r], false)) {
                fail_msg("reader %u ended too early", r);
            }
    }
    atomic_store(&shared->stop, true);
    for (unsigned r = 0; r < READERS; r++)
        has_ended(&readers[r], true);
    for (unsigned w = 0; w < WRITERS; w++) {
        for (uint32_t s = 0; s <= atomic_load(&shared->writers[w].last); s++)
            if (shared->writers[w].states[s].seen && shared->writers[w].states[s].fate != MADE)
                fail_msg("a reader saw state %u of writer %u, which was not made", s, w);
        sqlite3_close(writers[w].sqlite);
    }
    printf("changes: %" PRIu64 " made, %" PRIu64 " refused, %" PRIu64 " killed (%" PRIu64
           " of them were made), %" PRIu64 " waited too long\nreaders: %" PRIu64 " questions, %" PRIu64
           " times of a state that was held, %" PRIu64 " checks, %" PRIu64 " killed\n",
           shared->made, shared->refused, shared->killed, shared->killed_made, shared->turned_away,
           shared->asked, shared->held, shared->checked, killed);
    nothing_is_left();
    munmap(shared, sizeof *shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(two_write_and_two_read, setup, teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
