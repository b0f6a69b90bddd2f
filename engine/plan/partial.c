/* partial.c: see partial.h. A merge finds groups and pairs of distinct values in hash tables with open
 * addressing, which are at most half full and exist only during the merge. */
#include "engine/plan/partial/parts.h"

#include "storage/base/huge_pages.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- Memory ---- */

static enum status take_words(void *pointer, uint64_t count, bool zeros, struct error *error)
{
    const uint64_t bytes = (count + 1) * sizeof(uint64_t);
    void *words;
    RETURN_IF_ERROR(zeros ? memory_zeros(&words, bytes, "groups", error)
                          : memory_take(&words, bytes, "groups", error));
    huge_pages_prefer(words, count * sizeof(uint64_t));
    memcpy(pointer, &words, sizeof words);
    return STATUS_OK;
}

enum status partial_charge_groups(const struct plan *plan, uint64_t count, struct partial *partial,
                                  struct error *error)
{
    uint64_t words = plan->key_words + plan->aggregate_count;
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        words += plan_aggregate_of(plan, a)->words > 1;
    return memory_charge_add(&partial->charge, count * words * sizeof(uint64_t), "a table of groups", error);
}

static enum status take_groups(const struct plan *plan, uint64_t count, bool zeros, struct partial *partial,
                               struct error *error)
{
    RETURN_IF_ERROR(partial_charge_groups(plan, count, partial, error));
    partial->aggregates = plan->aggregate_count;
    for (uint32_t word = 0; word < plan->key_words; word++)
        RETURN_IF_ERROR(take_words(&partial->keys[word], count, zeros, error));
    for (uint32_t a = 0; a < plan->aggregate_count; a++) {
        RETURN_IF_ERROR(take_words(&partial->states[a], count, zeros || plan_is_distinct(plan, a), error));
        if (plan_aggregate_of(plan, a)->words > 1)
            RETURN_IF_ERROR(take_words(&partial->states_high[a], count, zeros, error));
    }
    partial->count = count;
    return STATUS_OK;
}

enum status partial_allocate(const struct plan *plan, uint64_t count, struct partial *partial,
                             struct error *error)
{
    return take_groups(plan, count, true, partial, error);
}

enum status partial_open(const struct plan *plan, uint64_t count, struct partial *partial,
                         struct error *error)
{
    return take_groups(plan, count, false, partial, error);
}

enum status partial_set_allocate(struct partial_set *set, uint64_t count, struct error *error)
{
    set->count = count;
    RETURN_IF_ERROR(memory_take(&set->groups, count * sizeof *set->groups, "distinct values", error));
    return memory_take(&set->values, count * sizeof *set->values, "distinct values", error);
}

void partial_free(struct partial *partial)
{
    for (uint32_t word = 0; word < PLAN_KEY_WORDS_MAX; word++)
        free(partial->keys[word]);
    spillable_free(partial->rows);
    device_rows_free(partial->taken);
    free(partial->totals);
    free(partial->digests);
    free(partial->set.words);
    for (uint32_t a = 0; a < partial->aggregates; a++) {
        free(partial->states[a]);
        free(partial->states_high[a]);
        free(partial->sets[a].groups);
        free(partial->sets[a].values);
    }
    memory_charge_drop(&partial->charge);
    *partial = (struct partial){0};
}

uint64_t partial_bytes(const struct plan *plan, const struct partial *partial)
{
    uint64_t words = plan->key_words, pairs = 0;
    if (plan->shape == PLAN_ROWS)
        return partial->count * sizeof *partial->rows;
    for (uint32_t a = 0; a < plan->aggregate_count; a++) {
        words += 1 + (partial->states_high[a] != NULL);
        pairs += partial->sets[a].count;
    }
    return (partial->count * words + 2 * pairs) * sizeof(uint64_t);
}

static enum status grow(void *array, uint64_t count, const char *what, struct error *error)
{
    return memory_grow(array, (count + 1) * sizeof(uint64_t), what, error);
}

static enum status grow_groups(const struct plan *plan, struct partial *partial, uint64_t count,
                               struct error *error)
{
    partial->aggregates = plan->aggregate_count;
    for (uint32_t word = 0; word < plan->key_words; word++)
        RETURN_IF_ERROR(grow(&partial->keys[word], count, "groups", error));
    for (uint32_t a = 0; a < plan->aggregate_count; a++) {
        RETURN_IF_ERROR(grow(&partial->states[a], count, "groups", error));
        if (plan_aggregate_of(plan, a)->words > 1)
            RETURN_IF_ERROR(grow(&partial->states_high[a], count, "groups", error));
    }
    return STATUS_OK;
}

