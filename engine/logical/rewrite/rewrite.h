/*
 * rewrite.h: shared by the files of the rewriter (logical.h).
 *
 *     rewrite.c    the order of the steps
 *     parts.c      conjuncts, columns and nodes that are made from others
 *     unnest.c     dependent joins become joins: each kind of subquery
 *     pull.c       ... by conditions that are pulled out of the subquery
 *     domain.c     ... by the distinct values of the columns that it names
 *     push.c       conditions go down to where their columns are; outer and mark joins that they make inner or semi-joins
 *     shared.c     ... also into queries that are named several times
 *     merge.c      aggregates of the same rows are computed together
 *     union.c      joins and aggregates go into the parts of UNION ALL
 *     early.c      sides of a join with many rows for one of the other are grouped before it
 *     same.c       joins of a table with itself, of which totals are asked, become groups, for a GPU
 *     cheaper.c    joins of which nothing is needed, or each row once, become semi- and anti-joins
 *     order.c      inner joins become ones by equalities
 *     prune.c      columns that nobody needs go; queries of WITH that are named once stand in their place
 *     split.c      aggregations that need the values of several arguments become joins of several
 *
 * Thomas Neumann and Alfons Kemper, "Unnesting Arbitrary Queries", BTW 2015: a dependent join with the distinct values of
 * the outer columns can be moved below every operator, until nothing below it depends on them. Where a subquery compares
 * its own columns with the outer ones, these comparisons become the join's condition, and no such values are made.
 */
#ifndef TESSERA_ENGINE_LOGICAL_REWRITE_REWRITE_H
#define TESSERA_ENGINE_LOGICAL_REWRITE_REWRITE_H

#include "engine/logical/logical.h"
#include "engine/sql/scalar.h"
#include "engine/sql/tree/tree.h"

/* Conditions that must all be true. */
struct conjuncts {
    uint32_t count;
    struct sql_expression **list;
};

/* What references ask of a query that is named several times, in one step. */
struct shared_query {
    uint32_t references; /* that were seen */
    bool done;           /* the step was taken in it */
    bool whole; /* one of them asks for all of its rows; and in prune.c for each as often as it comes */
    struct sql_expression *any; /* that the others ask, over the columns of its root; or NULL */
    struct logical_node **nodes;
    bool *needed; /* the columns of its root */
};

struct rewriter {
    struct logical_tree *tree;
    struct sql_scalars *scalars;
    uint32_t *asked;             /* push.c: how often conditions name each column */
    bool *used;                  /* and whether something else does */
    struct conjuncts told;       /* and conditions of joins above, over columns that reach them as they are */
    struct shared_query *shared; /* shared.c: of each of the tree's */
    bool on_host;                /* the CPU answers */
    bool united;                 /* union.c: it has changed the tree */
    bool once;                   /* prune.c: rows of the node that come several times are as good as one */
    bool waiting;                /* unnest.c: a dependent join waits for the one around it */
    struct error *error;
};

/* ---- parts.c ---- */

/* Adds the conditions that AND joins; NULL adds none. */
NODISCARD enum status rewrite_split(struct rewriter *rewriter, struct sql_expression *condition,
                                    struct conjuncts *conjuncts);
NODISCARD enum status rewrite_add(struct rewriter *rewriter, struct sql_expression *condition,
                                  struct conjuncts *conjuncts);
/* One condition of all; NULL: there are none. */
NODISCARD enum status rewrite_join(struct rewriter *rewriter, const struct conjuncts *conjuncts,
                                   struct sql_expression **condition);
/* Puts a filter over *node unless there are no conditions. */
NODISCARD enum status rewrite_filter(struct rewriter *rewriter, const struct conjuncts *conjuncts,
                                     struct logical_node **node);
/* True if the expression may also be computed of rows of which it is not asked: no value of it leaves its type. */
bool rewrite_never_fails(const struct sql_expression *expression);
/* True if the expression names a column of the set. */
bool rewrite_names_any(const struct sql_expression *expression, const struct logical_set *set);
/* True if something in the subtree does. */
bool rewrite_tree_names_any(const struct logical_node *node, const struct logical_set *set);
/* The columns that a node gives. */
NODISCARD enum status rewrite_gives(struct rewriter *rewriter, const struct logical_node *node,
                                    struct logical_set *set);
