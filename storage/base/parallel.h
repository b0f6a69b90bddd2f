/*
 * parallel.h: work on all cores, progress, and stopping early.
 *
 * One primitive: a counted set of independent items, taken one by one by a team of threads that lives for the
 * call. Items are large (a segment, a column, thousands of tiles), so a team costs nothing that could be
 * noticed.
 */
#ifndef TESSERA_STORAGE_BASE_PARALLEL_H
#define TESSERA_STORAGE_BASE_PARALLEL_H

#include "storage/base/status.h"

#include <stdbool.h>
#include <stdint.h>

#define PARALLEL_THREADS_MAX 1024u

/* Processors this process may run on (its affinity mask, so container limits count); at least 1. */
unsigned parallel_threads_available(void);

/* Called with one item, in any order; `thread` is 0 .. threads-1 and no two calls at once share it. The first
 * error stops the handing out of further items and is the result. */
typedef enum status parallel_item(void *context, uint64_t item, unsigned thread, struct error *error);

/* Runs `work` for items 0 .. items-1 on `threads` threads (0: all available; never more than items). */
NODISCARD enum status parallel_for(unsigned threads, uint64_t items, parallel_item *work, void *context,
                                   struct error *error);

/* Asks all long work to stop at its next step (async-signal-safe), or takes that back. */
void cancel_request(void);
void cancel_reset(void);
bool cancel_requested(void);

/* STATUS_INTERRUPTED with its sentence if stopping was asked for, else STATUS_OK. Called between steps of
 * long work. */
NODISCARD enum status cancel_check(struct error *error);

/* Told how far long work has come, from any thread, at most a few times a millisecond. NULL where progress
 * goes nowhere. `unit` names what is counted ("rows", "bytes"). */
struct progress {
    void (*report)(struct progress *progress, const char *what, const char *unit, uint64_t done,
                   uint64_t total);
    void *context;
    _Atomic uint64_t rows; /* that the work has come to, beside what is counted; 0: nothing to tell */
};

static inline void progress_report(struct progress *progress, const char *what, const char *unit,
                                   uint64_t done, uint64_t total)
{
    if (progress)
        progress->report(progress, what, unit, done, total);
}

#endif
