/*
 * kernel_plan.c: what a kernel keeps where (kernel_plan.h): first what every block must have, then the
 * bitmaps that many rows probe, then the others that fit; and the columns whose words are loaded ahead.
 */
#include "engine/gpu/kernel_plan.h"
#include "engine/gpu/kernel_decoder.h"

#include <stdlib.h>

/* CUDA keeps this much of a multiprocessor's shared memory for itself, per block. */
#define RESERVED_SHARED_BYTES 1024u

/* Threads of a multiprocessor that a kernel without copies is compiled for: 65,536 registers then allow 64 a
 * thread, enough to hold a tile's packed words. */
#define THREADS_WANTED 1024u

/* Packed words a thread that may be preloaded into registers: what 64 registers leave. */
#define PRELOAD_WORDS_MAX 40u

/* Fewer survivors than this a tile, and asking for their values one by one reads less than the whole column.
 */
#define DENSE_ROWS_MIN 64

/* Shared memory and first-level cache are one memory, of which the latter has an eighth more than shared memory
 * may take, and a load on its way needs a line of it. So bitmaps that few rows probe stay out of shared memory if
 * not even half of the preloaded lines would find room: the SSB's Q4.1 took 0.41 ms instead of 0.33 at SF 20. */
#define CACHE_EIGHTHS   9u
#define HALF_LINE_BYTES 64u

/* Bitmaps up to this many words are looked through by every warp for the range that they hold: 65,536 rows.
 */
#define RANGE_WORDS_MAX 2048u

/* ---- How many rows are left when ---- */

/* The share of rows that a column's filter or join is expected to keep: for a range as if values were
 * uniform, for a join the share of dimension rows that pass. 1 for a column that keeps all. */
static double kept_share(const struct bound_query *bound, uint32_t c)
{
    const struct fact_column *column = &bound->columns[c];
    double share = 1;
    if (column->filtered) {
        const struct column_statistics *statistics = &column->column->statistics;
        double low = column->low > statistics->min ? column->low : (double)statistics->min;
        double high = column->high < statistics->max ? column->high : (double)statistics->max;
        share = high < low ? 0 : (high - low + 1) / ((double)statistics->max - (double)statistics->min + 1);
    }
    for (uint32_t j = 0; j < bound->join_count; j++)
        if (bound->joins[j].column == c && bound->joins[j].predicate_count && bound->joins[j].table->rows)
            share *= (double)bound->joins[j].passing / (double)bound->joins[j].table->rows;
    return share;
}

/* The query in the shape of a kernel: columns stand in the order of the filters and then the joins, as the
 * kernels apply them. */
static void shape_make(const struct bound_query *bound, struct kernel_shape *shape)
{
    *shape = (struct kernel_shape){
        .name = bound->query->name, .column_count = bound->column_count, .join_count = bound->join_count};
    for (uint32_t c = 0; c < bound->column_count; c++) {
        const struct fact_column *column = &bound->columns[c];
        shape->columns[c] = (struct kernel_column){.data = column->data,
                                                   .value_bytes = sizeof(int32_t),
                                                   .width_low = column->width_low,
                                                   .width_high = column->width_high,
                                                   .fetched = column->fetched,
                                                   .nullable = column->nullable,
                                                   .kept = kept_share(bound, c)};
    }
    for (uint32_t j = 0; j < bound->join_count; j++) {
        const struct dimension_join *join = &bound->joins[j];
        shape->joins[j] = (struct kernel_join){.column = join->column,
                                               .rows = join->table->rows,
                                               .filtered = join->predicate_count > 0,
                                               .contiguous = join->contiguous};
    }
}

static void expect_rows(const struct kernel_shape *shape, double rows_before[KERNEL_COLUMNS_MAX])
{
    double rows = TILE_ROWS;
    for (uint32_t c = 0; c < shape->column_count; c++) {
        rows_before[c] = rows;
        rows *= shape->columns[c].kept;
    }
}

/* ---- Shared memory ---- */

struct layout {
    const struct kernel_shape *shape;
    const struct kernel_target *target;
    struct kernel_plan *plan;
    double rows_before[KERNEL_COLUMNS_MAX];
    uint64_t used; /* by what a block has once */
};

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + 127) / 128 * 128;
}

/* Staging for the fewest warps must remain, whatever else is kept. */
static bool fits(const struct layout *layout, uint64_t bytes, uint32_t warps)
{
    return layout->used + bytes + (uint64_t)warps * layout->plan->staging_bytes <=
           layout->target->shared_block;
}

static void keep_bitmap(struct layout *layout, uint32_t j, uint64_t most)
{
    uint64_t bytes = aligned(layout->plan->bitmap_words[j] * sizeof(uint32_t));
    if (layout->plan->bitmap[j] != BITMAP_GLOBAL || layout->used + bytes > most ||
        !fits(layout, bytes, WORK_TILES))
        return;
    layout->plan->bitmap[j] = BITMAP_SHARED;
    layout->plan->bitmap_offset[j] = (uint32_t)layout->used;
    layout->used += bytes;
}

/* Bytes of shared memory that leave room for the loads on their way. */
static uint64_t roomy(const struct layout *layout)
{
    uint64_t lines = 0;
    for (uint32_t c = 0; c < layout->shape->column_count; c++)
        lines += layout->plan->preload[c] ? kernel_decoder_lines(&layout->shape->columns[c]) : 0;
    const uint64_t loading = lines * HALF_LINE_BYTES * (THREADS_WANTED / 32),
                   cache = layout->target->shared_multiprocessor * CACHE_EIGHTHS / 8;
    return loading < cache ? cache - loading : 0;
}

