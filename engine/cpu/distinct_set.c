/* distinct_set.c: see distinct_set.h. */
#include "engine/cpu/distinct_set.h"

#include <stdlib.h>
#include <string.h>

/* The most bits of a thread's bitmap: 64 for each row of the fact table, but at least 2^20 and at most 2^27
 * (16 MB). Larger bitmaps are not worth clearing, so these values are hashed. */
#define BITS_MAX    (UINT64_C(1) << 27)
#define BITS_ALWAYS (UINT64_C(1) << 20)
#define BITS_A_ROW  64u

void distinct_pairs_layout(const struct plan *plan, struct group_layout *pairs)
{
    if (plan->shape == PLAN_HASH)
        group_layout_make(pairs, NULL, 0, plan->key_words + 1, plan->key_words);
    else
        group_layout_make(pairs, NULL, 0, 2, 2);
}

enum status distinct_set_open(const struct plan *plan, uint32_t aggregate, const struct group_layout *pairs,
                              struct distinct_set *set, struct error *error)
{
    const struct plan_aggregate *of = &plan->aggregates[aggregate];
    const uint64_t last = of->low > of->high ? 0 : (uint64_t)of->high - (uint64_t)of->low;
    const uint64_t rows = plan->fact->rows < BITS_MAX ? plan->fact->rows * BITS_A_ROW : BITS_MAX,
                   most = rows < BITS_ALWAYS ? BITS_ALWAYS
                          : rows < BITS_MAX  ? rows
                                             : BITS_MAX;
    set->low = of->low;
    if (plan->shape == PLAN_HASH)
        return group_hash_open(&set->pairs, pairs, error);
    set->slots = plan->slots;
    if (last >= most || (last / 64 + 1) * 64 > most / plan->slots)
        return group_hash_open(&set->pairs, pairs, error);
    set->domain = (last / 64 + 1) * 64;
    set->bits = calloc(set->slots * set->domain / 64, sizeof *set->bits);
    return set->bits ? STATUS_OK
                     : error_out_of_memory(error, set->slots * set->domain / 8, "distinct values");
}

void distinct_set_close(struct distinct_set *set)
{
    free(set->bits);
    group_hash_free(&set->pairs);
}

void distinct_set_clear(struct distinct_set *set)
{
    if (set->bits)
        memset(set->bits, 0, set->slots * set->domain / 8);
    else
        group_hash_clear(&set->pairs);
}

/* ---- Adding ---- */

/* The catalogue's ranges promise values in the domain, but the file may be damaged. */
static uint64_t at_most(uint64_t value, uint64_t last)
{
    return value < last ? value : last;
}

static void add_bits(struct distinct_set *set, uint32_t count, const uint64_t *slots,
                     const struct row_vector *argument)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t code = at_most((uint64_t)row_vector_value(argument, i) - (uint64_t)set->low,
                                      set->domain - 1),
                       bit = slots[i] * set->domain + code;
        if (!argument->nulls || !argument->nulls[i])
            set->bits[bit / 64] |= UINT64_C(1) << bit % 64;
    }
}

enum status distinct_set_add(struct distinct_set *set, uint32_t words, uint32_t count,
                             const uint64_t (*numbers)[VECTOR_ROWS], const struct row_vector *argument,
                             struct error *error)
{
    uint64_t *base, index[VECTOR_ROWS], *pair = set->pairs.buffer;
    if (set->bits) {
        add_bits(set, count, numbers[0], argument);
        return STATUS_OK;
    }
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t word = 0; word < words; word++)
            pair[word] = numbers[word][i];
        pair[words] = (uint64_t)row_vector_value(argument, i);
        pair += argument->nulls && argument->nulls[i] ? 0 : words + 1;
    }
    const uint32_t taken = (uint32_t)(pair - set->pairs.buffer) / (words + 1);
    if (taken == 0)
        return STATUS_OK;
    RETURN_IF_ERROR(group_hash_find(&set->pairs, taken, &base, index, error));
    return group_hash_added(&set->pairs, taken, error);
}

/* ---- Bitmaps ---- */

void distinct_set_merge(struct distinct_set *set, const struct distinct_set *from)
{
    for (uint64_t word = 0; set->bits && word < set->slots * set->domain / 64; word++)
        set->bits[word] |= from->bits[word];
}

void distinct_set_export(const struct distinct_set *set, const uint64_t *place, int64_t *counts)
{
    for (uint64_t slot = 0; set->bits && slot < set->slots; slot++) {
        const uint64_t *const bits = set->bits + slot * (set->domain / 64);
        for (uint64_t word = 0; place[slot] != UINT64_MAX && word < set->domain / 64; word++)
            counts[place[slot]] += __builtin_popcountll(bits[word]);
    }
}

static uint64_t set_size(const struct distinct_set *set)
{
    uint64_t count = 0;
    for (uint64_t word = 0; word < set->slots * set->domain / 64; word++)
        count += (uint64_t)__builtin_popcountll(set->bits[word]);
    return count;
}

enum status distinct_set_list(const struct distinct_set *set, const uint64_t *place, struct partial_set *list,
                              struct error *error)
{
    uint64_t at = 0;
    RETURN_IF_ERROR(partial_set_allocate(list, set_size(set), error));
    for (uint64_t word = 0; word < set->slots * set->domain / 64; word++)
        for (uint64_t rest = set->bits[word]; rest; rest &= rest - 1) {
            const uint64_t bit = word * 64 + (uint32_t)__builtin_ctzll(rest), slot = bit / set->domain;
            list->groups[at] = place[slot];
            list->values[at++] = (int64_t)((uint64_t)set->low + bit % set->domain);
        }
    return STATUS_OK;
}
