/* merge_sets.c: merges the values of a count(distinct) (parts.h). Pairs of a group and a value are dealt to parts by
 * their hashes, so that a single group with many values is merged by all threads. */
#include "engine/plan/partial/parts.h"

#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* The fewest pairs that a thread merges. */
#define PART_PAIRS (UINT64_C(1) << 15)

/* A part counts in memory of its own if there are at most this many groups, else in the result's, atomically. */
#define OWN_COUNTS 4096u

struct sets_merge {
    const struct partial *from;
    uint32_t count, aggregate, parts, input; /* `input`: the one that is dealt */
    uint64_t *const *to;
    struct deal *deals;       /* of each input */
    struct partial_set *sets; /* of each part */
    uint64_t *first;          /* of each part in the result */
    struct partial *into;
};

static uint32_t part_of_pair(const void *context, uint64_t pair)
{
    const struct sets_merge *merge = context;
    const struct partial_set *set = &merge->from[merge->input].sets[merge->aggregate];
    return (uint32_t)hash_part(
        partial_pair_hash(merge->to[merge->input][set->groups[pair]], set->values[pair]), merge->parts);
}

static void count_pairs(const struct partial_set *set, struct partial *into, int64_t *own, uint32_t a)
{
    for (uint64_t pair = 0; pair < set->count; pair++)
        if (own)
            own[set->groups[pair]]++;
        else
            __atomic_fetch_add(&into->states[a][set->groups[pair]], 1, __ATOMIC_RELAXED);
    for (uint64_t group = 0; own && group < into->count; group++)
        if (own[group])
            __atomic_fetch_add(&into->states[a][group], own[group], __ATOMIC_RELAXED);
}

static enum status merge_part(void *context, uint64_t part, unsigned thread, struct error *error)
{
    const struct sets_merge *merge = context;
    struct partial_set *const set = &merge->sets[part];
    struct hash_table index = {0};
    uint64_t most = 0;
    int64_t *own = NULL;
    (void)thread;
    for (uint32_t i = 0; i < merge->count; i++)
        most += merge->deals[i].start[part + 1] - merge->deals[i].start[part];
    RETURN_IF_ERROR(partial_set_allocate(set, most, error));
    set->count = 0;
    enum status status = hash_table_reserve(&index, most, "distinct values", error);
    for (uint32_t i = 0; status == STATUS_OK && i < merge->count; i++) {
        const struct partial_set *from = &merge->from[i].sets[merge->aggregate];
        const struct deal *deal = &merge->deals[i];
        for (uint64_t d = deal->start[part]; d < deal->start[part + 1]; d++) {
            const uint64_t pair = deal->order[d];
            (void)partial_pair_add(&index, set, merge->to[i][from->groups[pair]], from->values[pair]);
        }
        status = cancel_check(error);
    }
    hash_table_free(&index);
    if (status == STATUS_OK && merge->into->count <= OWN_COUNTS)
        status = memory_zeros(&own, (merge->into->count + 1) * sizeof *own, "distinct values", error);
    if (status == STATUS_OK)
        count_pairs(set, merge->into, own, merge->aggregate);
    free(own);
    return status;
}

static enum status copy_part(void *context, uint64_t part, unsigned thread, struct error *error)
{
    const struct sets_merge *merge = context;
    const struct partial_set *from = &merge->sets[part];
    const struct partial_set *into = &merge->into->sets[merge->aggregate];
    (void)thread;
    (void)error;
    if (from->count) {
        memcpy(into->groups + merge->first[part], from->groups, from->count * sizeof *from->groups);
        memcpy(into->values + merge->first[part], from->values, from->count * sizeof *from->values);
    }
    return STATUS_OK;
}

/* One list of all parts' pairs. */
static enum status join_parts(struct sets_merge *merge, unsigned threads, struct error *error)
{
    struct partial_set *const set = &merge->into->sets[merge->aggregate];
    uint64_t pairs = 0;
    if (merge->parts == 1) {
        *set = merge->sets[0];
        merge->sets[0] = (struct partial_set){0};
        return STATUS_OK;
    }
    for (uint32_t part = 0; part < merge->parts; part++) {
        merge->first[part] = pairs;
        pairs += merge->sets[part].count;
    }
    RETURN_IF_ERROR(partial_set_allocate(set, pairs, error));
    return parallel_for(threads, merge->parts, copy_part, merge, error);
}

static enum status merge_all(struct sets_merge *merge, unsigned threads, struct error *error)
{
    RETURN_IF_ERROR(memory_zeros(&merge->deals, merge->count * sizeof *merge->deals, "sets", error));
    RETURN_IF_ERROR(memory_zeros(&merge->sets, merge->parts * sizeof *merge->sets, "sets", error));
    RETURN_IF_ERROR(memory_zeros(&merge->first, merge->parts * sizeof *merge->first, "sets", error));
    for (merge->input = 0; merge->input < merge->count; merge->input++)
        RETURN_IF_ERROR(deal_make(merge->from[merge->input].sets[merge->aggregate].count, merge->parts,
                                  threads, part_of_pair, merge, &merge->deals[merge->input], error));
    if (merge->into->count)
        memset(merge->into->states[merge->aggregate], 0,
               merge->into->count * sizeof *merge->into->states[merge->aggregate]);
    RETURN_IF_ERROR(parallel_for(threads, merge->parts, merge_part, merge, error));
    return join_parts(merge, threads, error);
}

enum status partial_merge_set(const struct partial *from, uint32_t count, uint32_t a, uint64_t *const *to,
                              unsigned threads, struct partial *into, struct error *error)
{
    struct sets_merge merge = {.from = from, .count = count, .aggregate = a, .to = to, .into = into};
    uint64_t pairs = 0;
    for (uint32_t i = 0; i < count; i++)
        pairs += from[i].sets[a].count;
    merge.parts = pairs / PART_PAIRS < threads ? (uint32_t)(pairs / PART_PAIRS) + 1 : threads;
    const enum status status = merge_all(&merge, threads, error);
    for (uint32_t i = 0; merge.deals && i < count; i++)
        deal_free(&merge.deals[i]);
    for (uint32_t part = 0; merge.sets && part < merge.parts; part++) {
        free(merge.sets[part].groups);
        free(merge.sets[part].values);
    }
    free(merge.deals);
    free(merge.sets);
    free(merge.first);
    return status;
}
