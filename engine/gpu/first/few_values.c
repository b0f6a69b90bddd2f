/* few_values.c: the groups of a scan that quantiles need (first_groups.h; operators/general/values_cuda.h says how). */
#include "engine/gpu/run_internal.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

#define VALUES_THREADS 256u

/* The list has room for so many values of bins that are kept, and for some of each group and quantile. */
#define LIST_MIN   (UINT64_C(1) << 20)
#define LIST_GROUP 4u

/* True if the measure is a quantile of the values of the plan's last term; adds it to the targets. */
static bool add_target(const struct plan *plan, const struct plan_measure *measure, struct values_work *work)
{
    const double fraction = (double)measure->fraction / (double)measure->whole;
    if (!measure_of(measure->kind)->first || !measure->of_values || measure->term != plan->grouping.listed ||
        measure->order_term != measure->term || measure->distinct || measure->count != 0 ||
        work->target_count == VALUES_TARGETS_MAX)
        return false;
    work->targets[work->target_count++] = measure->descending ? 1 - fraction : fraction;
    return true;
}

bool cuda_values_can(const struct plan *plan, struct values_work *work)
{
    const struct plan_grouping *grouping = &plan->grouping;
    *work = (struct values_work){.hashed = plan->shape == PLAN_HASH};
    if ((plan->shape != PLAN_HASH && plan->shape != PLAN_DENSE) || plan->key_words > 1 ||
        grouping->set_count != 1 || plan->group_count != grouping->listed + 1 || plan->measure_count == 0 ||
        grouping->sets[0] != grouping_all(grouping->listed) || plan->aggregate_count != 1 ||
        !plan_is_row_count(plan, 0))
        return false;
    const struct plan_group *value = &plan->groups[grouping->listed], *outermost = &plan->groups[0];
    const struct expression *node = &plan->expressions.nodes[value->expression];
    if (value->values || value->stride != 1 || node->type.kind == VALUE_STRING)
        return false;
    for (uint32_t m = 0; m < plan->measure_count; m++)
        if (!add_target(plan, &plan->measures[m], work))
            return false;
    work->domain = value->domain;
    work->bins = value->domain < VALUES_BINS_MAX ? value->domain : VALUES_BINS_MAX;
    work->width = (value->domain + work->bins - 1) / work->bins;
    work->nullable = value->nullable;
    work->groups = outermost->stride * outermost->domain / value->domain;
    work->capacity = LIST_GROUP * work->target_count * work->groups;
    work->capacity = work->capacity < LIST_MIN ? LIST_MIN : work->capacity;
    return work->groups <= VALUES_ALL_BINS_MAX / work->bins;
}

/* ---- Memory ---- */

static cuda_address take(cuda_address base, uint64_t *used, uint64_t bytes)
{
    const cuda_address piece = base + *used;
    *used += (bytes + 15) / 16 * 16;
    return piece;
}

/* Sets the addresses of the pieces of memory at `base`; returns the number of bytes. Those before `keep` are cleared. */
static uint64_t lay_out(struct cuda_groups *groups, cuda_address base)
{
    struct values_work *work = &groups->values;
    uint64_t used = 0;
    work->state = take(base, &used, sizeof(struct values_state));
    work->counts = take(base, &used, work->bins * work->groups * sizeof(uint64_t));
    work->keep = take(base, &used, work->bins * work->groups);
    work->lumps = take(base, &used, (work->target_count + 1) * work->groups * sizeof(struct values_lump));
    work->list = groups->first.list = take(base, &used, work->capacity * sizeof(uint64_t));
    groups->words = take(base, &used, groups->program_bytes);
    return used;
}

static enum status make_memory(struct device_run *run, struct error *error)
{
    struct cuda_groups *groups = &run->groups;
    if (groups->memory)
        return STATUS_OK;
    RETURN_IF_ERROR(cuda_columns_allocate(run->device->columns, lay_out(groups, 0), "the values of quantiles",
                                          &groups->memory, error));
    lay_out(groups, groups->memory);
    return cuda_send(run->cuda, groups->words, groups->program, groups->program_bytes, error);
}

/* ---- Launches ---- */

static enum status launch(struct device_run *run, struct cuda_function *function, uint64_t items,
                          struct error *error)
{
    void *arguments[] = {&run->groups.values};
    return cuda_launch(run->cuda, function, cuda_groups_blocks(run, items), VALUES_THREADS, 0, arguments,
                       error);
}

enum status cuda_values_list(struct device_run *run, uint64_t *count, bool *listed, struct error *error)
{
    struct cuda_groups *groups = &run->groups;
    struct values_work *work = &groups->values;
    struct values_state state;
    if (make_memory(run, NULL) != STATUS_OK)
        return STATUS_OK;
    RETURN_IF_ERROR(cuda_groups_send(run, error));
    RETURN_IF_ERROR(
        cuda_set_words(run->cuda, work->state, 0, (work->keep - work->state) / sizeof(uint32_t), error));
    RETURN_IF_ERROR(launch(run, groups->values_count, run->slots, error));
    RETURN_IF_ERROR(launch(run, groups->values_find, work->groups, error));
    RETURN_IF_ERROR(launch(run, groups->values_list, run->slots, error));
    RETURN_IF_ERROR(cuda_copy_to_host(run->cuda, &state, work->state, sizeof state, error));
    RETURN_IF_ERROR(cuda_synchronize(run->cuda, error));
    *listed = state.found <= work->capacity;
    *count = state.found;
    groups->lump_count = *listed ? state.lumps : 0;
    return STATUS_OK;
}

enum status cuda_values_lumps(struct device_run *run, uint64_t first, struct partial *groups,
                              struct error *error)
{
    const uint64_t count = run->groups.lump_count;
    struct values_lump *lumps;
    if (count == 0)
        return STATUS_OK;
    RETURN_IF_ERROR(memory_take(&lumps, count * sizeof *lumps, "groups", error));
    enum status status =
        cuda_copy_to_host(run->cuda, lumps, run->groups.values.lumps, count * sizeof *lumps, error);
    status = AND_THEN(status, cuda_synchronize(run->cuda, error));
    for (uint64_t i = 0; status == STATUS_OK && i < count; i++) {
        groups->keys[0][first + i] = lumps[i].number;
        groups->states[0][first + i] = (int64_t)lumps[i].rows;
    }
    free(lumps);
    return status;
}
