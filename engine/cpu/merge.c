/*
 * merge.c: merges the states of all threads into one list of groups (group_states.h). One thread adds up
 * slots. Hashed groups, if they are many, are partitioned by their hashes: a part has the groups of its
 * partition from all threads' states, and threads make parts in parallel.
 */
#include "engine/cpu/group_states_internal.h"
#include "storage/base/parallel.h"

#include <stdlib.h>
#include <string.h>

/* The fewest groups, and the fewest threads' states, for which partitions pay. They need new memory, and each
 * part reads all hashes. Without partitions, one thread adds the other states to the first one, which has
 * about half of the groups already. */
#define PARTED_GROUPS  (1u << 15)
#define PARTED_SOURCES 4u

struct merge {
    const struct plan *plan;
    struct group_states **from;
    uint32_t from_count, part_count;
    struct group_states **parts;     /* NULL for a part that is not made yet */
    uint64_t **to;                   /* for each source: the argument `to` of distinct_set_merge */
    uint64_t *first;                 /* for each part: its first group in the answer */
    uint64_t hashed;                 /* the hashed groups of all sources */
    bool dealt[PLAN_AGGREGATES_MAX]; /* a count(distinct) of slots that is counted in partitions */
    bool mergeable;                  /* the answer has the values of each count(distinct) */
    struct partial *groups;
};

static void merge_group(struct group_states *states, uint64_t to, const struct group_states *from,
                        uint64_t at)
{
    states->rows[to] += from->rows[at];
    for (uint32_t a = 0; a < states->plan->aggregate_count; a++)
        state_merge(states->plan->aggregates[a].kind, states->low[a], states->high[a], to, from->low[a],
                    from->high[a], at);
}

/* ---- By one thread ---- */

/* Merges one source into the first; to[g] gets the new index of group g. */
static enum status merge_one(const struct merge *merge, const struct group_states *from, uint64_t *to,
                             struct error *error)
{
    struct group_states *const states = merge->from[0];
    const uint64_t groups = from->hashed ? from->count : from->capacity;
    for (uint64_t first = 0; first < groups; first += VECTOR_ROWS) {
        const uint32_t count = groups - first < VECTOR_ROWS ? (uint32_t)(groups - first) : VECTOR_ROWS;
        if (from->hashed)
            RETURN_IF_ERROR(
                group_states_find(states, count, from->keys + first * from->words, to + first, error));
        for (uint64_t at = first; at < first + count; at++) {
            to[at] = from->hashed ? to[at] : at;
            if (from->rows[at])
                merge_group(states, to[at], from, at);
        }
    }
    for (uint32_t a = 0; a < states->plan->aggregate_count; a++)
        if (states->plan->aggregates[a].kind == AGGREGATE_COUNT_DISTINCT && !merge->dealt[a])
            RETURN_IF_ERROR(distinct_set_merge(&states->sets[a], &from->sets[a], to, 0, 1, error));
    return STATUS_OK;
}

/* ---- Slots ---- */

/* A count(distinct) with many pairs, which are partitioned by their hashes; each part counts its own
 * pairs. */
struct deal {
    const struct merge *merge;
    uint32_t aggregate;
    const uint64_t *place;
};

static enum status count_part(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct deal *deal = context;
    const struct merge *merge = deal->merge;
    struct distinct_set set = {0};
    enum status status = STATUS_OK;
    (void)thread;
    for (uint32_t s = 0; status == STATUS_OK && s < merge->from_count; s++)
        status = distinct_set_merge(&set, &merge->from[s]->sets[deal->aggregate], NULL, item,
                                    merge->part_count, error);
    if (status == STATUS_OK)
        distinct_set_export(&set, deal->place, merge->groups->states[deal->aggregate]);
    distinct_set_close(&set);
    return status;
}

static void choose_dealt(struct merge *merge)
{
    for (uint32_t a = 0; a < merge->plan->aggregate_count && !merge->from[0]->hashed && !merge->mergeable;
         a++) {
        uint64_t pairs = 0;
        for (uint32_t s = 0; s < merge->from_count; s++)
            pairs += merge->from[s]->sets[a].count;
        merge->dealt[a] = merge->from_count >= PARTED_SOURCES && pairs >= PARTED_GROUPS;
    }
}