/* Finds anew which columns a node gives that are those of its inputs: not for projections, aggregates and sets. */
NODISCARD enum status rewrite_regive(struct rewriter *rewriter, struct logical_node *node);
NODISCARD enum status rewrite_input(struct rewriter *rewriter, struct sql_position position, uint32_t column,
                                    struct sql_expression **input);
/* A column for an expression, of its type. */
NODISCARD enum status rewrite_column(struct rewriter *rewriter, const struct sql_expression *expression,
                                     uint32_t *column);
/* An operator or function of two operands; `b` may be NULL. */
NODISCARD enum status rewrite_apply(struct rewriter *rewriter, enum sql_operation operation,
                                    const char *function, struct sql_expression *a, struct sql_expression *b,
                                    struct sql_expression **out);
bool rewrite_is_same_type(struct value_type a, struct value_type b);
/* A number as an expression. */
NODISCARD enum status rewrite_number(struct rewriter *rewriter, struct sql_position position,
                                     const char *text, struct sql_expression **number);
/* Puts a projection over *node: its columns, and nothing else yet; rewrite_project_add adds to it. */
NODISCARD enum status rewrite_project(struct rewriter *rewriter, struct logical_node **node);
NODISCARD enum status rewrite_project_add(struct rewriter *rewriter, struct logical_node *project,
                                          struct sql_expression *expression, uint32_t column);
/* Lets a projection give a column of its input. */
NODISCARD enum status rewrite_pass(struct rewriter *rewriter, struct logical_node *project, uint32_t column);
/* Gives the column of an expression over *node, by a projection if it is not one already. */
NODISCARD enum status rewrite_compute(struct rewriter *rewriter, struct sql_expression *expression,
                                      struct logical_node **node, uint32_t *column);
/* Adds a term to an aggregate's groups, and gives its column. */
NODISCARD enum status rewrite_add_group(struct rewriter *rewriter, struct logical_node *aggregate,
                                        struct sql_expression *term, uint32_t *column);

/* Columns that take the place of others: `to[i]` that of `from[i]`. */
struct column_map {
    uint32_t count;
    uint32_t *from;
    struct sql_expression **to;
};
NODISCARD enum status rewrite_map(struct rewriter *rewriter, const struct column_map *map,
                                  struct sql_expression *expression, struct sql_expression **out);
NODISCARD enum status rewrite_map_add(struct rewriter *rewriter, struct column_map *map, uint32_t from,
                                      struct sql_expression *to);
/* The same in all expressions of a node, not of its inputs. */
NODISCARD enum status rewrite_map_node(struct rewriter *rewriter, const struct column_map *map,
                                       struct logical_node *node);

/* Leaves projections below an aggregate out: it computes what they did. */
NODISCARD enum status rewrite_aggregate_below(struct rewriter *rewriter, struct logical_node *aggregate);

/* ---- pull.c ---- */

/* What of a subtree depends on outer columns, and can be pulled out of it. */
enum pullable { PULL_NOTHING, PULL_EQUALITIES, PULL_CONDITIONS, PULL_NOT };
enum pullable rewrite_pullable(const struct logical_node *node, const struct logical_set *outer);
/* Pulls the conditions with outer columns out of *node, which then gives the columns that they name. */
NODISCARD enum status rewrite_pull(struct rewriter *rewriter, const struct logical_set *outer,
                                   struct logical_node **node, struct conjuncts *pulled);
/* Lets LIMIT over `node` keep so many rows of each group of rows whose columns are equal. */
NODISCARD enum status rewrite_limit_by(struct rewriter *rewriter, const struct logical_node *limit,
                                       const uint32_t *keys, uint32_t count, struct logical_node **node);
/* Makes the own sides of equalities groups of an aggregate, and compares these instead. */
NODISCARD enum status rewrite_group_by(struct rewriter *rewriter, const struct logical_set *outer,
                                       struct logical_node *aggregate, struct conjuncts *pulled);
/* Adds columns to the partitions of all windows of a node. */
NODISCARD enum status rewrite_partition_by(struct rewriter *rewriter, const uint32_t *keys, uint32_t count,
                                           struct logical_node *window);

