/*
 * execute.h: answers a tree of operators (engine/logical/node.h), in which no join is dependent any more.
 *
 * Most of a statement is blocks: a filter, an aggregation, an order, a limit and expressions over a star of stored tables,
 * or over the rows of another operator. A block becomes one plan of engine/plan, which runs on the engine's devices,
 * compressed; over rows in memory it runs on the CPU. Joins that are no stars, sets and windows have operators of their own
 * in memory. Nothing but a block's plan, its order and its limit decides which rows come when.
 *
 *     execute.c   operators one after the other; the whole answer
 *     block.c     which operators a block has, and its plan
 *     region.c    the sources and conditions of a block: its joins without their order
 *     fold.c      sources that are known before the block is planned: values, and lists of keys
 *     stars.c     which stored tables of a region are answered by one plan
 *     reduce.c    keys of one side of a join as a condition on the other
 *     answers.c   the sources of a region, answered
 *     joins.c     joins them; two.c two of them
 *     join/       the join of two answers
 *     result.c    rows of operators
 *     set.c       VALUES, UNION, EXCEPT, INTERSECT; rows/ their columns and rows
 *     window/     window functions
 *     spill/      joins, groups, windows and sets of more rows than memory has room for
 *     recursive.c WITH RECURSIVE
 *     plans.c     plans a SELECT, and runs it
 *     blocks/     block_plans.c keeps plans for the next run; distribute.c tells blocks to other processes; collect.c their rows
 *     operator.c  what EXPLAIN tells of an operator
 *     estimate.c  rows that are expected
 *     order.c     which sides are joined first
 *     cut.c       makes two of a SELECT whose strings are computed row by row
 */
#ifndef TESSERA_ENGINE_RELATIONAL_EXECUTE_H
#define TESSERA_ENGINE_RELATIONAL_EXECUTE_H

#include "engine/answer/rowset.h"
#include "engine/explain/explain.h"
#include "engine/logical/logical.h"

struct block_plans;

struct relational_task {
    struct engine *engine;
    struct engine **own; /* the engine for rows in memory, opened at the first use; the caller closes it */
    struct database *database;
    const char *codec; /* as in sql_bind */
    enum plan_index_use index;
    enum sql_like like;
    const struct zone *zone;        /* struct sql_options */
    struct explain_tree *explained; /* gets the operators; NULL: nothing is explained */
    bool dry, analyse;              /* EXPLAIN runs nothing; EXPLAIN ANALYZE runs each plan several times */
    bool staged;
    struct block_plans *plans; /* of the statement's blocks, kept between its runs; NULL: none is kept */
    int64_t now;               /* struct sql_options */
    const struct sql_parameter *parameters;
    uint32_t parameter_count;
};

/* Answers the tree, or only explains it: then there are no rows. What depends on rows that are not known then (a plan over
 * rows in memory, conditions with the value of a subquery) is told by estimates alone. Free `rows` with rowset_free. `timing`,
 * which may be NULL, gets the sums over all plans. */
NODISCARD enum status relational_answer(const struct relational_task *task, const struct logical_tree *tree,
                                        struct rowset *rows, struct run_timing *timing, struct error *error);

/* Plans the tree if one scan of stored tables answers it, so that the plan can be kept and run many times; else *plan is
 * NULL. The tree is as it was bound. Free the plan with plan_free. */
NODISCARD enum status relational_star(struct database *database, const struct logical_options *values,
                                      const struct sql_options *options, const struct logical_tree *tree,
                                      struct plan **plan, struct error *error);

#endif
