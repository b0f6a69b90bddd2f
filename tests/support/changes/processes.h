/*
 * processes.h: makes the changes of world.h by the program, each in a process of its own, which is killed at a random moment
 * (one in six) or has a call that fails (one in six, tests/faults/inject.c); and lets a reader in another process look at
 * the database all the time.
 *
 * Whether a change was made is what the number of the catalogue's state says, and must agree with the exit code. The reader
 * writes that number and a hash of its answers to the questions for each state that it sees; SQLite's answers after the change
 * that made this state must have the same hash.
 */
#ifndef TESSERA_TESTS_SUPPORT_CHANGES_PROCESSES_H
#define TESSERA_TESTS_SUPPORT_CHANGES_PROCESSES_H

#include "storage/database/catalogue.h"
#include "tests/faults/faults_state.h"
#include "tests/support/changes/questions.h"
#include "tests/support/changes/world.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <xxhash.h>

#define READER_VARIABLE  "TESSERA_CHANGES_READER"
#define WORLD_INDEXES    "pieces,city"
#define WORLD_CLUSTERING "good:2,shop,pieces:3"

/* What SQLite answers in a state of the database. */
struct state_seen {
    uint64_t generation, hash;
};

struct change_processes {
    struct state_seen *states; /* ascending */
    uint64_t state_count;
    pid_t reader;
    char reports[PATH_BYTES], faults[PATH_BYTES], schema[PATH_BYTES]; /* files beside the database */
    struct faults_state *calls;                                       /* the second of them */
    long reports_read;
    double last_ms; /* what the last change took that was neither killed nor failing */
    uint64_t made, refused, killed, killed_made, failing, failed, seen, readers;
};

static inline uint64_t state_now(void)
{
    struct catalogue catalogue;
    must(catalogue_read(path, &catalogue, error));
    const uint64_t generation = catalogue.generation;
    catalogue_free(&catalogue);
    return generation;
}

/* ---- The reader ---- */

static inline uint64_t add_line(uint64_t hash, char *line)
{
    hash = XXH3_64bits_withSeed(line, strlen(line), hash);
    free(line);
    return hash;
}

static inline uint64_t hash_ours(struct engine *engine, struct database *database, const char *const *sql,
                                 size_t count)
{
    uint64_t hash = 0;
    for (size_t q = 0; q < count; q++) {
        struct sql_statement *statement;
        struct rowset rows;
        struct error why = {0};
        size_t used;
        if (sql_prepare(engine, database, sql[q], strlen(sql[q]), NULL, &statement, &used, &why) !=
                STATUS_OK ||
            sql_run(statement, &rows, NULL, &why) != STATUS_OK) {
            printf("0 0 %s\n", why.text);
            exit(1);
        }
        for (uint64_t row = 0; row < rows.rows; row++)
            hash = add_line(hash, our_line(&rows, row));
        rowset_free(&rows);
        sql_statement_free(statement);
    }
    return hash;
}

static inline uint64_t hash_theirs(sqlite3 *sqlite, const char *const *sql, size_t count)
{
    uint64_t hash = 0;
    for (size_t q = 0; q < count; q++) {
        sqlite3_stmt *statement;
        assert_int_equal(sqlite3_prepare_v2(sqlite, sql[q], -1, &statement, NULL), SQLITE_OK);
        while (sqlite3_step(statement) == SQLITE_ROW)
            hash = add_line(hash, their_line(statement));
        sqlite3_finalize(statement);
    }
    return hash;
}

/* The generation of the catalogue; 0: it cannot be read, which the caller's next step says. */
static inline uint64_t generation_of(const char *directory)
{
    struct catalogue catalogue;
    if (catalogue_read(directory, &catalogue, NULL) != STATUS_OK)
        return 0;
    const uint64_t generation = catalogue.generation;
    catalogue_free(&catalogue);
    return generation;
}

/* Reads states until it is killed: prints "generation hash" for each, or "0 0 SENTENCE" and ends. A state is asked twice, with
 * time for changes between. */
