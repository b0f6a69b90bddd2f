/* first.c: see first.h. */
#include "engine/gpu/first/first.h"

#include "storage/base/memory.h"
#include "storage/base/parallel.h"

#include <stdlib.h>
#include <string.h>

#define CHOOSE_THREADS 256u

/* A sample has a tile of so many; a tile for so many wanted rows; but at least some. Larger samples take longer to read,
 * smaller ones let more rows through. */
#define SAMPLE_TILES_A_TILE 16u
#define SAMPLE_ROWS_A_TILE  8u
#define SAMPLE_TILES_MIN    64u

/* Of the best ranks of an item's tiles. */
#define BEST_BYTES (WORK_TILES * sizeof(uint64_t))

/* Of fewer items one thread marks the samples. */
#define ITEMS_IN_PARALLEL 2048u

/* If a tile gives one rank, so many tiles for each wanted row must give one: with fewer, the bound is too weak. */
#define SAMPLE_TILES_A_ROW 4u

enum status cuda_first_open(struct cuda *cuda, struct cuda_module *module, const struct plan *plan,
                            struct cuda_first *first, struct error *error)
{
    first->plan = plan;
    RETURN_IF_ERROR(cuda_module_function(cuda, module, "first_choose", &first->choose, error));
    return cuda_module_function(cuda, module, "first_tighten", &first->tighten, error);
}

static void free_lists(struct cuda *cuda, struct cuda_first *first)
{
    cuda_free(cuda, first->chosen.work);
    cuda_free(cuda, first->best);
    cuda_free(cuda, first->known);
    first->chosen.work = first->best = first->known = 0;
}

void cuda_first_close(struct cuda *cuda, struct cuda_first *first)
{
    free_lists(cuda, first);
    *first = (struct cuda_first){0};
}

/* ---- Samples ---- */

static uint32_t tiles_of(const struct bound_work *item)
{
    return (item->rows + TILE_ROWS - 1) / TILE_ROWS;
}

/* The items of one segment: it has its part of the samples, because segments may be scanned one by one. */
struct marking {
    uint32_t first, end;
    uint64_t tiles, samples;
};

struct mark {
    const struct plan *plan;
    struct bound_work *work;
    uint64_t *best, *ranks; /* NULL; room for as many */
    struct marking *parts;
    uint32_t count;
    uint64_t tiles;
};

static void fill_best(const struct mark *mark, const struct marking *part)
{
    for (uint32_t i = part->first; i < part->end; i++)
        for (uint32_t t = 0; t < WORK_TILES; t++)
            mark->best[(uint64_t)i * WORK_TILES + t] =
                t < tiles_of(&mark->work[i])
                    ? first_rows_best(&mark->plan->first, mark->plan, mark->work[i].segment,
                                      mark->work[i].first_tile + t)
                    : UINT64_MAX;
}

/* Without ranks, samples are at even distances. */
static void mark_evenly(const struct mark *mark, const struct marking *part)
{
    uint64_t at = 0;
    for (uint32_t i = part->first; i < part->end; i++)
        for (uint32_t t = 0; t < tiles_of(&mark->work[i]); t++, at++)
            if (at * part->samples / part->tiles != (at + 1) * part->samples / part->tiles)
                mark->work[i].marks |= 1u << (FIRST_SAMPLE_SHIFT + t);
}

/* Samples are the tiles with the best ranks; of those that equal the last one, as many as are left. */
static void mark_best(const struct mark *mark, const struct marking *part)
{
    const uint64_t from = (uint64_t)part->first * WORK_TILES,
                   places = (uint64_t)part->end * WORK_TILES - from;
    uint64_t *const ranks = mark->ranks + from, equal = part->samples;
    memcpy(ranks, mark->best + from, places * sizeof *ranks);
    const uint64_t limit = first_rows_nth(ranks, places, part->samples);
    for (uint64_t at = 0; at < places; at++)
        equal -= mark->best[from + at] < limit;
    for (uint64_t at = 0; at < places; at++) {
        const uint64_t rank = mark->best[from + at];
        if (rank > limit || (rank == limit && equal == 0))
            continue;
        equal -= rank == limit;
        mark->work[part->first + at / WORK_TILES].marks |= 1u << (FIRST_SAMPLE_SHIFT + at % WORK_TILES);
    }
}

static enum status mark_part(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct mark *mark = context;
    const struct marking *part = &mark->parts[item];
    (void)thread;
    (void)error;
    if (mark->best)
        fill_best(mark, part);
    if (part->samples)
        (mark->best ? mark_best : mark_evenly)(mark, part);
    return STATUS_OK;
}

static void find_parts(struct mark *mark, uint32_t items)
{
    for (uint32_t i = 0; i < items; i++) {
        if (i == 0 || mark->work[i].segment != mark->work[i - 1].segment)
            mark->parts[mark->count++] = (struct marking){.first = i};
        struct marking *const part = &mark->parts[mark->count - 1];
        part->end = i + 1;
        part->tiles += tiles_of(&mark->work[i]);
        mark->tiles += tiles_of(&mark->work[i]);
    }
}

