/*
 * ast.h: the syntax tree of a statement. The parser makes it from text; the binder makes a plan from it.
 *
 * The tree knows no database. All nodes and strings of a statement are in its arena and are freed with it.
 * Trees are at most SQL_TREE_DEPTH_MAX deep, which bounds every recursion over them.
 */
#ifndef TESSERA_ENGINE_SQL_AST_H
#define TESSERA_ENGINE_SQL_AST_H

#include "storage/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The deepest nesting, and the longest chain of operators, that the parser takes: far more than a person
 * writes. It bounds the recursion on hostile text. */
#define SQL_DEPTH_MAX 200u

/* The most queries inside each other, with the outermost. Those of WITH may follow each other without limit. */
#define SQL_BLOCKS_MAX 32u

/* The most tables and groups of one FROM. */
#define SQL_SOURCES_MAX 128u

/* The deepest tree. A chain of operators, a + b + c, is as deep as it is long, and chains in parentheses may
 * be operands of chains. */
#define SQL_TREE_DEPTH_MAX 1000u

/* The place where a token begins; both count from 1, columns in bytes. */
struct sql_position {
    uint32_t line, column;
};

enum sql_operation {
    /* Literals: `text` is the number as written, or the text between the quotes. */
    SQL_NULL,
    SQL_NUMBER,
    SQL_STRING,
    SQL_DATE,      /* DATE '1994-01-31' */
    SQL_TIMESTAMP, /* TIMESTAMP '1994-01-31 23:59:59' */
    SQL_INTERVAL,  /* INTERVAL '3' MONTH: text "3", name "month" */
    SQL_TRUE,
    SQL_FALSE,
    SQL_PARAMETER, /* ?: `index` from 0, in order of appearance */
    /* Names: `name`, and `qualifier` or NULL, as written; quotes removed. */
    SQL_COLUMN,
    SQL_STAR,  /* * or t.*: in a select list, or the argument of count */
    SQL_INPUT, /* a column of a tree of operators, by its number `index` (engine/logical/node.h) */
    /* Operators: `children` are the operands. */
    SQL_NEGATE,
    SQL_NOT,
    SQL_ADD,
    SQL_SUBTRACT,
    SQL_MULTIPLY,
    SQL_DIVIDE,
    SQL_REMAINDER,
    SQL_EQUAL,
    SQL_NOT_EQUAL,
    SQL_LESS,
    SQL_LESS_EQUAL,
    SQL_GREATER,
    SQL_GREATER_EQUAL,
    SQL_AND,
    SQL_OR,
    SQL_BETWEEN, /* value, low, high */
    SQL_IN, /* value, then the items of the list, and `keys`; or values and `query`, by `comparison` with some of whose
                      * rows they are compared */
    SQL_LOOKUP,      /* value: its place in `keys` gives another value (sql.h) */
    SQL_LIKE,        /* value, pattern[, escape]; `has_operand`: ILIKE */
    SQL_MATCHES,     /* value, regular expression; `has_operand`: the case of letters is ignored */
    SQL_IS_NULL,     /* value */
    SQL_IS_TRUTH,    /* condition; `text`: true, false or unknown */
    SQL_IS_DISTINCT, /* two values */
    SQL_CONCAT,      /* a || b */
    SQL_CASE,        /* [operand,] then pairs of WHEN and THEN[, ELSE]: `has_operand`, `has_else` */
    SQL_FUNCTION,    /* `name` in lower case, and its arguments; `distinct`: count(distinct x) */
    SQL_EXTRACT,     /* EXTRACT(name FROM child) */
    SQL_CAST, /* CAST(child AS name); `has_operand`: digits are index / 256, those after the point index % 256;
                 * `distinct`: TRY_CAST */
    SQL_SUBQUERY, /* (SELECT ...) as a value: `query` */
    SQL_EXISTS    /* EXISTS (SELECT ...): `query` */
};

