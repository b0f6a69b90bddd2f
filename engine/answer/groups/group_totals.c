/* group_totals.c: see group_totals.h. */
#include "engine/answer/groups/group_totals.h"

#include "engine/answer/groups/group_leaves.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

struct totals_thread {
    struct expression_program
        *groups; /* HAVING, the outputs, and what the arguments read; NULL: it is not made yet */
    struct expression_program *arguments; /* of groups that pass HAVING; NULL: there are none */
    uint64_t passed;
    int64_t *states; /* two words for each total */
};

struct group_totals {
    struct group_sink sink; /* the first member */
    const struct plan *plan;
    unsigned thread_count;
    struct totals_thread *threads;
};

static bool are_possible(const struct plan *plan)
{
    return plan->total_count > 0 && plan->shape == PLAN_HASH && plan->limit == UINT64_MAX &&
           plan->offset == 0 && plan->grouping.set_count == 0;
}

/* ---- A thread's programs ---- */

static enum status make_arguments(const struct plan *plan, struct totals_thread *thread, struct error *error)
{
    uint32_t *roots, count = 0;
    RETURN_IF_ERROR(memory_take(&roots, (plan->total_count + UINT64_C(1)) * sizeof *roots, "totals", error));
    for (uint32_t t = 0; t < plan->total_count; t++)
        if (plan->totals[t].argument != EXPRESSION_NONE)
            roots[count++] = plan->totals[t].argument;
    const enum status status =
        count ? expression_program_create(&plan->expressions, roots, count, &thread->arguments, error)
              : STATUS_OK;
    free(roots);
    return status;
}

/* Outputs are computed, too: they may fail for a group. */
static enum status make_groups(const struct plan *plan, struct totals_thread *thread, struct error *error)
{
    const uint32_t *leaves = NULL;
    const uint32_t outputs = plan->output_count + plan->hidden_count,
                   leaf_count = thread->arguments ? expression_program_leaves(thread->arguments, &leaves) : 0;
    uint32_t *roots, count = 0;
    RETURN_IF_ERROR(
        memory_take(&roots, (outputs + leaf_count + UINT64_C(1)) * sizeof *roots, "totals", error));
    for (uint32_t c = 0; c < outputs; c++)
        roots[count++] = plan->outputs[c].expression;
    for (uint32_t l = 0; l < leaf_count; l++)
        roots[count++] = leaves[l];
    if (plan->having != EXPRESSION_NONE)
        roots[count++] = plan->having;
    const enum status status =
        expression_program_create(&plan->expressions, roots, count, &thread->groups, error);
    free(roots);
    return status;
}

static void clear_states(const struct plan *plan, int64_t *states)
{
    for (uint32_t t = 0; t < plan->total_count; t++)
        for (uint32_t word = 0; word < AGGREGATE_WORDS_MAX; word++)
            states[AGGREGATE_WORDS_MAX * t + word] = aggregate_of(plan->totals[t].kind)->identity[word];
}

static enum status make_states(const struct plan *plan, int64_t **states, struct error *error)
{
    RETURN_IF_ERROR(
        memory_take(states, plan->total_count * AGGREGATE_WORDS_MAX * sizeof **states, "totals", error));
    clear_states(plan, *states);
    return STATUS_OK;
}

static enum status make_thread(const struct plan *plan, struct totals_thread *thread, struct error *error)
{
    RETURN_IF_ERROR(make_states(plan, &thread->states, error));
    RETURN_IF_ERROR(make_arguments(plan, thread, error));
    return make_groups(plan, thread, error);
}

/* ---- Adding ---- */

/* Lists the groups that pass HAVING. */
static uint32_t find_passed(const struct plan *plan, const struct totals_thread *thread, uint32_t count,
                            uint16_t *passed)
{
    uint32_t found = 0;
    if (plan->having == EXPRESSION_NONE)
        return count;
    const struct vector truth = expression_program_vector(thread->groups, plan->having);
    for (uint32_t i = 0; i < count; i++) {
        passed[found] = (uint16_t)i;
        found += truth.values[i] && !(truth.nulls && truth.nulls[i]);
    }
    return found;
}

