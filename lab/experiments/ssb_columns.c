/*
 * ssb_columns.c: `tessera lab ssb-columns`: the 17 columns of lineorder of the Star Schema Benchmark as 4-byte integers,
 * by codec and by system. SIGMOD 2022, section 9.4, figures 9 and 10: scale factor 20, 120 million rows.
 *
 * A system chooses a codec for each column: by codec_choose on the column's first chunk, or the smallest or the fastest of some rows of
 * the grid: codecs, published methods, schemes of nvCOMP. The paper's sizes (figure 9, table of 10a) are of each system's smallest scheme,
 * its times (10b) of the fastest.
 */
#include "lab/experiments/experiments.h"

#include "lab/bench/grid_claims.h"
#include "lab/ssb/lineorder.h"
#include "storage/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SYSTEMS_MAX (KNOWN_SYSTEMS + GRID_ROWS)
#define MEMBERS_MAX 4u

_Static_assert(LO_COLUMNS <= GRID_POINTS_MAX, "the grid has a point for each column");

/* ---- Systems ---- */

struct system {
    const char *name, *paper;         /* paper: its name there, or NULL */
    const char *chooser;              /* a name for codec_choice_parse, or NULL: */
    const char *members[MEMBERS_MAX]; /* ... the smallest of these rows */
    bool fastest;                     /* ... or the one that is decoded to memory fastest */
    bool charted, averaged;           /* has bars for the columns (figure 9), for their mean (10b) */
    double
        paper_ratio; /* of plain's size to its size, in the paper (which gives gains over others' ratios); 0: not there */
    double paper_time; /* of decoding to memory, to that of GPU-* in figure 10b; 0: not there */
};
#define NVCOMP "nvCOMP"
#define PUBLISHED_STAR                                                     \
    {                                                                      \
        "gpu-for, published", "gpu-dfor, published", "gpu-rfor, published" \
    }
#define NVCOMP_SCHEMES_3                                            \
    {                                                               \
        "nvCOMP FOR+BP", "nvCOMP Delta+FOR+BP", "nvCOMP RLE+FOR+BP" \
    }
static const struct system known_systems[] = {
    {.name = "plain",
     .paper = "None",
     .members = {"plain"},
     .charted = true,
     .averaged = true,
     .paper_ratio = 1},
    {.name = "gpu-star",
     .paper = "GPU-*, our decoders",
     .chooser = "gpu-star",
     .charted = true,
     .averaged = true,
     .paper_ratio = 2.8},
    {.name = "gpu-star, published",
     .paper = "GPU-*",
     .members = PUBLISHED_STAR,
     .charted = true,
     .paper_ratio = 2.8},
    {.name = "gpu-star, published, fastest",
     .paper = "GPU-* (10b)",
     .members = PUBLISHED_STAR,
     .fastest = true,
     .averaged = true,
     .paper_time = 1},
    {.name = "smallest", .chooser = "smallest"},
    {.name = "auto", .chooser = "auto", .charted = true, .averaged = true},
    {.name = "planner",
     .paper = "Planner",
     .members = {"planner"},
     .charted = true,
     .averaged = true,
     .paper_ratio = 2.8 / 1.4,
     .paper_time = 5.5},
    {.name = "gpu-bp128", .paper = "GPU-BP, our decoder", .members = {"gpu-bp128"}, .charted = true},
    {.name = "gpu-bp128, published",
     .paper = "GPU-BP",
     .members = {"gpu-bp128, published"},
     .charted = true,
     .averaged = true,
     .paper_ratio = 2.8 / 1.5,
     .paper_time = 2},
    {.name = "cascades",
     .paper = "GPU-*, layer by layer",
     .members = {"for-bp", "delta-for-bp", "rle-for-bp"},
     .charted = true,
     .averaged = true},
    {.name = NVCOMP,
     .paper = "nvCOMP",
     .members = NVCOMP_SCHEMES_3,
     .charted = true,
     .paper_ratio = 2.8 / 1.02},
    {.name = NVCOMP ", fastest",
     .paper = "nvCOMP (10b)",
     .members = NVCOMP_SCHEMES_3,
     .fastest = true,
     .averaged = true,
     .paper_time = 2.2},
};
#define KNOWN_SYSTEMS (sizeof known_systems / sizeof *known_systems)

struct columns {
    struct lab *lab;
    struct grid grid;
    uint32_t system_count;
    struct system systems[SYSTEMS_MAX];
    uint32_t taken[SYSTEMS_MAX][LO_COLUMNS]; /* the row of each column; 0: none holds it */
};

