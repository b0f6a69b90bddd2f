/*
 * fuzz_term.h: random expressions over a random star (fuzz_star.h), in Tessera's words and SQLite's side by side.
 *
 * There decimals, dates and times are plain numbers: a term knows its scale, and its SQLite text is rescaled where ours
 * is by the engine. A term knows the terms inside of it, so that a query that fails can be shrunk. Constants are
 * numbered places in our text, which become literals or parameters.
 */
#ifndef TESSERA_TESTS_FUZZ_FUZZ_TERM_H
#define TESSERA_TESTS_FUZZ_FUZZ_TERM_H

#include "engine/library/statement.h"
#include "tests/fuzz/fuzz_star.h"

#include <inttypes.h>
#include <stdarg.h>

enum kind { NUMBER, DATE, TRUTH, STRING, STAMP, REAL /* always with SCALE_DOUBLE */ };

#define SCALE_DOUBLE 100u /* and more: a floating-point number, in SQLite too large by 10^(scale - 100) */

struct term {
    enum kind kind;
    uint8_t scale;
    const char *ours, *sqlites;
    const struct term *inner[2]; /* of the same kind and scale: what may stand for it; or NULL */
};

/* ---- Text, until the next query ---- */

static char texts[1u << 22];
static size_t text_used;

__attribute__((format(printf, 1, 2))) static const char *form(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(texts + text_used, sizeof texts - text_used, format, arguments);
    va_end(arguments);
    const char *const text = texts + text_used;
    text_used += (size_t)length + 1;
    assert_true(text_used < sizeof texts);
    return text;
}

static inline const struct term *keep(struct term term)
{
    text_used = (text_used + 15) / 16 * 16;
    struct term *const kept = (struct term *)(void *)(texts + text_used);
    text_used += sizeof *kept;
    assert_true(text_used < sizeof texts);
    *kept = term;
    return kept;
}

/* ---- Constants: "\x01<number>\x02" in our text ---- */

#define CONSTANTS_MAX 400u

static struct {
    const char *literal;
    struct sql_parameter value;
} constants[CONSTANTS_MAX];
static uint32_t constant_count;

static inline const char *place(const char *literal, struct sql_parameter value)
{
    assert_true(constant_count < CONSTANTS_MAX);
    constants[constant_count].literal = literal;
    constants[constant_count].value = value;
    return form("\x01%u\x02", constant_count++);
}

static inline int64_t unit(unsigned scale)
{
    int64_t power = 1;
    while (scale--)
        power *= 10;
    return power;
}

static inline struct term number_constant(void)
{
    int64_t value = chance(70) ? below(20) : below(100000);
    uint8_t scale = (uint8_t)(chance(70) ? 0 : 1 + below(2));
    const char *const literal =
        scale ? form("%" PRId64 ".%0*" PRId64, value / unit(scale), scale, value % unit(scale))
              : form("%" PRId64, value);
    const struct sql_parameter parameter = {.type = {.kind = VALUE_INTEGER, .scale = scale}, .value = value};
    return (struct term){.kind = NUMBER,
                         .scale = scale,
                         .ours = place(literal, parameter),
                         .sqlites = form("%" PRId64, value)};
}

static inline struct term date_constant(void)
{
    const int64_t days = 8000 + below(5000);
    const struct calendar_date date = calendar_date_of(days);
    const struct sql_parameter parameter = {.type = {.kind = VALUE_DATE}, .value = days};
    const char *const literal = form("DATE '%04d-%02d-%02d'", (int)date.year, date.month, date.day);
    return (struct term){.kind = DATE, .ours = place(literal, parameter), .sqlites = form("%" PRId64, days)};
}

static inline struct term stamp_constant(void)
{
    const int64_t days = 8000 + below(900), hour = below(24), second = below(60);
    const struct calendar_date date = calendar_date_of(days);
    const int64_t value = days * CALENDAR_DAY_MICROSECONDS + (hour * 3600 + second) * 1000000;
    const struct sql_parameter parameter = {.type = {.kind = VALUE_TIMESTAMP}, .value = value};
    const char *const literal = form("TIMESTAMP '%04d-%02d-%02d %02d:00:%02d'", (int)date.year, date.month,
                                     date.day, (int)hour, (int)second);
    return (struct term){
        .kind = STAMP, .ours = place(literal, parameter), .sqlites = form("%" PRId64, value)};
}

