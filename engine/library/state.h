/*
 * state.h: the states of a database that one handle of tessera.h has open.
 *
 * A state is the database as it was when it was opened, with devices, which know columns by their addresses, and kept
 * statements. When tables are changed through the handle its state is stale: whoever enters next opens the new one. The old
 * one lives as long as statements and results have it.
 */
#ifndef TESSERA_ENGINE_LIBRARY_STATE_H
#define TESSERA_ENGINE_LIBRARY_STATE_H

#include "engine/library/statement_cache.h"
#include "storage/database/database.h"

#include <pthread.h>

struct library_state {
    struct database *database;
    struct engine *engine;
    struct sql_cache *cache;
    unsigned users; /* with the handle; under its lock */
    bool is_new;    /* there is no database yet; CREATE TABLE makes it */
    bool kept;      /* until the handle is closed */
    struct library_state *next;
};

/* With what states are opened; texts are owned. */
struct library_options {
    char *path, *device, *gpu_memory, *memory, *spill, *plan_cache;
    unsigned threads;
    enum kernel_choice kernel;
};

struct library_states {
    struct library_options options;
    pthread_mutex_t lock;
    struct library_state *now;  /* NULL: none could be opened yet */
    struct library_state *kept; /* superseded ones that stay */
    bool stale;
};

/* Opens the first state. The options' texts are taken over, also after a failure; end with library_states_close in any
 * case. */
NODISCARD enum status library_states_open(struct library_states *states, struct library_options options,
                                          struct error *error);
/* Comes after library_leave of all users. */
void library_states_close(struct library_states *states);

/* What a call does with the state: with one that it reads or changes there must be a database, and one that it changes or creates
 * is the newest, also if somebody else has changed the database meanwhile. */
enum library_use { LIBRARY_SETS, LIBRARY_READS, LIBRARY_CHANGES, LIBRARY_CREATES };

/* Gives the state, opened anew if it is stale, until library_leave. */
NODISCARD enum status library_enter(struct library_states *states, enum library_use use,
                                    struct library_state **state, struct error *error);
void library_leave(struct library_states *states, struct library_state *state); /* NULL is legal */
/* One more user of a state that the caller has entered. */
void library_share(struct library_states *states, struct library_state *state);
/* The state stays until library_states_close. */
void library_keep(struct library_states *states, struct library_state *state);
/* Tables were changed. */
void library_renew(struct library_states *states);

#endif
