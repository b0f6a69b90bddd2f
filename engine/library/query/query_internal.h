/* query_internal.h: shared by the files that answer statements of several levels (query.h). */
#ifndef TESSERA_ENGINE_LIBRARY_QUERY_QUERY_INTERNAL_H
#define TESSERA_ENGINE_LIBRARY_QUERY_QUERY_INTERNAL_H

#include "engine/answer/relation/relation.h"
#include "engine/library/query/query.h"
#include "engine/sql/tree/scope.h"

/* A named answer: of WITH, or of a subquery in FROM, whose name begins with #. */
struct query_named {
    const char *name;
    bool done, open;             /* answered; being answered */
    const struct sql_with *with; /* what answers it, if it is not done */
    const struct query_scope *scope;
    struct rowset rows; /* owned by the query */
    struct query_named *next;
};

/* The names that a level sees: one, and those of the scope around it. */
struct query_scope {
    const struct query_scope *outer;
    struct query_named *named;
};

/* The levels around a subquery, for telling that it is correlated. */
struct query_around {
    const struct sql_select *select;
    const struct query_scope *scope;
    const struct query_around *outer;
};

struct query {
    const struct query_task *task;
    struct sql_statement_tree *tree;  /* the arena of trees that are made */
    struct sql_parameter *parameters; /* the statement's, and then values of subqueries */
    uint32_t parameter_count;
    struct query_named *answers;      /* all, for freeing them */
    struct dictionary **dictionaries; /* of all answers */
    uint32_t dictionary_count, made_names;
    char *text; /* of EXPLAIN */
    size_t text_bytes;
    uint32_t level;
    const struct query_around *around;
    struct run_timing timing;
    bool no_star; /* the last plan was refused, because references do not join its tables as a star */
    struct error *error;
};

