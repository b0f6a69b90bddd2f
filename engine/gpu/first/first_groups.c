/* first_groups.c: see first_groups.h. */
#include "engine/gpu/first/first_groups.h"

#include "engine/cuda/ahead.h"
#include "engine/gpu/first/sorted_values.h"
#include "engine/gpu/general/code.h"
#include "engine/gpu/run_internal.h"
#include "storage/base/memory.h"
#include "storage/base/number/number_set.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS_ROOTS_MAX (GROUPS_TOTALS_MAX > FIRST_TERMS_MAX ? GROUPS_TOTALS_MAX : FIRST_TERMS_MAX)

/* A bound that a sample of GROUPS_VOTERS ranks gives needs several of them for each group that is wanted. */
#define GROUPS_WANTED_MAX (GROUPS_VOTERS / 4)

/* The list has room for so many groups at least, and for several times as many as a sample should let through. */
#define LIST_MIN  (UINT64_C(1) << 18)
#define LIST_MAX  (UINT64_C(1) << 22)
#define LIST_MORE 4u

/* Blocks of a multiprocessor: with 48 KB of shared memory four are resident. */
#define SELECT_BLOCKS 4u

/* ---- What ORDER BY and HAVING compute ---- */

/* Notes the sums of 128 bits that are values of an output, and must fit 64. */
static void find_checked(const struct plan *plan, const uint8_t *needed, struct cuda_groups *groups)
{
    struct groups_work *work = &groups->work;
    for (uint32_t n = 0; n < plan->expressions.count; n++) {
        const struct expression *node = &plan->expressions.nodes[n];
        if (!needed[n] || node->operation != EXPRESSION_AGGREGATE ||
            plan_aggregate_of(plan, node->index)->words == 1 || node->type.kind == VALUE_DOUBLE)
            continue;
        groups->usable &= work->checked_count < GROUPS_CHECKED_MAX;
        if (groups->usable)
            work->checked[work->checked_count++] = node->index;
    }
}

static enum status find_overflows(const struct plan *plan, struct cuda_groups *groups, struct error *error)
{
    uint8_t *needed;
    RETURN_IF_ERROR(memory_zeros(&needed, plan->expressions.count + UINT64_C(1), "a program", error));
    for (uint32_t c = 0; c < plan->output_count + plan->hidden_count; c++)
        expression_mark(&plan->expressions, plan->outputs[c].expression, needed);
    if (plan->having != EXPRESSION_NONE)
        expression_mark(&plan->expressions, plan->having, needed);
    find_checked(plan, needed, groups);
    free(needed);
    return STATUS_OK;
}

/* What instructions compute of a group besides HAVING; EXPRESSION_NONE: nothing. */
struct roots {
    uint32_t count;
    uint32_t nodes[GROUPS_ROOTS_MAX], slots[GROUPS_ROOTS_MAX];
};

static enum status write_body(const struct plan *plan, struct roots *roots, struct general_codes *codes,
                              struct cuda_groups *groups, struct error *error)
{
    const bool having = plan->having != EXPRESSION_NONE;
    general_body_begin(codes, false);
    if (having)
        RETURN_IF_ERROR(general_body_write(codes, plan->having, error));
    groups->work.first_count = codes->count;
    for (uint32_t r = 0; r < roots->count; r++) {
        if (roots->nodes[r] != EXPRESSION_NONE)
            RETURN_IF_ERROR(general_body_write(codes, roots->nodes[r], error));
        groups->work.first_count = r ? groups->work.first_count : codes->count;
    }
    if (having)
        general_body_keep(codes, plan->having);
    for (uint32_t r = 0; r < roots->count; r++)
        if (roots->nodes[r] != EXPRESSION_NONE)
            general_body_keep(codes, roots->nodes[r]);
    general_body_end(codes);
    groups->usable &= !codes->why[0] && codes->slot_count <= GROUPS_SLOTS_MAX;
    groups->work.having = having ? general_body_slot(codes, plan->having) : GENERAL_NO_OPERAND;
    for (uint32_t r = 0; r < roots->count; r++)
        roots->slots[r] = roots->nodes[r] != EXPRESSION_NONE ? general_body_slot(codes, roots->nodes[r])
                                                             : GENERAL_NO_OPERAND;
    return STATUS_OK;
}

