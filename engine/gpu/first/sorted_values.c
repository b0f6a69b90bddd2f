/* sorted_values.c: see sorted_values.h. */
#include "engine/gpu/first/sorted_values.h"

#include "engine/gpu/run_internal.h"
#include "engine/gpu/sort/radix_sort.h"
#include "operators/general/values.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"

#include <stdlib.h>

/* The sum of the different codes of a group fits 64 bits. */
#define DOMAIN_MAX (UINT64_C(1) << 32)

#define CHUNK_GROUPS 16384u

/* Blocks of a multiprocessor: all that are resident. */
#define BLOCKS 8u

/* ---- Which plans ---- */

/* What a number of the scan is divided by to give the statement's group. */
static uint64_t group_stride(const struct plan *plan)
{
    const struct plan_group *const outermost = &plan->groups[0];
    return plan->grouping.listed ? plan->groups[plan->grouping.listed - 1].stride
                                 : outermost->stride * outermost->domain;
}

static bool can_measure(const struct plan *plan, const struct plan_measure *measure)
{
    const struct measure *const of = measure_of(measure->kind);
    if (!measure->of_values || measure->distinct || measure->count != 0 || (!of->first && !of->of_set))
        return false;
    const struct plan_group *const term = &plan->groups[measure->term];
    return measure->order_term == measure->term && measure->term >= plan->grouping.listed && !term->values &&
           term->domain <= DOMAIN_MAX && plan->expressions.nodes[term->expression].type.kind != VALUE_STRING;
}

/* The statement's terms are the high digits of a number, values the low ones. */
static bool terms_are_apart(const struct plan *plan)
{
    const uint64_t stride = group_stride(plan);
    bool apart = true;
    for (uint32_t g = plan->grouping.listed; g < plan->group_count; g++)
        apart &= plan->groups[g].stride <= stride / plan->groups[g].domain;
    for (uint32_t g = 0; g < plan->grouping.listed; g++)
        apart &= plan->groups[g].stride % stride == 0;
    return apart;
}

bool cuda_values_can(const struct device_run *run)
{
    const struct plan *const plan = run->plan;
    const struct plan_grouping *const grouping = &plan->grouping;
    if ((plan->shape != PLAN_HASH && plan->shape != PLAN_DENSE) || plan->key_words > 1 ||
        grouping->set_count != 1 || grouping->sets[0] != grouping_all(grouping->listed) ||
        plan->group_count <= grouping->listed || plan->measure_count == 0 || plan->aggregate_count != 1 ||
        !plan_is_row_count(plan, 0) || !cuda_radix_sort_exists(run->cuda))
        return false;
    for (uint32_t m = 0; m < plan->measure_count; m++)
        if (!can_measure(plan, &plan->measures[m]))
            return false;
    return terms_are_apart(plan);
}

/* ---- Entries ---- */

struct values {
    struct device_run *run;
    const struct plan *plan;
    uint32_t term; /* whose values the entries have */
    struct values_work work;
    struct cuda_radix_sort sort;
    struct cuda_pairs pairs;
    cuda_address memory, scratch, of_groups; /* the second is a part of the first */
    struct values_group *groups;             /* on the host */
    struct partial *partial;
    uint32_t measure;
    uint64_t *places; /* two for each group */
    bool unfit;       /* there are no entries, or no memory for the groups */
};

static enum status launch(const struct values *values, struct cuda_function *function, uint64_t items,
                          void **arguments, struct error *error)
{
    struct cuda *const cuda = values->run->cuda;
    const uint64_t blocks = (items + VALUES_THREADS - 1) / VALUES_THREADS,
                   most = (uint64_t)cuda_properties(cuda)->multiprocessors * BLOCKS;
    return cuda_launch(cuda, function, (unsigned)(blocks < most ? blocks : most), VALUES_THREADS, 0,
                       arguments, error);
}

