/* plans.c: plans a SELECT, runs it and explains it (relational.h). */
#include "engine/relational/relational.h"

#include "engine/answer/groups/group_totals.h"
#include "engine/relational/blocks/block_plans.h"
#include "engine/relational/collect.h"
#include "engine/relational/blocks/distribute.h"
#include "engine/relational/blocks/totals.h"
#include "engine/relational/device/taken.h"
#include "storage/base/clock.h"
#include "storage/base/memory.h"

#include <string.h>

/* Plans are kept for the next run while at most this part of the memory of statements is in use. */
#define KEPT_SHARE 8u

/* ---- Runs ---- */

enum status relational_engine(struct relational *run, struct engine **engine)
{
    struct engine *const own = run->task->engine;
    *engine = own;
    if (!engine_is_cuda(own) && !engine_cluster(own) && engine_members(own) == 1)
        return STATUS_OK;
    if (!*run->task->own)
        RETURN_IF_ERROR(engine_open(&(struct engine_options){.device = "cpu", .threads = engine_threads(own)},
                                    run->task->own, run->error));
    *engine = *run->task->own;
    return STATUS_OK;
}

static void add_timing(struct run_timing *all, const struct run_timing *one)
{
    all->plan_ms += one->plan_ms;
    all->compile_ms += one->compile_ms;
    all->load_ms += one->load_ms;
    all->open_ms += one->open_ms;
    all->filter_ms += one->filter_ms;
    all->scan_ms += one->scan_ms;
    all->stage_ms += one->stage_ms;
    all->merge_ms += one->merge_ms;
    all->total_ms += one->total_ms;
    all->fetch_ms += one->fetch_ms;
    all->output_ms += one->output_ms;
    all->bytes += one->bytes;
    all->moved_bytes += one->moved_bytes;
    all->groups_why = one->groups_why ? one->groups_why : all->groups_why;
    if (one->kernel == KERNEL_AUTO || all->kernel == KERNEL_SPECIALISED)
        return;
    all->kernel = one->kernel; /* of several plans the one that had to wait */
    memcpy(all->kernel_why, one->kernel_why, sizeof all->kernel_why);
}

/* Rows in memory are counted by nobody. */
static bool is_analysed(const struct plan *plan)
{
    return plan->fact->column_count && !table_is_resident(plan->fact);
}

/* What is asked of a plan besides its rows; each is NULL or given instead of them. */
struct wanted {
    struct totals *totals;
    struct taken *taken;
    struct key_set *keys;
};

static enum status take_keys(struct relational *run, struct key_set *set, const struct plan *plan,
                             struct partial *partial)
{
    const struct number_bits bits = partial->set;
    set->done = true;
    set->keys =
        (struct sql_keys){.type = plan->expressions.nodes[plan->outputs[plan->set_output].expression].type,
                          .null = partial->set_null};
    partial->set.words = NULL;
    return relational_take_bits(run, &set->keys, &bits);
}

/* Strings that the plan made become the run's, once for all columns that have them: the plan may be gone when the answer is
 * read. Rows of the host have copies, too (engine/answer/output.c). */
static enum status own_strings(struct relational *run, const struct plan *plan, struct device_rows *rows)
{
    for (uint32_t d = 0; d < plan->expressions.dictionary_count; d++) {
        struct dictionary *made = NULL;
        struct rowset_column copy = {.type = {.dictionary = plan->expressions.dictionaries[d]}};
        struct rowset holder = {.column_count = 1, .columns = &copy, .dictionaries = &made};
        for (uint32_t c = 0; c < rows->column_count; c++) {
            if (rows->columns[c].type.dictionary != plan->expressions.dictionaries[d])
                continue;
            RETURN_IF_ERROR(rowset_own_dictionary(&holder, 0, run->error));
            rows->columns[c].type.dictionary = made;
        }
        const enum status status = relational_keep(run, &holder);
        free(made);
        RETURN_IF_ERROR(status);
    }
    return STATUS_OK;
}

