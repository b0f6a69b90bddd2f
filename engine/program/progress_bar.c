/*
 * progress_bar.c: see progress_bar.h.
 *
 * Reports come from many threads, thousands of times a second. If the line was drawn recently, or another
 * thread is drawing, a report returns without waiting.
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
#define CELLS_MAX        30u
#define CELLS_MIN        8u  /* a shorter bar would say less than the figures in its place */
#define ESTIMATE_SECONDS 0.5 /* no remaining time is shown before that */
#define WHAT_BYTES       96u

static struct {
    pthread_mutex_t lock;
    _Atomic uint64_t next_draw_ns;
    bool drawn;
    char what[WHAT_BYTES]; /* the work whose rate is shown */
    uint64_t start_ns;
} bar = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Writes 3214567 as "3.2 M". */
static void format_count(char *text, size_t bytes, double count)
{
    static const char *const units[] = {"", " k", " M", " G", " T"};
    size_t u = 0;
    for (; count >= 999.5 && u + 1 < sizeof units / sizeof *units; u++)
        count /= 1000;
    snprintf(text, bytes, count < 9.95 && u ? "%.1f%s" : "%.0f%s", count, units[u]);
}

/* Writes "3.2 M rows" or "3.2 MB". */
static void format_amount(char *text, size_t bytes, double count, const char *unit)
{
    char number[32];
    format_count(number, sizeof number, count);
    const bool is_bytes = strcmp(unit, "bytes") == 0;
    snprintf(text, bytes, "%s%s%s", number, is_bytes && count >= 999.5 ? "" : " ", is_bytes ? "B" : unit);
}

/* Writes 75 as "1:15", 3700 as "1:01:40". */
static void format_time(char *text, size_t bytes, double seconds)
{
    uint64_t s = seconds < 360000 ? (uint64_t)(seconds + 0.5) : 359999;
    if (s < 3600)
        snprintf(text, bytes, "%" PRIu64 ":%02" PRIu64, s / 60, s % 60);
    else
        snprintf(text, bytes, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, s / 3600, s / 60 % 60, s % 60);
}

/* The parts of a line. If there is no room, parts are left out, `rows` first. */
struct parts {
    const char *what;
    double share; /* done, 0..1 */
    char done[96], rows[96], rate[96], left[96];
};

/* Writes the line with a bar of `cells` cells (0: no bar), cut to `bytes`; returns its uncut length. */
static unsigned put_together(char *line, size_t bytes, const struct parts *parts, unsigned cells)
{
    char bar_text[CELLS_MAX + 4] = "";
    if (cells) {
        memset(bar_text, ' ', cells + 3);
        bar_text[0] = '[';
        memset(bar_text + 1, '=', (size_t)(parts->share * cells));
        bar_text[cells + 1] = ']';
        bar_text[cells + 2] = '\0';
    }
    return (unsigned)snprintf(line, bytes, "%s%s%s%s%s%s%s", parts->what, cells ? "  " : "", bar_text,
                              parts->done, parts->rows, parts->rate, parts->left);
}

void progress_bar_format(char *line, unsigned width, const char *what, const char *unit, uint64_t done,
                         uint64_t total, uint64_t rows, double seconds)
{
    struct parts parts = {.what = what};
    const bool known = done && seconds >= ESTIMATE_SECONDS;
    char number[64];
    done = total && done > total ? total : done;
    width = width < PROGRESS_BAR_WIDTH_MAX ? width : PROGRESS_BAR_WIDTH_MAX;
    parts.share = total ? (double)done / (double)total : 0;
    if (unit)
        format_amount(number, sizeof number, (double)done, unit);
    if (total)
        snprintf(parts.done, sizeof parts.done, " %3u %%", (unsigned)(parts.share * 100));
    else if (done && unit) /* the total is not known */
        snprintf(parts.done, sizeof parts.done, "  %s", number);
    format_count(number, sizeof number, (double)rows);
    if (rows)
        snprintf(parts.rows, sizeof parts.rows, "   %s rows", number);
    if (known) {
        if (unit) {
            format_amount(number, sizeof number, (double)done / seconds, unit);
            snprintf(parts.rate, sizeof parts.rate, "   %s/s", number);
        }
        format_time(number, sizeof number, seconds / (double)done * (double)(total - done));
    }
    if (total)
        snprintf(parts.left, sizeof parts.left, "   %s left", known ? number : "--:--");
    char *const lesser[] = {parts.rows, parts.rate, parts.left};
    for (size_t i = 0; i < 3 && put_together(line, 0, &parts, total && i < 2 ? CELLS_MIN : 0) > width; i++)
        lesser[i][0] = '\0';
    const unsigned bare = put_together(line, 0, &parts, 0) + 4, room = width > bare ? width - bare : 0;
    const unsigned cells = !total || room < CELLS_MIN ? 0 : room < CELLS_MAX ? room : CELLS_MAX;
    put_together(line, width + (size_t)1, &parts, cells);
}

/* The terminal's width minus one, because a cursor after the last column may move to the next line. */
static unsigned terminal_width(void)
{
    struct winsize size;
    const char *const columns = getenv("COLUMNS");
    int width = columns ? atoi(columns) : 0;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        width = size.ws_col;
    return width > 1 ? (unsigned)width - 1 : 79;
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
    const bool finished = total && done >= total, at_once = finished || done == 0;
    if (!at_once && now < atomic_load_explicit(&bar.next_draw_ns, memory_order_relaxed))
        return;
    if (at_once)
        pthread_mutex_lock(&bar.lock);
    else if (pthread_mutex_trylock(&bar.lock) != 0)
        return;
    atomic_store_explicit(&bar.next_draw_ns, now + DRAW_INTERVAL_NS, memory_order_relaxed);
    if (strncmp(bar.what, what, WHAT_BYTES - 1) != 0) {
        snprintf(bar.what, sizeof bar.what, "%s", what);
        bar.start_ns = now;
    }
    if (finished) {
        clear_locked();
        bar.what[0] = '\0'; /* the same work may begin again */
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
