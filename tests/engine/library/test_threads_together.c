/*
 * test_threads_together.c: threads of one program do all that the library offers at the same time, for ThreadSanitizer (the
 * preset `threads`) and for answers, which are those of one thread alone:
 *
 *   * statements of every operator on one shared database, on one with so little memory that they spill, and on databases that
 *     are opened for one question and closed;
 *   * statements that are prepared once and run often, by their thread alone or by all in turn;
 *   * answers as Arrow streams, which another thread reads, and whole tables as such;
 *   * statements that another thread cancels;
 *   * codecs that are encoded when a statement asks for them, from several databases at once;
 *   * meanwhile one thread inserts, deletes, compacts, loads, creates and drops an index, and sets how statements are prepared;
 *   * in the end all open, ask and close databases, so that the library's threads begin and end again and again.
 *
 *     TESSERA_THREADS_SECONDS  how long, twice; without it each thread does some dozen things
 *     TESSERA_THREADS_SEED     the first random number
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/library/statement.h"
#include "engine/library/tessera.h"
#include "storage/base/clock.h"
#include "storage/database/writer.h"
#include "tests/engine/library/result_text.h"
#include "tests/engine/library/threads_statements.h"
#include "tests/support/one_directory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define THREADS 6u
#define DEEDS   60u /* of each thread, without TESSERA_THREADS_SECONDS */
#define OPENS   20u
#define SHARED  4u /* statements that threads run in turn, and streams on their way from one to another */
#define SALES   6000u

static char statements[STATEMENTS][1024], folder[PATH_BYTES];

/* What one thread alone has. */
static struct expected {
    char *text;
    uint64_t arrow;
} expected[STATEMENTS];
static uint64_t sales_arrow;

/* ---- What threads share ---- */

static struct tessera_database *shared, *little;

/* A statement that a thread takes, runs and puts back; a stream that one thread makes and another one reads. */
static struct slot {
    pthread_mutex_t lock;
    struct tessera_statement *statement;
    size_t number;
    bool full;
    struct ArrowArrayStream stream;
    size_t of_stream;
} slots[SHARED];

/* The statement that each thread lets others cancel, while it runs. */
static struct victim {
    pthread_mutex_t lock;
    struct tessera_statement *statement;
} victims[THREADS];

static double end; /* 0: by DEEDS */
static _Atomic bool over;
static _Atomic uint64_t deeds, cancelled, without_memory, changes;

struct user {
    unsigned number;
    uint64_t random;
    struct tessera_statement *kept; /* prepared once */
    size_t kept_number;
    char wrong[1600]; /* empty: all answers were right */
};

static uint32_t below(struct user *user, uint32_t bound)
{
    user->random ^= user->random << 13;
    user->random ^= user->random >> 7;
    user->random ^= user->random << 17;
    return (uint32_t)(user->random >> 16) % bound;
}

/* Threads may not use cmocka: the first thing that is wrong is kept. */
#define must_be(user, condition, ...)                                  \
    do {                                                               \
        if (!(condition) && !(user)->wrong[0])                         \
            snprintf((user)->wrong, sizeof(user)->wrong, __VA_ARGS__); \
    } while (0)

/* On a slow machine a change may wait longer for others than it does. It is then made another time. */
static bool waited_long(const char *text)
{
    return strstr(text, "by another writer") != NULL;
}

/* ---- Answers ---- */

static uint64_t add_values(uint64_t hash, const char *format, const struct ArrowArray *column)
{
    const uint8_t *const valid = column->buffers[0];
    const size_t bytes = format[0] == 'd' ? 16 : strcmp(format, "tdD") == 0 ? 4 : 8;
    const bool text = format[0] == 'U';
    for (int64_t i = column->offset; i < column->offset + column->length; i++) {
        const int64_t *const places = (const int64_t *)column->buffers[1] + i;
        if (valid && !(valid[i / 8] >> i % 8 & 1))
            hash = XXH3_64bits_withSeed("NULL", 4, hash);
        else if (text)
            hash = XXH3_64bits_withSeed((const char *)column->buffers[2] + places[0],
                                        (size_t)(places[1] - places[0]), hash);
        else
            hash = XXH3_64bits_withSeed((const char *)column->buffers[1] + (size_t)i * bytes, bytes, hash);
    }
    return hash;
}

