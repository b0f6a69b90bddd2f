/* merge_all.c: merges many partial results at once (engine/plan/partial.h). Each part of the groups, by the hashes of
 * their numbers, is merged by one thread; then the parts are put into one result. */
#include "engine/plan/partial/parts.h"

#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* The groups of a part: its index and states fit a core's cache, so that merging takes 20 ns a group; starting a thread
 * takes some tens of µs. There are no more parts than PARTS_MAX, or threads. */
#define PART_GROUPS (UINT64_C(1) << 14)
#define PARTS_MAX   256u

struct groups_merge {
    const struct plan *plan;
    struct partial *from;
    uint32_t count, parts, input; /* `input`: the one that is dealt */
    bool alike;                   /* the inputs stay, and `to` is the caller's */
    struct deal *deals;           /* of each input */
    uint64_t **to;                /* for each input: the new index of each group */
    struct partial *merged;       /* of each part */
    uint64_t *first;              /* of each part in the result */
    struct partial *into;
};

static uint32_t part_of_group(const void *context, uint64_t group)
{
    const struct groups_merge *merge = context;
    return partial_group_owner(merge->plan, &merge->from[merge->input], group, merge->parts);
}

/* Merges a part's groups of one input; `places` is of the part. */
static void merge_input(const struct groups_merge *merge, uint32_t input, uint64_t part,
                        struct hash_table *places)
{
    const struct partial *from = &merge->from[input];
    const struct deal *deal = &merge->deals[input];
    struct partial *const into = &merge->merged[part];
    for (uint64_t d = deal->start[part]; d < deal->start[part + 1]; d++) {
        const uint64_t group = deal->order[d];
        uint64_t number[PLAN_KEY_WORDS_MAX];
        for (uint32_t word = 0; word < merge->plan->key_words; word++)
            number[word] = from->keys[word][group];
        merge->to[input][group] = partial_group_merge(merge->plan, into, places, number, from, group);
    }
    if (part == 0)
        into->total_rows += from->total_rows;
}

static enum status merge_part(void *context, uint64_t part, unsigned thread, struct error *error)
{
    const struct groups_merge *merge = context;
    struct partial *const into = &merge->merged[part];
    struct hash_table places = {0};
    uint64_t most = 0;
    (void)thread;
    for (uint32_t i = 0; i < merge->count; i++)
        most += merge->deals[i].start[part + 1] - merge->deals[i].start[part];
    RETURN_IF_ERROR(partial_allocate(merge->plan, most, into, error));
    into->count = 0;
    RETURN_IF_ERROR(partial_index_make(merge->plan, into, most, &places, error));
    enum status status = STATUS_OK;
    for (uint32_t i = 0; status == STATUS_OK && i < merge->count; i++) {
        merge_input(merge, i, part, &places);
        status = cancel_check(error);
    }
    hash_table_free(&places);
    return status;
}

static enum status copy_part(void *context, uint64_t part, unsigned thread, struct error *error)
{
    const struct groups_merge *merge = context;
    const struct plan *plan = merge->plan;
    struct partial *const from = &merge->merged[part], *const into = merge->into;
    const uint64_t first = merge->first[part], bytes = from->count * sizeof(uint64_t);
    (void)thread;
    (void)error;
    for (uint32_t word = 0; word < plan->key_words; word++)
        memcpy(into->keys[word] + first, from->keys[word], bytes);
    for (uint32_t a = 0; a < plan->aggregate_count; a++) {
        memcpy(into->states[a] + first, from->states[a], bytes);
        if (into->states_high[a])
            memcpy(into->states_high[a] + first, from->states_high[a], bytes);
    }
    for (uint32_t i = 0; i < merge->count; i++) {
        const struct deal *deal = &merge->deals[i];
        for (uint64_t d = deal->start[part]; d < deal->start[part + 1]; d++)
            merge->to[i][deal->order[d]] += first;
    }
    partial_free(from);
    return STATUS_OK;
}

/* One result of all parts' groups. */
static enum status join_parts(struct groups_merge *merge, unsigned threads, struct error *error)
{
    const uint64_t rows = merge->merged[0].total_rows;
    uint64_t groups = 0;
    if (merge->parts == 1) {
        *merge->into = merge->merged[0];
        merge->merged[0] = (struct partial){0};
        return STATUS_OK;
    }
    for (uint32_t part = 0; part < merge->parts; part++) {
        merge->first[part] = groups;
        groups += merge->merged[part].count;
    }
    RETURN_IF_ERROR(partial_allocate(merge->plan, groups, merge->into, error));
    merge->into->total_rows = rows;
    return parallel_for(threads, merge->parts, copy_part, merge, error);
}

