/*
 * node.h: a statement as a tree of operators over typed columns. The binder makes it from the syntax tree (bind/), the
 * rewriter changes it (rewrite/), and the operators answer it (engine/relational).
 *
 *     select c, count(*) from a, b where a.k = b.k and exists (select * from d where d.x = a.x) group by c order by 2
 *
 *     sort 8
 *       aggregate 7, 8: groups 7 = @2; 8 = count(*)
 *         filter @6
 *           join mark 6, dependent: true
 *             filter @1 = @3
 *               join inner
 *                 scan a: 1 2
 *                 scan b: 3
 *             filter @4 = @1
 *               scan d: 4
 *
 * Every column that some operator makes has a number of its own in the whole statement, so a condition can be moved to
 * any place where its columns are, and what a subtree takes from outside are the numbers that it names and does not make.
 * Expressions are those of ast.h in which names are SQL_INPUT (a column's number) and in which no subquery, aggregate or
 * window function is left. Operators give their columns in an order that means nothing, but for the root and for sets.
 *
 * Nothing runs while a tree is bound; the types of columns follow from the statement and the schemas. All nodes are in
 * the statement's arena (engine/sql/sql.h) and are freed with it.
 */
#ifndef TESSERA_ENGINE_LOGICAL_NODE_H
#define TESSERA_ENGINE_LOGICAL_NODE_H

#include "engine/sql/sql.h"

#include <stdio.h>

enum logical_kind {
    LOGICAL_SCAN,    /* a stored table */
    LOGICAL_VALUES,  /* rows of constant expressions; SELECT without FROM begins with one row of no columns */
    LOGICAL_FILTER,  /* the rows in which a condition is true */
    LOGICAL_PROJECT, /* a column for each expression */
    LOGICAL_JOIN,    /* of two inputs; inputs[1] may name columns of inputs[0]: it is then dependent */
    LOGICAL_AGGREGATE, /* a row for each group; without groups and sets one row, also of no rows */
    LOGICAL_WINDOW,    /* the input's columns, and one for each window function */
    LOGICAL_SORT,
    LOGICAL_LIMIT,
    LOGICAL_SET,    /* UNION, EXCEPT, INTERSECT of two inputs, column by column in their order */
    LOGICAL_SHARED, /* the answer of a query that is named several times: one of the tree's `shared` */
    LOGICAL_RECURSIVE, /* the rows of one query, and of another one over the rows that were found last, until there
                        * are none */
    LOGICAL_WORKING /* in that other one: the rows that were found last */
};

/* Of the rows of inputs[0], left, and inputs[1], right, whose pairs the condition is true for. */
enum logical_join {
    LOGICAL_INNER, /* the pairs; without a condition all of them */
    LOGICAL_LEFT,  /* and left rows without a pair, with NULLs */
    LOGICAL_FULL,  /* and right rows without one */
    LOGICAL_SEMI,  /* left rows with a pair, once; only columns of the left */
    LOGICAL_ANTI,  /* left rows without a pair: a condition that is NULL is not true */
    LOGICAL_MARK, /* all left rows, and `mark`: of the pairs whose condition is true, true if `test` is true for one;
                    * else NULL if it is NULL for one; else false. Without a test it is true for all */
    LOGICAL_SINGLE /* as LEFT, but a second pair of a left row is an error: a subquery that is a value */
};

/* Types have no dictionary: which strings there are is known when rows are. */
struct logical_column {
    const char *name; /* for people; not unique */
    struct value_type type;
    bool nullable;
};

struct logical_order {
    uint32_t column;
    bool descending, nulls_first;
};

enum window_function {
    WINDOW_ROW_NUMBER,
    WINDOW_RANK,
    WINDOW_DENSE_RANK,
    WINDOW_PERCENT_RANK,
    WINDOW_CUME_DIST,
    WINDOW_NTILE,
    WINDOW_LAG,
    WINDOW_LEAD,
    WINDOW_FIRST_VALUE,
    WINDOW_LAST_VALUE,
    WINDOW_NTH_VALUE,
    WINDOW_AGGREGATE /* that of the call's name */
};