static enum status export_sets(const struct merge *merge, const uint64_t *place, struct error *error)
{
    for (uint32_t a = 0; merge->mergeable && a < merge->plan->aggregate_count; a++)
        if (merge->plan->aggregates[a].kind == AGGREGATE_COUNT_DISTINCT)
            RETURN_IF_ERROR(
                distinct_set_list(&merge->from[0]->sets[a], place, &merge->groups->sets[a], error));
    return STATUS_OK;
}

static enum status export_slots(const struct merge *merge, unsigned threads, struct error *error)
{
    const struct group_states *const states = merge->from[0];
    struct partial *const groups = merge->groups;
    const bool total = states->plan->shape == PLAN_TOTAL;
    uint64_t *place = malloc((states->capacity + 1) * sizeof *place);
    if (!place)
        return error_out_of_memory(error, states->capacity * sizeof *place, "groups");
    uint64_t count = 0;
    for (uint64_t group = 0; group < states->capacity; group++)
        place[group] = states->rows[group] || total ? count++ : UINT64_MAX;
    enum status status = partial_allocate(states->plan, count, groups, error);
    groups->total_rows = total ? states->rows[0] : 0;
    for (uint64_t group = 0; status == STATUS_OK && group < states->capacity; group++) {
        if (place[group] == UINT64_MAX)
            continue;
        groups->keys[0][place[group]] = group;
        for (uint32_t a = 0; a < states->plan->aggregate_count; a++) {
            groups->states[a][place[group]] = states->low[a][group];
            if (states->high[a])
                groups->states_high[a][place[group]] = states->high[a][group];
        }
    }
    for (uint32_t a = 0; status == STATUS_OK && a < states->plan->aggregate_count; a++)
        if (merge->dealt[a])
            status =
                parallel_for(threads, merge->part_count, count_part, &(struct deal){merge, a, place}, error);
        else if (states->plan->aggregates[a].kind == AGGREGATE_COUNT_DISTINCT)
            distinct_set_export(&states->sets[a], place, groups->states[a]);
    if (status == STATUS_OK)
        status = export_sets(merge, place, error);
    free(place);
    return status;
}

/* Writes hashed groups to the answer, from index `first` on. Each of them has rows. */
static void export_hashed(const struct group_states *states, uint64_t first, struct partial *groups)
{
    const uint32_t words = states->words;
    for (uint32_t word = 0; word < words; word++)
        for (uint64_t group = 0; group < states->count; group++)
            groups->keys[word][first + group] = states->keys[group * words + word];
    for (uint32_t a = 0; a < states->plan->aggregate_count; a++) {
        memcpy(groups->states[a] + first, states->low[a], states->count * sizeof(int64_t));
        if (states->high[a])
            memcpy(groups->states_high[a] + first, states->high[a], states->count * sizeof(int64_t));
        if (states->plan->aggregates[a].kind == AGGREGATE_COUNT_DISTINCT)
            distinct_set_export(&states->sets[a], NULL, groups->states[a] + first);
    }
}

static enum status merge_serially(struct merge *merge, unsigned threads, struct error *error)
{
    struct group_states *const all = merge->from[0];
    choose_dealt(merge);
    for (uint32_t s = 1; s < merge->from_count; s++)
        RETURN_IF_ERROR(merge_one(merge, merge->from[s], merge->to[s], error));
    if (!all->hashed)
        return export_slots(merge, threads, error);
    RETURN_IF_ERROR(partial_allocate(merge->plan, all->count, merge->groups, error));
    export_hashed(all, 0, merge->groups);
    return export_sets(merge, NULL, error);
}

/* ---- In partitions ---- */

/* A batch of groups of one source that belong to one part. */
struct batch {
    uint32_t count;
    uint64_t keys[VECTOR_ROWS * PLAN_KEY_WORDS_MAX], at[VECTOR_ROWS], groups[VECTOR_ROWS];
};

static enum status take_batch(struct group_states *part, const struct group_states *from, uint64_t mark,
                              uint64_t *to, struct batch *batch, struct error *error)
{
    RETURN_IF_ERROR(group_states_find(part, batch->count, batch->keys, batch->groups, error));
    for (uint32_t i = 0; i < batch->count; i++) {
        to[batch->at[i]] = mark | batch->groups[i];
        merge_group(part, batch->groups[i], from, batch->at[i]);
    }
    batch->count = 0;
    return STATUS_OK;
}

