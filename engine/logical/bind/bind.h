/*
 * bind.h: shared by the files of the binder (logical.h).
 *
 *     query.c        WITH, UNION and the like, ORDER BY and LIMIT of these
 *     select.c       one SELECT: groups, windows, the select list, DISTINCT
 *     expand.c       stars that are changed, GROUP BY ALL and ORDER BY ALL, written out
 *     summary.c      SUMMARIZE, written out
 *     order.c        ORDER BY and LIMIT
 *     from.c         FROM
 *     nearest.c      ASOF JOIN
 *     recursive.c    WITH RECURSIVE
 *     expression.c   names, aggregates and windows become columns
 *     window.c       window functions
 *     subquery.c     subqueries become joins
 */
#ifndef TESSERA_ENGINE_LOGICAL_BIND_BIND_H
#define TESSERA_ENGINE_LOGICAL_BIND_BIND_H

#include "engine/logical/logical.h"
#include "engine/sql/aggregates/aggregate_names.h"
#include "engine/sql/scalar.h"
#include "engine/sql/tree/scope.h"
#include "engine/sql/tree/tree.h"

/* A query of WITH, and the names that it sees: those before it. */
struct bind_named {
    const struct sql_with *with;
    const struct bind_place *around;
    const struct bind_named *before;
    bool shared; /* number `number` of the tree's; else it is bound at each use, or was not used yet */
    bool
        working; /* what the step of a recursive query, that number, sees of itself: columns of these names and types */
    uint32_t number;
    uint32_t column_count;
    const char **names;
    struct value_type *types;
};

struct bind_state {
    struct logical_tree *tree;
    struct sql_statement_tree *arena;
    struct database *database;
    const struct logical_options *options;
    struct sql_scalars *scalars;
    uint32_t depth;    /* of queries in each other */
    uint32_t views;    /* whose queries are being bound, one in another */
    uint32_t workings; /* references to what recursive queries see of themselves, so far */
    struct error *error;
};

/* A source of FROM. */
struct bind_source {
    const char *name;
    uint32_t count;
    const char **names;
    const char **keys; /* each finds its column alone: its name or, where one before it has that, "#3" */
    uint32_t *columns;
};

/* What a node of the syntax tree has become, so that it becomes the same wherever it stands. */
struct bind_made {
    const struct sql_expression *node;
    struct sql_expression *input;
    bool above; /* the input is a column above the groups */
};

enum bind_reaches { REACHES_UNKNOWN, REACHES_NONE, REACHES_AGGREGATE };

/* One SELECT. */
struct bind_block {
    struct bind_state *state;
    const struct sql_select *select;
    const struct bind_named *named;  /* the queries of WITH that it sees */
    const struct bind_place *around; /* the place in which the SELECT is a subquery; or NULL */
    struct bind_source *sources;
    struct sql_scope scope;
    const struct sql_expression **group_trees; /* as they are written, of each group of `aggregate` */
    bool aggregated;
    struct logical_node *aggregate; /* NULL until it is made */
    struct logical_node *window;    /* likewise */
    uint32_t known_count;
    struct bind_made *known; /* aggregates, windows and subqueries */
    uint64_t *open;          /* bit i: the alias of item i is being resolved */
    uint32_t open_count;
    uint64_t *seen[2]; /* and was searched for aggregates, and for windows */
    uint8_t *reaches;  /* enum bind_reaches of each item's alias */
};

/* Where an expression stands: over which node, to which subqueries are joined. */
struct bind_place {
    struct bind_block *block;
    struct logical_node **node;
    struct logical_node **left; /* ON of an outer join: its other side; or NULL */
    bool *both; /* ON of a FULL JOIN: set if a subquery names columns of both sides; or NULL */
    const struct sql_source *on; /* ON of this source, which sees the tables of its item alone; or NULL */
    bool above;                  /* the node gives groups and aggregates */
    bool aliases;                /* names may be those of the select list */
};

enum status logical_refuse(const struct bind_state *state, struct sql_position position, const char *format,
                           ...) __attribute__((format(printf, 3, 4)));

/* ---- query.c ---- */

/* Binds a query. *node gives the answer's columns, in order, and *names their names. */
NODISCARD enum status bind_query(struct bind_state *state, const struct sql_select *select,
                                 const struct bind_named *named, const struct bind_place *around,
                                 struct logical_node **node, const char ***names);

/* Puts ORDER BY and LIMIT of a query of several parts over *node. */
NODISCARD enum status bind_query_order(struct bind_state *state, const struct sql_select *select,
                                       const struct bind_named *named, const struct bind_place *around,
                                       const char **names, struct logical_node **node);

/* ---- recursive.c ---- */

/* True if the query of WITH RECURSIVE names itself. */
bool bind_is_recursive(const struct sql_with *with);
/* Binds such a query. */
NODISCARD enum status bind_recursive(struct bind_state *state, const struct bind_named *named,
                                     struct logical_node **node, const char ***names);
/* Puts CAST(... AS the type) over *tree. */
NODISCARD enum status bind_coerce(const struct bind_state *state, struct value_type type,
                                  struct sql_expression **tree);
/* A reference to it in its step. */
NODISCARD enum status bind_working(struct bind_state *state, const struct bind_named *named,
                                   struct sql_position position, struct logical_node **node);