static inline struct term string_constant(void)
{
    const char *const word = chance(80)   ? words[below(WORDS)]
                             : chance(50) ? "nowhere"
                                          : form("k%05u", below(30));
    char quoted[64];
    size_t at = 0;
    for (const char *c = word; *c; c++) {
        quoted[at++] = *c;
        if (*c == '\'')
            quoted[at++] = '\'';
    }
    quoted[at] = '\0';
    const struct sql_parameter parameter = {
        .type = {.kind = VALUE_STRING}, .string = word, .length = (uint32_t)strlen(word)};
    const char *const literal = form("'%s'", quoted);
    return (struct term){.kind = STRING, .ours = place(literal, parameter), .sqlites = literal};
}

/* A decimal or a number with an exponent. */
static inline struct term real_constant(void)
{
    const uint32_t value = below(chance(70) ? 20 : 2000000);
    const char *const text = chance(30)   ? form("%u", value % 1000)
                             : chance(80) ? form("%u.%02u", value / 100, value % 100)
                                          : form("%ue-300", value);
    return (struct term){.kind = REAL, .scale = SCALE_DOUBLE, .ours = text, .sqlites = text};
}

static inline struct term constant(enum kind kind)
{
    return kind == REAL     ? real_constant()
           : kind == DATE   ? date_constant()
           : kind == STAMP  ? stamp_constant()
           : kind == STRING ? string_constant()
                            : number_constant();
}

/* ---- Expressions ---- */

#define SCOPE_MAX 16u

struct scope {
    uint32_t count;
    struct {
        const char *alias;
        const struct fuzz_table *table;
    } in[SCOPE_MAX];
};

static inline enum kind kind_of(enum column_type type)
{
    return type == TYPE_STRING      ? STRING
           : type == TYPE_DATE      ? DATE
           : type == TYPE_TIMESTAMP ? STAMP
           : type == TYPE_BOOL      ? TRUTH
           : type == TYPE_DOUBLE    ? REAL
                                    : NUMBER;
}

/* A column of a table that is in scope, of that kind, the fact table's twice as often; false if there is none. */
static inline bool column_term(const struct scope *scope, enum kind kind, struct term *term)
{
    for (uint32_t tries = 0; tries < 100; tries++) {
        const uint32_t t = chance(40) ? 0 : below(scope->count);
        const struct fuzz_table *table = scope->in[t].table;
        const struct fuzz_column *column = &table->columns[below(table->column_count)];
        if (kind_of(column->type) != kind)
            continue;
        const char *const text = form("%s.%s", scope->in[t].alias, column->name);
        const uint8_t scale = (uint8_t)(kind == REAL ? SCALE_DOUBLE : column->scale);
        *term = (struct term){.kind = kind, .scale = scale, .ours = text, .sqlites = text};
        return true;
    }
    return false;
}

static inline struct term truth_term(const struct scope *scope, uint32_t depth);

#include "tests/fuzz/fuzz_functions.h"

static inline void rescale(struct term *term, uint8_t scale)
{
    if (term->scale != scale)
        term->sqlites = form("(%s * %" PRId64 ")", term->sqlites, unit((unsigned)(scale - term->scale)));
    term->scale = scale;
}

static inline void rescale_both(struct term *a, struct term *b)
{
    if (a->scale > b->scale)
        rescale(b, a->scale);
    else
        rescale(a, b->scale);
}

/* A binary or other term of two, by one format for both texts. */
#define PAIR(kind_, scale_, format, a, b)                    \
    ((struct term){.kind = (kind_),                          \
                   .scale = (scale_),                        \
                   .ours = form(format, (a).ours, (b).ours), \
                   .sqlites = form(format, (a).sqlites, (b).sqlites)})

