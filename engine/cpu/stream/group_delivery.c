/* group_delivery.c: see group_delivery.h. */
#include "engine/cpu/stream/group_delivery.h"

void group_export(const struct plan *plan, const struct group_layout *layout, const uint64_t *entries,
                  uint64_t count, struct partial *groups, uint64_t first)
{
    const uint64_t stride = layout->stride;
    for (uint32_t word = 0; word < layout->words; word++) {
        uint64_t *const keys = groups->keys[word] + first;
        for (uint64_t g = 0; g < count; g++)
            keys[g] = entries[g * stride + word];
    }
    for (uint32_t a = 0; a < layout->aggregate_count; a++) {
        const int64_t *const from = (const int64_t *)entries + layout->offset[a];
        int64_t *const low = plan_is_distinct(plan, a) ? NULL : groups->states[a] + first,
                       *const high = groups->states_high[a] ? groups->states_high[a] + first : NULL;
        for (uint64_t g = 0; low && g < count; g++)
            low[g] = from[g * stride];
        for (uint64_t g = 0; high && g < count; g++)
            high[g] = from[g * stride + 1];
    }
}

void group_delivery_free(struct group_delivery *delivery)
{
    partial_free(&delivery->groups);
}

enum status group_delivery_flush(struct group_delivery *delivery, struct error *error)
{
    if (delivery->count == 0)
        return STATUS_OK;
    delivery->groups.count = delivery->count;
    delivery->count = 0;
    return delivery->sink->take(delivery->sink, &delivery->groups, delivery->thread, error);
}

enum status group_delivery_add(struct group_delivery *delivery, const struct group_layout *layout,
                               const uint64_t *entries, uint64_t count, struct error *error)
{
    if (!delivery->groups.aggregates && !delivery->groups.keys[0])
        RETURN_IF_ERROR(partial_allocate(delivery->plan, VECTOR_ROWS, &delivery->groups, error));
    while (count) {
        const uint64_t room = VECTOR_ROWS - delivery->count, here = count < room ? count : room;
        group_export(delivery->plan, layout, entries, here, &delivery->groups, delivery->count);
        delivery->count += (uint32_t)here;
        entries += here * layout->stride;
        count -= here;
        if (delivery->count == VECTOR_ROWS)
            RETURN_IF_ERROR(group_delivery_flush(delivery, error));
    }
    return STATUS_OK;
}