/* The value of an aggregate where a join may have given no row for it: a count is then 0. */
NODISCARD enum status rewrite_of_empty(struct rewriter *rewriter, const struct sql_expression *call,
                                       struct sql_expression **value);

/* ---- domain.c ---- */

/* Makes the join independent in general: inputs[1] becomes one that gives its columns for each distinct value of the outer
 * columns that it names. */
NODISCARD enum status rewrite_by_domain(struct rewriter *rewriter, const struct logical_set *outer,
                                        struct logical_node *join);

/* ---- push.c ---- */

/* True if it names no columns but those of the set. */
bool rewrite_is_over(const struct sql_expression *condition, const struct logical_set *set);

/* ---- shared.c ---- */

/* Notes the conditions of a reference to a shared query, unless the step is not taken in shared queries. */
NODISCARD enum status rewrite_ask_shared(struct rewriter *rewriter, const struct logical_node *node,
                                         const struct conjuncts *conditions);
/* Notes the columns that are needed of a reference, unless the step is not taken in shared queries. */
NODISCARD enum status rewrite_need_shared(struct rewriter *rewriter, struct logical_node *node,
                                          const struct logical_set *needed);

/* ---- union.c ---- */

typedef bool rewrite_stored_test(void *context, const struct column *column);
/* True if the column comes from stored columns, as they are, or from literals, for which `column` is NULL, and the test is
 * true for each of them. */
bool rewrite_all_stored(const struct logical_node *node, uint32_t column, rewrite_stored_test *test,
                        void *context);

/* Multiplies by the different values of the columns that an expression names; false: they are not known. */
bool rewrite_times_values(const struct logical_node *node, const struct sql_expression *expression,
                          double *product);
/* The rows of the largest stored table. */
double rewrite_most_rows(const struct logical_node *node);
/* Puts joins and aggregates over UNION ALL into its parts; `united` says whether there were any. */
NODISCARD enum status rewrite_union(struct rewriter *rewriter, struct logical_node **node);

/* ---- early.c ---- */

/* Groups the sides of joins below aggregations. */
NODISCARD enum status rewrite_early(struct rewriter *rewriter, struct logical_node **node);

/* ---- same.c ---- */

/* Makes joins of a table with itself groups, below totals. */
NODISCARD enum status rewrite_same(struct rewriter *rewriter, struct logical_node **node);
/* Makes joins of a table with groups of it windows. */
NODISCARD enum status rewrite_own_groups(struct rewriter *rewriter, struct logical_node **node);

/* ---- cheaper.c ---- */

/* Makes a join a cheaper one, of which these columns are needed. */
NODISCARD enum status rewrite_cheaper_join(struct rewriter *rewriter, const struct logical_set *needed,
                                           struct logical_node *join);
/* The same of a filter over a left join. */
NODISCARD enum status rewrite_cheaper_filter(struct rewriter *rewriter, const struct logical_set *needed,
                                             struct logical_node **node);

/* ---- the steps ---- */
NODISCARD enum status rewrite_unnest(struct rewriter *rewriter, struct logical_node **node);
NODISCARD enum status rewrite_push(struct rewriter *rewriter, struct logical_node **node);
NODISCARD enum status rewrite_merge(struct rewriter *rewriter, struct logical_node **node);
/* Pushes in the statement and in all shared queries. */
NODISCARD enum status rewrite_push_shared(struct rewriter *rewriter);
NODISCARD enum status rewrite_order(struct rewriter *rewriter, struct logical_node **node);
/* A query of WITH that is named once takes the place of its name. */
NODISCARD enum status rewrite_inline(struct rewriter *rewriter, struct logical_node **node);
/* Leaves out of the subtree what gives columns that are not needed. */
NODISCARD enum status rewrite_prune(struct rewriter *rewriter, const struct logical_set *needed,
                                    struct logical_node **node);
/* The same of the statement and all shared queries, of whose columns those stay that a reference needs. */
NODISCARD enum status rewrite_prune_shared(struct rewriter *rewriter);
/* The last step: nodes may stand in the tree more than once after it. */
NODISCARD enum status rewrite_split_values(struct rewriter *rewriter, struct logical_node **node);

#endif