static inline int reader_run(const char *directory, const char *const *sql, size_t count)
{
    struct engine *engine;
    struct error why = {0};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setvbuf(stdout, NULL, _IOLBF, 0);
    random_state = (uint64_t)getpid();
    if (engine_open(&(struct engine_options){.device = "cpu", .threads = 1}, &engine, &why) != STATUS_OK)
        return 1;
    for (;;) {
        struct database *database;
        const uint64_t before = generation_of(directory);
        if (database_open(directory, &database, &why) != STATUS_OK) {
            printf("0 0 %s\n", why.text);
            return 1;
        }
        if (before && before == generation_of(directory)) {
            printf("%" PRIu64 " %" PRIu64 "\n", before, hash_ours(engine, database, sql, count));
            usleep(below(60000));
            printf("%" PRIu64 " %" PRIu64 "\n", before, hash_ours(engine, database, sql, count));
        }
        database_close(database);
    }
}

static inline void reader_start(struct change_processes *processes)
{
    const pid_t parent = getpid();
    const int out = open(processes->reports, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    assert_true(out >= 0);
    processes->reports_read = 0;
    processes->readers++;
    setenv(READER_VARIABLE, path, 1);
    processes->reader = fork();
    if (processes->reader == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(out, STDOUT_FILENO);
        if (getppid() == parent)
            execl("/proc/self/exe", "reader", (char *)NULL);
        _exit(127);
    }
    unsetenv(READER_VARIABLE);
    assert_true(processes->reader > 0);
    close(out);
}

/* ---- States ---- */

static inline void state_add(struct change_processes *processes, uint64_t generation, sqlite3 *sqlite)
{
    struct state_seen *const grown =
        realloc(processes->states, (processes->state_count + 1) * sizeof *processes->states);
    assert_non_null(grown);
    processes->states = grown;
    processes->states[processes->state_count++] = (struct state_seen){
        .generation = generation, .hash = hash_theirs(sqlite, totals, sizeof totals / sizeof *totals)};
}

static inline void check_report(struct change_processes *processes, const char *line)
{
    uint64_t generation, hash;
    if (sscanf(line, "%" SCNu64 " %" SCNu64, &generation, &hash) != 2 || !generation)
        fail_msg("the reader says: %s", line);
    for (uint64_t s = 0; s < processes->state_count; s++)
        if (processes->states[s].generation == generation) {
            if (processes->states[s].hash != hash)
                fail_msg("the reader saw another state %" PRIu64 " than SQLite", generation);
            processes->seen++;
            return;
        }
    fail_msg("the reader saw state %" PRIu64 ", which was not committed", generation);
}

/* Checks what the reader has said until now; sometimes another one takes its place. */
static inline void readers_check(struct change_processes *processes)
{
    char line[1024];
    FILE *const in = fopen(processes->reports, "r");
    assert_non_null(in);
    assert_int_equal(fseek(in, processes->reports_read, SEEK_SET), 0);
    while (fgets(line, sizeof line, in) && strchr(line, '\n')) {
        check_report(processes, line);
        processes->reports_read = ftell(in);
    }
    fclose(in);
    if (!chance(20))
        return;
    kill(processes->reader, SIGKILL);
    waitpid(processes->reader, NULL, 0);
    reader_start(processes);
}

static inline void processes_begin(struct change_processes *processes, sqlite3 *sqlite)
{
    *processes = (struct change_processes){.last_ms = 20};
    const int length = (int)strlen(path) - (int)strlen("/db");
    snprintf(processes->reports, PATH_BYTES, "%.*s/reports", length, path);
    snprintf(processes->faults, PATH_BYTES, "%.*s/faults", length, path);
    snprintf(processes->schema, PATH_BYTES, "%.*s/world.sql", length, path);
    const int faults = open(processes->faults, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(ftruncate(faults, sizeof *processes->calls), 0);
    processes->calls = mmap(NULL, sizeof *processes->calls, PROT_READ | PROT_WRITE, MAP_SHARED, faults, 0);
    assert_true(processes->calls != MAP_FAILED);
    close(faults);
    FILE *const schema = fopen(processes->schema, "w");
    fputs(world_schema, schema);
    fclose(schema);
    state_add(processes, state_now(), sqlite);
    reader_start(processes);
}

static inline void processes_end(struct change_processes *processes)
{
    readers_check(processes);
    kill(processes->reader, SIGKILL);
    waitpid(processes->reader, NULL, 0);
    free(processes->states);
    munmap(processes->calls, sizeof *processes->calls);
    printf("changes: %" PRIu64 " made, %" PRIu64 " refused, %" PRIu64 " killed (%" PRIu64
           " of them were made), %" PRIu64 " with a failing call (%" PRIu64 " of them ended with it)\n"
           "readers: %" PRIu64 ", which saw %" PRIu64 " committed states\n",
           processes->made, processes->refused, processes->killed, processes->killed_made, processes->failing,
           processes->failed, processes->readers, processes->seen);
}

/* ---- Changes ---- */

/* What happens to a change. */
struct accident {
    bool killed; /* after some microseconds */
    unsigned after;
    const char *kinds, *error; /* of calls of which one fails; or NULL */
};

static inline void fill_arguments(const struct change_processes *processes, const struct change *change,
                                  const char **arguments, char files[WORLD_TABLES][PATH_BYTES + 16])
{
    uint32_t count = 0;
    arguments[count++] = TESSERA_PROGRAM;
    arguments[count++] = change->kind == CHANGE_APPEND   ? "load"
                         : change->kind == CHANGE_DELETE ? "delete"
                                                         : "compact";
    arguments[count++] = "--db";
    arguments[count++] = path;
    if (change->kind != CHANGE_DELETE) {
        arguments[count++] = "--threads";
        arguments[count++] = chance(50) ? "1" : "2";
    } else {
        arguments[count++] = "--device=cpu";
    }
    if (change->kind == CHANGE_APPEND) {
        arguments[count++] = "--append";
        arguments[count++] = "--schema";
        arguments[count++] = processes->schema;
        if (change->condition[0]) {
            arguments[count++] = "--replace-where";
            arguments[count++] = change->condition;
        }
        for (int t = 0; t < WORLD_TABLES; t++) {
            char file[PATH_BYTES];
            if (!change->appends[t])
                continue;
            world_file((enum world_table)t, file);
            snprintf(files[t], sizeof files[t], "%s=%s", world_tables[t].name, file);
            arguments[count++] = files[t];
        }
    } else if (change->table < WORLD_TABLES) {
        arguments[count++] = world_tables[change->table].name;
    }
    if (change->kind == CHANGE_DELETE)
        arguments[count++] = change->condition;
    arguments[count] = NULL;
}

static inline struct accident choose_accident(const struct change_processes *processes)
{
    static const char *const errors[] = {"ENOMEM", "EIO", "ENOSPC", "EMFILE", "short", "kill"};
    struct accident accident = {0};
    const uint32_t kind = below(6);
    if (kind == 0) {
        accident.killed = true;
        accident.after = below((uint32_t)(1300 * processes->last_ms) + 1);
    } else if (kind == 1) {
        accident.kinds = chance(50) ? "memory" : "calls";
        accident.error = strcmp(accident.kinds, "memory") == 0
                             ? "ENOMEM"
                             : errors[1 + below(sizeof errors / sizeof *errors - 1)];
    }
    return accident;
}

static inline void set_faults(const struct change_processes *processes, const struct accident *accident)
{
    char number[32];
    memset(processes->calls, 0, sizeof *processes->calls);
    snprintf(number, sizeof number, "%u", 1 + below(strcmp(accident->kinds, "memory") == 0 ? 6000 : 1500));
    setenv("FAULTS_NUMBER", number, 1);
    setenv("FAULTS_KINDS", accident->kinds, 1);
    setenv("FAULTS_ERROR", accident->error, 1);
    setenv("FAULTS_STATE", processes->faults, 1);
    setenv("FAULTS_PROGRAM", TESSERA_PROGRAM, 1);
    setenv("LD_PRELOAD", TESSERA_FAULTS_LIBRARY, 1);
}

static inline double wall_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

/* Runs the program, and gives its exit code, or -1 if a signal ended it. What it says goes to a file. */
static inline int run_change(struct change_processes *processes, const struct change *change,
                             const struct accident *accident, char said[2048])
{
    char files[WORLD_TABLES][PATH_BYTES + 16];
    const char *arguments[32];
    FILE *const out = tmpfile();
    int ended;
    assert_non_null(out);
    fill_arguments(processes, change, arguments, files);
    fflush(NULL);
    if (accident->kinds)
        set_faults(processes, accident);
    const double begin = wall_ms();
    const pid_t child = fork();
    if (child == 0) {
        dup2(fileno(out), STDOUT_FILENO);
        dup2(fileno(out), STDERR_FILENO);
        execv(TESSERA_PROGRAM, (char *const *)(uintptr_t)arguments);
        _exit(127);
    }
    unsetenv("LD_PRELOAD");
    assert_true(child > 0);
    if (accident->killed) {
        usleep(accident->after);
        kill(child, SIGKILL);
    }
    assert_int_equal(waitpid(child, &ended, 0), child);
    if (!accident->killed && !accident->kinds)
        processes->last_ms = wall_ms() - begin;
    rewind(out);
    said[fread(said, 1, 2047, out)] = '\0';
    fclose(out);
    return WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
}

/* What is wrong with the end of a change, or NULL. `made`: there is a new state. */
static inline const char *end_wrong(const struct change *change, const struct accident *accident, int code,
                                    bool made)
{
    const bool may_die = accident->killed || (accident->error && strcmp(accident->error, "kill") == 0);
    if (made && change->refused)
        return "it was made, and SQLite refuses it";
    if (code == -1)
        return may_die ? NULL : "it died";
    if (code == STATUS_OK && change->refused)
        return "it says that it was made, and SQLite refuses it";
    if ((code == STATUS_OK && change->kind != CHANGE_COMPACT && change->rows && !made) ||
        (code == STATUS_NOT_DURABLE && !made))
        return "it says that it was made, and was not";
    if (code == STATUS_OK || code == STATUS_NOT_DURABLE)
        return NULL;
    if (code != STATUS_BAD_INPUT && code != STATUS_MACHINE)
        return "no exit code of a change";
    if (made &&
        change->kind != CHANGE_COMPACT) /* a compaction has made a state of its own before it writes */
        return "it says that it was not made, and was";
    return change->refused || accident->kinds ? NULL : "it was refused, and SQLite does it";
}

static inline void change_by_program(struct change_processes *processes, sqlite3 *sqlite)
{
    const uint64_t before = state_now();
    struct change change;
    char said[2048];
    make_change(sqlite, &change);
    const struct accident accident = choose_accident(processes);
    const int code = run_change(processes, &change, &accident, said);
    const uint64_t after = state_now();
    const bool made = after != before;
    const char *const wrong = end_wrong(&change, &accident, code, made);
    if (wrong)
        fail_msg("%s; exit code %d; change %d of %s \"%s\", %s %s: %s", wrong, code, (int)change.kind,
                 change.table < WORLD_TABLES ? world_tables[change.table].name : "all", change.condition,
                 accident.kinds ? accident.kinds : "", accident.error ? accident.error : "", said);
    processes->made += made;
    processes->refused += change.refused;
    processes->killed += code == -1;
    processes->killed_made += code == -1 && made;
    processes->failing += accident.kinds && processes->calls->faults;
    processes->failed += accident.kinds && code == STATUS_MACHINE;
    /* what is not made leaves no state; what changes no row in SQLite is done either way */
    end_change(sqlite, made && !change.refused);
    for (uint64_t state = change.kind == CHANGE_COMPACT ? before + 1 : after; made && state <= after; state++)
        state_add(processes, state, sqlite);
}

#endif
