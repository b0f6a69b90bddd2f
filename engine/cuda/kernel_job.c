/* kernel_job.c: see kernel_job.h. */
#define _GNU_SOURCE
#include "engine/cuda/kernel_job.h"

#include "storage/base/memory.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The most kernels that wait. A process that asks more statements of its own than are compiled, 3 to 5 a second, runs the
 * general kernel for the others. */
#define WAITING_MAX 64u

struct kernel_job {
    struct nvrtc_request request;
    char *source, *arch;
    struct kernel_binary binary;
    struct error error;
    bool done, owned;        /* owned: somebody will release it */
    struct kernel_job *next; /* in the queue */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct kernel_job *queue;
static unsigned waiting;
static bool working, registered;
static atomic_bool ending;

static void job_free(struct kernel_job *job)
{
    if (!job)
        return;
    kernel_binary_free(&job->binary);
    free(job->source);
    free(job->arch);
    free(job);
}

static struct kernel_job *take_first(void)
{
    struct kernel_job *const job = queue;
    if (job) {
        queue = job->next;
        waiting--;
    }
    return job;
}

/* The lock is held when it is called and when it returns. */
static void compile(struct kernel_job *job)
{
    struct kernel_binary binary = {0};
    struct error error = {0};
    pthread_mutex_unlock(&lock);
    if (kernel_cache_get(&job->request, &binary, NULL, &error) == STATUS_OK)
        error.status = STATUS_OK;
    pthread_mutex_lock(&lock);
    job->binary = binary;
    job->error = error;
    job->done = true;
    if (!job->owned)
        job_free(job);
    pthread_cond_broadcast(&changed);
}

static void *work(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    for (struct kernel_job *job; !atomic_load(&ending) && (job = take_first()) != NULL;)
        compile(job);
    working = false;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* Before NVRTC's own memory is freed, which a compilation must not meet. */
static void end(void *unused)
{
    (void)unused;
    atomic_store(&ending, true);
    pthread_mutex_lock(&lock);
    while (working)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

/* NVRTC registers destructors of its tables while it compiles, that is after us, so that atexit would call them first. What
 * exit() calls before all of them are the destructors of its thread's variables. The thread that loads the library is
 * nearly always the one that ends the program; for others there is atexit. */
extern int __cxa_thread_atexit_impl(void (*function)(void *), void *argument, void *library);
extern void *__dso_handle;

static void end_at_exit(void)
{
    end(NULL);
}

__attribute__((constructor)) static void watch_the_end(void)
{
    if (getpid() == gettid())
        __cxa_thread_atexit_impl(end, NULL, &__dso_handle);
}

/* Starts the thread, without the signals that are the program's. The lock is held. */
static bool start_thread(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all, before;
    if (working)
        return true;
    if (!registered && atexit(end_at_exit) != 0)
        return false;
    registered = true;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    working = pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0 &&
              pthread_create(&thread, &attributes, work, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return working;
}

static void enqueue(struct kernel_job *job)
{
    struct kernel_job **last = &queue;
    while (*last)
        last = &(*last)->next;
    *last = job;
    waiting++;
}

enum status kernel_job_start(const struct nvrtc_request *request, struct kernel_job **out,
                             struct error *error)
{
    struct kernel_job *job;
    int major, minor;
    *out = NULL;
    RETURN_IF_ERROR(nvrtc_version(&major, &minor, error)); /* so that its end comes after ours */
    RETURN_IF_ERROR(memory_zeros(&job, sizeof *job, "a kernel", error));
    job->request = *request;
    job->request.source = job->source = strdup(request->source);
    job->request.arch = job->arch = strdup(request->arch);
    job->request.cancel = &ending;
    job->owned = true;
    if (!job->source || !job->arch) {
        job_free(job);
        return error_out_of_memory(error, strlen(request->source), "a kernel");
    }
    pthread_mutex_lock(&lock);
    const bool taken = !atomic_load(&ending) && waiting < WAITING_MAX && start_thread();
    if (taken)
        enqueue(job);
    pthread_mutex_unlock(&lock);
    if (taken)
        *out = job;
    else
        job_free(job);
    return STATUS_OK;
}

bool kernel_job_done(const struct kernel_job *job)
{
    pthread_mutex_lock(&lock);
    const bool done = job->done;
    pthread_mutex_unlock(&lock);
    return done;
}

enum status kernel_job_take(struct kernel_job *job, struct kernel_binary *binary, struct error *error)
{
    pthread_mutex_lock(&lock);
    while (!job->done)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    *binary = job->binary;
    job->binary = (struct kernel_binary){0};
    if (job->error.status != STATUS_OK && error)
        *error = job->error;
    return job->error.status;
}

void kernel_job_release(struct kernel_job *job)
{
    if (!job)
        return;
    pthread_mutex_lock(&lock);
    job->owned = false;
    if (job->done)
        job_free(job);
    pthread_mutex_unlock(&lock);
}