static enum status make_memory(struct values *values, uint64_t entries, struct error *error)
{
    const uint64_t column = cuda_aligned(entries * sizeof(uint64_t)),
                   scratch = cuda_radix_sort_scratch(entries),
                   sums = cuda_aligned((entries / VALUES_PIECE + 1) * sizeof(uint64_t));
    RETURN_IF_ERROR(cuda_columns_allocate(values->run->device->columns,
                                          4 * column + cuda_aligned(scratch) + sums + sizeof(uint64_t),
                                          "the values of groups", &values->memory, error));
    values->pairs = (struct cuda_pairs){.keys = values->memory,
                                        .values = values->memory + column,
                                        .other_keys = values->memory + 2 * column,
                                        .other_values = values->memory + 3 * column};
    values->scratch = values->memory + 4 * column;
    values->work.sums = values->scratch + cuda_aligned(scratch);
    values->work.found = values->work.sums + sums;
    values->work.capacity = entries;
    return STATUS_OK;
}

static void set_term(struct values *values)
{
    const struct plan_group *const term = &values->plan->groups[values->term];
    struct values_work *const work = &values->work;
    work->hashed = values->plan->shape == PLAN_HASH;
    work->group_stride = group_stride(values->plan);
    work->stride = term->stride;
    work->domain = term->domain;
    work->nullable = term->nullable;
    work->whole = term->stride == 1 && term->domain == work->group_stride;
}

/* The bits of the greatest key. */
static uint32_t key_bits(const struct values *values)
{
    const struct plan_group *const outermost = &values->plan->groups[0];
    const uint64_t groups = outermost->stride * outermost->domain / values->work.group_stride,
                   most = groups * values->work.domain - 1;
    return most ? 64 - (uint32_t)__builtin_clzll(most) : 0;
}

static enum status collect(struct values *values, struct error *error)
{
    struct cuda *const cuda = values->run->cuda;
    struct values_work *const work = &values->work;
    void *arguments[] = {work};
    work->keys = values->pairs.keys;
    work->rows = values->pairs.values;
    RETURN_IF_ERROR(cuda_set_words(cuda, work->found, 0, 2, error));
    RETURN_IF_ERROR(launch(values, values->run->groups.values.collect, values->run->slots, arguments, error));
    RETURN_IF_ERROR(cuda_copy_to_host(cuda, &work->count, work->found, sizeof work->count, error));
    RETURN_IF_ERROR(cuda_synchronize(cuda, error));
    return work->count <= work->capacity
               ? STATUS_OK
               : error_set(error, STATUS_MACHINE, "a GPU has found %llu groups and then %llu; run it again",
                           (unsigned long long)work->capacity, (unsigned long long)work->count);
}

static enum status sum_up(struct values *values, uint32_t sum, cuda_address to, struct error *error)
{
    const struct cuda_value_kernels *const kernels = &values->run->groups.values;
    void *arguments[] = {&values->work, &sum, &to};
    RETURN_IF_ERROR(launch(values, kernels->add, values->work.count, arguments, error));
    RETURN_IF_ERROR(cuda_launch(values->run->cuda, kernels->scan, 1, VALUES_SCAN_THREADS,
                                VALUES_SCAN_THREADS / 32 * sizeof(uint64_t), arguments, error));
    return launch(values, kernels->prefix, values->work.count, arguments, error);
}

/* Whether a measure of the term wants the sum of its different values. */
static bool wants_codes(const struct values *values)
{
    bool wanted = false;
    for (uint32_t m = 0; m < values->plan->measure_count; m++)
        wanted |= values->plan->measures[m].term == values->term &&
                  measure_of(values->plan->measures[m].kind)->of_set;
    return wanted;
}

/* The entries of the term, sorted. Groups of listed rows are in the order of their numbers, which are keys + 1 there. */
static enum status sort_entries(struct values *values, struct error *error)
{
    struct values_work *const work = &values->work;
    work->key_more = values->run->kernel.list.used && work->whole;
    if (work->key_more) {
        work->keys = values->run->arguments.keys;
        work->rows = values->run->arguments.states[0];
        work->count = work->capacity;
        return STATUS_OK;
    }
    RETURN_IF_ERROR(collect(values, error));
    RETURN_IF_ERROR(cuda_radix_sort(values->run->cuda, &values->sort, &values->pairs, work->count, 0,
                                    key_bits(values), values->scratch, error));
    work->keys = values->pairs.keys;
    work->rows = values->pairs.values;
    return STATUS_OK;
}

