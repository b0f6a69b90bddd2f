/*
 * index_mask.h: the rows that bitmap indexes let through (struct plan_index), as a bit for each row: made once a run,
 * before the scan, on all threads. It takes a bit for each row of the segments that are scanned, and writes these bits
 * once a term.
 */
#ifndef TESSERA_ENGINE_CPU_INDEX_MASK_H
#define TESSERA_ENGINE_CPU_INDEX_MASK_H

#include "engine/plan/plan.h"
#include "operators/dialect/tile_cpu.h"

struct index_mask {
    const struct plan *plan;
    uint64_t *bits;
    uint64_t *first; /* of each segment: its first word of `bits`, if plan->scan has a tile of it */
};

/* Takes the memory for the tiles of plan->scan; the plan has terms. The message of STATUS_MACHINE says how much. */
NODISCARD enum status index_mask_create(const struct plan *plan, struct index_mask **mask,
                                        struct error *error);
void index_mask_free(struct index_mask *mask); /* NULL is legal */

/* Makes the bits of the tiles of `scan`, which are some of plan->scan. *rows, which may be NULL, gets the number of rows
 * that are set in them; it is right if every term is exact. */
NODISCARD enum status index_mask_make(struct index_mask *mask, const struct tile_skip *scan, unsigned threads,
                                      uint64_t *rows, struct error *error);

/* The words of a tile, as in tile_mask. */
static inline const uint64_t *index_mask_tile(const struct index_mask *mask, uint32_t segment, uint32_t tile)
{
    return mask->bits + mask->first[segment] + (size_t)tile * TILE_MASK_WORDS;
}

static inline bool index_mask_is_empty(const uint64_t *words)
{
    uint64_t any = 0;
    for (uint32_t w = 0; w < TILE_MASK_WORDS; w++)
        any |= words[w];
    return any == 0;
}

#endif