static enum status make_part(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct merge *merge = context;
    struct batch batch = {0};
    (void)thread;
    RETURN_IF_ERROR(group_states_create(merge->plan, &merge->parts[item], error));
    struct group_states *const part = merge->parts[item];
    RETURN_IF_ERROR(group_states_reserve(part, merge->hashed / merge->part_count, error));
    for (uint32_t s = 0; s < merge->from_count; s++) {
        const struct group_states *from = merge->from[s];
        for (uint64_t group = 0; group < from->count; group++) {
            const uint64_t *const key = from->keys + group * from->words;
            if (hash_part(group_states_hash(key, from->words), merge->part_count) != item)
                continue;
            memcpy(batch.keys + batch.count * (size_t)from->words, key, from->words * sizeof *key);
            batch.at[batch.count++] = group;
            if (batch.count == VECTOR_ROWS)
                RETURN_IF_ERROR(
                    take_batch(part, from, item << GROUP_PART_SHIFT, merge->to[s], &batch, error));
        }
        RETURN_IF_ERROR(take_batch(part, from, item << GROUP_PART_SHIFT, merge->to[s], &batch, error));
        RETURN_IF_ERROR(cancel_check(error));
    }
    return STATUS_OK;
}

/* Merges the distinct values of a part, and writes its groups to the answer. All parts must have been
 * made. */
static enum status finish_part(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct merge *merge = context;
    struct group_states *const part = merge->parts[item];
    (void)thread;
    for (uint32_t a = 0; a < merge->plan->aggregate_count; a++)
        for (uint32_t s = 0;
             merge->plan->aggregates[a].kind == AGGREGATE_COUNT_DISTINCT && s < merge->from_count; s++)
            RETURN_IF_ERROR(distinct_set_merge(&part->sets[a], &merge->from[s]->sets[a], merge->to[s], item,
                                               merge->part_count, error));
    export_hashed(part, merge->first[item], merge->groups);
    return STATUS_OK;
}

static enum status merge_by_parts(struct merge *merge, unsigned threads, struct error *error)
{
    uint64_t count = 0;
    RETURN_IF_ERROR(parallel_for(threads, merge->part_count, make_part, merge, error));
    for (uint32_t p = 0; p < merge->part_count; p++) {
        merge->first[p] = count;
        count += merge->parts[p]->count;
    }
    RETURN_IF_ERROR(partial_allocate(merge->plan, count, merge->groups, error));
    return parallel_for(threads, merge->part_count, finish_part, merge, error);
}

/* True if distinct values must be listed, which needs all of them in one set. */
static bool lists_values(const struct merge *merge)
{
    bool any = false;
    for (uint32_t a = 0; a < merge->plan->aggregate_count; a++)
        any |= merge->plan->aggregates[a].kind == AGGREGATE_COUNT_DISTINCT;
    return any && merge->mergeable;
}

enum status group_states_collect(const struct plan *plan, struct group_states **from, uint32_t count,
                                 unsigned threads, bool mergeable, struct partial *groups,
                                 struct error *error)
{
    struct merge merge = {.plan = plan,
                          .from = from,
                          .from_count = count,
                          .part_count = threads,
                          .mergeable = mergeable,
                          .groups = groups};
    merge.parts = calloc(threads, sizeof *merge.parts);
    merge.first = calloc(threads, sizeof *merge.first);
    merge.to = calloc(count, sizeof *merge.to);
    enum status status = merge.parts && merge.first && merge.to
                             ? STATUS_OK
                             : error_out_of_memory(error, (threads + count) * 8, "groups");
    for (uint32_t s = 0; s < count; s++)
        merge.hashed += from[s]->hashed ? from[s]->count : 0;
    for (uint32_t s = 0; status == STATUS_OK && s < count && count > 1; s++)
        if (!(merge.to[s] = malloc((from[s]->capacity + 1) * sizeof **merge.to)))
            status = error_out_of_memory(error, from[s]->capacity * sizeof **merge.to, "groups");
    if (status == STATUS_OK)
        status = count >= PARTED_SOURCES && merge.hashed >= PARTED_GROUPS && !lists_values(&merge)
                     ? merge_by_parts(&merge, threads, error)
                     : merge_serially(&merge, threads, error);
    for (uint32_t p = 0; merge.parts && p < threads; p++)
        group_states_free(merge.parts[p]);
    for (uint32_t s = 0; merge.to && s < count; s++)
        free(merge.to[s]);
    free(merge.parts);
    free(merge.first);
    free(merge.to);
    return status;
}