/* Makes the prefix sums of the entries. */
static enum status add_entries(struct values *values, struct error *error)
{
    struct values_work *const work = &values->work;
    struct cuda *const cuda = values->run->cuda;
    uint64_t flags;
    values->unfit = work->count == 0;
    if (values->unfit)
        return STATUS_OK;
    work->flags = values->pairs.other_keys;
    work->codes = wants_codes(values) ? values->pairs.other_values : 0;
    RETURN_IF_ERROR(sum_up(values, VALUES_ROWS, values->pairs.values, error));
    work->rows = values->pairs.values;
    RETURN_IF_ERROR(sum_up(values, VALUES_FLAGS, work->flags, error));
    if (work->codes)
        RETURN_IF_ERROR(sum_up(values, VALUES_CODES, work->codes, error));
    RETURN_IF_ERROR(
        cuda_copy_to_host(cuda, &flags, work->flags + (work->count - 1) * sizeof flags, sizeof flags, error));
    RETURN_IF_ERROR(cuda_synchronize(cuda, error));
    work->group_count = flags >> 32;
    return STATUS_OK;
}

/* ---- Groups ---- */

/* The starts of the groups, the groups, and two places for each. */
static enum status make_groups_memory(struct values *values, struct error *error)
{
    struct values_work *const work = &values->work;
    const uint64_t starts = cuda_aligned(work->group_count * sizeof(uint64_t)),
                   groups = cuda_aligned(work->group_count * sizeof(struct values_group));
    if (values->of_groups)
        return STATUS_OK;
    values->unfit = cuda_columns_allocate(values->run->device->columns, 3 * starts + groups, "groups",
                                          &values->of_groups, NULL) != STATUS_OK;
    if (values->unfit)
        return STATUS_OK;
    work->starts = values->of_groups + groups + 2 * starts;
    work->groups = values->of_groups;
    RETURN_IF_ERROR(
        memory_take(&values->groups, work->group_count * sizeof *values->groups, "groups", error));
    RETURN_IF_ERROR(
        memory_take(&values->places, 2 * work->group_count * sizeof *values->places, "groups", error));
    RETURN_IF_ERROR(partial_allocate(values->plan, work->group_count, values->partial, error));
    return memory_zeros(&values->partial->digests,
                        values->plan->measure_count * work->group_count * sizeof *values->partial->digests,
                        "groups", error);
}

static enum status find_groups(struct values *values, struct error *error)
{
    struct values_work *const work = &values->work;
    const struct cuda_value_kernels *const kernels = &values->run->groups.values;
    void *arguments[] = {work};
    RETURN_IF_ERROR(make_groups_memory(values, error));
    if (values->unfit)
        return STATUS_OK;
    RETURN_IF_ERROR(launch(values, kernels->starts, work->count, arguments, error));
    RETURN_IF_ERROR(launch(values, kernels->groups, work->group_count, arguments, error));
    RETURN_IF_ERROR(cuda_copy_to_host(values->run->cuda, values->groups, work->groups,
                                      work->group_count * sizeof *values->groups, error));
    RETURN_IF_ERROR(cuda_synchronize(values->run->cuda, error));
    for (uint64_t g = 0; g < work->group_count; g++) {
        values->partial->keys[0][g] = values->groups[g].number;
        values->partial->states[0][g] = (int64_t)values->groups[g].all_rows;
    }
    return STATUS_OK;
}

/* ---- Measures ---- */

static struct partial_digest *digests_of(const struct values *values)
{
    return values->partial->digests + values->measure * values->work.group_count;
}

static int64_t value_of(const struct values *values, uint64_t code)
{
    const struct plan_group *const term = &values->plan->groups[values->term];
    return (int64_t)((uint64_t)term->low + code - term->nullable);
}

/* The rows of a group that the measure wants, counted from the least value. */
static void choose_places(const struct values *values, uint64_t g)
{
    const struct plan_measure *const measure = &values->plan->measures[values->measure];
    const uint64_t rows = values->groups[g].rows;
    const struct measure_list list = {.rows = rows, .fraction = measure->fraction, .whole = measure->whole};
    uint64_t first = rows ? measure_of(measure->kind)->first(&list) : 0,
             second = first + 1 < rows ? first + 1 : first;
    values->places[2 * g] = rows && measure->descending ? rows - 1 - first : first;
    values->places[2 * g + 1] = rows && measure->descending ? rows - 1 - second : second;
}

