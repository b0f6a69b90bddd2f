/*
 * wah_bits.h: the OR of many compressed vectors as a flat bitset, for some of their pieces: what a query's index step
 * needs (engine/cpu/index_mask.h).
 *
 * A piece is 63 or 31 tiles of 1024 rows, so its bits are whole words of the bitset: 1008 or 496. A piece is OR-ed and
 * decompressed in the first-level cache, and its bits are written once; nothing is compressed in between.
 */
#ifndef TESSERA_STORAGE_INDEX_WAH_BITS_H
#define TESSERA_STORAGE_INDEX_WAH_BITS_H

#include "storage/index/wah_range.h"

/* Some pieces of vectors that have all `rows` rows. directories[v] is NULL if the vector has none; then the vector is
 * walked from its first word on, which is meant for short ones. */
struct wah_bits_part {
    uint64_t rows;
    uint64_t first, pieces; /* at least one */
    bool narrow;            /* AND the OR of the vectors to the bits; else overwrite the bits */
    uint64_t words;         /* of the bitset from the first piece's on; words after the last row get zeros */
};

/* Row r of the vectors is bit r % 64 of bits[(r - the first piece's first row) / 64]. Memory: 36 bytes a vector. */
NODISCARD enum status wah_or_bits(const struct wah_vector *vectors,
                                  const struct wah_start *const *directories, uint64_t count,
                                  const struct wah_bits_part *part, uint64_t *bits, struct error *error);
NODISCARD enum status wah32_or_bits(const struct wah32_vector *vectors,
                                    const struct wah_start *const *directories, uint64_t count,
                                    const struct wah_bits_part *part, uint64_t *bits, struct error *error);

#endif