/* A window function: SQL_FUNCTION with its arguments, each an SQL_INPUT or a literal; so are all expressions of `window`.
 * The bounds of ROWS and GROUPS are numbers, those of RANGE the values at which the frame begins and ends. */
struct logical_window {
    enum window_function function;
    const struct sql_expression *call;
    const struct sql_window *window; /* never by name */
};

/* Columns from outside that a recursive query names: its rows are then those for some values of these. */
struct logical_outer {
    uint32_t count, *columns;
};

struct logical_node {
    enum logical_kind kind;
    struct sql_position position;
    uint32_t input_count; /* 0, 1, or 2 of a join and a set */
    struct logical_node *inputs[2];
    uint32_t column_count;
    uint32_t *columns; /* numbers, in the tree's `columns` */
    union {
        struct {
            const struct table *table;
            const char *name; /* its alias */
            uint32_t *stored; /* columns[i] is table->columns[stored[i]] */
            double *
                counted; /* the rows that pass the conditions that are asked with this scan, as they were counted;
                               * 0: they were not. It chooses orders, and is kept with the tree */
        } scan;
        struct {
            uint32_t row_count;
            struct sql_expression ***rows; /* rows[r][c] */
        } values;
        struct {
            struct sql_expression *condition;
        } filter;
        struct {
            struct sql_expression **expressions; /* one for each column */
        } project;
        struct {
            enum logical_join join;
            struct sql_expression *condition; /* NULL: true; a pair for which it is NULL is none */
            struct sql_expression *test;      /* LOGICAL_MARK: what IN compares; or NULL */
            uint32_t mark;                    /* LOGICAL_MARK: its column, the last of `columns` */
        } join;
        struct {
            uint32_t group_count, set_count, aggregate_count;
            struct sql_expression **groups; /* the first columns; over the input's */
            uint64_t *sets; /* as struct sql_select: bit g is groups[g]; none: one set of all */
            /* The columns after them: SQL_FUNCTION with arguments over the input's columns; but those of
             * grouping() are SQL_INPUTs of this node's group columns. */
            struct sql_expression **aggregates;
        } aggregate;
        struct {
            uint32_t count;
            struct logical_window *windows; /* the last `count` columns */
        } window;
        struct {
            uint32_t count;
            struct logical_order *orders;
        } sort;
        struct {
            const struct sql_expression *limit,
                *offset; /* over numbers and parameters alone; offset may be NULL */
        } limit;
        struct {
            enum sql_set set;
            bool all;
        } set;
        struct {
            uint32_t shared; /* columns[i] is column i of the shared query's root */
        } shared;
        struct {
            uint32_t first, step; /* of the tree's `shared`; columns[i] is column i of their roots */
            bool all;             /* UNION ALL; else a row that was found before is no new one */
            uint64_t most;        /* rows that are wanted; UINT64_MAX: all */
            struct logical_outer outer;
        } recursive;
        struct {
            uint32_t step; /* as in `recursive` */
            struct logical_outer outer;
        } working;
    };
};

/* A query of WITH that is answered once, or the first or the repeated part of one that is recursive. */
struct logical_shared {
    const char *name;
    struct logical_node *root;
    const char **names; /* of its columns */
    uint32_t references;
};

struct logical_tree {
    struct sql_statement_tree *arena;
    uint32_t column_count;
    struct logical_column *columns;
    uint32_t shared_count;
    struct logical_shared *shared;
    bool of_values;            /* it is one for the parameters' values; else for their types alone */
    struct logical_node *root; /* its columns are the answer's, in order */
    const char **names;        /* of the answer's columns */
};

/* ---- Making nodes (node.c); all memory is the arena's ---- */

/* Makes a node without columns; inputs may be NULL. */
NODISCARD enum status logical_node_new(struct logical_tree *tree, enum logical_kind kind,
                                       struct sql_position position, struct logical_node *first,
                                       struct logical_node *second, struct logical_node **node,
                                       struct error *error);
/* Adds a column to the tree, and gives its number. */
NODISCARD enum status logical_column_new(struct logical_tree *tree, const char *name, struct value_type type,
                                         bool nullable, uint32_t *column, struct error *error);
