/*
 * expression.h: what a star query computes, typed and bound: a list of nodes, children before parents, which
 * the CPU evaluates over vectors of up to 1024 rows (expression_vector.h).
 *
 * Every value is an int64 that may be NULL: a number scaled by 10^scale, days, microseconds, 0 or 1, a
 * dictionary code. Above the aggregates a value may also be a double (its bits in the int64). Nothing can
 * overflow: each node's least and greatest value follow from the columns' statistics when it is made, and
 * what might leave 64 bits is refused then. NULLs follow SQL's three-valued logic.
 */
#ifndef TESSERA_ENGINE_PLAN_EXPRESSION_H
#define TESSERA_ENGINE_PLAN_EXPRESSION_H

#include "storage/base/calendar.h"
#include "storage/base/decimal.h"
#include "storage/base/number_index.h"
#include "storage/database/database.h"

#include <string.h>

/* Hostile text; a person's query has tens, and a list of values is one. */
#define EXPRESSION_NODES_MAX 65536u

enum value_kind {
    VALUE_INTEGER,   /* scale 0: a whole number; else a decimal */
    VALUE_DATE,      /* days since 1970-01-01, of 32 bits: 5.8 million years */
    VALUE_TIMESTAMP, /* microseconds since 1970-01-01 00:00:00 */
    VALUE_BOOLEAN,
    VALUE_STRING, /* a code of `dictionary`: codes are ordered as the strings are */
    VALUE_DOUBLE
};

struct value_type {
    enum value_kind kind;
    uint8_t scale; /* VALUE_INTEGER: digits behind the point, 0..18 */
    const struct dictionary *dictionary;
};

enum expression_operation {
    EXPRESSION_CONSTANT,  /* `constant`, or NULL if `is_null` */
    EXPRESSION_COLUMN,    /* source `index` of the plan, at the row at hand */
    EXPRESSION_GROUP,     /* above aggregates: the value of group term `index` */
    EXPRESSION_AGGREGATE, /* above aggregates: the result of aggregate `index` */
    EXPRESSION_ADD,       /* doubles where type.kind is VALUE_DOUBLE, also in the next four */
    EXPRESSION_SUBTRACT,
    EXPRESSION_MULTIPLY,
    EXPRESSION_DIVIDE, /* whole numbers: truncated toward zero; NULL where the divisor is 0, as in SQLite */
    EXPRESSION_REMAINDER, /* of whole numbers, with the dividend's sign; by 0 NULL, by -1 always 0 */
    EXPRESSION_NEGATE,
    EXPRESSION_EQUAL, /* of two values of one kind and scale, or two doubles */
    EXPRESSION_LESS,
    EXPRESSION_LESS_EQUAL,
    EXPRESSION_AND, /* three-valued */
    EXPRESSION_OR,
    EXPRESSION_NOT,
    EXPRESSION_IS_NULL,
    EXPRESSION_CHOOSE,     /* child 0 true: child 1, else (false or NULL) child 2 */
    EXPRESSION_IN_SET,     /* child 0 is one of the sorted values of `table` */
    EXPRESSION_LOOKUP,     /* table->values[child 0]: child 0 is in 0 .. table->count - 1; INT64_MIN: NULL */
    EXPRESSION_EXTRACT,    /* `field` of a date or timestamp */
    EXPRESSION_ADD_MONTHS, /* date (child 0) + months (child 1), the day cut to the month's last */
    EXPRESSION_TO_DATE,    /* of a timestamp: floor to days */
    EXPRESSION_TO_DOUBLE,  /* a number with its scale; above aggregates only */
    EXPRESSION_OPERATIONS
};

/* Values that nodes look up: owned by the list of nodes. */
struct value_table {
    uint64_t count;
    int64_t *values;
    uint64_t *members; /* a set of values close together: bit v - values[0] for each value v; else NULL */
};

struct scalar {
    int64_t value;
    bool null;
};

struct expression {
    enum expression_operation operation;
    struct value_type type;
    bool nullable;     /* may be NULL */
    bool is_null;      /* EXPRESSION_CONSTANT */
    uint8_t field;     /* enum calendar_field */
    uint8_t children;  /* 0..3 */
    uint32_t child[3]; /* numbers of nodes before this one */
    uint32_t index;
    uint32_t table; /* of the list's tables */
    int64_t constant;
    int64_t low,
        high; /* least and greatest value that is not NULL; low > high: always NULL; doubles: not kept */
    struct scalar of_nulls; /* its value where all leaves are NULL */
};

/* Zero-initialised is empty; expression_list_free empties it. Equal nodes are made once. */
struct expression_list {
    uint32_t count, capacity, table_count;
    struct expression *nodes;
    struct value_table *tables;
    uint32_t dictionary_count;
    struct dictionary **dictionaries; /* merged ones, which types point at; each in one piece of memory */
    struct number_index node_index, table_index, dictionary_index;
};

