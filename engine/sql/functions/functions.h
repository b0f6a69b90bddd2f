/*
 * functions.h: binds the scalar functions of SQL, which engine/function/list.h lists.
 *
 *     functions.c   by form and name, and the nearest name to one that there is not
 *     numbers.c     round, floor, mod, greatest, ...
 *     hashes.c      hash
 *     times.c       date_trunc, date_diff, last_day, ...
 *     strings.c     ||, replace, split_part, ...: once for each string of a dictionary
 *     formats.c     values as text: CAST to VARCHAR, chr
 *     json.c        JSON in strings: -> and ->>
 *     zones.c       timestamps with time zone: AT TIME ZONE
 *     time_text.c   times in forms that a statement gives: strftime, to_char, strptime
 *     casts.c       CAST and ::
 *     predicates.c  IS TRUE, IS DISTINCT FROM, ILIKE, regular expressions
 */
#ifndef TESSERA_ENGINE_SQL_FUNCTIONS_FUNCTIONS_H
#define TESSERA_ENGINE_SQL_FUNCTIONS_FUNCTIONS_H

#include "engine/function/function.h"
#include "engine/plan/functions/string_call.h"
#include "engine/sql/bind_internal.h"

/* A function of a statement whose values are bound. */
struct bound_call {
    const struct sql_expression *ast;
    const struct function *function;
    enum bind_level level;
    uint32_t count;
    uint32_t values[FUNCTION_VALUES_MAX];
};

/* The function or aggregate that a mistyped name may mean, or NULL. */
const char *functions_near(const char *name);
/* Binds the function of that name; refuses a name that is no function's, with the nearest ones. */
NODISCARD enum status functions_bind(struct binder *binder, const struct sql_expression *ast,
                                     enum bind_level level, uint32_t *node);

/* Binds a function over its values: bind_NAME for each FORMULA(..., NAME, ...) of the list. */
typedef enum status function_bind(struct binder *binder, const struct bound_call *call, uint32_t *node);

/* ---- numbers.c ---- */
function_bind bind_row_function; /* any FUNCTION_ROW that has a name */
function_bind bind_log, bind_hash;
function_bind bind_round, bind_abs, bind_mod, bind_sign, bind_extreme, bind_pi, bind_special, bind_coalesce,
    bind_nullif;
/* Adds the node of a row function of up to three values; EXPRESSION_NONE for those that it lacks. */
NODISCARD enum status bind_row_call(struct binder *binder, struct sql_position position,
                                    enum row_function function, int unit, uint32_t a, uint32_t b, uint32_t c,
                                    uint32_t *node);
NODISCARD enum status bind_double_constant(struct binder *binder, double value, uint32_t *node);
/* Rounds a number that is not a double to `places` digits after the point, or before it if negative. */
NODISCARD enum status bind_rounded(struct binder *binder, struct sql_position position,
                                   enum rounding rounding, int places, uint32_t *node);
/* CASE WHEN condition THEN a ELSE b END, of values of one type. */
NODISCARD enum status bind_choice(struct binder *binder, struct sql_position position, uint32_t condition,
                                  uint32_t a, uint32_t b, uint32_t *node);
NODISCARD enum status bind_missing(struct binder *binder, uint32_t value, uint32_t *node); /* IS NULL */

/* ---- casts.c ---- */
function_bind bind_typeof;
/* The word for a type that is no decimal: that of a CAST which gives such values. */
const char *bind_type_name(struct value_type type);

/* ---- strings.c ---- */
function_bind bind_text_function; /* any FUNCTION_TEXT */
function_bind bind_position, bind_concat, bind_concat_ws;
NODISCARD enum status bind_concat_operator(struct binder *binder, const struct sql_expression *ast,
                                           enum bind_level level, uint32_t *node);
/* A NULL needs a dictionary when it is compared with strings, so it is that of an empty string. */
NODISCARD enum status bind_null_string(struct binder *binder, uint32_t *node);

/* ---- json.c ---- */
function_bind bind_json;

/* ---- formats.c ---- */
function_bind bind_chr;
/* Coerces a value to text. */
NODISCARD enum status bind_text(struct binder *binder, struct sql_position position, uint32_t *node);

/* ---- time_text.c ---- */
function_bind bind_strftime, bind_to_char, bind_strptime;

/* ---- zones.c ---- */
function_bind bind_timezone;
bool bind_is_zoned(const struct binder *binder, uint32_t node);
/* A time with time zone becomes what the clock of the statement's zone shows; other values stay as they are, as do all if
 * that is UTC's. */
NODISCARD enum status bind_local(struct binder *binder, struct sql_position position, uint32_t *node);
/* The other way: a date or timestamp becomes the instant at which that clock shows it. */
NODISCARD enum status bind_instant(struct binder *binder, struct sql_position position, uint32_t *node);
/* Makes both times instants if one of them is. */
NODISCARD enum status bind_same_clock(struct binder *binder, struct sql_position position, uint32_t *left,
                                      uint32_t *right);
/* The same by the clock of any zone, of a timestamp that is, or is not, with time zone. */
NODISCARD enum status bind_local_of(struct binder *binder, struct sql_position position,
                                    const struct zone *zone, uint32_t *node);
NODISCARD enum status bind_instant_of(struct binder *binder, struct sql_position position,
                                      const struct zone *zone, uint32_t *node);
void bind_keep_zone(void *zone); /* `release` of a call whose context is a zone: zones stay */
/* Parses the text of a time with time zone; one without an offset is by the zone's clock. */
bool bind_zoned_parse(const struct zone *zone, const char *text, size_t length, int64_t *microseconds);

/* ---- times.c ---- */
/* Converts a string literal that is a date or a time; other nodes stay as they are. A time with an offset is an instant. */
NODISCARD enum status bind_literal_time(struct binder *binder, uint32_t *node);
function_bind bind_date_trunc, bind_time_field, bind_date_part, bind_date_diff, bind_last_day, bind_time_name,
    bind_now, bind_to_timestamp, bind_date;
NODISCARD enum status bind_extract(struct binder *binder, const struct sql_expression *ast,
                                   enum bind_level level, uint32_t *node);
/* The number of units of so many microseconds that a timestamp is after 1970, rounded down: 1, or those of a second, a
 * minute, an hour or a day. */
NODISCARD enum status bind_time_units(struct binder *binder, struct sql_position position, int64_t unit,
                                      uint32_t *node);
NODISCARD enum status bind_add_months(struct binder *binder, struct sql_position position, uint32_t time,
                                      uint32_t months, uint32_t *node);
/* current_date and current_timestamp, which have no parentheses. */
bool functions_is_current_time(const struct sql_expression *ast);
/* The same, and now() and today(). */
bool functions_ask_time(const struct sql_expression *ast);
NODISCARD enum status functions_current_time(struct binder *binder, const struct sql_expression *ast,
                                             uint32_t *node);

/* ---- predicates.c ---- */
function_bind bind_regular;
NODISCARD enum status bind_is(struct binder *binder, const struct sql_expression *ast, enum bind_level level,
                              uint32_t *node);
NODISCARD enum status bind_matches(struct binder *binder, const struct sql_expression *ast,
                                   enum bind_level level, uint32_t *node);

#endif
