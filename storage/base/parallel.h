/*
 * parallel.h: work on all cores, and its progress.
 *
 * There is one primitive: threads take independent items of a call one by one. The calling thread is one of them; the
 * others are of one pool, which all calls of the process share. So two statements at once on N processors have N + 1
 * threads, not 2 N. A pool's thread that has done an item takes the next one of the call that has waited longest. An item
 * is a morsel: it takes 0.1 to 100 ms (thousands of tiles, a column, a segment), because a statement may wait for the item
 * of another one.
 *
 * The pool grows to the most threads that a call asked for, less its caller, and keeps them: waking them costs some
 * microseconds. They take no signals but those of their own faults. A child after fork() has a pool without threads.
 * Where threads cannot be started, those that there are do the work; the calling thread is always there, so calls may
 * be nested.
 */
#ifndef TESSERA_STORAGE_BASE_PARALLEL_H
#define TESSERA_STORAGE_BASE_PARALLEL_H

#include "storage/base/execution/execution.h"

#include <stdbool.h>
#include <stdint.h>

#define PARALLEL_THREADS_MAX 1024u

/* The number of processors that this process may run on, by its affinity mask, which includes a container's
 * limits; at least 1. */
unsigned parallel_threads_available(void);

/* Works on one item. Items are started in their order, so an item may wait for one before it, but not for one after it.
 * `thread` is 0 .. threads-1, and no two calls at the same time have the same one. After the first error, no further
 * items are started; that error is the result. */
typedef enum status parallel_item(void *context, uint64_t item, unsigned thread, struct error *error);

/* Runs `work` in the caller's execution (execution.h) for items 0 .. items-1 on at most `threads` threads (0: all available; never more than items). Any number
 * of threads may call it at once. */
NODISCARD enum status parallel_for(unsigned threads, uint64_t items, parallel_item *work, void *context,
                                   struct error *error);

/* Ends the pool's threads that have no work, and waits until they are gone. The next call starts new ones. Happens by
 * itself when the process ends or the library is unloaded. */
void parallel_release(void);

/* Receives the progress of long work, from any thread, at most a few times a millisecond. NULL: nobody wants
 * to know it. `unit` names what is counted ("rows", "bytes"); NULL: only the share that is done is told. */
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
