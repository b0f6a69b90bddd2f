/*
 * expression.h: what a star query computes, typed and bound: a list of nodes, children before parents, which
 * the CPU evaluates over vectors of up to 1024 rows (expression_vector.h) and the CUDA kernel as text
 * (star_kernel.h). Both give the same bits.
 *
 * Every value is an int64 that may be NULL: a number scaled by 10^scale, days, microseconds, 0 or 1, a
 * dictionary code. Above the aggregates a value may also be a double (its bits in the int64). Nothing can
 * overflow: each node's least and greatest value follow from the columns' statistics when it is made, and
 * what might leave 64 bits is refused then. NULLs follow SQL's three-valued logic.
 */
#ifndef TESSERA_ENGINE_EXPRESSION_H
#define TESSERA_ENGINE_EXPRESSION_H

#include "storage/calendar.h"
#include "storage/database.h"

enum value_kind {
    VALUE_INTEGER,   /* scale 0: a whole number; else a decimal */
    VALUE_DATE,      /* days since 1970-01-01 */
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
    EXPRESSION_REMAINDER, /* of whole numbers; the sign is the dividend's; NULL where the divisor is 0 */
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
};

/* Zero-initialised is empty; expression_list_free empties it. Equal nodes are made once. */
struct expression_list {
    uint32_t count, capacity, table_count;
    struct expression *nodes;
    struct value_table *tables;
    struct dictionary *dictionaries; /* merged ones, which types point at */
    uint32_t dictionary_count;
    void *arena;
};

void expression_list_free(struct expression_list *list);

#define EXPRESSION_NONE UINT32_MAX

#endif