/* A number that depends on all values of the stream, which is released; 0: it failed. */
static uint64_t read_stream(struct ArrowArrayStream *stream)
{
    struct ArrowSchema schema;
    struct ArrowArray batch;
    uint64_t hash = 1;
    bool fine = stream->get_schema(stream, &schema) == 0;
    while (fine) {
        fine = stream->get_next(stream, &batch) == 0;
        if (!fine || !batch.release)
            break;
        for (int64_t c = 0; c < batch.n_children; c++)
            hash = add_values(hash, schema.children[c]->format, batch.children[c]);
        batch.release(&batch);
    }
    if (fine)
        schema.release(&schema);
    stream->release(stream);
    return fine ? hash : 0;
}

static enum tessera_status prepare(struct tessera_database *database, size_t number,
                                   struct tessera_statement **statement, struct tessera_error *why)
{
    enum tessera_status status = tessera_prepare(database, statements[number], statement, why);
    if (status == TESSERA_OK && tessera_parameters(*statement) == 2)
        status = tessera_bind_int64(*statement, 0, 50, why) ? why->status
                                                            : tessera_bind_text(*statement, 1, "n5", 2, why);
    return status;
}

/* Runs it; the answer must be the expected one, or the status be one that `may` names. */
static void run_and_compare(struct user *user, struct tessera_statement *statement, size_t number,
                            enum tessera_status may)
{
    struct tessera_result *result;
    struct tessera_error why = {0};
    const enum tessera_status status = tessera_run(statement, &result, &why);
    cancelled += status == TESSERA_INTERRUPTED && may == status;
    without_memory += status == TESSERA_MACHINE && may == status;
    must_be(user, status == TESSERA_OK || status == may, "%.300s: %.300s", statements[number], why.text);
    must_be(user, status != TESSERA_MACHINE || strstr(why.text, "memory"), "%.300s: %.300s",
            statements[number], why.text);
    if (status != TESSERA_OK)
        return;
    char *const text = text_of(result);
    must_be(user, strcmp(text, expected[number].text) == 0, "%.300s gave %.400s and not %.400s",
            statements[number], text, expected[number].text);
    free(text);
    tessera_result_free(result);
}

static void ask(struct user *user, struct tessera_database *database, enum tessera_status may)
{
    const size_t number = below(user, STATEMENTS);
    struct tessera_statement *statement = NULL;
    struct tessera_error why = {0};
    if (prepare(database, number, &statement, &why) == TESSERA_OK)
        run_and_compare(user, statement, number, may);
    else
        must_be(user, false, "%.300s: %.300s", statements[number], why.text);
    tessera_finalize(statement);
}

/* ---- What threads do ---- */

static void ask_shared(struct user *user)
{
    ask(user, shared, TESSERA_OK);
}

/* All runs of a database share its memory, so one may have too little beside others. */
static void ask_with_little_memory(struct user *user)
{
    ask(user, little, TESSERA_MACHINE);
}

static void open_ask_close(struct user *user)
{
    struct tessera_database *database;
    struct tessera_error why = {0};
    const struct tessera_options options = {
        .size = sizeof options, .device = test_device(), .threads = 1 + below(user, 3)};
    if (tessera_open_with(path, &options, &database, &why) != TESSERA_OK) {
        must_be(user, false, "%s", why.text);
        return;
    }
    for (uint32_t i = below(user, 3); i > 0; i--)
        ask(user, database, TESSERA_OK);
    tessera_close(database);
}

static void run_kept(struct user *user)
{
    struct tessera_error why = {0};
    if (user->kept && below(user, 8) == 0) {
        tessera_finalize(user->kept);
        user->kept = NULL;
    }
    if (!user->kept) {
        user->kept_number = below(user, STATEMENTS);
        must_be(user, prepare(shared, user->kept_number, &user->kept, &why) == TESSERA_OK, "%s", why.text);
    }
    if (user->kept)
        run_and_compare(user, user->kept, user->kept_number, TESSERA_OK);
}