/* The rows that hold all columns, which are systems of their own, after the known ones. */
static void add_rows(struct columns *columns)
{
    for (uint32_t row = 1; row < GRID_ROWS; row++) {
        const char *const name = grid_row_name(row);
        bool fits = true;
        for (uint32_t s = 0; s < columns->system_count; s++)
            fits = fits && strcmp(columns->systems[s].name, name) != 0;
        for (uint32_t c = 0; c < LO_COLUMNS; c++)
            fits = fits && columns->grid.cells[c][row].bits > 0;
        if (fits)
            columns->systems[columns->system_count++] = (struct system){.name = name, .members = {name}};
    }
}

/* What a system's choice among its members makes least: bits, or the time to memory. 0: the row does not hold the column. */
static double cost_of(const struct system *system, const struct grid_cell *cell)
{
    return system->fastest ? cell->speed.memory.median : cell->bits;
}

/* The best of the system's members that hold the column, or 0. */
static uint32_t best_member(const struct columns *columns, const struct system *system, uint32_t column)
{
    const struct grid_cell *const cells = columns->grid.cells[column];
    uint32_t best = 0;
    for (uint32_t m = 0; m < MEMBERS_MAX && system->members[m]; m++) {
        const uint32_t row = grid_row(system->members[m]);
        const double cost = row ? cost_of(system, &cells[row]) : 0;
        if (cost > 0 && (!best || cost < cost_of(system, &cells[best])))
            best = row;
    }
    return best;
}

static enum status choose(const char *chooser, const struct dataset *dataset, uint32_t *row,
                          struct error *error)
{
    const uint32_t rows = dataset->rows < ENCODED_CHUNK_ROWS ? (uint32_t)dataset->rows : ENCODED_CHUNK_ROWS;
    struct codec_choice choice;
    uint8_t *memory;
    RETURN_IF_ERROR(codec_choice_parse(chooser, &choice, error));
    const size_t bound = codec_choice_bound(&choice, rows, sizeof(int32_t));
    RETURN_IF_ERROR(memory_take(&memory, 2 * bound, "chunks to choose from", error));
    const struct codec_input input = {
        .values = dataset->values, .rows = rows, .value_bytes = sizeof(int32_t)};
    codec_choose(&choice, &input, memory, memory + bound);
    *row = ((const struct chunk_header *)memory)->codec;
    free(memory);
    return STATUS_OK;
}

/* ---- Measuring ---- */

static enum status measure_dataset(struct columns *columns, uint32_t column, const struct dataset *dataset,
                                   struct error *error)
{
    RETURN_IF_ERROR(grid_measure(columns->lab, &columns->grid, column, dataset, error));
    for (uint32_t s = 0; s < columns->system_count; s++)
        if (columns->systems[s].chooser)
            RETURN_IF_ERROR(choose(columns->systems[s].chooser, dataset, &columns->taken[s][column], error));
    return STATUS_OK;
}

static enum status measure_columns(struct columns *columns, const struct ssb_generator *generator,
                                   struct error *error)
{
    const uint64_t rows = lineorder_rows(columns->lab, generator);
    for (uint32_t c = 0; c < LO_COLUMNS; c++) {
        const struct lineorder_column source = {.generator = generator, .column = c};
        struct dataset dataset;
        columns->grid.names[c] = ssb_table_info(SSB_LINEORDER)->columns[c].name + strlen("lo_");
        enum status status =
            dataset_make(columns->lab, "making lineorder", rows, fill_lineorder, &source, &dataset, error);
        if (status == STATUS_OK)
            status = measure_dataset(columns, c, &dataset, error);
        dataset_free(columns->lab, &dataset);
        RETURN_IF_ERROR(status);
    }
    return STATUS_OK;
}

/* Which rows the systems take. Systems with columns that were not measured are removed: the build lacks the codec, it
 * cannot hold the column, or --codecs leaves it out. */
static void take_rows(struct columns *columns)
{
    uint32_t kept = 0;
    add_rows(columns);
    for (uint32_t s = 0; s < columns->system_count; s++) {
        bool complete = true;
        for (uint32_t c = 0; c < LO_COLUMNS; c++) {
            columns->taken[kept][c] = columns->systems[s].chooser
                                          ? columns->taken[s][c]
                                          : best_member(columns, &columns->systems[s], c);
            complete = complete && columns->grid.cells[c][columns->taken[kept][c]].bits > 0;
        }
        columns->systems[kept] = columns->systems[s];
        kept += complete;
    }
    columns->system_count = kept;
}

