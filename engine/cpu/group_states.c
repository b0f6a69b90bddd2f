/* group_states.c: see group_states.h. Adds the values of rows to the states of their groups, one aggregate after the
 * other. */
#include "engine/cpu/group_states_internal.h"

#include "storage/base/huge_pages.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Slots are kept more than once up to this number: their states stay in the first-level cache. */
#define COPIED_SLOTS 128u

/* Rows and a sum are packed up to this number of slots, which are unpacked each PACKED_ROWS. */
#define PACKED_SLOTS 4096u
#define PACKED_BITS  48u
#define PACKED_ROWS \
    ((1u << (64 - PACKED_BITS)) - 1) /* 32-bit numbers of as many rows have a sum of 48 bits */

static void clear_slots(struct group_states *states)
{
    const uint64_t slots = states->capacity * states->copies;
    if (states->packed)
        memset(states->packed, 0, slots * sizeof *states->packed);
    states->packed_rows = 0;
    memset(states->rows, 0, slots * sizeof *states->rows);
    for (uint32_t a = 0; a < states->plan->aggregate_count; a++) {
        const int64_t *const identity = plan_aggregate_of(states->plan, a)->identity;
        for (uint64_t slot = 0; states->low[a] && slot < slots; slot++)
            states->low[a][slot] = identity[0];
        for (uint64_t slot = 0; states->high[a] && slot < slots; slot++)
            states->high[a][slot] = identity[1];
    }
}

static enum status make_words(void *array, uint64_t count, struct error *error)
{
    uint64_t *words;
    RETURN_IF_ERROR(memory_take(&words, count * sizeof *words, "groups", error));
    huge_pages_prefer(words, count * sizeof *words);
    memcpy(array, &words, sizeof words);
    return STATUS_OK;
}

static enum status make_slots(struct group_states *states, struct error *error)
{
    states->capacity = states->plan->slots;
    states->copies = states->capacity > 1 && states->capacity <= COPIED_SLOTS ? GROUP_COPIES : 1;
    for (uint32_t a = 0; a < states->plan->aggregate_count; a++)
        if (plan_is_distinct(states->plan, a))
            states->copies = 1; /* sets have each slot once */
    const uint64_t slots = states->capacity * states->copies;
    RETURN_IF_ERROR(make_words(&states->rows, slots, error));
    for (uint32_t a = 0; a < states->plan->aggregate_count; a++) {
        if (!plan_is_row_count(states->plan, a))
            RETURN_IF_ERROR(make_words(&states->low[a], slots, error));
        if (plan_aggregate_of(states->plan, a)->words > 1)
            RETURN_IF_ERROR(make_words(&states->high[a], slots, error));
    }
    for (uint32_t a = states->plan->aggregate_count;
         a-- > 0 && states->capacity > 1 && slots <= PACKED_SLOTS;)
        if (plan_aggregate_of(states->plan, a)->sums) {
            if (!states->packed)
                RETURN_IF_ERROR(make_words(&states->packed, slots, error));
            states->packed_sum = a;
        }
    clear_slots(states);
    return STATUS_OK;
}

enum status group_states_create(const struct plan *plan, struct group_states **out, struct error *error)
{
    struct group_states *states;
    RETURN_IF_ERROR(memory_zeros(&states, sizeof *states, "groups", error));
    states->plan = plan;
    states->hashed = plan->shape == PLAN_HASH;
    states->words = plan->key_words;
    if (states->hashed)
        group_layout_make(&states->layout, plan->aggregates, plan->aggregate_count, plan->key_words,
                          plan->key_words);
    states->listed = values_are_listed(plan);
    if (states->listed)
        values_layout(plan, &states->pairs);
    else
        distinct_pairs_layout(plan, &states->pairs);
    states->values.layout = &states->pairs;
    enum status status =
        states->hashed ? group_hash_open(&states->hash, &states->layout, error) : make_slots(states, error);
    for (uint32_t a = 0; status == STATUS_OK && a < plan->aggregate_count; a++)
        if (plan_is_distinct(plan, a))
            status = distinct_set_open(plan, a, &states->pairs, &states->sets[a], error);
    if (status == STATUS_OK)
        *out = states;
    else
        group_states_free(states);
    return status;
}

void group_states_free(struct group_states *states)
{
    if (!states)
        return;
    group_hash_free(&states->hash);
    group_parts_free(&states->values);
    free(states->rows);
    free(states->packed);
    for (uint32_t a = 0; a < states->plan->aggregate_count; a++) {
        free(states->low[a]);
        free(states->high[a]);
        distinct_set_close(&states->sets[a]);
    }
    free(states);
}

void group_states_clear(struct group_states *states)
{
    if (states->listed)
        group_parts_free(&states->values);
    else if (states->hashed)
        group_hash_clear(&states->hash);
    else
        clear_slots(states);
    for (uint32_t a = 0; a < states->plan->aggregate_count; a++)
        distinct_set_clear(&states->sets[a]);
}

void group_states_slots(struct group_states *states, int64_t **sums, uint64_t **present)
{
    *sums = states->low[0];
    *present = states->rows;
}

uint32_t group_states_spread(const struct group_states *states)
{
    return states->copies > 1 ? (uint32_t)states->capacity : 0;
}