/* The whole quotient, also of decimals that have no digits after the point. */
static inline struct term quotient(struct term a, struct term b)
{
    return (struct term){.kind = NUMBER,
                         .ours = form("(CAST(%s AS BIGINT) / CAST(%s AS BIGINT))", a.ours, b.ours),
                         .sqlites = form("(%s / %s)", a.sqlites, b.sqlites)};
}

static inline bool date_number(const struct scope *scope, struct term *term)
{
    static const struct {
        const char *ours, *sqlites;
    } fields[] = {{"YEAR", "CAST(strftime('%%Y', %s, 'unixepoch') AS INTEGER)"},
                  {"MONTH", "CAST(strftime('%%m', %s, 'unixepoch') AS INTEGER)"},
                  {"DAY", "CAST(strftime('%%d', %s, 'unixepoch') AS INTEGER)"},
                  {"DOW", "CAST(strftime('%%w', %s, 'unixepoch') AS INTEGER)"},
                  {"DOY", "CAST(strftime('%%j', %s, 'unixepoch') AS INTEGER)"},
                  {"QUARTER", "((CAST(strftime('%%m', %s, 'unixepoch') AS INTEGER) + 2) / 3)"},
                  {"HOUR", "CAST(strftime('%%H', %s, 'unixepoch') AS INTEGER)"},
                  {"MINUTE", "CAST(strftime('%%M', %s, 'unixepoch') AS INTEGER)"},
                  {"SECOND", "CAST(strftime('%%S', %s, 'unixepoch') AS INTEGER)"}};
    struct term date;
    const bool stamp = chance(40);
    const uint32_t f = below(stamp ? 9 : 6);
    if (!column_term(scope, stamp ? STAMP : DATE, &date))
        return false;
    char format[100];
    const char *const seconds = form(stamp ? "(%s / 1000000)" : "(%s * 86400)", date.sqlites);
    snprintf(format, sizeof format, "%s", fields[f].sqlites);
    char *const percent = strstr(format, "%s,");
    char *const escaped = strstr(format, "%%");
    *percent = '\0';
    memmove(escaped, escaped + 1, strlen(escaped)); /* "%%" to "%" */
    *term =
        (struct term){.kind = NUMBER,
                      .ours = chance(30) && f < 3 ? form("%s(%s)",
                                                         f == 0   ? "year"
                                                         : f == 1 ? "month"
                                                                  : "day",
                                                         date.ours)
                                                  : form("EXTRACT(%s FROM %s)", fields[f].ours, date.ours),
                      .sqlites = form("%s%s%s", format, seconds, percent + 2)};
    return true;
}

static inline bool string_number(const struct scope *scope, struct term *term)
{
    struct term string;
    if (!column_term(scope, STRING, &string))
        return false;
    *term = (struct term){.kind = NUMBER,
                          .ours = form("length(%s)", string.ours),
                          .sqlites = form("length(%s)", string.sqlites)};
    return true;
}

