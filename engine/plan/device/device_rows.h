/*
 * device_rows.h: rows that stay in the memory of the device that made them, as plain columns: what other kernels of the device
 * read and add to. Of a plan whose `taken` is set, with PLAN_ROWS and no order, limit or HAVING, the device gives them in
 * struct partial, in the order of the table; or the numbers of the rows as of any plan, if it cannot.
 *
 * A column has its numbers one after the other, and is padded to whole tiles of 1024 rows; so it is what plain chunks of
 * SEGMENT_ROWS rows are. Doubles are the keys of storage/base/double_key.h, strings the codes of the type's dictionary.
 */
#ifndef TESSERA_ENGINE_PLAN_DEVICE_DEVICE_ROWS_H
#define TESSERA_ENGINE_PLAN_DEVICE_DEVICE_ROWS_H

#include "engine/function/value_type.h"
#include "storage/base/doubles/double_bits.h"
#include "storage/base/status.h"

#include <stdint.h>

struct device_column {
    uint64_t values; /* an address in the device's memory */
    uint64_t
        validity; /* 0: no row is NULL. Else 32 words a tile: bit j of word l is set if row 32j+l is not NULL */
    uint32_t value_bytes; /* 4 or 8 */
    struct value_type type;
    int64_t low, high;       /* no value is outside; low > high: all are NULL */
    struct double_bits bits; /* of doubles: no value has others */
};

struct device_rows {
    uint64_t rows;
    uint32_t column_count;
    struct device_column *columns;
    struct device *device;
    void (*release)(struct device_rows *rows); /* frees it with all columns, before the statement ends */
};

/* NULL is legal. */
static inline void device_rows_free(struct device_rows *rows)
{
    if (rows)
        rows->release(rows);
}

/* The bytes of a column's values: 4 if the type's are always narrow, or the range is. */
static inline uint32_t device_column_bytes(struct value_type type, int64_t low, int64_t high)
{
    const bool narrow = low > -1000000000 && high < 1000000000;
    switch (type.kind) {
    case VALUE_INTEGER:
        return narrow ? 4 : 8;
    case VALUE_DATE:
    case VALUE_BOOLEAN:
    case VALUE_STRING:
        return 4;
    case VALUE_DOUBLE:
    case VALUE_TIMESTAMP:
        break;
    }
    return 8;
}

#endif
