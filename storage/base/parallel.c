/* parallel.c: see parallel.h. */
#define _GNU_SOURCE
#include "storage/base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

unsigned parallel_threads_available(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    int count = CPU_COUNT(&set);
    return count < 1 ? 1u : (unsigned)count;
}

/* ---- Calls that wait for threads ---- */

#define ID_WORDS (PARALLEL_THREADS_MAX / 64)

/* One call of parallel_for, on its caller's stack. */
struct job {
    parallel_item *work;
    void *context;
    uint64_t items;
    atomic_uint_fast64_t next;   /* item */
    struct execution *execution; /* of the caller */
    struct execution *shown;     /* counts the items that are done; or NULL */
    atomic_bool failed;

    /* Under the pool's lock: */
    struct job *after;           /* in the queue */
    unsigned helpers, most;      /* threads of the pool that are at work here, and may be */
    uint64_t free_ids[ID_WORDS]; /* a bit for each thread number that no helper has */
    pthread_cond_t left;         /* `helpers` became 0 */
    struct error error;          /* the first failure */
};

struct helper {
    pthread_t handle;
    bool alive, idle;
    bool leaves; /* parallel_release waits for its end */
};

static struct pool {
    pthread_mutex_t lock;
    pthread_cond_t work;    /* there is some, or a helper is to leave */
    struct job *first;      /* the queue: who comes next is first */
    atomic_uint jobs;       /* in the queue */
    unsigned helpers, idle; /* without those that leave */
    bool handles_fork;
    struct helper all[PARALLEL_THREADS_MAX];
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER};

static bool job_wants_helper(const struct job *job)
{
    return job->helpers < job->most && !atomic_load(&job->failed) && atomic_load(&job->next) < job->items;
}

static void queue_append(struct job *job)
{
    struct job **end = &pool.first;
    while (*end)
        end = &(*end)->after;
    *end = job;
    job->after = NULL;
    atomic_fetch_add(&pool.jobs, 1);
}

static void queue_remove(struct job *job)
{
    struct job **at = &pool.first;
    while (*at != job)
        at = &(*at)->after;
    *at = job->after;
    atomic_fetch_sub(&pool.jobs, 1);
}

static struct job *next_job(void)
{
    struct job *job = pool.first;
    while (job && !job_wants_helper(job))
        job = job->after;
    return job;
}

/* Each thread that is woken wakes two further ones if there is work for them, so no thread pays for all. */
static void wake_helpers(void)
{
    for (unsigned i = 0; i < 2 && i < pool.idle && next_job(); i++)
        pthread_cond_signal(&pool.work);
}

/* ---- Items ---- */

static void keep_first_error(struct job *job, enum status status, const struct error *error)
{
    pthread_mutex_lock(&pool.lock);
    if (!atomic_exchange(&job->failed, true)) {
        job->error = *error;
        job->error.status = status;
    }
    pthread_mutex_unlock(&pool.lock);
}

/* Does items until there are no more. A helper also leaves if there are other calls: it may be their turn. */
static void do_items(struct job *job, unsigned thread)
{
    while (!atomic_load(&job->failed)) {
        const uint64_t item = atomic_fetch_add(&job->next, 1);
        if (item >= job->items)
            break;
        struct error error = {0};
        const enum status status = job->work(job->context, item, thread, &error);
        if (job->shown)
            atomic_fetch_add_explicit(&job->shown->done, 1, memory_order_relaxed);
        if (status != STATUS_OK)
            keep_first_error(job, status, &error);
        if (thread != 0 && atomic_load(&pool.jobs) > 1)
            break;
    }
}

/* ---- The threads of the pool ---- */

static unsigned take_id(struct job *job)
{
    unsigned word = 0;
    while (!job->free_ids[word])
        word++;
    const unsigned bit = (unsigned)__builtin_ctzll(job->free_ids[word]);
    job->free_ids[word] &= ~(UINT64_C(1) << bit);
    return word * 64 + bit;
}

/* Works for a job, which becomes the last of the queue. The caller has the lock. */
static void help(struct job *job)
{
    const unsigned thread = take_id(job);
    job->helpers++;
    queue_remove(job);
    queue_append(job);
    wake_helpers();
    pthread_mutex_unlock(&pool.lock);
    execution_switch(job->execution);
    do_items(job, thread);
    execution_switch(NULL);
    pthread_mutex_lock(&pool.lock);
    job->free_ids[thread / 64] |= UINT64_C(1) << thread % 64;
    if (--job->helpers == 0)
        pthread_cond_signal(&job->left);
}

