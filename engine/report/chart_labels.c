/*
 * chart_labels.c: texts beside points and along references; see chart_drawing.h.
 *
 * A reference's label stands along it, above or below, as far right as it covers no point, or as few as can be; where it
 * would cover another text or leave the axes' rectangle, it is left out, and the line's tooltip has it. A point's label stands right,
 * left, above, below or at a corner of it, at the first place where it covers no point, no reference and no other label;
 * if there is none, where it covers at most a reference; else it is left out, and the tooltip still has it. They are some
 * tens, so all pairs are looked at.
 */
#include "engine/report/chart_drawing.h"
#include "engine/report/markup.h"

#include <math.h>
#include <stdlib.h>

#define LABEL_HEIGHT (LABEL_SIZE + 2)
#define LABEL_ROOM   20.0 /* of a chart's width for each; more labels would hide the points */
#define SIDES        8

#define NOTE_ENDS  9   /* the places along a reference that are tried, on both sides of it */
#define NOTE_STEP  6.0 /* a text along a reference is a row of squares, this far from each other */
#define NOTE_HALF  8.0 /* half of such a square */
#define NOTE_ABOVE 6.0 /* from a reference up to the text's line, and down to it */
#define NOTE_BELOW 14.0

struct box {
    double left, top, right, bottom;
};

/* What texts must not cover: points, then texts, then what lies on references. */
struct cover {
    uint32_t points, hard, count; /* the ends of the three */
    struct box *boxes;
};

static bool overlap(const struct box *a, const struct box *b)
{
    return a->left < b->right && b->left < a->right && a->top < b->bottom && b->top < a->bottom;
}

static bool is_inside(const struct drawing *drawing, const struct box *box)
{
    return box->left >= drawing->left && box->right <= drawing->width && box->top >= drawing->top &&
           box->bottom <= drawing->bottom;
}

static struct box square(double x, double y, double half)
{
    return (struct box){x - half, y - half, x + half, y + half};
}

static uint32_t overlaps(const struct cover *cover, uint32_t count, const struct box *box)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++)
        found += overlap(box, &cover->boxes[i]);
    return found;
}

/* ---- References ---- */

/* A place for a text along a reference: it ends at `end` and is turned by `angle`. */
struct note {
    struct place end;
    double angle, drop; /* radians; from the reference to the text's line */
    double width;
};

/* The place that lies `length` along the path, held to its ends. */
static struct place walk(const struct place *places, int count, double length)
{
    for (int i = 1; i < count; i++) {
        const double x = places[i].x - places[i - 1].x, y = places[i].y - places[i - 1].y, step = hypot(x, y);
        if (length <= step)
            return step > 0 ? (struct place){places[i - 1].x + x * fmax(length, 0) / step,
                                             places[i - 1].y + y * fmax(length, 0) / step}
                            : places[i];
        length -= step;
    }
    return places[count - 1];
}

static double length_of(const struct place *places, int count)
{
    double length = 0;
    for (int i = 1; i < count; i++)
        length += hypot(places[i].x - places[i - 1].x, places[i].y - places[i - 1].y);
    return length;
}

/* The i-th square of a note, from its end; false: it has fewer. */
static bool square_of(const struct note *note, uint32_t i, struct box *box)
{
    const double back = i * NOTE_STEP, middle = note->drop - NOTE_SIZE * 0.3;
    if (back > note->width + NOTE_STEP)
        return false;
    *box = square(note->end.x - back * cos(note->angle) - middle * sin(note->angle),
                  note->end.y - back * sin(note->angle) + middle * cos(note->angle), NOTE_HALF);
    return true;
}

/* How bad a place is: the points it covers; INFINITY if it covers a text, or leaves the axes' rectangle. */
static double badness(const struct drawing *drawing, const struct cover *cover, const struct note *note)
{
    struct box box;
    double bad = 0;
    for (uint32_t i = 0; square_of(note, i, &box); i++) {
        const uint32_t points = overlaps(cover, cover->points, &box);
        if (overlaps(cover, cover->hard, &box) > points || !is_inside(drawing, &box))
            return INFINITY;
        bad += points;
    }
    return bad;
}

/* False: there is none. */
static bool best_note(const struct drawing *drawing, const struct cover *cover, const struct place *places,
                      int count, double width, struct note *best)
{
    const double length = length_of(places, count), free = fmax(0, length - width - 2 * NOTE_HALF);
    double least = INFINITY;
    for (int i = 0; i < 2 * NOTE_ENDS; i++) {
        const double to = length - NOTE_HALF - free * (i / 2) / (NOTE_ENDS - 1);
        const struct place end = walk(places, count, to), begin = walk(places, count, to - width);
        const double angle = atan2(end.y - begin.y, end.x - begin.x);
        const bool below = (i % 2 == 0) == (angle < 0);
        const struct note note = {
            .end = end, .angle = angle, .drop = below ? NOTE_BELOW : -NOTE_ABOVE, .width = width};
        const double bad = badness(drawing, cover, &note);
        if (bad < least) {
            least = bad;
            *best = note;
        }
    }
    return least < INFINITY;
}

