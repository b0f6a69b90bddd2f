/*
 * wait.c: shows how far a long statement is (sql_shell.h).
 *
 * A thread wakes ten times a second and tells the bar what the loops over items have done (storage/base/parallel.h). A
 * statement is several loops one after the other, so the bar may begin again; a GPU's work has no loops, and is shown
 * without a share.
 */
#include "engine/program/progress_bar.h"
#include "engine/program/sql_shell.h"

#include <signal.h>
#include <stdatomic.h>
#include <time.h>

/* A statement that ends sooner shows nothing, and the bar's line does not flicker. */
#define FIRST_MS 1000u
#define NEXT_MS  100u

static struct timespec moment_after(unsigned ms)
{
    struct timespec moment;
    clock_gettime(CLOCK_MONOTONIC, &moment);
    moment.tv_sec += ms / 1000;
    moment.tv_nsec += (long)(ms % 1000) * 1000000;
    if (moment.tv_nsec >= 1000000000) {
        moment.tv_sec++;
        moment.tv_nsec -= 1000000000;
    }
    return moment;
}

static void *show(void *argument)
{
    struct sql_wait *const wait = argument;
    unsigned ms = FIRST_MS;
    uint64_t last = 0;
    pthread_mutex_lock(&wait->lock);
    while (!wait->is_over) {
        const struct timespec moment = moment_after(ms);
        ms = NEXT_MS;
        if (pthread_cond_timedwait(&wait->ended, &wait->lock, &moment) == 0 || wait->is_over)
            continue;
        const uint64_t items = atomic_load(&wait->execution->items),
                       done = atomic_load(&wait->execution->done);
        if (done < last) /* another loop, whose time begins now */
            progress_report(wait->progress, "waiting", NULL, 1, 1);
        last = done;
        if (done < items || items == 0)
            progress_report(wait->progress, "running", NULL, done, items);
    }
    pthread_mutex_unlock(&wait->lock);
    return NULL;
}

void sql_wait_begin(struct progress *progress, struct sql_wait *wait)
{
    pthread_condattr_t attributes;
    sigset_t all, before;
    *wait = (struct sql_wait){.progress = progress, .execution = execution_outermost()};
    if (!progress || !wait->execution) {
        wait->progress = NULL;
        return;
    }
    pthread_mutex_init(&wait->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&wait->ended, &attributes);
    pthread_condattr_destroy(&attributes);
    sigfillset(&all); /* signals are for the threads that work */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    if (pthread_create(&wait->thread, NULL, show, wait) != 0)
        wait->progress = NULL;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void sql_wait_end(struct sql_wait *wait)
{
    if (!wait->progress)
        return;
    pthread_mutex_lock(&wait->lock);
    wait->is_over = true;
    pthread_cond_signal(&wait->ended);
    pthread_mutex_unlock(&wait->lock);
    pthread_join(wait->thread, NULL);
    pthread_cond_destroy(&wait->ended);
    pthread_mutex_destroy(&wait->lock);
    progress_report(wait->progress, "running", NULL, 1, 1);
    progress_bar_clear(wait->progress);
}
