/*
 * engine/gpu/kernel.h: a planned statement (engine/plan/plan.h) as GPU kernels, written in the tile dialect (operators/dialect/tile.h) and
 * its additions (operators/dialect/query_cuda.h):
 *
 *     prepare    clears the states, and makes each dimension's bitmap from its condition
 *     scan       the plan's steps make a tile's mask; survivors' groups and values go into states, or the mask itself
 *                is the answer; or what the plan's hand-written kernel does instead
 *     collect    hashed groups, one behind the other
 *
 * Pure planning, no GPU needed: the text is compiled by tests for several architectures. Constants, ranges of groups
 * and addresses are no part of it (operators/dialect/query_arguments.h), so statements that differ in them alone share it.
 */
#ifndef TESSERA_ENGINE_GPU_KERNEL_H
#define TESSERA_ENGINE_GPU_KERNEL_H

#include "engine/gpu/kernel_layout.h"
#include "engine/plan/plan.h"
#include "operators/dialect/query_arguments.h"

#include <stdio.h>

/* Where groups' states are: in registers (one group), a copy for each block in shared memory, or global memory. */
enum states_place { STATES_SINGLE, STATES_SHARED, STATES_GLOBAL };

/* How a count(distinct) knows what it saw (operators/group/states_cuda.h). */
enum distinct_kind { DISTINCT_NONE, DISTINCT_BY_BITS, DISTINCT_BY_KEYS, DISTINCT_BY_PAIRS };

struct kernel {
    char *source;              /* CUDA C++ */
    struct column_data staged; /* what columns that are decoded first are to the scan: plain values */
    struct kernel_layout layout;
    struct kernel_shape shape; /* of the columns below, in their order */
    enum states_place place;
    uint32_t columns[KERNEL_COLUMNS_MAX]; /* of the plan's columns: those that the scan reads */
    uint32_t joins[KERNEL_JOINS_MAX];     /* of the plan's joins: those whose keys it looks up */
    /* Where each of these is in the kernel's arguments (struct tile_bound), and how many there are: a hand-written kernel
     * has places for names that it does not use. */
    uint32_t column_place[KERNEL_COLUMNS_MAX], join_place[KERNEL_JOINS_MAX];
    uint32_t bound_columns, bound_dimensions;
    bool array_used[PLAN_SOURCES_MAX]; /* of the plan's arrays */
    uint32_t constant_count;
    int64_t constants[ARGUMENT_CONSTANTS_MAX];
    enum distinct_kind distinct[PLAN_AGGREGATES_MAX];
    uint32_t state_words[PLAN_AGGREGATES_MAX]; /* 64-bit words a slot: 2 for sums of 128 bits */
};

/* `count`: the scan counts rows and ticks at each point (struct scan_point); it is then made from the plan whoever wrote
 * the other one. Free with kernel_free. */
NODISCARD enum status kernel_make(const struct plan *plan, bool count, const struct kernel_target *target,
                                  struct kernel *kernel, struct error *error);
void kernel_free(struct kernel *kernel);

/* ---- Expressions as text: engine/gpu/kernel_expression.c ---- */

/* The body of a function or loop: nodes are written once, as constants named v<node> and, if they may be NULL,
 * n<node>. */
struct kernel_body {
    FILE *out;
    const struct plan *plan;
    struct kernel *kernel; /* takes the constants */
    uint8_t *nodes;        /* of each node, bits: it is needed, it is written */
    bool positions[PLAN_JOINS_MAX];
    bool of_dimension; /* columns are read at `row` of the dimension, not by way of a fact row */
};

NODISCARD enum status kernel_body_begin(struct kernel_body *body, FILE *out, const struct plan *plan,
                                        struct kernel *kernel, bool of_dimension, struct error *error);
void kernel_body_end(struct kernel_body *body);

/* Writes what the node needs and has not been written yet; then "v7" is its value: int32_t or int64_t. */
void kernel_body_write(struct kernel_body *body, uint32_t node);
/* "n7", or "false" if the node is never NULL; in `text` of KERNEL_NAME_BYTES. */
#define KERNEL_NAME_BYTES 16
const char *kernel_body_null(const struct kernel_body *body, uint32_t node, char *text);
/* Whether values of the node need 64 bits. */
bool kernel_node_wide(const struct plan *plan, uint32_t node);

#endif
