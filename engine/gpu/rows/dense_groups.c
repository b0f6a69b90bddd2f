/* dense_groups.c: see dense_groups.h. Threads count the used slots of some parts each, and then copy their states, column by
 * column: what is read and written one after the other. */
#include "engine/gpu/rows/dense_groups.h"

#include "storage/base/memory.h"
#include "storage/base/parallel.h"

#include <stdlib.h>

#define PART_SLOTS UINT64_C(16384)

struct dealing {
    const struct plan *plan;
    const struct slots_view *view;
    struct partial *groups;
    uint64_t *first; /* of each part its groups, then the number of the first of them */
};

static uint64_t part_end(const struct slots_view *view, uint64_t part)
{
    const uint64_t end = (part + 1) * PART_SLOTS;
    return end < view->slots ? end : view->slots;
}

static enum status count_part(void *context, uint64_t part, unsigned thread, struct error *error)
{
    const struct dealing *const dealing = context;
    const uint32_t *const present = dealing->view->present;
    const uint64_t end = part_end(dealing->view, part);
    uint64_t count = 0;
    (void)thread, (void)error;
    for (uint64_t slot = part * PART_SLOTS; slot < end; slot++)
        count += present[slot] != 0;
    dealing->first[part] = count;
    return STATUS_OK;
}

/* Copies a word of the states of the listed slots. */
static void copy_words(const uint64_t *words, const uint32_t *slots, uint64_t count,
                       int64_t (*host)(uint64_t), int64_t *to)
{
    if (host)
        for (uint64_t i = 0; i < count; i++)
            to[i] = host(words[slots[i]]);
    else
        for (uint64_t i = 0; i < count; i++)
            to[i] = (int64_t)words[slots[i]];
}

static enum status take_part(void *context, uint64_t part, unsigned thread, struct error *error)
{
    const struct dealing *const dealing = context;
    const struct slots_view *const view = dealing->view;
    const uint64_t from = part * PART_SLOTS, slots = part_end(view, part) - from;
    struct partial *const groups = dealing->groups;
    uint32_t used[PART_SLOTS];
    uint64_t count = 0;
    (void)thread, (void)error;
    for (uint64_t slot = 0; slot < slots; slot++) {
        used[count] = (uint32_t)slot;
        count += view->present[from + slot] != 0;
    }
    const uint64_t first = dealing->first[part];
    for (uint64_t i = 0; i < count; i++)
        groups->keys[0][first + i] = from + used[i];
    for (uint32_t a = 0; a < dealing->plan->aggregate_count; a++) {
        const uint64_t *const words = view->states[a] + from;
        copy_words(words, used, count, plan_aggregate_of(dealing->plan, a)->device.host,
                   groups->states[a] + first);
        if (groups->states_high[a])
            copy_words(words + view->slots, used, count, NULL, groups->states_high[a] + first);
    }
    return STATUS_OK;
}

/* The one group, which is there even if no row is in it. */
static enum status total_group(const struct plan *plan, const struct slots_view *view, struct partial *groups,
                               struct error *error)
{
    RETURN_IF_ERROR(partial_allocate(plan, 1, groups, error));
    groups->total_rows = view->present[0];
    for (uint32_t a = 0; a < plan->aggregate_count; a++) {
        const uint32_t slot = 0;
        copy_words(view->states[a], &slot, 1, plan_aggregate_of(plan, a)->device.host, groups->states[a]);
        if (groups->states_high[a])
            copy_words(view->states[a] + 1, &slot, 1, NULL, groups->states_high[a]);
    }
    return STATUS_OK;
}

enum status cuda_dense_groups(const struct device_run *run, const struct slots_view *view,
                              struct partial *groups, struct error *error)
{
    const uint64_t parts = (view->slots + PART_SLOTS - 1) / PART_SLOTS;
    const unsigned threads = run->device->threads;
    struct dealing dealing = {.plan = run->plan, .view = view, .groups = groups};
    uint64_t count = 0;
    if (run->plan->shape == PLAN_TOTAL)
        return total_group(run->plan, view, groups, error);
    RETURN_IF_ERROR(memory_take(&dealing.first, (parts + 1) * sizeof *dealing.first, "groups", error));
    enum status status = parallel_for(threads, parts, count_part, &dealing, error);
    for (uint64_t part = 0; status == STATUS_OK && part < parts; part++) {
        const uint64_t own = dealing.first[part];
        dealing.first[part] = count;
        count += own;
    }
    status = AND_THEN(status, partial_open(run->plan, count, groups, error));
    status = AND_THEN(status, parallel_for(threads, parts, take_part, &dealing, error));
    free(dealing.first);
    return status;
}