static inline struct term number_term(const struct scope *scope, uint32_t depth)
{
    struct term a, b, term;
    if (depth == 0 || chance(45))
        return chance(25) || !column_term(scope, NUMBER, &a) ? number_constant() : a;
    a = number_term(scope, depth - 1);
    b = number_term(scope, depth - 1);
    const struct term first = a, second = b;
    switch (below(14)) {
    case 0:
    case 1:
        rescale_both(&a, &b);
        term =
            chance(50) ? PAIR(NUMBER, a.scale, "(%s + %s)", a, b) : PAIR(NUMBER, a.scale, "(%s - %s)", a, b);
        break;
    case 2:
        b = chance(70) ? number_constant() : b;
        if (a.scale + b.scale > 8)
            return a;
        return PAIR(NUMBER, (uint8_t)(a.scale + b.scale), "(%s * %s)", a, b);
    case 3:
        if (a.scale || b.scale)
            return a;
        term = chance(50) ? quotient(a, b) : PAIR(NUMBER, 0, "(%s %% %s)", a, b);
        break;
    case 4: {
        const struct term condition = truth_term(scope, 1);
        const bool other = chance(70);
        if (other)
            rescale_both(&a, &b);
        term = (struct term){.kind = NUMBER, .scale = a.scale};
        term.ours = form("CASE WHEN %s THEN %s%s%s END", condition.ours, a.ours, other ? " ELSE " : "",
                         other ? b.ours : "");
        term.sqlites = form("CASE WHEN %s THEN %s%s%s END", condition.sqlites, a.sqlites,
                            other ? " ELSE " : "", other ? b.sqlites : "");
        break;
    }
    case 5:
        return date_number(scope, &term) ? term : a;
    case 6:
        return string_number(scope, &term) ? term : a;
    case 7:
        b = chance(60) ? number_constant() : b;
        rescale_both(&a, &b);
        term = chance(50) ? PAIR(NUMBER, a.scale, "coalesce(%s, %s)", a, b)
                          : PAIR(NUMBER, a.scale, "ifnull(%s, %s)", a, b);
        break;
    case 8:
        b = number_constant();
        if (a.scale < b.scale)
            return a; /* the answer has a's scale, and SQLite's text b's */
        rescale(&b, a.scale);
        term = PAIR(NUMBER, a.scale, "nullif(%s, %s)", a, b);
        break;
    case 9: {
        struct term x;
        if (!column_term(scope, NUMBER, &x) || x.scale)
            return a;
        rescale_both(&a, &b);
        const uint32_t one = below(8), two = below(8);
        term = (struct term){
            .kind = NUMBER,
            .scale = a.scale,
            .ours = form("CASE %s WHEN %u THEN %s WHEN %u THEN %s END", x.ours, one, a.ours, two, b.ours),
            .sqlites = form("CASE %s WHEN %u THEN %s WHEN %u THEN %s END", x.sqlites, one, a.sqlites, two,
                            b.sqlites)};
        break;
    }
    case 10:
        term = rounded(a);
        break;
    case 11:
        rescale_both(&a, &b);
        term = number_pair(a, b);
        break;
    case 12: {
        struct term from, to;
        const enum kind kind = chance(50) ? DATE : STAMP;
        if (!column_term(scope, kind, &from) || !column_term(scope, kind, &to))
            return a;
        term = date_difference(from, to);
        break;
    }
    default: {
        const char *const format = chance(50) ? "abs(%s)" : "(- %s)";
        term = a;
        term.ours = format[0] == 'a' ? form("abs(%s)", a.ours) : form("(- %s)", a.ours);
        term.sqlites = format[0] == 'a' ? form("abs(%s)", a.sqlites) : form("(- %s)", a.sqlites);
    }
    }
    term.inner[0] = term.scale == first.scale ? keep(first) : NULL;
    term.inner[1] = term.scale == second.scale ? keep(second) : NULL;
    return term;
}

/* A column of doubles, or arithmetic with one; false if there is none. */
static inline bool real_term(const struct scope *scope, struct term *term)
{
    struct term b;
    if (!column_term(scope, REAL, term))
        return false;
    if (chance(60))
        return true;
    if (chance(50) || !column_term(scope, REAL, &b))
        b = real_constant();
    switch (below(6)) {
    case 0:
        *term = PAIR(REAL, SCALE_DOUBLE, "(%s + %s)", *term, b);
        break;
    case 1:
        *term = PAIR(REAL, SCALE_DOUBLE, "(%s - %s)", *term, b);
        break;
    case 2:
        *term = PAIR(REAL, SCALE_DOUBLE, "(%s * %s)", *term, b);
        break;
    case 3:
        *term = PAIR(REAL, SCALE_DOUBLE, "(%s / %s)", *term, b);
        break;
    case 4:
        *term = PAIR(REAL, SCALE_DOUBLE, "coalesce(%s, %s)", *term, b);
        break;
    default:
        term->ours = term->sqlites = form("abs(%s)", term->ours);
    }
    return true;
}

static inline struct term string_of(struct term column)
{
    struct term term = column;
    if (chance(40))
        return string_function(column);
    switch (below(6)) {
    case 0:
        term.ours = form("substr(%s, %u, %u)", column.ours, 1 + below(3), 1 + below(4));
        break;
    case 1:
        term.ours = form("upper(%s)", column.ours);
        break;
    case 2:
        term.ours = form("lower(%s)", column.ours);
        break;
    case 3:
        term.ours = form("trim(%s)", column.ours);
        break;
    case 4:
        term.ours = form("substr(lower(%s), %u)", column.ours, 1 + below(4));
        break;
    default:
        term.ours = form("coalesce(%s, 'none')", column.ours);
    }
    term.sqlites = term.ours;
    term.inner[0] = keep(column);
    return term;
}