/* Runs the block's plan, which is prepared if it was not. */
static enum status run_plan(struct relational *run, struct block_plan *block, struct engine *engine,
                            const struct wanted *wanted, struct explain_node *node, struct run_timing *timing,
                            struct rowset *rows)
{
    struct totals *const totals = wanted->totals;
    struct taken *const taken = wanted->taken;
    struct device_request all = {.segments = NULL};
    struct group_totals *sums = NULL;
    const struct plan *const plan = block->plan;
    struct partial partial = {0};
    struct error *const error = run->error;
    const bool analysed = node && run->task->analyse && is_analysed(plan);
    const double prepared_at = clock_ms();
    enum status status =
        block->prepared ? STATUS_OK : engine_prepare(engine, plan, analysed, &block->prepared, error);
    timing->plan_ms += clock_ms() - prepared_at;
    if (totals && totals->plan)
        status = AND_THEN(status, group_totals_make(plan, engine_threads(engine), &sums, error));
    all.sink = group_totals_sink(sums);
    if (status == STATUS_OK)
        status = engine_run(block->prepared, &all, &partial, timing, error);
    if (status == STATUS_OK && (status = group_totals_finish(sums, &partial, error)) != STATUS_OK)
        partial_free(&partial);
    group_totals_free(sums);
    if (status == STATUS_OK && taken && plan->taken && (partial.taken || table_is_resident(plan->fact))) {
        taken->rows = partial.taken; /* the host has no values of a resident table */
        partial.taken = NULL;
        partial_free(&partial);
        status = taken->rows ? own_strings(run, plan, taken->rows) : STATUS_OK;
    } else if (status == STATUS_OK && wanted->keys && partial.is_set) {
        status = take_keys(run, wanted->keys, plan, &partial);
        partial_free(&partial);
    } else if (status == STATUS_OK) {
        const double begin = clock_ms();
        status = partial.totals ? totals_answer(totals, &partial, engine_threads(engine), rows, error)
                                : collect_rows(engine, plan, &partial, rows, error);
        if (partial.totals) /* else it may be tried again, in parts */
            totals->done = status == STATUS_OK;
        timing->output_ms = clock_ms() - begin;
        partial_free(&partial);
    }
    if (status == STATUS_OK && analysed) {
        struct run_timing medians = *timing;
        const double begin = clock_ms();
        status = explain_analyse(node, engine, plan, block->prepared, &medians, error);
        run->analysis_ms += clock_ms() - begin;
    }
    return status;
}

enum status relational_keep(struct relational *run, struct rowset *rows)
{
    for (uint32_t c = 0; c < rows->column_count; c++) {
        if (!rows->dictionaries[c])
            continue;
        RETURN_IF_ERROR(memory_grow(&run->dictionaries,
                                    (run->dictionary_count + 1) * sizeof *run->dictionaries, "an answer",
                                    run->error));
        run->dictionaries[run->dictionary_count++] = rows->dictionaries[c];
        rows->dictionaries[c] = NULL;
    }
    return STATUS_OK;
}

/* Runs a plan, or only explains it. */
static enum status answer_plan(struct relational *run, struct block_plan *block, struct engine *engine,
                               const struct wanted *wanted, const uint32_t *numbers,
                               struct run_timing *timing, struct result *result)
{
    const struct plan *const plan = block->plan;
    struct totals *const totals = wanted->totals;
    struct taken *const taken = wanted->taken;
    struct operator operator;
    struct rowset rows = {0};
    operator_begin(run, "plan", NULL, NULL, &operator);
    if (!run->task->analyse || !is_analysed(plan))
        explain_plan(operator.node, &(struct explained){.plan = plan, .engine = engine, .timing = timing});
    if (run->dry) {
        operator_dry(&operator, explain_expected_rows(plan), result);
        return STATUS_OK;
    }
    enum status status = run_plan(run, block, engine, wanted, operator.node, timing, &rows);
    if (status == STATUS_OK && wanted->keys && wanted->keys->done) {
        result->rows = wanted->keys->keys.count + wanted->keys->keys.null;
        operator_end(run, &operator, explain_expected_rows(plan), result);
        return STATUS_OK;
    }
    if (status == STATUS_OK && taken && taken->rows) {
        result->rows = taken->rows->rows;
        for (uint32_t c = 0; c < plan->output_count; c++)
            RETURN_IF_ERROR(taken_add(run, taken, numbers[c]));
        operator_end(run, &operator, explain_expected_rows(plan), result);
        return STATUS_OK;
    }
    if (status == STATUS_OK)
        status = relational_keep(run, &rows);
    if (status != STATUS_OK) {
        rowset_free(&rows);
        return status;
    }
    if (totals && totals->done) {
        numbers = totals->numbers;
        result = &totals->result;
    }
    RETURN_IF_ERROR(result_of_rows(run, &rows, numbers, result));
    operator_end(run, &operator, explain_expected_rows(plan), result);
    return STATUS_OK;
}

enum status relational_bind(struct relational *run, const struct sql_star *star,
                            const struct sql_select *select, struct sql_options options, struct plan **plan)
{
    run->cut = SQL_CUT_NOWHERE;
    options.cut = &run->cut;
    RETURN_IF_ERROR(cancel_check(run->error));
    return sql_bind(star, select, run->parameters, run->parameter_count, &options, plan, run->error);
}

static void want_set(struct plan *plan, const struct key_set *keys, const uint32_t *numbers)
{
    for (uint32_t c = 0; c < plan->output_count; c++)
        if (numbers[c] == keys->number) {
            plan_want_set(plan, c);
            return;
        }
}

/* Makes the plan of a block, whose rows are taken, or whose keys are a set, if they can be. */
static enum status make_plan(struct relational *run, const struct sql_star *star,
                             const struct sql_select *select, struct engine *engine,
                             const struct wanted *wanted, const uint32_t *numbers, struct plan **plan)
{
    const struct relational_task *const task = run->task;
    const bool stored = star->database;
    const struct sql_options options = {.codec = stored ? task->codec : NULL,
                                        .threads = engine_threads(engine),
                                        .on_gpu = engine_is_cuda(engine),
                                        .index = task->index,
                                        .like = task->like,
                                        .zone = task->zone,
                                        .now = task->now};
    RETURN_IF_ERROR(relational_bind(run, star, select, options, plan));
    (*plan)->staged = stored && task->staged;
    if (wanted->taken)
        plan_take(*plan);
    if (wanted->keys)
        want_set(*plan, wanted->keys, numbers);
    return engine_fit(engine, *plan, run->error);
}

