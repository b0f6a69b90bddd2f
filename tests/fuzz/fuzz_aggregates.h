/*
 * fuzz_aggregates.h: aggregates that SQLite does not have, as functions for SQLite that keep all values of a group and
 * work the result out in long doubles: variances, and quantiles by sorting; and approximations, which are exact about the
 * sketch. And terms of them, for random queries.
 */
#ifndef TESSERA_TESTS_FUZZ_FUZZ_AGGREGATES_H
#define TESSERA_TESTS_FUZZ_FUZZ_AGGREGATES_H

#include "tests/fuzz/fuzz_term.h"

#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>

/* ---- Functions of SQLite ---- */

struct kept_values {
    int64_t *values;
    size_t count;
    int64_t percent; /* of a quantile */
    bool inexact;    /* a number of SQLite became a floating-point one, because it left 64 bits */
};

static inline void kept_step(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct kept_values *const kept = sqlite3_aggregate_context(context, sizeof *kept);
    kept->percent = count < 2 ? 50
                    : sqlite3_value_type(values[1]) == SQLITE_FLOAT
                        ? llround(100 * sqlite3_value_double(values[1]))
                        : sqlite3_value_int64(values[1]);
    if (sqlite3_value_type(values[0]) == SQLITE_NULL)
        return;
    kept->inexact |= sqlite3_value_type(values[0]) != SQLITE_INTEGER;
    if ((kept->count & (kept->count - 1)) == 0)
        kept->values = realloc(kept->values, (kept->count ? 2 * kept->count : 1) * sizeof *kept->values);
    kept->values[kept->count++] = sqlite3_value_int64(values[0]);
}

static inline long double kept_variance(const struct kept_values *kept, bool sample)
{
    const __int128 near =
        kept->count ? kept->values[0] : 0; /* far from 0, close values would lose their distances */
    __int128 sum = 0;
    long double squares = 0;
    for (size_t i = 0; i < kept->count; i++)
        sum += kept->values[i] - near;
    for (size_t i = 0; i < kept->count; i++) {
        const long double distance =
            (long double)(kept->values[i] - near) - (long double)sum / (long double)kept->count;
        squares += distance * distance;
    }
    return squares / (long double)(kept->count - sample);
}

