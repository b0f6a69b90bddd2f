/* group_states.c: see group_states.h. Adds the values of rows to the states of their groups, one aggregate after the
 * other. */
#include "engine/cpu/group_states_internal.h"

#include "storage/base/huge_pages.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

static void clear_slots(struct group_states *states)
{
    memset(states->rows, 0, states->capacity * sizeof *states->rows);
    for (uint32_t a = 0; a < states->plan->aggregate_count; a++) {
        const int64_t *const identity = plan_aggregate_of(states->plan, a)->identity;
        for (uint64_t slot = 0; slot < states->capacity; slot++)
            states->low[a][slot] = identity[0];
        for (uint64_t slot = 0; states->high[a] && slot < states->capacity; slot++)
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
    const uint64_t slots = states->plan->slots;
    RETURN_IF_ERROR(make_words(&states->rows, slots, error));
    for (uint32_t a = 0; a < states->plan->aggregate_count; a++) {
        RETURN_IF_ERROR(make_words(&states->low[a], slots, error));
        if (plan_aggregate_of(states->plan, a)->words > 1)
            RETURN_IF_ERROR(make_words(&states->high[a], slots, error));
    }
    states->capacity = slots;
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
    distinct_pairs_layout(plan, &states->pairs);
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
    free(states->rows);
    for (uint32_t a = 0; a < states->plan->aggregate_count; a++) {
        free(states->low[a]);
        free(states->high[a]);
        distinct_set_close(&states->sets[a]);
    }
    free(states);
}

void group_states_clear(struct group_states *states)
{
    if (states->hashed)
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

/* The catalogue's ranges promise number < capacity, but the file may be damaged. */
static uint64_t slot_of(const struct group_states *states, uint64_t number)
{
    return number < states->capacity ? number : states->capacity - 1;
}

/* ---- Adding ---- */

/* The argument of an aggregate; one without has no values. */
static struct vector argument_of(const struct plan *plan, uint32_t a, const struct vector *arguments)
{
    return plan->aggregates[a].argument == EXPRESSION_NONE ? (struct vector){0} : arguments[a];
}

static void add_to_one(struct group_states *states, uint32_t count, const struct vector *arguments)
{
    states->rows[0] += count;
    for (uint32_t a = 0; a < states->plan->aggregate_count; a++) {
        const struct vector argument = argument_of(states->plan, a, arguments);
        if (!plan_is_distinct(states->plan, a))
            plan_aggregate_of(states->plan, a)
                ->fold(states->low[a], states->high[a], count, argument.values, argument.nulls);
    }
}

/* Adds row i's value to the state at[i]. The values of a distinct aggregate are in a set. */
static void add_values(const struct plan *plan, uint32_t a, int64_t *low, int64_t *high, uint32_t count,
                       const uint64_t *at, const struct vector *arguments)
{
    const struct vector argument = argument_of(plan, a, arguments);
    if (!plan_is_distinct(plan, a))
        plan_aggregate_of(plan, a)->add(low, high, count, at, argument.values, argument.nulls);
}

static void add_to_slots(struct group_states *states, uint32_t count, const uint64_t *numbers,
                         const struct vector *arguments)
{
    uint64_t slots[VECTOR_ROWS];
    for (uint32_t i = 0; i < count; i++)
        slots[i] = slot_of(states, numbers[i]);
    for (uint32_t i = 0; i < count; i++)
        states->rows[slots[i]]++;
    for (uint32_t a = 0; a < states->plan->aggregate_count; a++)
        add_values(states->plan, a, states->low[a], states->high[a], count, slots, arguments);
}

static enum status add_to_hash(struct group_states *states, uint32_t count,
                               const uint64_t (*numbers)[VECTOR_ROWS], const struct vector *arguments,
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
        add_values(states->plan, a, low, low + 1, count, index, arguments);
    }
    return group_hash_added(&states->hash, count, error);
}

enum status group_states_add(struct group_states *states, uint32_t count,
                             const uint64_t (*numbers)[VECTOR_ROWS], const struct vector *arguments,
                             struct error *error)
{
    if (states->hashed)
        RETURN_IF_ERROR(add_to_hash(states, count, numbers, arguments, error));
    else if (states->capacity == 1)
        add_to_one(states, count, arguments);
    else
        add_to_slots(states, count, numbers[0], arguments);
    for (uint32_t a = 0; a < states->plan->aggregate_count; a++)
        if (plan_is_distinct(states->plan, a))
            RETURN_IF_ERROR(
                distinct_set_add(&states->sets[a], states->words, count, numbers, arguments[a], error));
    return STATUS_OK;
}