static void *helper_run(void *argument)
{
    struct helper *const self = argument;
    pthread_mutex_lock(&pool.lock);
    while (!self->leaves) {
        struct job *const job = next_job();
        if (!job) {
            pthread_cond_wait(&pool.work, &pool.lock);
            continue;
        }
        self->idle = false;
        pool.idle--;
        help(job);
        self->idle = true;
        pool.idle++;
    }
    pthread_mutex_unlock(&pool.lock);
    return NULL;
}

static void before_fork(void)
{
    pthread_mutex_lock(&pool.lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&pool.lock);
}

/* The child has the forking thread alone. */
static void after_fork_in_child(void)
{
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.work, NULL);
    memset(pool.all, 0, sizeof pool.all);
    pool.first = NULL;
    atomic_store(&pool.jobs, 0);
    pool.helpers = pool.idle = 0;
}

static bool start_helper(void)
{
    struct helper *helper = pool.all;
    while (helper < pool.all + PARALLEL_THREADS_MAX && helper->alive)
        helper++;
    if (helper == pool.all + PARALLEL_THREADS_MAX ||
        pthread_create(&helper->handle, NULL, helper_run, helper) != 0)
        return false;
    helper->alive = helper->idle = true;
    helper->leaves = false;
    pool.helpers++;
    pool.idle++;
    return true;
}

/* Starts threads up to `count`, as far as the system gives them. The signals of the host program are not theirs. */
static void grow_pool(unsigned count)
{
    sigset_t blocked, before;
    if (pool.helpers >= count)
        return;
    if (!pool.handles_fork)
        pool.handles_fork = pthread_atfork(before_fork, after_fork, after_fork_in_child) == 0;
    if (!pool.handles_fork)
        return;
    sigfillset(&blocked);
    const int own_faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    for (size_t i = 0; i < sizeof own_faults / sizeof *own_faults; i++)
        sigdelset(&blocked, own_faults[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    while (pool.helpers < count && start_helper())
        ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* A thread at work is left alone: at the end of the process nobody waits for it. */
__attribute__((destructor)) void parallel_release(void)
{
    bool mine[PARALLEL_THREADS_MAX] = {false};
    pthread_mutex_lock(&pool.lock);
    for (unsigned i = 0; i < PARALLEL_THREADS_MAX; i++) {
        struct helper *const helper = &pool.all[i];
        mine[i] = helper->alive && helper->idle && !helper->leaves;
        helper->leaves |= mine[i];
        pool.helpers -= mine[i];
        pool.idle -= mine[i];
    }
    pthread_cond_broadcast(&pool.work);
    pthread_mutex_unlock(&pool.lock);
    for (unsigned i = 0; i < PARALLEL_THREADS_MAX; i++) {
        if (!mine[i])
            continue;
        pthread_join(pool.all[i].handle, NULL);
        pthread_mutex_lock(&pool.lock);
        pool.all[i].alive = false;
        pthread_mutex_unlock(&pool.lock);
    }
}

/* ---- Calls ---- */

/* The outermost execution, if no loop in it shows how far it is: loops in items of another one do not. */
static struct execution *show(uint64_t items)
{
    struct execution *const outermost = execution_outermost();
    uint64_t none = 0;
    return outermost && items && atomic_compare_exchange_strong(&outermost->items, &none, items) ? outermost
                                                                                                 : NULL;
}

static void hide(struct execution *shown)
{
    if (!shown)
        return;
    atomic_store(&shown->done, 0);
    atomic_store(&shown->items, 0);
}

static void do_with_helpers(struct job *job, unsigned threads)
{
    job->most = threads - 1;
    for (unsigned id = 1; id < threads; id++)
        job->free_ids[id / 64] |= UINT64_C(1) << id % 64;
    pthread_cond_init(&job->left, NULL);
    pthread_mutex_lock(&pool.lock);
    grow_pool(job->most);
    queue_append(job);
    wake_helpers();
    pthread_mutex_unlock(&pool.lock);
    do_items(job, 0);
    pthread_mutex_lock(&pool.lock);
    queue_remove(job);
    while (job->helpers)
        pthread_cond_wait(&job->left, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
    pthread_cond_destroy(&job->left);
}

enum status parallel_for(unsigned threads, uint64_t items, parallel_item *work, void *context,
                         struct error *error)
{
    if (threads == 0)
        threads = parallel_threads_available();
    if (threads > PARALLEL_THREADS_MAX)
        threads = PARALLEL_THREADS_MAX;
    if (threads > items)
        threads = (unsigned)items;
    struct job job = {.work = work,
                      .context = context,
                      .items = items,
                      .execution = execution_current(),
                      .shown = show(items)};
    if (threads > 1)
        do_with_helpers(&job, threads);
    else
        do_items(&job, 0);
    hide(job.shown);
    if (!atomic_load(&job.failed))
        return STATUS_OK;
    if (error)
        *error = job.error;
    return job.error.status;
}
