/*
 * kernel_layout.c: plans a kernel's shared memory and registers (kernel_layout.h). Shared memory gets first
 * the parts that every block needs, then the bitmaps that many rows probe, then other bitmaps if they fit.
 * Registers get the words of preloaded columns.
 */
#include "engine/gpu/kernel_layout.h"

#include "engine/gpu/kernel_decoder.h"
#include "operators/dialect/bound.h"

#include <math.h>
#include <string.h>

/* The shared memory that CUDA reserves for itself in each block. */
#define RESERVED_SHARED_BYTES 1024u

/* The threads of a multiprocessor: with 65,536 registers each thread has 64, enough for the packed words of a
 * tile. */
#define THREADS_WANTED 1024u

/* The most packed words that a thread preloads; the kernel needs the rest of its 64 registers. */
#define PRELOAD_WORDS_MAX 40u

/* With fewer survivors a tile, fetching their values one by one reads less memory than the whole tile. */
#define DENSE_ROWS_MIN 64
#define NARROW_LINES   8u

/* With fewer rows a tile, lanes that have one of them load a plane's words: a sector of 32 bytes has the words of 256
 * rows, so most sectors are not read. */
#define PLANE_ROWS_MIN 2.0

/* Lines are copied before it is known which sectors of 32 bytes rows need if so many of them are needed; and so many of a
 * tile. */
#define COPIED_SHARE     0.75
#define COPIED_LINES_MAX 64u

/* The most planes that are loaded first, and the most lines of which two tiles are in registers. */
#define PLANES_MAX      24u
#define AHEAD_LINES_MAX 14u

/* Shared memory and the first-level cache are one memory, 9/8 of the largest shared memory, and every load in
 * flight needs a line of the cache. So a bitmap that few rows probe stays out of shared memory if less than
 * half of the preloaded lines would have room: with it, the SSB's Q4.1 took 0.41 ms instead of 0.33 at scale
 * factor 20. */
#define CACHE_EIGHTHS   9u
#define HALF_LINE_BYTES 64u

/* ---- Shared memory ---- */

struct planner {
    const struct kernel_shape *shape;
    const struct kernel_target *target;
    struct kernel_layout *layout;
    double rows_before[KERNEL_COLUMNS_MAX];
    uint64_t used; /* bytes of shared memory that a block has once, not for each warp */
};

/* True if `bytes` more fit beside the staging areas of the fewest warps. */
static bool fits(const struct planner *planner, uint64_t bytes, uint32_t warps)
{
    return planner->used + bytes + (uint64_t)warps * planner->layout->staging_bytes <=
           planner->target->shared_block;
}

static void keep_bitmap(struct planner *planner, uint32_t j, uint64_t most)
{
    uint64_t bytes = kernel_layout_bytes(planner->layout->bitmap_words[j] * sizeof(uint32_t));
    if (planner->layout->bitmap[j] != BITMAP_GLOBAL || planner->used + bytes > most ||
        !fits(planner, bytes, WORK_TILES))
        return;
    planner->layout->bitmap[j] = BITMAP_SHARED;
    planner->layout->bitmap_offset[j] = (uint32_t)planner->used;
    planner->used += bytes;
}

/* The bytes of shared memory that leave enough cache for the loads in flight. */
static uint64_t roomy(const struct planner *planner)
{
    uint64_t lines = 0;
    for (uint32_t c = 0; c < planner->shape->column_count; c++)
        lines += planner->layout->preload[c] ? kernel_decoder_lines(&planner->shape->columns[c]) : 0;
    const uint64_t loading = lines * HALF_LINE_BYTES * (THREADS_WANTED / 32),
                   cache = planner->target->shared_multiprocessor * CACHE_EIGHTHS / 8;
    return loading < cache ? cache - loading : 0;
}

static void place_bitmaps(struct planner *planner, bool dense)
{
    const uint64_t most = dense ? planner->target->shared_block : roomy(planner);
    for (uint32_t j = 0; j < planner->shape->join_count; j++)
        if (!dense || planner->rows_before[planner->shape->joins[j].column] >= DENSE_ROWS_MIN)
            keep_bitmap(planner, j, most);
}