/* ---- select.c ---- */
NODISCARD enum status bind_one_select(struct bind_state *state, const struct sql_select *select,
                                      const struct bind_named *named, const struct bind_place *around,
                                      struct logical_node **node, const char ***names);
/* Puts a projection over *node, that gives its columns and these, which get types. */
NODISCARD enum status bind_extend(struct bind_state *state, struct sql_expression *const *expressions,
                                  const uint32_t *columns, uint32_t count, struct logical_node **node);
/* Adds a column for an expression. */
NODISCARD enum status bind_column_of(struct bind_state *state, const char *name,
                                     const struct sql_expression *expression, uint32_t *column);
/* The item that a number names, from 0. */
NODISCARD enum status bind_number(struct bind_state *state, const struct sql_expression *term,
                                  const char *clause, uint32_t count, uint32_t *place);

/* ---- nearest.c ---- */

/* Binds ASOF JOIN of two nodes. The block's sources then see the columns that *node gives of the left one. */
NODISCARD enum status bind_nearest(struct bind_block *block, const struct sql_source *source,
                                   struct logical_node *left, struct logical_node *right,
                                   struct logical_node **node);

/* ---- expand.c ---- */
/* Lets the block have a SELECT in which each star with EXCLUDE, REPLACE or RENAME is the items that it stands for, and so
 * is every star of one with GROUP BY ALL or ORDER BY ALL, whose terms then are numbers of items. FROM is bound. */
NODISCARD enum status bind_expand(struct bind_block *block);
/* The terms of ORDER BY ALL, of `count` columns; it is that unless its term is a column's or an item's name. */
bool bind_names_column(const struct bind_block *block, const struct sql_expression *name);
NODISCARD enum status bind_order_all(const struct bind_state *state, const struct sql_order *all,
                                     uint32_t count, struct sql_order **orders);

/* ---- summary.c ---- */
/* Binds SUMMARIZE: one row for each column of its source. */
NODISCARD enum status bind_summary(struct bind_state *state, const struct sql_select *select,
                                   const struct bind_named *named, struct logical_node **node,
                                   const char ***names);

/* ---- order.c ---- */
/* Puts ORDER BY's terms over *node: columns of it. */
NODISCARD enum status bind_sort(struct bind_state *state, const struct sql_order *orders, uint32_t count,
                                const uint32_t *columns, struct logical_node **node);
/* Puts the LIMIT of the block's SELECT over *node. */
NODISCARD enum status bind_limit(struct bind_block *block, struct logical_node **node);

/* ---- from.c ---- */
/* Renames the first `count` columns of a query. */
NODISCARD enum status bind_rename(const struct bind_state *state, const char *what, uint32_t count,
                                  const char *const *written, struct sql_position position,
                                  const struct logical_node *node, const char ***names);
NODISCARD enum status bind_from(struct bind_block *block, struct logical_node **node);
/* Lets a SELECT see the columns of one node. */
NODISCARD enum status bind_only_source(struct bind_block *block, const char *name,
                                       const struct logical_node *node, const char **names);

/* ---- expression.c ---- */

/* Names become inputs. */
NODISCARD enum status bind_resolve(const struct bind_place *place, const struct sql_expression *expression,
                                   struct sql_expression **out);
/* The same of a condition, whose type is checked. */
NODISCARD enum status bind_resolve_condition(const struct bind_place *place,
                                             const struct sql_expression *condition,
                                             struct sql_expression **out);
/* Adds the aggregates that an expression names, or the windows; through aliases, too. */
NODISCARD enum status bind_find_aggregates(const struct bind_place *below,
                                           const struct sql_expression *expression);
/* Begins a node of windows, and puts it over *node if it has any. */
NODISCARD enum status bind_windows_open(struct bind_block *block);
NODISCARD enum status bind_windows_close(struct bind_block *block, struct logical_node **node);
NODISCARD enum status bind_find_windows(const struct bind_place *place,
                                        const struct sql_expression *expression);
bool bind_reaches_aggregate(const struct bind_block *block, const struct sql_expression *expression);
NODISCARD enum status bind_keep_made(struct bind_block *block, const struct sql_expression *node,
                                     struct sql_expression *input, bool above);
/* The item of that alias; item_count: there is none. */
uint32_t bind_alias_of(const struct bind_block *block, const struct sql_expression *name);

/* Resolves the arguments of a function, without its window. */
NODISCARD enum status bind_arguments(const struct bind_place *place, const struct sql_expression *call,
                                     struct sql_expression **out);

/* ---- window.c ---- */

/* Gives a window without names: what it has of windows of the WINDOW clause stands in it. */
NODISCARD enum status bind_window_of(struct bind_block *block, const struct sql_window *written,
                                     const struct sql_window **window);
/* Adds a window function to the block's node, and to the node under it what it names. */
NODISCARD enum status bind_window(const struct bind_place *place, const struct sql_expression *node);

/* ---- subquery.c ---- */

/* A subquery becomes a join to the place's node, and an expression of its columns. */
NODISCARD enum status bind_subquery(const struct bind_place *place, const struct sql_expression *node,
                                    struct sql_expression **out);

#endif
