/* index_mask.c: see index_mask.h. A unit of work is some consecutive pieces of a segment; all terms are done for it while
 * its bits are in the cache. */
#include "engine/cpu/index_mask.h"

#include "storage/base/memory.h"
#include "storage/index/bitset.h"
#include "storage/index/index_file.h"
#include "storage/index/wah_bits.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Several units a thread, because some take longer; at most 2 M rows each, 256 KB of bits. */
#define UNITS_OF_THREAD 4u
#define UNIT_TILES_MAX  2048u

#define PIECE_TILES64   (WAH_PIECE_ROWS / TILE_ROWS)
#define PIECE_TILES32   (WAH32_PIECE_ROWS / TILE_ROWS)
#define PIECE_TILESFLAT 64u

/* ---- Memory ---- */

static uint64_t segment_words(const struct plan *plan, uint32_t segment)
{
    return (plan->fact->segment_rows[segment] + TILE_ROWS - 1ull) / TILE_ROWS * TILE_MASK_WORDS;
}

static enum status take_bits(struct index_mask *mask, struct error *error)
{
    const struct plan *plan = mask->plan;
    uint64_t words = 0;
    RETURN_IF_ERROR(memory_zeros(&mask->first, (plan->fact->segment_count + 1ull) * sizeof *mask->first,
                                 "segments", error));
    for (uint64_t r = 0; r < plan->scan.run_count; r++)
        if (r == 0 || plan->scan.runs[r].segment != plan->scan.runs[r - 1].segment) {
            mask->first[plan->scan.runs[r].segment] = words;
            words += segment_words(plan, plan->scan.runs[r].segment);
        }
    mask->bits = aligned_alloc(64, words * sizeof *mask->bits + 64 - words * sizeof *mask->bits % 64);
    return mask->bits ? STATUS_OK
                      : error_out_of_memory(error, words * sizeof *mask->bits,
                                            "the rows that indexes let through (--index off does without)");
}

enum status index_mask_create(const struct plan *plan, struct index_mask **mask, struct error *error)
{
    RETURN_IF_ERROR(memory_zeros(mask, sizeof **mask, "a mask", error));
    (*mask)->plan = plan;
    const enum status status = take_bits(*mask, error);
    if (status != STATUS_OK) {
        index_mask_free(*mask);
        *mask = NULL;
    }
    return status;
}

void index_mask_free(struct index_mask *mask)
{
    if (!mask)
        return;
    free(mask->bits);
    free(mask->first);
    free(mask);
}

/* ---- One unit ---- */

/* Tiles of a segment; `first` is the first of a piece in every term's format. */
struct unit {
    uint32_t segment, first, tiles;
    uint64_t *bits;
};

#define DEFINE_OR(wah, word, piece_tiles)                                                                \
    static enum status wah##_or_unit(const struct plan_index_term *term, const struct unit *unit,        \
                                     bool narrow, struct error *error)                                   \
    {                                                                                                    \
        const struct index_segment *const segment = &term->index->segments[unit->segment];               \
        struct wah##_vector *vectors = NULL;                                                             \
        const struct wah_start **directories = NULL;                                                     \
        const uint64_t room = term->index->vector_count + 1ull;                                          \
        uint64_t count = 0;                                                                              \
        enum status status = memory_take(&vectors, room * sizeof *vectors, "an index's vectors", error); \
        if (status == STATUS_OK)                                                                         \
            status = memory_take(&directories, room * sizeof *directories, "an index's vectors", error); \
        for (uint32_t r = 0; status == STATUS_OK && r < term->run_count; r++)                            \
            for (uint32_t v = 0; v < term->runs[r].count; v++) {                                         \
                const struct index_vector *const vector = &segment->vectors[term->runs[r].first + v];    \
                if (vector->rows == 0)                                                                   \
                    continue;                                                                            \
                vectors[count] = (struct wah##_vector){                                                  \
                    .words = (const word *)segment->words + vector->first, .count = vector->words};      \
                directories[count++] =                                                                   \
                    vector->pieces == INDEX_NO_PIECES ? NULL : segment->pieces + vector->pieces;         \
            }                                                                                            \
        const struct wah_bits_part part = {.rows = segment->rows,                                        \
                                           .first = unit->first / (piece_tiles),                         \
                                           .pieces = (unit->tiles + (piece_tiles)-1) / (piece_tiles),    \
                                           .narrow = narrow,                                             \
                                           .words = (uint64_t)unit->tiles * TILE_MASK_WORDS};            \
        if (status == STATUS_OK)                                                                         \
            status = wah##_or_bits(vectors, directories, count, &part, unit->bits, error);               \
        free(directories);                                                                               \
        free(vectors);                                                                                   \
        return status;                                                                                   \
    }

DEFINE_OR(wah, uint64_t, PIECE_TILES64)
DEFINE_OR(wah32, uint32_t, PIECE_TILES32)

