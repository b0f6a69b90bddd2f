/*
 * chart_labels.c: texts beside points; see chart_drawing.h.
 *
 * A label stands right, left, above, below or at a corner of its point, at the first place where it covers no
 * point and no other label; where there is none it is left out, and the tooltip still has it. They are some tens, so all pairs are looked at.
 */
#include "engine/report/chart_drawing.h"
#include "engine/report/markup.h"

#include <stdlib.h>

#define LABEL_HEIGHT 12.0
#define LABEL_WIDTH  6.3  /* of a character; labels are smaller than other texts */
#define LABEL_ROOM   20.0 /* of a chart's width for each; more labels would hide the points */
#define SIDES        8

struct box {
    double left, top, right, bottom;
};

static bool overlap(const struct box *a, const struct box *b)
{
    return a->left < b->right && b->left < a->right && a->top < b->bottom && b->top < a->bottom;
}

static bool is_free(const struct drawing *drawing, const struct box *box, const struct box *taken,
                    uint32_t count)
{
    if (box->left < drawing->left || box->right > drawing->right + 8 || box->top < drawing->top - 4 ||
        box->bottom > drawing->bottom)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (overlap(box, &taken[i]))
            return false;
    return true;
}

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

/* Enters the points, which labels must not cover. */
static uint32_t take_points(const struct drawing *drawing, struct box *taken)
{
    uint32_t count = 0;
    double x, y;
    for (uint32_t s = 0; s < drawing->chart->series_count; s++)
        for (uint32_t p = 0; p < drawing->chart->series[s].point_count; p++)
            if (drawing_place(drawing, &drawing->chart->series[s].points[p], &x, &y))
                taken[count++] =
                    (struct box){x - MARK_RADIUS, y - MARK_RADIUS, x + MARK_RADIUS, y + MARK_RADIUS};
    return count;
}

static void draw_label(const struct drawing *drawing, const struct chart_point *point, struct box *taken,
                       uint32_t *count)
{
    double x, y;
    if (!point->label || !drawing_place(drawing, point, &x, &y))
        return;
    const double width = LABEL_WIDTH * drawing_characters(point->label);
    for (int side = 0; side < SIDES; side++) {
        const struct box box = box_at(x, y, width, side);
        if (!is_free(drawing, &box, taken, *count))
            continue;
        taken[(*count)++] = box;
        fprintf(drawing->file, "<text class=\"label\" x=\"%.1f\" y=\"%.1f\">", box.left, box.bottom - 2);
        markup_text(drawing->file, point->label);
        fputs("</text>\n", drawing->file);
        return;
    }
}

void drawing_labels(const struct drawing *drawing)
{
    uint32_t points = 0;
    for (uint32_t s = 0; s < drawing->chart->series_count; s++)
        points += drawing->chart->series[s].point_count;
    if (drawing->chart->form.kind != CHART_POINTS || points == 0 || points * LABEL_ROOM > drawing->width)
        return;
    struct box *const taken = malloc(2 * points * sizeof *taken);
    uint32_t count = taken ? take_points(drawing, taken) : 0;
    for (uint32_t s = 0; taken && s < drawing->chart->series_count; s++)
        for (uint32_t p = 0; p < drawing->chart->series[s].point_count; p++)
            draw_label(drawing, &drawing->chart->series[s].points[p], taken, &count);
    free(taken);
}
