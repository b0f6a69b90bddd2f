/* rows_hash.h: a hash table of rows of columns, by the values of all columns; rows are numbers below 2^64 - 1. Free `rows`
 * with spillable_free. */
#ifndef TESSERA_ENGINE_RELATIONAL_ROWS_ROWS_HASH_H
#define TESSERA_ENGINE_RELATIONAL_ROWS_ROWS_HASH_H

#include "engine/relational/rows/relation.h"

#include <stdlib.h>

struct rows_hash {
    uint64_t mask;
    uint64_t *rows; /* UINT64_MAX: the slot is empty */
};

#define ROW_HASH_SEED UINT64_C(0x9e3779b97f4a7c15)

/* The hash of the columns before, and of this one; RELATION_NO_ROW is a row of NULLs. */
static inline uint64_t row_hash_add(uint64_t hash, const struct rowset_column *column, uint64_t row)
{
    const bool null = row == RELATION_NO_ROW || (column->nulls && column->nulls[row]);
    hash = (hash ^ (null ? 0x5851f42d4c957f2d : (uint64_t)column->values[row])) * 0xff51afd7ed558ccd;
    return hash ^ hash >> 32;
}

static inline uint64_t row_hash(const struct rowset_column *columns, uint32_t count, uint64_t row)
{
    uint64_t hash = ROW_HASH_SEED;
    for (uint32_t c = 0; c < count; c++)
        hash = row_hash_add(hash, &columns[c], row);
    return hash;
}

/* NULLs are equal to each other. */
static inline bool rows_equal(const struct rowset_column *a, uint64_t row_a, const struct rowset_column *b,
                              uint64_t row_b, uint32_t count)
{
    for (uint32_t c = 0; c < count; c++) {
        const bool null_a = a[c].nulls && a[c].nulls[row_a], null_b = b[c].nulls && b[c].nulls[row_b];
        if (null_a != null_b || (!null_a && a[c].values[row_a] != b[c].values[row_b]))
            return false;
    }
    return true;
}

static inline enum status rows_hash_create(uint64_t rows, struct rows_hash *hash, struct error *error)
{
    uint64_t slots = 16;
    while (slots < rows + rows / 2)
        slots *= 2;
    hash->mask = slots - 1;
    RETURN_IF_ERROR(spillable_work(&hash->rows, slots * sizeof *hash->rows, "a table of rows", error));
    for (uint64_t s = 0; s < slots; s++)
        hash->rows[s] = UINT64_MAX;
    return STATUS_OK;
}

/* The slot of a row of `columns` that equals row `at` of `key`, or the empty slot where it would be. */
static inline uint64_t *rows_hash_slot(const struct rows_hash *hash, const struct rowset_column *columns,
                                       const struct rowset_column *key, uint64_t at, uint32_t count)
{
    uint64_t s = row_hash(key, count, at) & hash->mask;
    while (hash->rows[s] != UINT64_MAX && !rows_equal(columns, hash->rows[s], key, at, count))
        s = (s + 1) & hash->mask;
    return &hash->rows[s];
}

#endif
