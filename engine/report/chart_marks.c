/* chart_marks.c: draws a chart's series and references; see chart_drawing.h. */
#include "engine/report/chart_drawing.h"
#include "engine/report/markup.h"

#include <math.h>

#define SHAPES     8u
#define MARKS_MAX  24u /* a longer line has a mark at some points only */
#define BARS_SHARE 0.8 /* of a category's room; the rest divides it from the next */
#define WHISKER    3.0 /* half the width of an error bar's ends */

/* Colours repeat after COLOURS series; shapes are then one further, so that 64 series differ. */
static uint32_t shape_of(uint32_t series)
{
    return (series + series / COLOURS) % SHAPES;
}

void drawing_series_open(FILE *file, uint32_t series)
{
    fprintf(file, "<g class=\"s%u", (unsigned)(series % COLOURS));
    if (series >= COLOURS)
        fprintf(file, " dash%u", (unsigned)((series / COLOURS - 1) % 3 + 1));
    fputs("\">", file);
}

void drawing_shape(FILE *file, uint32_t series, double x, double y)
{
    const double r = MARK_RADIUS, square = 0.85 * r, corner = 1.2 * r;
    const uint32_t shape = shape_of(series);
    fprintf(file, "<path class=\"%s\" d=\"", shape < 5 ? "mark" : "mark open");
    switch (shape) {
    case 0:
    case 5: /* a circle */
        fprintf(file, "M%.1f %.1fa%.1f %.1f 0 1 0 %.1f 0a%.1f %.1f 0 1 0 %.1f 0z", x - r, y, r, r, 2 * r, r,
                r, -2 * r);
        break;
    case 1:
    case 6: /* a square */
        fprintf(file, "M%.1f %.1fh%.1fv%.1fh%.1fz", x - square, y - square, 2 * square, 2 * square,
                -2 * square);
        break;
    case 2: /* a triangle */
        fprintf(file, "M%.1f %.1fl%.1f %.1fh%.1fz", x, y - corner, corner, 1.8 * corner, -2 * corner);
        break;
    case 3: /* a square on its corner */
        fprintf(file, "M%.1f %.1fl%.1f %.1fl%.1f %.1fl%.1f %.1fz", x, y - corner, corner, corner, -corner,
                corner, -corner, -corner);
        break;
    case 4: /* a triangle on its corner */
        fprintf(file, "M%.1f %.1fl%.1f %.1fh%.1fz", x, y + corner, corner, -1.8 * corner, -2 * corner);
        break;
    default: /* a cross */
        fprintf(file, "M%.1f %.1fl%.1f %.1fm0 %.1fl%.1f %.1f", x - square, y - square, 2 * square, 2 * square,
                -2 * square, -2 * square, 2 * square);
    }
    fputs("\"/>", file);
}

/* ---- Series ---- */

/* What the browser shows when the pointer rests on a mark: "auto, q2.1: 0.186 ms (0.184 to 0.19)". */
static void write_tooltip(const struct drawing *drawing, const struct chart_series *series,
                          const struct chart_point *point)
{
    const struct chart_form *const form = &drawing->chart->form;
    FILE *const file = drawing->file;
    fputs("<title>", file);
    markup_text(file, series->name);
    if (point->label) {
        fputs(", ", file);
        markup_text(file, point->label);
    }
    if (form->categories) {
        fputs(", ", file);
        markup_text(file, form->categories[(uint32_t)point->x]);
    } else {
        fprintf(file, ", %.5g ", point->x);
        markup_text(file, form->x.unit);
    }
    fprintf(file, ": %.4g ", point->y);
    markup_text(file, form->y.unit);
    if (point->low < point->high)
        fprintf(file, " (%.4g to %.4g)", point->low, point->high);
    fputs("</title>", file);
}

static void draw_error(const struct drawing *drawing, const struct chart_point *point, double x, double half)
{
    const struct axis *const axis = &drawing->y;
    if (!(point->low < point->high) || !axis_holds(axis->scale, point->high))
        return;
    const double high = axis_place(axis, point->high),
                 low = axis_holds(axis->scale, point->low) ? axis_place(axis, point->low) : drawing->bottom;
    fprintf(drawing->file, "<path class=\"error\" d=\"M%.1f %.1fh%.1fm%.1f 0V%.1fm%.1f 0h%.1f\"/>", x - half,
            low, 2 * half, -half, high, -half, 2 * half);
}

static void draw_bar(const struct drawing *drawing, uint32_t s, const struct chart_point *point)
{
    const struct chart_series *const series = &drawing->chart->series[s];
    const double room = BARS_SHARE * drawing->slot, width = room / drawing->chart->series_count;
    const double gap = width > 8 ? 1.5 : 0;
    const double base = drawing->y.scale == CHART_LINEAR ? axis_place(&drawing->y, 0) : drawing->bottom;
    double x, y;
    if (!drawing_place(drawing, point, &x, &y))
        return;
    x += s * width - room / 2;
    fprintf(drawing->file, "<rect class=\"bar\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\">", x,
            fmin(y, base), width - gap, fabs(y - base));
    write_tooltip(drawing, series, point);
    fputs("</rect>", drawing->file);
    draw_error(drawing, point, x + (width - gap) / 2, fmin(WHISKER, width / 3));
}

