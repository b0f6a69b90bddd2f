/*
 * parallel.h: work on all cores, progress, and cancelling.
 *
 * There is one primitive: a team of threads takes independent items one by one, and ends with the call. Items
 * are large (a segment, a column, thousands of tiles), so the cost of starting threads is negligible.
 */
#ifndef TESSERA_STORAGE_BASE_PARALLEL_H
#define TESSERA_STORAGE_BASE_PARALLEL_H

#include "storage/base/status.h"

#include <stdbool.h>
#include <stdint.h>

#define PARALLEL_THREADS_MAX 1024u

/* The number of processors that this process may run on, by its affinity mask, which includes a container's
 * limits; at least 1. */
unsigned parallel_threads_available(void);

/* Works on one item; items come in any order. `thread` is 0 .. threads-1, and no two calls at the same time
 * have the same one. After the first error, no further items are started; that error is the result. */
typedef enum status parallel_item(void *context, uint64_t item, unsigned thread, struct error *error);

/* Runs `work` for items 0 .. items-1 on `threads` threads (0: all available; never more than items). */
NODISCARD enum status parallel_for(unsigned threads, uint64_t items, parallel_item *work, void *context,
                                   struct error *error);

/* Request that all long work stops at its next step (async-signal-safe), or take the request back. */
void cancel_request(void);
void cancel_reset(void);
bool cancel_requested(void);

/* STATUS_INTERRUPTED with its sentence if a stop was requested, else STATUS_OK. Long work calls it between
 * its steps. */
NODISCARD enum status cancel_check(struct error *error);

/* Lets the workers of one statement stop each other, and nothing else in the process: between enter and leave on a
 * thread, and on the threads that parallel_for starts meanwhile, cancel_check also fails once the scope is stopped,
 * which any thread may do. Zero-initialised; scopes nest. */
struct cancel_scope {
    _Atomic bool stopped;
    struct cancel_scope *outer;
};
void cancel_scope_enter(struct cancel_scope *scope);
void cancel_scope_leave(struct cancel_scope *scope);
void cancel_scope_stop(struct cancel_scope *scope);

/* Receives the progress of long work, from any thread, at most a few times a millisecond. NULL: nobody wants
 * to know it. `unit` names what is counted ("rows", "bytes"). */
struct progress {
    void (*report)(struct progress *progress, const char *what, const char *unit, uint64_t done,
                   uint64_t total);
    void *context;
    _Atomic uint64_t rows; /* rows done so far, in addition to what is counted; 0: not known */
};

static inline void progress_report(struct progress *progress, const char *what, const char *unit,
                                   uint64_t done, uint64_t total)
{
    if (progress)
        progress->report(progress, what, unit, done, total);
}

#endif
