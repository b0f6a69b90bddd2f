/* rows_hash.h: the hashes of rows of columns, by the values of all columns, and what finds a row in a table of them. */
#ifndef TESSERA_ENGINE_RELATIONAL_ROWS_ROWS_HASH_H
#define TESSERA_ENGINE_RELATIONAL_ROWS_ROWS_HASH_H

#include "engine/relational/rows/relation.h"

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

/* Row `at` of `key`, which is looked for among rows of `columns`. */
struct row_sought {
    const struct rowset_column *columns, *key;
    uint64_t at;
    uint32_t count;
};

static inline bool row_same(const void *context, uint32_t row)
{
    const struct row_sought *const sought = context;
    return rows_equal(sought->columns, row, sought->key, sought->at, sought->count);
}

#endif