/* Whether the plan of a block over stored tables is looked for among those of earlier runs, and kept for later ones. */
static bool keeps_plans(const struct relational *run)
{
    return run->task->plans && !run->dry && !run->task->analyse && !engine_cluster(run->task->engine);
}

/* What a plan that is kept has of the account, others do not have. */
static bool has_room(void)
{
    const struct memory_account *const account = execution_memory();
    return !account || account->used < account->limit / KEPT_SHARE;
}

/* Makes another key of that of a plan of which something else is asked. */
static enum status add_mark(const char *word, uint32_t number, struct block_plan *block, struct error *error)
{
    const size_t length = strlen(word) + 1;
    RETURN_IF_ERROR(memory_grow(&block->key, block->length + length + sizeof number, "a key", error));
    memcpy(block->key + block->length, word, length);
    memcpy(block->key + block->length + length, &number, sizeof number);
    block->length += length + sizeof number;
    return STATUS_OK;
}

static void end_block(struct relational *run, struct block_plan *block, enum status status)
{
    if (status == STATUS_OK && block->key && has_room())
        block_plans_give(run->task->plans, block);
    else
        block_plan_free(block);
}

enum status relational_plan(struct relational *run, const struct sql_star *star,
                            const struct sql_select *select, const uint32_t *numbers, struct result *result)
{
    const struct relational_task *const task = run->task;
    const bool stored = star->database;
    const double begin = clock_ms();
    struct engine *engine = task->engine;
    struct run_timing timing = {0};
    struct block_plan block = {0};
    struct totals *const totals = stored ? run->totals_of_plan : NULL;
    const struct wanted wanted = {
        .totals = totals, .taken = run->taken_of_plan, .keys = stored ? run->keys_of_plan : NULL};
    enum status status = STATUS_OK;
    bool made = false;
    *result = (struct result){0};
    run->totals_of_plan = NULL;
    run->taken_of_plan = NULL;
    run->keys_of_plan = NULL;
    if (run->kept)
        return relational_bind(run, star, select, *run->kept->options, &run->kept->plan);
    if (!stored && !(star->table_count && table_is_resident(star->tables[0].table)))
        RETURN_IF_ERROR(relational_engine(run, &engine));
    else if (stored && keeps_plans(run))
        RETURN_IF_ERROR(distribute_key(run, star, select, &block.key, &block.length));
    if (totals && block.key)
        status = totals_key(run, totals, select->item_count, numbers, &block.key, &block.length);
    if (wanted.taken && block.key)
        status = AND_THEN(status, add_mark("taken", 0, &block, run->error));
    if (wanted.keys && block.key)
        status = AND_THEN(status, add_mark("keys", wanted.keys->number, &block, run->error));
    made = !block.key || !block_plans_take(task->plans, &block);
    if (made)
        status = AND_THEN(status, make_plan(run, star, select, engine, &wanted, numbers, &block.plan));
    if (totals && status == STATUS_OK)
        status = totals_plan(run, totals, block.plan, numbers, made);
    timing.plan_ms = clock_ms() - begin;
    for (uint32_t c = 0; status == STATUS_OK && stored && c < block.plan->column_count; c++)
        timing.bytes += block.plan->columns[c].decided ? 0 : block.plan->columns[c].data->bytes;
    if (status == STATUS_OK && stored && !run->dry)
        status = distribute_tell(run, star, select);
    status = AND_THEN(status, answer_plan(run, &block, engine, &wanted, numbers, &timing, result));
    add_timing(&run->timing, &timing);
    end_block(run, &block, status);
    return status;
}

enum status relational_follow(struct relational *run)
{
    static const struct wanted nothing = {0};
    for (;;) {
        struct explain_node *const node = explain_new(run->explained, "plan");
        struct run_timing timing = {0};
        struct rowset rows = {0};
        struct distributed *heard;
        struct block_plan block = {0};
        bool end;
        explain_set_root(node);
        RETURN_IF_ERROR(distribute_hear(run, &heard, &end));
        if (end)
            return STATUS_OK;
        enum status status =
            make_plan(run, &heard->star, &heard->select, run->task->engine, &nothing, NULL, &block.plan);
        if (status != STATUS_OK) {
            block_plan_free(&block);
            return status;
        }
        status = run_plan(run, &block, run->task->engine, &nothing, node, &timing, &rows);
        rowset_free(&rows);
        block_plan_free(&block);
        if (status != STATUS_OK && status != STATUS_BAD_INPUT) /* else process 0 may ask in another way */
            return status;
        *run->error = (struct error){0};
    }
}
