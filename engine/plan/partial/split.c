/* split.c: splits a partial result by the owners of its groups (engine/plan/partial.h). */
#include "engine/plan/partial/parts.h"

#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

struct split {
    const struct plan *plan;
    const struct partial *from;
    const struct partial_set *set;
    uint32_t owners;
};

/* Hashed once more: an owner's groups must be in all parts of the merge that it makes of them. */
static uint32_t owner_of_group(const void *context, uint64_t group)
{
    const struct split *split = context;
    return (uint32_t)hash_part(hash_mix(partial_group_hash(split->plan, split->from, group)), split->owners);
}

static uint32_t owner_of_pair(const void *context, uint64_t pair)
{
    const struct split *split = context;
    return owner_of_group(split, split->set->groups[pair]);
}

/* Copies the groups of each owner; place[g] is group g's index in its part. */
static enum status split_groups(const struct split *split, const struct deal *deal, struct partial *parts,
                                uint64_t *place, struct error *error)
{
    for (uint32_t owner = 0; owner < split->owners; owner++) {
        const uint64_t first = deal->start[owner], count = deal->start[owner + 1] - first;
        RETURN_IF_ERROR(partial_allocate(split->plan, count, &parts[owner], error));
        for (uint64_t to = 0; to < count; to++) {
            const uint64_t group = deal->order[first + to];
            partial_group_copy(split->plan, &parts[owner], to, split->from, group);
            place[group] = to;
        }
    }
    return STATUS_OK;
}

static enum status split_set(const struct split *split, uint32_t a, struct partial *parts,
                             const uint64_t *place, struct error *error)
{
    const struct split of_set = {split->plan, split->from, &split->from->sets[a], split->owners};
    struct deal deal;
    enum status status = deal_make(of_set.set->count, split->owners, 1, owner_of_pair, &of_set, &deal, error);
    for (uint32_t owner = 0; status == STATUS_OK && owner < split->owners; owner++) {
        struct partial_set *const set = &parts[owner].sets[a];
        const uint64_t first = deal.start[owner], count = deal.start[owner + 1] - first;
        status = partial_set_allocate(set, count, error);
        for (uint64_t to = 0; status == STATUS_OK && to < count; to++) {
            const uint64_t pair = deal.order[first + to];
            set->groups[to] = place[of_set.set->groups[pair]];
            set->values[to] = of_set.set->values[pair];
        }
    }
    deal_free(&deal);
    return status;
}

static enum status split_all(const struct split *split, struct partial *parts, struct error *error)
{
    const struct plan *plan = split->plan;
    struct deal deal = {0};
    uint64_t *place = NULL;
    enum status status = memory_take(&place, (split->from->count + 1) * sizeof *place, "groups", error);
    if (status == STATUS_OK)
        status = deal_make(split->from->count, split->owners, 1, owner_of_group, split, &deal, error);
    if (status == STATUS_OK)
        status = split_groups(split, &deal, parts, place, error);
    for (uint32_t a = 0; status == STATUS_OK && a < plan->aggregate_count; a++)
        if (plan_is_distinct(plan, a))
            status = split_set(split, a, parts, place, error);
    parts[0].total_rows = split->from->total_rows; /* the only group of PLAN_TOTAL has the hash 0 */
    deal_free(&deal);
    free(place);
    return status;
}

static enum status copy_rows(const struct partial *from, struct partial *into, struct error *error)
{
    RETURN_IF_ERROR(spillable_rows(&into->rows, (from->count + 1) * sizeof *into->rows, "rows", error));
    into->count = from->count;
    if (from->count)
        memcpy(into->rows, from->rows, from->count * sizeof *into->rows);
    return STATUS_OK;
}

enum status partial_split(const struct plan *plan, const struct partial *from, uint32_t count,
                          struct partial *parts, struct error *error)
{
    const struct split split = {.plan = plan, .from = from, .owners = count};
    memset(parts, 0, count * sizeof *parts);
    const enum status status =
        plan->shape == PLAN_ROWS ? copy_rows(from, &parts[0], error) : split_all(&split, parts, error);
    for (uint32_t part = 0; status != STATUS_OK && part < count; part++)
        partial_free(&parts[part]);
    return status;
}
