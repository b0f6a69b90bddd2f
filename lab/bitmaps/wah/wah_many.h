/*
 * wah_many.h: more operations on compressed bit vectors (storage/index/wah.h) than statements need: those of the paper on
 * bitmap indexes, whose results are compressed again. Each is there for words of 32 bits, too, with the same contract.
 */
#ifndef TESSERA_LAB_BITMAPS_WAH_WAH_MANY_H
#define TESSERA_LAB_BITMAPS_WAH_WAH_MANY_H

#include "storage/index/wah_range.h"

/* ---- Build ---- */

/* Append one group of 63 rows. The builder's rows must be a multiple of 63. */
NODISCARD enum status wah_append_group(struct wah_builder *builder, uint64_t bits, struct error *error);

/* Append `count` rows, the bits of a flat bitset. */
NODISCARD enum status wah_append_bits(struct wah_builder *builder, const uint64_t *bits, uint64_t count,
                                      struct error *error);

/* Sets row `row`, which must not be below builder->rows; rows between them are 0. */
NODISCARD enum status wah_append_row(struct wah_builder *builder, uint64_t row, struct error *error);

/* ---- Decompress ---- */

/* One word a group: groups[wah_groups(rows)]. */
void wah_to_groups(struct wah_vector vector, uint64_t *groups);

/* The groups of one piece, wah_groups(rows) - piece * 1024 or at most 1024, by its entry of the directory. */
void wah_piece_to_groups(struct wah_vector vector, struct wah_start start, uint64_t count, uint64_t *groups);

/* Row r is bit r % 64 of bits[r / 64]: bitset_words(rows) words (bitset.h). */
void wah_to_bits(struct wah_vector vector, uint64_t rows, uint64_t *bits);

/* ---- Combine: both vectors have the same rows ---- */

/* Each writes a canonical vector to `out`, which does not overlap the operands, and returns its words: at most
 * wah_result_bound(). */
uint64_t wah_and(struct wah_vector a, struct wah_vector b, uint64_t *out);
uint64_t wah_or(struct wah_vector a, struct wah_vector b, uint64_t *out);
uint64_t wah_and_not(struct wah_vector a, struct wah_vector b, uint64_t *out); /* in a, not in b */

static inline uint64_t wah_result_bound(struct wah_vector a, struct wah_vector b, uint64_t rows)
{
    const uint64_t groups = wah_groups(rows), words = a.count + b.count;
    return words < groups ? words : groups;
}

/* The same for NOT: at most min(vector.count + 1, wah_groups(rows)) words. */
uint64_t wah_not(struct wah_vector vector, uint64_t rows, uint64_t *out);

/* The OR of `count` vectors of `rows` rows; no vectors give zeros. *result is zero-initialised or from an earlier call and
 * gets a finished vector.
 *   wah_or_sequential  adds one vector after the other to the result.
 *   wah_or_levels      adds vector i + half to vector i, level by level; it has memory for half of the vectors.
 *   wah_or_many        is the one to use. It cuts the rows into ranges, which `threads` threads (0: all) take one by one.
 *                      A range's vectors are OR-ed in 8 KiB of the first-level cache, a piece at a time, and compressed
 *                      again; a vector takes no time in pieces where it has only zeros. Memory: the result's words are at
 *                      most those of all vectors, and at most the groups. directories[v], or `directories`, may be
 *                      NULL: then the vector is walked once to find where the ranges begin. */
NODISCARD enum status wah_or_sequential(const struct wah_vector *vectors, uint64_t count, uint64_t rows,
                                        struct wah_builder *result, struct error *error);
NODISCARD enum status wah_or_levels(const struct wah_vector *vectors, uint64_t count, uint64_t rows,
                                    struct wah_builder *result, struct error *error);
NODISCARD enum status wah_or_many(const struct wah_vector *vectors,
                                  const struct wah_start *const *directories, uint64_t count, uint64_t rows,
                                  unsigned threads, struct wah_builder *result, struct error *error);

/* ---- Words of 32 bits ---- */

NODISCARD enum status wah32_append_group(struct wah32_builder *builder, uint32_t bits, struct error *error);
NODISCARD enum status wah32_append_bits(struct wah32_builder *builder, const uint64_t *bits, uint64_t count,
                                        struct error *error);
NODISCARD enum status wah32_append_row(struct wah32_builder *builder, uint64_t row, struct error *error);
void wah32_to_groups(struct wah32_vector vector, uint32_t *groups);
void wah32_piece_to_groups(struct wah32_vector vector, struct wah_start start, uint64_t count,
                           uint32_t *groups);
void wah32_to_bits(struct wah32_vector vector, uint64_t rows, uint64_t *bits);

uint64_t wah32_and(struct wah32_vector a, struct wah32_vector b, uint32_t *out);
uint64_t wah32_or(struct wah32_vector a, struct wah32_vector b, uint32_t *out);
uint64_t wah32_and_not(struct wah32_vector a, struct wah32_vector b, uint32_t *out);

static inline uint64_t wah32_result_bound(struct wah32_vector a, struct wah32_vector b, uint64_t rows)
{
    const uint64_t groups = wah32_groups(rows), words = a.count + b.count;
    return words < groups ? words : groups;
}

uint64_t wah32_not(struct wah32_vector vector, uint64_t rows, uint32_t *out);
NODISCARD enum status wah32_or_sequential(const struct wah32_vector *vectors, uint64_t count, uint64_t rows,
                                          struct wah32_builder *result, struct error *error);
NODISCARD enum status wah32_or_levels(const struct wah32_vector *vectors, uint64_t count, uint64_t rows,
                                      struct wah32_builder *result, struct error *error);
NODISCARD enum status wah32_or_many(const struct wah32_vector *vectors,
                                    const struct wah_start *const *directories, uint64_t count, uint64_t rows,
                                    unsigned threads, struct wah32_builder *result, struct error *error);

/* The OR of a range on one thread: writes the OR of `groups` groups to `out`, which has room for as many words, and returns
 * its words. Cursors and heads as in wah_range.h. */
#define WAH_PACKED(isa)                                                                          \
    uint64_t wah_or_range_##isa(struct wah_cursor *cursors, uint64_t count, uint64_t groups,     \
                                uint32_t *heads, uint64_t *out);                                 \
    uint64_t wah32_or_range_##isa(struct wah32_cursor *cursors, uint64_t count, uint64_t groups, \
                                  uint32_t *heads, uint32_t *out);

WAH_PACKED(baseline)
WAH_PACKED(avx2)
WAH_PACKED(avx512)

#endif
