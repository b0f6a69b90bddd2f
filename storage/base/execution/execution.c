/* execution.c: see execution.h. */
#include "storage/base/execution/execution.h"

#include "storage/base/execution/spillable.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

_Static_assert(ATOMIC_BOOL_LOCK_FREE == 2, "a signal handler cannot wait for locks");

static _Thread_local struct execution *current;

void execution_enter(struct execution *execution)
{
    execution->before = execution_switch(execution);
}

void execution_leave(struct execution *execution)
{
    current = execution->before;
    spill_file_leave(execution->file);
    execution->file = NULL;
    for (struct execution_stream *stream = execution->streams, *next; stream; stream = next) {
        next = stream->next;
        stream->leave(stream);
    }
    execution->streams = NULL;
}

struct execution *execution_current(void)
{
    return current;
}

struct execution *execution_outermost(void)
{
    struct execution *execution = current;
    while (execution && execution->outer)
        execution = execution->outer;
    return execution;
}

struct execution *execution_switch(struct execution *execution)
{
    struct execution *const before = current;
    current = execution;
    return before;
}

struct execution *execution_of_memory(void)
{
    struct execution *execution = current;
    while (execution && !execution->memory)
        execution = execution->outer;
    return execution;
}

struct memory_account *execution_memory(void)
{
    const struct execution *const execution = execution_of_memory();
    return execution ? execution->memory : NULL;
}

/* Of all executions' lists, which are a few entries long. */
static pthread_mutex_t streams_lock = PTHREAD_MUTEX_INITIALIZER;

struct execution_stream *execution_find_stream(const void *device)
{
    const struct execution *const execution = execution_of_memory();
    if (!execution)
        return NULL;
    pthread_mutex_lock(&streams_lock);
    struct execution_stream *stream = execution->streams;
    while (stream && stream->device != device)
        stream = stream->next;
    pthread_mutex_unlock(&streams_lock);
    return stream;
}

void execution_add_stream(struct execution_stream *stream)
{
    struct execution *const execution = execution_of_memory();
    pthread_mutex_lock(&streams_lock);
    stream->next = execution->streams;
    execution->streams = stream;
    pthread_mutex_unlock(&streams_lock);
}

const char *execution_spill(void)
{
    const struct execution *execution = current;
    while (execution && !execution->spill)
        execution = execution->outer;
    if (execution)
        return execution->spill;
    const char *const folder = getenv("TMPDIR");
    return folder && *folder ? folder : "/tmp";
}

bool execution_undivided(void)
{
    const struct execution *execution = current;
    while (execution && !execution->undivided)
        execution = execution->outer;
    return execution != NULL;
}

bool execution_transient(void)
{
    const struct execution *execution = current;
    while (execution && !execution->transient)
        execution = execution->outer;
    return execution != NULL;
}

void execution_stop(struct execution *execution)
{
    atomic_store(&execution->stopped, true);
}

void execution_resume(struct execution *execution)
{
    atomic_store(&execution->stopped, false);
}

bool cancel_requested(void)
{
    for (const struct execution *execution = current; execution; execution = execution->outer)
        if (atomic_load(&execution->stopped))
            return true;
    return false;
}

enum status cancel_check(struct error *error)
{
    if (cancel_requested())
        return error_set(error, STATUS_INTERRUPTED, "interrupted; what was not finished is undone");
    return STATUS_OK;
}