static void place_bitmaps(struct layout *layout, bool dense)
{
    const uint64_t most = dense ? layout->target->shared_block : roomy(layout);
    for (uint32_t j = 0; j < layout->shape->join_count; j++)
        if (!dense || layout->rows_before[layout->shape->joins[j].column] >= DENSE_ROWS_MIN)
            keep_bitmap(layout, j, most);
}

static void name_bitmaps(struct layout *layout)
{
    for (uint32_t j = 0; j < layout->shape->join_count; j++) {
        const struct kernel_join *join = &layout->shape->joins[j];
        if (!join->filtered)
            continue;
        layout->plan->bitmap_words[j] = (uint32_t)(join->rows / 32 + 1);
        layout->plan->bitmap[j] = join->contiguous && layout->plan->bitmap_words[j] <= RANGE_WORDS_MAX
                                      ? BITMAP_RANGE
                                      : BITMAP_GLOBAL;
    }
}

/* Columns whose whole tiles are needed go to registers, as long as these last. */
static void plan_registers(struct layout *layout)
{
    const struct kernel_shape *shape = layout->shape;
    struct kernel_plan *plan = layout->plan;
    uint32_t words = 0;
    for (uint32_t c = 0; c < shape->column_count; c++) {
        uint32_t own = kernel_decoder_lines(&shape->columns[c]);
        plan->preload[c] = own && shape->columns[c].kept < 1 && layout->rows_before[c] >= DENSE_ROWS_MIN &&
                           words + own <= PRELOAD_WORDS_MAX;
        words += plan->preload[c] ? own : 0;
    }
}

/* The multiprocessor's threads come in blocks as small as what a block keeps once allows. */
static void plan_threads(struct layout *layout)
{
    struct kernel_plan *plan = layout->plan;
    const uint64_t total = layout->target->shared_multiprocessor;
    const uint32_t wanted =
        layout->target->threads < THREADS_WANTED ? layout->target->threads : THREADS_WANTED;
    for (plan->threads = 256; plan->threads < wanted; plan->threads *= 2) {
        uint64_t block =
            layout->used + (uint64_t)plan->staging_bytes * (plan->threads / 32) + RESERVED_SHARED_BYTES;
        if (block * (wanted / plan->threads) <= total && layout->used <= total / 16)
            break;
    }
    while (plan->threads > 256 && !fits(layout, 0, plan->threads / 32))
        plan->threads /= 2;
    uint64_t blocks =
        total / (layout->used + (uint64_t)plan->staging_bytes * (plan->threads / 32) + RESERVED_SHARED_BYTES);
    blocks = blocks > wanted / plan->threads ? wanted / plan->threads : blocks;
    plan->blocks_per_multiprocessor = blocks ? (uint32_t)blocks : 1;
}

static enum status plan_shared(struct layout *layout, struct error *error)
{
    const struct kernel_shape *shape = layout->shape;
    struct kernel_plan *plan = layout->plan;
    for (uint32_t c = 0; c < shape->column_count; c++) {
        plan->staging[c] = plan->staging_bytes;
        plan->staging_bytes += kernel_decoder_staging(&shape->columns[c]);
    }
    layout->used = aligned(shape->sums_bytes);
    if (!fits(layout, 0, WORK_TILES))
        return error_set(error, STATUS_MACHINE,
                         "query %s needs %llu bytes of shared memory a block, this GPU has %llu; use a codec "
                         "with random access",
                         shape->name, (unsigned long long)(layout->used + WORK_TILES * plan->staging_bytes),
                         (unsigned long long)layout->target->shared_block);
    plan_registers(layout);
    name_bitmaps(layout);
    place_bitmaps(layout, true);
    place_bitmaps(layout, false);
    plan_threads(layout);
    plan->staging_offset = (uint32_t)layout->used;
    plan->shared_bytes = layout->used + plan->threads / 32 * plan->staging_bytes;
    return STATUS_OK;
}

enum status kernel_plan_lay_out(const struct kernel_shape *shape, const struct kernel_target *target,
                                struct kernel_plan *plan, struct error *error)
{
    *plan = (struct kernel_plan){0};
    struct layout layout = {.shape = shape, .target = target, .plan = plan};
    expect_rows(shape, layout.rows_before);
    return plan_shared(&layout, error);
}

/* A slot of a block's own sums: 64 bits, and 32 for whether there is a row. */
#define SUMS_SLOT_BYTES 12u

enum status kernel_plan_make(const struct bound_query *bound, const struct kernel_target *target,
                             struct kernel_plan *plan, struct error *error)
{
    struct kernel_shape shape;
    shape_make(bound, &shape);
    const uint64_t bytes = (uint64_t)bound->slots * SUMS_SLOT_BYTES;
    const enum sums_place sums = bound->group_count == 0          ? SUMS_SINGLE
                                 : bytes <= KERNEL_SUMS_BYTES_MAX ? SUMS_SHARED
                                                                  : SUMS_GLOBAL;
    shape.sums_bytes = sums == SUMS_SHARED ? bytes : 0;
    RETURN_IF_ERROR(kernel_plan_lay_out(&shape, target, plan, error));
    plan->sums = sums;
    enum status status = kernel_source_write(bound, &shape, plan, error);
    if (status != STATUS_OK)
        kernel_plan_free(plan);
    return status;
}

void kernel_plan_free(struct kernel_plan *plan)
{
    free(plan->source);
    plan->source = NULL;
}