/* The program that is uploaded: the instructions, and the words of each aggregate's state. */
static enum status take_program(const struct plan *plan, const struct general_codes *codes,
                                struct cuda_groups *groups, struct error *error)
{
    groups->words_at = codes->count * sizeof *codes->list;
    groups->program_bytes = groups->words_at + plan->aggregate_count;
    RETURN_IF_ERROR(memory_take(&groups->program, groups->program_bytes + 1, "a program", error));
    if (codes->count)
        memcpy(groups->program, codes->list, groups->words_at);
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        ((uint8_t *)groups->program)[groups->words_at + a] = (uint8_t)plan_aggregate_of(plan, a)->words;
    return STATUS_OK;
}

static enum status write_program(const struct plan *plan, const struct kernel *kernel, struct roots *roots,
                                 struct cuda_groups *groups, struct error *error)
{
    char why[KERNEL_WHY_BYTES] = "";
    struct general_codes codes;
    groups->usable = true;
    groups->work = (struct groups_work){.hashed = plan->shape == PLAN_HASH,
                                        .full = kernel->list.used,
                                        .key_words = plan->key_words,
                                        .aggregate_count = plan->aggregate_count};
    enum status status = general_codes_open(&codes, plan, kernel, NULL, why, error);
    status = AND_THEN(status, write_body(plan, roots, &codes, groups, error));
    status = AND_THEN(status, find_overflows(plan, groups, error));
    groups->work.code_count = codes.count;
    groups->work.slot_count = codes.slot_count;
    if (status == STATUS_OK && groups->usable)
        status = take_program(plan, &codes, groups, error);
    general_codes_free(&codes);
    return status;
}

static enum status write_few(const struct plan *plan, const struct kernel *kernel,
                             const struct first_groups *few, struct cuda_groups *groups, struct error *error)
{
    struct roots roots = {.count = few->first.term_count};
    for (uint32_t t = 0; t < roots.count; t++)
        roots.nodes[t] = few->first.terms[t].expression;
    RETURN_IF_ERROR(write_program(plan, kernel, &roots, groups, error));
    groups->work.term_count = roots.count;
    groups->work.by_number = few->by_number;
    groups->work.number_stride = few->number_stride;
    memcpy(groups->work.term_slots, roots.slots, roots.count * sizeof *roots.slots);
    return STATUS_OK;
}

/* Whether totals may be made of the groups: of all that pass HAVING. */
static bool can_total(const struct plan *plan)
{
    return plan->total_count > 0 && plan->total_count <= GROUPS_TOTALS_MAX && plan->limit == UINT64_MAX &&
           plan->offset == 0 && (plan->shape == PLAN_HASH || plan->shape == PLAN_DENSE) &&
           plan->grouping.set_count == 0;
}

static enum status write_totals(const struct plan *plan, const struct kernel *kernel,
                                struct cuda_groups *groups, struct error *error)
{
    struct roots roots = {.count = plan->total_count};
    for (uint32_t t = 0; t < roots.count; t++)
        roots.nodes[t] = plan->totals[t].argument;
    RETURN_IF_ERROR(write_program(plan, kernel, &roots, groups, error));
    groups->of_totals = groups->usable;
    groups->work.total_count = roots.count;
    for (uint32_t t = 0; t < roots.count; t++) {
        const struct aggregate_device *const device = &aggregate_of(plan->totals[t].kind)->device;
        groups->work.totals[t] =
            (struct groups_total){.slot = roots.slots[t], .value = device->value, .merge = device->merge};
    }
    return STATUS_OK;
}

