/* chart.c: collects the series of charts; see chart.h. */
#include "engine/report/chart.h"

#include "engine/report/axis.h"
#include "storage/base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct chart_axis keep_axis(struct keep *keep, const struct chart_axis *axis)
{
    struct chart_axis kept = *axis;
    kept.title = keep_text(keep, axis->title);
    kept.unit = keep_text(keep, axis->unit);
    return kept;
}

enum status chart_create(const struct chart_form *form, struct chart **chart, struct error *error)
{
    struct chart *const made = calloc(1, sizeof *made);
    const char **const categories =
        form->categories ? calloc(form->category_count + 1, sizeof *categories) : NULL;
    if (!made || (form->categories && !categories)) {
        free(made);
        free(categories);
        return error_out_of_memory(error, sizeof *made, "a chart");
    }
    for (uint32_t c = 0; categories && c < form->category_count; c++)
        categories[c] = keep_text(&made->keep, form->categories[c]);
    made->form = (struct chart_form){.kind = form->kind,
                                     .title = keep_text(&made->keep, form->title),
                                     .x = keep_axis(&made->keep, &form->x),
                                     .y = keep_axis(&made->keep, &form->y),
                                     .categories = categories,
                                     .category_count = categories ? form->category_count : 0};
    *chart = made;
    return STATUS_OK;
}

void chart_destroy(struct chart *chart)
{
    if (!chart)
        return;
    for (uint32_t s = 0; s < chart->series_count; s++)
        free(chart->series[s].points);
    free(chart->series);
    free(chart->references);
    free((void *)chart->form.categories);
    keep_free(&chart->keep);
    free(chart);
}

void chart_series(struct chart *chart, const char *name)
{
    if (!keep_grow(&chart->keep, (void **)&chart->series, chart->series_count, sizeof *chart->series))
        return;
    chart->series[chart->series_count++] = (struct chart_series){.name = keep_text(&chart->keep, name)};
}

void chart_point(struct chart *chart, struct chart_point point)
{
    if (chart->series_count == 0)
        return;
    struct chart_series *const series = &chart->series[chart->series_count - 1];
    if (!keep_grow(&chart->keep, (void **)&series->points, series->point_count, sizeof point))
        return;
    point.label = keep_text(&chart->keep, point.label);
    series->points[series->point_count++] = point;
}

/* The number below which `share` of the sorted runs lie, between two runs in proportion. */
static double quantile(const double *sorted, uint32_t count, double share)
{
    const double place = share * (count - 1);
    const uint32_t below = (uint32_t)place, above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
}

void chart_runs(struct chart *chart, double x, const double *runs, uint32_t count, const char *label)
{
    double *const sorted = malloc((count + 1) * sizeof *sorted); /* never of 0 bytes */
    struct chart_point point = {.x = x, .y = NAN, .label = label};
    if (!sorted) {
        chart->keep.failed = true;
        return;
    }
    memcpy(sorted, runs, count * sizeof *sorted);
    if (count > 0) {
        point.y = clock_median(sorted, count);
        point.low = quantile(sorted, count, 0.25);
        point.high = quantile(sorted, count, 0.75);
    }
    free(sorted);
    chart_point(chart, point);
}

void chart_reference(struct chart *chart, const char *label, double at, double slope)
{
    if (!keep_grow(&chart->keep, (void **)&chart->references, chart->reference_count,
                   sizeof *chart->references))
        return;
    chart->references[chart->reference_count++] =
        (struct chart_reference){.label = keep_text(&chart->keep, label), .at = at, .slope = slope};
}

bool chart_is_empty(const struct chart *chart)
{
    const struct chart_form *const form = &chart->form;
    for (uint32_t s = 0; s < chart->series_count; s++)
        for (uint32_t p = 0; p < chart->series[s].point_count; p++) {
            const struct chart_point *const point = &chart->series[s].points[p];
            const bool has_x = form->categories ? point->x >= 0 && point->x < form->category_count
                                                : axis_holds(form->x.scale, point->x);
            if (has_x && axis_holds(form->y.scale, point->y))
                return false;
        }
    return true;
}
