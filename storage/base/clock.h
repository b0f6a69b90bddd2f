/*
 * clock.h: the clock for all durations, the median of durations, and the time of the day.
 */
#ifndef TESSERA_STORAGE_BASE_CLOCK_H
#define TESSERA_STORAGE_BASE_CLOCK_H

#include "storage/base/sort/sort.h"

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

/* Nanoseconds since some moment before the program began; the clock never goes back. A call takes about 25
 * ns. */
static inline double clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}
static inline double clock_ms(void)
{
    return 1e-6 * clock_ns();
}
static inline double clock_seconds(void)
{
    return 1e-9 * clock_ns();
}

/* Microseconds since 1970-01-01 00:00:00 in UTC. */
static inline int64_t clock_moment(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* The median of `count` durations (at least one), which are sorted in place. For an even count it is the mean
 * of the two in the middle. */
static inline double clock_median(double *times, size_t count)
{
    sort_doubles(times, count);
    return (times[(count - 1) / 2] + times[count / 2]) / 2;
}

#endif
