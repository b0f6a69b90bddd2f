/*
 * engine/sql/bind_internal.h: the binder's parts among themselves.
 *
 *     engine/sql/bind.c             all together: select list, groups, aggregates, order, limit
 *     engine/sql/bind_tables.c      FROM and the joins in it; columns by name
 *     engine/sql/bind_columns.c     columns become leaves
 *     engine/sql/bind_expression.c  names, operators, CASE: what each means
 *     engine/sql/bind_compare.c     comparisons, BETWEEN, LIKE
 *     engine/sql/bind_in.c          IN lists
 *     engine/sql/bind_arithmetic.c  + - * / % on numbers, dates and intervals
 *     engine/sql/bind_function.c    functions, aggregates, CAST
 *     engine/sql/bind_alike.c       values get types that go together
 *     engine/sql/bind_literal.c     constants from text: numbers, dates, times, intervals
 */
#ifndef TESSERA_ENGINE_SQL_BIND_INTERNAL_H
#define TESSERA_ENGINE_SQL_BIND_INTERNAL_H

#include "engine/plan/planner.h"
#include "engine/sql/sql.h"
#include "storage/base/decimal.h"

#include <string.h>
#include <strings.h>

/* A table of FROM. `join`: -1 the fact, else the join of the plan through which it is reached. */
struct bind_table {
    const struct table *table;
    const char *name; /* alias, or the table's */
    const struct sql_source *source;
    int32_t parent;           /* whose foreign key leads here, -1: the fact */
    const struct column *key; /* that foreign key */
    int32_t join;
    int32_t *
        positions; /* for a dimension of a dimension: for each row of the join's table, its row here; -1: none */
    bool bound;
    /* What ON of a LEFT JOIN says beside the keys and cannot be asked of the join's table alone, or
     * EXPRESSION_NONE: where it is not true, columns are NULL. */
    uint32_t kept;
};

#define BIND_TABLES_MAX PLAN_JOINS_MAX

/* A column's node, so that it has one wherever it is named. */
struct bind_known {
    uint32_t table;
    const struct column *column;
    uint32_t node;
};

/* What became of an item's alias: it is resolved once, however often it is named, and may not lead to itself. */
struct bind_alias {
    bool open;                     /* it is being resolved */
    bool asked, reaches_aggregate; /* whether it reaches one is known; it does */
    bool bound[2];                 /* below, above */
    uint32_t node[2];
};

struct binder {
    struct plan *plan;
    struct expression_list *list; /* the plan's */
    const struct sql_select *select;
    const struct sql_parameter *parameters;
    uint32_t parameter_count;
    struct planner planner; /* of the plan: what is bound goes there */
    struct bind_table tables[BIND_TABLES_MAX];
    uint32_t table_count;
    uint32_t fact; /* of tables */
    const struct sql_expression
        *conditions[PLAN_STEPS_MAX * 4]; /* of WHERE and inner ONs, without what joined tables */
    uint32_t condition_count;
    struct bind_known known[PLAN_SOURCES_MAX];
    uint32_t known_count;
    bool aggregated; /* groups or aggregates: outputs are above them */
    uint32_t group_nodes[PLAN_GROUPS_MAX];
    struct bind_alias *aliases; /* of each item of the select list */
    uint32_t depth;             /* of the expression that is being bound, aliases' included */
    struct error *error;
};

/* Below: expressions over columns. Above: over groups and aggregates. */
enum bind_level { BIND_BELOW, BIND_ABOVE };

static inline const struct expression *bind_node(const struct binder *binder, uint32_t node)
{
    return &binder->list->nodes[node];
}

static inline enum value_kind bind_kind(const struct binder *binder, uint32_t node)
{
    return bind_node(binder, node)->type.kind;
}

/* The constant NULL. */
static inline bool bind_is_null(const struct binder *binder, uint32_t node)
{
    return bind_node(binder, node)->operation == EXPRESSION_CONSTANT && bind_node(binder, node)->is_null;
}

/* ---- engine/sql/bind_alike.c ---- */