void kernel_layout_bitmaps(const struct kernel_shape *shape, struct kernel_layout *layout)
{
    for (uint32_t j = 0; j < shape->join_count; j++) {
        const struct kernel_join *join = &shape->joins[j];
        if (!join->filtered)
            continue;
        layout->bitmap[j] = join->contiguous ? BITMAP_RANGE : BITMAP_GLOBAL;
        layout->bitmap_words[j] = join->contiguous ? 0 : (uint32_t)(join->positions / 32 + 1);
    }
}

/* ---- Expected survivors before each column, and planes ---- */

/* Of each tile that is read, if this is the mean of all tiles: rows that are left are in these alone. */
static double rows_in_tile(const struct kernel_shape *shape, double rows)
{
    return rows < TILE_ROWS * shape->scanned ? rows / shape->scanned : TILE_ROWS;
}

/* The part of a column's selectivity that `count` of the planes of its test have: it is taken for spread evenly. */
static double share_of_planes(const struct kernel_column *column, uint32_t count)
{
    return pow(column->kept, (double)count / __builtin_popcount(column->test->care));
}

/* Chooses the planes to load first: those that a test reads, while enough rows are expected to pass what is tested
 * before them. They are tested before any step, so steps meet the rows that are left. */
static void plan_planes(struct planner *planner)
{
    const struct kernel_shape *shape = planner->shape;
    struct kernel_layout *layout = planner->layout;
    double rows = shape->indexed ? TILE_ROWS * shape->indexed_kept : TILE_ROWS;
    uint32_t lines = 0;
    for (uint32_t c = 0; c < shape->column_count; c++) {
        const struct kernel_column *column = &shape->columns[c];
        const uint32_t care = column->test ? column->test->care : 0;
        for (uint32_t bit = 32; bit-- > 0;)
            if ((care >> bit & 1) && rows_in_tile(shape, rows) >= PLANE_ROWS_MIN && lines < PLANES_MAX) {
                layout->first[c] |= 1u << bit;
                rows *= share_of_planes(column, 1);
                lines++;
            }
    }
    for (uint32_t c = 0; c < shape->column_count; c++) {
        const struct kernel_column *column = &shape->columns[c];
        planner->rows_before[c] = rows_in_tile(shape, rows);
        rows *= layout->first[c]
                    ? share_of_planes(column,
                                      (uint32_t)__builtin_popcount(column->test->care & ~layout->first[c]))
                    : column->kept;
    }
}

/* Tiles are loaded ahead if planes are loaded first, and two tiles' lines fit the registers. Planes that are apart take more of
 * them: with these, 13 queries on clustered rows took 0.0165 ms ahead and 0.0135 not (geometric means, SF 20). */
static void plan_ahead(struct planner *planner)
{
    const struct kernel_shape *shape = planner->shape;
    struct kernel_layout *layout = planner->layout;
    uint32_t planes = 0, lines = 0;
    bool apart = false;
    for (uint32_t c = 0; c < shape->column_count; c++) {
        planes += (uint32_t)__builtin_popcount(layout->first[c]);
        lines += layout->preload[c] ? kernel_decoder_lines(&shape->columns[c]) : 0;
        apart |= layout->first[c] && kernel_decoder_apart(&shape->columns[c]);
    }
    layout->ahead = planes && planes + lines <= AHEAD_LINES_MAX && !shape->indexed && !apart;
}

/* ---- Registers ---- */

/* The rows from which on a column is preloaded. A tile of few lines has fewer sectors of 32 bytes than that. */
static double dense_rows(uint32_t lines)
{
    return lines <= NARROW_LINES ? 4 * lines : DENSE_ROWS_MIN;
}

/* Chooses the columns to preload: those whose whole tiles are needed, while there are registers. */
static void plan_registers(struct planner *planner)
{
    const struct kernel_shape *shape = planner->shape;
    struct kernel_layout *layout = planner->layout;
    uint32_t words = 0;
    for (uint32_t c = 0; c < shape->column_count; c++) {
        uint32_t own = kernel_decoder_lines(&shape->columns[c]);
        layout->preload[c] = own && !shape->columns[c].planes && shape->columns[c].kept < 1 &&
                             planner->rows_before[c] >= dense_rows(own) && words + own <= PRELOAD_WORDS_MAX;
        words += layout->preload[c] ? own : 0;
    }
}

/* The share of a column's sectors of 32 bytes that have a survivor's bits: those of 8 lanes, and of a word that has the bits of
 * 32 / width items and of one that it shares with the next. */
static double share_of_sectors(const struct kernel_shape *shape, const struct kernel_column *column)
{
    const double items = 8 * (32.0 / column->width_high + 1);
    return column->width_high ? 1 - pow(1 - shape->dense, items) : 0;
}

