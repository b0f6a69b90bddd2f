/* regroup.c: see regroup.h. */
#include "engine/plan/partial/regroup.h"

#include "engine/plan/partial/parts.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"

#include <string.h>

/* Groups between two looks at whether the statement was cancelled. */
#define CANCEL_GROUPS 65536u

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

static enum status merge_alike(const struct plan *plan, const struct partial *from, uint64_t set,
                               const struct partial_index *index, struct partial *into, uint64_t *to,
                               struct error *error)
{
    uint64_t number[PLAN_KEY_WORDS_MAX];
    for (uint64_t group = 0; group < from->count; group++) {
        if (group % CANCEL_GROUPS == 0)
            RETURN_IF_ERROR(cancel_check(error));
        number_of(plan, from, group, set, number);
        to[group] = partial_group_merge(plan, into, index, number, from, group);
    }
    return STATUS_OK;
}

enum status partial_regroup(const struct plan *plan, const struct partial *from, uint32_t s,
                            struct partial *into, uint64_t *to, struct error *error)
{
    struct partial_index index = {0};
    *into = (struct partial){0};
    RETURN_IF_ERROR(partial_allocate(plan, from->count + 1, into, error));
    into->count = 0;
    into->total_rows = from->total_rows;
    enum status status = partial_index_make(plan, into, from->count, &index, error);
    if (status == STATUS_OK)
        status = merge_alike(plan, from, plan->grouping.sets[s], &index, into, to, error);
    if (status == STATUS_OK && into->count == 0 && plan->grouping.sets[s] == 0)
        into->count = 1; /* all zeros */
    partial_index_free(&index);
    return status;
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
    into->aggregates = plan->aggregate_count;
    for (uint32_t word = 0; word < plan->key_words; word++)
        RETURN_IF_ERROR(append((int64_t **)&into->keys[word], into->count, (const int64_t *)from->keys[word],
                               from->count, error));
    for (uint32_t a = 0; a < plan->aggregate_count; a++) {
        RETURN_IF_ERROR(append(&into->states[a], into->count, from->states[a], from->count, error));
        if (plan->aggregates[a].kind == AGGREGATE_SUM_WIDE)
            RETURN_IF_ERROR(
                append(&into->states_high[a], into->count, from->states_high[a], from->count, error));
    }
    into->count += from->count;
    into->total_rows = from->total_rows;
    return STATUS_OK;
}