static inline struct term any_term(const struct scope *scope, uint32_t depth)
{
    const enum kind kind = (enum kind)below(6);
    struct term term;
    if (kind == REAL && real_term(scope, &term))
        return term;
    if (kind == NUMBER || !column_term(scope, kind, &term))
        return number_term(scope, depth);
    if (kind == STRING && chance(30))
        return string_of(term);
    if (kind != DATE || chance(70))
        return term;
    struct term other;
    if (chance(30))
        return date_function(term);
    if (chance(40) && column_term(scope, DATE, &other))
        return PAIR(NUMBER, 0, "(%s - %s)", term, other);
    const uint32_t days = below(40);
    return (struct term){.kind = DATE,
                         .ours = form("(%s + %u)", term.ours, days),
                         .sqlites = form("(%s + %u)", term.sqlites, days)};
}

static inline struct term comparison(const struct scope *scope, uint32_t depth)
{
    static const char *const signs[] = {"=", "<>", "<", "<=", ">", ">="};
    const char *const sign = signs[below(6)];
    const enum kind kind = (enum kind[]){NUMBER, NUMBER, DATE, STAMP, STRING, REAL}[below(6)];
    struct term a, b;
    if (kind == REAL && real_term(scope, &a)) {
        if (chance(60) || !real_term(scope, &b))
            b = real_constant();
    } else if (kind != NUMBER && column_term(scope, kind, &a)) {
        if (kind == STRING && chance(20))
            a = string_of(a);
        if (chance(70) || !column_term(scope, kind, &b))
            b = constant(kind);
    } else {
        a = number_term(scope, depth);
        b = chance(60) ? number_constant() : number_term(scope, depth);
        rescale_both(&a, &b);
    }
    return (struct term){.kind = TRUTH,
                         .ours = form("%s %s %s", a.ours, sign, b.ours),
                         .sqlites = form("%s %s %s", a.sqlites, sign, b.sqlites)};
}

static inline struct term list_test(const struct scope *scope)
{
    const enum kind kind = (enum kind[]){NUMBER, DATE, STRING, REAL}[below(4)];
    const char *const negated = chance(30) ? "NOT " : "";
    struct term value;
    if (!column_term(scope, kind, &value))
        value = number_term(scope, 1);
    const char *ours = "", *sqlites = "";
    for (uint32_t i = 0, count = 1 + below(5); i < count; i++) {
        struct term item = constant(value.kind);
        if (value.kind != REAL && item.scale > value.scale)
            item.ours = item.sqlites = form("%u", below(12)), item.scale = 0;
        rescale(&item, value.scale);
        if (chance(5))
            item.ours = item.sqlites = "NULL";
        ours = form("%s%s%s", ours, i ? ", " : "", item.ours);
        sqlites = form("%s%s%s", sqlites, i ? ", " : "", item.sqlites);
    }
    return (struct term){.kind = TRUTH,
                         .ours = form("%s %sIN (%s)", value.ours, negated, ours),
                         .sqlites = form("%s %sIN (%s)", value.sqlites, negated, sqlites)};
}

static inline struct term between_test(const struct scope *scope, uint32_t depth)
{
    const enum kind kind = (enum kind[]){NUMBER, NUMBER, DATE, STAMP, STRING, REAL}[below(6)];
    const char *const negated = chance(20) ? "NOT " : "";
    struct term a;
    if (kind == NUMBER || !column_term(scope, kind, &a))
        a = number_term(scope, depth);
    struct term b = constant(a.kind), c = constant(a.kind);
    rescale_both(&a, &b);
    rescale_both(&a, &c);
    rescale(&b, a.scale);
    return (struct term){.kind = TRUTH,
                         .ours = form("%s %sBETWEEN %s AND %s", a.ours, negated, b.ours, c.ours),
                         .sqlites = form("%s %sBETWEEN %s AND %s", a.sqlites, negated, b.sqlites, c.sqlites)};
}

