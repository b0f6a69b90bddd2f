/*
 * expression.h: the typed and bound expressions of a star query: a list of nodes, children before parents,
 * which the CPU evaluates over vectors of up to 1024 rows (expression_vector.h).
 *
 * Every value is an int64 that may be NULL: a number scaled by 10^scale, days, microseconds, 0 or 1, a
 * dictionary code, or the key of a double (storage/base/double_key.h). Nothing but doubles
 * can overflow: the range of each node follows from the columns' statistics when the node is made. A node whose values
 * might exceed 64 bits is checked, on the CPU. NULLs follow SQL's three-valued logic.
 */
#ifndef TESSERA_ENGINE_PLAN_EXPRESSION_H
#define TESSERA_ENGINE_PLAN_EXPRESSION_H

#include "engine/function/value_type.h"
#include "storage/base/calendar.h"
#include "storage/base/decimal.h"
#include "storage/base/doubles/double_bits.h"
#include "storage/base/double_key.h"
#include "storage/base/hash_table.h"
#include "storage/base/number/number_set.h"
#include "storage/database/database.h"

#include <string.h>

/* The most nodes; it bounds hostile statements. A usual query has tens, and a list of values is one node. */
#define EXPRESSION_NODES_MAX 65536u

enum expression_operation {
    EXPRESSION_CONSTANT,  /* `constant`, or NULL if `is_null` */
    EXPRESSION_COLUMN,    /* source `index` of the plan, in the current row */
    EXPRESSION_GROUP,     /* above aggregates: the value of group term `index` */
    EXPRESSION_AGGREGATE, /* above aggregates: the result of aggregate `index` */
    EXPRESSION_MEASURE,   /* above aggregates: measure `index` (engine/plan/grouping/grouping.h) */
    EXPRESSION_ADD,       /* this and the next four: of doubles if type.kind is VALUE_DOUBLE */
    EXPRESSION_SUBTRACT,
    EXPRESSION_MULTIPLY,
    EXPRESSION_DIVIDE,    /* whole numbers are truncated toward zero; x / 0 is NULL, as in SQLite */
    EXPRESSION_REMAINDER, /* of whole numbers, with the dividend's sign; x % 0 is NULL, x % -1 is 0 */
    EXPRESSION_NEGATE,
    EXPRESSION_EQUAL, /* of two values of one kind and scale */
    EXPRESSION_LESS,
    EXPRESSION_LESS_EQUAL,
    EXPRESSION_AND, /* three-valued */
    EXPRESSION_OR,
    EXPRESSION_NOT,
    EXPRESSION_IS_NULL,
    EXPRESSION_CHOOSE,  /* child 1 if child 0 is true; child 2 if it is false or NULL */
    EXPRESSION_IN_SET,  /* child 0 is one of the sorted values of `table` */
    EXPRESSION_LOOKUP,  /* table->values[child 0], with child 0 in 0 .. table->count - 1; INT64_MIN: NULL */
    EXPRESSION_EXTRACT, /* `field` of a date or timestamp */
    EXPRESSION_ADD_MONTHS, /* date (child 0) + months (child 1); the day is at most the month's last */
    EXPRESSION_TO_DATE,    /* of a timestamp, rounded down to days */
    EXPRESSION_TO_DOUBLE,  /* a number divided by 10^scale */
    EXPRESSION_CALL,       /* row function `field` of up to three values (engine/function/function.h) */
    EXPRESSION_LIMB, /* of a double: its bits of 2^constant up to `field` bits higher, with its sign (double_bits.h) */
    EXPRESSION_TEXT, /* function `table` of the list's texts, row by row (functions/text_call.h) */
    EXPRESSION_OPERATIONS
};

