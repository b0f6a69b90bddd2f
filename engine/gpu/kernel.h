/*
 * kernel.h: generates the GPU kernels of a planned statement (engine/plan/plan.h), in the tile dialect
 * (operators/dialect/tile.h) and its additions (operators/dialect/query_cuda.h):
 *
 *     prepare    clears the states, and makes each dimension's bitmap from its predicate
 *     scan       runs the plan's steps, which make a tile's mask; adds the survivors' values to the states of
 *                their groups, or writes the mask as the answer; or is the plan's hand-written kernel
 *     collect    copies the hashed groups to an array
 *
 * This needs no GPU: tests compile the text for several architectures. Constants, ranges of groups and
 * addresses are arguments and not in the text (operators/dialect/query_arguments.h), so statements that
 * differ only in these share it.
 */
#ifndef TESSERA_ENGINE_GPU_KERNEL_H
#define TESSERA_ENGINE_GPU_KERNEL_H

#include "engine/gpu/kernel_layout.h"
#include "engine/plan/grouping/row_words.h"
#include "operators/dialect/query_arguments.h"

#include <stdio.h>

/* The place of the groups' states: registers (for one group), shared memory with a copy for each block, or
 * global memory. */
enum states_place { STATES_SINGLE, STATES_SHARED, STATES_GLOBAL };

/* The kind of set that a count(distinct) has (operators/group/states_cuda.h). */
enum distinct_kind { DISTINCT_NONE, DISTINCT_BY_BITS, DISTINCT_BY_KEYS, DISTINCT_BY_PAIRS };

/* Of a kernel that lists its rows as words, if it is `used` (engine/gpu/groups/). */
struct kernel_list {
    bool used;
    bool in_order; /* the rows may be in the order of their groups, which then are made of them at once */
    uint64_t groups_most; /* there are at most, if they are */
    struct row_words words;
};

/* Of a kernel whose states share words, if it is `used` (engine/gpu/groups/). */
#define KERNEL_JOINT_NONE UINT32_MAX
struct kernel_joint {
    bool used;
    uint32_t
        mark; /* the aggregate whose state tells which groups have rows, or KERNEL_JOINT_NONE: rows mark them */
    uint32_t first
        [PLAN_AGGREGATES_MAX]; /* the aggregate whose word each is in, or KERNEL_JOINT_NONE: it has its own */
    uint8_t shift[PLAN_AGGREGATES_MAX];
};

struct kernel {
    char *source;              /* CUDA C++ */
    struct column_data staged; /* stands for staged columns, which the scan reads as plain values */
    struct kernel_layout layout;
    struct kernel_shape shape; /* of the columns below, in their order */
    enum states_place place;
    uint32_t columns[KERNEL_COLUMNS_MAX]; /* the columns that the scan reads, in plan->columns */
    uint32_t joins[KERNEL_JOINS_MAX];     /* the joins whose keys it looks up, in plan->joins */
    /* The positions of these in the kernel's arguments (struct tile_bound), and the numbers of positions: a
     * hand-written kernel also has positions for names that it does not use. */
    uint32_t column_place[KERNEL_COLUMNS_MAX], join_place[KERNEL_JOINS_MAX];
    uint32_t bound_columns, bound_dimensions;
    bool array_used[ARGUMENT_ARRAYS_MAX]; /* by index in plan->arrays */
    uint32_t test_word_count;
    uint32_t test_words[ARGUMENT_TEST_WORDS_MAX]; /* of tests of planes */
    uint32_t constant_count;
    int64_t constants[ARGUMENT_CONSTANTS_MAX];
    enum distinct_kind distinct[PLAN_AGGREGATES_MAX];
    uint32_t state_words[PLAN_AGGREGATES_MAX]; /* 64-bit words a slot */
    bool
        runs; /* rows of a group follow each other, and are merged in a warp (operators/group/lane_runs_cuda.h) */
    struct kernel_list list;
    struct kernel_joint joint;
    bool first; /* the scan drops rows that are not among the first of an order (engine/gpu/first/) */
    const struct plan_kernel *hand;     /* the hand-written kernel, or NULL */
    bool looked_up[ARGUMENT_JOINS_MAX]; /* values are NULL in rows without a match, so the bitmap is probed */
    bool *fetched;                      /* by index in plan->columns: values of survivors are read; owned */
};

/* What a plan has kernels for. */
enum kernel_use {
    KERNEL_ANSWERS,
    KERNEL_FINDS_FIRST, /* ... and drops rows that are not among the first of an order */
    KERNEL_COUNTS,      /* counts rows and ticks at each point (struct scan_point) */
    KERNEL_USES
};

/* Marks columns of a plan as decoded before the scan (plan_column.crowded), one after the other, until each of its kernels
 * fits the shared memory that a block of the GPU has. A plan must be fitted to all GPUs that run it, before kernel_make.
 * STATUS_MACHINE: out of memory. */
NODISCARD enum status kernel_fit(struct plan *plan, const struct kernel_target *target, struct error *error);

/* Makes the kernels. They drop rows that are not among the first of an order, unless ORDER BY's columns are too many for a
 * kernel. `count`: they are KERNEL_COUNTS, which are always generated from the plan, also if a hand-written kernel answers.
 * Free with kernel_free. */
NODISCARD enum status kernel_make(const struct plan *plan, bool count, const struct kernel_target *target,
                                  struct kernel *kernel, struct error *error);
void kernel_free(struct kernel *kernel);

/* ---- Shape (kernel_shape.c) ---- */

/* Sets all of a kernel that its layout depends on: what it reads, and where its states are. STATUS_BAD_INPUT if it
 * would read too many columns, arrays, or groups. Free with kernel_free, also after an error. */
NODISCARD enum status kernel_shape_make(const struct plan *plan, enum kernel_use use,
                                        const struct kernel_target *target, struct kernel *kernel,
                                        struct error *error);

/* Whether what 32 rows add to a sum fits 32 bits. */
bool kernel_sum_is_narrow(const struct plan *plan, uint32_t a);

/* The 32-bit words of a slot that an aggregate's states take in shared memory. */
uint32_t kernel_shared_words(const struct aggregate *aggregate);

/* ---- Expressions as text (kernel_expression.c) ---- */

/* The body of a function or loop. A node is written once, as a constant v<node> and, if it may be NULL,
 * n<node>. */
struct kernel_body {
    FILE *out;
    const struct plan *plan;
    struct kernel *kernel; /* gets the constants */
    uint8_t *nodes;        /* bits of each node: it is needed, it is written */
    bool positions[ARGUMENT_JOINS_MAX];
    bool of_dimension; /* columns are read at `row` of the dimension, not through a fact row */
    enum status status;
    struct error *error;
};

NODISCARD enum status kernel_body_begin(struct kernel_body *body, FILE *out, const struct plan *plan,
                                        struct kernel *kernel, bool of_dimension, struct error *error);
/* STATUS_BAD_INPUT if a node that was written is for the CPU alone. */
NODISCARD enum status kernel_body_end(struct kernel_body *body);

/* Writes the node, and the nodes that it needs, if they are not written yet. Then "v7" is the value of node
 * 7, an int32_t or int64_t. */
void kernel_body_write(struct kernel_body *body, uint32_t node);
/* Writes "n7", or "false" if the node is never NULL, into `text` of KERNEL_NAME_BYTES, and returns it. */
#define KERNEL_NAME_BYTES 16
const char *kernel_body_null(const struct kernel_body *body, uint32_t node, char *text);
/* True if values of the node need 64 bits. */
bool kernel_node_wide(const struct plan *plan, uint32_t node);

#endif