/* Chooses the columns whose lines are copied: a lane's word is then read from shared memory for each of its rows, where loads of
 * lanes whose rows are not neighbours would look at a line each. */
static void plan_copies(struct planner *planner)
{
    const struct kernel_shape *shape = planner->shape;
    uint32_t lines = 0;
    for (uint32_t c = 0; c < shape->column_count; c++) {
        const struct kernel_column *column = &shape->columns[c];
        if (column->fetched && !column->whole && column->data->codec->gpu.copies &&
            !planner->layout->preload[c] && lines + column->width_high <= COPIED_LINES_MAX &&
            share_of_sectors(shape, column) >= COPIED_SHARE)
            planner->layout->copied[c] = column->width_high;
        lines += planner->layout->copied[c];
    }
}

/* Divides the multiprocessor's threads into blocks: as small as the shared memory that each block has once
 * allows. */
static void plan_threads(struct planner *planner)
{
    struct kernel_layout *layout = planner->layout;
    const uint64_t total = planner->target->shared_multiprocessor;
    const uint32_t wanted =
        planner->target->threads < THREADS_WANTED ? planner->target->threads : THREADS_WANTED;
    for (layout->threads = 256; layout->threads < wanted; layout->threads *= 2) {
        uint64_t block =
            planner->used + (uint64_t)layout->staging_bytes * (layout->threads / 32) + RESERVED_SHARED_BYTES;
        if (block * (wanted / layout->threads) <= total && planner->used <= total / 16)
            break;
    }
    while (layout->threads > 256 && !fits(planner, 0, layout->threads / 32))
        layout->threads /= 2;
    uint64_t blocks = total / (planner->used + (uint64_t)layout->staging_bytes * (layout->threads / 32) +
                               RESERVED_SHARED_BYTES);
    blocks = blocks > wanted / layout->threads ? wanted / layout->threads : blocks;
    layout->blocks_per_multiprocessor = blocks ? (uint32_t)blocks : 1;
}

uint64_t kernel_layout_least(const struct kernel_shape *shape)
{
    uint64_t bytes = kernel_layout_bytes(shape->sums_bytes);
    for (uint32_t c = 0; c < shape->column_count; c++)
        bytes += (uint64_t)WORK_TILES * kernel_decoder_staging(&shape->columns[c]);
    return bytes;
}

static void place_staging(struct planner *planner)
{
    struct kernel_layout *layout = planner->layout;
    layout->staging_bytes = 0;
    for (uint32_t c = 0; c < planner->shape->column_count; c++) {
        layout->staging[c] = layout->staging_bytes;
        layout->staging_bytes += kernel_decoder_staging(&planner->shape->columns[c]) +
                                 (layout->copied[c] ? COPIED_BYTES(layout->copied[c]) : 0);
    }
}

static enum status plan_shared(struct planner *planner, struct error *error)
{
    const struct kernel_shape *shape = planner->shape;
    struct kernel_layout *layout = planner->layout;
    plan_planes(planner);
    plan_registers(planner);
    plan_ahead(planner);
    plan_copies(planner);
    planner->used = kernel_layout_bytes(shape->sums_bytes);
    place_staging(planner);
    if (!fits(planner, 0, WORK_TILES)) {
        memset(layout->copied, 0, sizeof layout->copied);
        place_staging(planner);
    }
    if (!fits(planner, 0, WORK_TILES))
        return error_set(error, STATUS_MACHINE,
                         "query %s needs %llu bytes of shared memory a block, this GPU has %llu", shape->name,
                         (unsigned long long)kernel_layout_least(shape),
                         (unsigned long long)planner->target->shared_block);
    kernel_layout_bitmaps(shape, layout);
    place_bitmaps(planner, true);
    place_bitmaps(planner, false);
    plan_threads(planner);
    layout->staging_offset = (uint32_t)planner->used;
    layout->shared_bytes = planner->used + layout->threads / 32 * layout->staging_bytes;
    return STATUS_OK;
}

enum status kernel_layout_make(const struct kernel_shape *shape, const struct kernel_target *target,
                               struct kernel_layout *layout, struct error *error)
{
    struct planner planner = {.shape = shape, .target = target, .layout = layout};
    *layout = (struct kernel_layout){.test_first = !shape->counted};
    return plan_shared(&planner, error);
}