struct sql_expression {
    enum sql_operation operation;
    bool negated; /* NOT BETWEEN, NOT IN, NOT LIKE, IS NOT NULL */
    bool distinct, has_operand, has_else;
    enum sql_operation comparison;        /* SQL_IN of a query: SQL_EQUAL .. SQL_GREATER_EQUAL */
    bool ordered, descending, nulls_last; /* SQL_FUNCTION: the last child is what ORDER BY in it names */
    bool ignores_nulls;                   /* SQL_FUNCTION: IGNORE NULLS */
    uint32_t index; /* SQL_PARAMETER; SQL_INPUT, and SQL_COLUMN that one became: the column of the tree */
    uint32_t depth; /* 1 more than the deepest child's */
    struct sql_position position;
    const char *text, *name, *qualifier; /* zero-terminated, or NULL */
    uint32_t child_count;
    struct sql_expression **children;
    struct sql_select *query;    /* SQL_SUBQUERY, SQL_EXISTS, SQL_IN; or NULL */
    struct sql_window *window;   /* SQL_FUNCTION with OVER; or NULL */
    const struct sql_keys *keys; /* SQL_IN, SQL_LOOKUP: what another operator gave (sql.h); or NULL */
};

/* True if both are written as the same column. */
static inline bool sql_is_same_column(const struct sql_expression *a, const struct sql_expression *b)
{
    return a->operation == SQL_COLUMN && b->operation == SQL_COLUMN && strcmp(a->name, b->name) == 0 &&
           !a->qualifier == !b->qualifier && (!a->qualifier || strcmp(a->qualifier, b->qualifier) == 0);
}

/* What EXCLUDE (name), REPLACE (expression AS name) or RENAME (name AS alias) after * or t.* says of one column. */
struct sql_star_change {
    const char *qualifier, *name;      /* `qualifier` may be NULL */
    struct sql_expression *expression; /* REPLACE; or NULL */
    const char *alias;                 /* RENAME; or NULL: with neither it is left out */
    struct sql_position position;
};

struct sql_item {
    struct sql_expression *expression;
    const char *alias; /* or NULL */
    const char *text;  /* the expression as written: the column's name if there is no alias */
    bool of_star;      /* it stands for * with others: `text` is its column's name */
    uint32_t change_count;
    struct sql_star_change *changes; /* of SQL_STAR */
    bool of_pivot; /* SQL_STAR: it may leave no columns, and its changes may name none of its own */
};

enum sql_join {
    SQL_JOIN_NONE, /* the first table, or one after a comma: it begins an item of FROM (tree/scope.h) */
    SQL_JOIN_CROSS,
    SQL_JOIN_INNER,
    SQL_JOIN_LEFT,
    SQL_JOIN_RIGHT,
    SQL_JOIN_FULL
};

/* A column of USING. */
struct sql_shared {
    const char *name;
    struct sql_position position;
};

struct sql_source {
    const char *table; /* NULL for a subquery, for files and for a group */
    const char *file;  /* FROM 'sales.csv': its name, a pattern, or a folder's; or NULL */
    struct sql_select *query;
    uint32_t column_count; /* of `AS t (a, b)` */
    const char **columns;
    const char *alias; /* or NULL */
    enum sql_join join;
    struct sql_expression *on; /* or NULL */
    struct sql_position position;
    uint32_t shared_count;
    struct sql_shared *shared; /* the columns of USING: the binder adds their equalities to `on` */
    bool lateral;              /* the subquery may name columns of the sources before it */
    bool natural;              /* USING of all columns that both sides have */
    bool
        nearest; /* ASOF: of the rows that it is joined to by equalities, the one next in an order; INNER or LEFT */
    bool
        group; /* parentheses around the sources after it that are deeper, which are joined to each other first; it has no
                 * columns of its own */
    uint32_t depth; /* the groups that it stands in */
    bool over_all;  /* made for a subquery: a LEFT JOIN to all that stands before it, not to its item alone */
};

/* The name by which columns of a table or of an answer are told from others. */
static inline const char *sql_source_name(const struct sql_source *source)
{
    return source->alias ? source->alias : source->table;
}

