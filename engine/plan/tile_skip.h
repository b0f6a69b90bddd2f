/*
 * tile_skip.h: finds the tiles of a fact table that can have a row which passes a query's filters. Column
 * files have the minimum and maximum of every tile for this.
 *
 * Called once when a query is bound. It takes a few comparisons a tile and filter (117,000 tiles at scale
 * factor 20) and decodes no values. The result is a list of runs of tiles; both devices scan these tiles
 * only. If no tile can be skipped, there is one run for each segment.
 */
#ifndef TESSERA_ENGINE_PLAN_TILE_SKIP_H
#define TESSERA_ENGINE_PLAN_TILE_SKIP_H

#include "storage/database/database.h"

/* A set of positions of a dimension, at most 2^31, and the number of positions before each word of 64.
 * Two look-ups find whether any position of the set is in a range. */
struct position_set {
    uint64_t positions; /* 0 .. positions - 1 can be in the set */
    uint32_t shift;     /* not 0: it is a set of prefixes, position >> shift; the creator sets it */
    uint64_t *bits;
    uint32_t *before; /* the number of positions in the words before; one more entry than words */
    uint64_t least;   /* member; UINT64_MAX >> 1 >> shift: there is none */
};
NODISCARD enum status position_set_create(uint64_t positions, struct position_set *set, struct error *error);
static inline void position_set_add(struct position_set *set, uint64_t position)
{
    position >>= set->shift;
    set->bits[position / 64] |= UINT64_C(1) << position % 64;
}
/* Fills `before` and `least`; call it once, after the last position has been added. */
void position_set_count(struct position_set *set);
/* The number of positions first .. last in the set, or of their prefixes; first <= last, both can be in it. */
uint64_t position_set_members(const struct position_set *set, uint64_t first, uint64_t last);
/* True if any position of first .. last is in the set; the ends may be outside 0 .. positions - 1. */
bool position_set_meets(const struct position_set *set, int64_t first, int64_t last);
void position_set_free(struct position_set *set);

/* A test of a column's value in a row: it is not NULL, is in low .. high and, if there is a set or a list, in it. */
struct tile_test {
    const struct column_data *data;
    int64_t low, high;
    const struct position_set *set;
    const int64_t *values; /* or NULL: `value_count` values, ascending */
    uint64_t value_count;

    /* NULL, or for each code of leading bits which tiles may have it, `code_stride` words apart; the set has only codes of
     * `code_set`. Exact: nothing else needs to be tested. tiles/tile_codes.h sets them. */
    const uint64_t *codes;
    uint64_t code_stride, code_set;
    bool code_exact;
};

/* Whether any tile may be left out, going by what all tiles of each segment span. */
bool tile_test_may_skip(const struct tile_test *test, const struct table *table);

/* The groups of 64 tiles of a segment. */
static inline uint32_t tile_group_count(const struct table *table, uint32_t segment)
{
    const uint32_t tiles = (table->segment_rows[segment] + TILE_ROWS - 1) / TILE_ROWS;
    return (tiles + BOUNDS_TILES - 1) / BOUNDS_TILES;
}

/* Consecutive tiles of one segment. */
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

/* Finds the tiles of `table` that may have a row which passes all tests, on up to `threads` threads (at least 1). Free
 * with tile_skip_free. */
NODISCARD enum status tile_skip_find(const struct table *table, const struct tile_test *tests, uint32_t count,
                                     unsigned threads, struct tile_skip *skip, struct error *error);
void tile_skip_free(struct tile_skip *skip);

/* Selects the tiles of `skip` in `count` segments, which are ascending; `tiles` and `rows` are still those of
 * the table. Free with tile_skip_free. */
NODISCARD enum status tile_skip_select(const struct tile_skip *skip, const uint32_t *segments, uint32_t count,
                                       struct tile_skip *selected, struct error *error);

/* Removes the kept tiles for which `keep` is false. */
NODISCARD enum status tile_skip_narrow(struct tile_skip *skip, const struct table *table,
                                       bool (*keep)(const void *context, uint32_t segment, uint32_t tile),
                                       const void *context, struct error *error);

/* The run that has the kept tile of this number, which must be less than kept_tiles. */
uint64_t tile_skip_run(const struct tile_skip *skip, uint64_t kept_tile);

/* For scans that take `width` consecutive tiles at a time: the number of tiles, at most `width`, from the
 * run's tile `first` to the last kept one among them. Tiles between two runs are scanned in vain. Moves *run
 * and *first to the next kept tile; *run is run_count at the end. */
uint32_t tile_skip_take(const struct tile_skip *skip, uint32_t width, uint64_t *run, uint32_t *first);

/* For decoding a column before a scan that takes `width` tiles at a time: lists all tiles that the scan reads, in pieces of
 * at most `width`; or the blocks that have them, if the column's codec decodes blocks, each once. The caller frees
 * *units. `before` is not set. */
NODISCARD enum status tile_skip_units(const struct tile_skip *skip, const struct column_data *data,
                                      uint32_t width, struct tile_run **units, uint64_t *count,
                                      struct error *error);

#endif