/* Adds a column to those that a node gives. */
NODISCARD enum status logical_gives(struct logical_tree *tree, struct logical_node *node, uint32_t column,
                                    struct error *error);
/* Adds all columns that `input` gives. */
NODISCARD enum status logical_gives_all(struct logical_tree *tree, struct logical_node *node,
                                        const struct logical_node *input, struct error *error);
NODISCARD enum status logical_input(struct logical_tree *tree, struct sql_position position, uint32_t column,
                                    struct sql_expression **input, struct error *error);
/* Puts a filter over *node. */
NODISCARD enum status logical_filter(struct logical_tree *tree, struct sql_expression *condition,
                                     struct logical_node **node, struct error *error);
/* Joins two nodes; the column of LOGICAL_MARK is for the caller to add. */
NODISCARD enum status logical_join_new(struct logical_tree *tree, enum logical_join join,
                                       struct sql_position position, struct logical_node *left,
                                       struct logical_node *right, struct sql_expression *condition,
                                       struct logical_node **node, struct error *error);
/* Puts a projection over *node, which gives its columns in their order, under these numbers. */
NODISCARD enum status logical_rename(struct logical_tree *tree, const uint32_t *columns,
                                     struct logical_node **node, struct error *error);
/* Numbers the rows of *node from 1 on, in the order of `sort`, a node, or NULL; *number is the column. */
NODISCARD enum status logical_number_rows(struct logical_tree *tree, struct sql_position position,
                                          const struct logical_node *sort, struct logical_node **node,
                                          uint32_t *number, struct error *error);
/* Adds a query that is answered once to the tree's `shared`; `names` of its columns, NULL: those that they have. */
NODISCARD enum status logical_share(struct logical_tree *tree, const char *name, struct logical_node *root,
                                    const char **names, uint32_t *shared, struct error *error);
/* Makes a node of its answer, with new columns. */
NODISCARD enum status logical_refer(struct logical_tree *tree, uint32_t shared, struct sql_position position,
                                    struct logical_node **node, struct error *error);
/* *node becomes such a query, whose answer takes its place, with its columns. References count its columns, and joins
 * give theirs in an order that changes with that of the joins: so its root is a projection. */
NODISCARD enum status logical_share_in_place(struct logical_tree *tree, const char *name,
                                             struct logical_node **node, uint32_t *shared,
                                             struct error *error);
/* a AND b; either may be NULL, which is true. */
NODISCARD enum status logical_and(struct logical_tree *tree, struct sql_expression *a,
                                  struct sql_expression *b, struct sql_expression **both,
                                  struct error *error);

/* ---- Sets of columns: bit c % 64 of word c / 64 ---- */

struct logical_set {
    uint32_t words;
    uint64_t *bits;
};
/* An empty set with room for all columns that the tree has now. */
NODISCARD enum status logical_set_new(struct logical_tree *tree, struct logical_set *set,
                                      struct error *error);
static inline bool logical_has(const struct logical_set *set, uint32_t column)
{
    return column / 64 < set->words && (set->bits[column / 64] >> column % 64 & 1);
}
static inline void logical_put(struct logical_set *set, uint32_t column)
{
    set->bits[column / 64] |= UINT64_C(1) << column % 64;
}
/* Adds the columns that an expression names; NULL names none. */
void logical_names(const struct sql_expression *expression, struct logical_set *set);
/* Adds the columns that a node's own expressions name, without those of its inputs. */
void logical_node_names(const struct logical_node *node, struct logical_set *set);
/* Adds the columns that the nodes of a subtree make. */
void logical_makes(const struct logical_node *node, struct logical_set *set);
/* Gives what a subtree takes from outside: columns that it names and does not make. */
NODISCARD enum status logical_free(struct logical_tree *tree, const struct logical_node *node,
                                   struct logical_set *set, struct error *error);
bool logical_is_empty(const struct logical_set *set);
bool logical_is_subset(const struct logical_set *of, const struct logical_set *in);

/* Writes an expression: columns by their numbers, @1, or for people by their names; long lists are cut then. */
void logical_write_expression(const struct logical_tree *tree, const struct sql_expression *expression,
                              bool names, FILE *out);

#endif
