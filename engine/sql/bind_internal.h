/*
 * bind_internal.h: shared by the files that make a plan of a block (sql.h).
 *
 *     bind.c             the whole: select list, groups, aggregates, order, limit
 *     bind_tables.c      the joins of the star
 *     bind_columns.c     columns become leaves of expressions
 *     bind_expression.c  names, operators, CASE
 *     bind_compare.c     comparisons, BETWEEN, LIKE
 *     bind_in.c          IN lists
 *     bind_arithmetic.c  + - * / % on numbers, dates and intervals
 *     bind_function.c    functions, aggregates, CAST
 *     aggregates/        further aggregates
 *     bind_alike.c       coercion of values to a common type
 *     bind_literal.c     constants from text: numbers, dates, times, intervals
 *     scalar.c           expressions over inputs instead of tables
 */
#ifndef TESSERA_ENGINE_SQL_BIND_INTERNAL_H
#define TESSERA_ENGINE_SQL_BIND_INTERNAL_H

#include "engine/plan/planner.h"
#include "engine/sql/aggregates/aggregate_names.h"
#include "engine/sql/sql.h"
#include "engine/sql/tree/tree.h"
#include "storage/base/decimal.h"

#include <string.h>

/* A table of FROM. */
struct bind_table {
    const struct sql_star_table *source;
    int32_t parent;           /* the table whose foreign key references this one; -1: this is the fact */
    const struct column *key; /* that foreign key */
    int32_t join;             /* the plan's join through which the fact reaches this table; -1: the fact */

    /* For a dimension of a dimension: for each position of the join's table, its row here (planner_rows). */
    const struct kept_array *rows;
    bool bound;

    /* The conditions in ON of a LEFT JOIN that cannot be tested on the join's table alone, or
     * EXPRESSION_NONE. Where they are not true, the table's columns are NULL. */
    uint32_t kept;
};

/* The node of a column: a column that is named several times has one node. */
struct bind_known {
    uint32_t table;
    const struct column *column;
    uint32_t node;
};

/* A term of GROUP BY, beside that of the plan. */
struct bind_group {
    uint32_t node;
    const struct sql_expression *tree; /* as written; NULL for arguments of medians and the like */
};

/* A term of GROUP BY that became two (bind_wide.c). */
struct bind_wide {
    uint32_t node, terms[2];
};

struct binder {
    struct plan *plan;
    struct expression_list *list; /* the plan's */
    const struct sql_star *star;
    const struct sql_select *select;
    const struct sql_parameter *parameters;
    uint32_t parameter_count;
    struct planner planner; /* builds the plan */
    struct bind_table tables[SQL_SOURCES_MAX];
    uint32_t table_count;
    uint32_t fact; /* the fact's position in `tables` */

    /* The conditions of WHERE and of the inner joins' ONs, without those that join tables. */
    const struct sql_expression **conditions;
    uint32_t condition_count;
    struct bind_known *known;
    uint32_t known_count;
    enum sql_cut *cut;       /* struct sql_options */
    int64_t now;             /* struct sql_options */
    const struct zone *zone; /* struct sql_options */
    bool like_ignores_case;  /* LIKE takes ASCII letters of both cases as equal */
    bool aggregated;         /* there are groups or aggregates: outputs are bound BIND_ABOVE */
    bool regroups; /* the answer's groups are not those of the scan (engine/plan/grouping/grouping.h) */
    struct bind_group *groups; /* of plan->groups */
    struct bind_wide *wide;
    uint32_t wide_count;
    uint32_t depth;              /* of the expression that is being bound */
    struct sql_scalars *scalars; /* whose inputs the expressions name (scalar.h); or NULL */
    struct error *error;
};

/* Expressions below the aggregation are over columns; those above it are over groups and aggregates. */
enum bind_level { BIND_BELOW, BIND_ABOVE };

static inline const struct expression *bind_node(const struct binder *binder, uint32_t node)
{
    return &binder->list->nodes[node];
}

/* True if a plan would have to compute the value row by row. Scalars, which have no plan, ask for its type alone. */
static inline bool bind_is_by_row(const struct binder *binder, const struct expression *node)
{
    return node->by_row && !binder->scalars;
}

static inline enum value_kind bind_kind(const struct binder *binder, uint32_t node)
{
    return bind_node(binder, node)->type.kind;
}

/* True for a node that is always NULL, and whose type nothing says. It takes any type. */
static inline bool bind_is_untyped(const struct binder *binder, uint32_t node)
{
    return bind_node(binder, node)->type.untyped;
}

/* True for the constant NULL, of any type. What a statement means must not depend on values, so a NULL is refused where
 * another value of its type is. */