/* The values of an EXPRESSION_IN_SET or EXPRESSION_LOOKUP; owned by the list of nodes. */
struct value_table {
    uint64_t count;
    int64_t *values;
    uint64_t
        size; /* of a set, its members. More than `count` if they are in the bitmap alone: then `values` are the number of its
                    * first bit, which may be none, and the greatest member */
    /* A bitmap if the set is dense, or spans little: bit p%32 of word p/32 for p = v - values[0] of each value v, a 0
     * after the last, in whole words of 64 bits; else NULL. */
    uint32_t *members;
};

/* The size of the bitmap in values of 64 bits; 0: there is none. */
static inline uint64_t value_table_members(const struct value_table *table)
{
    return table->members
               ? ((uint64_t)table->values[table->count - 1] - (uint64_t)table->values[0] + 1) / 64 + 1
               : 0;
}

struct scalar {
    int64_t value;
    bool null;
};

struct expression {
    enum expression_operation operation;
    struct value_type type;
    bool nullable; /* may be NULL */
    bool
        checked; /* + - * of whole numbers whose value may leave 64 bits: each is checked (expression_check) */
    bool is_null; /* EXPRESSION_CONSTANT */
    bool
        by_row; /* it is EXPRESSION_TEXT, or checked in a plan for a GPU, or one is below it: for the CPU alone */
    uint8_t field; /* enum calendar_field; of a call, enum row_function; of EXPRESSION_LIMB its bits */
    struct double_bits bits; /* of doubles; zero: any */
    uint8_t children;        /* 0..3 */
    uint32_t child[3];       /* nodes before this one */
    uint32_t index;
    uint32_t table; /* in the list's tables */
    int64_t constant;
    int64_t low, high;      /* the range of values, of doubles that of their keys; low > high: always NULL */
    struct scalar of_nulls; /* its value if all leaves are NULL */
};

struct text_call;
struct expression_failure;

/* A zero-initialised list is empty; expression_list_free empties it. Equal nodes are made once. */
/* A condition under which a value is asked for: in CASE, rows for which it is true, or those for which it is not. Calls that may
 * fail are made for these rows alone (string_call.h). */
struct expression_guard {
    uint32_t condition;
    bool taken; /* rows for which it is true */
    const struct expression_guard *outer;
};

struct expression_list {
    uint32_t count, capacity, table_count;
    const struct expression_guard *guard; /* of nodes that are being made; NULL: all rows ask for them */
    bool on_gpu;        /* the plan is for a GPU: what is checked below the aggregation is by_row */
    _Atomic bool *left; /* whether some value did (expression_check); NULL: none is checked */
    unsigned threads;   /* that compute tables; 0: all available */
    uint64_t
        table_most; /* values of a table of one column of strings, if a function of them is costly; 0: any */
    uint64_t tables_most; /* combinations of several columns, and numbers that become text */
    uint32_t text_count;
    struct text_call *texts;
    struct expression_failure *failure; /* of a text; NULL: there are none */
    struct expression *nodes;
    struct value_table *tables;
    uint32_t dictionary_count;
    struct dictionary **dictionaries; /* made for expressions; each in one block of memory */
    struct hash_table node_index, table_index, dictionary_index;
};

void expression_list_free(struct expression_list *list);
/* The bytes of memory that it owns. */
uint64_t expression_list_bytes(const struct expression_list *list);

#define EXPRESSION_NONE UINT32_MAX

/* ---- Making nodes (expression.c) ---- */

/* Adds a node, or finds an equal one, and computes its range and nullability, and its type; but constants,
 * leaves and look-ups have the type that the caller sets. If all children are constants, the node is folded
 * to a constant. Children must have the types that the operation takes. STATUS_BAD_INPUT, without a position,
 * if a value might exceed 64 bits and cannot be checked, as a quotient. */
NODISCARD enum status expression_add(struct expression_list *list, const struct expression *node,
                                     uint32_t *index, struct error *error);
NODISCARD enum status expression_constant(struct expression_list *list, struct value_type type, int64_t value,
                                          uint32_t *index, struct error *error);
NODISCARD enum status expression_null(struct expression_list *list, struct value_type type, uint32_t *index,
                                      struct error *error);