static void draw_note(const struct drawing *drawing, const struct chart_reference *reference,
                      struct cover *cover)
{
    struct place places[CURVE_POINTS];
    struct box box;
    const int count = drawing_trace(drawing, reference, places);
    if (count < 2 || !reference->label || !*reference->label)
        return;
    const double width =
        fmin(drawing_text_width(reference->label, NOTE_SIZE), length_of(places, count) - 2 * NOTE_HALF);
    struct note note = {0};
    if (!best_note(drawing, cover, places, count, width, &note))
        return;
    fprintf(
        drawing->file,
        "<text class=\"note end\" x=\"%.1f\" y=\"%.1f\" dy=\"%.1f\" transform=\"rotate(%.1f %.1f %.1f)\">",
        note.end.x, note.end.y, note.drop, note.angle * 180 / 3.14159265358979, note.end.x, note.end.y);
    drawing_text(drawing->file, reference->label, NOTE_SIZE, width);
    fputs("</text>\n", drawing->file);
    for (uint32_t i = 0; square_of(&note, i, &box); i++)
        cover->boxes[cover->count++] = box;
    cover->hard = cover->count;
}

/* The squares of a note, at most. */
static uint32_t note_squares(const struct chart_reference *reference)
{
    return (uint32_t)(drawing_text_width(reference->label, NOTE_SIZE) / NOTE_STEP) + 3;
}

/* Enters the lines, in squares that touch each other. */
static void take_lines(const struct drawing *drawing, struct cover *cover)
{
    struct place places[CURVE_POINTS];
    for (uint32_t r = 0; r < drawing->chart->reference_count; r++) {
        const int count = drawing_trace(drawing, &drawing->chart->references[r], places);
        const double length = count > 1 ? length_of(places, count) : 0;
        for (double at = 0; at < length; at += NOTE_STEP) {
            const struct place place = walk(places, count, at);
            cover->boxes[cover->count++] = square(place.x, place.y, NOTE_STEP / 2);
        }
    }
}

static uint32_t line_squares(const struct drawing *drawing)
{
    return (uint32_t)((drawing->width + drawing->height) / NOTE_STEP) + 2;
}

/* ---- Points ---- */

/* The box of a label of `width` on one of the sides of a place. */
static struct box box_at(double x, double y, double width, int side)
{
    /* What of its size the box is moved from the place, and of its gap: right, left, above, below, and the
     * corners. */
    static const double shifts[SIDES][4] = {{0, -0.5, 1, 0},  {-1, -0.5, -1, 0},  {-0.5, -1, 0, -1},
                                            {-0.5, 0, 0, 1},  {0, -1, 0.7, -0.7}, {-1, -1, -0.7, -0.7},
                                            {0, 0, 0.7, 0.7}, {-1, 0, -0.7, 0.7}};
    const double *const shift = shifts[side], gap = MARK_RADIUS + 2.5;
    const double left = x + shift[0] * width + shift[2] * gap,
                 top = y + shift[1] * LABEL_HEIGHT + shift[3] * gap;
    return (struct box){left, top, left + width, top + LABEL_HEIGHT};
}

static void take_points(const struct drawing *drawing, struct cover *cover)
{
    double x, y;
    for (uint32_t s = 0; s < drawing->chart->series_count; s++)
        for (uint32_t p = 0; p < drawing->chart->series[s].point_count; p++)
            if (drawing_place(drawing, &drawing->chart->series[s].points[p], &x, &y))
                cover->boxes[cover->count++] = square(x, y, MARK_RADIUS);
    cover->points = cover->hard = cover->count;
}

/* Puts a label among the boxes that count, and the box that it pushes away to the end. */
static void take_label(struct cover *cover, const struct box *box)
{
    if (cover->count > cover->hard)
        cover->boxes[cover->count] = cover->boxes[cover->hard];
    cover->boxes[cover->hard++] = *box;
    cover->count++;
}

static void draw_label(const struct drawing *drawing, const struct chart_point *point, struct cover *cover)
{
    double x, y;
    if (!point->label || !drawing_place(drawing, point, &x, &y))
        return;
    const double width = drawing_text_width(point->label, LABEL_SIZE);
    for (int i = 0; i < 2 * SIDES; i++) {
        const struct box box = box_at(x, y, width, i % SIDES);
        const uint32_t count = i < SIDES ? cover->count : cover->hard;
        if (!is_inside(drawing, &box) || overlaps(cover, count, &box))
            continue;
        take_label(cover, &box);
        fprintf(drawing->file, "<text class=\"label\" x=\"%.1f\" y=\"%.1f\">", box.left, box.bottom - 3);
        markup_text(drawing->file, point->label);
        fputs("</text>\n", drawing->file);
        return;
    }
}

static uint32_t count_points(const struct chart *chart)
{
    uint32_t points = 0;
    for (uint32_t s = 0; s < chart->series_count; s++)
        points += chart->series[s].point_count;
    return points;
}

void drawing_labels(const struct drawing *drawing)
{
    const struct chart *const chart = drawing->chart;
    const uint32_t points = count_points(chart);
    uint64_t most = 2ull * points + 1;
    for (uint32_t r = 0; r < chart->reference_count; r++)
        most += note_squares(&chart->references[r]) + line_squares(drawing);
    struct cover cover = {.boxes = malloc(most * sizeof *cover.boxes)};
    if (!cover.boxes)
        return;
    take_points(drawing, &cover);
    for (uint32_t r = 0; r < chart->reference_count; r++)
        draw_note(drawing, &chart->references[r], &cover);
    take_lines(drawing, &cover);
    if (chart->form.kind == CHART_POINTS && points * LABEL_ROOM <= drawing->width)
        for (uint32_t s = 0; s < chart->series_count; s++)
            for (uint32_t p = 0; p < chart->series[s].point_count; p++)
                draw_label(drawing, &chart->series[s].points[p], &cover);
    free(cover.boxes);
}
