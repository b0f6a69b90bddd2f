/*
 * function.h: the scalar functions of SQL (list.h), by name, and what those that are computed row by row give.
 */
#ifndef TESSERA_ENGINE_FUNCTION_FUNCTION_H
#define TESSERA_ENGINE_FUNCTION_FUNCTION_H

#include "engine/function/list.h"
#include "engine/function/string_body.h"
#include "storage/base/calendar.h"
#include "storage/base/doubles/double_bits.h"

#include <stddef.h>

/* The numbers of row functions, in the `field` of a node (EXPRESSION_CALL). */
#define FUNCTION_ROW_NUMBER(id, ...) ROW_##id,
#define FUNCTION_NOTHING(...)
enum row_function { FUNCTIONS(FUNCTION_ROW_NUMBER, FUNCTION_NOTHING, FUNCTION_NOTHING) ROW_FUNCTION_COUNT };
#undef FUNCTION_ROW_NUMBER
#undef FUNCTION_NOTHING

/* ---- Names ---- */

#define FUNCTION_NAMES_MAX     6u
#define FUNCTION_ARGUMENTS_MAX 3u /* of row functions and functions of strings */

enum function_form { FUNCTION_ROW, FUNCTION_TEXT, FUNCTION_FORMULA };

struct function {
    const char *names[FUNCTION_NAMES_MAX]; /* the others are NULL; all are if the binder alone calls it */
    enum function_form form;
    uint32_t least, most; /* arguments */
    const char *takes;    /* FUNCTION_ROW, FUNCTION_TEXT: list.h */
    union {
        enum row_function row; /* FUNCTION_ROW */
        struct {
            enum value_kind kind; /* of the result */
            string_call_body *body;
            const char *filler;
            int64_t number;
        } text;       /* FUNCTION_TEXT */
        int argument; /* FUNCTION_FORMULA */
    };
};

/* The function of that name in lower case, and its place in the list; NULL if there is none. */
const struct function *function_find(const char *name, size_t *place);
/* The names one after the other, with those that have a grammar of their own, such as CAST; NULL at the end. */
const char *function_name(size_t index);

/* What `argument` of a formula may be. */
enum rounding { ROUND_NEAREST, ROUND_DOWN, ROUND_UP, ROUND_CUT };

/* ---- Row functions ---- */

/* Arguments and result are as in columns, doubles by their keys; `unit` is the node's `index`. *missing is false when the
 * body is called, and becomes true if the result is NULL. */
typedef int64_t row_body(int64_t a, int64_t b, int64_t c, int unit, bool *missing);

/* The values of an argument; an unused argument has zeros. */
struct function_range {
    int64_t low, high;
    int64_t constant; /* its value, if it is a constant */
};

struct row_description;
/* Gives the range of a result; 128 bits, so that one beyond 64 is seen. */
typedef void function_range_rule(const struct row_description *function, int unit,
                                 const struct function_range *arguments, __int128 *low, __int128 *high);

struct row_description {
    const char *text;     /* what EXPLAIN writes */
    const char *cuda;     /* the body's name in a kernel: "call_floor" */
    row_body *body;       /* the same on the CPU */
    enum value_kind kind; /* of the result */
    bool as_third;        /* the result has the type of the third argument instead */
    bool misses;          /* it may be NULL where no argument is */
    function_range_rule *range;
};

const struct row_description *row_function(enum row_function function);
/* The function that EXPLAIN writes so; ROW_FUNCTION_COUNT: there is none. */
enum row_function row_function_named(const char *text);

/* ---- Rules of ranges (ranges.c) ---- */

/* False if no arguments within their ranges make the function NULL. */
bool row_may_miss(const struct row_description *function, int unit, const struct function_range *arguments);
/* The bits of a function's doubles, of those of its first argument. */
struct double_bits row_function_bits(enum row_function function, struct double_bits of);

/* A greater first argument gives no smaller double; the second is constant. Where the function misses, only greater arguments
 * have a value. */
function_range_rule range_rising;
function_range_rule range_rising_nearly; /* the same, but results may err by a unit in the last place */
function_range_rule range_double;        /* any double */
function_range_rule range_whole;         /* within the most, and between the numbers at the ends */
function_range_rule range_date_trunc, range_time_trunc, range_make_date;
function_range_rule range_sketch_register, range_sketch_rank;
/* Of whole numbers. */
function_range_rule range_bits, range_bits_and, range_bits_not, range_bits_set, range_shift_right;
function_range_rule range_whole_numbers; /* any */
function_range_rule range_not_negative;  /* any from 0 on */

#endif
