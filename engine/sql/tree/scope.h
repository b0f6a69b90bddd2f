/*
 * scope.h: FROM as a tree of scopes: which column a name is, and what USING makes of columns.
 *
 * FROM is items with commas between them, and an item is tables that JOIN joins from left to right:
 *
 *     FROM a JOIN b USING (k), c LEFT JOIN d ON c.k = d.k          (a b) (c d)
 *
 * USING sees the tables of its own item up to the joined one. So does ON; where its item has no RIGHT or FULL JOIN, it
 * makes no difference what is joined first, and a name that these tables lack may be one of those before the comma, as
 * in SQLite and DuckDB. What stands outside FROM sees all of it.
 *
 * Parentheses that JOIN joins to what is before them are a source without columns, a group, before the sources in them,
 * which are deeper (struct sql_source). In a group ON and USING see its tables alone, from the first one that no JOIN
 * joins; ON and USING of the group see those before it at its own depth, and all that is in it:
 *
 *     FROM a LEFT JOIN (b JOIN c USING (k)) ON a.k = b.k              a #group (b c)
 *
 * USING (k) makes one column of the k before it, which must be one, and of the joined table's k. Its value is the left
 * one's after JOIN and LEFT JOIN, the right one's after RIGHT JOIN, and coalesce of both after FULL JOIN. The two have no
 * name of their own any more but with their table's: a.k.
 */
#ifndef TESSERA_ENGINE_SQL_TREE_SCOPE_H
#define TESSERA_ENGINE_SQL_TREE_SCOPE_H

#include "engine/sql/tree/tree.h"

/* FROM, and what is asked of its tables. */
struct sql_scope {
    uint32_t count;
    const struct sql_source *sources; /* at most SQL_SOURCES_MAX */
    /* The number of a source's columns that a name may be, and one of them. */
    uint32_t (*find)(const void *context, uint32_t source, const char *name, uint32_t *column);
    const char *(*name)(const void *context, uint32_t source, uint32_t column);
    const void *context;
};

/* A column of a scope: its value is the first of these that is not NULL; mostly there is one. */
struct sql_scope_column {
    uint32_t count;
    uint32_t sources[SQL_SOURCES_MAX], columns[SQL_SOURCES_MAX];
};

/* The number of columns that a name outside FROM may be: 1 for a column that USING merged. *column is one of them. */
uint32_t sql_scope_find(const struct sql_scope *scope, const struct sql_expression *name,
                        struct sql_scope_column *column);
/* The same of a name in ON of a join: the tables of its item of FROM up to the joined one; where the item has no RIGHT or
 * FULL JOIN, else those before it. */
uint32_t sql_scope_find_on(const struct sql_scope *scope, uint32_t join, const struct sql_expression *name,
                           struct sql_scope_column *column);
/* What * gives for a column of a source; false: nothing, because it is merged with one before it. */
bool sql_scope_visible(const struct sql_scope *scope, uint32_t source, uint32_t column,
                       struct sql_scope_column *value);
/* The first source that ON of a join sees; and the one after the last that it joins: of a group the one after those in it. */
uint32_t sql_scope_first(const struct sql_scope *scope, uint32_t join);
uint32_t sql_scope_end(const struct sql_scope *scope, uint32_t join);
/* A tree for the value of a column: names with their tables, in coalesce if they are several. */
NODISCARD enum status sql_scope_tree(const struct sql_scope *scope, struct sql_statement_tree *tree,
                                     const struct sql_scope_column *column, struct sql_position position,
                                     struct sql_expression **out, struct error *error);

/* Writes "; write a.k or b.k" for a name that may be several columns of FROM; `bytes` are OWNERS_BYTES or more. */
#define OWNERS_BYTES 400u
const char *sql_scope_owners(const struct sql_scope *scope, const struct sql_expression *name, char *text,
                             size_t bytes);

/* Gives the names of an expression their tables, as those of ON of a join; see sql_scope_resolve. */
NODISCARD enum status sql_scope_resolve_on(const struct sql_scope *scope, struct sql_statement_tree *tree,
                                           uint32_t join, const struct sql_expression *on,
                                           struct sql_expression **out, struct error *error);
/* Rewrites each `on` of `sources`, which are the scope's: names get their tables, and USING becomes equalities. A name that
 * no table of FROM has is left as it is: it may be an alias. STATUS_BAD_INPUT, "line L, column C: ...", for names that
 * are in FROM but not in the scope, for those that could be several columns, and for columns of USING that are not on
 * both sides. */
NODISCARD enum status sql_scope_resolve(const struct sql_scope *scope, struct sql_statement_tree *tree,
                                        struct sql_source *sources, struct error *error);

#endif