static void run_in_turn(struct user *user)
{
    struct slot *const slot = &slots[below(user, SHARED)];
    struct tessera_error why = {0};
    pthread_mutex_lock(&slot->lock);
    if (!slot->statement) {
        slot->number = below(user, STATEMENTS);
        must_be(user, prepare(shared, slot->number, &slot->statement, &why) == TESSERA_OK, "%s", why.text);
    }
    if (slot->statement)
        run_and_compare(user, slot->statement, slot->number, TESSERA_OK);
    if (below(user, 6) == 0) {
        tessera_finalize(slot->statement);
        slot->statement = NULL;
    }
    pthread_mutex_unlock(&slot->lock);
}

/* Takes the stream of another thread, and leaves one of its own. */
static void exchange_streams(struct user *user)
{
    struct slot *const slot = &slots[below(user, SHARED)];
    const size_t number = below(user, STATEMENTS);
    struct tessera_statement *statement = NULL;
    struct tessera_result *result;
    struct tessera_error why = {0};
    struct ArrowArrayStream mine = {0}, other = {0};
    size_t of_other = 0;
    must_be(user,
            prepare(shared, number, &statement, &why) == TESSERA_OK &&
                tessera_run(statement, &result, &why) == TESSERA_OK &&
                tessera_result_arrow(result, &mine, &why) == TESSERA_OK,
            "%s", why.text);
    tessera_finalize(statement);
    pthread_mutex_lock(&slot->lock);
    if (slot->full) {
        other = slot->stream;
        of_other = slot->of_stream;
    }
    slot->full = mine.release != NULL;
    slot->stream = mine;
    slot->of_stream = number;
    pthread_mutex_unlock(&slot->lock);
    if (other.release)
        must_be(user, read_stream(&other) == expected[of_other].arrow, "%.300s: another Arrow stream",
                statements[of_other]);
}

static void read_table(struct user *user)
{
    struct ArrowArrayStream stream;
    struct tessera_error why = {0};
    if (tessera_table_arrow(shared, "sales", &stream, &why) != TESSERA_OK)
        must_be(user, false, "%s", why.text);
    else
        must_be(user, read_stream(&stream) == sales_arrow, "another table as a stream");
}

static void be_cancelled(struct user *user)
{
    struct victim *const victim = &victims[user->number];
    const size_t number = below(user, STATEMENTS);
    struct tessera_statement *statement = NULL;
    struct tessera_error why = {0};
    must_be(user, prepare(below(user, 2) ? shared : little, number, &statement, &why) == TESSERA_OK, "%s",
            why.text);
    pthread_mutex_lock(&victim->lock);
    victim->statement = statement;
    pthread_mutex_unlock(&victim->lock);
    for (unsigned i = 0; statement && i < 3; i++) {
        struct tessera_result *result;
        const enum tessera_status status = tessera_run(statement, &result, &why);
        cancelled += status == TESSERA_INTERRUPTED;
        without_memory += status == TESSERA_MACHINE;
        must_be(user, status == TESSERA_OK || status == TESSERA_INTERRUPTED || status == TESSERA_MACHINE,
                "%.300s: %.300s", statements[number], why.text);
        if (status == TESSERA_OK)
            tessera_result_free(result);
    }
    pthread_mutex_lock(&victim->lock);
    victim->statement = NULL;
    pthread_mutex_unlock(&victim->lock);
    if (statement && tessera_parameters(statement) == 0) /* then it is run to its end */
        run_and_compare(user, statement, number, TESSERA_MACHINE);
    tessera_finalize(statement);
}

static void cancel(struct user *user)
{
    for (unsigned i = 0; i < 20; i++) {
        struct victim *const victim = &victims[below(user, THREADS)];
        pthread_mutex_lock(&victim->lock);
        if (victim->statement)
            tessera_cancel(victim->statement);
        pthread_mutex_unlock(&victim->lock);
        nanosleep(&(struct timespec){.tv_nsec = (long)below(user, 1000000)}, NULL);
    }
}