static enum status write_set(const struct plan *plan, const struct kernel *kernel, struct cuda_groups *groups,
                             struct error *error)
{
    const struct expression *const value =
        &plan->expressions.nodes[plan->outputs[plan->set_output].expression];
    struct roots roots = {.count = 1, .nodes = {plan->outputs[plan->set_output].expression}};
    RETURN_IF_ERROR(write_program(plan, kernel, &roots, groups, error));
    groups->of_set = groups->usable;
    groups->work.set_slot = roots.slots[0];
    groups->work.set_low = value->low;
    groups->work.set_span = (uint64_t)value->high - (uint64_t)value->low;
    return STATUS_OK;
}

static void fill_first(const struct first_groups *few, struct first_argument *first)
{
    *first = (struct first_argument){.wanted = few->first.wanted, .bound = UINT64_MAX};
    for (uint32_t t = 0; t < few->first.term_count; t++) {
        const struct first_term *term = &few->first.terms[t];
        first->terms[t] = (struct first_term_argument){.low = term->low,
                                                       .high = term->high,
                                                       .best = term->best,
                                                       .null = term->null,
                                                       .stride = term->stride,
                                                       .shift = term->shift,
                                                       .descending = term->descending};
    }
}

/* ---- Kernels and memory ---- */

enum status cuda_groups_take(struct device_run *run, struct error *error)
{
    struct cuda *cuda = run->cuda;
    struct cuda_groups *groups = &run->groups;
    const struct {
        const char *name;
        struct cuda_function **function;
    } functions[] = {{"groups_sample", &groups->sample},
                     {"first_tighten", &groups->tighten},
                     {"groups_select", &groups->select},
                     {"groups_gather", &groups->gather},
                     {"groups_total", &groups->total},
                     {"groups_set", &groups->set},
                     {"values_collect", &groups->values.collect},
                     {"values_add", &groups->values.add},
                     {"values_scan", &groups->values.scan},
                     {"values_prefix", &groups->values.prefix},
                     {"values_starts", &groups->values.starts},
                     {"values_groups", &groups->values.groups},
                     {"values_pick", &groups->values.pick}};
    uint64_t bytes;
    if (groups->module)
        return STATUS_OK;
    RETURN_IF_ERROR(
        cuda_modules_take_ahead(run->device->modules, GROUPS_MODULE, &groups->lent, &groups->module, error));
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++)
        RETURN_IF_ERROR(
            cuda_module_function(cuda, groups->module, functions[f].name, functions[f].function, error));
    return cuda_module_variable(cuda, groups->module, "arguments", &groups->arguments, &bytes, error);
}

/* An output that may fail for a group is computed for all groups, on the host. */
static bool may_fail(const struct plan *plan)
{
    return plan->expressions.left || plan->expressions.text_count > 0;
}

/* The same where no group is wanted itself: the GPU tells of totals' values that leave 64 bits, of others it computes none. */
static enum status may_fail_of_totals(const struct plan *plan, bool *may, struct error *error)
{
    uint8_t *needed;
    RETURN_IF_ERROR(memory_zeros(&needed, plan->expressions.count + UINT64_C(1), "a program", error));
    for (uint32_t c = 0; c < plan->output_count + plan->hidden_count; c++)
        expression_mark(&plan->expressions, plan->outputs[c].expression, needed);
    *may = plan->expressions.text_count > 0;
    for (uint32_t n = 0; n < plan->expressions.count; n++)
        *may |= needed[n] && plan->expressions.nodes[n].checked;
    free(needed);
    return STATUS_OK;
}