/* STATUS_BAD_INPUT, "line L, column C: ..." */
enum status query_refuse(const struct query *query, struct sql_position position, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Puts the position before an error text that has none. */
enum status query_placed(const struct query *query, struct sql_position position, enum status status);

/* ---- query.c ---- */

/* Answers a query. `last`: it is the whole statement, which EXPLAIN does not run. */
NODISCARD enum status query_run(struct query *query, const struct sql_select *select,
                                const struct query_scope *scope, bool last, struct rowset *rows);
/* Answers one SELECT without WITH and parts. */
NODISCARD enum status query_select(struct query *query, const struct sql_select *select,
                                   const struct query_scope *scope, bool last, struct rowset *rows);
/* Plans and runs a SELECT that asks the tables of one database. */
NODISCARD enum status query_plan(struct query *query, struct database *database,
                                 const struct sql_select *select, bool last, struct rowset *rows);
/* Adds a line to EXPLAIN's text, at the current level. */
NODISCARD enum status query_explain_line(struct query *query, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Finds a named answer, and answers it if that has not been done; NULL: there is none. */
NODISCARD enum status query_find(struct query *query, const struct query_scope *scope, const char *name,
                                 struct sql_position position, struct query_named **named);
/* Makes an answer a named one, in a new scope; takes its rows over. */
NODISCARD enum status query_name(struct query *query, struct rowset *rows, const struct query_scope *outer,
                                 struct query_scope **scope);
/* Hands the rowset's dictionaries to the query, which keeps them until it is answered. */
NODISCARD enum status query_keep_dictionaries(struct query *query, struct rowset *rows);

/* ---- subquery.c ---- */

/* Replaces the subqueries in a SELECT's expressions by their values. Those that name columns of this level may add sources
 * and names to it. */
NODISCARD enum status query_values(struct query *query, struct sql_select *select,
                                   struct query_scope **scope);

/* Whether a SELECT's sources have a column; HAS_PERHAPS: one of them is not answered yet. */
enum query_has { HAS_NOT, HAS, HAS_PERHAPS };
enum query_has query_select_has(const struct query *query, const struct sql_select *select,
                                const struct query_scope *scope, const struct sql_expression *name);
/* Refuses a query that names columns of the levels around it. */
NODISCARD enum status query_check_correlation(struct query *query, const struct sql_select *select,
                                              const struct query_scope *scope);

/* ---- correlation.c ---- */

/* The columns of an answer by key, and its alias's first letter: no name of a statement can be one of them. */
#define QUERY_KEY_NAME   "?key"
#define QUERY_VALUE_NAME "?value"

/* What a subquery becomes that names columns of the level around it in one equality: `outer` is that level's side, and
 * `select` gives the other side's values; for a value with the value of each. `outer` NULL: it is no such subquery.
 * `counts`: a value without rows is 0. */
struct query_key {
    struct sql_expression *outer;
    const struct sql_select *select;
    bool counts;
};
NODISCARD enum status query_decorrelate(struct query *query, const struct sql_select *select,
                                        const struct query_scope *scope, enum sql_operation operation,
                                        struct query_key *key);

bool query_has_windows(const struct sql_select *select); /* query.c */

/* ---- sources.c, joins.c ---- */

/* One table or answer of FROM. Columns of an answer have names that differ in their first NAME_BYTES - 1 bytes. */
struct query_source {
    const char *name;          /* the alias, or the table's name */
    const struct table *table; /* a stored table, or NULL */
    const struct rowset *rows; /* an answer, or NULL */
    const struct sql_source *from;
    uint32_t column_count;
    const char **columns, **labels; /* names to ask by, and to show */
    bool *used;                     /* the level names the column */
    uint32_t unit, *unit_column;    /* the columns of the unit */
};

struct query_sources {
    uint32_t count;
    struct query_source list[SQL_SOURCES_MAX];
    struct sql_scope scope;
    bool any_answer;
    bool any_strict; /* there is a RIGHT or FULL JOIN, which no plan of stored tables has */
};

/* The stored table of a name, in the same letters or, if there is none, in others; NULL: there is none. */
const struct table *query_stored_table(const struct query *query, const char *name);
/* Finds the tables and answers of FROM, and their columns. */
NODISCARD enum status query_sources_find(struct query *query, const struct sql_select *select,
                                         const struct query_scope *scope, struct query_sources *sources);
/* Resolves a name; false if it is no column, one of several, or one whose value is that of several. */
bool query_column_of(const struct query_sources *sources, const struct sql_expression *name, uint32_t *source,
                     uint32_t *column);
/* Refuses a name that is no column, or one of several. */
enum status query_column_missing(const struct query *query, const struct query_sources *sources,
                                 const struct sql_expression *name);
/* Replaces * and t.* in the select list by columns. */
NODISCARD enum status query_expand_stars(struct query *query, const struct query_sources *sources,
                                         struct sql_select *select);
/* Answers a SELECT at least one of whose sources is an answer. */
NODISCARD enum status query_join(struct query *query, const struct sql_select *select,
                                 struct query_sources *sources, bool last, struct rowset *rows);

/* ---- names.c ---- */

/* The name of an item's column in the answer. */
const char *query_item_name(const struct sql_item *item);
/* A term of ORDER BY that names an item becomes its number: an alias comes before a column of that name, and a column's
 * name that could be several of FROM is the item's. */
NODISCARD enum status query_order_term(struct query *query, const struct query_sources *sources,
                                       const struct sql_select *select, struct sql_expression **term);

/* ---- tree.c ---- */

NODISCARD enum status query_memory(struct query *query, size_t bytes, void *memory);
const char *query_text(struct query *query, const char *text); /* a copy, or NULL without memory */

/* Copies a tree as far as something in it is replaced. */
NODISCARD enum status query_rewrite(struct query *query, const struct sql_expression *tree,
                                    sql_replace *replace, void *context, struct sql_expression **out);
/* Calls `visit` for each node, also those of windows, but not for those of subqueries. */
void query_visit(const struct sql_expression *tree,
                 void (*visit)(void *context, const struct sql_expression *), void *context);
/* The same for all expressions of a SELECT. */
void query_visit_all(const struct sql_select *select,
                     void (*visit)(void *context, const struct sql_expression *), void *context);
NODISCARD enum status query_node(struct query *query, enum sql_operation operation,
                                 struct sql_position position, struct sql_expression **node);
NODISCARD enum status query_column_node(struct query *query, struct sql_position position,
                                        const char *qualifier, const char *name,
                                        struct sql_expression **node);
NODISCARD enum status query_child(struct query *query, struct sql_expression *node,
                                  struct sql_expression *child);
NODISCARD enum status query_item(struct query *query, struct sql_select *select,
                                 struct sql_expression *expression, const char *alias);
/* Adds AND condition to *all, which may be NULL. */
NODISCARD enum status query_and(struct query *query, struct sql_expression **all,
                                struct sql_expression *condition);
/* A node for a value that is known, of the column's type also if it is NULL; `row` RELATION_NO_ROW: NULL. */
NODISCARD enum status query_value_node(struct query *query, struct sql_position position,
                                       const struct rowset_column *column, uint64_t row,
                                       struct sql_expression **node);

#endif