static void free_groups(struct partial *partial)
{
    struct partial_set sets[PLAN_AGGREGATES_MAX];
    const uint32_t aggregates = partial->aggregates;
    memcpy(sets, partial->sets, sizeof sets);
    memset(partial->sets, 0, sizeof partial->sets);
    partial_free(partial);
    memcpy(partial->sets, sets, sizeof sets);
    partial->aggregates = aggregates;
}

static enum status merge_groups(struct groups_merge *merge, unsigned threads, struct error *error)
{
    const struct plan *plan = merge->plan;
    RETURN_IF_ERROR(memory_zeros(&merge->deals, merge->count * sizeof *merge->deals, "groups", error));
    if (!merge->alike)
        RETURN_IF_ERROR(memory_zeros(&merge->to, merge->count * sizeof *merge->to, "groups", error));
    RETURN_IF_ERROR(memory_zeros(&merge->merged, merge->parts * sizeof *merge->merged, "groups", error));
    RETURN_IF_ERROR(memory_zeros(&merge->first, merge->parts * sizeof *merge->first, "groups", error));
    for (merge->input = 0; merge->input < merge->count; merge->input++) {
        const uint64_t groups = merge->from[merge->input].count;
        if (!merge->alike)
            RETURN_IF_ERROR(
                memory_take(&merge->to[merge->input], (groups + 1) * sizeof **merge->to, "groups", error));
        RETURN_IF_ERROR(deal_make(groups, merge->parts, threads, part_of_group, merge,
                                  &merge->deals[merge->input], error));
    }
    RETURN_IF_ERROR(parallel_for(threads, merge->parts, merge_part, merge, error));
    for (uint32_t i = 0; !merge->alike && i < merge->count; i++)
        free_groups(&merge->from[i]);
    RETURN_IF_ERROR(join_parts(merge, threads, error));
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        if (plan_is_distinct(plan, a))
            RETURN_IF_ERROR(
                partial_merge_set(merge->from, merge->count, a, merge->to, threads, merge->into, error));
    return STATUS_OK;
}

static enum status merge_by_parts(struct groups_merge *merge, unsigned threads, struct error *error)
{
    uint64_t groups = 0;
    for (uint32_t i = 0; i < merge->count; i++)
        groups += merge->from[i].count;
    const uint32_t most = threads > PARTS_MAX ? threads : PARTS_MAX;
    merge->parts = groups / PART_GROUPS < most ? (uint32_t)(groups / PART_GROUPS) + 1 : most;
    const enum status status = merge_groups(merge, threads, error);
    for (uint32_t i = 0; i < merge->count; i++) {
        if (merge->deals)
            deal_free(&merge->deals[i]);
        if (merge->to && !merge->alike)
            free(merge->to[i]);
    }
    for (uint32_t part = 0; merge->merged && part < merge->parts; part++)
        partial_free(&merge->merged[part]);
    free(merge->deals);
    if (!merge->alike)
        free(merge->to);
    free(merge->merged);
    free(merge->first);
    return status;
}

enum status partial_merge_alike(const struct plan *plan, const struct partial *from, unsigned threads,
                                struct partial *into, uint64_t *to, struct error *error)
{
    struct partial input = *from;
    struct groups_merge merge = {
        .plan = plan, .from = &input, .count = 1, .into = into, .to = &to, .alike = true};
    *into = (struct partial){0};
    return merge_by_parts(&merge, threads ? threads : 1, error);
}

enum status partial_merge_all(const struct plan *plan, struct partial *from, uint32_t count, unsigned threads,
                              struct partial *into, struct error *error)
{
    struct groups_merge merge = {.plan = plan, .from = from, .count = count, .into = into};
    enum status status = STATUS_OK;
    *into = (struct partial){0};
    if (count == 1) {
        *into = from[0];
        from[0] = (struct partial){0};
        return STATUS_OK;
    }
    threads = threads ? threads : 1;
    status = plan->shape == PLAN_ROWS ? partial_merge_rows(from, count, threads, into, error)
                                      : merge_by_parts(&merge, threads, error);
    for (uint32_t i = 0; i < count; i++)
        partial_free(&from[i]);
    if (status != STATUS_OK)
        partial_free(into);
    return status;
}