enum status cuda_groups_open(struct device_run *run, struct error *error)
{
    const struct plan *plan = run->plan;
    const struct first_groups few = first_groups_of(plan);
    struct cuda_groups *groups = &run->groups;
    if (run->counting || run->segments.segments ||
        !ahead_has(GROUPS_MODULE, cuda_properties(run->cuda)->arch))
        return STATUS_OK;
    bool may = true;
    if (cuda_values_can(run))
        groups->usable = groups->of_values = true;
    else if (can_total(plan))
        RETURN_IF_ERROR(may_fail_of_totals(plan, &may, error));
    if (!may)
        RETURN_IF_ERROR(write_totals(plan, &run->kernel, groups, error));
    else if (plan->set && !may_fail(plan))
        RETURN_IF_ERROR(write_set(plan, &run->kernel, groups, error));
    if (!groups->usable && few.few && few.first.wanted <= GROUPS_WANTED_MAX && !may_fail(plan)) {
        free(groups->program);
        *groups = (struct cuda_groups){0};
        RETURN_IF_ERROR(write_few(plan, &run->kernel, &few, groups, error));
    }
    if (groups->usable)
        fill_first(&few, &groups->first);
    else
        cuda_groups_close(run);
    return STATUS_OK;
}

static void free_memory(struct device_run *run)
{
    cuda_free(run->cuda, run->groups.memory);
    run->groups.memory = 0;
    run->groups.slots = 0;
}

void cuda_groups_give(struct device_run *run)
{
    struct cuda_graph *none = NULL;
    cuda_modules_give(run->device->modules, GROUPS_MODULE, &run->groups.lent, &run->groups.module, &none);
}

void cuda_groups_drop(struct device_run *run)
{
    if (run->groups.module)
        cuda_modules_drop(run->device->modules, run->groups.lent);
}

void cuda_groups_close(struct device_run *run)
{
    struct cuda_groups *groups = &run->groups;
    if (groups->module) /* there was no memory to give it, or a call has failed */
        cuda_module_unload(run->cuda, groups->module);
    free_memory(run);
    free(groups->program);
    *groups = (struct cuda_groups){0};
}

static uint64_t list_capacity(const struct device_run *run)
{
    const uint64_t sampled = (uint64_t)GROUPS_VOTERS * GROUPS_VOTER_SLOTS,
                   wanted = run->groups.first.wanted * (run->slots / sampled + 1) * LIST_MORE,
                   least = wanted < LIST_MIN ? LIST_MIN : wanted, most = least < LIST_MAX ? least : LIST_MAX;
    return run->slots < most ? run->slots : most;
}

/* The pieces of `memory`: the program, the state, the sample and the list. Their sizes are multiples of 16 bytes. */
static enum status make_memory(struct device_run *run, struct error *error)
{
    struct cuda_groups *groups = &run->groups;
    const uint64_t program = (groups->program_bytes + 15) / 16 * 16,
                   state = (sizeof(struct first_state) + 15) / 16 * 16,
                   known = GROUPS_VOTERS * sizeof(struct first_known), capacity = list_capacity(run);
    if (groups->memory && groups->slots == run->slots)
        return STATUS_OK;
    free_memory(run);
    RETURN_IF_ERROR(cuda_columns_allocate(run->device->columns,
                                          program + state + known + capacity * sizeof(uint64_t),
                                          "the first groups", &groups->memory, error));
    groups->slots = run->slots;
    groups->work.code = groups->memory;
    groups->words = groups->memory + groups->words_at;
    groups->first.state = groups->memory + program;
    groups->first.known = groups->first.state + state;
    groups->first.list = groups->first.known + known;
    groups->first.capacity = capacity;
    return cuda_send(run->cuda, groups->memory, groups->program, groups->program_bytes, error);
}

/* ---- Launches ---- */

static enum status launch(struct device_run *run, struct cuda_function *function, unsigned blocks,
                          struct error *error)
{
    struct groups_work *work = &run->groups.work;
    void *arguments[] = {work};
    const uint64_t words = (uint64_t)work->slot_count * GROUPS_THREADS + GROUPS_THREADS / 32 * GROUPS_WAITING;
    return cuda_launch(run->cuda, function, blocks, GROUPS_THREADS, words * sizeof(int64_t), arguments,
                       error);
}

