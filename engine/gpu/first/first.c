/* first.c: see first.h. */
#include "engine/gpu/first/first.h"

#include "storage/base/memory.h"

#include <stdlib.h>

#define CHOOSE_THREADS  256u
#define TIGHTEN_THREADS 1024u

/* A sample has a tile of so many; a tile for so many wanted rows; but at least some. Larger samples take longer to read,
 * smaller ones let more rows through. */
#define SAMPLE_TILES_A_TILE 16u
#define SAMPLE_ROWS_A_TILE  8u
#define SAMPLE_TILES_MIN    64u

/* Of the best ranks of an item's tiles. */
#define BEST_BYTES (WORK_TILES * sizeof(uint64_t))

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

/* Marks `samples` of the items' `tiles` tiles: those with the best ranks or, without ranks, at even distances. `ranks` is
 * room for a number a tile. */
static void mark_items(struct bound_work *work, uint32_t count, const uint64_t *best, uint64_t tiles,
                       uint64_t samples, uint64_t *ranks)
{
    uint64_t at = 0, limit = UINT64_MAX, less = 0;
    for (uint32_t i = 0; best && i < count; i++)
        for (uint32_t t = 0; t < tiles_of(&work[i]); t++)
            ranks[at++] = best[(uint64_t)i * WORK_TILES + t];
    if (best && samples) {
        limit = first_rows_nth(ranks, at, samples);
        for (uint64_t i = 0; i < at; i++)
            less += ranks[i] < limit;
    }
    at = 0;
    uint64_t equal = samples - less; /* of the tiles that equal the limit */
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t t = 0; t < tiles_of(&work[i]); t++, at++) {
            bool sample = at * samples / tiles != (at + 1) * samples / tiles;
            if (best) {
                const uint64_t rank = best[(uint64_t)i * WORK_TILES + t];
                sample = rank < limit || (rank == limit && equal > 0);
                equal -= sample && rank == limit;
            }
            work[i].reserved |= (uint32_t)sample << (FIRST_SAMPLE_SHIFT + t);
        }
}

static uint64_t sample_tiles(const struct first_rows *rows, uint64_t tiles)
{
    uint64_t samples = tiles / SAMPLE_TILES_A_TILE;
    samples = samples < rows->wanted / SAMPLE_ROWS_A_TILE ? rows->wanted / SAMPLE_ROWS_A_TILE : samples;
    samples = samples < SAMPLE_TILES_MIN ? SAMPLE_TILES_MIN : samples;
    return samples < tiles ? samples : tiles;
}

/* Each segment has its part of the samples, because segments may be scanned one by one. */
enum status cuda_first_mark(const struct plan *plan, struct bound_work *work, uint32_t count, uint64_t *best,
                            struct cuda_first *first, struct error *error)
{
    const struct first_rows *rows = &plan->first;
    uint64_t tiles = 0, *ranks;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t t = 0; t < WORK_TILES; t++) {
            const bool exists = t < tiles_of(&work[i]);
            tiles += exists;
            if (best)
                best[(uint64_t)i * WORK_TILES + t] =
                    exists ? first_rows_best(rows, plan, work[i].segment, work[i].first_tile + t)
                           : UINT64_MAX;
        }
    first->samples = 0;
    if (rows->bound != UINT64_MAX && plan->scan.kept_tiles <= SAMPLE_TILES_MIN + 2 * rows->wanted)
        return STATUS_OK; /* the tiles' minima and maxima have told more than a sample can */
    const uint64_t wanted = sample_tiles(rows, tiles);
    RETURN_IF_ERROR(memory_take(&ranks, (tiles + 1) * sizeof *ranks, "ranks of tiles", error));
    for (uint32_t i = 0, end; i < count; i = end) {
        uint64_t own = 0;
        for (end = i; end < count && work[end].segment == work[i].segment; end++)
            own += tiles_of(&work[end]);
        const uint64_t samples = (wanted * own + tiles - 1) / tiles;
        mark_items(work + i, end - i, best ? best + (uint64_t)i * WORK_TILES : NULL, own, samples, ranks);
        first->samples += samples;
    }
    free(ranks);
    first->of_lanes = rows->wanted * SAMPLE_TILES_A_ROW > first->samples;
    return STATUS_OK;
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
    return cuda_upload(cuda, first->best, best, best_bytes, error);
}

enum status cuda_first_select(struct cuda *cuda, struct cuda_columns *columns, struct bound_work *work,
                              uint32_t count, struct cuda_first *first, struct error *error)
{
    uint64_t *best = NULL;
    free_lists(cuda, first);
    if (first_rows_know_tiles(&first->plan->first))
        RETURN_IF_ERROR(memory_take(&best, (count + 1ull) * BEST_BYTES, "ranks of tiles", error));
    enum status status = cuda_first_mark(first->plan, work, count, best, first, error);
    if (status == STATUS_OK)
        status = allocate_lists(cuda, columns, best, count, first, error);
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
    RETURN_IF_ERROR(
        cuda_stream_launch(cuda, launch->stream, first->tighten, 1, TIGHTEN_THREADS, 0, NULL, error));
    return choose(cuda, first, launch, false, error);
}