/* Gives the arguments' program what it reads of the groups that pass. */
static void fill_arguments(const struct totals_thread *thread, uint32_t count, const uint16_t *passed,
                           uint32_t found)
{
    const uint32_t *leaves;
    const uint32_t leaf_count = expression_program_leaves(thread->arguments, &leaves);
    for (uint32_t l = 0; l < leaf_count; l++) {
        const struct vector from = expression_program_vector(thread->groups, leaves[l]),
                            to = expression_program_vector(thread->arguments, leaves[l]);
        for (uint32_t i = 0; i < found; i++)
            to.values[i] = from.values[found == count ? i : passed[i]];
        for (uint32_t i = 0; to.nulls && i < found; i++)
            to.nulls[i] = from.nulls[found == count ? i : passed[i]];
    }
}

static enum status take(struct group_sink *sink, const struct partial *groups, unsigned number,
                        struct error *error)
{
    struct group_totals *const totals = (struct group_totals *)(void *)sink;
    const struct plan *const plan = totals->plan;
    struct totals_thread *const thread = &totals->threads[number];
    const uint32_t *leaves, count = (uint32_t)groups->count;
    uint16_t passed[VECTOR_ROWS];
    if (!thread->groups)
        RETURN_IF_ERROR(make_thread(plan, thread, error));
    const uint32_t leaf_count = expression_program_leaves(thread->groups, &leaves);
    for (uint32_t l = 0; l < leaf_count; l++)
        RETURN_IF_ERROR(group_leaf_fill(plan, groups, NULL, &plan->expressions.nodes[leaves[l]], 0, count,
                                        expression_program_vector(thread->groups, leaves[l]), error));
    expression_program_run(thread->groups, count);
    const uint32_t found = find_passed(plan, thread, count, passed);
    thread->passed += found;
    if (thread->arguments) {
        fill_arguments(thread, count, passed, found);
        expression_program_run(thread->arguments, found);
    }
    for (uint32_t t = 0; found && t < plan->total_count; t++) {
        const uint32_t argument = plan->totals[t].argument;
        const struct vector values = argument == EXPRESSION_NONE
                                         ? (struct vector){0}
                                         : expression_program_vector(thread->arguments, argument);
        int64_t *const state = thread->states + AGGREGATE_WORDS_MAX * t;
        aggregate_of(plan->totals[t].kind)->fold(state, state + 1, found, values.values, values.nulls);
    }
    return STATUS_OK;
}

/* ---- The whole ---- */

enum status group_totals_make(const struct plan *plan, unsigned threads, struct group_totals **out,
                              struct error *error)
{
    struct group_totals *totals;
    *out = NULL;
    if (!are_possible(plan))
        return STATUS_OK;
    RETURN_IF_ERROR(memory_zeros(&totals, sizeof *totals, "totals", error));
    *out = totals;
    totals->sink.take = take;
    totals->plan = plan;
    totals->thread_count = threads;
    return memory_zeros(&totals->threads, threads * sizeof *totals->threads, "totals", error);
}

void group_totals_free(struct group_totals *totals)
{
    if (!totals)
        return;
    for (unsigned t = 0; totals->threads && t < totals->thread_count; t++) {
        expression_program_free(totals->threads[t].groups);
        expression_program_free(totals->threads[t].arguments);
        free(totals->threads[t].states);
    }
    free(totals->threads);
    free(totals);
}

struct group_sink *group_totals_sink(struct group_totals *totals)
{
    return totals ? &totals->sink : NULL;
}

enum status group_totals_finish(const struct group_totals *totals, struct partial *partial,
                                struct error *error)
{
    static const uint64_t first = 0;
    if (!totals || !totals->sink.taken)
        return STATUS_OK;
    const struct plan *const plan = totals->plan;
    RETURN_IF_ERROR(expression_check(&plan->expressions, error));
    RETURN_IF_ERROR(make_states(plan, &partial->totals, error));
    partial->total_rows = 0;
    for (unsigned n = 0; n < totals->thread_count; n++) {
        const struct totals_thread *const thread = &totals->threads[n];
        for (uint32_t t = 0; thread->states && t < plan->total_count; t++) {
            int64_t *const state = partial->totals + AGGREGATE_WORDS_MAX * t, *const from =
                                                                                  thread->states +
                                                                                  AGGREGATE_WORDS_MAX * t;
            aggregate_of(plan->totals[t].kind)->merge(state, state + 1, 1, &first, from, from + 1, 1);
        }
        partial->total_rows += thread->passed;
    }
    return STATUS_OK;
}
