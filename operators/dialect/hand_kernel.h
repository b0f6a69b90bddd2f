/*
 * hand_kernel.h: a query kernel that is written by hand in the tile dialect (tile.h), as the engine gets it:
 * compiled for each instruction set of a CPU, as text for a GPU, and with a trace of its operations. By the
 * trace the engine checks that the kernel answers a given statement.
 */
#ifndef TESSERA_OPERATORS_DIALECT_HAND_KERNEL_H
#define TESSERA_OPERATORS_DIALECT_HAND_KERNEL_H

#include "operators/dialect/bound.h"
#include "storage/base/isa.h"

#include <stdbool.h>
#include <stdint.h>

/* The most fact columns, and the most dimensions, that the kernels of a schema may name; each is a bit of a
 * uint32_t. */
#define KERNEL_NAMES_MAX 24u

/* The most filters and semi-joins of a kernel. */
#define KERNEL_STEPS_MAX 16u

/* The names in struct tile_parameters, in order (parameters.h); NULL ends a list. */
struct kernel_names {
    const char *columns[KERNEL_NAMES_MAX + 1], *dimensions[KERNEL_NAMES_MAX + 1];
};

/* The operations of a kernel on a tile. They are recorded by running the kernel once, for one row, in a
 * dialect that only records (tile_trace.h). Columns and dimensions are positions in struct kernel_names. */
struct kernel_trace {
    int32_t values[KERNEL_NAMES_MAX]; /* set by the caller: the row's value in each column */
    uint32_t step_count;              /* steps after KERNEL_STEPS_MAX are counted, but not recorded */
    struct {
        uint32_t column;
        int32_t dimension; /* -1: tile_filter */
    } steps[KERNEL_STEPS_MAX];
    uint32_t fetched, read;              /* the columns of tile_fetch and of tile_value, a bit each */
    uint32_t coded;                      /* the dimensions of tile_code, a bit each */
    int32_t positions[KERNEL_NAMES_MAX]; /* for each dimension: the position given to tile_code */
    uint32_t group_count;
    uint32_t groups[TILE_GROUPS_MAX]; /* dimensions whose codes make the slot, outermost first */
    uint32_t sum_count;               /* the number of calls of tile_sum */
    int64_t sum;                      /* the value of the last call */
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
