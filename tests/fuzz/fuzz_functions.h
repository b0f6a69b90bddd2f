/*
 * fuzz_functions.h: scalar functions and predicates in random terms (fuzz_term.h), in our words and SQLite's. upper and
 * lower of SQLite know ASCII only, so ours take their place there.
 */
#ifndef TESSERA_TESTS_FUZZ_FUZZ_FUNCTIONS_H
#define TESSERA_TESTS_FUZZ_FUZZ_FUNCTIONS_H

#include "engine/function/string_body.h"

#include <stdlib.h>

/* ---- Functions of SQLite ---- */

static inline void sqlite_case(sqlite3_context *context, int count, sqlite3_value **values)
{
    string_call_body *const body = sqlite3_user_data(context) ? string_upper : string_lower;
    struct string_buffer text = {0};
    struct string_result result = {.text = &text};
    (void)count;
    if (sqlite3_value_type(values[0]) == SQLITE_NULL)
        return;
    const struct string_value string = {(const char *)sqlite3_value_text(values[0]),
                                        (uint32_t)sqlite3_value_bytes(values[0])};
    body(NULL, &string, &result);
    assert_false(text.failed);
    sqlite3_result_text(context, text.bytes ? text.bytes : "", (int)text.used, SQLITE_TRANSIENT);
    free(text.bytes);
}

