/*
 * chart.h: a figure of a page (page.h): lines, points or grouped bars over numbers or categories.
 *
 * A chart has up to some twenty series (codecs) of some hundred points. It is drawn as SVG, twice: wide, and
 * narrow for small screens; the page shows the one that fits, and nothing of it is cut. Forty series have a colour each; they differ in the
 * shape of their marks, too, and further ones in dashes.
 */
#ifndef TESSERA_ENGINE_REPORT_CHART_H
#define TESSERA_ENGINE_REPORT_CHART_H

#include "engine/report/keep.h"
#include "storage/base/status.h"

#include <stdio.h>

/* Bars need categories, lines and points may have them: x is then the category's index. */
enum chart_kind { CHART_LINES, CHART_POINTS, CHART_BARS };

/* Log scales leave out numbers that are not positive. Ticks of CHART_LOG2 are powers of two. */
enum chart_scale { CHART_LINEAR, CHART_LOG10, CHART_LOG2 };

struct chart_axis {
    const char *title; /* "runtime"; NULL: none */
    const char *unit;  /* "ms"; NULL: none */
    enum chart_scale scale;

    /* The least range, which the data may extend; both 0: the data decide. A linear y axis begins at 0 unless
     * values are negative. */
    double low, high;
};

/* What a chart is, initialised by name. */
struct chart_form {
    enum chart_kind kind;
    const char *title; /* the caption: what is shown, of what */
    struct chart_axis x, y;
    const char *const *categories; /* of x; NULL: x is numeric */
    uint32_t category_count;
};

/* A point whose x or y is NaN or infinite is missing; a line has a gap there. */
struct chart_point {
    double x, y;
    double low, high; /* an error bar from low to high; no bar unless low < high */
    const char
        *label; /* beside the point where there is room (CHART_POINTS), and in its tooltip; NULL: none */
};

struct chart_series {
    const char *name; /* in the legend */
    uint32_t point_count;
    struct chart_point *points;
};

/* The line y = at + slope * x, with a label. */
struct chart_reference {
    const char *label;
    double at, slope;
};

/* Read it freely; change it by the functions below. */
struct chart {
    struct chart_form form;
    uint32_t series_count;
    struct chart_series *series;
    uint32_t reference_count;
    struct chart_reference *references;
    struct keep keep;
};

/* Makes a chart without series; the form and its texts are copied. Free with chart_destroy. */
NODISCARD enum status chart_create(const struct chart_form *form, struct chart **chart, struct error *error);
void chart_destroy(struct chart *chart); /* NULL is legal */

/* chart_series begins a series, to which chart_point adds the next points. chart_runs adds the point of a repeated
 * measurement: the median, with an error bar over the middle half of the runs, from the first to the third
 * quartile, so that one disturbed run does not hide the others. chart_reference adds a line. Texts
 * are copied. Points before the first series are lost. */
void chart_series(struct chart *chart, const char *name);
void chart_point(struct chart *chart, struct chart_point point);
void chart_runs(struct chart *chart, double x, const double *runs, uint32_t count, const char *label);
void chart_reference(struct chart *chart, const char *label, double at, double slope);

/* Whether it has no point to draw. Ask keep.failed first: one for which memory ran out may have lost its points. */
bool chart_is_empty(const struct chart *chart);

/* Draws the chart as one <svg> element, `width` units wide; text has 13 units. It is well-formed XML, whose
 * classes page.css knows. */
void chart_svg(const struct chart *chart, uint32_t width, FILE *file);

#endif