/* Adds the node of an operation. child2 may be EXPRESSION_NONE; then child1 may be, too. */
NODISCARD enum status expression_apply(struct expression_list *list, enum expression_operation operation,
                                       uint32_t child0, uint32_t child1, uint32_t child2, uint32_t *index,
                                       struct error *error);

/* The list takes ownership of `values`, which must come from malloc; they are freed also after a failure. For
 * EXPRESSION_IN_SET they must be sorted as whole numbers, without duplicates. */
NODISCARD enum status expression_in_set(struct expression_list *list, uint32_t child, int64_t *values,
                                        uint64_t count, uint32_t *index, struct error *error);
/* The same of a large set as a bitmap, whose words are copied: it has more than two members. */
NODISCARD enum status expression_in_bits(struct expression_list *list, uint32_t child,
                                         const struct number_bits *bits, uint32_t *index,
                                         struct error *error);
NODISCARD enum status expression_lookup(struct expression_list *list, uint32_t child, struct value_type type,
                                        int64_t *values, uint64_t count, uint32_t *index,
                                        struct error *error);

/* Gives STATUS_BAD_INPUT, without a position, if a value of a checked node has left 64 bits since the last call, or what
 * made a text fail. Whoever evaluated nodes of the list calls it before the values are used. */
NODISCARD enum status expression_check(const struct expression_list *list, struct error *error);

/* ---- Reading nodes ---- */

/* True for the operations whose values come from rows or groups; the evaluator fills these. */
static inline bool expression_is_leaf(enum expression_operation operation)
{
    return operation == EXPRESSION_COLUMN || operation == EXPRESSION_GROUP ||
           operation == EXPRESSION_AGGREGATE || operation == EXPRESSION_MEASURE;
}

/* True if the node is a constant and is not NULL. */
bool expression_is_constant(const struct expression_list *list, uint32_t node);

/* True if the test compares a column with a constant by EQUAL, LESS or LESS_EQUAL. Then it gives the column's
 * node and the values that pass, low .. high; low > high: no value passes. */
bool expression_range(const struct expression_list *list, const struct expression *test, uint32_t *leaf,
                      int64_t *low, int64_t *high);

/* Sets bit 0 of needed[n] for the node and all nodes below it; `needed` has a byte for each node up to this
 * one. */
void expression_mark(const struct expression_list *list, uint32_t node, uint8_t *needed);

/* Calls `visit` once for each leaf below the node. */
void expression_visit(const struct expression_list *list, uint32_t node,
                      void (*visit)(void *context, const struct expression *leaf), void *context);

/* ---- One value ---- */

/* Computes the operation of a node from its children's values, by the loop for vectors; leaves are NULL.
 * Whole numbers wrap, but ranges exclude this unless a file is damaged. */
struct scalar expression_scalar(const struct expression_list *list, const struct expression *node,
                                const struct scalar *children);

/* The key of the double that EXPRESSION_TO_DOUBLE makes from a number with this scale. */
static inline int64_t expression_double_of(int64_t value, unsigned scale)
{
    return double_key_of((double)value / (double)power_of_ten(scale));
}

/* ---- Strings (expression_string.c) ---- */

/* Makes a string constant, whose dictionary of one string belongs to the list. */
NODISCARD enum status expression_string_constant(struct expression_list *list, const char *string,
                                                 uint32_t length, uint32_t *index, struct error *error);

/* Converts both nodes to codes of a common dictionary, so that they can be compared or chosen from. If one of them has
 * none (functions/text_call.h), both stay: only their strings can be compared. */
NODISCARD enum status expression_string_unify(struct expression_list *list, uint32_t *left, uint32_t *right,
                                              struct error *error);

/* LIKE with % and _; the pattern is in engine/function/string_body.h. */
struct like_pattern;
NODISCARD enum status expression_string_like(struct expression_list *list, uint32_t child,
                                             const struct like_pattern *pattern, uint32_t *index,
                                             struct error *error);

#endif
