/* chart_drawing.h: the state of a chart that is being drawn: chart_svg.c lays it out and draws the axes,
 * chart_marks.c the series and references, chart_labels.c the texts beside points. */
#ifndef TESSERA_ENGINE_REPORT_CHART_DRAWING_H
#define TESSERA_ENGINE_REPORT_CHART_DRAWING_H

#include "engine/report/axis.h"

#define COLOURS      40u /* page.css has them; the next series has the first one's and a dash */
#define MARK_RADIUS  4.2
#define CURVE_POINTS 33 /* of a reference that is not straight */

/* The heights of texts, as page.css has them: of legends and titles, ticks, notes at references, labels at points. */
#define TEXT_SIZE  13.0
#define TICK_SIZE  12.0
#define NOTE_SIZE  12.0
#define LABEL_SIZE 11.0

struct place {
    double x, y;
};

struct drawing {
    const struct chart *chart;
    FILE *file;
    double view;                     /* the width asked for */
    double width, height;            /* a category of very many bars makes it wider */
    double left, right, top, bottom; /* the axes' rectangle; top < bottom */
    struct axis x, y;                /* x is not used with categories */
    double slot;                     /* the width of a category; 0: x is numeric */
    uint32_t first, end; /* the categories that are drawn: of many bars some in each of several panels */
    double label_drop;   /* the height of the categories' texts; slanted if more than a line */
};

/* The place of x; false: it cannot be drawn. */
bool drawing_place_x(const struct drawing *drawing, double x, double *place);
/* The place of a point; false: it is missing. */
bool drawing_place(const struct drawing *drawing, const struct chart_point *point, double *x, double *y);

void drawing_marks(const struct drawing *drawing);
void drawing_references(const struct drawing *drawing);
void drawing_labels(const struct drawing *drawing);

/* Gives the places of a reference from left to right, at most CURVE_POINTS; fewer than 2: it does not cross the axes'
 * rectangle. */
int drawing_trace(const struct drawing *drawing, const struct chart_reference *reference,
                  struct place *places);

/* Draws the shape that marks the points of a series. */
void drawing_shape(FILE *file, uint32_t series, double x, double y);

/* The classes of a series: "s2", "s2 dash1". */
void drawing_series_open(FILE *file, uint32_t series);

/* About the width of a text, not less than in most fonts; and the text, cut where it has no room. */
double drawing_text_width(const char *text, double size);
void drawing_text(FILE *file, const char *text, double size, double room);

#endif
