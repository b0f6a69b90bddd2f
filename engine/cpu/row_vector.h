/* row_vector.h: the values of a term of GROUP BY, or of an aggregate's argument, in up to VECTOR_ROWS rows. */
#ifndef TESSERA_ENGINE_CPU_ROW_VECTOR_H
#define TESSERA_ENGINE_CPU_ROW_VECTOR_H

#include <stdint.h>

/* Few slots are kept this many times, and row i is added to copy i % GROUP_COPIES: if many rows have one group, each of
 * them would wait for the store of the row before. */
#define GROUP_COPIES 4u

/* They are words or, if `narrow` is set, numbers of 32 bits, as columns have them; an aggregate without an argument has
 * neither. `nulls` is as in struct vector. */
struct row_vector {
    const int64_t *values;
    const int32_t *narrow;
    const uint8_t *nulls;
};

static inline int64_t row_vector_value(const struct row_vector *vector, uint32_t row)
{
    return vector->narrow ? vector->narrow[row] : vector->values[row];
}

#endif
