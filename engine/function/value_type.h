/* value_type.h: the types of values in statements. How a value is stored is said in engine/plan/expression.h. */
#ifndef TESSERA_ENGINE_FUNCTION_VALUE_TYPE_H
#define TESSERA_ENGINE_FUNCTION_VALUE_TYPE_H

#include <stdbool.h>
#include <stdint.h>

struct dictionary;

enum value_kind {
    VALUE_INTEGER,   /* a whole number, or a decimal (value_is_decimal) */
    VALUE_DATE,      /* days since 1970-01-01, in 32 bits: 5.8 million years */
    VALUE_TIMESTAMP, /* microseconds since 1970-01-01 00:00:00, of UTC if it is `zoned` */
    VALUE_BOOLEAN,
    VALUE_STRING, /* a code of `dictionary`; codes have the order of the strings */
    VALUE_DOUBLE  /* the key of a double, which has the same order */
};

/* A type follows from the statement and the tables' schemas, never from rows. */
struct value_type {
    enum value_kind kind;
    uint8_t scale; /* VALUE_INTEGER: digits after the point, 0 .. 18 */
    bool decimal;  /* VALUE_INTEGER: a decimal, also if its scale is 0: its quotients are not whole */
    bool zoned; /* VALUE_TIMESTAMP: with time zone: an instant, shown by the clock of the statement's zone */
    bool untyped; /* the word NULL, or what is made of it alone: VALUE_INTEGER, but takes any other type */
    bool
        literal; /* VALUE_STRING: written so in the statement, so it is read as a date or number beside one */
    const struct dictionary *dictionary;
};

#define VALUE_UNTYPED ((struct value_type){.kind = VALUE_INTEGER, .untyped = true})

/* A scale above 0 says it, too, so that types may be written without the mark. */
static inline bool value_is_decimal(struct value_type type)
{
    return type.kind == VALUE_INTEGER && (type.decimal || type.scale);
}

#endif
