/* tree.h: makes trees from a statement's tree (ast.h), in an arena (sql.h). What is not changed is shared with it. */
#ifndef TESSERA_ENGINE_SQL_TREE_TREE_H
#define TESSERA_ENGINE_SQL_TREE_TREE_H

#include "engine/sql/sql.h"

/* Gives zeroed memory of the tree. */
NODISCARD enum status sql_tree_take(struct sql_statement_tree *tree, size_t bytes, void *memory,
                                    struct error *error);
NODISCARD enum status sql_tree_node(struct sql_statement_tree *tree, enum sql_operation operation,
                                    struct sql_position position, struct sql_expression **node,
                                    struct error *error);
NODISCARD enum status sql_tree_child(struct sql_statement_tree *tree, struct sql_expression *node,
                                     struct sql_expression *child, struct error *error);
NODISCARD enum status sql_tree_column(struct sql_statement_tree *tree, struct sql_position position,
                                      const char *qualifier, const char *name, struct sql_expression **node,
                                      struct error *error);

/* Gives in *out what takes a node's place, or leaves it NULL: then its children are visited. */
typedef enum status sql_replace(void *context, const struct sql_expression *node,
                                struct sql_expression **out);
/* Copies an expression as far as something in it is replaced; NULL for NULL. */
NODISCARD enum status sql_tree_rewrite(struct sql_statement_tree *tree, const struct sql_expression *from,
                                       sql_replace *replace, void *context, struct sql_expression **out,
                                       struct error *error);

/* b sql_turned(<) a is a < b; what is no inequality stays. */
enum sql_operation sql_turned(enum sql_operation operation);

/* True if both are written alike, letters of names in any case: the same operators over the same names, literals and
 * queries (same.c). */
bool sql_same_query(const struct sql_select *a, const struct sql_select *b);
bool sql_same_expression(const struct sql_expression *a, const struct sql_expression *b);

#endif