/* STATUS_BAD_INPUT, "line L, column C: ..." */
enum status bind_refuse(const struct binder *binder, struct sql_position position, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "line L, column C: " before a sentence that has no position. */
enum status bind_placed(const struct binder *binder, struct sql_position position, enum status status);
NODISCARD enum status bind_apply(struct binder *binder, struct sql_position position,
                                 enum expression_operation operation, uint32_t a, uint32_t b, uint32_t c,
                                 uint32_t *node);
const char *bind_kind_name(enum value_kind kind); /* "a number" */
NODISCARD enum status bind_integer(struct binder *binder, int64_t value, uint8_t scale, uint32_t *node);
/* A truth value counts as 0 or 1; what else is no number is refused. */
NODISCARD enum status bind_number_of(struct binder *binder, struct sql_position position, uint32_t *node);
/* Numbers of both scales, dates and times, strings of two dictionaries: made alike, so that they can be
 * compared or chosen from. */
NODISCARD enum status bind_alike(struct binder *binder, struct sql_position position, uint32_t *left,
                                 uint32_t *right);
NODISCARD enum status bind_rescale(struct binder *binder, struct sql_position position, uint32_t *node,
                                   uint8_t scale);
NODISCARD enum status bind_double(struct binder *binder, struct sql_position position, uint32_t *node);
/* A string constant becomes the date or timestamp that it says; what else it is stays. */
NODISCARD enum status bind_time_of_string(struct binder *binder, struct sql_position position,
                                          enum value_kind kind, uint32_t *node);
NODISCARD enum status bind_timestamp_of_date(struct binder *binder, struct sql_position position,
                                             uint32_t *node);
/* NOT, if `negated`. */
NODISCARD enum status bind_negate(struct binder *binder, struct sql_position position, bool negated,
                                  uint32_t *node);

/* ---- engine/sql/bind_compare.c, engine/sql/bind_arithmetic.c: one operator each ---- */
/* left = right, left < right, ...: EXPRESSION_EQUAL, _LESS or _LESS_EQUAL; both are made alike. */
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

/* ---- engine/sql/bind_in.c ---- */
NODISCARD enum status bind_in(struct binder *binder, const struct sql_expression *ast, enum bind_level level,
                              uint32_t *node);

/* ---- engine/sql/bind_tables.c ---- */
NODISCARD enum status bind_tables(struct binder *binder);
void bind_tables_free(struct binder *binder);
/* The table and column that a name means. */
NODISCARD enum status bind_name(const struct binder *binder, const struct sql_expression *name,
                                uint32_t *table, const struct column **column);
/* Whether the name is a column at all (else it may be an alias of the select list). */
bool bind_name_exists(const struct binder *binder, const struct sql_expression *name);

/* ---- engine/sql/bind_columns.c ---- */
NODISCARD enum status bind_column(struct binder *binder, uint32_t table, const struct column *column,
                                  uint32_t *node);

/* ---- engine/sql/bind_literal.c ---- */
NODISCARD enum status bind_literal(struct binder *binder, const struct sql_expression *ast, uint32_t *node);
/* Whether it is a literal, with a sign or without, or a parameter; and the value that it says. */
bool bind_is_literal(const struct sql_expression *ast);
NODISCARD enum status bind_literal_value(const struct binder *binder, const struct sql_expression *ast,
                                         struct sql_parameter *value);
/* The text of a constant string node; NULL if it is none. */
const char *bind_string_of(const struct binder *binder, uint32_t node, uint32_t *length);
/* A string constant that is a date becomes one; what else it is stays. */
NODISCARD enum status bind_date_of_string(struct binder *binder, uint32_t *node);
/* 'YYYY-MM-DD' or with a time; false if it is none. */
bool bind_date_parse(const char *text, size_t length, int64_t *days);
bool bind_timestamp_parse(const char *text, size_t length, int64_t *microseconds);
/* A whole number that LIMIT and OFFSET take, from a number or parameter. */
NODISCARD enum status bind_row_count(struct binder *binder, const struct sql_expression *ast,
                                     uint64_t *count);

/* ---- engine/sql/bind_expression.c ---- */
NODISCARD enum status bind_expression(struct binder *binder, const struct sql_expression *ast,
                                      enum bind_level level, uint32_t *node);
/* The same as a truth value: numbers are true unless 0. */
NODISCARD enum status bind_condition(struct binder *binder, const struct sql_expression *ast,
                                     enum bind_level level, uint32_t *node);
bool bind_is_aggregate(const struct sql_expression *ast); /* this very node */
bool bind_has_aggregate(const struct sql_expression *ast);

/* ---- engine/sql/bind_function.c ---- */
NODISCARD enum status bind_function(struct binder *binder, const struct sql_expression *ast,
                                    enum bind_level level, uint32_t *node);
NODISCARD enum status bind_aggregate(struct binder *binder, const struct sql_expression *ast, uint32_t *node);
NODISCARD enum status bind_cast(struct binder *binder, const struct sql_expression *ast,
                                enum bind_level level, uint32_t *node);

#endif