static inline bool bind_is_null(const struct binder *binder, uint32_t node)
{
    return bind_node(binder, node)->operation == EXPRESSION_CONSTANT && bind_node(binder, node)->is_null;
}

/* ---- bind_alike.c ---- */

/* STATUS_BAD_INPUT, "line L, column C: ..." */
enum status bind_refuse(const struct binder *binder, struct sql_position position, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same; operators can join the tables over their rows (engine/relational). */
enum status bind_refuse_star(const struct binder *binder, struct sql_position position, const char *format,
                             ...) __attribute__((format(printf, 3, 4)));

static inline void bind_cut(const struct binder *binder, enum sql_cut cut)
{
    if (binder->cut)
        *binder->cut = cut;
}

/* STATUS_BAD_INPUT: the value is computed row by row, so a SELECT above another one must ask for it. */
enum status bind_refuse_text(const struct binder *binder, struct sql_position position, enum sql_cut cut);

/* Puts "line L, column C: " before an error text that has no position. */
enum status bind_placed(const struct binder *binder, struct sql_position position, enum status status);
NODISCARD enum status bind_apply(struct binder *binder, struct sql_position position,
                                 enum expression_operation operation, uint32_t a, uint32_t b, uint32_t c,
                                 uint32_t *node);
const char *bind_kind_name(enum value_kind kind); /* "a number" */
NODISCARD enum status bind_integer(struct binder *binder, int64_t value, uint8_t scale, uint32_t *node);
/* Coerces a node to a number: a truth value becomes 0 or 1; other types are refused. */
NODISCARD enum status bind_number_of(struct binder *binder, struct sql_position position, uint32_t *node);
/* Gives the digits of a number another type: 1.50 as DECIMAL(3,2) is 150 as INTEGER. */
NODISCARD enum status bind_relabel(struct binder *binder, struct sql_position position,
                                   struct value_type type, uint32_t *node);
/* Coerces two nodes to a common type, so that they can be compared or chosen from: numbers to one scale,
 * dates to timestamps, strings to one dictionary. */
NODISCARD enum status bind_alike(struct binder *binder, struct sql_position position, uint32_t *left,
                                 uint32_t *right);
NODISCARD enum status bind_rescale(struct binder *binder, struct sql_position position, uint32_t *node,
                                   uint8_t scale);
NODISCARD enum status bind_double(struct binder *binder, struct sql_position position, uint32_t *node);
/* Converts a string literal to a date or timestamp; other nodes stay as they are. */
NODISCARD enum status bind_time_of_string(struct binder *binder, struct sql_position position,
                                          struct value_type type, uint32_t *node);
NODISCARD enum status bind_timestamp_of_date(struct binder *binder, struct sql_position position,
                                             uint32_t *node);
/* Applies NOT if `negated`. */
NODISCARD enum status bind_negate(struct binder *binder, struct sql_position position, bool negated,
                                  uint32_t *node);

/* ---- bind_compare.c, bind_arithmetic.c ---- */
/* Compares by EXPRESSION_EQUAL, _LESS or _LESS_EQUAL; coerces both sides to a common type. */
NODISCARD enum status bind_compare(struct binder *binder, struct sql_position position,
                                   enum expression_operation operation, uint32_t left, uint32_t right,
                                   uint32_t *node);
NODISCARD enum status bind_comparison(struct binder *binder, const struct sql_expression *ast,
                                      enum bind_level level, uint32_t *node);
NODISCARD enum status bind_between(struct binder *binder, const struct sql_expression *ast,
                                   enum bind_level level, uint32_t *node);
NODISCARD enum status bind_like(struct binder *binder, const struct sql_expression *ast,
                                enum bind_level level, uint32_t *node);
NODISCARD enum status bind_arithmetic(struct binder *binder, const struct sql_expression *ast,
                                      enum bind_level level, uint32_t *node);

/* ---- bind_in.c ---- */
NODISCARD enum status bind_in(struct binder *binder, const struct sql_expression *ast, enum bind_level level,
                              uint32_t *node);
NODISCARD enum status bind_lookup(struct binder *binder, const struct sql_expression *ast,
                                  enum bind_level level, uint32_t *node);

/* ---- bind_tables.c ---- */
NODISCARD enum status bind_tables(struct binder *binder);
/* The column that an expression is, and its table; NULL: it is none. */
const struct column *bind_column_of_input(const struct binder *binder,
                                          const struct sql_expression *expression, uint32_t *table);

/* True of the condition that a row of a dimension was not deleted: no row of the fact that was not references another one
 * (storage/database/changes/delete.c), and the fact is asked for such rows. */
bool bind_holds_by_reference(const struct binder *binder, const struct sql_expression *condition);

/* ---- bind_keys.c ---- */
/* Joins table `parent` by a reference of several columns, or of the same table, if the conditions in ON of a left join, or
 * without `on` those of WHERE and of inner joins, compare all its columns. */
bool bind_join_by_keys(struct binder *binder, uint32_t parent, const struct sql_expression *on);
/* True if the condition compares a pair of columns by which the table was joined. */
bool bind_is_pair(const struct binder *binder, const struct bind_table *table,
                  const struct sql_expression *condition);

/* ---- bind_columns.c ---- */
NODISCARD enum status bind_column(struct binder *binder, uint32_t table, const struct column *column,
                                  uint32_t *node);

/* Gives the leaf of an SQL_INPUT. */
NODISCARD enum status bind_input(struct binder *binder, const struct sql_expression *ast, uint32_t *node);

/* ---- bind_literal.c ---- */
NODISCARD enum status bind_literal(struct binder *binder, const struct sql_expression *ast, uint32_t *node);
/* The node of a value that is known. */
NODISCARD enum status bind_value(struct binder *binder, struct sql_position position,
                                 const struct sql_parameter *value, uint32_t *node);
/* True for a literal, with or without a sign, and for a parameter. */
bool bind_is_literal(const struct sql_expression *ast);
/* Gives the value of such an expression. */
NODISCARD enum status bind_literal_value(const struct binder *binder, const struct sql_expression *ast,
                                         struct sql_parameter *value);
/* The text of a constant string node; NULL for other nodes. */
const char *bind_string_of(const struct binder *binder, uint32_t node, uint32_t *length);
/* The same of a literal or a parameter alone: the strings that may be read as values of other types. */
const char *bind_literal_of(const struct binder *binder, uint32_t node, uint32_t *length);
/* Converts a string literal that is a date; other nodes stay as they are. */
NODISCARD enum status bind_date_of_string(struct binder *binder, uint32_t *node);
/* A string literal becomes a number or truth value if it stands beside one and is the text of one: '12' and '1.5' beside
 * an integer. */
NODISCARD enum status bind_value_of_string(struct binder *binder, uint32_t beside, uint32_t *node);
/* Parse 'YYYY-MM-DD', and the same with a time after it; false if the text is not a date. */
#define BIND_TIME_LEAST (INT64_C(-62167219200) * 1000000) /* the years that are parsed: 0000 to 9999 */
#define BIND_TIME_MOST  (INT64_C(253402300800) * 1000000)
bool bind_date_parse(const char *text, size_t length, int64_t *days);
bool bind_timestamp_parse(const char *text, size_t length, int64_t *microseconds);
/* Gives the whole number of LIMIT or OFFSET, an expression of numbers and parameters. */
NODISCARD enum status bind_row_count(struct binder *binder, const struct sql_expression *ast,
                                     uint64_t *count);

/* ---- bind_expression.c ---- */
NODISCARD enum status bind_expression(struct binder *binder, const struct sql_expression *ast,
                                      enum bind_level level, uint32_t *node);
/* Binds what all rows below the aggregation ask for: also in CASE above it. */
NODISCARD enum status bind_below(struct binder *binder, const struct sql_expression *ast, uint32_t *node);
/* Binds an expression and coerces it to a truth value: a number is true unless it is 0. */
NODISCARD enum status bind_condition(struct binder *binder, const struct sql_expression *ast,
                                     enum bind_level level, uint32_t *node);

/* ---- scalar.c ---- */
/* Gives the leaf of an input while only types are asked, or of rows of a batch. */
NODISCARD enum status bind_scalar_input(struct binder *binder, const struct sql_expression *ast,
                                        uint32_t *node);
/* True for an input while only types are asked: it may be a constant when the expression is computed. */
bool bind_may_be_constant(const struct binder *binder, uint32_t node);

/* ---- bind_function.c ---- */
NODISCARD enum status bind_function(struct binder *binder, const struct sql_expression *ast,
                                    enum bind_level level, uint32_t *node);
NODISCARD enum status bind_aggregate(struct binder *binder, const struct sql_expression *ast, uint32_t *node);
/* Binds the argument of an aggregate. */
NODISCARD enum status bind_aggregate_argument(struct binder *binder, const struct sql_expression *ast,
                                              uint32_t *argument);
/* Find or add the number of a node's values that are not NULL, and its sum, if it is a number; `count` is the former. */
NODISCARD enum status bind_count_of(struct binder *binder, uint32_t argument, uint32_t *count);
NODISCARD enum status bind_sum_of(struct binder *binder, uint32_t argument, uint32_t count, uint32_t *index);
/* Finds or adds the greatest, or the least, of a node's values. What it is of no values is not defined. */
NODISCARD enum status bind_extreme_of(struct binder *binder, uint32_t argument, bool greatest,
                                      uint32_t *index);
/* Adds an aggregate to the plan. `counted` is for the error if there are too many: which ones count as several. */
NODISCARD enum status bind_aggregate_add(struct binder *binder, struct plan_aggregate aggregate,
                                         const char *counted, uint32_t *index);
/* Finds an aggregate of the plan, or adds it. */
NODISCARD enum status bind_aggregate_find(struct binder *binder, struct plan_aggregate aggregate,
                                          uint32_t *index);
/* Sets the kind of a sum, and the range of its leaf. It fits 64 bits if the bounds of its argument, times the fact's
 * rows, do. */
void bind_sum_range(const struct binder *binder, struct plan_aggregate *aggregate, struct expression *leaf);
/* Gives the sum or the average of doubles (bind_double_sum.c). */
NODISCARD enum status bind_double_sum(struct binder *binder, uint32_t argument, bool average, uint32_t *node);
NODISCARD enum status bind_cast(struct binder *binder, const struct sql_expression *ast,
                                enum bind_level level, uint32_t *node);

/* ---- bind.c ---- */
/* Frees what the binder has made beside the plan. */
void bind_free(struct binder *binder);
/* Finds or adds a term of GROUP BY. */
NODISCARD enum status bind_group_term(struct binder *binder, struct sql_position position, uint32_t node,
                                      uint32_t *term);
/* The listed term of GROUP BY that an expression is, or their number. Of terms that have equal values, as a foreign key
 * and the key that it references, a grouping set may leave one out, so the one that is written so is taken. */
uint32_t bind_listed_term(const struct binder *binder, const struct sql_expression *tree, uint32_t node);

/* ---- bind_wide.c ---- */
/* True if a term's values may be any of 64 bits. */
bool bind_is_wide(const struct binder *binder, uint32_t node);
/* Adds such a term as two. */
NODISCARD enum status bind_wide_term(struct binder *binder, const struct sql_expression *ast, uint32_t node);
/* *found: the expression is such a term; gives its value above the groups. */
NODISCARD enum status bind_wide_value(struct binder *binder, struct sql_position position, uint32_t below,
                                      bool *found, uint32_t *node);
/* The value of a term of GROUP BY above the groups. */
NODISCARD enum status bind_group_leaf(struct binder *binder, uint32_t term, uint32_t *node);

/* ---- aggregates/bind_values.c, aggregates/bind_grouping.c ---- */
/* Binds an aggregate that needs all values of its argument. */
NODISCARD enum status bind_values_aggregate(struct binder *binder, const struct sql_expression *ast,
                                            enum measure_kind kind, uint32_t *node);
NODISCARD enum status bind_quantile(struct binder *binder, const struct sql_expression *ast,
                                    enum measure_kind kind, uint32_t *node);
/* A variance of floating-point numbers, which are summed in their order. */
NODISCARD enum status bind_double_spread(struct binder *binder, const struct sql_expression *ast,
                                         enum measure_kind kind, uint32_t value, uint32_t *node);
/* Approximations, which need the cells of all values. */
NODISCARD enum status bind_sketch(struct binder *binder, const struct sql_expression *ast,
                                  enum measure_kind kind, uint32_t *node);
/* arg_min and arg_max. */
NODISCARD enum status bind_argument_of(struct binder *binder, const struct sql_expression *ast,
                                       enum measure_kind kind, uint32_t *node);
NODISCARD enum status bind_strings(struct binder *binder, const struct sql_expression *ast, uint32_t *node);
/* Finds or adds a measure, and gives its leaf, which has this type and range. */
NODISCARD enum status bind_measure(struct binder *binder, const struct sql_expression *ast,
                                   const struct plan_measure *measure, struct expression leaf,
                                   uint32_t *node);
/* Refuses expressions over string_agg, whose strings are known only in the answer. */
/* *needs: the statement has grouping sets, or an aggregate that needs all values of its argument. */
NODISCARD enum status bind_needs_values(struct binder *binder, bool *needs);
/* Adds the grouping sets, after GROUP BY's terms: terms[g] is that of the select's group g. */
NODISCARD enum status bind_grouping_sets(struct binder *binder, const uint32_t *terms);
/* Binds grouping(term, ...). */
NODISCARD enum status bind_grouping(struct binder *binder, const struct sql_expression *ast, uint32_t *node);

/* ---- aggregates/bind_aggregates.c ---- */
/* Binds an aggregate that is not of FAMILY_BASIC. */
NODISCARD enum status bind_other_aggregate(struct binder *binder, const struct sql_expression *ast,
                                           uint32_t *node);

#endif
