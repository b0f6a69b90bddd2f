/*
 * row_order.h: the rows of a column in the order of its values, to store a table sorted (table_sorter.c).
 *
 * It is a stable radix sort of pairs (part of the value, row) on all threads, with digits of up to 12 bits
 * and only as many bits as the values' span has. It sorts up to 2^32 rows. SSB's order dates have 12 bits,
 * which is one pass over 8 bytes a row.
 */
#ifndef TESSERA_STORAGE_DATABASE_ROW_ORDER_H
#define TESSERA_STORAGE_DATABASE_ROW_ORDER_H

#include "storage/base/parallel.h"
#include "storage/base/status.h"

struct row_order_key {
    const void *values;       /* int32_t[] or int64_t[] */
    uint32_t value_bytes;     /* 4 or 8 */
    const uint64_t *validity; /* NULL, or a bit a row: row r is not NULL */
    uint64_t rows;            /* at most UINT32_MAX */
    int64_t min, max;         /* of the rows that are not NULL; min > max if there are none */
};

/* The bytes of memory a row that row_order_find needs, in addition to the key's values. */
#define ROW_ORDER_BYTES 16u

/* Sorts the rows: (*order)[i] is the i-th row, with NULLs first, then by value, then by row. free() it. */
NODISCARD enum status row_order_find(const struct row_order_key *key, unsigned threads, uint32_t **order,
                                     struct error *error);

#endif
