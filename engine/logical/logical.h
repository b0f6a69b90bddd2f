/*
 * logical.h: from a syntax tree (engine/sql/ast.h) to a tree of operators (node.h).
 *
 *     bind/      names become columns and types are checked; subqueries become joins
 *     rewrite/   the tree becomes one that is cheaper and has no dependent joins
 */
#ifndef TESSERA_ENGINE_LOGICAL_LOGICAL_H
#define TESSERA_ENGINE_LOGICAL_LOGICAL_H

#include "engine/logical/node.h"

/* What finds the table of the rows of files that FROM names, by their schema; its columns may have no values yet. */
struct logical_files {
    enum status (*find)(void *context, const char *name, const struct table **table, struct error *error);
    void *context;
};

struct logical_options {
    const struct sql_parameter *parameters;
    uint32_t parameter_count;
    enum sql_like like;
    const struct zone *zone; /* struct sql_options */
    int64_t now;             /* struct sql_options */
    bool device_totals;      /* a GPU answers, and adds up what groups give where only that is asked */
    bool host_totals;        /* the CPU does */
    const struct logical_files *files; /* NULL: FROM may name none */
};

/* Whether FROM of the query, or of one in it, names a table so, in any case of letters. */
bool logical_query_names(const struct sql_select *select, const char *name);

/* Binds a statement to a database; reads no rows. `arena` gets the tree, and must outlive it. STATUS_BAD_INPUT, "line L,
 * column C: ...", for names that there are not and for wrong types. */
NODISCARD enum status logical_bind(struct database *database, const struct sql_select *select,
                                   const struct logical_options *options, struct sql_statement_tree *arena,
                                   struct logical_tree *tree, struct error *error);

/* Finds the columns of the tree that decide its answer; others are made by nodes and named by nobody. */
NODISCARD enum status logical_needed(struct logical_tree *tree, struct logical_set *needed,
                                     struct error *error);

/* Makes the tree one that is cheaper to answer and has no dependent joins. */
NODISCARD enum status logical_rewrite(const struct logical_options *options, struct logical_tree *tree,
                                      struct error *error);

/* Finds whether the rewriter makes several aggregations of a node. */
NODISCARD enum status logical_is_split(const struct logical_tree *tree, const struct logical_node *node,
                                       bool *split, struct error *error);

/* The stored column whose values a column of this subtree has, some of them, in any order and perhaps NULL beside them; or
 * NULL: they are computed, or come from several columns (origin.c). */
const struct column *logical_origin(const struct logical_tree *tree, const struct logical_node *node,
                                    uint32_t column);
/* The stored table of which the answer has rows, each at most once; or NULL. */
const struct table *logical_rows_of(const struct logical_tree *tree);

/* The names of window functions that are no aggregates, one after the other; NULL at the end. */
const char *logical_window_name(size_t index);

#endif
