/*
 * group_states.c: see group_states.h. Hash tables use open addressing, are at most half full, and hold
 * indices of groups, which are in the order of their first rows. Keys are hashed with the finaliser of
 * MurmurHash3.
 */
#include "engine/cpu/group_states_internal.h"

#include <stdlib.h>
#include <string.h>

static bool same_key(const uint64_t *left, const uint64_t *right, uint32_t words)
{
    bool same = left[0] == right[0];
    for (uint32_t word = 1; word < words; word++)
        same &= left[word] == right[word];
    return same;
}

static int64_t initial(enum aggregate_kind kind)
{
    return kind == AGGREGATE_MIN ? INT64_MAX : kind == AGGREGATE_MAX ? INT64_MIN : 0;
}

static void initialise(struct group_states *states, uint64_t first, uint64_t end)
{
    memset(states->rows + first, 0, (end - first) * sizeof *states->rows);
    for (uint32_t a = 0; a < states->plan->aggregate_count; a++) {
        const int64_t value = initial(states->plan->aggregates[a].kind);
        for (uint64_t group = first; group < end; group++)
            states->low[a][group] = value;
        if (states->high[a])
            memset(states->high[a] + first, 0, (end - first) * sizeof(int64_t));
    }
}

static bool grow_words(uint64_t **array, uint64_t count)
{
    uint64_t *grown = realloc(*array, count * sizeof *grown);
    if (grown)
        *array = grown;
    huge_pages_prefer(grown, count * sizeof *grown);
    return grown != NULL;
}

static bool grow_array(int64_t **array, uint64_t capacity)
{
    return grow_words((uint64_t **)(void *)array, capacity);
}

/* Puts all groups into an empty table. Places are prefetched before they are written. */
static void fill_table(const struct group_states *states, uint32_t *table, uint64_t last)
{
    enum { AHEAD = 64 };
    uint64_t places[AHEAD];
    for (uint64_t first = 0; first < states->count; first += AHEAD) {
        const uint64_t count = states->count - first < AHEAD ? states->count - first : AHEAD;
        for (uint64_t i = 0; i < count; i++) {
            places[i] = group_states_hash(states->keys + (first + i) * states->words, states->words) & last;
            __builtin_prefetch(&table[places[i]], 1);
        }
        for (uint64_t i = 0; i < count; i++) {
            uint64_t place = places[i];
            while (table[place])
                place = (place + 1) & last;
            table[place] = (uint32_t)(first + i) + 1;
        }
    }
}

/* Grows the arrays to `capacity` groups and builds a new table. */
static enum status grow(struct group_states *states, uint64_t capacity, struct error *error)
{
    bool fits = grow_words(&states->keys, capacity * states->words);
    fits &= grow_words(&states->rows, capacity);
    for (uint32_t a = 0; a < states->plan->aggregate_count; a++) {
        fits &= grow_array(&states->low[a], capacity);
        if (states->plan->aggregates[a].kind == AGGREGATE_SUM_WIDE)
            fits &= grow_array(&states->high[a], capacity);
    }
    uint32_t *table = states->hashed ? calloc(2 * capacity, sizeof *table) : NULL;
    if (!fits || (states->hashed && !table)) {
        free(table);
        return error_out_of_memory(error, capacity * 8 * (states->plan->aggregate_count + states->words + 2),
                                   "groups");
    }
    initialise(states, states->capacity, capacity);
    states->capacity = capacity;
    if (!states->hashed)
        return STATUS_OK;
    huge_pages_prefer(table, 2 * capacity * sizeof *table);
    free(states->table);
    states->table = table;
    fill_table(states, table, 2 * capacity - 1);
    return STATUS_OK;
}

enum status group_states_create(const struct plan *plan, struct group_states **out, struct error *error)
{
    struct group_states *states = calloc(1, sizeof *states);
    if (!states)
        return error_out_of_memory(error, sizeof *states, "groups");
    states->plan = plan;
    states->hashed = plan->shape == PLAN_HASH;
    states->words = plan->key_words;
    enum status status = grow(states, states->hashed ? 1024 : plan->slots, error);
    for (uint32_t a = 0; status == STATUS_OK && a < plan->aggregate_count; a++)
        if (plan->aggregates[a].kind == AGGREGATE_COUNT_DISTINCT)
            status = distinct_set_open(plan, a, &states->sets[a], error);
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
    free(states->keys);
    free(states->table);
    free(states->rows);
    for (uint32_t a = 0; a < PLAN_AGGREGATES_MAX; a++) {
        free(states->low[a]);
        free(states->high[a]);
        distinct_set_close(&states->sets[a]);
    }
    free(states);
}

void group_states_clear(struct group_states *states)
{
    initialise(states, 0, states->hashed ? states->count : states->capacity);
    states->count = 0;
    if (states->hashed)
        memset(states->table, 0, 2 * states->capacity * sizeof *states->table);
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

/* Tables with less room than this grow by a factor of four, because a query with many groups will probably
 * have more; larger ones grow by two. */
#define GROW_FAST_BELOW (1u << 22)

/* From this many groups the table does not fit the first-level cache, and prefetching pays. */
#define FAR_GROUPS 4096u

/* Prefetches the memory that the batch's rows will touch, so that their cache misses overlap. */
static void ask_for_groups(const struct group_states *states, uint32_t count, const uint64_t *hashes)
{
    const uint64_t last = 2 * states->capacity - 1;
    for (uint32_t i = 0; i < count; i++)
        __builtin_prefetch(&states->table[hashes[i] & last]);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t group = states->table[hashes[i] & last];
        if (group == 0)
            continue;
        __builtin_prefetch(&states->keys[(group - 1) * (uint64_t)states->words]);
        __builtin_prefetch(&states->rows[group - 1], 1);
        for (uint32_t a = 0; a < states->plan->aggregate_count; a++)
            __builtin_prefetch(&states->low[a][group - 1], 1);
    }
}

