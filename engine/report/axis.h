/*
 * axis.h: where a number stands on a chart's axis, and the axis' ticks and their texts.
 */
#ifndef TESSERA_ENGINE_REPORT_AXIS_H
#define TESSERA_ENGINE_REPORT_AXIS_H

#include "engine/report/chart.h"

/* More ticks are never made: an axis is divided by 1, 2 or 5 times a power of ten until they are few enough. */
#define AXIS_TICKS_MAX 64

/* Numbers beyond these are not drawn, so that the ratio of any two is a number, too. */
#define AXIS_LARGEST  1e150
#define AXIS_SMALLEST 1e-150

struct axis_tick {
    double value;
    char label[24]; /* "2.5", "200 M", "10^-7", "2^16"; empty: a small tick */
};

struct axis {
    enum chart_scale scale;
    double low, high; /* low < high */
    double from, to;  /* where these stand */
    uint32_t tick_count;
    struct axis_tick ticks[AXIS_TICKS_MAX];
};

/* Whether a number can be drawn on a scale. */
bool axis_holds(enum chart_scale scale, double number);

/* Makes an axis that holds low .. high, numbers that it can draw, with about `ticks` ticks. `round`: it ends at
 * ticks; else a little beyond the numbers. low > high, or numbers that no axis holds: 0 .. 1 or 1 .. 10. */
void axis_make(struct axis *axis, enum chart_scale scale, double low, double high, uint32_t ticks,
               bool round);

/* The place of a number that the axis can draw. */
double axis_place(const struct axis *axis, double number);

#endif
