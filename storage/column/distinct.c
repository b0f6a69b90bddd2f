/* distinct.c: counts different values, exactly or with HyperLogLog; see statistics.h. */
#include "storage/base/hash.h"
#include "storage/column/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REGISTER_BITS 14u
#define REGISTERS     (1u << REGISTER_BITS)
#define RANK_MAX      (64u - REGISTER_BITS + 1u)

static void register_value(uint8_t *registers, int64_t value)
{
    uint64_t hashed = hash_mix((uint64_t)value);
    uint8_t *place = &registers[hashed >> (64 - REGISTER_BITS)];
    uint8_t rank = (uint8_t)(__builtin_clzll(hashed << REGISTER_BITS | 1ull << (REGISTER_BITS - 1)) + 1);
    if (rank > *place)
        *place = rank;
}

static enum status allocate(uint8_t **bytes, uint64_t size, struct error *error)
{
    *bytes = calloc(size, 1);
    return *bytes ? STATUS_OK : error_out_of_memory(error, size, "the count of a column's distinct values");
}

enum status distinct_take(struct distinct *distinct, const void *values, uint32_t value_bytes, uint32_t rows,
                          int64_t min, int64_t max, struct error *error)
{
    *distinct = (struct distinct){0};
    if (rows == 0)
        return STATUS_OK;
    const int32_t *narrow = values;
    const int64_t *wide = values;
    uint64_t span = (uint64_t)max - (uint64_t)min;
    if (span < DISTINCT_SPAN_MAX) {
        RETURN_IF_ERROR(allocate(&distinct->seen, span + 1, error));
        distinct->base = min;
        distinct->span = span + 1;
        uint8_t *seen = distinct->seen;
        if (value_bytes == 4)
            for (uint32_t r = 0; r < rows; r++)
                seen[narrow[r] - min] = 1;
        else
            for (uint32_t r = 0; r < rows; r++)
                seen[wide[r] - min] = 1;
        return STATUS_OK;
    }
    RETURN_IF_ERROR(allocate(&distinct->registers, REGISTERS, error));
    if (value_bytes == 4)
        for (uint32_t r = 0; r < rows; r++)
            register_value(distinct->registers, narrow[r]);
    else
        for (uint32_t r = 0; r < rows; r++)
            register_value(distinct->registers, wide[r]);
    return STATUS_OK;
}

/* Turns an exact set into a HyperLogLog of the same values. */
static enum status to_registers(struct distinct *distinct, struct error *error)
{
    if (distinct->registers)
        return STATUS_OK;
    RETURN_IF_ERROR(allocate(&distinct->registers, REGISTERS, error));
    for (uint64_t v = 0; v < distinct->span; v++)
        if (distinct->seen[v])
            register_value(distinct->registers, (int64_t)((uint64_t)distinct->base + v));
    free(distinct->seen);
    distinct->seen = NULL;
    distinct->span = 0;
    return STATUS_OK;
}

/* Makes room for base .. base + span - 1, which includes the present range. */
static enum status widen(struct distinct *distinct, int64_t base, uint64_t span, struct error *error)
{
    if (span == distinct->span)
        return STATUS_OK;
    uint8_t *seen;
    RETURN_IF_ERROR(allocate(&seen, span, error));
    memcpy(seen + ((uint64_t)distinct->base - (uint64_t)base), distinct->seen, distinct->span);
    free(distinct->seen);
    distinct->seen = seen;
    distinct->base = base;
    distinct->span = span;
    return STATUS_OK;
}

enum status distinct_merge(struct distinct *into, struct distinct *from, struct error *error)
{
    if (!from->span && !from->registers)
        return STATUS_OK;
    if (!into->span && !into->registers) {
        *into = *from;
        *from = (struct distinct){0};
        return STATUS_OK;
    }
    if (into->span && from->span) {
        int64_t into_last = into->base + (int64_t)(into->span - 1),
                from_last = from->base + (int64_t)(from->span - 1);
        int64_t base = into->base < from->base ? into->base : from->base;
        int64_t last = into_last > from_last ? into_last : from_last;
        uint64_t span = (uint64_t)last - (uint64_t)base;
        if (span < DISTINCT_SPAN_MAX) {
            RETURN_IF_ERROR(widen(into, base, span + 1, error));
            uint8_t *seen = into->seen + ((uint64_t)from->base - (uint64_t)base);
            for (uint64_t v = 0; v < from->span; v++)
                seen[v] |= from->seen[v];
            distinct_free(from);
            return STATUS_OK;
        }
    }
    RETURN_IF_ERROR(to_registers(into, error));
    RETURN_IF_ERROR(to_registers(from, error));
    for (uint32_t i = 0; i < REGISTERS; i++)
        into->registers[i] =
            into->registers[i] > from->registers[i] ? into->registers[i] : from->registers[i];
    distinct_free(from);
    return STATUS_OK;
}

/* Ertl's sigma and tau: the contributions of registers that are still 0 and of registers that are full. */
double distinct_sigma(double x)
{
    if (x == 1.0)
        return INFINITY;
    double y = 1.0, z = x, before;
    do {
        x *= x;
        before = z;
        z += x * y;
        y += y;
    } while (z != before);
    return z;
}

double distinct_tau(double x)
{
    if (x == 0.0 || x == 1.0)
        return 0.0;
    double y = 1.0, z = 1.0 - x, before;
    do {
        x = sqrt(x);
        before = z;
        y *= 0.5;
        z -= (1.0 - x) * (1.0 - x) * y;
    } while (z != before);
    return z / 3.0;
}

static uint64_t estimate(const uint8_t *registers)
{
    uint32_t counts[RANK_MAX + 1] = {0};
    for (uint32_t i = 0; i < REGISTERS; i++)
        counts[registers[i]]++;
    const double m = REGISTERS;
    double z = m * distinct_tau(1.0 - counts[RANK_MAX] / m);
    for (uint32_t rank = RANK_MAX - 1; rank >= 1; rank--)
        z = 0.5 * (z + counts[rank]);
    z += m * distinct_sigma(counts[0] / m);
    return (uint64_t)(m * m / (2.0 * log(2.0)) / z + 0.5);
}

uint64_t distinct_count(const struct distinct *distinct)
{
    if (distinct->registers)
        return estimate(distinct->registers);
    uint64_t count = 0;
    for (uint64_t v = 0; v < distinct->span; v++)
        count += distinct->seen[v];
    return count;
}

void distinct_free(struct distinct *distinct)
{
    free(distinct->seen);
    free(distinct->registers);
    *distinct = (struct distinct){0};
}
