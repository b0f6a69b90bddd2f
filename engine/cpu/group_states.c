/* group_states.c: see group_states.h. Adds the values of rows to the states of their groups, one aggregate after the
 * other. */
#include "engine/cpu/group_states_internal.h"

#include "storage/base/huge_pages.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

static int64_t initial(enum aggregate_kind kind)
{
    return kind == AGGREGATE_MIN ? INT64_MAX : kind == AGGREGATE_MAX ? INT64_MIN : 0;
}

static void clear_slots(struct group_states *states)
{
    memset(states->rows, 0, states->capacity * sizeof *states->rows);
    for (uint32_t a = 0; a < states->plan->aggregate_count; a++) {
        const int64_t value = initial(states->plan->aggregates[a].kind);
        for (uint64_t slot = 0; slot < states->capacity; slot++)
            states->low[a][slot] = value;
        if (states->high[a])
            memset(states->high[a], 0, states->capacity * sizeof(int64_t));
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
        if (states->plan->aggregates[a].kind == AGGREGATE_SUM_WIDE)
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
        if (plan->aggregates[a].kind == AGGREGATE_COUNT_DISTINCT)
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

static void add_wide(int64_t *low, int64_t *high, int64_t value)
{
    const uint64_t sum = (uint64_t)*low + (uint64_t)value;
    *high += (value < 0 ? -1 : 0) + (sum < (uint64_t)value);
    *low = (int64_t)sum;
}

static bool present(struct vector argument, uint32_t row)
{
    return !argument.nulls || !argument.nulls[row];
}

/* Adds row i's value to low[at[i]], and its high word. */
static void add_values(const struct plan_aggregate *aggregate, int64_t *low, int64_t *high, uint32_t count,
                       const uint64_t *at, struct vector argument)
{
    switch (aggregate->kind) {
    case AGGREGATE_COUNT:
        if (aggregate->argument == EXPRESSION_NONE)
            for (uint32_t i = 0; i < count; i++)
                low[at[i]]++;
        else
            for (uint32_t i = 0; i < count; i++)
                low[at[i]] += present(argument, i);
        break;
    case AGGREGATE_SUM:
        if (!argument.nulls)
            for (uint32_t i = 0; i < count; i++)
                low[at[i]] = (int64_t)((uint64_t)low[at[i]] + (uint64_t)argument.values[i]);
        else
            for (uint32_t i = 0; i < count; i++)
                low[at[i]] =
                    (int64_t)((uint64_t)low[at[i]] + (argument.nulls[i] ? 0 : (uint64_t)argument.values[i]));
        break;
    case AGGREGATE_SUM_WIDE:
        for (uint32_t i = 0; i < count; i++)
            if (present(argument, i))
                add_wide(&low[at[i]], &high[at[i]], argument.values[i]);
        break;
    case AGGREGATE_MIN:
        for (uint32_t i = 0; i < count; i++)
            if (present(argument, i) && argument.values[i] < low[at[i]])
                low[at[i]] = argument.values[i];
        break;
    case AGGREGATE_MAX:
        for (uint32_t i = 0; i < count; i++)
            if (present(argument, i) && argument.values[i] > low[at[i]])
                low[at[i]] = argument.values[i];
        break;
    case AGGREGATE_COUNT_DISTINCT: /* its values are in a set */
        break;
    }
}

/* Adds rows to the only group: sums stay in a register. Sums in memory would wait in every row for the store
 * of the row before. */
static void add_to_one(struct group_states *states, uint32_t count, const struct vector *arguments)
{
    static const uint64_t slots[VECTOR_ROWS];
    states->rows[0] += count;
    for (uint32_t a = 0; a < states->plan->aggregate_count; a++) {
        const struct plan_aggregate *aggregate = &states->plan->aggregates[a];
        uint64_t sum = 0;
        if (aggregate->kind == AGGREGATE_COUNT && aggregate->argument == EXPRESSION_NONE) {
            sum = count;
        } else if (aggregate->kind == AGGREGATE_SUM && !arguments[a].nulls) {
            for (uint32_t i = 0; i < count; i++)
                sum += (uint64_t)arguments[a].values[i];
        } else {
            add_values(aggregate, states->low[a], states->high[a], count, slots, arguments[a]);
        }
        states->low[a][0] = (int64_t)((uint64_t)states->low[a][0] + sum);
    }
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
        add_values(&states->plan->aggregates[a], states->low[a], states->high[a], count, slots, arguments[a]);
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
        add_values(&states->plan->aggregates[a], low, low + 1, count, index, arguments[a]);
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
        if (states->plan->aggregates[a].kind == AGGREGATE_COUNT_DISTINCT)
            RETURN_IF_ERROR(
                distinct_set_add(&states->sets[a], states->words, count, numbers, arguments[a], error));
    return STATUS_OK;
}
