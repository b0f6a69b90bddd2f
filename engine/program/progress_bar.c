/*
 * progress_bar.c: see progress_bar.h.
 *
 * Reports come from many threads, thousands of times a second. A report that finds the line recently drawn
 * or another thread drawing goes away again without waiting.
 */
#include "engine/program/progress_bar.h"
#include "storage/base/clock.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define DRAW_INTERVAL_NS 100000000u
#define BAR_CELLS        30u
#define WHAT_BYTES       96u

static struct {
    pthread_mutex_t lock;
    _Atomic uint64_t next_draw_ns;
    bool drawn;
    char what[WHAT_BYTES]; /* the work that the rate is of */
    uint64_t start_ns;
} bar = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* 3214567 as "3.2 M". */
static void format_count(char *text, size_t bytes, double count)
{
    static const char *const units[] = {"", " k", " M", " G", " T"};
    size_t u = 0;
    for (; count >= 999.5 && u + 1 < sizeof units / sizeof *units; u++)
        count /= 1000;
    snprintf(text, bytes, count < 9.95 && u ? "%.1f%s" : "%.0f%s", count, units[u]);
}

/* "3.2 M rows", "3.2 MB" */
static void format_amount(char *text, size_t bytes, double count, const char *unit)
{
    char number[32];
    format_count(number, sizeof number, count);
    const bool is_bytes = strcmp(unit, "bytes") == 0;
    snprintf(text, bytes, "%s%s%s", number, is_bytes && count >= 999.5 ? "" : " ", is_bytes ? "B" : unit);
}

/* 75 as "1:15", 3700 as "1:01:40". */
static void format_time(char *text, size_t bytes, double seconds)
{
    uint64_t s = seconds < 360000 ? (uint64_t)(seconds + 0.5) : 359999;
    if (s < 3600)
        snprintf(text, bytes, "%" PRIu64 ":%02" PRIu64, s / 60, s % 60);
    else
        snprintf(text, bytes, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, s / 3600, s / 60 % 60, s % 60);
}

void progress_bar_format(char *line, unsigned width, const char *what, const char *unit, uint64_t done,
                         uint64_t total, uint64_t rows, double seconds)
{
    char text[2 * PROGRESS_BAR_WIDTH_MAX], rate[64], left[32], come_to[48] = "";
    char cells[BAR_CELLS + 1] = {0};
    double per_second = seconds > 0 ? (double)done / seconds : 0;
    format_amount(rate, sizeof rate, per_second, unit);
    if (rows) {
        format_count(left, sizeof left, (double)rows);
        snprintf(come_to, sizeof come_to, "   %s rows", left);
    }
    if (done > total && total)
        done = total;
    if (total == 0) { /* how much there is, is not known */
        char count[64];
        format_amount(count, sizeof count, (double)done, unit);
        snprintf(text, sizeof text, "%s  %s%s   %s/s", what, count, come_to, rate);
    } else {
        double part = (double)done / (double)total;
        memset(cells, ' ', BAR_CELLS);
        memset(cells, '=', (size_t)(part * BAR_CELLS));
        int used = snprintf(text, sizeof text, "%s  [%s] %3.0f %%%s   %s/s", what, cells,
                            (double)(unsigned)(part * 100), come_to, rate);
        if (done && used > 0 && (size_t)used < sizeof text) {
            format_time(left, sizeof left, (double)(total - done) / per_second);
            snprintf(text + used, sizeof text - (size_t)used, "   %s left", left);
        }
    }
    if (width > PROGRESS_BAR_WIDTH_MAX)
        width = PROGRESS_BAR_WIDTH_MAX;
    size_t length = strnlen(text, width);
    memcpy(line, text, length);
    line[length] = '\0';
}

static unsigned terminal_width(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1u : 79u;
}

static void clear_locked(void)
{
    if (bar.drawn)
        fputs("\r\033[K", stderr);
    bar.drawn = false;
}

static void report(struct progress *progress, const char *what, const char *unit, uint64_t done,
                   uint64_t total)
{
    uint64_t now = (uint64_t)clock_ns();
    bool finished = total && done >= total;
    if (!finished && now < atomic_load_explicit(&bar.next_draw_ns, memory_order_relaxed))
        return;
    if (pthread_mutex_trylock(&bar.lock) != 0)
        return;
    atomic_store_explicit(&bar.next_draw_ns, now + DRAW_INTERVAL_NS, memory_order_relaxed);
    if (strncmp(bar.what, what, WHAT_BYTES - 1) != 0) {
        snprintf(bar.what, sizeof bar.what, "%s", what);
        bar.start_ns = now;
    }
    if (finished) {
        clear_locked();
        bar.what[0] = '\0'; /* the same work may come again, and begins anew */
        atomic_store_explicit(&bar.next_draw_ns, 0, memory_order_relaxed);
    } else {
        char line[PROGRESS_BAR_WIDTH_MAX + 1];
        progress_bar_format(line, terminal_width(), what, unit, done, total,
                            atomic_load_explicit(&progress->rows, memory_order_relaxed),
                            (double)(now - bar.start_ns) * 1e-9);
        fprintf(stderr, "\r%s\033[K", line);
        bar.drawn = true;
    }
    pthread_mutex_unlock(&bar.lock);
}

struct progress *progress_bar_open(void)
{
    static struct progress progress = {.report = report};
    const char *terminal = getenv("TERM");
    if (!isatty(STDERR_FILENO) || !terminal || strcmp(terminal, "dumb") == 0)
        return NULL;
    return &progress;
}

void progress_bar_clear(struct progress *progress)
{
    if (!progress)
        return;
    pthread_mutex_lock(&bar.lock);
    clear_locked();
    pthread_mutex_unlock(&bar.lock);
}
