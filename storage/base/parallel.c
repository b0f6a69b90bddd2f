/* parallel.c: see parallel.h. */
#define _GNU_SOURCE
#include "storage/base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

/* A signal handler sets it on any thread; all threads read it. */
_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "a handler cannot wait for locks");
static atomic_int cancelled;

void cancel_request(void)
{
    atomic_store(&cancelled, 1);
}

void cancel_reset(void)
{
    atomic_store(&cancelled, 0);
}

/* The innermost scope of this thread. */
static _Thread_local struct cancel_scope *scopes;

void cancel_scope_enter(struct cancel_scope *scope)
{
    scope->outer = scopes;
    scopes = scope;
}

void cancel_scope_leave(struct cancel_scope *scope)
{
    scopes = scope->outer;
}

void cancel_scope_stop(struct cancel_scope *scope)
{
    atomic_store(&scope->stopped, true);
}

bool cancel_requested(void)
{
    for (const struct cancel_scope *scope = scopes; scope; scope = scope->outer)
        if (atomic_load(&scope->stopped))
            return true;
    return atomic_load(&cancelled) != 0;
}

enum status cancel_check(struct error *error)
{
    if (cancel_requested())
        return error_set(error, STATUS_INTERRUPTED, "interrupted; what was not finished is undone");
    return STATUS_OK;
}

unsigned parallel_threads_available(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    int count = CPU_COUNT(&set);
    return count < 1 ? 1u : (unsigned)count;
}

struct team {
    parallel_item *work;
    void *context;
    uint64_t items;
    atomic_uint_fast64_t next;
    struct cancel_scope *scopes; /* of the caller */
    atomic_bool failed;
    pthread_mutex_t lock;
    struct error error; /* the first failure, under lock */
};

struct member {
    struct team *team;
    unsigned thread;
};

static void *member_run(void *argument)
{
    struct member *member = argument;
    struct team *team = member->team;
    scopes = team->scopes;
    while (!atomic_load(&team->failed)) {
        uint64_t item = atomic_fetch_add(&team->next, 1);
        if (item >= team->items)
            break;
        struct error error = {0};
        enum status status = team->work(team->context, item, member->thread, &error);
        if (status == STATUS_OK)
            continue;
        pthread_mutex_lock(&team->lock);
        if (!atomic_exchange(&team->failed, true)) {
            team->error = error;
            team->error.status = status;
        }
        pthread_mutex_unlock(&team->lock);
    }
    return NULL;
}

enum status parallel_for(unsigned threads, uint64_t items, parallel_item *work, void *context,
                         struct error *error)
{
    if (threads == 0)
        threads = parallel_threads_available();
    if (threads > PARALLEL_THREADS_MAX)
        threads = PARALLEL_THREADS_MAX;
    if (threads > items)
        threads = items ? (unsigned)items : 1u;
    struct team team = {.work = work,
                        .context = context,
                        .items = items,
                        .scopes = scopes,
                        .lock = PTHREAD_MUTEX_INITIALIZER};
    struct member *members = calloc(threads, sizeof *members);
    pthread_t *handles = calloc(threads, sizeof *handles);
    if (!members || !handles) {
        free(members);
        free(handles);
        return error_out_of_memory(error, threads * sizeof *members, "a team of threads");
    }
    unsigned started = 1; /* the caller is thread 0; if a thread cannot be started, the others do its work */
    for (unsigned i = 0; i < threads; i++)
        members[i] = (struct member){.team = &team, .thread = i};
    while (started < threads && pthread_create(&handles[started], NULL, member_run, &members[started]) == 0)
        started++;
    member_run(&members[0]);
    for (unsigned i = 1; i < started; i++)
        pthread_join(handles[i], NULL);
    free(members);
    free(handles);
    pthread_mutex_destroy(&team.lock);
    if (!atomic_load(&team.failed))
        return STATUS_OK;
    if (error)
        *error = team.error;
    return team.error.status;
}