void expression_list_free(struct expression_list *list);

#define EXPRESSION_NONE UINT32_MAX

/* ---- Making nodes: engine/plan/expression.c ---- */

/* Adds a node, or finds an equal one, and works out type (unless the caller gave it where operation and
 * children do not say it: constants, leaves, lookups), range and nullability. Of constants alone a constant
 * is made. Children must have the types that the operation takes. A value that may leave 64 bits:
 * STATUS_BAD_INPUT, a sentence without position. */
NODISCARD enum status expression_add(struct expression_list *list, const struct expression *node,
                                     uint32_t *index, struct error *error);
NODISCARD enum status expression_constant(struct expression_list *list, struct value_type type, int64_t value,
                                          uint32_t *index, struct error *error);
NODISCARD enum status expression_null(struct expression_list *list, struct value_type type, uint32_t *index,
                                      struct error *error);
/* child2 may be EXPRESSION_NONE, and then child1. */
NODISCARD enum status expression_apply(struct expression_list *list, enum expression_operation operation,
                                       uint32_t child0, uint32_t child1, uint32_t child2, uint32_t *index,
                                       struct error *error);

/* `count` values, which the list then owns (they must come from malloc; freed also on failure). For
 * EXPRESSION_IN_SET sorted as whole numbers, without duplicates; doubles by their bits, 0.0 without a sign. */
NODISCARD enum status expression_in_set(struct expression_list *list, uint32_t child, int64_t *values,
                                        uint64_t count, uint32_t *index, struct error *error);
NODISCARD enum status expression_lookup(struct expression_list *list, uint32_t child, struct value_type type,
                                        int64_t *values, uint64_t count, uint32_t *index,
                                        struct error *error);

/* ---- Reading them ---- */

/* What rows and groups give: whoever evaluates expressions fills these. */
static inline bool expression_is_leaf(enum expression_operation operation)
{
    return operation == EXPRESSION_COLUMN || operation == EXPRESSION_GROUP ||
           operation == EXPRESSION_AGGREGATE;
}

/* Whether the node is a constant, and not NULL. */
bool expression_is_constant(const struct expression_list *list, uint32_t node);

/* Whether the test is column OPERATION constant, or turned, where the operation is EQUAL, LESS or LESS_EQUAL: then
 * the column's node, and the values that pass. low > high: none does. */
bool expression_range(const struct expression_list *list, const struct expression *test, uint32_t *leaf,
                      int64_t *low, int64_t *high);

/* Sets bit 0 of needed[n] for the node and every node below it; needed has a byte for each node up to this
 * one. */
void expression_mark(const struct expression_list *list, uint32_t node, uint8_t *needed);

/* Calls `visit` once for each leaf below the node. */
void expression_visit(const struct expression_list *list, uint32_t node,
                      void (*visit)(void *context, const struct expression *leaf), void *context);

/* ---- One value ---- */

/* The operation of a node on its children's values, by the loop for vectors; leaves are NULL. Whole numbers wrap:
 * that nothing leaves 64 bits was proven unless a file lies. */
struct scalar expression_scalar(const struct expression_list *list, const struct expression *node,
                                const struct scalar *children);

/* As what a set has the value: 0.0 without a sign, whose bits are those of the least number. */
static inline int64_t expression_member(bool is_double, int64_t value)
{
    return is_double && value == INT64_MIN ? 0 : value;
}

/* The bits of the double that EXPRESSION_TO_DOUBLE makes of a number of that scale. */
static inline int64_t expression_double_of(int64_t value, unsigned scale)
{
    const double number = (double)value / (double)power_of_ten(scale);
    int64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

/* ---- Strings: engine/plan/expression_string.c ---- */

/* A dictionary of one string, owned by the list. */
NODISCARD enum status expression_string_constant(struct expression_list *list, const char *string,
                                                 uint32_t length, uint32_t *index, struct error *error);

/* Makes the strings of both nodes codes of one dictionary, so that they can be compared and chosen from. */
NODISCARD enum status expression_string_unify(struct expression_list *list, uint32_t *left, uint32_t *right,
                                              struct error *error);

/* LIKE as SQLite has it: % and _, ASCII letters alike in both cases; escape 0: none. */
NODISCARD enum status expression_string_like(struct expression_list *list, uint32_t child,
                                             const char *pattern, uint32_t length, char escape,
                                             uint32_t *index, struct error *error);

/* upper, lower (ASCII), length (characters of UTF-8), substr(s, first[, count]) with constant arguments, as
 * SQLite has them: worked out once for each string of the dictionary. */
enum string_function { STRING_UPPER, STRING_LOWER, STRING_TRIM, STRING_LENGTH, STRING_SUBSTR };
NODISCARD enum status expression_string_function(struct expression_list *list, enum string_function function,
                                                 uint32_t child, int64_t first, int64_t count,
                                                 uint32_t *index, struct error *error);

#endif