static inline struct term like_test(struct term string)
{
    static const char *const patterns[] = {"a%", "%e%",    "_r%",  "MFGR#1_", "%",
                                           "",   "gr__n%", "%''%", "k000_1"};
    const char *const pattern = patterns[below(9)], *const negated = chance(20) ? "NOT " : "";
    string.ours = form("%s %sLIKE '%s'", string.ours, negated, pattern);
    string.sqlites = form("%s %sLIKE '%s'", string.sqlites, negated, pattern);
    string.kind = TRUTH;
    string.inner[0] = NULL;
    return string;
}

/* Tests of one value, joined and negated: sets of ranges, and what each is for NULL. */
static inline struct term one_value_test(const struct term *value, uint32_t depth)
{
    static const char *const signs[] = {"=", "<>", "<", "<=", ">", ">="};
    struct term a, b, term;
    if (depth && chance(60)) {
        a = one_value_test(value, depth - 1);
        b = one_value_test(value, depth - 1);
        term = chance(50) ? PAIR(TRUTH, 0, "(%s AND %s)", a, b) : PAIR(TRUTH, 0, "(%s OR %s)", a, b);
        term.inner[0] = keep(a);
        term.inner[1] = keep(b);
    } else if (chance(40)) {
        const char *const word = chance(50) ? "IS NULL" : "IS NOT NULL";
        term = (struct term){.kind = TRUTH,
                             .ours = form("%s %s", value->ours, word),
                             .sqlites = form("%s %s", value->sqlites, word)};
    } else {
        const char *const sign = signs[below(6)];
        a = *value;
        b = constant(value->kind);
        rescale_both(&a, &b);
        term = (struct term){.kind = TRUTH,
                             .ours = form("%s %s %s", a.ours, sign, b.ours),
                             .sqlites = form("%s %s %s", a.sqlites, sign, b.sqlites)};
    }
    if (chance(30)) {
        term.ours = form("NOT (%s)", term.ours);
        term.sqlites = form("NOT (%s)", term.sqlites);
    }
    return term;
}

static inline struct term truth_term(const struct scope *scope, uint32_t depth)
{
    struct term a, b;
    if (depth > 0 && chance(40)) {
        a = truth_term(scope, depth - 1);
        b = truth_term(scope, depth - 1);
        struct term term =
            chance(50) ? PAIR(TRUTH, 0, "(%s AND %s)", a, b) : PAIR(TRUTH, 0, "(%s OR %s)", a, b);
        if (chance(15)) {
            term.ours = form("NOT %s", term.ours);
            term.sqlites = form("NOT %s", term.sqlites);
        }
        term.inner[0] = keep(a);
        term.inner[1] = keep(b);
        return term;
    }
    switch (below(13)) {
    case 11:
    case 12:
        if (column_term(scope, (enum kind[]){NUMBER, NUMBER, DATE, STRING}[below(4)], &a))
            return one_value_test(&a, 2);
        break;
    case 8:
        return truth_test(truth_term(scope, 0));
    case 9:
        if (!column_term(scope, DATE, &a) || !column_term(scope, DATE, &b)) {
            a = number_term(scope, 1);
            b = number_term(scope, 1);
            rescale_both(&a, &b);
        }
        return distinct_test(a, b);
    case 10:
        if (column_term(scope, STRING, &a))
            return string_test(chance(20) ? string_of(a) : a);
        break;
    case 0:
        if (column_term(scope, TRUTH, &a))
            return a;
        break;
    case 1: {
        const char *const word = chance(50) ? "IS NULL" : "IS NOT NULL";
        a = any_term(scope, 1);
        return (struct term){
            .kind = TRUTH, .ours = form("%s %s", a.ours, word), .sqlites = form("%s %s", a.sqlites, word)};
    }
    case 2:
        return list_test(scope);
    case 3:
        if (column_term(scope, STRING, &a))
            return like_test(chance(20) ? string_of(a) : a);
        break;
    case 4:
        return between_test(scope, depth);
    default:
        break;
    }
    return comparison(scope, depth);
}

#endif