/* The blocks of GROUPS_THREADS for so many items. */
static unsigned blocks_of(const struct device_run *run, uint64_t items)
{
    const uint64_t blocks = (items + GROUPS_THREADS - 1) / GROUPS_THREADS,
                   most = (uint64_t)cuda_properties(run->cuda)->multiprocessors * SELECT_BLOCKS;
    return (unsigned)(blocks < most ? blocks : most);
}

enum status cuda_groups_send(struct device_run *run, struct error *error)
{
    run->arguments.first = run->groups.first;
    return cuda_send(run->cuda, run->groups.arguments, &run->arguments,
                     offsetof(struct query_arguments, sets), error);
}

static enum status launch_all(struct device_run *run, struct error *error)
{
    struct cuda *cuda = run->cuda;
    struct cuda_groups *groups = &run->groups;
    RETURN_IF_ERROR(cuda_groups_send(run, error));
    RETURN_IF_ERROR(
        cuda_set_words(cuda, groups->first.state, 0, sizeof(struct first_state) / sizeof(uint32_t), error));
    if (groups->first.wanted) {
        RETURN_IF_ERROR(launch(run, groups->sample, GROUPS_VOTERS / GROUPS_THREADS, error));
        RETURN_IF_ERROR(cuda_launch(cuda, groups->tighten, 1, FIRST_TIGHTEN_THREADS,
                                    sizeof(struct first_tightening), NULL, error));
    }
    return launch(run, groups->select, blocks_of(run, run->slots), error);
}

/* Dense groups come in the order of their slots. */
static enum status sort_list(struct device_run *run, uint64_t count, struct error *error)
{
    const uint64_t bytes = count * sizeof(int64_t);
    const cuda_address list = run->groups.first.list;
    int64_t *slots;
    RETURN_IF_ERROR(memory_take(&slots, bytes + 1, "groups", error));
    enum status status = cuda_copy_to_host(run->cuda, slots, list, bytes, error);
    status = AND_THEN(status, cuda_synchronize(run->cuda, error));
    if (status == STATUS_OK) {
        number_set_sort(slots, count);
        status = cuda_send(run->cuda, list, slots, bytes, error);
    }
    free(slots);
    return status;
}

enum status cuda_groups_list(struct device_run *run, uint64_t *count, bool *listed, struct error *error)
{
    struct first_state state;
    *listed = false;
    if (make_memory(run, NULL) != STATUS_OK)
        return STATUS_OK;
    RETURN_IF_ERROR(launch_all(run, error));
    RETURN_IF_ERROR(cuda_copy_to_host(run->cuda, &state, run->groups.first.state, sizeof state, error));
    RETURN_IF_ERROR(cuda_synchronize(run->cuda, error));
    *count = state.found;
    *listed = state.found <= run->groups.first.capacity;
    return *listed && !run->groups.work.hashed && state.found > 1 ? sort_list(run, state.found, error)
                                                                  : STATUS_OK;
}

/* ---- Totals ---- */

/* The pieces of `memory`: the state and the program. */
static enum status make_totals_memory(struct device_run *run, struct error *error)
{
    struct cuda_groups *groups = &run->groups;
    if (groups->memory)
        return STATUS_OK;
    RETURN_IF_ERROR(cuda_columns_allocate(run->device->columns,
                                          sizeof(struct groups_totals) + groups->program_bytes,
                                          "totals of groups", &groups->memory, error));
    groups->work.totals_state = groups->memory;
    groups->work.code = groups->memory + sizeof(struct groups_totals);
    return cuda_send(run->cuda, groups->work.code, groups->program, groups->program_bytes, error);
}

static enum status take_totals(const struct plan *plan, const struct groups_totals *state,
                               struct partial *groups, struct error *error)
{
    RETURN_IF_ERROR(
        memory_zeros(&groups->totals, plan->total_count * 2 * sizeof *groups->totals, "totals", error));
    groups->total_rows = state->groups;
    for (uint32_t t = 0; t < plan->total_count; t++) {
        int64_t (*const host)(uint64_t) = aggregate_of(plan->totals[t].kind)->device.host;
        groups->totals[2 * t] = host ? host(state->words[t][0]) : (int64_t)state->words[t][0];
        groups->totals[2 * t + 1] = (int64_t)state->words[t][1];
    }
    return STATUS_OK;
}

