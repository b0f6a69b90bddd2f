/* level_codes.c: see level_codes.h. */
#include "storage/database/levels/level_codes.h"

#include "storage/base/memory.h"
#include "storage/column/column.h"

#include <stdlib.h>
#include <string.h>

/* Values within so small a span have their ranks in an array: 4 MB. */
#define SPAN_MAX (1u << 20)

/* Slots of a hash table of values: at most a quarter full. */
#define SLOT_BITS 18u

/* Fibonacci hashing, as in loader/table/key_index.c. */
static uint64_t slot_of(uint64_t key, uint32_t bits)
{
    return key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - bits);
}

static bool has_value(const struct level_values *column, uint64_t row)
{
    return !column->validity || row_valid(column->validity, row);
}

/* ---- Codes ---- */

void level_codes_free(struct level_codes *codes)
{
    free(codes->codes);
    *codes = (struct level_codes){0};
}

struct span {
    int64_t min, max; /* min > max: no row has a value */
    bool nulls;
};

static struct span span_of(const struct level_values *column)
{
    struct span span = {.min = INT64_MAX, .max = INT64_MIN};
    for (uint64_t r = 0; r < column->rows; r++) {
        if (!has_value(column, r)) {
            span.nulls = true;
            continue;
        }
        const int64_t value = row_value(column->values, column->value_bytes, r);
        span.min = value < span.min ? value : span.min;
        span.max = value > span.max ? value : span.max;
    }
    return span;
}

/* Values that lie close together: their ranks in an array. */
static enum status codes_direct(const struct level_values *column, const struct span *span,
                                struct level_codes *codes, struct error *error)
{
    const uint64_t places = (uint64_t)span->max - (uint64_t)span->min + 1;
    uint32_t *ranks, count = span->nulls;
    RETURN_IF_ERROR(memory_zeros(&ranks, places * sizeof *ranks, "levels", error));
    for (uint64_t r = 0; r < column->rows; r++)
        if (has_value(column, r))
            ranks[row_value(column->values, column->value_bytes, r) - span->min] = 1;
    for (uint64_t p = 0; p < places; p++)
        if (ranks[p])
            ranks[p] = count++;
    for (uint64_t r = 0; r < column->rows && count <= LEVEL_VALUES_MAX; r++)
        codes->codes[r] = has_value(column, r)
                              ? (uint16_t)ranks[row_value(column->values, column->value_bytes, r) - span->min]
                              : 0;
    codes->count = count <= LEVEL_VALUES_MAX ? count : 0;
    free(ranks);
    return STATUS_OK;
}

struct value_slot {
    int64_t value;
    uint32_t rank; /* of the value, + 1; 0: the slot is free */
};

static struct value_slot *find_slot(struct value_slot *slots, int64_t value)
{
    uint64_t at = slot_of((uint64_t)value, SLOT_BITS);
    while (slots[at].rank && slots[at].value != value)
        at = (at + 1) & ((1u << SLOT_BITS) - 1);
    return &slots[at];
}

