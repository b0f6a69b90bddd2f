/* tile_codes.c: see tile_codes.h. */
#include "engine/plan/tiles/tile_codes.h"

#include "storage/base/memory.h"

#include <stdlib.h>

/* Fewer tiles are tested one by one in no time. */
#define TILES_LEAST 2048u

static uint64_t words_of(const struct table *table)
{
    uint64_t words = 0;
    for (uint32_t s = 0; s < table->segment_count; s++)
        words += tile_group_count(table, s);
    return words;
}

/* The bits of a position below its code. */
static uint32_t code_shift(const struct column *key)
{
    const uint64_t last = table_positions(key->references->table) - 1;
    const uint32_t bits = last ? 64 - (uint32_t)__builtin_clzll(last) : 0;
    return bits > TILE_CODE_BITS ? bits - TILE_CODE_BITS : 0;
}

/* Bit c: values between the two may have code c. */
static uint64_t codes_between(int64_t low, int64_t high, uint32_t shift)
{
    if (low > high || high < 0)
        return 0;
    const uint64_t first = low < 0 ? 0 : (uint64_t)low >> shift, last = (uint64_t)high >> shift;
    if (first >= TILE_CODES)
        return 0;
    const uint64_t upto = last >= TILE_CODES - 1 ? UINT64_MAX : (UINT64_C(2) << last) - 1;
    return upto & UINT64_MAX << first;
}

/* Bit j of word i becomes bit i of word j. */
static void transpose(uint64_t words[64])
{
    uint64_t mask = UINT32_MAX;
    for (uint32_t step = 32; step; step >>= 1, mask ^= mask << step)
        for (uint32_t i = 0; i < 64; i = (i + step + 1) & ~step) {
            const uint64_t swap = (words[i] >> step ^ words[i + step]) & mask;
            words[i] ^= swap << step;
            words[i + step] ^= swap;
        }
}

/* Writes the words of a group of 64 tiles, one for each code. */
static void make_group(const int64_t *min_max, uint32_t tiles, uint32_t shift, uint64_t *to, uint64_t stride)
{
    uint64_t words[64] = {0};
    for (uint32_t t = 0; t < tiles; t++)
        words[t] = codes_between(min_max[2 * (size_t)t], min_max[2 * (size_t)t + 1], shift);
    transpose(words);
    for (uint32_t code = 0; code < TILE_CODES; code++)
        to[code * stride] = words[code];
}

static enum status make(const struct table *table, const struct column_data *data, struct kept_array *made,
                        struct error *error)
{
    const uint64_t stride = words_of(table);
    const uint32_t shift = code_shift(data->column);
    uint64_t *words, group = 0;
    made->value_bytes = sizeof *words;
    made->bytes = TILE_CODES * stride * sizeof *words;
    RETURN_IF_ERROR(memory_take(&words, made->bytes, "the tiles of a column", error));
    for (uint32_t s = 0; s < table->segment_count; s++) {
        const uint32_t tiles = (table->segment_rows[s] + TILE_ROWS - 1) / TILE_ROWS;
        for (uint32_t first = 0; first < tiles; first += 64, group++)
            make_group(data->segments[s].tile_min_max + 2 * (size_t)first,
                       tiles - first < 64 ? tiles - first : 64, shift, words + group, stride);
    }
    made->values = words;
    return STATUS_OK;
}

/* The codes that members of the set have. */
static uint64_t codes_of(const struct position_set *set, uint32_t shift)
{
    uint64_t codes = 0;
    for (uint32_t code = 0; code < TILE_CODES; code++) {
        const int64_t first = (int64_t)code << shift, last = first + ((INT64_C(1) << shift) - 1);
        codes |= (uint64_t)position_set_meets(set, first, last) << code;
    }
    return codes;
}

enum status tile_codes_find(struct database *database, const struct table *table, struct tile_test *test,
                            const struct kept_array **kept, struct error *error)
{
    const struct column *const key = test->data->column;
    struct kept_array made = {.key = array_key_of(NULL, key, ARRAY_TILES)};
    *kept = NULL;
    if (!test->set || !key->references || key->memory || table->rows < TILES_LEAST * (uint64_t)TILE_ROWS ||
        !tile_test_may_skip(test, table))
        return STATUS_OK;
    const uint32_t shift = code_shift(key);
    *kept = kept_array_find(database, &made.key);
    if (!*kept) {
        RETURN_IF_ERROR(make(table, test->data, &made, error));
        RETURN_IF_ERROR(kept_array_add(database, &made, kept, error));
    }
    test->codes = (*kept)->values;
    test->code_stride = words_of(table);
    test->code_set = codes_of(test->set, shift);
    test->code_exact = test->set->shift >= shift && test->low == INT64_MIN && test->high == INT64_MAX;
    return STATUS_OK;
}