static inline void fuzz_functions_register(sqlite3 *sqlite)
{
    static int upper;
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
    assert_int_equal(sqlite3_create_function(sqlite, "upper", 1, flags, &upper, sqlite_case, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_create_function(sqlite, "lower", 1, flags, NULL, sqlite_case, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_exec(sqlite, "PRAGMA case_sensitive_like = ON", NULL, NULL, NULL), SQLITE_OK);
}

/* ---- Numbers ---- */

/* round, floor, ceil and trunc of a number with decimals. */
static inline struct term rounded(struct term a)
{
    const uint8_t places = a.scale ? (uint8_t)below(a.scale) : 0;
    const char *const x = a.sqlites;
    struct term term = {.kind = NUMBER, .scale = places};
    const int64_t size = unit((unsigned)(a.scale - places));
    if (a.scale == 0 || chance(50)) { /* with places = scale it is the number itself */
        term.ours = form("round(%s, %u)", a.ours, places);
        term.sqlites = form("((%s + CASE WHEN %s < 0 THEN %" PRId64 " ELSE %" PRId64 " END) / %" PRId64 ")",
                            x, x, -(size / 2), size / 2, size);
        return term;
    }
    term.scale = 0;
    const int64_t whole = unit(a.scale);
    if (chance(40)) {
        term.ours = form("floor(%s)", a.ours);
        term.sqlites = form("(%s / %" PRId64 " - (%s %% %" PRId64 " < 0))", x, whole, x, whole);
    } else if (chance(50)) {
        term.ours = form("ceil(%s)", a.ours);
        term.sqlites = form("(%s / %" PRId64 " + (%s %% %" PRId64 " > 0))", x, whole, x, whole);
    } else {
        term.ours = form("%s(%s)", chance(50) ? "trunc" : "", a.ours);
        if (term.ours[0] == '(')
            term.ours = form("%s::integer", term.ours);
        term.sqlites = form("(%s / %" PRId64 ")", x, whole);
    }
    return term;
}

/* A function of two numbers of one scale. */
static inline struct term number_pair(struct term a, struct term b)
{
    struct term term = {.kind = NUMBER, .scale = a.scale};
    const char *const name = chance(50) ? "greatest" : "least";
    static const char *const of_bits[] = {"&", "|", "<<", ">>"};
    const uint32_t which = (uint32_t)below(4);
    switch (below(a.scale ? 3 : 5)) {
    case 3: /* the same words */
        term.ours = form("(%s %s %s)", a.ours, of_bits[which], b.ours);
        term.sqlites = form("(%s %s %s)", a.sqlites, of_bits[which], b.sqlites);
        return term;
    case 4:
        term.ours = form("(~%s)", a.ours);
        term.sqlites = form("(~%s)", a.sqlites);
        return term;
    case 0:
        term.ours = form("%s(%s, %s)", name, a.ours, b.ours);
        term.sqlites = form("coalesce(%s(%s, %s), %s, %s)", name[0] == 'g' ? "max" : "min", a.sqlites,
                            b.sqlites, a.sqlites, b.sqlites);
        return term;
    case 1:
        term.ours = form("mod(%s, %s)", a.ours, b.ours);
        term.sqlites = form("(%s %% %s)", a.sqlites, b.sqlites);
        return term;
    default:
        term.scale = 0;
        term.ours = form("sign(%s)", a.ours);
        term.sqlites = form("sign(%s)", a.sqlites);
        return term;
    }
}

/* ---- Dates ---- */

/* The seconds of a date or timestamp. */
static inline const char *seconds_of(struct term time)
{
    return form(time.kind == STAMP ? "(%s / 1000000)" : "(%s * 86400)", time.sqlites);
}

/* A date that is made from a column. */
static inline struct term date_function(struct term date)
{
    struct term term = {.kind = DATE, .inner = {keep(date), NULL}};
    const char *const seconds = seconds_of(date);
    switch (below(4)) {
    case 0: {
        const bool year = chance(50);
        term.ours = form("date_trunc('%s', %s)", year ? "year" : "month", date.ours);
        term.sqlites = form("(CAST(strftime('%%s', %s, 'unixepoch', 'start of %s') AS INTEGER) / 86400)",
                            seconds, year ? "year" : "month");
        return term;
    }
    case 1:
        term.ours = form("date_trunc('week', %s)", date.ours);
        term.sqlites = form("(%s - (CAST(strftime('%%w', %s, 'unixepoch') AS INTEGER) + 6) %% 7)",
                            date.sqlites, seconds);
        return term;
    case 2:
        term.ours = form("last_day(%s)", date.ours);
        term.sqlites =
            form("(CAST(strftime('%%s', %s, 'unixepoch', 'start of month', '+1 month', '-1 day') AS INTEGER) "
                 "/ 86400)",
                 seconds);
        return term;
    default:
        term.ours = form("make_date(year(%s), month(%s), 1)", date.ours, date.ours);
        term.sqlites =
            form("(CAST(strftime('%%s', %s, 'unixepoch', 'start of month') AS INTEGER) / 86400)", seconds);
        return term;
    }
}

/* A number that is made from two times. */
static inline struct term date_difference(struct term a, struct term b)
{
    struct term term = {.kind = NUMBER};
    const char *const from = seconds_of(a), *const to = seconds_of(b);
    switch (below(4)) {
    case 0:
        term.ours = form("date_diff('day', %s, %s)", a.ours, b.ours);
        term.sqlites =
            form("((%s - ((%s %% 86400) + 86400) %% 86400) / 86400 - (%s - ((%s %% 86400) + 86400) %% 86400) "
                 "/ 86400)",
                 to, to, from, from);
        return term;
    case 1:
        term.ours = form("date_diff('month', %s, %s)", a.ours, b.ours);
        term.sqlites =
            form("((CAST(strftime('%%Y', %s, 'unixepoch') AS INTEGER) * 12 + CAST(strftime('%%m', %s, "
                 "'unixepoch') AS INTEGER)) - (CAST(strftime('%%Y', %s, 'unixepoch') AS INTEGER) * 12 + "
                 "CAST(strftime('%%m', %s, 'unixepoch') AS INTEGER)))",
                 to, to, from, from);
        return term;
    case 2:
        term.ours = form("isodow(%s)", a.ours);
        term.sqlites = form("((CAST(strftime('%%w', %s, 'unixepoch') AS INTEGER) + 6) %% 7 + 1)", from);
        return term;
    default: /* the number of the week's Thursday in its year */
        term.ours = form("week(%s)", a.ours);
        term.sqlites =
            form("((CAST(strftime('%%j', %s, 'unixepoch', '-3 days', 'weekday 4') AS INTEGER) - 1) / 7 + 1)",
                 from);
        return term;
    }
}

/* ---- Strings ---- */

static inline struct term string_function(struct term column)
{
    struct term term = column;
    const char *const x = column.ours;
    switch (below(6)) {
    case 0:
        term.ours = term.sqlites = form("replace(%s, 'e', '__')", x);
        break;
    case 1:
        term.ours = term.sqlites = form("('<' || %s || '>')", x);
        break;
    case 2:
        term.ours = form("left(%s, 2)", x);
        term.sqlites = form("substr(%s, 1, 2)", x);
        break;
    case 3:
        term.ours = term.sqlites = form("%s(%s, 'a b')", chance(50) ? "ltrim" : "rtrim", x);
        break;
    case 4:
        term.ours = form("concat(%s, '!')", x);
        term.sqlites = form("(coalesce(%s, '') || '!')", x);
        break;
    default:
        term.ours = term.sqlites = form("trim(replace(%s, 'r', ' '))", x);
    }
    term.inner[0] = keep(column);
    return term;
}

/* ---- Predicates ---- */

static inline struct term truth_test(struct term condition)
{
    static const char *const truths[] = {"TRUE", "FALSE"};
    const char *const word = truths[below(2)], *const negated = chance(50) ? "NOT " : "";
    struct term term = {.kind = TRUTH};
    term.ours = form("(%s) IS %s%s", condition.ours, negated, word);
    term.sqlites = form("(%s) IS %s%s", condition.sqlites, negated, word);
    term.inner[0] = keep(condition);
    return term;
}

/* Of two terms of one kind and scale. */
static inline struct term distinct_test(struct term a, struct term b)
{
    const char *const negated = chance(50) ? "NOT " : "";
    struct term term = {.kind = TRUTH};
    term.ours = form("%s IS %sDISTINCT FROM %s", a.ours, negated, b.ours);
    term.sqlites = form("%s IS %sDISTINCT FROM %s", a.sqlites, negated, b.sqlites);
    return term;
}

static inline struct term string_test(struct term string)
{
    static const char *const parts[] = {"a", "gr", "E", "MFGR#1", "it", ""};
    const char *const part = parts[below(6)];
    struct term term = {.kind = TRUTH};
    switch (below(4)) {
    case 0:
        term.ours = form("%s ILIKE '%%%s%%'", string.ours, part);
        term.sqlites = form("lower(%s) LIKE lower('%%%s%%')", string.sqlites, part);
        return term;
    case 1:
        term.ours = form("starts_with(%s, '%s')", string.ours, part);
        term.sqlites = form("(substr(%s, 1, %u) = '%s')", string.sqlites, (unsigned)strlen(part), part);
        return term;
    case 2:
        term.ours = form("%s ~ '%s'", string.ours, part);
        term.sqlites = form("(instr(%s, '%s') > 0)", string.sqlites, part);
        return term;
    default:
        term.ours = form("position('%s' IN %s) > 1", part, string.ours);
        term.sqlites = form("instr(%s, '%s') > 1", string.sqlites, part);
        return term;
    }
}

#endif
