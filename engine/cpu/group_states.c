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

/* After a vector whose rows are mostly runs of their own, so many are not looked at. */
#define PAST_VECTORS 15u

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
    states->worded = states->hashed && !states->listed &&
                     group_list_suits(plan, &states->layout, &states->words_of, &states->pairs);
    if (states->listed)
        values_layout(plan, &states->pairs);
    else if (!states->worded)
        distinct_pairs_layout(plan, &states->pairs);
    states->values.layout = &states->pairs;
    states->streamed = plan->in_order && !states->listed;
    enum status status =
        states->hashed ? group_hash_open(&states->hash, &states->layout, error) : make_slots(states, error);
    if (status == STATUS_OK && states->streamed)
        status = group_stream_open(&states->stream, &states->layout, error);
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
    group_stream_free(&states->stream);
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

bool group_states_deliverable(const struct plan *plan)
{
    bool distinct = false;
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        distinct |= plan_is_distinct(plan, a);
    return plan->shape == PLAN_HASH && !distinct && !values_are_listed(plan);
}

void group_states_deliver(struct group_states *states, struct group_delivery *delivery)
{
    states->stream.delivery = delivery;
}

void group_states_clear(struct group_states *states)
{
    if (states->listed || states->worded)
        group_parts_free(&states->values);
    else if (states->hashed)
        group_hash_clear(&states->hash);
    else
        clear_slots(states);
    if (states->streamed)
        group_stream_clear(&states->stream);
    for (uint32_t a = 0; a < states->plan->aggregate_count && states->made; a++)
        distinct_set_clear(&states->sets[a]); /* a new one is clear */
    states->made = true;
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

/* Row i's entry begins at entries + index[i]. */
static void add_to_entries(const struct group_states *states, uint64_t *entries, uint32_t count,
                           const uint64_t *index, const struct row_vector *arguments)
{
    for (uint32_t a = 0; a < states->plan->aggregate_count; a++) {
        int64_t *const low = (int64_t *)entries + states->layout.offset[a];
        add_values(states->plan, a, low, low + 1, count, index, &arguments[a]);
    }
}

/* Rows that follow each other often have the same group, which is then found once for them. */
static enum status add_to_hash(struct group_states *states, uint32_t count,
                               const uint64_t (*numbers)[VECTOR_ROWS], const struct row_vector *arguments,
                               struct error *error)
{
    const struct group_layout *layout = states->hash.layout;
    struct group_runs runs;
    uint64_t *base, found[VECTOR_ROWS], index[VECTOR_ROWS];
    bool single = states->past_runs > 0;
    if (single) {
        states->past_runs--;
    } else {
        group_runs_find(count, numbers, states->words, &runs);
        single = runs.count > count / 2;
        states->past_runs = single ? PAST_VECTORS : 0;
    }
    const uint32_t keys = single ? count : runs.count;
    for (uint32_t word = 0; word < states->words; word++)
        for (uint32_t i = 0; i < keys; i++)
            states->hash.buffer[i * layout->stride + word] = numbers[word][single ? i : runs.first[i]];
    RETURN_IF_ERROR(group_hash_find(&states->hash, keys, &base, found, error));
    for (uint32_t i = 0; !single && i < count; i++)
        index[i] = found[runs.run_of[i]];
    add_to_entries(states, base, count, single ? found : index, arguments);
    return group_hash_added(&states->hash, keys, error);
}

static enum status add_to_stream(struct group_states *states, uint32_t count,
                                 const uint64_t (*numbers)[VECTOR_ROWS], const int32_t *keys,
                                 const struct row_vector *arguments, struct error *error)
{
    struct group_runs runs;
    uint64_t index[VECTOR_ROWS];
    bool taken;
    RETURN_IF_ERROR(
        group_stream_find(&states->stream, &states->hash, count, numbers, keys, &runs, index, &taken, error));
    if (!taken)
        return add_to_hash(states, count, numbers, arguments, error);
    add_to_entries(states, states->stream.entries, count, index, arguments);
    return group_stream_added(&states->stream, &states->hash, &runs, keys, error);
}

enum status group_states_end(struct group_states *states, struct error *error)
{
    return states->streamed ? group_stream_end(&states->stream, &states->hash, error) : STATUS_OK;
}

enum status group_states_add(struct group_states *states, uint32_t count,
                             const uint64_t (*numbers)[VECTOR_ROWS], const int32_t *keys,
                             const struct row_vector *arguments, struct error *error)
{
    if (states->listed)
        return group_parts_append(&states->values, count, numbers[0], error);
    if (states->worded)
        return group_list_add(states->plan, &states->words_of, &states->values, count, numbers[0], arguments,
                              error);
    if (states->streamed)
        return add_to_stream(states, count, numbers, keys, arguments, error);
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