/* A statement of the program with --codec, in a database and with an engine of its own. */
static void encode(struct user *user)
{
    static const char *const codecs[] = {"plain", "nsf", "gpu-for", "lane-for", "gpu-star", "smallest"};
    struct engine *engine;
    struct database *database = NULL;
    struct sql_statement *statement = NULL;
    struct rowset rows = {0};
    struct error why = {0};
    size_t used;
    const char *const sql = statements[0], *const codec = codecs[below(user, 6)];
    if (engine_open(&(struct engine_options){.device = "cpu", .threads = 2}, &engine, &why) != STATUS_OK) {
        must_be(user, false, "%s", why.text);
        return;
    }
    enum status status = database_open(path, &database, &why);
    status =
        AND_THEN(status, sql_prepare(engine, database, sql, strlen(sql), codec, &statement, &used, &why));
    status = AND_THEN(status, sql_run(statement, &rows, NULL, &why));
    must_be(user, status == STATUS_OK || strstr(why.text, "cannot hold") || waited_long(why.text), "%s: %s",
            codec, why.text);
    must_be(user, status != STATUS_OK || rows.rows == 1, "%s: no row", codec);
    rowset_free(&rows);
    sql_statement_free(statement);
    database_close(database);
    engine_close(engine);
}

static void ask_events(struct user *user)
{
    struct tessera_statement *statement = NULL;
    struct tessera_result *result = NULL;
    struct tessera_error why = {0};
    must_be(user,
            tessera_prepare(shared, EVENTS, &statement, &why) == TESSERA_OK &&
                tessera_run(statement, &result, &why) == TESSERA_OK,
            "%s", why.text);
    if (result)
        must_be(user, tessera_int64(result, 0, 0) == 0 && tessera_int64(result, 1, 0) == 0,
                "half of a change was seen");
    tessera_result_free(result);
    tessera_finalize(statement);
}

static void *use(void *context)
{
    static void (*const kinds[])(struct user *) = {
        ask_shared,
        ask_shared,
        ask_shared,
        ask_with_little_memory,
        ask_with_little_memory,
        open_ask_close,
        run_kept,
        run_kept,
        run_in_turn,
        run_in_turn,
        exchange_streams,
        read_table,
        be_cancelled,
        be_cancelled,
        cancel,
        encode,
        ask_events,
        ask_events,
    };
    struct user *const user = context;
    for (unsigned i = 0; !user->wrong[0] && (end > 0 ? clock_seconds() < end : i < DEEDS); i++) {
        kinds[below(user, sizeof kinds / sizeof *kinds)](user);
        atomic_fetch_add(&deeds, 1);
    }
    tessera_finalize(user->kept);
    user->kept = NULL;
    return NULL;
}

/* ---- The thread that changes the database ---- */

static void change_by(struct user *user, const char *sql)
{
    struct tessera_statement *statement = NULL;
    struct tessera_result *result = NULL;
    struct tessera_error why = {0};
    must_be(user,
            tessera_prepare(shared, sql, &statement, &why) == TESSERA_OK &&
                (tessera_run(statement, &result, &why) == TESSERA_OK || waited_long(why.text)),
            "%s: %s", sql, why.text);
    tessera_result_free(result);
    tessera_finalize(statement);
}

static void load_events(struct user *user)
{
    const char *const tables[] = {"events"};
    char file[PATH_BYTES + 16];
    const char *const files[] = {file};
    struct tessera_error why = {0};
    snprintf(file, sizeof file, "%s/events.csv", folder);
    must_be(user,
            tessera_load(path, NULL, tables, files, 1, TESSERA_LOAD_APPEND, NULL, &why) == TESSERA_OK ||
                waited_long(why.text),
            "%s", why.text);
}

static void ignore(void *context, const struct table *before, const struct table *after)
{
    (void)context, (void)before, (void)after;
}

static void change_index(struct user *user)
{
    const struct index_wish wish = {.format = INDEX_WAH64, .bins = INDEX_AUTO};
    struct error why = {0}, none;
    if (database_index_drop(path, "sales", "pieces", &none) != STATUS_OK)
        must_be(user,
                database_index_create(path, "sales", "pieces", wish, 2, NULL, &why) == STATUS_OK ||
                    waited_long(why.text) || waited_long(none.text),
                "%s", why.text);
}