static int compare_values(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

/* Gathers the different values; false once there are too many. */
static bool gather_values(const struct level_values *column, struct value_slot *slots, uint32_t most,
                          int64_t *values, uint32_t *count)
{
    for (uint64_t r = 0; r < column->rows; r++) {
        if (!has_value(column, r))
            continue;
        const int64_t value = row_value(column->values, column->value_bytes, r);
        struct value_slot *const slot = find_slot(slots, value);
        if (slot->rank)
            continue;
        if (*count == most)
            return false;
        *slot = (struct value_slot){.value = value, .rank = 1};
        values[(*count)++] = value;
    }
    return true;
}

static enum status codes_hashed(const struct level_values *column, const struct span *span,
                                struct level_codes *codes, struct error *error)
{
    struct value_slot *slots;
    int64_t *values;
    uint32_t count = 0;
    RETURN_IF_ERROR(memory_zeros(&slots, sizeof *slots << SLOT_BITS, "levels", error));
    enum status status = memory_take(&values, LEVEL_VALUES_MAX * sizeof *values, "levels", error);
    if (status == STATUS_OK && gather_values(column, slots, LEVEL_VALUES_MAX - span->nulls, values, &count)) {
        qsort(values, count, sizeof *values, compare_values);
        for (uint32_t v = 0; v < count; v++)
            find_slot(slots, values[v])->rank = v + 1;
        for (uint64_t r = 0; r < column->rows; r++)
            codes->codes[r] =
                has_value(column, r)
                    ? (uint16_t)(find_slot(slots, row_value(column->values, column->value_bytes, r))->rank -
                                 1 + span->nulls)
                    : 0;
        codes->count = count + span->nulls;
    }
    free(values);
    free(slots);
    return status;
}

enum status level_codes_make(const struct level_values *column, struct level_codes *codes,
                             struct error *error)
{
    const struct span span = span_of(column);
    *codes = (struct level_codes){0};
    if (column->rows == 0)
        return STATUS_OK;
    RETURN_IF_ERROR(memory_zeros(&codes->codes, column->rows * sizeof *codes->codes, "levels", error));
    enum status status = STATUS_OK;
    if (span.min > span.max)
        codes->count = 1; /* nothing but NULLs: all codes are 0 */
    else if ((uint64_t)span.max - (uint64_t)span.min < SPAN_MAX)
        status = codes_direct(column, &span, codes, error);
    else
        status = codes_hashed(column, &span, codes, error);
    if (codes->count == 0)
        level_codes_free(codes);
    return status;
}

/* ---- Groups ---- */

void level_groups_free(struct level_groups *groups)
{
    free(groups->of_row);
    free(groups->parent);
    *groups = (struct level_groups){0};
}

/* A group is made of its parent and a code; the pair is a number below `pairs`. */
struct pairing {
    const struct level_groups *parents;
    const struct level_codes *codes;
    uint64_t rows, pairs;
};

static uint64_t pair_of(const struct pairing *pairing, uint64_t row)
{
    const uint64_t parent = pairing->parents ? pairing->parents->of_row[row] : 0;
    return parent * pairing->codes->count + pairing->codes->codes[row];
}

static enum status group_direct(const struct pairing *pairing, struct level_groups *groups,
                                struct error *error)
{
    uint32_t *numbers, count = 0;
    RETURN_IF_ERROR(memory_zeros(&numbers, pairing->pairs * sizeof *numbers, "levels", error));
    for (uint64_t r = 0; r < pairing->rows; r++)
        numbers[pair_of(pairing, r)] = 1;
    for (uint64_t p = 0; p < pairing->pairs; p++)
        count += numbers[p];
    enum status status = STATUS_OK;
    if (count <= LEAVES_MAX)
        status = memory_take(&groups->parent, count * sizeof *groups->parent, "levels", error);
    if (groups->parent) {
        for (uint64_t p = 0; p < pairing->pairs; p++)
            if (numbers[p]) {
                groups->parent[groups->count] = (uint32_t)(p / pairing->codes->count);
                numbers[p] = groups->count++;
            }
        for (uint64_t r = 0; r < pairing->rows; r++)
            groups->of_row[r] = numbers[pair_of(pairing, r)];
    }
    free(numbers);
    return status;
}

/* The hash table grows with the pairs, and is at most half full. */
struct pair_table {
    uint64_t *slots; /* a pair + 1; 0: free */
    uint32_t *numbers;
    uint32_t bits, count;
};

static uint64_t find_pair(const struct pair_table *table, uint64_t pair)
{
    uint64_t at = slot_of(pair, table->bits);
    while (table->slots[at] && table->slots[at] != pair + 1)
        at = (at + 1) & ((UINT64_C(1) << table->bits) - 1);
    return at;
}

static enum status grow_pairs(struct pair_table *table, struct error *error)
{
    const struct pair_table before = *table;
    table->bits = before.bits ? before.bits + 2 : 12;
    table->slots = calloc(UINT64_C(1) << table->bits, sizeof *table->slots);
    if (!table->slots) {
        *table = before;
        return error_out_of_memory(error, 32ull << before.bits, "levels");
    }
    for (uint64_t s = 0; before.bits && s < UINT64_C(1) << before.bits; s++)
        if (before.slots[s])
            table->slots[find_pair(table, before.slots[s] - 1)] = before.slots[s];
    free(before.slots);
    return STATUS_OK;
}

static int compare_pairs(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

static enum status gather_pairs(const struct pairing *pairing, struct pair_table *table, struct error *error)
{
    for (uint64_t r = 0; r < pairing->rows && table->count <= LEAVES_MAX; r++) {
        const uint64_t pair = pair_of(pairing, r);
        if (2ull * table->count >= UINT64_C(1) << table->bits || !table->bits)
            RETURN_IF_ERROR(grow_pairs(table, error));
        uint64_t *const slot = &table->slots[find_pair(table, pair)];
        table->count += *slot == 0;
        *slot = pair + 1;
    }
    return STATUS_OK;
}

static enum status number_pairs(const struct pairing *pairing, struct pair_table *table, uint64_t *sorted,
                                struct level_groups *groups, struct error *error)
{
    uint32_t found = 0;
    RETURN_IF_ERROR(memory_take(&table->numbers, sizeof *table->numbers << table->bits, "levels", error));
    RETURN_IF_ERROR(memory_take(&groups->parent, table->count * sizeof *groups->parent, "levels", error));
    for (uint64_t s = 0; s < UINT64_C(1) << table->bits; s++)
        if (table->slots[s])
            sorted[found++] = table->slots[s] - 1;
    qsort(sorted, found, sizeof *sorted, compare_pairs);
    for (uint32_t g = 0; g < found; g++) {
        groups->parent[g] = (uint32_t)(sorted[g] / pairing->codes->count);
        table->numbers[find_pair(table, sorted[g])] = g;
    }
    for (uint64_t r = 0; r < pairing->rows; r++)
        groups->of_row[r] = table->numbers[find_pair(table, pair_of(pairing, r))];
    groups->count = found;
    return STATUS_OK;
}

static enum status group_hashed(const struct pairing *pairing, struct level_groups *groups,
                                struct error *error)
{
    struct pair_table table = {0};
    uint64_t *sorted = NULL;
    enum status status = gather_pairs(pairing, &table, error);
    if (status == STATUS_OK && table.count <= LEAVES_MAX) {
        status = memory_take(&sorted, table.count * sizeof *sorted, "levels", error);
        status = AND_THEN(status, number_pairs(pairing, &table, sorted, groups, error));
    }
    free(sorted);
    free(table.numbers);
    free(table.slots);
    return status;
}

enum status level_groups_make(const struct level_groups *parents, const struct level_codes *codes,
                              uint64_t rows, struct level_groups *groups, struct error *error)
{
    const struct pairing pairing = {.parents = parents,
                                    .codes = codes,
                                    .rows = rows,
                                    .pairs = (parents ? parents->count : 1ull) * codes->count};
    *groups = (struct level_groups){0};
    if (rows == 0 || pairing.pairs == 0)
        return STATUS_OK;
    RETURN_IF_ERROR(memory_take(&groups->of_row, rows * sizeof *groups->of_row, "levels", error));
    const enum status status =
        (pairing.pairs <= SPAN_MAX || pairing.pairs <= 2 * rows ? group_direct : group_hashed)(&pairing,
                                                                                               groups, error);
    if (groups->count == 0)
        level_groups_free(groups);
    return status;
}
