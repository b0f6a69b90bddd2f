/* statement_cache.c: see statement_cache.h. The list is short, so it is searched from end to end; newer uses are behind
 * older ones. */
#include "engine/library/statement_cache.h"

#include "storage/base/bytes_parse.h"
#include "storage/base/sql_token.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define STATEMENTS_MAX 256u
#define IDLE_SHARE     8u  /* of the memory of statements, of which idle ones may have one part */
#define USUAL_SHARE    32u /* the same, if nobody said how much */
#define USUAL_LEAST    (UINT64_C(64) << 20)

struct sql_cache {
    struct engine *engine;
    struct database *database;
    pthread_mutex_t lock; /* of what follows */
    struct sql_statement *idle[STATEMENTS_MAX];
    struct sql_cache_counts counts; /* `statements` is the length of `idle` */
};

enum status sql_cache_open(struct engine *engine, struct database *database, const char *most,
                           struct sql_cache **out, struct error *error)
{
    const uint64_t share = engine_memory(engine)->limit / USUAL_SHARE;
    uint64_t bytes = share > USUAL_LEAST ? share : USUAL_LEAST;
    if (most)
        RETURN_IF_ERROR(bytes_parse(most, "--plan-cache", &bytes, error));
    struct sql_cache *const cache = calloc(1, sizeof *cache);
    if (!cache)
        return error_out_of_memory(error, sizeof *cache, "a cache of statements");
    cache->engine = engine;
    cache->database = database;
    cache->counts.most = engine_cluster(engine) ? 0 : bytes;
    pthread_mutex_init(&cache->lock, NULL);
    *out = cache;
    return STATUS_OK;
}

/* Takes the statement at a place out of the list. The lock is held. */
static struct sql_statement *take_out(struct sql_cache *cache, uint64_t at)
{
    struct sql_statement *const statement = cache->idle[at];
    memmove(cache->idle + at, cache->idle + at + 1,
            (--cache->counts.statements - at) * sizeof(struct sql_statement *));
    cache->counts.bytes -= sql_statement_bytes(statement);
    return statement;
}

/* Frees all idle statements. False: there were none. */
static bool empty(struct sql_cache *cache)
{
    bool any = false;
    for (struct sql_statement *old = NULL;;) {
        pthread_mutex_lock(&cache->lock);
        old = cache->counts.statements ? take_out(cache, 0) : NULL;
        pthread_mutex_unlock(&cache->lock);
        if (!old)
            return any;
        sql_statement_free(old);
        any = true;
    }
}

void sql_cache_close(struct sql_cache *cache)
{
    if (!cache)
        return;
    empty(cache);
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}

/* The bytes up to and including the semicolon that ends the first statement, as sql_parse has them; 0: the text cannot be
 * split, or nothing is in it. */
static size_t find_end(const char *text, size_t length)
{
    struct sql_tokens tokens;
    struct sql_token token;
    struct error none;
    bool any = false;
    sql_tokens_begin(&tokens, text, length);
    for (;;) {
        if (sql_token_next(&tokens, &token, &none) != STATUS_OK)
            return 0;
        const bool semicolon = sql_token_is(&token, ";");
        if (token.kind == TOKEN_END || (semicolon && any))
            return any ? tokens.at : 0;
        any |= !semicolon;
    }
}

/* The statement that was used last with this text, or NULL. */
static struct sql_statement *find(struct sql_cache *cache, const char *text, size_t length, const char *codec,
                                  struct sql_settings settings)
{
    struct sql_statement *found = NULL;
    pthread_mutex_lock(&cache->lock);
    for (uint64_t i = cache->counts.statements; !found && i-- > 0;)
        if (sql_statement_is(cache->idle[i], text, length, codec, settings))
            found = take_out(cache, i);
    if (found)
        cache->counts.found++;
    else
        cache->counts.prepared++;
    pthread_mutex_unlock(&cache->lock);
    return found;
}

enum status sql_cache_take(struct sql_cache *cache, const char *text, size_t length, const char *codec,
                           struct sql_settings settings, struct sql_statement **statement, size_t *used,
                           struct error *error)
{
    const size_t end = cache->counts.most ? find_end(text, length) : 0;
    *statement = end ? find(cache, text, end, codec, settings) : NULL;
    if (*statement) {
        *used = end;
        sql_statement_reuse(*statement);
    } else {
        RETURN_IF_ERROR(
            sql_prepare(cache->engine, cache->database, text, length, codec, statement, used, error));
    }
    if (*statement)
        sql_statement_set(*statement, settings);
    return STATUS_OK;
}

/* Takes the oldest statement out that must leave so that `bytes` more have room, or NULL. The lock is held. */
static struct sql_statement *make_room(struct sql_cache *cache, uint64_t bytes)
{
    const bool full =
        cache->counts.statements == STATEMENTS_MAX || cache->counts.bytes + bytes > cache->counts.most;
    return full && cache->counts.statements ? take_out(cache, 0) : NULL;
}

/* Statements are freed without the lock: a GPU's memory may be waited for. */
void sql_cache_give(struct sql_cache *cache, struct sql_statement *statement)
{
    const uint64_t bytes = statement ? sql_statement_bytes(statement) : 0;
    if (!statement || bytes > cache->counts.most || !sql_statement_is_ready(statement)) {
        sql_statement_free(statement);
        return;
    }
    pthread_mutex_lock(&cache->lock);
    for (struct sql_statement *old; (old = make_room(cache, bytes));) {
        pthread_mutex_unlock(&cache->lock);
        sql_statement_free(old);
        pthread_mutex_lock(&cache->lock);
    }
    cache->idle[cache->counts.statements++] = statement;
    cache->counts.bytes += bytes;
    pthread_mutex_unlock(&cache->lock);
}

enum status sql_cache_run(struct sql_cache *cache, struct sql_statement *statement, struct rowset *rows,
                          struct run_timing *timing, struct error *error)
{
    const struct memory_account *const memory = engine_memory(cache->engine);
    if (memory->used > memory->limit / IDLE_SHARE)
        empty(cache);
    const uint64_t refused = memory->refused;
    enum status status = sql_run(statement, rows, timing, error);
    const bool missed = memory->refused != refused || engine_is_cuda(cache->engine); /* no full disk */
    if (status == STATUS_MACHINE && missed && empty(cache)) {
        rowset_free(rows);
        status = sql_run(statement, rows, timing, error);
    }
    return status;
}

struct sql_cache_counts sql_cache_counts(struct sql_cache *cache)
{
    pthread_mutex_lock(&cache->lock);
    const struct sql_cache_counts counts = cache->counts;
    pthread_mutex_unlock(&cache->lock);
    return counts;
}