static void change(struct user *user)
{
    struct error why = {0};
    struct tessera_error reason = {0};
    char sql[160];
    switch (below(user, 8)) {
    case 0:
        snprintf(sql, sizeof sql, "DELETE FROM events WHERE abs(v) < %u", below(user, 1000));
        change_by(user, sql);
        break;
    case 1:
        load_events(user);
        break;
    case 2:
        must_be(user,
                database_compact(path, "events", 2, ignore, NULL, NULL, &why) == STATUS_OK ||
                    waited_long(why.text),
                "%s", why.text);
        break;
    case 3:
        change_index(user);
        break;
    case 4:
        tessera_use_indexes(shared, (enum tessera_index_use)below(user, 3));
        break;
    case 5:
        must_be(user,
                tessera_use_time_zone(shared, below(user, 2) ? "Europe/Berlin" : "UTC", &reason) ==
                    TESSERA_OK,
                "%s", reason.text);
        break;
    default:
        snprintf(sql, sizeof sql, "INSERT INTO events SELECT d * %u, 'w%u' FROM (VALUES (1), (-1)) t (d)",
                 below(user, 1000) + 1, below(user, 50));
        change_by(user, sql);
    }
    atomic_fetch_add(&changes, 1);
}

static void *change_often(void *context)
{
    struct user *const user = context;
    while (!atomic_load(&over) && !user->wrong[0]) {
        change(user);
        nanosleep(&(struct timespec){.tv_nsec = (long)below(user, 20000000)}, NULL);
    }
    return NULL;
}

/* ---- All of them ---- */

/* Nobody else has a database open: the library's threads end, and begin, again and again. */
static void *open_and_close(void *context)
{
    struct user *const user = context;
    for (unsigned i = 0; !user->wrong[0] && (end > 0 ? clock_seconds() < end : i < OPENS); i++)
        open_ask_close(user);
    return NULL;
}

static void write_files(void)
{
    char name[PATH_BYTES + 16];
    FILE *out[4];
    static const char *const tables[] = {"shops", "sales", "visits", "events"};
    snprintf(folder, sizeof folder, "%.*s", (int)(strlen(path) - strlen("/db")), path);
    for (int t = 0; t < 4; t++) {
        snprintf(name, sizeof name, "%s/%s.csv", folder, tables[t]);
        assert_non_null(out[t] = fopen(name, "w"));
    }
    for (int shop = 0; shop < 50; shop++)
        fprintf(out[0], "%d,town %d,region %d\n", shop, shop % 20, shop % 4);
    for (unsigned row = 0; row < SALES; row++)
        fprintf(out[1], "%u,2024-%02u-%02u,%u,%u.%02u,n%u,%u.5\n", row * 7 % 50, 1 + row % 3,
                1 + row / 3 % 28, row * 13 % 101, row % 90, row % 100, row % 33, row % 17);
    for (int row = 0; row < 200; row++)
        fprintf(out[2], "%d,%d\n", row * 3 % 60, row % 100);
    for (int row = 1; row <= 20; row++)
        fprintf(out[3], "%d,a\n-%d,b\n", row, row);
    for (int t = 0; t < 4; t++)
        fclose(out[t]);
}

static void load_all(void)
{
    static const char *const tables[] = {"shops", "sales", "visits", "events"};
    char names[4][PATH_BYTES + 16];
    const char *files[4];
    struct tessera_error error;
    for (int t = 0; t < 4; t++) {
        snprintf(names[t], sizeof names[t], "%s/%s.csv", folder, tables[t]);
        files[t] = names[t];
    }
    if (tessera_load(path, script, tables, files, 4, TESSERA_LOAD_NEW, NULL, &error) != TESSERA_OK)
        fail_msg("%s", error.text);
}

static struct tessera_database *open_with(unsigned threads, const char *memory, const char *plan_cache)
{
    const struct tessera_options options = {.size = sizeof options,
                                            .device = test_device(),
                                            .threads = threads,
                                            .memory = memory,
                                            .spill = folder,
                                            .plan_cache = plan_cache};
    struct tessera_database *database;
    struct tessera_error error;
    if (tessera_open_with(path, &options, &database, &error) != TESSERA_OK)
        fail_msg("%s", error.text);
    return database;
}