static uint64_t sample_tiles(const struct first_rows *rows, uint64_t tiles)
{
    uint64_t samples = tiles / SAMPLE_TILES_A_TILE;
    samples = samples < rows->wanted / SAMPLE_ROWS_A_TILE ? rows->wanted / SAMPLE_ROWS_A_TILE : samples;
    samples = samples < SAMPLE_TILES_MIN ? SAMPLE_TILES_MIN : samples;
    return samples < tiles ? samples : tiles;
}

enum status cuda_first_mark(const struct plan *plan, struct bound_work *work, uint32_t count, uint64_t *best,
                            struct cuda_first *first, struct error *error)
{
    const struct first_rows *rows = &plan->first;
    struct mark mark = {.plan = plan, .work = work, .best = best};
    RETURN_IF_ERROR(memory_zeros(&mark.parts, (plan->fact->segment_count + UINT64_C(1)) * sizeof *mark.parts,
                                 "samples", error));
    find_parts(&mark, count);
    /* of few tiles, minima and maxima have told more than a sample can */
    const bool known =
        rows->bound != UINT64_MAX && plan->scan.kept_tiles <= SAMPLE_TILES_MIN + 2 * rows->wanted;
    const uint64_t samples = known ? 0 : sample_tiles(rows, mark.tiles);
    first->samples = 0;
    for (uint32_t p = 0; p < mark.count; p++)
        first->samples += mark.parts[p].samples =
            (samples * mark.parts[p].tiles + mark.tiles - 1) / mark.tiles;
    first->of_lanes = rows->wanted * SAMPLE_TILES_A_ROW > first->samples;
    enum status status =
        best ? memory_take(&mark.ranks, (count + UINT64_C(1)) * BEST_BYTES, "ranks", error) : STATUS_OK;
    status = AND_THEN(status,
                      parallel_for(count < ITEMS_IN_PARALLEL ? 1 : 0, mark.count, mark_part, &mark, error));
    free(mark.ranks);
    free(mark.parts);
    return status;
}

static enum status allocate_lists(struct cuda *cuda, struct cuda_columns *columns, const uint64_t *best,
                                  uint32_t count, struct cuda_first *first, struct error *error)
{
    const uint64_t best_bytes = best ? count * BEST_BYTES : 0;
    RETURN_IF_ERROR(cuda_columns_allocate(columns, count * sizeof(struct bound_work), "the list of work",
                                          &first->chosen.work, error));
    RETURN_IF_ERROR(cuda_columns_allocate(
        columns, first->samples * (first->of_lanes ? TILE_LANES + 1 : 2) * sizeof(struct first_known),
        "ranks of a sample", &first->known, error));
    if (!best_bytes) /* an address says that there are ranks */
        return STATUS_OK;
    RETURN_IF_ERROR(cuda_columns_allocate(columns, best_bytes, "ranks of tiles", &first->best, error));
    return cuda_send(cuda, first->best, best, best_bytes, error);
}

enum status cuda_first_select(struct cuda *cuda, struct cuda_columns *columns, struct bound_work *work,
                              uint32_t count, struct cuda_first *first, struct error *error)
{
    uint64_t *best = NULL;
    free_lists(cuda, first);
    if (first_rows_know_tiles(&first->plan->first))
        RETURN_IF_ERROR(memory_take(&best, (count + 1ull) * BEST_BYTES, "ranks of tiles", error));
    enum status status = cuda_first_mark(first->plan, work, count, best, first, error);
    status = AND_THEN(status, allocate_lists(cuda, columns, best, count, first, error));
    free(best);
    return status;
}

/* ---- Launches ---- */

static enum status choose(struct cuda *cuda, const struct cuda_first *first,
                          const struct first_launch *launch, bool sampling, struct error *error)
{
    const uint32_t count = launch->work->items;
    const unsigned blocks = (count + CHOOSE_THREADS - 1) / CHOOSE_THREADS;
    struct first_choice choice = {.work = launch->work->work,
                                  .best = first->best ? first->best + launch->first * BEST_BYTES : 0,
                                  .chosen = first->chosen.work,
                                  .count = count,
                                  .sampling = sampling};
    void *arguments[] = {&choice};
    return cuda_stream_launch(cuda, launch->stream, first->choose, blocks ? blocks : 1, CHOOSE_THREADS, 0,
                              arguments, error);
}

enum status cuda_first_scan(struct cuda *cuda, struct cuda_first *first, const struct first_launch *launch,
                            struct error *error)
{
    void *arguments[] = {launch->bound, &first->chosen};
    return cuda_stream_launch(cuda, launch->stream, launch->scan, launch->blocks, launch->threads,
                              launch->shared_bytes, arguments, error);
}

enum status cuda_first_aim(struct cuda *cuda, struct cuda_first *first, const struct first_launch *launch,
                           struct error *error)
{
    if (first->samples) {
        RETURN_IF_ERROR(choose(cuda, first, launch, true, error));
        RETURN_IF_ERROR(cuda_first_scan(cuda, first, launch, error));
    }
    RETURN_IF_ERROR(cuda_stream_launch(cuda, launch->stream, first->tighten, 1, FIRST_TIGHTEN_THREADS,
                                       sizeof(struct first_tightening), NULL, error));
    return choose(cuda, first, launch, false, error);
}
