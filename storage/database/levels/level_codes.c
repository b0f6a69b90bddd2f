/* level_codes.c: see level_codes.h. */
#include "storage/database/levels/level_codes.h"

#include "storage/base/hash_table.h"
#include "storage/base/memory.h"
#include "storage/base/sort/sort.h"
#include "storage/column/column.h"

#include <stdlib.h>
#include <string.h>

/* Values within so small a span have their ranks in an array: 4 MB. */
#define SPAN_MAX (1u << 20)

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

/* Gathers the different values, unless there are more than `most`. */
static enum status gather_values(const struct level_values *column, uint64_t most, struct hash_words *found,
                                 struct error *error)
{
    for (uint64_t r = 0; r < column->rows && found->table.count <= most; r++)
        if (has_value(column, r))
            RETURN_IF_ERROR(
                hash_words_add(found, (uint64_t)row_value(column->values, column->value_bytes, r), error));
    return STATUS_OK;
}

/* The rank of each word in ascending order, as signed numbers. */
static enum status rank_words(const struct hash_words *found, int64_t **sorted, uint32_t **ranks,
                              struct error *error)
{
    const uint64_t count = found->table.count;
    RETURN_IF_ERROR(memory_take(sorted, (count + 1) * sizeof **sorted, "levels", error));
    RETURN_IF_ERROR(memory_take(ranks, (count + 1) * sizeof **ranks, "levels", error));
    memcpy(*sorted, found->words, count * sizeof **sorted);
    sort_integers(*sorted, count);
    for (uint64_t v = 0; v < count; v++)
        (*ranks)[hash_words_find(found, (uint64_t)(*sorted)[v])] = (uint32_t)v;
    return STATUS_OK;
}

static enum status codes_hashed(const struct level_values *column, const struct span *span,
                                struct level_codes *codes, struct error *error)
{
    struct hash_words found = {0};
    int64_t *sorted = NULL;
    uint32_t *ranks = NULL;
    enum status status = gather_values(column, LEVEL_VALUES_MAX - span->nulls, &found, error);
    if (status == STATUS_OK && found.table.count <= LEVEL_VALUES_MAX - span->nulls) {
        status = rank_words(&found, &sorted, &ranks, error);
        for (uint64_t r = 0; status == STATUS_OK && r < column->rows; r++)
            codes->codes[r] =
                has_value(column, r)
                    ? (uint16_t)(ranks[hash_words_find(
                                     &found, (uint64_t)row_value(column->values, column->value_bytes, r))] +
                                 span->nulls)
                    : 0;
        codes->count = (uint32_t)found.table.count + span->nulls;
    }
    free(sorted);
    free(ranks);
    hash_words_free(&found);
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

static enum status number_pairs(const struct pairing *pairing, const struct hash_words *found,
                                struct level_groups *groups, struct error *error)
{
    const uint64_t count = found->table.count;
    int64_t *sorted = NULL;
    uint32_t *ranks = NULL;
    enum status status = rank_words(found, &sorted, &ranks, error);
    if (status == STATUS_OK)
        status = memory_take(&groups->parent, count * sizeof *groups->parent, "levels", error);
    if (status == STATUS_OK) {
        for (uint64_t g = 0; g < count; g++)
            groups->parent[g] = (uint32_t)((uint64_t)sorted[g] / pairing->codes->count);
        for (uint64_t r = 0; r < pairing->rows; r++)
            groups->of_row[r] = ranks[hash_words_find(found, pair_of(pairing, r))];
        groups->count = (uint32_t)count;
    }
    free(sorted);
    free(ranks);
    return status;
}

static enum status group_hashed(const struct pairing *pairing, struct level_groups *groups,
                                struct error *error)
{
    struct hash_words found = {0};
    enum status status = STATUS_OK;
    for (uint64_t r = 0; status == STATUS_OK && r < pairing->rows && found.table.count <= LEAVES_MAX; r++)
        status = hash_words_add(&found, pair_of(pairing, r), error);
    if (status == STATUS_OK && found.table.count <= LEAVES_MAX)
        status = number_pairs(pairing, &found, groups, error);
    hash_words_free(&found);
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
