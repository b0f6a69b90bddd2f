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

/* The deepest nesting, and the longest chain of operators, that the parser takes: far more than a person
 * writes. It bounds the recursion on hostile text. */
#define SQL_DEPTH_MAX 200u

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
    SQL_STAR, /* * or t.*: in a select list, or the argument of count */
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
    SQL_BETWEEN,  /* value, low, high */
    SQL_IN,       /* value, then the items of the list */
    SQL_LIKE,     /* value, pattern[, escape] */
    SQL_IS_NULL,  /* value */
    SQL_CASE,     /* [operand,] then pairs of WHEN and THEN[, ELSE]: `has_operand`, `has_else` */
    SQL_FUNCTION, /* `name` in lower case, and its arguments; `distinct`: count(distinct x) */
    SQL_EXTRACT,  /* EXTRACT(name FROM child) */
    SQL_CAST      /* CAST(child AS name) */
};

struct sql_expression {
    enum sql_operation operation;
    bool negated; /* NOT BETWEEN, NOT IN, NOT LIKE, IS NOT NULL */
    bool distinct, has_operand, has_else;
    bool ordered, descending, nulls_last; /* SQL_FUNCTION: the last child is what ORDER BY in it names */
    uint32_t index;                       /* SQL_PARAMETER */
    uint32_t depth;                       /* 1 more than the deepest child's */
    struct sql_position position;
    const char *text, *name, *qualifier; /* zero-terminated, or NULL */
    uint32_t child_count;
    struct sql_expression **children;
};

struct sql_item {
    struct sql_expression *expression;
    const char *alias; /* or NULL */
    const char *text;  /* the expression as written: the column's name if there is no alias */
};

enum sql_join { SQL_JOIN_NONE /* the first table, or one after a comma */, SQL_JOIN_INNER, SQL_JOIN_LEFT };

struct sql_source {
    const char *table;
    const char *alias; /* or NULL */
    enum sql_join join;
    struct sql_expression *on; /* or NULL */
    struct sql_position position;
};

struct sql_order {
    struct sql_expression *expression; /* SQL_NUMBER: the item's number, from 1 */
    bool descending;
    bool nulls_first; /* by default NULLs are the smallest values, as in SQLite: first if ascending */
};

enum sql_explain { SQL_EXPLAIN_NONE, SQL_EXPLAIN, SQL_EXPLAIN_ANALYZE };

#define SQL_SET_TERMS_MAX 64u

struct sql_select {
    enum sql_explain explain;
    bool distinct;
    uint32_t item_count, source_count, group_count, order_count, parameter_count;
    struct sql_item *items;
    struct sql_source *sources;
    struct sql_expression *where, *having; /* or NULL */
    struct sql_expression **groups;

    /* GROUPING SETS, ROLLUP and CUBE: bit g of a set is groups[g], of the first SQL_SET_TERMS_MAX. No sets: all groups. */
    uint32_t set_count;
    uint64_t *sets;
    struct sql_order *orders;
    struct sql_expression *limit, *offset; /* SQL_NUMBER or SQL_PARAMETER, or NULL */
};

struct sql_statement_tree; /* the arena and the select in it (sql.h) */

#endif
