/*
 * tile_skip.h: which tiles of a fact table can hold a row that a query keeps, going by the least and greatest
 * value that column files note for every tile.
 *
 * Done once when a query is bound: a few comparisons a tile and filter, no value is decoded (117,000 tiles at
 * scale factor 20). What comes out is the list of runs of tiles that are left; both devices scan these and
 * nothing else. Where nothing can be left out, there is one run a segment: the whole table.
 */
#ifndef TESSERA_ENGINE_PLAN_TILE_SKIP_H
#define TESSERA_ENGINE_PLAN_TILE_SKIP_H

#include "storage/database/database.h"

/* Row positions of a dimension, at most 2^31, and how many of them lie below each word of 64: whether any of
 * them lies in a range is known from two look-ups. */
struct position_set {
    uint64_t positions; /* that could be in it */
    uint64_t *bits;
    uint32_t *before; /* positions in the words before; one entry more than words */
};
NODISCARD enum status position_set_create(uint64_t positions, struct position_set *set, struct error *error);
static inline void position_set_add(struct position_set *set, uint64_t position)
{
    set->bits[position / 64] |= UINT64_C(1) << position % 64;
}
/* Once, behind the last position. */
void position_set_count(struct position_set *set);
/* True if any position of first .. last is in the set; the ends may lie outside it. */
bool position_set_meets(const struct position_set *set, int64_t first, int64_t last);
void position_set_free(struct position_set *set);

/* What a row must satisfy to be kept: it is not NULL, lies in low .. high and, if there is a set, in the set.
 */
struct tile_test {
    const struct column_data *data;
    int64_t low, high;
    const struct position_set *set;
};

/* Neighbouring tiles of one segment. */
struct tile_run {
    uint32_t segment;
    uint32_t first, tiles; /* tiles >= 1 */
    uint64_t before;       /* tiles of all runs before this one */
};

struct tile_skip {
    uint64_t run_count;
    struct tile_run *runs; /* ascending */
    uint64_t tiles, rows;  /* of the table */
    uint64_t kept_tiles, kept_rows;
};

/* The tiles of `table` that pass all tests. Free with tile_skip_free. */
NODISCARD enum status tile_skip_find(const struct table *table, const struct tile_test *tests, uint32_t count,
                                     struct tile_skip *skip, struct error *error);
void tile_skip_free(struct tile_skip *skip);

/* Those of them that lie in `count` segments, given in ascending order; `tiles` and `rows` stay the table's. Free with
 * tile_skip_free. */
NODISCARD enum status tile_skip_select(const struct tile_skip *skip, const uint32_t *segments, uint32_t count,
                                       struct tile_skip *selected, struct error *error);

/* The run that holds the kept tile of that number, which must be below kept_tiles. */
uint64_t tile_skip_run(const struct tile_skip *skip, uint64_t kept_tile);

/* Tiles of the segment that `width` neighbouring places hold from the run's tile `first` on, up to the last
 * one that is kept: whoever takes `width` tiles at a time takes these, and scans what lies between two runs in
 * vain. Moves *run and *first to the next kept tile, *run to run_count at the end. */
uint32_t tile_skip_take(const struct tile_skip *skip, uint32_t width, uint64_t *run, uint32_t *first);

#endif
