/*
 * hand_kernel.h: a query kernel that a person wrote in the tile dialect (tile.h), as the engine sees it: compiled for
 * each instruction set of a CPU, as text for a GPU, and with a list of what it does, by which the engine finds out
 * whether it answers the statement that it is given for.
 */
#ifndef TESSERA_OPERATORS_DIALECT_HAND_KERNEL_H
#define TESSERA_OPERATORS_DIALECT_HAND_KERNEL_H

#include "operators/dialect/bound.h"
#include "storage/base/isa.h"

#include <stdbool.h>
#include <stdint.h>

/* Fact columns, or dimensions, that the kernels of a schema may name: a bit each in 32. */
#define KERNEL_NAMES_MAX 24u

/* Filters and semi-joins of one kernel. */
#define KERNEL_STEPS_MAX 16u

/* The names in struct tile_parameters, in order (parameters.h); NULL ends a list. */
struct kernel_names {
    const char *columns[KERNEL_NAMES_MAX + 1], *dimensions[KERNEL_NAMES_MAX + 1];
};

/* What a kernel does with a tile: noted down by running it once, for one row, in a dialect that does nothing else
 * (tile_trace.h). Columns and dimensions are places in struct kernel_names. */
struct kernel_trace {
    int32_t values[KERNEL_NAMES_MAX]; /* given: the row's value in each column */
    uint32_t step_count;              /* more than KERNEL_STEPS_MAX: not all are noted */
    struct {
        uint32_t column;
        int32_t dimension; /* -1: tile_filter */
    } steps[KERNEL_STEPS_MAX];
    uint32_t fetched, read;              /* a bit a column: by tile_fetch, by tile_value */
    uint32_t coded;                      /* a bit a dimension: by tile_code */
    int32_t positions[KERNEL_NAMES_MAX]; /* of each dimension: where tile_code looked */
    uint32_t group_count;
    uint32_t groups[TILE_GROUPS_MAX]; /* dimensions whose codes make the slot, outermost first */
    uint32_t sum_count;               /* calls of tile_sum */
    int64_t sum;                      /* what the last one added */
};

struct tile;
struct tile_parameters;

struct hand_kernel {
    const char *name;   /* for errors: "q2.1" */
    const char *source; /* the include path of its text */
    const struct kernel_names *names;
    void (*kernel[ISA_LEVELS])(struct tile_parameters *q, const struct tile *t);
    void (*trace)(struct kernel_trace *trace);
};

#endif
