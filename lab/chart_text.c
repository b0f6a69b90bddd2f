/*
 * chart_text.c: see chart_text.h.
 *
 *      0.2 |      a   a   a      a one   b two
 *          |  a
 *      0.1 |          b   b
 *          |  b   b
 *          +----------------
 *             4   8   12  16     width, bits
 */
#include "lab/chart_text.h"

#include "engine/report/axis.h"

#include <math.h>
#include <string.h>

#define PLOT_COLUMNS 66u
#define PLOT_ROWS    17u
#define LABEL_WIDTH  10 /* of a tick's text at the left */

struct plot {
    const struct chart *chart;
    struct axis x, y;
    char cells[PLOT_ROWS][PLOT_COLUMNS];
};

static char letter_of(uint32_t series)
{
    return (char)(series < 26 ? 'a' + series : series < 52 ? 'A' + (series - 26) : '?');
}

static bool can_draw(const struct chart *chart, const struct chart_point *point)
{
    return axis_holds(chart->form.y.scale, point->y) &&
           (chart->form.categories || axis_holds(chart->form.x.scale, point->x));
}

/* Extends low .. high, which begin as infinite, to all points that can be drawn. */
static void range_of(const struct chart *chart, double range_x[2], double range_y[2])
{
    for (uint32_t s = 0; s < chart->series_count; s++)
        for (uint32_t p = 0; p < chart->series[s].point_count; p++) {
            const struct chart_point *const point = &chart->series[s].points[p];
            if (!can_draw(chart, point))
                continue;
            range_x[0] = fmin(range_x[0], point->x);
            range_x[1] = fmax(range_x[1], point->x);
            range_y[0] = fmin(range_y[0], point->y);
            range_y[1] = fmax(range_y[1], point->y);
        }
}

static void make_axes(struct plot *plot)
{
    const struct chart_form *const form = &plot->chart->form;
    double x[2] = {INFINITY, -INFINITY}, y[2] = {INFINITY, -INFINITY};
    range_of(plot->chart, x, y);
    if (form->y.scale == CHART_LINEAR && y[0] <= y[1])
        y[0] = fmin(y[0], 0);
    plot->x.from = 0;
    plot->x.to = PLOT_COLUMNS - 1;
    plot->y.from = PLOT_ROWS - 1;
    plot->y.to = 0;
    if (form->categories)
        axis_make(&plot->x, CHART_LINEAR, -0.5, form->category_count - 0.5, 2, false);
    else
        axis_make(&plot->x, form->x.scale, x[0], x[1], 6, false);
    axis_make(&plot->y, form->y.scale, y[0], y[1], 5, true);
}

static void place_series(struct plot *plot, uint32_t series)
{
    const struct chart_series *const points = &plot->chart->series[series];
    for (uint32_t p = 0; p < points->point_count; p++) {
        if (!can_draw(plot->chart, &points->points[p]))
            continue;
        const long column = lround(axis_place(&plot->x, points->points[p].x));
        const long row = lround(axis_place(&plot->y, points->points[p].y));
        if (column < 0 || column >= (long)PLOT_COLUMNS || row < 0 || row >= (long)PLOT_ROWS)
            continue;
        char *const cell = &plot->cells[row][column];
        *cell = *cell == ' ' || *cell == letter_of(series) ? letter_of(series) : '*';
    }
}

static const char *label_at(const struct axis *axis, long row)
{
    for (uint32_t t = 0; t < axis->tick_count; t++)
        if (axis->ticks[t].label[0] && lround(axis_place(axis, axis->ticks[t].value)) == row)
            return axis->ticks[t].label;
    return "";
}

/* Writes a text into the line from `column` on, unless another one stands there. */
static void write_label(char *line, long column, const char *text, size_t most)
{
    const size_t length = strlen(text) < most ? strlen(text) : most;
    if (column < 0 || (size_t)column + length > PLOT_COLUMNS + 12 || (column > 0 && line[column - 1] != ' '))
        return;
    for (size_t i = 0; i < length; i++)
        if (line[(size_t)column + i] != ' ')
            return;
    memcpy(line + column, text, length);
}

static void print_x_labels(const struct plot *plot, FILE *file)
{
    const struct chart_form *const form = &plot->chart->form;
    char line[PLOT_COLUMNS + 13];
    memset(line, ' ', sizeof line - 1);
    line[sizeof line - 1] = '\0';
    const size_t slot = form->categories ? PLOT_COLUMNS / (form->category_count + 1) : sizeof line;
    for (uint32_t c = 0; form->categories && c < form->category_count; c++)
        write_label(line, lround(axis_place(&plot->x, c)), form->categories[c], slot > 2 ? slot : 2);
    for (uint32_t t = 0; !form->categories && t < plot->x.tick_count; t++)
        write_label(line, lround(axis_place(&plot->x, plot->x.ticks[t].value)), plot->x.ticks[t].label,
                    sizeof line);
    size_t length = strlen(line);
    while (length && line[length - 1] == ' ')
        length--;
    fprintf(file, "%*s  %.*s\n", LABEL_WIDTH, "", (int)length, line);
}

static void print_legend(const struct chart *chart, FILE *file)
{
    const struct chart_axis *const axes[] = {&chart->form.y, &chart->form.x};
    static const char *const names[] = {"up", "right"};
    size_t column = 0;
    fprintf(file, "%*s  ", LABEL_WIDTH, "");
    for (int a = 0; a < 2; a++)
        if (axes[a]->title)
            fprintf(file, "%s%s: %s%s%s", a ? "; " : "", names[a], axes[a]->title, axes[a]->unit ? ", " : "",
                    axes[a]->unit ? axes[a]->unit : "");
    for (uint32_t s = 0; s < chart->series_count; s++) {
        if (column == 0 || column + strlen(chart->series[s].name) > PLOT_COLUMNS) {
            fprintf(file, "\n%*s  ", LABEL_WIDTH, "");
            column = 0;
        }
        column += (size_t)fprintf(file, "%c %s   ", letter_of(s), chart->series[s].name);
    }
    fputc('\n', file);
}

void chart_text(const struct chart *chart, FILE *file)
{
    struct plot plot = {.chart = chart};
    memset(plot.cells, ' ', sizeof plot.cells);
    make_axes(&plot);
    for (uint32_t s = 0; s < chart->series_count; s++)
        place_series(&plot, s);
    fprintf(file, "%s\n\n", chart->form.title ? chart->form.title : "");
    for (uint32_t row = 0; row < PLOT_ROWS; row++) {
        size_t length = PLOT_COLUMNS;
        while (length && plot.cells[row][length - 1] == ' ')
            length--;
        fprintf(file, "%*s |%.*s\n", LABEL_WIDTH, label_at(&plot.y, row), (int)length, plot.cells[row]);
    }
    fprintf(file, "%*s +", LABEL_WIDTH, "");
    for (uint32_t c = 0; c < PLOT_COLUMNS; c++)
        fputc('-', file);
    fputc('\n', file);
    print_x_labels(&plot, file);
    print_legend(chart, file);
}