static inline int compare_kept(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static inline long double kept_quantile(const struct kept_values *kept)
{
    const long double place = (long double)(kept->percent * (int64_t)(kept->count - 1)) / 100;
    const size_t below_it = (size_t)place, above = below_it + 1 < kept->count ? below_it + 1 : below_it;
    const long double low = (long double)kept->values[below_it], high = (long double)kept->values[above];
    return low + (high - low) * (place - (long double)below_it);
}

/* A value leaves a window's frame. */
static inline void kept_inverse(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct kept_values *const kept = sqlite3_aggregate_context(context, sizeof *kept);
    size_t place = 0;
    (void)count;
    if (sqlite3_value_type(values[0]) == SQLITE_NULL)
        return;
    while (kept->values[place] != sqlite3_value_int64(values[0]))
        place++;
    kept->values[place] = kept->values[--kept->count];
}

/* The middle of the value's bucket: of those that have its first nine binary digits. */
static inline int64_t kept_middle(int64_t value)
{
    const uint64_t magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value;
    uint64_t width = 1;
    while (magnitude / width >= 512)
        width *= 2;
    const uint64_t middle = magnitude / width * width + (width - 1) / 2;
    return (int64_t)(value < 0 ? -middle : middle);
}

static inline int64_t kept_bucket(const struct kept_values *kept)
{
    const size_t rank = (kept->count * (size_t)kept->percent + 99) / 100, place = rank ? rank - 1 : 0;
    const int64_t low = kept->values[0], high = kept->values[kept->count - 1],
                  middle = kept_middle(kept->values[place]);
    return place == 0                 ? low
           : place == kept->count - 1 ? high
           : middle < low             ? low
           : middle > high            ? high
                                      : middle;
}

/* HyperLogLog with all its registers, and Ertl's estimate of them. */
static inline int64_t kept_distinct(const struct kept_values *kept)
{
    static unsigned char registers[4096];
    double histogram[54] = {0}, z, power = 1, sum, before = -1;
    memset(registers, 0, sizeof registers);
    for (size_t i = 0; i < kept->count; i++) {
        uint64_t hash = (uint64_t)kept->values[i] ^ 0x9e3779b97f4a7c15u;
        hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccdu;
        hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53u;
        hash ^= hash >> 33;
        unsigned char rank = 1;
        for (uint64_t rest = hash << 12; rank < 53 && !(rest >> 63); rest <<= 1)
            rank++;
        unsigned char *const at = &registers[hash >> 52];
        *at = rank > *at ? rank : *at;
    }
    for (size_t r = 0; r < 4096; r++)
        histogram[registers[r]]++;
    if (histogram[0] == 4096)
        return 0;
    z = 0; /* no register of a fuzzer's few values has the greatest rank */
    for (int rank = 52; rank > 0; rank--)
        z = (z + histogram[rank]) / 2;
    sum = histogram[0] / 4096;
    for (double x = sum; sum != before; power *= 2) {
        before = sum;
        x *= x;
        sum += x * power;
    }
    return llround(4096.0 * 4096.0 / (2 * log(2.0) * (z + 4096 * sum)));
}

/* The function's name is its user data. */
static inline void kept_value(sqlite3_context *context)
{
    static const char *const names[] = {"var_pop", "var_samp", "stddev_pop", "stddev_samp"};
    struct kept_values *const kept = sqlite3_aggregate_context(context, sizeof *kept);
    const char *const name = sqlite3_user_data(context);
    bool spread = false;
    for (size_t n = 0; n < 4; n++)
        spread |= strcmp(name, names[n]) == 0;
    const bool sample = spread && strstr(name, "samp");
    if (kept->count)
        qsort(kept->values, kept->count, sizeof *kept->values, compare_kept);
    if (kept->inexact) {
        sqlite3_result_error(context, "a value left 64 bits", -1);
    } else if (strncmp(name, "bit_", 4) == 0) {
        int64_t bits = kept->count ? kept->values[0] : 0;
        for (size_t i = 1; i < kept->count; i++)
            bits = name[4] == 'a'   ? bits & kept->values[i]
                   : name[4] == 'o' ? bits | kept->values[i]
                                    : bits ^ kept->values[i];
        if (kept->count)
            sqlite3_result_int64(context, bits);
        else
            sqlite3_result_null(context);
    } else if (strcmp(name, "approx_count_distinct") == 0) {
        sqlite3_result_int64(context, kept_distinct(kept));
    } else if (kept->count <= (size_t)sample) {
        sqlite3_result_null(context);
    } else if (spread) {
        const long double variance = kept_variance(kept, sample);
        sqlite3_result_double(context, (double)(name[0] == 's' ? sqrtl(variance) : variance));
    } else if (strcmp(name, "approx_quantile") == 0) {
        sqlite3_result_int64(context, kept_bucket(kept));
    } else if (strcmp(name, "quantile_disc") == 0) {
        const size_t place = (kept->count * (size_t)kept->percent + 99) / 100;
        sqlite3_result_int64(context, kept->values[place ? place - 1 : 0]);
    } else {
        sqlite3_result_double(context, (double)kept_quantile(kept));
    }
}

static inline void kept_final(sqlite3_context *context)
{
    struct kept_values *const kept = sqlite3_aggregate_context(context, sizeof *kept);
    kept_value(context);
    free(kept->values);
    *kept = (struct kept_values){0};
}

static inline void make_functions(sqlite3 *sqlite)
{
    static const struct {
        const char *name;
        int arguments;
    } functions[] = {{"var_pop", 1},
                     {"var_samp", 1},
                     {"stddev_pop", 1},
                     {"stddev_samp", 1},
                     {"median", 1},
                     {"quantile_cont", 2},
                     {"quantile_disc", 2},
                     {"bit_and", 1},
                     {"bit_or", 1},
                     {"bit_xor", 1},
                     {"approx_count_distinct", 1},
                     {"approx_quantile", 2}};
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++)
        assert_int_equal(sqlite3_create_window_function(sqlite, functions[f].name, functions[f].arguments,
                                                        SQLITE_UTF8, (void *)functions[f].name, kept_step,
                                                        kept_final, kept_value, kept_inverse, NULL),
                         SQLITE_OK);
}

/* ---- Terms ---- */

