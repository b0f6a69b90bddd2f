/* read_ahead.c: see read_ahead.h. */
#define _GNU_SOURCE
#include "storage/base/disk/read_ahead.h"

#include "storage/base/clock.h"
#include "storage/base/file_map.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22 /* of Linux 5.14 */
#endif

/* Each waits for its pages, so their number is the depth of the disk's queue, in steps. Two reach the rate of one virtual
 * disk; solid-state disks of several GB/s have more to do at the same time. */
#define READER_THREADS 4u

/* One of so many steps is tested for pages that are not in memory, and the last. Systems drop files in longer stretches. */
#define TESTED_STEPS 8u

struct read_ahead {
    read_ahead_step *step;
    const void *context;
    uint64_t steps, ahead;
    _Atomic uint64_t reached;
    atomic_bool stop;
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t moved; /* `reached` or `stop` changed */
    uint64_t next;
    unsigned reading;     /* threads that read a step */
    double reading_since; /* while there are any */
    unsigned started;
    pthread_t threads[READER_THREADS];

    const uint8_t *bytes; /* of read_ahead_bytes */
    uint64_t size;
};

/* Microseconds of all readers that have been. */
static _Atomic uint64_t reading_us;

static uintptr_t page_bytes(void)
{
    return (uintptr_t)sysconf(_SC_PAGESIZE);
}

/* ---- Pages ---- */

static void populate(void *result, const void *bytes, uint64_t size)
{
    const struct read_ahead *reader = result;
    const uintptr_t begin = (uintptr_t)bytes & ~(page_bytes() - 1), end = (uintptr_t)bytes + size;
    if (size && !atomic_load(&reader->stop) && madvise((void *)begin, end - begin, MADV_POPULATE_READ) != 0)
        (void)madvise((void *)begin, end - begin, MADV_WILLNEED); /* an older Linux */
}

/* Tests the first page and one of each READ_AHEAD_STEP_BYTES. */
static void find_absent(void *result, const void *bytes, uint64_t size)
{
    bool *const absent = result;
    const uintptr_t page = page_bytes(), end = (uintptr_t)bytes + size;
    for (uintptr_t at = (uintptr_t)bytes; at < end && !*absent; at += READ_AHEAD_STEP_BYTES) {
        unsigned char resident = 1;
        if (mincore((void *)(at & ~(page - 1)), page, &resident) == 0 && !(resident & 1))
            *absent = true;
    }
}

static bool any_absent(uint64_t steps, read_ahead_step *step, const void *context)
{
    bool absent = false;
    for (uint64_t s = 0; s < steps && !absent; s += TESTED_STEPS)
        step(context, s, true, find_absent, &absent);
    if (steps > 1 && !absent)
        step(context, steps - 1, true, find_absent, &absent);
    return absent;
}

/* ---- Threads ---- */

static void *read_steps(void *argument)
{
    struct read_ahead *reader = argument;
    pthread_mutex_lock(&reader->lock);
    for (;;) {
        const uint64_t reached = atomic_load(&reader->reached);
        if (reader->next + reader->ahead <
            reached) /* else the threads of the scan have yet to read those between */
            reader->next = reached;
        if (atomic_load(&reader->stop) || reader->next >= reader->steps)
            break;
        if (reader->next >= reached + reader->ahead) {
            pthread_cond_wait(&reader->moved, &reader->lock);
            continue;
        }
        const uint64_t step = reader->next++;
        if (reader->reading++ == 0)
            reader->reading_since = clock_ms();
        pthread_mutex_unlock(&reader->lock);
        reader->step(reader->context, step, false, populate, reader);
        pthread_mutex_lock(&reader->lock);
        if (--reader->reading == 0)
            atomic_fetch_add(&reading_us, (uint64_t)(1e3 * (clock_ms() - reader->reading_since)));
    }
    pthread_mutex_unlock(&reader->lock);
    return NULL;
}

/* Starts the threads, or frees the reader. */
static struct read_ahead *start(struct read_ahead *reader)
{
    pthread_mutex_init(&reader->lock, NULL);
    pthread_cond_init(&reader->moved, NULL);
    while (reader->started < READER_THREADS && reader->started < reader->steps &&
           pthread_create(&reader->threads[reader->started], NULL, read_steps, reader) == 0)
        reader->started++;
    if (reader->started)
        return reader;
    read_ahead_stop(reader);
    return NULL;
}

struct read_ahead *read_ahead_start(uint64_t steps, uint64_t ahead, read_ahead_step *step,
                                    const void *context)
{
    struct read_ahead *const reader = any_absent(steps, step, context) ? calloc(1, sizeof *reader) : NULL;
    if (!reader)
        return NULL;
    reader->step = step;
    reader->context = context;
    reader->steps = steps;
    reader->ahead = ahead;
    return start(reader);
}

static void visit_bytes(const void *context, uint64_t step, bool few, read_ahead_visit *visit, void *result)
{
    (void)few; /* it is one part */
    const struct read_ahead *reader = context;
    const uint64_t at = step * READ_AHEAD_STEP_BYTES, left = reader->size - at;
    visit(result, reader->bytes + at, left < READ_AHEAD_STEP_BYTES ? left : READ_AHEAD_STEP_BYTES);
}

/* False for a file that the user could not write: mincore then says that all is in memory. */
static bool can_tell(const void *bytes)
{
    const char *path = file_map_path(bytes);
    return !path || faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0;
}

struct read_ahead *read_ahead_bytes(const void *bytes, uint64_t size, uint64_t ahead)
{
    const struct read_ahead wish = {.step = visit_bytes,
                                    .bytes = bytes,
                                    .size = size,
                                    .steps = (size + READ_AHEAD_STEP_BYTES - 1) / READ_AHEAD_STEP_BYTES,
                                    .ahead = ahead / READ_AHEAD_STEP_BYTES + 1};
    struct read_ahead *const reader = size && (!can_tell(bytes) || any_absent(wish.steps, visit_bytes, &wish))
                                          ? malloc(sizeof *reader)
                                          : NULL;
    if (!reader)
        return NULL;
    *reader = wish;
    reader->context = reader;
    return start(reader);
}

void read_ahead_reach(struct read_ahead *reader, uint64_t step)
{
    if (!reader)
        return;
    uint64_t reached = atomic_load(&reader->reached);
    while (reached < step && !atomic_compare_exchange_weak(&reader->reached, &reached, step)) {
    }
    if (reached >= step)
        return;
    pthread_mutex_lock(&reader->lock); /* a thread that is about to wait would miss the signal */
    pthread_cond_broadcast(&reader->moved);
    pthread_mutex_unlock(&reader->lock);
}

void read_ahead_reach_byte(struct read_ahead *reader, uint64_t offset)
{
    read_ahead_reach(reader, offset / READ_AHEAD_STEP_BYTES);
}

void read_ahead_stop(struct read_ahead *reader)
{
    if (!reader)
        return;
    pthread_mutex_lock(&reader->lock);
    atomic_store(&reader->stop, true);
    pthread_cond_broadcast(&reader->moved);
    pthread_mutex_unlock(&reader->lock);
    for (unsigned i = 0; i < reader->started; i++)
        pthread_join(reader->threads[i], NULL);
    pthread_cond_destroy(&reader->moved);
    pthread_mutex_destroy(&reader->lock);
    free(reader);
}

double read_ahead_ms(void)
{
    return 1e-3 * (double)atomic_load(&reading_us);
}
