/*
 * planner.h: what the planner's search (planner_search.c) and its format (planner.c) share: plans, and the
 * items that the layers of a plan make of a tile. Called once a tile for each plan that is tried.
 */
#ifndef TESSERA_STORAGE_CODEC_CASCADE_PLANNER_H
#define TESSERA_STORAGE_CODEC_CASCADE_PLANNER_H

#include "storage/codec/cascade/planner_layers.h"
#include "storage/codec/integer/nsv.h"

struct planner_plan {
    uint32_t layers;                    /* PLANNER_RLE | ... */
    uint32_t value_width, length_width; /* NSF: bytes of each item, 1, 2, 4 or 8; 0: NSV */
    uint32_t entries;                   /* of the dictionary */
    int64_t reference;                  /* which FOR subtracts */
    uint64_t data_bytes, auxiliary_bytes;
};

/* Words of a tile's entry in the directory: first run, start of NSV values, start of NSV lengths, and the
 * first item before differences; each only if the plan needs it. */
static inline uint32_t planner_entry_words(const struct planner_plan *plan, uint32_t value_bytes)
{
    const bool rle = plan->layers & PLANNER_RLE;
    return rle + (plan->value_width == 0) + (rle && plan->length_width == 0) +
           (plan->layers & PLANNER_DELTA ? value_bytes / 4 : 0);
}

static inline uint64_t planner_directory_bytes(const struct planner_plan *plan, uint32_t tiles,
                                               uint32_t value_bytes)
{
    return (PLANNER_HEAD_WORDS + ((uint64_t)tiles + 1) * planner_entry_words(plan, value_bytes)) * 4;
}

/* ---- Null suppression ---- */

/* The words that NSV needs before the bytes of `count` items, for 2 bits each. */
static inline uint32_t planner_nsv_words(uint32_t count)
{
    return (count + 15) / 16;
}

/* The bytes that `count` items take; of NSV the items must be below 2^32. */
uint64_t planner_suppressed_bytes(const uint64_t *items, uint32_t count, uint32_t width);

/* ---- Layers ---- */

/* Codes are given in the order in which values first appear. A column with more values has no plan with DICT:
 * its codes would take 3 bytes, no less than most values. */
#define PLANNER_DICTIONARY_MAX (1u << 16)

struct planner_dictionary {
    int64_t *values; /* by code */
    uint32_t *slots; /* a hash table of codes + 1; 0: free */
    uint32_t slot_bits;
    uint32_t count, most;
    bool full; /* there were more values than `most` */
};

/* The dictionary's memory, which the caller gives. */
size_t planner_dictionary_bytes(uint32_t rows);
void planner_dictionary_create(void *memory, uint32_t rows, struct planner_dictionary *dictionary);

/* A tile's rows; its runs, and their codes in the dictionary if there is one. */
struct planner_tile {
    int64_t rows[TILE_ROWS], runs[TILE_ROWS], codes[TILE_ROWS];
    uint32_t run_count, lengths[TILE_ROWS];
};

/* Takes a tile of the chunk; new values get codes. */
void planner_tile_take(const void *values, uint32_t rows, uint32_t value_bytes, uint32_t tile,
                       struct planner_dictionary *dictionary, struct planner_tile *taken);

/* Applies the layers of a plan to a tile; returns the number of items. `first` is the first item before
 * DELTA. The items are signed numbers of value_bytes; FOR is not yet subtracted. */
uint32_t planner_items(const struct planner_tile *tile, uint32_t layers, uint32_t value_bytes,
                       int64_t items[TILE_ROWS], int64_t *first);

/* Subtracts the reference: unsigned numbers of value_bytes. */
void planner_subtract(const int64_t *items, uint32_t count, int64_t reference, uint32_t value_bytes,
                      uint64_t *offsets);

/* ---- The search ---- */

/* Finds the plan with the smallest chunk; fills the dictionary. */
void planner_choose(const void *values, uint32_t rows, uint32_t value_bytes,
                    struct planner_dictionary *dictionary, struct planner_plan *plan);

#endif