/* ---- Figures ---- */

static const struct grid_cell *cell_of(const struct columns *columns, uint32_t system, uint32_t column)
{
    return &columns->grid.cells[column][columns->taken[system][column]];
}

struct figures {
    double bytes, memory_ms, sum_ms; /* of all columns; geometric means, NaN: not measured for all */
};

static struct figures figures_of(const struct columns *columns, uint32_t system)
{
    struct figures figures = {0};
    for (uint32_t c = 0; c < LO_COLUMNS; c++) {
        const struct grid_cell *const cell = cell_of(columns, system, c);
        figures.bytes += cell->bits / 8 * (double)columns->grid.rows[c];
        figures.memory_ms += cell->speed.memory.median > 0 ? log(cell->speed.memory.median) : NAN;
        figures.sum_ms += cell->speed.sum.median > 0 ? log(cell->speed.sum.median) : NAN;
    }
    figures.memory_ms = exp(figures.memory_ms / LO_COLUMNS);
    figures.sum_ms = exp(figures.sum_ms / LO_COLUMNS);
    return figures;
}

static struct figures figures_named(const struct columns *columns, const char *name)
{
    for (uint32_t s = 0; s < columns->system_count; s++)
        if (strcmp(columns->systems[s].name, name) == 0)
            return figures_of(columns, s);
    return (struct figures){NAN, NAN, NAN};
}

/* Those of GPU-* as figure 10b has it, or, where there is no GPU, of our decoders. */
static struct figures star_figures(const struct columns *columns)
{
    const struct figures published = figures_named(columns, "gpu-star, published, fastest");
    return isnan(published.memory_ms) ? figures_named(columns, "gpu-star") : published;
}

static double positive(double figure)
{
    return figure > 0 ? figure : NAN;
}

static enum status show_systems(struct columns *columns, struct error *error)
{
    static const struct sheet_column head[] = {
        {.key = "system", .name = "system", .text = true},
        {.key = "paper", .name = "in the paper", .text = true},
        {.key = "bytes", .name = "size", .unit = "MB", .scale = 1e-6, .digits = 2},
        {.key = "ratio", .name = "here", .group = "plain / size", .digits = 3},
        {.key = "paper_ratio", .name = "paper", .group = "plain / size", .digits = 2},
        {.key = "memory_ms", .name = "to memory", .unit = "ms", .digits = 4},
        {.key = "memory_to_gpu_star", .name = "here", .group = "to memory / GPU-*'s", .digits = 2},
        {.key = "paper_memory_to_gpu_star", .name = "paper", .group = "to memory / GPU-*'s", .digits = 2},
        {.key = "sum_ms", .name = "to a sum", .unit = "ms", .digits = 4},
    };
    const struct figures plain = figures_named(columns, "plain"), star = star_figures(columns);
    struct sheet *sheet;
    RETURN_IF_ERROR(sheet_create(head, sizeof head / sizeof *head, &sheet, error));
    for (uint32_t s = 0; s < columns->system_count; s++) {
        const struct figures figures = figures_of(columns, s);
        sheet_text(sheet, columns->systems[s].name);
        sheet_text(sheet, columns->systems[s].paper);
        sheet_number(sheet, figures.bytes);
        sheet_number(sheet, plain.bytes / figures.bytes);
        sheet_number(sheet, positive(columns->systems[s].paper_ratio));
        sheet_number(sheet, figures.memory_ms);
        sheet_number(sheet, figures.memory_ms / star.memory_ms);
        sheet_number(sheet, positive(columns->systems[s].paper_time));
        sheet_number(sheet, figures.sum_ms);
    }
    if (nvcomp_missing(columns->grid.nvcomp)) {
        sheet_text(sheet, NVCOMP);
        sheet_text(sheet, "nvCOMP");
        for (size_t f = 2; f < sizeof head / sizeof *head; f++)
            sheet_missing(sheet, f == 2 ? nvcomp_missing(columns->grid.nvcomp) : NULL);
    }
    return lab_sheet(columns->lab, "systems: the 17 columns together; times are geometric means over them",
                     sheet, error);
}

/* A figure of a column in a system; NaN: not measured. */
typedef double column_figure(const struct columns *columns, uint32_t system, uint32_t column);

static double megabytes(const struct columns *columns, uint32_t system, uint32_t column)
{
    return cell_of(columns, system, column)->bits / 8 * (double)columns->grid.rows[column] * 1e-6;
}

