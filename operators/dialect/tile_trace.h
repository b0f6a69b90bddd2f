/*
 * tile_trace.h: the tile dialect (tile.h) that only records. A kernel that is compiled with TILE_TRACE is run
 * once, for one row of given values. It records in struct kernel_trace the columns and dimensions that it
 * uses, in their order, the numbering of its groups, and the value that it adds. So these need not be
 * described a second time.
 */
#ifndef TESSERA_OPERATORS_DIALECT_TILE_TRACE_H
#define TESSERA_OPERATORS_DIALECT_TILE_TRACE_H

#include "operators/dialect/hand_kernel.h"

typedef uint32_t tile_mask;

struct tile_column {
    struct kernel_trace *trace;
    uint32_t place;
};

struct tile_dimension {
    struct kernel_trace *trace;
    uint32_t place;
};

struct tile_sums {
    struct kernel_trace *trace;
};

struct tile {
    uint32_t rows;
};

/* The slot of tile_group2 and tile_group3. A smaller slot is the code of a single dimension; 0: there are no
 * groups. */
#define TILE_TRACE_SLOT 1000u

#define TILE_TRACE_COLUMN_(name)    parameters.name = (struct tile_column){trace, columns++};
#define TILE_TRACE_DIMENSION_(name) parameters.name = (struct tile_dimension){trace, dimensions++};

#define TILE_QUERY(name, q, t)                                                \
    static void tile_answer(struct tile_parameters *q, const struct tile *t); \
    void name##_trace(struct kernel_trace *trace);                            \
    void name##_trace(struct kernel_trace *trace)                             \
    {                                                                         \
        struct tile_parameters parameters = {.sums = {trace}};                \
        uint32_t columns = 0, dimensions = 0;                                 \
        TILE_PARAMETER_LIST(TILE_TRACE_COLUMN_, TILE_TRACE_DIMENSION_)        \
        tile_answer(&parameters, &(const struct tile){1});                    \
    }                                                                         \
    static void tile_answer(struct tile_parameters *q, const struct tile *t)

#define TILE_INLINE static inline __attribute__((unused))

TILE_INLINE tile_mask tile_all(const struct tile *t)
{
    return t->rows;
}

TILE_INLINE tile_mask tile_trace_step(tile_mask keep, const struct tile_column *column, int32_t dimension)
{
    struct kernel_trace *const trace = column->trace;
    if (trace->step_count < KERNEL_STEPS_MAX) {
        trace->steps[trace->step_count].column = column->place;
        trace->steps[trace->step_count].dimension = dimension;
    }
    trace->step_count++;
    return keep;
}
#define tile_filter(t, keep, column) tile_trace_step((keep), &(column), -1)
#define tile_semi_join(t, keep, column, dimension) \
    tile_trace_step((keep), &(column), (int32_t)(dimension).place)

#define tile_fetch(t, keep, column) ((void)((column).trace->fetched |= (keep) << (column).place))

#define tile_each(t, keep, row) for (uint32_t row = 0; row < (keep); row++)

TILE_INLINE int32_t tile_trace_value(const struct tile_column *column, uint32_t row)
{
    column->trace->read |= 1u << column->place;
    return column->trace->values[column->place] + (int32_t)row;
}
#define tile_value(t, column, row) tile_trace_value(&(column), (row))

TILE_INLINE uint32_t tile_code_(const struct tile_dimension *dimension, int32_t position)
{
    dimension->trace->coded |= 1u << dimension->place;
    dimension->trace->positions[dimension->place] = position;
    return dimension->place + 1;
}
#define tile_code(dimension, position) tile_code_(&(dimension), (position))

TILE_INLINE uint32_t tile_trace_group(const struct tile_sums *sums, uint32_t count, const uint32_t *codes)
{
    sums->trace->group_count = count;
    for (uint32_t g = 0; g < count; g++)
        sums->trace->groups[g] = codes[g] - 1;
    return TILE_TRACE_SLOT;
}
#define tile_group2(sums, a, b)    tile_trace_group(&(sums), 2, (const uint32_t[]){(a), (b)})
#define tile_group3(sums, a, b, c) tile_trace_group(&(sums), 3, (const uint32_t[]){(a), (b), (c)})

TILE_INLINE void tile_trace_sum(const struct tile_sums *sums, uint32_t slot, int64_t value)
{
    if (slot != TILE_TRACE_SLOT)
        tile_trace_group(sums, slot > 0, &slot);
    sums->trace->sum_count++;
    sums->trace->sum = value;
}
#define tile_sum(t, sums, slot, value) tile_trace_sum(&(sums), (slot), (value))

#endif