/* ---- Groups by their numbers ---- */

struct group_sought {
    const struct plan *plan;
    const struct partial *partial;
    const uint64_t *number;
};

static bool same_group(const void *context, uint32_t group)
{
    const struct group_sought *const sought = context;
    bool same = true;
    for (uint32_t word = 0; word < sought->plan->key_words; word++)
        same &= sought->partial->keys[word][group] == sought->number[word];
    return same;
}

static uint64_t number_hash(const struct plan *plan, const uint64_t *number)
{
    uint64_t hash = 0;
    for (uint32_t word = 0; word < plan->key_words; word++)
        hash = hash_mix(hash ^ number[word]);
    return hash;
}

uint32_t partial_index_find(const struct plan *plan, const struct partial *partial,
                            const struct hash_table *index, const uint64_t *number)
{
    const struct group_sought sought = {plan, partial, number};
    return hash_table_find(index, number_hash(plan, number), same_group, &sought);
}

static void number_of(const struct plan *plan, const struct partial *partial, uint64_t group,
                      uint64_t number[PLAN_KEY_WORDS_MAX])
{
    for (uint32_t word = 0; word < plan->key_words; word++)
        number[word] = partial->keys[word][group];
}

enum status partial_index_make(const struct plan *plan, const struct partial *partial, uint64_t more,
                               struct hash_table *index, struct error *error)
{
    *index = (struct hash_table){0};
    RETURN_IF_ERROR(hash_table_reserve(index, partial->count + more, "groups", error));
    for (uint64_t group = 0; group < partial->count; group++)
        RETURN_IF_ERROR(
            hash_table_add(index, partial_group_hash(plan, partial, group), (uint32_t)group, error));
    return STATUS_OK;
}

/* ---- States ---- */

/* True if a value was added to the aggregate's state. */
static bool has_value(const struct plan *plan, const struct partial *partial, uint32_t a, uint64_t group)
{
    const struct plan_aggregate *aggregate = &plan->aggregates[a];
    if (aggregate->count != a)
        return partial->states[aggregate->count][group] > 0;
    return plan->shape != PLAN_TOTAL || partial->total_rows > 0;
}

static void copy_state(struct partial *into, uint64_t to, const struct partial *from, uint64_t group,
                       uint32_t a)
{
    into->states[a][to] = from->states[a][group];
    if (into->states_high[a])
        into->states_high[a][to] = from->states_high[a][group];
}

static void merge_one(const struct plan *plan, struct partial *into, uint64_t to, const struct partial *from,
                      uint64_t group, uint32_t a)
{
    const bool wide = into->states_high[a] != NULL;
    plan_aggregate_of(plan, a)->merge(into->states[a], into->states_high[a], 1, &to, from->states[a] + group,
                                      wide ? from->states_high[a] + group : NULL, 0);
}

/* Merges the state of an aggregate that is not a count. */
static void merge_state(const struct plan *plan, struct partial *into, uint64_t to,
                        const struct partial *from, uint64_t group, uint32_t a)
{
    if (!has_value(plan, from, a, group))
        return;
    if (has_value(plan, into, a, to))
        merge_one(plan, into, to, from, group, a);
    else
        copy_state(into, to, from, group, a);
}

/* Counts come last, because they tell whether the other states have a value. */
void partial_group_add(const struct plan *plan, struct partial *into, uint64_t to, const struct partial *from,
                       uint64_t at)
{
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        if (!plan_aggregate_of(plan, a)->counts)
            merge_state(plan, into, to, from, at, a);
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        if (plan_aggregate_of(plan, a)->counts && !plan_is_distinct(plan, a))
            merge_one(plan, into, to, from, at, a);
}

void partial_group_copy(const struct plan *plan, struct partial *into, uint64_t to,
                        const struct partial *from, uint64_t at)
{
    for (uint32_t word = 0; word < plan->key_words; word++)
        into->keys[word][to] = from->keys[word][at];
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        copy_state(into, to, from, at, a);
}

uint64_t partial_group_merge(const struct plan *plan, struct partial *into, struct hash_table *index,
                             const uint64_t *number, const struct partial *from, uint64_t at)
{
    const struct group_sought sought = {plan, into, number};
    const uint32_t found =
        hash_table_put(index, number_hash(plan, number), (uint32_t)into->count, same_group, &sought);
    if (found != HASH_TABLE_NONE) {
        partial_group_add(plan, into, found, from, at);
        return found;
    }
    const uint64_t to = into->count++;
    partial_group_copy(plan, into, to, from, at);
    for (uint32_t word = 0; word < plan->key_words; word++)
        into->keys[word][to] = number[word];
    return to;
}