static double milliseconds(const struct columns *columns, uint32_t system, uint32_t column)
{
    return positive(cell_of(columns, system, column)->speed.memory.median);
}

/* Figure 9, and the same for times: a row for each column, a column for each system that has bars, and the columns' sum. */
static enum status show_columns(struct columns *columns, const char *caption, const char *unit,
                                uint32_t digits, column_figure figure, struct error *error)
{
    struct sheet_column head[SYSTEMS_MAX + 1] = {{.key = "column", .name = "column", .text = true}};
    char keys[SYSTEMS_MAX][64];
    uint32_t shown[SYSTEMS_MAX], count = 0;
    double sums[SYSTEMS_MAX] = {0};
    struct sheet *sheet;
    for (uint32_t s = 0; s < columns->system_count; s++) {
        const struct system *const system = &columns->systems[s];
        if (!system->charted && !system->fastest)
            continue;
        snprintf(keys[count], sizeof *keys, "%s_%s", system->name, unit);
        shown[count++] = s;
        head[count] = (struct sheet_column){.key = keys[count - 1],
                                            .name = system->name,
                                            .group = system->paper ? system->paper : "ours",
                                            .digits = digits};
    }
    RETURN_IF_ERROR(sheet_create(head, count + 1, &sheet, error));
    for (uint32_t c = 0; c < LO_COLUMNS; c++) {
        sheet_text(sheet, columns->grid.names[c]);
        for (uint32_t i = 0; i < count; i++) {
            const double number = figure(columns, shown[i], c);
            sheet_number(sheet, number);
            sums[i] += number;
        }
    }
    sheet_text(sheet, "all");
    for (uint32_t i = 0; i < count; i++)
        sheet_number(sheet, sums[i]);
    return lab_sheet(columns->lab, caption, sheet, error);
}

/* Figure 10a: each scheme of GPU-* against the same of nvCOMP. */
static enum status show_schemes(const struct columns *columns, struct error *error)
{
#define TIME(TEXT, OF, TO, PAPER)                                                \
    {                                                                            \
        .text = TEXT, .figure = CLAIM_MEMORY, .of = OF, .to = TO, .paper = PAPER \
    }
    static const struct grid_claim claims[] = {
        TIME("nvCOMP FOR+BP / GPU-FOR", "nvCOMP FOR+BP", "gpu-for, published", 2.4),
        TIME("nvCOMP FOR+BP / GPU-FOR, our decoder", "nvCOMP FOR+BP", "gpu-for", 2.4),
        TIME("nvCOMP Delta+FOR+BP / GPU-DFOR", "nvCOMP Delta+FOR+BP", "gpu-dfor, published", 3.5),
        TIME("nvCOMP Delta+FOR+BP / GPU-DFOR, our decoder", "nvCOMP Delta+FOR+BP", "gpu-dfor", 3.5),
        TIME("nvCOMP RLE+FOR+BP / GPU-RFOR", "nvCOMP RLE+FOR+BP", "gpu-rfor, published", 2),
        TIME("nvCOMP RLE+FOR+BP / GPU-RFOR, our decoder", "nvCOMP RLE+FOR+BP", "gpu-rfor", 2),
    };
    return grid_claims(columns->lab, &columns->grid,
                       "figure 10a: decoding to memory, ratios of times over the columns", claims,
                       sizeof claims / sizeof *claims, error);
}

static enum status show_choices(struct columns *columns, struct error *error)
{
    struct sheet_column head[2 * SYSTEMS_MAX + 1] = {{.key = "column", .name = "column", .text = true}};
    char keys[SYSTEMS_MAX][64];
    uint32_t count = 1, chosen[SYSTEMS_MAX], chosen_count = 0;
    for (uint32_t s = 0; s < columns->system_count; s++) {
        const struct system *const system = &columns->systems[s];
        if (!system->chooser && !system->members[1])
            continue;
        chosen[chosen_count++] = s;
        head[count++] =
            (struct sheet_column){.key = system->name, .name = "codec", .group = system->name, .text = true};
        snprintf(keys[s], sizeof keys[s], "%s_bits", system->name);
        head[count++] =
            (struct sheet_column){.key = keys[s], .name = "bits", .group = system->name, .digits = 3};
    }
    struct sheet *sheet;
    if (chosen_count == 0)
        return STATUS_OK; /* --codecs leaves out what they choose from */
    RETURN_IF_ERROR(sheet_create(head, count, &sheet, error));
    for (uint32_t c = 0; c < LO_COLUMNS; c++) {
        sheet_text(sheet, columns->grid.names[c]);
        for (uint32_t i = 0; i < chosen_count; i++) {
            sheet_text(sheet, grid_row_name(columns->taken[chosen[i]][c]));
            sheet_number(sheet, cell_of(columns, chosen[i], c)->bits);
        }
    }
    return lab_sheet(columns->lab, "which codec a system takes for a column, and bits a value", sheet, error);
}

