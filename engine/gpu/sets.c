/* sets.c: lists the values that each count(distinct) has seen, for merging partial results
 * (engine/plan/partial.h). The whole hash tables of operators/group/states_cuda.h are copied to the host and
 * read there. A GPU that has all segments need not do this. */
#include "engine/gpu/run_internal.h"

#include <stdlib.h>

struct lister {
    struct device_run *run;
    struct partial *partial;
    struct hash_table index; /* groups by number */
    uint64_t *group_of_slot; /* PLAN_HASH: the group of each place of the table, or UINT64_MAX */
};

/* Copies words from the GPU's memory; the caller frees the copy. */
static enum status fetch(const struct device_run *run, cuda_address from, uint64_t words, uint64_t **copy,
                         struct error *error)
{
    *copy = malloc((words + 1) * sizeof **copy);
    if (!*copy)
        return error_out_of_memory(error, words * sizeof **copy, "distinct values");
    RETURN_IF_ERROR(cuda_copy_to_host(run->cuda, *copy, from, words * sizeof **copy, error));
    return cuda_synchronize(run->cuda, error);
}

static uint64_t group_of_number(const struct lister *lister, const uint64_t *number)
{
    return partial_index_find(lister->run->plan, lister->partial, &lister->index, number);
}

static uint64_t group_of_slot(const struct lister *lister, uint64_t slot)
{
    return lister->group_of_slot ? lister->group_of_slot[slot] : group_of_number(lister, &slot);
}

static enum status map_slots(struct lister *lister, struct error *error)
{
    const struct device_run *run = lister->run;
    const uint32_t key_words = run->plan->key_words;
    uint64_t *keys = NULL, *words = NULL;
    if (run->plan->shape != PLAN_HASH)
        return STATUS_OK;
    lister->group_of_slot = malloc(run->slots * sizeof *lister->group_of_slot);
    enum status status = lister->group_of_slot
                             ? fetch(run, run->arguments.keys, run->slots, &keys, error)
                             : error_out_of_memory(error, run->slots * 8, "distinct values");
    if (status == STATUS_OK && key_words > 1)
        status = fetch(run, run->arguments.key_words, run->slots * key_words, &words, error);
    for (uint64_t slot = 0; status == STATUS_OK && slot < run->slots; slot++) {
        uint64_t number[PLAN_KEY_WORDS_MAX] = {keys[slot] - 1};
        for (uint32_t word = 0; words && word < key_words; word++)
            number[word] = words[word * run->slots + slot];
        lister->group_of_slot[slot] = keys[slot] ? group_of_number(lister, number) : UINT64_MAX;
    }
    free(keys);
    free(words);
    return status;
}

static void add(struct partial_set *set, uint64_t group, int64_t low, uint64_t code)
{
    set->groups[set->count] = group;
    set->values[set->count++] = (int64_t)((uint64_t)low + code);
}

/* Lists a table with a bit for each slot and value. */
static void list_bits(const struct lister *lister, const struct set_argument *set, const uint64_t *table,
                      struct partial_set *list)
{
    const uint64_t domain = set->last + 1, bits = lister->run->slots * domain;
    for (uint64_t word = 0; word < (bits + 63) / 64; word++)
        for (uint64_t rest = table[word]; rest; rest &= rest - 1) {
            const uint64_t bit = word * 64 + (uint32_t)__builtin_ctzll(rest);
            if (bit < bits)
                add(list, group_of_slot(lister, bit / domain), set->low, bit % domain);
        }
}

/* Lists a table of words number * domain + value + 1; 0: the place is free. */
static void list_keys(const struct lister *lister, const struct set_argument *set, const uint64_t *table,
                      struct partial_set *list)
{
    for (uint64_t place = 0; place < set->capacity; place++) {
        const uint64_t key = table[place] - 1, number = key / (set->last + 1);
        if (table[place])
            add(list, group_of_number(lister, &number), set->low, key % (set->last + 1));
    }
}

/* Lists a table of words slot * (capacity + 1) + place of the value + 1. Values are in a table of their own;
 * the one value that cannot be in it has the place `capacity`. */
static void list_pairs(const struct lister *lister, const struct set_argument *set, const uint64_t *table,
                       const uint64_t *values, struct partial_set *list)
{
    for (uint64_t place = 0; place < set->capacity; place++) {
        const uint64_t pair = table[place] - 1, of_value = pair % (set->capacity + 1);
        if (table[place])
            add(list, group_of_slot(lister, pair / (set->capacity + 1)), set->low,
                of_value == set->capacity ? UINT64_MAX : values[of_value] - 1);
    }
}

static uint64_t table_words(const struct lister *lister, uint32_t a)
{
    const struct set_argument *set = &lister->run->arguments.sets[a];
    return lister->run->kernel.distinct[a] == DISTINCT_BY_BITS
               ? (lister->run->slots * (set->last + 1) + 63) / 64
               : set->capacity;
}

static enum status list_set(const struct lister *lister, uint32_t a, struct error *error)
{
    const struct device_run *run = lister->run;
    const struct set_argument *set = &run->arguments.sets[a];
    struct partial_set *const list = &lister->partial->sets[a];
    const enum distinct_kind kind = run->kernel.distinct[a];
    uint64_t *table = NULL, *values = NULL, count = 0;
    for (uint64_t group = 0; group < lister->partial->count; group++)
        count += (uint64_t)lister->partial->states[a][group];
    RETURN_IF_ERROR(partial_set_allocate(list, count, error));
    enum status status = fetch(run, set->table, table_words(lister, a), &table, error);
    if (status == STATUS_OK && kind == DISTINCT_BY_PAIRS)
        status = fetch(run, set_values(set), set->capacity, &values, error);
    list->count = 0;
    if (status == STATUS_OK && kind == DISTINCT_BY_BITS)
        list_bits(lister, set, table, list);
    else if (status == STATUS_OK && kind == DISTINCT_BY_KEYS)
        list_keys(lister, set, table, list);
    else if (status == STATUS_OK)
        list_pairs(lister, set, table, values, list);
    free(table);
    free(values);
    return status;
}

enum status cuda_sets_list(struct device_run *run, struct partial *partial, struct error *error)
{
    struct lister lister = {.run = run, .partial = partial};
    enum status status = STATUS_OK;
    bool any = false;
    for (uint32_t a = 0; a < run->plan->aggregate_count; a++)
        any |= plan_is_distinct(run->plan, a);
    if (run->nothing || !any)
        return STATUS_OK;
    status = partial_index_make(run->plan, partial, 0, &lister.index, error);
    status = AND_THEN(status, map_slots(&lister, error));
    for (uint32_t a = 0; status == STATUS_OK && a < run->plan->aggregate_count; a++)
        if (plan_is_distinct(run->plan, a))
            status = list_set(&lister, a, error);
    hash_table_free(&lister.index);
    free(lister.group_of_slot);
    return status;
}