enum status cuda_groups_total(struct device_run *run, struct partial *groups, bool *given,
                              struct error *error)
{
    struct groups_totals state;
    *given = false;
    if (make_totals_memory(run, NULL) != STATUS_OK)
        return STATUS_OK;
    RETURN_IF_ERROR(cuda_groups_send(run, error));
    RETURN_IF_ERROR(cuda_set_words(run->cuda, run->groups.memory, 0, sizeof state / sizeof(uint32_t), error));
    RETURN_IF_ERROR(launch(run, run->groups.total, blocks_of(run, run->slots), error));
    RETURN_IF_ERROR(cuda_copy_to_host(run->cuda, &state, run->groups.memory, sizeof state, error));
    RETURN_IF_ERROR(cuda_synchronize(run->cuda, error));
    *given = !state.unknown;
    return *given ? take_totals(run->plan, &state, groups, error) : STATUS_OK;
}

/* ---- Sets ---- */

/* The pieces of `memory`: the state, the bitmap and the program. */
static enum status make_set_memory(struct device_run *run, uint64_t words, struct error *error)
{
    struct cuda_groups *groups = &run->groups;
    const uint64_t bits = (words * sizeof(uint64_t) + 15) / 16 * 16;
    if (groups->memory)
        return STATUS_OK;
    RETURN_IF_ERROR(cuda_columns_allocate(run->device->columns,
                                          sizeof(struct groups_set) + bits + groups->program_bytes,
                                          "a set of values", &groups->memory, error));
    groups->work.set_state = groups->memory;
    groups->work.set_bits = groups->memory + sizeof(struct groups_set);
    groups->work.code = groups->work.set_bits + bits;
    return cuda_send(run->cuda, groups->work.code, groups->program, groups->program_bytes, error);
}

enum status cuda_groups_set(struct device_run *run, struct partial *groups, bool *given, struct error *error)
{
    const uint64_t words = run->groups.work.set_span / 64 + 1, bytes = words * sizeof(uint64_t);
    struct groups_set state;
    *given = false;
    if (make_set_memory(run, words, NULL) != STATUS_OK)
        return STATUS_OK;
    RETURN_IF_ERROR(cuda_groups_send(run, error));
    RETURN_IF_ERROR(cuda_set_words(run->cuda, run->groups.memory, 0, (sizeof state + bytes) / 4, error));
    RETURN_IF_ERROR(launch(run, run->groups.set, blocks_of(run, run->slots), error));
    RETURN_IF_ERROR(cuda_copy_to_host(run->cuda, &state, run->groups.memory, sizeof state, error));
    RETURN_IF_ERROR(memory_take(&groups->set.words, bytes, "a set of values", error));
    RETURN_IF_ERROR(cuda_copy_to_host(run->cuda, groups->set.words, run->groups.work.set_bits, bytes, error));
    RETURN_IF_ERROR(cuda_synchronize(run->cuda, error));
    if (state.unknown) {
        free(groups->set.words);
        groups->set.words = NULL;
        return STATUS_OK;
    }
    groups->set.low = run->groups.work.set_low;
    groups->set.count = state.count;
    number_bits_trim(&groups->set, words);
    groups->is_set = *given = true;
    groups->set_null = state.null != 0;
    return STATUS_OK;
}

enum status cuda_groups_gather(struct device_run *run, uint64_t count, struct error *error)
{
    struct cuda_groups *groups = &run->groups;
    void *arguments[] = {&groups->work, &run->collected, &count, &groups->words};
    return cuda_launch(run->cuda, groups->gather, blocks_of(run, count), GROUPS_THREADS, 0, arguments, error);
}