static struct tessera_result *run_alone(struct tessera_database *database, size_t number)
{
    struct tessera_statement *statement;
    struct tessera_result *result;
    struct tessera_error error;
    if (prepare(database, number, &statement, &error) != TESSERA_OK ||
        tessera_run(statement, &result, &error) != TESSERA_OK)
        fail_msg("%s: %s", statements[number], error.text);
    tessera_finalize(statement);
    return result;
}

/* The answers of one thread, and the file that statements read. */
static void ask_alone(void)
{
    struct tessera_database *const alone = open_with(1, NULL, "0");
    struct ArrowArrayStream stream;
    struct tessera_statement *copy;
    struct tessera_result *result;
    struct tessera_error error;
    char sql[PATH_BYTES + 64];
    snprintf(sql, sizeof sql, "COPY sales TO '%s/sales.parquet'", folder);
    if (tessera_prepare(alone, sql, &copy, &error) != TESSERA_OK ||
        tessera_run(copy, &result, &error) != TESSERA_OK)
        fail_msg("%s: %s", sql, error.text);
    tessera_result_free(result);
    tessera_finalize(copy);
    for (size_t s = 0; s < STATEMENTS; s++) {
        snprintf(statements[s], sizeof statements[s], forms[s], folder);
        result = run_alone(alone, s);
        assert_true(tessera_rows(result) > 0);
        expected[s].text = text_of(result);
        assert_int_equal(tessera_result_arrow(result, &stream, &error), TESSERA_OK);
        expected[s].arrow = read_stream(&stream);
        assert_true(expected[s].arrow != 0);
    }
    assert_int_equal(tessera_table_arrow(alone, "sales", &stream, &error), TESSERA_OK);
    sales_arrow = read_stream(&stream);
    tessera_close(alone);
}

static void run_threads(void *(*work)(void *), void *(*last)(void *))
{
    const char *const seconds = getenv("TESSERA_THREADS_SECONDS"), *const seed =
                                                                       getenv("TESSERA_THREADS_SEED");
    const uint64_t first = seed ? strtoull(seed, NULL, 10) : 1;
    struct user users[THREADS + 1];
    pthread_t ids[THREADS + 1];
    end = seconds ? clock_seconds() + atof(seconds) : 0;
    for (unsigned t = 0; t <= THREADS; t++) {
        users[t] = (struct user){.number = t, .random = (first * 64 + t + 1) * UINT64_C(0x9e3779b97f4a7c15)};
        assert_int_equal(pthread_create(&ids[t], NULL, t < THREADS ? work : last, &users[t]), 0);
    }
    for (unsigned t = 0; t <= THREADS; t++) {
        pthread_join(ids[t], NULL);
        if (t + 1 == THREADS)
            atomic_store(&over, true);
    }
    for (unsigned t = 0; t <= THREADS; t++)
        if (users[t].wrong[0])
            fail_msg("%s", users[t].wrong);
}

static void all_at_once(void **state)
{
    (void)state;
    write_files();
    load_all();
    ask_alone();
    shared = open_with(2, NULL, NULL);
    little = open_with(2, "400K", NULL);
    for (unsigned s = 0; s < SHARED; s++)
        pthread_mutex_init(&slots[s].lock, NULL);
    for (unsigned t = 0; t < THREADS; t++)
        pthread_mutex_init(&victims[t].lock, NULL);
    run_threads(use, change_often);
    printf("%llu deeds, %llu runs cancelled, %llu without memory, %llu changes\n", (unsigned long long)deeds,
           (unsigned long long)cancelled, (unsigned long long)without_memory, (unsigned long long)changes);
    for (unsigned s = 0; s < SHARED; s++) {
        tessera_finalize(slots[s].statement);
        if (slots[s].full) /* a stream may outlive the database */
            slots[s].stream.release(&slots[s].stream);
    }
    tessera_close(little);
    tessera_close(shared);
    run_threads(open_and_close, open_and_close);
    must(database_check(path, 1, NULL, NULL, NULL, error));
    for (size_t s = 0; s < STATEMENTS; s++)
        free(expected[s].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(all_at_once, setup, teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
