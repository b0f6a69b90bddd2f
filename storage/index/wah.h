/*
 * wah.h: compressed bit vectors of 64-bit words (wah_format.h draws them): building, checking, decompressing and
 * combining them. wah32.h is the same for 32-bit words.
 *
 * A vector belongs to a segment: up to 2^32 rows, of which 8 to 2048 vectors share every row. All functions but
 * wah_valid trust their vectors: check what comes from a file first. Operations work word by word; a fill costs as much
 * as a literal, whatever its length. wah_bits.h combines vectors; lab/bitmaps/wah/ has more operations.
 */
#ifndef TESSERA_STORAGE_INDEX_WAH_H
#define TESSERA_STORAGE_INDEX_WAH_H

#include "storage/base/status.h"
#include "storage/index/wah_format.h"

#include <stdbool.h>
#include <stdint.h>

/* Words that someone else owns. Zero-initialised: a vector of no rows. */
struct wah_vector {
    const uint64_t *words;
    uint64_t count;
};

/* The groups, and the pieces of 1024 groups, of a vector of `rows` rows. A vector has at most as many words as groups. */
static inline uint64_t wah_groups(uint64_t rows)
{
    return rows / WAH_GROUP_ROWS + (rows % WAH_GROUP_ROWS != 0);
}

static inline uint64_t wah_pieces(uint64_t rows)
{
    return rows / WAH_PIECE_ROWS + (rows % WAH_PIECE_ROWS != 0);
}

/* The bits of the last group that are rows. */
static inline uint64_t wah_last_mask(uint64_t rows)
{
    const uint64_t rest = rows % WAH_GROUP_ROWS;
    return rest ? (UINT64_C(1) << rest) - 1 : WAH_FULL;
}

/* ---- Build ---- */

/* A vector that grows at its end. Zero-initialised: no rows. It owns `words`. */
struct wah_builder {
    uint64_t *words;
    uint64_t count, room;
    uint64_t rows;  /* appended so far */
    uint64_t group; /* the group that `bits` are of; the groups before it are in `words` */
    uint64_t bits;  /* what `group` has so far; groups after it, up to `rows`, are zeros */
};

/* Append `rows` rows of one value. */
NODISCARD enum status wah_append_run(struct wah_builder *builder, bool value, uint64_t rows,
                                     struct error *error);

/* Sets row first_row + i in builders[codes[i]], for i in 0 .. count-1; codes of `vectors` and more are in no vector. One
 * pass over a segment's codes, in calls of any size, builds its vectors; memory is that of the builders. */
NODISCARD enum status wah_append_codes(struct wah_builder *builders, uint32_t vectors, uint64_t first_row,
                                       const uint32_t *codes, uint64_t count, struct error *error);

/* Appends zeros up to `rows` rows and completes the words. After it nothing can be appended. */
NODISCARD enum status wah_finish(struct wah_builder *builder, uint64_t rows, struct error *error);

/* Frees the words and makes it zero-initialised. */
void wah_builder_free(struct wah_builder *builder);

static inline struct wah_vector wah_of(const struct wah_builder *builder)
{
    return (struct wah_vector){.words = builder->words, .count = builder->count};
}

/* ---- Check ---- */

/* True if the words are a canonical vector of `rows` rows; any words may be given. */
bool wah_valid(const uint64_t *words, uint64_t count, uint64_t rows);

/* The directory: starts[wah_pieces(rows)]. The vector has less than 2^32 words, and no fill has more groups. */
void wah_directory_build(struct wah_vector vector, uint64_t rows, struct wah_start *starts);
bool wah_directory_valid(struct wah_vector vector, uint64_t rows, const struct wah_start *starts);

/* ---- Counts ---- */

/* Counts of words and of rows: what `inspect` shows. */
struct wah_counts {
    uint64_t literals, fills, fill_groups;
    uint64_t ones; /* rows that are set */
};

struct wah_counts wah_counts(struct wah_vector vector);

/* The rows that are set. */
uint64_t wah_count(struct wah_vector vector);

#endif