/* A variance of a number of few digits. */
static inline struct term spread_term(const struct scope *scope)
{
    static const char *const names[] = {"var_pop", "var_samp", "stddev_pop", "stddev_samp"};
    const uint32_t which = below(4);
    const struct term value = number_term(scope, 1);
    struct term term = {.kind = NUMBER};
    if (value.scale > 4)
        return (struct term){.kind = NUMBER, .ours = "count(*)", .sqlites = "count(*)"};
    term.scale = (uint8_t)(SCALE_DOUBLE + (which < 2 ? 2u * value.scale : value.scale));
    term.ours = form("%s(%s)",
                     which == 1 && chance(50)   ? "variance"
                     : which == 3 && chance(50) ? "stddev"
                                                : names[which],
                     value.ours);
    term.sqlites = form("%s(%s)", names[which], value.sqlites);
    return term;
}

/* An aggregate that needs all values of a group. */
static inline struct term values_term(const struct scope *scope)
{
    const struct term value = number_term(scope, 1);
    struct term term = {.kind = NUMBER, .scale = value.scale};
    static const char *const bits[] = {"bit_and", "bit_or", "bit_xor"};
    const uint32_t which = below(value.scale ? 7 : 9);
    if (which >= 7) {
        const char *const name = bits[below(3)];
        return (struct term){.kind = NUMBER,
                             .ours = form("%s(%s)", name, value.ours),
                             .sqlites = form("%s(%s)", name, value.sqlites)};
    }
    if (which == 5)
        return (struct term){.kind = NUMBER,
                             .ours = form("approx_count_distinct(%s)", value.ours),
                             .sqlites = form("approx_count_distinct(%s)", value.sqlites)};
    if (which < 2) {
        const char *const name = which ? "avg" : "sum";
        term.ours = form("%s(DISTINCT %s)", name, value.ours);
        term.sqlites = form("%s(DISTINCT %s)", name, value.sqlites);
        term.scale = (uint8_t)(value.scale + (which ? SCALE_DOUBLE : 0));
        return term;
    }
    const uint32_t percent = below(101);
    const char *const name = which == 2 ? "quantile_disc" : "quantile_cont", *const fraction = form(
                                                                                 "%u.%02u", percent / 100,
                                                                                 percent % 100);
    if (which == 6) {
        term.ours = form("approx_quantile(%s, %u.%02u)", value.ours, percent / 100, percent % 100);
        term.sqlites = form("approx_quantile(%s, %u)", value.sqlites, percent);
        return term;
    }
    term.scale = (uint8_t)(value.scale + (which == 2 ? 0 : SCALE_DOUBLE));
    term.ours = chance(50)   ? form("%s(%s, %s)", name, value.ours, fraction)
                : which == 2 ? form("percentile_disc(%s) WITHIN GROUP (ORDER BY %s)", fraction, value.ours)
                             : form("percentile_cont(%s) WITHIN GROUP (ORDER BY %s)", fraction, value.ours);
    term.sqlites = form("%s(%s, %u)", name, value.sqlites, percent);
    return term;
}

static inline struct term truth_aggregate(const struct scope *scope)
{
    const struct term value = truth_term(scope, 1);
    switch (below(3)) {
    case 0:
        return (struct term){.kind = NUMBER,
                             .ours = form("count_if(%s)", value.ours),
                             .sqlites = form("count(CASE WHEN %s THEN 1 END)", value.sqlites)};
    case 1:
        return (struct term){.kind = TRUTH,
                             .ours = form("bool_and(%s)", value.ours),
                             .sqlites = form("min(NOT NOT (%s))", value.sqlites)};
    default:
        return (struct term){.kind = TRUTH,
                             .ours = form("bool_or(%s)", value.ours),
                             .sqlites = form("max(NOT NOT (%s))", value.sqlites)};
    }
}

/* The aggregate over the rows in which a condition is true. */
static inline struct term filtered(const struct scope *scope, struct term aggregate)
{
    const struct term condition = truth_term(scope, 1);
    aggregate.ours = form("%s FILTER (WHERE %s)", aggregate.ours, condition.ours);
    aggregate.sqlites = form("%s FILTER (WHERE %s)", aggregate.sqlites, condition.sqlites);
    return aggregate;
}

#endif
