/* state.c: see state.h. */
#include "engine/library/state.h"

#include <stdlib.h>

static void close_state(struct library_state *state)
{
    sql_cache_close(state->cache);
    engine_close(state->engine);
    database_close(state->database);
    free(state);
}

static enum status open_engine(const struct library_options *options, struct engine **engine,
                               struct error *error)
{
    return engine_open(&(struct engine_options){.device = options->device ? options->device : "auto",
                                                .threads = options->threads,
                                                .gpu_memory = options->gpu_memory,
                                                .memory = options->memory,
                                                .spill = options->spill,
                                                .kernel = options->kernel},
                       engine, error);
}

/* Opens the newest state. The engine is that of `before`, unless that is NULL: it is left without one then. */
static enum status open_state(const struct library_options *options, struct library_state *before,
                              struct library_state **out, struct error *error)
{
    struct library_state *const made = calloc(1, sizeof *made);
    if (!made)
        return error_out_of_memory(error, sizeof *made, "a database");
    made->users = 1;
    const char *const path = options->path ? options->path : "";
    enum status status = *path ? database_is_new(path, &made->is_new, error) : STATUS_OK;
    if (status == STATUS_OK)
        status = *path && !made->is_new ? database_open(path, &made->database, error)
                                        : database_open_none(path, &made->database, error);
    if (status == STATUS_OK && before) {
        sql_cache_close(before->cache);
        before->cache = NULL;
        engine_follow(before->engine, before->database, made->database);
        made->engine = before->engine;
        before->engine = NULL;
    }
    status = AND_THEN(status, before ? STATUS_OK : open_engine(options, &made->engine, error));
    status = AND_THEN(status,
                      sql_cache_open(made->engine, made->database, options->plan_cache, &made->cache, error));
    if (status == STATUS_OK)
        *out = made;
    else
        close_state(made);
    return status;
}

enum status library_states_open(struct library_states *states, struct library_options options,
                                struct error *error)
{
    *states = (struct library_states){.options = options};
    pthread_mutex_init(&states->lock, NULL);
    return open_state(&states->options, NULL, &states->now, error);
}

void library_states_close(struct library_states *states)
{
    struct library_options *const options = &states->options;
    for (struct library_state *kept = states->kept, *next; kept; kept = next) {
        next = kept->next;
        close_state(kept);
    }
    if (states->now)
        close_state(states->now);
    pthread_mutex_destroy(&states->lock);
    free(options->path);
    free(options->device);
    free(options->gpu_memory);
    free(options->memory);
    free(options->spill);
    free(options->plan_cache);
}

/* Ends one use; the lock is held. A superseded state without users goes, unless it is kept. */
static void end_use(struct library_states *states, struct library_state *state)
{
    if (--state->users)
        return;
    if (state->kept) {
        state->next = states->kept;
        states->kept = state;
    } else {
        close_state(state);
    }
}

/* A state that nobody has gives its engine to the new one. */
static enum status renew(struct library_states *states, struct error *error)
{
    struct library_state *const before = states->now;
    const bool idle = before && before->users == 1 && !before->kept;
    states->now = NULL;
    const enum status status = open_state(&states->options, idle ? before : NULL, &states->now, error);
    if (before)
        end_use(states, before);
    states->stale &= status != STATUS_OK;
    return status;
}

enum status library_enter(struct library_states *states, enum library_use use, struct library_state **state,
                          struct error *error)
{
    enum status status = STATUS_OK;
    *state = NULL;
    pthread_mutex_lock(&states->lock);
    const bool newest = use >= LIBRARY_CHANGES || (states->now && states->now->is_new);
    if (!states->now || states->stale || (newest && !database_is_current(states->now->database)))
        status = renew(states, error);
    if (status == STATUS_OK && states->now->is_new && (use == LIBRARY_READS || use == LIBRARY_CHANGES))
        status =
            error_set(error, STATUS_BAD_INPUT,
                      "there is no database %s yet; CREATE TABLE, or a load, makes it", states->options.path);
    if (status == STATUS_OK) {
        *state = states->now;
        states->now->users++;
    }
    pthread_mutex_unlock(&states->lock);
    return status;
}

void library_leave(struct library_states *states, struct library_state *state)
{
    if (!state)
        return;
    pthread_mutex_lock(&states->lock);
    end_use(states, state);
    pthread_mutex_unlock(&states->lock);
}

void library_share(struct library_states *states, struct library_state *state)
{
    pthread_mutex_lock(&states->lock);
    state->users++;
    pthread_mutex_unlock(&states->lock);
}

void library_keep(struct library_states *states, struct library_state *state)
{
    pthread_mutex_lock(&states->lock);
    state->kept = true;
    pthread_mutex_unlock(&states->lock);
}

void library_renew(struct library_states *states)
{
    pthread_mutex_lock(&states->lock);
    states->stale = true;
    pthread_mutex_unlock(&states->lock);
}
