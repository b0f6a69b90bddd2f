/* chart_drawing.h: the state of a chart that is being drawn: chart_svg.c lays it out and draws the axes,
 * chart_marks.c the series and references, chart_labels.c the texts beside points. */
#ifndef TESSERA_ENGINE_REPORT_CHART_DRAWING_H
#define TESSERA_ENGINE_REPORT_CHART_DRAWING_H

#include "engine/report/axis.h"

#define CHARACTER_WIDTH 7.5 /* about, of a text of 13 units */
#define COLOURS         8u  /* page_style.c has them; the ninth series has the first one's and a dash */
#define MARK_RADIUS     4.2

struct drawing {
    const struct chart *chart;
    FILE *file;
    double view;                     /* the width asked for */
    double width, height;            /* a chart of many bars is wider */
    double left, right, top, bottom; /* the axes' rectangle; top < bottom */
    struct axis x, y;                /* x is not used with categories */
    double slot;                     /* the width of a category; 0: x is numeric */
    double label_drop;               /* the height of the categories' texts; slanted if more than a line */
};

/* The place of x; false: it cannot be drawn. */
bool drawing_place_x(const struct drawing *drawing, double x, double *place);
/* The place of a point; false: it is missing. */
bool drawing_place(const struct drawing *drawing, const struct chart_point *point, double *x, double *y);

void drawing_marks(const struct drawing *drawing);
void drawing_references(const struct drawing *drawing);
void drawing_labels(const struct drawing *drawing);

/* Draws the shape that marks the points of a series. */
void drawing_shape(FILE *file, uint32_t series, double x, double y);

/* The classes of a series: "s2", "s2 dash1". */
void drawing_series_open(FILE *file, uint32_t series);

/* The characters of a text, not its bytes. */
uint32_t drawing_characters(const char *text);

#endif