static enum status choose_chunk(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct values *const values = context;
    const uint64_t begin = item * CHUNK_GROUPS, left = values->work.group_count - begin,
                   end = begin + (left < CHUNK_GROUPS ? left : CHUNK_GROUPS);
    (void)thread;
    for (uint64_t g = begin; g < end; g++)
        choose_places(values, g);
    return cancel_check(error);
}

static enum status pick(struct values *values, struct error *error)
{
    struct cuda *const cuda = values->run->cuda;
    struct values_work *const work = &values->work;
    const uint64_t count = work->group_count, bytes = 2 * count * sizeof *values->places;
    cuda_address places = values->of_groups + cuda_aligned(count * sizeof(struct values_group));
    uint64_t each = 2;
    void *arguments[] = {work, &places, &each};
    RETURN_IF_ERROR(parallel_for(0, (count + CHUNK_GROUPS - 1) / CHUNK_GROUPS, choose_chunk, values, error));
    RETURN_IF_ERROR(cuda_send(cuda, places, values->places, bytes, error));
    RETURN_IF_ERROR(launch(values, values->run->groups.values.pick, 2 * count, arguments, error));
    RETURN_IF_ERROR(cuda_copy_to_host(cuda, values->places, places, bytes, error));
    RETURN_IF_ERROR(cuda_synchronize(cuda, error));
    for (uint64_t g = 0; g < count; g++)
        digests_of(values)[g] = (struct partial_digest){
            .rows = values->groups[g].rows,
            .values = {value_of(values, values->places[2 * g]), value_of(values, values->places[2 * g + 1])}};
    return STATUS_OK;
}

/* A value is its code and the value of code 0. */
static void take_sets(const struct values *values)
{
    for (uint64_t g = 0; g < values->work.group_count; g++) {
        const struct values_group *const group = &values->groups[g];
        const __int128 sum = (__int128)group->codes + (__int128)group->different * value_of(values, 0);
        digests_of(values)[g] =
            (struct partial_digest){.rows = group->different, .values = {(int64_t)sum, (int64_t)(sum >> 64)}};
    }
}

/* The measures of the term. */
static enum status measure_term(struct values *values, struct error *error)
{
    set_term(values);
    RETURN_IF_ERROR(sort_entries(values, error));
    RETURN_IF_ERROR(add_entries(values, error));
    if (!values->unfit)
        RETURN_IF_ERROR(find_groups(values, error));
    if (values->unfit)
        return STATUS_OK;
    for (values->measure = 0; values->measure < values->plan->measure_count; values->measure++) {
        const struct plan_measure *const measure = &values->plan->measures[values->measure];
        if (measure->term != values->term)
            continue;
        if (measure_of(measure->kind)->first)
            RETURN_IF_ERROR(pick(values, error));
        else
            take_sets(values);
    }
    return STATUS_OK;
}

static bool is_measured(const struct plan *plan, uint32_t term)
{
    bool measured = false;
    for (uint32_t m = 0; m < plan->measure_count; m++)
        measured |= plan->measures[m].term == term;
    return measured;
}

enum status cuda_values_groups(struct device_run *run, uint64_t found, struct partial *groups, bool *given,
                               struct error *error)
{
    struct values values = {.run = run, .plan = run->plan, .partial = groups};
    enum status status = STATUS_OK;
    *given = found < RADIX_SORT_COUNT_MAX && make_memory(&values, found, NULL) == STATUS_OK;
    if (!*given)
        return STATUS_OK;
    status = cuda_radix_sort_open(run->cuda, run->device->modules, &values.sort, error);
    status = AND_THEN(status, cuda_groups_send(run, error));
    for (values.term = run->plan->grouping.listed; values.term < run->plan->group_count; values.term++)
        if (is_measured(run->plan, values.term) && !values.unfit)
            status = AND_THEN(status, measure_term(&values, error));
    if (status != STATUS_OK)
        cuda_wait_for_all(run->cuda);
    cuda_free(run->cuda, values.memory);
    cuda_free(run->cuda, values.of_groups);
    cuda_radix_sort_close(run->cuda, run->device->modules, &values.sort);
    free(values.groups);
    free(values.places);
    if (status == STATUS_OK && values.unfit) {
        partial_free(groups);
        *given = false;
    }
    return status;
}
