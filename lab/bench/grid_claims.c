/* grid_claims.c: see grid_claims.h. */
#include "lab/bench/grid_claims.h"

#include <math.h>

/* What was found over the points of a claim. */
struct found {
    double least, most, logarithms;
    uint32_t count;
};

/* A figure of a cell; 0: not measured. */
static double figure_of(const struct grid *grid, uint32_t point, uint32_t row, enum claim_figure figure)
{
    const struct grid_cell *const cell = &grid->cells[point][row];
    return figure == CLAIM_BITS ? cell->bits : cell->speed.memory.median;
}

/* The claim's value at a point; NaN: not measured. */
static double value_at(const struct grid *grid, uint32_t point, const struct grid_claim *claim)
{
    const double of = figure_of(grid, point, grid_row(claim->of), claim->figure);
    const double to = claim->to ? figure_of(grid, point, grid_row(claim->to), claim->figure) : 1;
    if (!(of > 0) || !(to > 0))
        return NAN;
    return claim->to ? of / to : of - claim->less_x * grid->points[point] - claim->less;
}

static bool is_meant(const struct grid *grid, uint32_t point, const struct grid_claim *claim)
{
    if (claim->last_point)
        return point + 1 == grid->point_count;
    return !(claim->last > 0) || (grid->points[point] >= claim->first && grid->points[point] <= claim->last);
}

static struct found find(const struct grid *grid, const struct grid_claim *claim)
{
    struct found found = {.least = INFINITY};
    for (uint32_t p = 0; p < grid->point_count; p++) {
        const double value = value_at(grid, p, claim);
        if (isnan(value) || !is_meant(grid, p, claim))
            continue;
        found.least = fmin(found.least, value);
        found.most = fmax(found.most, value);
        found.logarithms += log(value);
        found.count++;
    }
    return found;
}

static bool is_shown(const struct lab *lab, const struct grid *grid, const char *row)
{
    return !row || grid_shows(lab, grid, grid_row(row));
}

static void add_claim(struct sheet *sheet, const struct grid *grid, const struct grid_claim *claim)
{
    const struct found found = find(grid, claim);
    sheet_text(sheet, claim->text);
    if (claim->paper > 0)
        sheet_number(sheet, claim->paper);
    else
        sheet_missing(sheet, claim->paper_says);
    sheet_number(sheet, found.count ? found.least : NAN);
    sheet_number(sheet, found.count ? exp(found.logarithms / found.count) : NAN);
    sheet_number(sheet, found.count ? found.most : NAN);
}

enum status grid_claims(struct lab *lab, const struct grid *grid, const char *caption,
                        const struct grid_claim *claims, uint32_t count, struct error *error)
{
    static const struct sheet_column columns[] = {
        {.key = "claim", .name = "", .text = true},
        {.key = "paper", .name = "paper", .digits = 2},
        {.key = "least", .name = "least", .group = "here", .digits = 2},
        {.key = "mean", .name = "mean", .group = "here", .digits = 2},
        {.key = "most", .name = "most", .group = "here", .digits = 2},
    };
    struct sheet *sheet;
    RETURN_IF_ERROR(sheet_create(columns, sizeof columns / sizeof *columns, &sheet, error));
    for (uint32_t c = 0; c < count; c++)
        if (is_shown(lab, grid, claims[c].of) && is_shown(lab, grid, claims[c].to))
            add_claim(sheet, grid, &claims[c]);
    if (sheet_rows(sheet) > 0)
        return lab_sheet(lab, caption, sheet, error);
    sheet_destroy(sheet);
    return STATUS_OK;
}