/* ---- Adding ---- */

static void add_to_one(struct group_states *states, uint32_t count, const struct row_vector *arguments)
{
    states->rows[0] += count;
    for (uint32_t a = 0; a < states->plan->aggregate_count; a++) {
        const struct aggregate *const aggregate = plan_aggregate_of(states->plan, a);
        const struct row_vector *const from = &arguments[a];
        if (aggregate->distinct || !states->low[a])
            continue;
        if (from->narrow)
            aggregate->fold_narrow(states->low[a], states->high[a], count, from->narrow, from->nulls);
        else
            aggregate->fold(states->low[a], states->high[a], count, from->values, from->nulls);
    }
}

/* Adds row i's value to the state at[i]. The values of a distinct aggregate are in a set. */
static void add_values(const struct plan *plan, uint32_t a, int64_t *low, int64_t *high, uint32_t count,
                       const uint64_t *at, const struct row_vector *from)
{
    const struct aggregate *const aggregate = plan_aggregate_of(plan, a);
    if (aggregate->distinct)
        return;
    if (from->narrow)
        aggregate->add_narrow(low, high, count, at, from->narrow, from->nulls);
    else
        aggregate->add(low, high, count, at, from->values, from->nulls);
}

void group_states_unpack(struct group_states *states)
{
    const uint32_t a = states->packed_sum;
    const uint64_t slots = states->capacity * states->copies;
    uint64_t at[VECTOR_ROWS];
    int64_t sums[VECTOR_ROWS];
    for (uint64_t first = 0; states->packed_rows && first < slots; first += VECTOR_ROWS) {
        const uint32_t count = slots - first < VECTOR_ROWS ? (uint32_t)(slots - first) : VECTOR_ROWS;
        for (uint32_t i = 0; i < count; i++) {
            const uint64_t word = states->packed[first + i];
            at[i] = first + i;
            sums[i] = (int64_t)(word << (64 - PACKED_BITS)) >> (64 - PACKED_BITS);
            states->rows[first + i] += (word - (uint64_t)sums[i]) >> PACKED_BITS;
            states->packed[first + i] = 0;
        }
        plan_aggregate_of(states->plan, a)->add(states->low[a], states->high[a], count, at, sums, NULL);
    }
    states->packed_rows = 0;
}

static void add_packed(struct group_states *states, uint32_t count, const uint64_t *slots,
                       const int32_t *values)
{
    uint64_t *const packed = states->packed;
    if (states->packed_rows + count > PACKED_ROWS)
        group_states_unpack(states);
    states->packed_rows += count;
    for (uint32_t i = 0; i < count; i++)
        packed[slots[i]] += (UINT64_C(1) << PACKED_BITS) + (uint64_t)values[i];
}

static void add_to_slots(struct group_states *states, uint32_t count, const uint64_t *slots,
                         const struct row_vector *arguments)
{
    const struct row_vector *const sum = states->packed ? &arguments[states->packed_sum] : NULL;
    const bool packs = sum && sum->narrow && !sum->nulls;
    if (packs)
        add_packed(states, count, slots, sum->narrow);
    else
        for (uint32_t i = 0; i < count; i++)
            states->rows[slots[i]]++;
    for (uint32_t a = 0; a < states->plan->aggregate_count; a++)
        if (states->low[a] && !(packs && a == states->packed_sum))
            add_values(states->plan, a, states->low[a], states->high[a], count, slots, &arguments[a]);
}

static enum status add_to_hash(struct group_states *states, uint32_t count,
                               const uint64_t (*numbers)[VECTOR_ROWS], const struct row_vector *arguments,
                               struct error *error)
{
    const struct group_layout *layout = states->hash.layout;
    uint64_t *base, index[VECTOR_ROWS];
    for (uint32_t word = 0; word < states->words; word++)
        for (uint32_t i = 0; i < count; i++)
            states->hash.buffer[i * layout->stride + word] = numbers[word][i];
    RETURN_IF_ERROR(group_hash_find(&states->hash, count, &base, index, error));
    for (uint32_t a = 0; a < states->plan->aggregate_count; a++) {
        int64_t *const low = (int64_t *)base + layout->offset[a];
        add_values(states->plan, a, low, low + 1, count, index, &arguments[a]);
    }
    return group_hash_added(&states->hash, count, error);
}

enum status group_states_add(struct group_states *states, uint32_t count,
                             const uint64_t (*numbers)[VECTOR_ROWS], const struct row_vector *arguments,
                             struct error *error)
{
    if (states->listed)
        return group_parts_append(&states->values, count, numbers[0], error);
    if (states->hashed)
        RETURN_IF_ERROR(add_to_hash(states, count, numbers, arguments, error));
    else if (states->capacity == 1)
        add_to_one(states, count, arguments);
    else
        add_to_slots(states, count, numbers[0], arguments);
    for (uint32_t a = 0; a < states->plan->aggregate_count; a++)
        if (plan_is_distinct(states->plan, a))
            RETURN_IF_ERROR(
                distinct_set_add(&states->sets[a], states->words, count, numbers, &arguments[a], error));
    return STATUS_OK;
}
