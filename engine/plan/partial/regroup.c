/* regroup.c: see regroup.h. */
#include "engine/plan/partial/regroup.h"

#include "engine/plan/partial/parts.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_GROUPS 65536u

struct renumbering {
    const struct plan *plan;
    const struct partial *from;
    uint64_t set;
    uint64_t *const *numbers;
};

/* The group's number without the terms that are not in the set. */
static void number_of(const struct plan *plan, const struct partial *from, uint64_t group, uint64_t set,
                      uint64_t number[PLAN_KEY_WORDS_MAX])
{
    for (uint32_t word = 0; word < plan->key_words; word++)
        number[word] = 0;
    for (uint32_t g = 0; g < plan->grouping.listed; g++)
        if (set >> g & 1) {
            const struct plan_group *const term = &plan->groups[g];
            number[term->word] += partial_group_code(from, term, group) * term->stride;
        }
}

static enum status renumber_chunk(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct renumbering *renumbering = context;
    const uint64_t begin = item * CHUNK_GROUPS, left = renumbering->from->count - begin,
                   end = begin + (left < CHUNK_GROUPS ? left : CHUNK_GROUPS);
    uint64_t number[PLAN_KEY_WORDS_MAX];
    (void)thread;
    for (uint64_t group = begin; group < end; group++) {
        number_of(renumbering->plan, renumbering->from, group, renumbering->set, number);
        for (uint32_t word = 0; word < renumbering->plan->key_words; word++)
            renumbering->numbers[word][group] = number[word];
    }
    return cancel_check(error);
}

enum status partial_renumber(const struct plan *plan, const struct partial *from, uint32_t s,
                             unsigned threads, uint64_t *const *numbers, struct error *error)
{
    struct renumbering renumbering = {plan, from, plan->grouping.sets[s], numbers};
    return parallel_for(threads, (from->count + CHUNK_GROUPS - 1) / CHUNK_GROUPS, renumber_chunk,
                        &renumbering, error);
}

/* True if the set has all terms of the scan: then no two groups are alike. */
static bool has_all_terms(const struct plan *plan, uint64_t set)
{
    for (uint32_t g = 0; g < plan->group_count; g++)
        if (g >= plan->grouping.listed || !(set >> g & 1))
            return false;
    return true;
}

enum status partial_regroup(const struct plan *plan, const struct partial *from, uint32_t s, unsigned threads,
                            struct partial *into, uint64_t *to, struct error *error)
{
    const uint64_t set = plan->grouping.sets[s];
    struct partial renumbered;
    *into = (struct partial){0};
    if (from->count && has_all_terms(plan, set)) {
        for (uint64_t group = 0; group < from->count; group++)
            to[group] = group;
        RETURN_IF_ERROR(partial_append_groups(plan, into, from, error));
    } else {
        enum status status = STATUS_OK;
        renumbered = *from; /* the same states */
        memset(renumbered.keys, 0, sizeof renumbered.keys);
        for (uint32_t word = 0; status == STATUS_OK && word < plan->key_words; word++)
            status = memory_take(&renumbered.keys[word], (from->count + 1) * sizeof *renumbered.keys[word],
                                 "groups", error);
        status = AND_THEN(status, partial_renumber(plan, from, s, threads, renumbered.keys, error));
        if (status == STATUS_OK)
            status = partial_merge_alike(plan, &renumbered, threads, into, to, error);
        for (uint32_t word = 0; word < plan->key_words; word++)
            free(renumbered.keys[word]);
        RETURN_IF_ERROR(status);
    }
    if (into->count == 0 && set == 0)
        into->count = 1; /* all zeros */
    return STATUS_OK;
}

static enum status append(int64_t **words, uint64_t had, const int64_t *more, uint64_t count,
                          struct error *error)
{
    RETURN_IF_ERROR(memory_grow(words, (had + count + 1) * sizeof **words, "groups", error));
    memcpy(*words + had, more, count * sizeof **words);
    return STATUS_OK;
}

enum status partial_append_groups(const struct plan *plan, struct partial *into, const struct partial *from,
                                  struct error *error)
{
    RETURN_IF_ERROR(partial_charge_groups(plan, from->count, into, error));
    into->aggregates = plan->aggregate_count;
    for (uint32_t word = 0; word < plan->key_words; word++)
        RETURN_IF_ERROR(append((int64_t **)&into->keys[word], into->count, (const int64_t *)from->keys[word],
                               from->count, error));
    for (uint32_t a = 0; a < plan->aggregate_count; a++) {
        RETURN_IF_ERROR(append(&into->states[a], into->count, from->states[a], from->count, error));
        if (plan_aggregate_of(plan, a)->words > 1)
            RETURN_IF_ERROR(
                append(&into->states_high[a], into->count, from->states_high[a], from->count, error));
    }
    into->count += from->count;
    into->total_rows = from->total_rows;
    return STATUS_OK;
}
