/*
 * kernel_plan.c: what a kernel keeps where (kernel_plan.h): first what every block must have, then the
 * bitmaps that many rows probe, then the others that fit; and the columns whose words are loaded ahead.
 */
#include "engine/kernel_plan.h"

#include <stdlib.h>

/* More slots than this are summed in global memory: 12 bytes a slot, 72 KB at the most. */
#define SHARED_SLOTS_MAX 6144u

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

/* ---- What decode_cuda.h says of a decoder ---- */

static uint32_t scratch_bytes(enum codec_id codec)
{
    return codec == CODEC_RANK_RLE ? 256 : codec == CODEC_GPU_RFOR ? 128 : 0;
}

static uint32_t staging_bytes(const struct fact_column *column)
{
    bool staged =
        column->fetched && column->data->codec->id != CODEC_LANE_SLICE && !column->data->codec->random_access;
    return scratch_bytes(column->data->codec->id) + (staged ? TILE_ROWS * (uint32_t)sizeof(uint32_t) : 0);
}

/* Lines of 128 bytes that a tile has at most, 0 for codecs that are not made of lines (or of too many
 * different numbers of them: TILE_WIDTHS_MAX). */
static uint32_t column_lines(const struct fact_column *column)
{
    switch (column->data->codec->id) {
    case CODEC_PLAIN:
        return 32;
    case CODEC_LANE_SLICE:
        return column->width_high;
    case CODEC_LANE_FOR:
        return column->width_high - column->width_low < TILE_WIDTHS_MAX ? column->width_high : 0;
    default:
        return 0;
    }
}

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

/* Columns stand in the order of the filters and then the joins, as the kernels apply them. */
static void expect_rows(const struct bound_query *bound, double rows_before[BOUND_COLUMNS_MAX])
{
    double rows = TILE_ROWS;
    for (uint32_t c = 0; c < bound->column_count; c++) {
        rows_before[c] = rows;
        rows *= kept_share(bound, c);
    }
}

/* ---- Shared memory ---- */

struct layout {
    const struct bound_query *bound;
    const struct kernel_target *target;
    struct kernel_plan *plan;
    double rows_before[BOUND_COLUMNS_MAX];
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
    for (uint32_t c = 0; c < layout->bound->column_count; c++)
        lines += layout->plan->preload[c] ? column_lines(&layout->bound->columns[c]) : 0;
    const uint64_t loading = lines * HALF_LINE_BYTES * (THREADS_WANTED / 32),
                   cache = layout->target->shared_multiprocessor * CACHE_EIGHTHS / 8;
    return loading < cache ? cache - loading : 0;
}

static void place_bitmaps(struct layout *layout, bool dense)
{
    const uint64_t most = dense ? layout->target->shared_block : roomy(layout);
    for (uint32_t j = 0; j < layout->bound->join_count; j++)
        if (!dense || layout->rows_before[layout->bound->joins[j].column] >= DENSE_ROWS_MIN)
            keep_bitmap(layout, j, most);
}

static void name_bitmaps(struct layout *layout)
{
    for (uint32_t j = 0; j < layout->bound->join_count; j++) {
        const struct dimension_join *join = &layout->bound->joins[j];
        if (join->predicate_count == 0)
            continue;
        layout->plan->bitmap_words[j] = (uint32_t)(join->table->rows / 32 + 1);
        layout->plan->bitmap[j] = join->contiguous && layout->plan->bitmap_words[j] <= RANGE_WORDS_MAX
                                      ? BITMAP_RANGE
                                      : BITMAP_GLOBAL;
    }
}

/* Columns whose whole tiles are needed go to registers, as long as these last. */
static void plan_registers(struct layout *layout)
{
    const struct bound_query *bound = layout->bound;
    struct kernel_plan *plan = layout->plan;
    uint32_t words = 0;
    for (uint32_t c = 0; c < bound->column_count; c++) {
        uint32_t own = column_lines(&bound->columns[c]);
        plan->preload[c] = own && kept_share(bound, c) < 1 && layout->rows_before[c] >= DENSE_ROWS_MIN &&
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
    const struct bound_query *bound = layout->bound;
    struct kernel_plan *plan = layout->plan;
    for (uint32_t c = 0; c < bound->column_count; c++) {
        plan->staging[c] = plan->staging_bytes;
        plan->staging_bytes += staging_bytes(&bound->columns[c]);
    }
    plan->sums = bound->group_count == 0            ? SUMS_SINGLE
                 : bound->slots <= SHARED_SLOTS_MAX ? SUMS_SHARED
                                                    : SUMS_GLOBAL;
    layout->used = plan->sums == SUMS_SHARED ? aligned((uint64_t)bound->slots * 12) : 0;
    if (!fits(layout, 0, WORK_TILES))
        return error_set(error, STATUS_MACHINE,
                         "query %s needs %llu bytes of shared memory a block, this GPU has %llu; use a codec "
                         "with random access",
                         bound->query->name,
                         (unsigned long long)(layout->used + WORK_TILES * plan->staging_bytes),
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

enum status kernel_plan_make(const struct bound_query *bound, const struct kernel_target *target,
                             struct kernel_plan *plan, struct error *error)
{
    *plan = (struct kernel_plan){0};
    struct layout layout = {.bound = bound, .target = target, .plan = plan};
    expect_rows(bound, layout.rows_before);
    RETURN_IF_ERROR(plan_shared(&layout, error));
    enum status status = kernel_source_write(bound, plan, error);
    if (status != STATUS_OK)
        kernel_plan_free(plan);
    return status;
}

void kernel_plan_free(struct kernel_plan *plan)
{
    free(plan->source);
    plan->source = NULL;
}