struct sql_order {
    struct sql_expression *expression; /* SQL_NUMBER: the item's number, from 1 */
    bool descending;
    bool nulls_first; /* by default NULLs are the smallest values, as in SQLite: first if ascending */
};

/* OVER (PARTITION BY ... ORDER BY ... ROWS BETWEEN ... AND ... EXCLUDE ...). Without a frame it is RANGE BETWEEN UNBOUNDED
 * PRECEDING AND CURRENT ROW: the rows up to the last one that is equal to the current one in the order, or all rows of the
 * partition if there is no order. */
enum sql_frame { SQL_FRAME_NONE, SQL_FRAME_ROWS, SQL_FRAME_RANGE, SQL_FRAME_GROUPS };
enum sql_bound { SQL_BOUND_FIRST, SQL_BOUND_BEFORE, SQL_BOUND_CURRENT, SQL_BOUND_AFTER, SQL_BOUND_LAST };
enum sql_exclude { SQL_EXCLUDE_NONE, SQL_EXCLUDE_ROW, SQL_EXCLUDE_GROUP, SQL_EXCLUDE_TIES };
struct sql_window {
    const char *name; /* OVER name: a window of the WINDOW clause; or NULL */
    const char *base; /* OVER (base ...): its partitions and its order are those of this one; or NULL */
    uint32_t partition_count, order_count;
    struct sql_expression **partitions;
    struct sql_order *orders;
    enum sql_frame frame;
    enum sql_bound begin, end;
    struct sql_expression *begin_value, *end_value; /* of SQL_BOUND_BEFORE and _AFTER: how far; or NULL */
    enum sql_exclude exclude;
    struct sql_position position;
};

struct sql_named_window {
    const char *name;
    struct sql_window *window;
};

/* WITH [RECURSIVE] name (columns) AS (query) */
struct sql_with {
    bool recursive; /* the query may name itself */
    const char *name;
    uint32_t column_count;
    const char **columns;
    struct sql_select *query;
    struct sql_position position;
};

/* A part of UNION, EXCEPT and INTERSECT; `set` and `all` say how it is added to those before it. */
enum sql_set { SQL_SET_UNION, SQL_SET_EXCEPT, SQL_SET_INTERSECT };
struct sql_part {
    enum sql_set set;
    bool all;
    struct sql_select *select;
    struct sql_position position;
};

enum sql_explain { SQL_EXPLAIN_NONE, SQL_EXPLAIN, SQL_EXPLAIN_ANALYZE };

#define SQL_SET_TERMS_MAX 64u

/* With `parts` it has, besides WITH, only their order and limit. `explain`, `explain_json`, `timed` and
 * parameter_count are those of the whole statement. */
struct sql_select {
    enum sql_explain explain;
    bool explain_json;
    bool timed; /* it may name the current time, and is planned again for each run */
    bool distinct;
    bool group_all; /* GROUP BY ALL: `groups` are right unless the items have stars */
    bool order_all; /* ORDER BY ALL: `orders` has one term, the name ALL, which may be a column's */
    bool summary;   /* SUMMARIZE: its only source is what it tells of, and it has no items */
    uint32_t item_count, source_count, group_count, order_count, parameter_count;
    uint32_t with_count, part_count, window_count;
    struct sql_with *withs;
    struct sql_part *parts;
    struct sql_named_window *windows;
    struct sql_position position;
    struct sql_item *items;
    struct sql_source *sources;
    struct sql_expression *where, *having; /* or NULL */
    struct sql_expression *qualify;        /* a condition on window functions, or NULL */
    struct sql_expression **groups;
    uint32_t first_count; /* of DISTINCT ON, until its ORDER BY is known: then it is in `qualify` */
    struct sql_expression **first_of;

    /* GROUPING SETS, ROLLUP and CUBE: bit g of a set is groups[g], of the first SQL_SET_TERMS_MAX. No sets: all groups. */
    uint32_t set_count;
    uint64_t *sets;
    struct sql_order *orders;
    struct sql_expression *limit, *offset; /* over numbers, parameters and subqueries; or NULL */
};

struct sql_statement_tree; /* the arena and the select in it (sql.h) */

#endif
