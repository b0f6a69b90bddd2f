/* four_processes.h: what the processes of test_four_processes.c share, the questions that they ask, and the numbers that stand for
 * answers. Behind cmocka.h. */
#ifndef TESSERA_TESTS_STORAGE_DATABASE_CHANGES_FOUR_PROCESSES_H
#define TESSERA_TESTS_STORAGE_DATABASE_CHANGES_FOUR_PROCESSES_H

#include "storage/base/clock.h"
#include "tests/fuzz/fuzz_random.h"
#include "tests/support/one_directory.h"
#include "tests/support/run_program.h"
#include "tests/support/sql/as_sqlite.h"

#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <time.h>
#include <xxhash.h>

#define WRITERS 2u
#define READERS 2u
#define CHANGES 14u        /* of each writer, without TESSERA_PROCESSES_SECONDS */
#define STATES  (1u << 17) /* of each writer, at most */
#define SHOPS   60u        /* keys of one writer's shops */
#define ROWS    12000      /* of one writer; then some are deleted */

static const char schema[] =
    "CREATE TABLE shops (shop TEXT PRIMARY KEY, who INT NOT NULL, city TEXT);\n"
    "CREATE TABLE sales (number INT PRIMARY KEY, who INT NOT NULL, shop TEXT REFERENCES shops, pieces INT, "
    "note TEXT, weight DOUBLE);\n";

/* Each row begins with the writer's number, and depends on its rows alone. */
static const char *const questions[] = {
    "SELECT who, count(*), sum(pieces), sum(number), min(note), max(note) FROM sales GROUP BY who",
    "SELECT sales.who, city, count(*), sum(weight) FROM sales JOIN shops ON sales.shop = shops.shop "
    "GROUP BY sales.who, city",
    "SELECT who, note, count(*) FROM sales GROUP BY who, note",
    "SELECT who, count(DISTINCT note), count(DISTINCT shop) FROM sales GROUP BY who",
    "SELECT who, shop, city FROM shops",
    "SELECT who, count(*) FROM shops WHERE shop NOT IN (SELECT shop FROM sales WHERE shop IS NOT NULL) "
    "GROUP BY who",
    "SELECT who, number, pieces, note, shop FROM sales WHERE number % 7 < 2",
    "SELECT who, count(*), max(weight) FROM sales WHERE pieces BETWEEN 20 AND 90 GROUP BY who",
    "SELECT who, count(*) FROM sales WHERE note >= 'k' AND pieces IS NOT NULL GROUP BY who",
    "SELECT who, number, rank() OVER (PARTITION BY who ORDER BY pieces, number) FROM sales "
    "WHERE number % 11 = 3 AND pieces IS NOT NULL",
    "SELECT a.who, count(*) FROM sales a JOIN sales b ON a.shop = b.shop AND a.number < b.number "
    "WHERE a.number % 50 < 2 AND b.number % 9 = 0 GROUP BY a.who",
    "SELECT who, shop, n FROM (SELECT who, shop, count(*) AS n FROM sales GROUP BY who, shop) t WHERE n > 3",
};
#define QUESTIONS (sizeof questions / sizeof *questions)
#define ALL       ((1u << QUESTIONS) - 1)

enum { PENDING, MADE, NOT_MADE };

/* A state of one writer's rows. */
struct state {
    _Atomic uint32_t fate, seen; /* seen by a reader before its fate was known */
    uint64_t numbers[QUESTIONS];
};

/* What the processes share. */
static struct shared {
    _Atomic bool stop;
    _Atomic uint64_t made, refused, killed, killed_made, turned_away, asked, held, checked;
    struct {
        _Atomic uint32_t made, last; /* the newest state that was made; the newest one of all */
        struct state states[STATES];
    } writers[WRITERS];
} * shared;

static bool forever; /* until shared->stop */

/* Ends this process, which is a writer or a reader, with a sentence. */
#define need(condition, ...)              \
    do {                                  \
        if (!(condition)) {               \
            fprintf(stderr, __VA_ARGS__); \
            putc('\n', stderr);           \
            fflush(stderr);               \
            _exit(1);                     \
        }                                 \
    } while (0)

static inline void sleep_us(uint64_t us)
{
    nanosleep(&(struct timespec){.tv_sec = (time_t)(us / 1000000), .tv_nsec = (long)(us % 1000000 * 1000)},
              NULL);
}

/* ---- Numbers of answers ---- */

static struct engine *engine;

static inline uint64_t number_of(char *line)
{
    const uint64_t number = XXH3_64bits(line, strlen(line));
    free(line);
    return number;
}

/* One number for each writer, which depends on its rows in any order. */
static inline void ask(struct database *database, size_t question, uint64_t numbers[WRITERS])
{
    const char *const sql = questions[question];
    struct sql_statement *statement;
    struct rowset rows;
    struct error why = {0};
    size_t used;
    need(sql_prepare(engine, database, sql, strlen(sql), NULL, &statement, &used, &why) == STATUS_OK &&
             sql_run(statement, &rows, NULL, &why) == STATUS_OK,
         "%s: %s", sql, why.text);
    memset(numbers, 0, WRITERS * sizeof *numbers);
    for (uint64_t row = 0; row < rows.rows; row++) {
        const uint64_t who = (uint64_t)rows.columns[0].values[row];
        need(who < WRITERS, "%s: there is no writer %" PRIu64, sql, who);
        numbers[who] += number_of(our_line(&rows, row));
    }
    rowset_free(&rows);
    sql_statement_free(statement);
    atomic_fetch_add(&shared->asked, 1);
}

static inline uint64_t ask_sqlite(sqlite3 *sqlite, size_t question)
{
    sqlite3_stmt *statement;
    uint64_t number = 0;
    need(sqlite3_prepare_v2(sqlite, questions[question], -1, &statement, NULL) == SQLITE_OK, "%s: %s",
         questions[question], sqlite3_errmsg(sqlite));
    while (sqlite3_step(statement) == SQLITE_ROW)
        number += number_of(their_line(statement));
    sqlite3_finalize(statement);
    return number;
}

static inline struct database *open_database(void)
{
    struct database *database;
    struct error why = {0};
    need(database_open(path, &database, &why) == STATUS_OK, "%s", why.text);
    return database;
}

static inline void begin_process(uint64_t seed)
{
    struct error why = {0};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    random_state = seed;
    need(engine_open(&(struct engine_options){.device = "cpu", .threads = 2}, &engine, &why) == STATUS_OK,
         "%s", why.text);
}

#endif