static enum status flat_or_unit(const struct plan_index_term *term, const struct unit *unit, bool narrow,
                                struct error *error)
{
    const struct index_segment *const segment = &term->index->segments[unit->segment];
    const uint64_t first = (uint64_t)unit->first * TILE_MASK_WORDS, all = bitset_words(segment->rows);
    const uint64_t words = (uint64_t)unit->tiles * TILE_MASK_WORDS,
                   exist = all - first < words ? all - first : words;
    const uint64_t **sets = NULL;
    uint64_t *other = NULL, count = 0;
    enum status status =
        memory_take(&sets, (term->index->vector_count + 1ull) * sizeof *sets, "an index's vectors", error);
    if (status == STATUS_OK && narrow)
        status = memory_take(&other, words * sizeof *other, "a mask", error);
    for (uint32_t r = 0; status == STATUS_OK && r < term->run_count; r++)
        for (uint32_t v = 0; v < term->runs[r].count; v++) {
            const struct index_vector *const vector = &segment->vectors[term->runs[r].first + v];
            if (vector->rows)
                sets[count++] = (const uint64_t *)segment->words + vector->first + first;
        }
    if (status == STATUS_OK) {
        bitset_or_many(sets, count, exist, narrow ? other : unit->bits);
        if (narrow)
            bitset_and(unit->bits, other, exist);
        memset(unit->bits + exist, 0, (words - exist) * sizeof *unit->bits);
    }
    free(other);
    free(sets);
    return status;
}

/* ---- All units ---- */

struct work {
    const struct plan *plan;
    struct unit *units;
    uint64_t count;
    uint32_t grain; /* a unit begins at a multiple of so many tiles, */
    uint32_t tiles; /* and is of so many at most */
    atomic_uint_fast64_t rows;
};

static enum status make_unit(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct work *const work = context;
    const struct unit *const unit = &work->units[item];
    const struct plan_index *const index = &work->plan->index;
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    for (uint32_t t = 0; t < index->term_count; t++) {
        const enum index_format format = index->terms[t].index->index->wish.format;
        RETURN_IF_ERROR((format == INDEX_WAH64   ? wah_or_unit
                         : format == INDEX_WAH32 ? wah32_or_unit
                                                 : flat_or_unit)(&index->terms[t], unit, t > 0, error));
    }
    atomic_fetch_add(&work->rows, bitset_count(unit->bits, (uint64_t)unit->tiles * TILE_MASK_WORDS));
    return STATUS_OK;
}

/* Pieces of 63 and of 31 tiles begin together at every 1953rd. */
static uint32_t grain_of(const struct plan_index *index)
{
    bool wide = false, narrow = false;
    for (uint32_t t = 0; t < index->term_count; t++) {
        wide |= index->terms[t].index->index->wish.format == INDEX_WAH64;
        narrow |= index->terms[t].index->index->wish.format == INDEX_WAH32;
    }
    return wide && narrow ? PIECE_TILES64 * PIECE_TILES32
           : wide         ? PIECE_TILES64
           : narrow       ? PIECE_TILES32
                          : PIECE_TILESFLAT;
}

/* Adds the whole grains that have tiles first .. end - 1, unless the unit before has them. */
static void add_tiles(struct work *work, const struct index_mask *mask, uint32_t segment, uint32_t first,
                      uint32_t end)
{
    const uint32_t all = (uint32_t)(segment_words(mask->plan, segment) / TILE_MASK_WORDS);
    struct unit *const before = work->count ? &work->units[work->count - 1] : NULL;
    const uint32_t done = before && before->segment == segment ? before->first + before->tiles : 0;
    first = first / work->grain * work->grain;
    first = first > done ? first : done;
    end = (end + work->grain - 1) / work->grain * work->grain;
    end = end < all ? end : all;
    if (first < end)
        work->units[work->count++] =
            (struct unit){.segment = segment,
                          .first = first,
                          .tiles = end - first,
                          .bits = mask->bits + mask->first[segment] + (uint64_t)first * TILE_MASK_WORDS};
}

/* Cuts the kept tiles into units. */
static enum status cut(struct work *work, const struct index_mask *mask, const struct tile_skip *scan,
                       unsigned threads, struct error *error)
{
    const uint64_t fair = scan->kept_tiles / (UNITS_OF_THREAD * threads) / work->grain * work->grain;
    work->tiles = (uint32_t)(fair < UNIT_TILES_MAX ? fair : UNIT_TILES_MAX) / work->grain * work->grain;
    work->tiles = work->tiles ? work->tiles : work->grain;
    const uint64_t most = scan->kept_tiles / work->tiles + 2 * scan->run_count + 1;
    RETURN_IF_ERROR(memory_take(&work->units, most * sizeof *work->units, "the parts of a mask", error));
    for (uint64_t r = 0; r < scan->run_count; r++) {
        const struct tile_run *const run = &scan->runs[r];
        const uint32_t end = run->first + run->tiles;
        for (uint32_t tile = run->first, next; tile < end; tile = next) {
            next = tile / work->tiles * work->tiles + work->tiles;
            add_tiles(work, mask, run->segment, tile, next < end ? next : end);
        }
    }
    return STATUS_OK;
}

enum status index_mask_make(struct index_mask *mask, const struct tile_skip *scan, unsigned threads,
                            uint64_t *rows, struct error *error)
{
    struct work work = {.plan = mask->plan, .grain = grain_of(&mask->plan->index)};
    RETURN_IF_ERROR(cut(&work, mask, scan, threads, error));
    const enum status status = parallel_for(threads, work.count, make_unit, &work, error);
    free(work.units);
    if (rows)
        *rows = atomic_load(&work.rows);
    return status;
}