static void draw_line(const struct drawing *drawing, const struct chart_series *series)
{
    bool on = false; /* the point before was drawn */
    double x, y;
    fputs("<path class=\"line\" d=\"", drawing->file);
    for (uint32_t p = 0; p < series->point_count; p++) {
        const bool there = drawing_place(drawing, &series->points[p], &x, &y);
        if (there)
            fprintf(drawing->file, "%c%.1f %.1f", on ? 'L' : 'M', x, y);
        on = there;
    }
    fputs("\"/>", drawing->file);
}

static void draw_points(const struct drawing *drawing, uint32_t s)
{
    const struct chart_series *const series = &drawing->chart->series[s];
    const bool lines = drawing->chart->form.kind == CHART_LINES;
    const uint32_t every = lines ? series->point_count / MARKS_MAX + 1 : 1;
    double x, y;
    for (uint32_t p = 0; p < series->point_count; p++) {
        if (!drawing_place(drawing, &series->points[p], &x, &y))
            continue;
        draw_error(drawing, &series->points[p], x, WHISKER);
        if (p % every && p + 1 < series->point_count)
            continue;
        fputs("<g>", drawing->file);
        write_tooltip(drawing, series, &series->points[p]);
        drawing_shape(drawing->file, s, x, y);
        fputs("</g>", drawing->file);
    }
}

void drawing_marks(const struct drawing *drawing)
{
    const enum chart_kind kind = drawing->chart->form.kind;
    for (uint32_t s = 0; s < drawing->chart->series_count; s++) {
        const struct chart_series *const series = &drawing->chart->series[s];
        drawing_series_open(drawing->file, s);
        if (kind == CHART_LINES)
            draw_line(drawing, series);
        if (kind != CHART_BARS || drawing->slot == 0) /* bars over numbers are points */
            draw_points(drawing, s);
        for (uint32_t p = 0; kind == CHART_BARS && drawing->slot > 0 && p < series->point_count; p++)
            draw_bar(drawing, s, &series->points[p]);
        fputs("</g>\n", drawing->file);
    }
}

/* ---- References ---- */

/* The number at a place between an axis's ends, 0 .. 1. */
static double number_at(const struct axis *axis, double share)
{
    return axis->scale == CHART_LINEAR ? axis->low + share * (axis->high - axis->low)
                                       : axis->low * pow(axis->high / axis->low, share);
}

/* The share of the axis at which a number stands, held to 0 .. 1. */
static double share_at(const struct axis *axis, double number)
{
    if (!axis_holds(axis->scale, number))
        return number > axis->low;
    return fmin(1, fmax(0, (axis_place(axis, number) - axis->from) / (axis->to - axis->from)));
}

/* Gives the places of a sloping line inside the axes; their number is 0 if it does not cross them. */
static int trace(const struct drawing *drawing, const struct chart_reference *reference, struct place *places)
{
    const struct axis *const xs = &drawing->x, *const ys = &drawing->y;
    double begin = share_at(xs, (ys->low - reference->at) / reference->slope);
    double end = share_at(xs, (ys->high - reference->at) / reference->slope);
    int count = 0;
    if (begin > end) {
        const double swap = begin;
        begin = end;
        end = swap;
    }
    for (int i = 0; begin < end && i < CURVE_POINTS; i++) {
        const double x = number_at(xs, begin + (end - begin) * i / (CURVE_POINTS - 1));
        const double y = reference->at + reference->slope * x, share = share_at(ys, y);
        if (axis_holds(ys->scale, y))
            places[count++] = (struct place){axis_place(xs, x), ys->from + share * (ys->to - ys->from)};
    }
    return count;
}

static int trace_level(const struct drawing *drawing, const struct chart_reference *reference,
                       struct place *places)
{
    if (!axis_holds(drawing->y.scale, reference->at))
        return 0;
    const double y = axis_place(&drawing->y, reference->at);
    places[0] = (struct place){drawing->left, y};
    places[1] = (struct place){drawing->right, y};
    return 2;
}

int drawing_trace(const struct drawing *drawing, const struct chart_reference *reference,
                  struct place *places)
{
    return reference->slope == 0 ? trace_level(drawing, reference, places)
           : drawing->slot == 0  ? trace(drawing, reference, places)
                                 : 0;
}

void drawing_references(const struct drawing *drawing)
{
    FILE *const file = drawing->file;
    for (uint32_t r = 0; r < drawing->chart->reference_count; r++) {
        struct place places[CURVE_POINTS];
        const int count = drawing_trace(drawing, &drawing->chart->references[r], places);
        if (count < 2)
            continue;
        fputs("<g><title>", file);
        markup_text(file, drawing->chart->references[r].label);
        fputs("</title><path class=\"reference\" d=\"", file);
        for (int i = 0; i < count; i++)
            fprintf(file, "%c%.1f %.1f", i ? 'L' : 'M', places[i].x, places[i].y);
        fputs("\"/></g>\n", file);
    }
}