static struct chart_point size_point(const struct grid_cell *cell)
{
    return (struct chart_point){.y = cell->bits};
}

static struct chart_point memory_point(const struct grid_cell *cell)
{
    const struct speed *const memory = &cell->speed.memory;
    return (struct chart_point){
        .y = memory->median > 0 ? memory->median : NAN, .low = memory->least, .high = memory->most};
}

/* Figure 9, and the same for times: a group of bars for each column, a bar for each system. */
static enum status chart_columns(struct columns *columns, const char *title, struct chart_axis y,
                                 struct chart_point figure(const struct grid_cell *cell), struct error *error)
{
    const struct chart_form form = {.kind = CHART_BARS,
                                    .title = title,
                                    .x.title = "column of lineorder",
                                    .y = y,
                                    .categories = columns->grid.names,
                                    .category_count = LO_COLUMNS};
    struct chart *chart;
    RETURN_IF_ERROR(chart_create(&form, &chart, error));
    for (uint32_t s = 0; s < columns->system_count; s++) {
        if (!columns->systems[s].charted)
            continue;
        chart_series(chart, columns->systems[s].name);
        for (uint32_t c = 0; c < LO_COLUMNS; c++) {
            struct chart_point point = figure(cell_of(columns, s, c));
            point.x = c;
            chart_point(chart, point);
        }
    }
    return lab_chart(columns->lab, chart, error);
}

/* Figure 10b. */
static enum status chart_means(struct columns *columns, struct error *error)
{
    const char *names[SYSTEMS_MAX];
    double means[SYSTEMS_MAX];
    uint32_t count = 0;
    for (uint32_t s = 0; s < columns->system_count; s++)
        if (columns->systems[s].averaged) {
            names[count] = columns->systems[s].name;
            means[count++] = figures_of(columns, s).memory_ms;
        }
    return lab_bars(columns->lab, "figure 10b: decode to memory, geometric mean over the columns", names,
                    means, count, error);
}

static enum status show(struct columns *columns, struct error *error)
{
    take_rows(columns);
    RETURN_IF_ERROR(show_systems(columns, error));
    RETURN_IF_ERROR(
        show_columns(columns, "figure 9: size of each column by system, MB", "mb", 2, megabytes, error));
    RETURN_IF_ERROR(show_schemes(columns, error));
    RETURN_IF_ERROR(
        show_columns(columns, "decoding each column to memory by system, ms", "ms", 4, milliseconds, error));
    RETURN_IF_ERROR(chart_columns(columns, "size of the columns",
                                  (struct chart_axis){.title = "size", .unit = "bits a value"}, size_point,
                                  error));
    RETURN_IF_ERROR(chart_columns(columns, "decode to memory",
                                  (struct chart_axis){.title = "time of a column", .unit = "ms"},
                                  memory_point, error));
    RETURN_IF_ERROR(chart_means(columns, error));
    RETURN_IF_ERROR(show_choices(columns, error));
    return grid_report(columns->lab, &columns->grid, error);
}

enum status lab_ssb_columns(struct lab *lab, struct error *error)
{
    static const char *const no_chart[] = {NULL}; /* the systems have charts */
    struct ssb_generator *generator;
    struct columns *columns;
    RETURN_IF_ERROR(lineorder_generator(lab, &generator, error));
    enum status status = memory_zeros(&columns, sizeof *columns, "figures", error);
    if (status == STATUS_OK) {
        columns->lab = lab;
        columns->grid.title = "columns of lineorder";
        columns->grid.x.title = "column";
        columns->grid.charted = no_chart;
        columns->grid.paper = grid_tile_based;
        columns->system_count = KNOWN_SYSTEMS;
        memcpy(columns->systems, known_systems, sizeof known_systems);
        status = nvcomp_open(lab, &columns->grid.nvcomp, error);
    }
    if (status == STATUS_OK)
        status = measure_columns(columns, generator, error);
    if (status == STATUS_OK)
        status = show(columns, error);
    if (columns)
        nvcomp_close(columns->grid.nvcomp);
    free(columns);
    ssb_generator_destroy(generator);
    return status;
}
