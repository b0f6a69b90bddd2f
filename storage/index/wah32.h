/*
 * wah32.h: compressed bit vectors of 32-bit words: groups of 31 rows, pieces of 1024 groups. Every function is that of
 * wah.h, which has the contracts; flat bitsets have 64-bit words here, too.
 */
#ifndef TESSERA_STORAGE_INDEX_WAH32_H
#define TESSERA_STORAGE_INDEX_WAH32_H

#include "storage/index/wah.h"

struct wah32_vector {
    const uint32_t *words;
    uint64_t count;
};

static inline uint64_t wah32_groups(uint64_t rows)
{
    return rows / WAH32_GROUP_ROWS + (rows % WAH32_GROUP_ROWS != 0);
}

static inline uint64_t wah32_pieces(uint64_t rows)
{
    return rows / WAH32_PIECE_ROWS + (rows % WAH32_PIECE_ROWS != 0);
}

static inline uint32_t wah32_last_mask(uint64_t rows)
{
    const uint32_t rest = (uint32_t)(rows % WAH32_GROUP_ROWS);
    return rest ? (UINT32_C(1) << rest) - 1 : WAH32_FULL;
}

/* ---- Build ---- */

struct wah32_builder {
    uint32_t *words;
    uint64_t count, room;
    uint64_t rows, group;
    uint32_t bits;
};

NODISCARD enum status wah32_append_run(struct wah32_builder *builder, bool value, uint64_t rows,
                                       struct error *error);
NODISCARD enum status wah32_append_codes(struct wah32_builder *builders, uint32_t vectors, uint64_t first_row,
                                         const uint32_t *codes, uint64_t count, struct error *error);
NODISCARD enum status wah32_finish(struct wah32_builder *builder, uint64_t rows, struct error *error);
void wah32_builder_free(struct wah32_builder *builder);

static inline struct wah32_vector wah32_of(const struct wah32_builder *builder)
{
    return (struct wah32_vector){.words = builder->words, .count = builder->count};
}

/* ---- Check ---- */

bool wah32_valid(const uint32_t *words, uint64_t count, uint64_t rows);
void wah32_directory_build(struct wah32_vector vector, uint64_t rows, struct wah_start *starts);
bool wah32_directory_valid(struct wah32_vector vector, uint64_t rows, const struct wah_start *starts);

/* ---- Counts ---- */

struct wah_counts wah32_counts(struct wah32_vector vector);
uint64_t wah32_count(struct wah32_vector vector);

#endif