enum status group_states_reserve(struct group_states *states, uint64_t more, struct error *error)
{
    uint64_t capacity = states->capacity;
    while (states->count + more > capacity)
        capacity *= capacity < GROW_FAST_BELOW ? 4 : 2;
    if (capacity > UINT32_MAX / 2)
        return error_set(error, STATUS_MACHINE, "the query has more than %u groups, too many for one thread",
                         UINT32_MAX / 2);
    return capacity > states->capacity ? grow(states, capacity, error) : STATUS_OK;
}

enum status group_states_find(struct group_states *states, uint32_t count, const uint64_t *keys,
                              uint64_t *groups, struct error *error)
{
    const uint32_t words = states->words;
    uint64_t hashes[VECTOR_ROWS];
    RETURN_IF_ERROR(group_states_reserve(states, count, error));
    for (uint32_t i = 0; i < count; i++)
        hashes[i] = group_states_hash(keys + i * (size_t)words, words);
    if (states->count >= FAR_GROUPS)
        ask_for_groups(states, count, hashes);
    const uint64_t last = 2 * states->capacity - 1;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t *const key = keys + i * (size_t)words;
        uint64_t place = hashes[i] & last;
        while (states->table[place] &&
               !same_key(states->keys + (states->table[place] - 1) * (uint64_t)words, key, words))
            place = (place + 1) & last;
        if (!states->table[place]) {
            memcpy(states->keys + states->count * words, key, words * sizeof *key);
            states->table[place] = (uint32_t)++states->count;
        }
        groups[i] = states->table[place] - 1;
    }
    return STATUS_OK;
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

static enum status add_rows(struct group_states *states, uint32_t a, uint32_t count, const uint64_t *groups,
                            struct vector argument, struct error *error)
{
    const struct plan_aggregate *aggregate = &states->plan->aggregates[a];
    int64_t *const state = states->low[a];
    switch (aggregate->kind) {
    case AGGREGATE_COUNT:
        if (aggregate->argument == EXPRESSION_NONE)
            for (uint32_t i = 0; i < count; i++)
                state[groups[i]]++;
        else
            for (uint32_t i = 0; i < count; i++)
                state[groups[i]] += present(argument, i);
        return STATUS_OK;
    case AGGREGATE_SUM:
        if (!argument.nulls)
            for (uint32_t i = 0; i < count; i++)
                state[groups[i]] = (int64_t)((uint64_t)state[groups[i]] + (uint64_t)argument.values[i]);
        else
            for (uint32_t i = 0; i < count; i++)
                state[groups[i]] = (int64_t)((uint64_t)state[groups[i]] +
                                             (argument.nulls[i] ? 0 : (uint64_t)argument.values[i]));
        return STATUS_OK;
    case AGGREGATE_SUM_WIDE:
        for (uint32_t i = 0; i < count; i++)
            if (present(argument, i))
                add_wide(&state[groups[i]], &states->high[a][groups[i]], argument.values[i]);
        return STATUS_OK;
    case AGGREGATE_MIN:
        for (uint32_t i = 0; i < count; i++)
            if (present(argument, i) && argument.values[i] < state[groups[i]])
                state[groups[i]] = argument.values[i];
        return STATUS_OK;
    case AGGREGATE_MAX:
        for (uint32_t i = 0; i < count; i++)
            if (present(argument, i) && argument.values[i] > state[groups[i]])
                state[groups[i]] = argument.values[i];
        return STATUS_OK;
    case AGGREGATE_COUNT_DISTINCT:
        return distinct_set_add(&states->sets[a], count, groups, argument, error);
    }
    return STATUS_OK;
}

/* Adds rows to the only group: sums stay in a register. Sums in memory would wait in every row for the store
 * of the row before. */
static enum status add_to_one(struct group_states *states, uint32_t count, const struct vector *arguments,
                              struct error *error)
{
    static const uint64_t groups[VECTOR_ROWS];
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
            RETURN_IF_ERROR(add_rows(states, a, count, groups, arguments[a], error));
        }
        states->low[a][0] = (int64_t)((uint64_t)states->low[a][0] + sum);
    }
    return STATUS_OK;
}

enum status group_states_add(struct group_states *states, uint32_t count,
                             const uint64_t (*numbers)[VECTOR_ROWS], const struct vector *arguments,
                             struct error *error)
{
    uint64_t groups[VECTOR_ROWS];
    if (states->capacity == 1 && !states->hashed)
        return add_to_one(states, count, arguments, error);
    if (states->hashed) {
        uint64_t keys[VECTOR_ROWS * PLAN_KEY_WORDS_MAX];
        for (uint32_t word = 0; word < states->words; word++)
            for (uint32_t i = 0; i < count; i++)
                keys[i * states->words + word] = numbers[word][i];
        RETURN_IF_ERROR(group_states_find(states, count, keys, groups, error));
    } else {
        for (uint32_t i = 0; i < count; i++)
            groups[i] = slot_of(states, numbers[0][i]);
    }
    for (uint32_t i = 0; i < count; i++)
        states->rows[groups[i]]++;
    for (uint32_t a = 0; a < states->plan->aggregate_count; a++)
        RETURN_IF_ERROR(add_rows(states, a, count, groups, arguments[a], error));
    return STATUS_OK;
}