/* Merges all groups; to[group] is the group's index in `into`. */
static enum status merge_groups(const struct plan *plan, struct partial *into, const struct partial *from,
                                struct hash_table *index, uint64_t *to, struct error *error)
{
    RETURN_IF_ERROR(grow_groups(plan, into, into->count + from->count, error));
    for (uint64_t group = 0; group < from->count; group++) {
        uint64_t number[PLAN_KEY_WORDS_MAX];
        number_of(plan, from, group, number);
        to[group] = partial_group_merge(plan, into, index, number, from, group);
    }
    into->total_rows += from->total_rows;
    return STATUS_OK;
}

/* ---- Sets ---- */

struct pair_sought {
    const struct partial_set *set;
    uint64_t group;
    int64_t value;
};

static bool same_pair(const void *context, uint32_t pair)
{
    const struct pair_sought *const sought = context;
    return sought->set->groups[pair] == sought->group && sought->set->values[pair] == sought->value;
}

bool partial_pair_add(struct hash_table *index, struct partial_set *set, uint64_t group, int64_t value)
{
    const struct pair_sought sought = {set, group, value};
    if (hash_table_put(index, partial_pair_hash(group, value), (uint32_t)set->count, same_pair, &sought) !=
        HASH_TABLE_NONE)
        return false;
    set->groups[set->count] = group;
    set->values[set->count++] = value;
    return true;
}

static enum status merge_set(struct partial_set *into, const struct partial_set *from, const uint64_t *to,
                             int64_t *counts, struct error *error)
{
    const uint64_t most = into->count + from->count, had = into->count;
    struct hash_table index = {0};
    RETURN_IF_ERROR(grow(&into->groups, most, "distinct values", error));
    RETURN_IF_ERROR(grow(&into->values, most, "distinct values", error));
    RETURN_IF_ERROR(hash_table_reserve(&index, most, "distinct values", error));
    into->count = 0;
    for (uint64_t pair = 0; pair < had; pair++)
        partial_pair_add(&index, into, into->groups[pair], into->values[pair]);
    for (uint64_t pair = 0; pair < from->count; pair++)
        counts[to[from->groups[pair]]] +=
            partial_pair_add(&index, into, to[from->groups[pair]], from->values[pair]);
    hash_table_free(&index);
    return STATUS_OK;
}

static enum status merge_sets(const struct plan *plan, struct partial *into, uint64_t had,
                              const struct partial *from, const uint64_t *to, struct error *error)
{
    for (uint32_t a = 0; a < plan->aggregate_count; a++) {
        if (!plan_is_distinct(plan, a))
            continue;
        memset(into->states[a] + had, 0, (into->count - had) * sizeof *into->states[a]);
        RETURN_IF_ERROR(merge_set(&into->sets[a], &from->sets[a], to, into->states[a], error));
    }
    return STATUS_OK;
}

/* ---- Rows ---- */

/* Merges two ascending lists, from their ends. */
static enum status merge_rows(struct partial *into, const struct partial *from, struct error *error)
{
    uint64_t a = into->count, b = from->count, at = a + b;
    RETURN_IF_ERROR(spillable_grow(&into->rows, (at + 1) * sizeof *into->rows, "rows", error));
    into->count = at;
    while (b > 0)
        into->rows[--at] = a > 0 && into->rows[a - 1] > from->rows[b - 1] ? into->rows[--a] : from->rows[--b];
    return STATUS_OK;
}

enum status partial_merge(const struct plan *plan, struct partial *into, const struct partial *from,
                          struct error *error)
{
    struct hash_table index = {0};
    const uint64_t had = into->count;
    if (plan->shape == PLAN_ROWS)
        return merge_rows(into, from, error);
    uint64_t *const to = malloc((from->count + 1) * sizeof *to);
    enum status status = to ? partial_index_make(plan, into, from->count, &index, error)
                            : error_out_of_memory(error, from->count * sizeof *to, "groups");
    if (status == STATUS_OK)
        status = merge_groups(plan, into, from, &index, to, error);
    if (status == STATUS_OK)
        status = merge_sets(plan, into, had, from, to, error);
    hash_table_free(&index);
    free(to);
    return status;
}
