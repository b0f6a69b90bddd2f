/*
 * kernel_shape.c: finds what a plan's scan reads and the place of its states (kernel.h), and which columns must be decoded
 * before the scan, because a block has no shared memory for their decoders. Called a few times for each statement.
 */
#include "engine/gpu/kernel.h"

#include "engine/gpu/kernel_decoder.h"
#include "engine/gpu/kernel_levels.h"
#include "engine/gpu/groups/kernel_joint.h"
#include "engine/gpu/groups/kernel_list.h"
#include "operators/dialect/bound.h"
#include "storage/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(KERNEL_COLUMNS_MAX * sizeof(struct bound_column) +
                       KERNEL_JOINS_MAX * sizeof(struct bound_dimension) + sizeof(struct bound_scan) <=
                   4096,
               "a kernel's arguments");

/* The most words of the only group's states that a thread keeps in registers, or the compiler in its local memory;
 * with more, a block has them in shared memory. With more aggregates than that has, all are in global memory, because
 * the compiler takes too long: 30 s for 512 in shared memory, 3.4 in global. */
#define SINGLE_WORDS_MAX      256u
#define SHARED_AGGREGATES_MAX 256u

/* The most bits of a bitmap for count(distinct), with a bit for each slot and value: 64 for each row of the
 * fact table, but at least 2^23 and at most 2^33. */
#define DISTINCT_BITS_A_ROW  64u
#define DISTINCT_BITS_ALWAYS (UINT64_C(1) << 23)
#define DISTINCT_BITS_MAX    (UINT64_C(1) << 33)

struct reader {
    const struct plan *plan;
    struct kernel *kernel;
};

/* ---- The columns of the scan ---- */

static void read_leaf(void *context, const struct expression *leaf)
{
    const struct reader *reader = context;
    const struct plan *plan = reader->plan;
    struct kernel *kernel = reader->kernel;
    const struct plan_source *source = &plan->sources[leaf->index];
    if (source->join < 0) {
        kernel->fetched[source->column] = true;
        return;
    }
    const struct plan_join *join = &plan->joins[source->join];
    kernel->array_used[source->column] |= source->bits == 0;
    kernel->fetched[join->column] = true;
    kernel->looked_up[source->join] = !join->inner && join->match != EXPRESSION_NONE;
}

static void find_fetched(const struct plan *plan, struct kernel *kernel)
{
    struct reader reader = {.plan = plan, .kernel = kernel};
    for (uint32_t s = 0; s < plan->step_count; s++)
        if (plan_step_is_expression(&plan->steps[s]))
            expression_visit(&plan->expressions, plan->steps[s].expression, read_leaf, &reader);
    for (uint32_t g = 0; g < plan->group_count; g++)
        expression_visit(&plan->expressions, plan->groups[g].expression, read_leaf, &reader);
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        if (plan->aggregates[a].argument != EXPRESSION_NONE)
            expression_visit(&plan->expressions, plan->aggregates[a].argument, read_leaf, &reader);
    for (uint32_t o = 0; plan->taken && o < plan->output_count; o++)
        expression_visit(&plan->expressions, plan->outputs[o].expression, read_leaf, &reader);
}

/* The fact column that a step reads whole; -1: none, or the fetched ones of its expression. */
static int32_t step_column(const struct plan *plan, const struct plan_step *step)
{
    return plan_step_is_expression(step) ? -1 : plan_step_column(plan, step);
}

static void find_first(const struct plan *plan, struct kernel *kernel)
{
    const struct first_rows *first = &plan->first;
    struct reader reader = {.plan = plan, .kernel = kernel};
    for (uint32_t t = 0; kernel->first && t < first->term_count; t++)
        expression_visit(&plan->expressions, first->terms[t].expression, read_leaf, &reader);
}

/* Refuses a plan that has more lists' members than a kernel's arguments have places for. */
static enum status check_arguments(const struct plan *plan, struct error *error)
{
    static const char sentence[] =
        "%s %u %s, and on a GPU it may have %u; ask for fewer, or give --device cpu";
    if (plan->group_count > ARGUMENT_GROUPS_MAX)
        return error_set(error, STATUS_BAD_INPUT, sentence, "GROUP BY or DISTINCT has", plan->group_count,
                         "terms", ARGUMENT_GROUPS_MAX);
    if (plan->array_count > ARGUMENT_ARRAYS_MAX)
        return error_set(error, STATUS_BAD_INPUT, sentence, "the statement has", plan->array_count,
                         "columns of dimensions", ARGUMENT_ARRAYS_MAX);
    return plan->join_count <= ARGUMENT_JOINS_MAX
               ? STATUS_OK
               : error_set(error, STATUS_BAD_INPUT, sentence, "the statement has", plan->join_count, "joins",
                           ARGUMENT_JOINS_MAX);
}

/* Refuses a plan that reads more columns than a kernel can. */
static enum status check_columns(const struct plan *plan, const struct kernel *kernel, struct error *error)
{
    uint32_t count = 0;
    for (uint32_t c = 0; c < plan->column_count; c++) {
        bool read = kernel->fetched[c];
        for (uint32_t s = 0; s < plan->step_count && !read; s++)
            read = step_column(plan, &plan->steps[s]) == (int32_t)c;
        count += read;
    }
    return count <= KERNEL_COLUMNS_MAX
               ? STATUS_OK
               : error_set(error, STATUS_BAD_INPUT,
                           "the statement's conditions, groups and aggregates read %u columns of %s, and on "
                           "a GPU they may read %u; ask for fewer, or give --device cpu",
                           count, plan->fact->name, KERNEL_COLUMNS_MAX);
}

static uint32_t add_column(const struct plan *plan, struct kernel *kernel, uint32_t c)
{
    const struct plan_column *column = &plan->columns[c];
    uint32_t place = 0;
    while (place < kernel->shape.column_count && kernel->columns[place] != c)
        place++;
    if (place < kernel->shape.column_count)
        return place;
    kernel->columns[kernel->shape.column_count++] = c;
    const bool staged = plan_stages(plan, c, true);
    const uint32_t bits = column->column->value_bytes * 8;
    kernel->staged.codec = codec_baseline();
    kernel->shape.columns[place] = (struct kernel_column){.data = staged ? &kernel->staged : column->data,
                                                          .value_bytes = column->column->value_bytes,
                                                          .width_low = staged ? bits : column->width_low,
                                                          .width_high = staged ? bits : column->width_high,
                                                          .fetched = kernel->fetched[c],
                                                          .nullable = column->nullable,
                                                          .kept = 1,
                                                          .planes = kernel_level_planes(column, staged),
                                                          .needed = column->needed};
    return place;
}

static void add_join(const struct plan *plan, struct kernel *kernel, uint32_t j)
{
    const struct plan_join *join = &plan->joins[j];
    for (uint32_t k = 0; k < kernel->shape.join_count; k++)
        if (kernel->joins[k] == j)
            return;
    const uint32_t place = kernel->shape.join_count++;
    kernel->joins[place] = j;
    kernel->shape.joins[place] = (struct kernel_join){.column = add_column(plan, kernel, join->column),
                                                      .positions = table_positions(join->table),
                                                      .filtered = join->match != EXPRESSION_NONE,
                                                      .contiguous = join->contiguous,
                                                      .coded = true};
    kernel_level_join(plan, kernel->looked_up[j], place, kernel);
    if (kernel->shape.joins[place].filtered && !join->contiguous)
        plan_mark_arrays(plan, join->match, kernel->array_used);
}

/* Adds the columns and dimensions that a hand-written kernel names: it may fetch other columns than the plan,
 * and name dimensions that drop no row. */
static void add_named(const struct plan *plan, struct kernel *kernel)
{
    const struct plan_kernel *hand = kernel->hand;
    for (uint32_t place = 0; place < hand->dimension_count; place++)
        if (hand->joins[place] >= 0)
            add_join(plan, kernel, (uint32_t)hand->joins[place]);
    for (uint32_t place = 0; place < hand->column_count; place++)
        if (hand->columns[place] >= 0)
            kernel->column_place[add_column(plan, kernel, (uint32_t)hand->columns[place])] = place;
    for (uint32_t k = 0; k < kernel->shape.join_count; k++)
        for (uint32_t place = 0; place < hand->dimension_count; place++)
            if (hand->joins[place] == (int32_t)kernel->joins[k]) {
                kernel->join_place[k] = place;
                kernel_level_codes(hand, place, &kernel->shape.joins[k]);
            }
    kernel->bound_columns = hand->column_count;
    kernel->bound_dimensions = hand->dimension_count;
}

static void add_in_order(struct kernel *kernel)
{
    kernel->bound_columns = kernel->shape.column_count;
    kernel->bound_dimensions = kernel->shape.join_count;
    for (uint32_t k = 0; k < kernel->shape.column_count; k++)
        kernel->column_place[k] = k;
    for (uint32_t k = 0; k < kernel->shape.join_count; k++)
        kernel->join_place[k] = k;
}

/* Makes the shape: first the columns of the steps, in their order, and then those that are only fetched. */
static enum status find_shape(const struct plan *plan, struct kernel *kernel, struct error *error)
{
    RETURN_IF_ERROR(check_arguments(plan, error));
    RETURN_IF_ERROR(memory_zeros(&kernel->fetched, plan->column_count, "a kernel", error));
    find_fetched(plan, kernel);
    find_first(plan, kernel);
    RETURN_IF_ERROR(check_columns(plan, kernel, error));
    kernel->shape.name = kernel->hand ? kernel->hand->kernel->name : "(SQL)";
    for (uint32_t s = 0; s < plan->step_count; s++) {
        const struct plan_step *step = &plan->steps[s];
        if (step->kind == STEP_INDEX) {
            kernel->shape.indexed = true;
            kernel->shape.indexed_kept = step->share;
        }
        if (step_column(plan, step) < 0)
            continue;
        const uint32_t place = add_column(plan, kernel, (uint32_t)step_column(plan, step));
        kernel->shape.columns[place].kept *= step->share;
        if (step->kind == STEP_SEMI_JOIN)
            add_join(plan, kernel, step->join);
    }
    for (uint32_t j = 0; j < plan->join_count; j++)
        if (kernel->looked_up[j])
            add_join(plan, kernel, j);
    for (uint32_t c = 0; c < plan->column_count; c++)
        if (kernel->fetched[c])
            add_column(plan, kernel, c);
    if (kernel->hand)
        add_named(plan, kernel);
    else
        add_in_order(kernel);
    return STATUS_OK;
}

/* ---- States ---- */

uint32_t kernel_shared_words(const struct aggregate *aggregate)
{
    return 2 * aggregate->words;
}

/* The number of possible values of an argument, without NULL; 0 stands for 2^64. */
static uint64_t argument_domain(const struct plan_aggregate *aggregate)
{
    return aggregate->low > aggregate->high ? 1 : (uint64_t)aggregate->high - (uint64_t)aggregate->low + 1;
}

static enum distinct_kind distinct_of(const struct plan *plan, const struct plan_aggregate *aggregate)
{
    const uint64_t domain = argument_domain(aggregate),
                   rows = plan->fact->rows < UINT64_MAX / DISTINCT_BITS_A_ROW ? plan->fact->rows : 0;
    const unsigned __int128 bits = (unsigned __int128)plan->slots * domain;
    if (domain && plan->shape != PLAN_HASH && bits <= DISTINCT_BITS_MAX &&
        (bits <= DISTINCT_BITS_ALWAYS || bits <= (unsigned __int128)rows * DISTINCT_BITS_A_ROW))
        return DISTINCT_BY_BITS;
    const struct plan_group *outermost = &plan->groups[0];
    const uint64_t numbers = plan->shape == PLAN_HASH ? outermost->stride * outermost->domain : plan->slots;
    if (domain && plan->key_words == 1 && (unsigned __int128)numbers * domain <= INT64_MAX)
        return DISTINCT_BY_KEYS;
    return DISTINCT_BY_PAIRS;
}

/* The most bytes for a block's sums: what lets several blocks share a multiprocessor, and fits a block. */
static uint64_t sums_most(const struct kernel_target *target)
{
    const uint64_t most = kernel_layout_bytes(KERNEL_SUMS_BYTES_MAX);
    return most < target->shared_block ? most : target->shared_block;
}

/* From this fraction of the scanned tiles' rows on that is expected to be left, lanes take their own rows. */
#define MANY_KEPT 0.1

/* Tiles that are left out have no rows that pass: so those that are read have all. */
static void find_density(const struct plan *plan, struct kernel_shape *shape)
{
    double kept = 1;
    for (uint32_t s = 0; s < plan->step_count; s++)
        kept *= plan->steps[s].share;
    shape->scanned = plan->scan.kept_rows ? (double)plan->scan.kept_rows / (double)plan->scan.rows : 1;
    shape->dense = kept < shape->scanned ? kept / shape->scanned : 1;
    shape->many = shape->dense >= MANY_KEPT;
}

static void place_states(const struct plan *plan, const struct kernel_target *target, struct kernel *kernel)
{
    uint32_t words = 0; /* 32-bit words a slot if the states were in shared memory */
    for (uint32_t a = 0; a < plan->aggregate_count; a++) {
        const struct aggregate *const aggregate = plan_aggregate_of(plan, a);
        kernel->state_words[a] = aggregate->words;
        if (aggregate->distinct)
            kernel->distinct[a] = distinct_of(plan, &plan->aggregates[a]);
        words += kernel_shared_words(aggregate);
    }
    const uint64_t slots_most = (plan->slots + STATE_BANKS - 1) / STATE_BANKS * STATE_BANKS,
                   bytes = (words + 1) * sizeof(uint32_t) * slots_most;
    const bool slots = (plan->shape == PLAN_TOTAL || plan->shape == PLAN_DENSE) &&
                       plan->aggregate_count <= SHARED_AGGREGATES_MAX;
    kernel->place = plan->shape == PLAN_TOTAL && words <= SINGLE_WORDS_MAX     ? STATES_SINGLE
                    : slots && kernel_layout_bytes(bytes) <= sums_most(target) ? STATES_SHARED
                                                                               : STATES_GLOBAL;
    kernel->shape.sums_bytes = kernel->place == STATES_SHARED ? bytes : 0;
}

/* With this many rows a run, merging them in a warp takes less than their atomic operations. */
#define ROWS_A_RUN 2u

bool kernel_sum_is_narrow(const struct plan *plan, uint32_t a)
{
    const struct plan_aggregate *const of = &plan->aggregates[a];
    const struct aggregate_device *const device = &plan_aggregate_of(plan, a)->device;
    return device->merge == MERGE_ADD && (device->value == STATE_OF_ROW ||
                                          (of->low >= 0 && of->high <= (int64_t)(UINT32_MAX / TILE_LANES)));
}

/* Words that a warp merges are of 64 bits; and where a block has its own states, an addition costs less. */
static bool merges_runs(const struct plan *plan, const struct kernel *kernel)
{
    if (kernel->hand || kernel->place != STATES_GLOBAL || plan->shape == PLAN_ROWS || plan->key_words > 1)
        return false;
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        if (plan_is_distinct(plan, a) || kernel->state_words[a] > 1)
            return false;
    const uint64_t runs = row_words_runs(plan).most;
    return runs > 0 && runs <= plan->fact->rows / ROWS_A_RUN;
}

enum status kernel_shape_make(const struct plan *plan, enum kernel_use use,
                              const struct kernel_target *target, struct kernel *kernel, struct error *error)
{
    *kernel = (struct kernel){.shape.counted = use == KERNEL_COUNTS,
                              .first = use == KERNEL_FINDS_FIRST,
                              .hand = plan->kernel.kernel && use != KERNEL_COUNTS ? &plan->kernel : NULL};
    RETURN_IF_ERROR(find_shape(plan, kernel, error));
    find_density(plan, &kernel->shape);
    place_states(plan, target, kernel);
    kernel->runs = merges_runs(plan, kernel);
    if (use != KERNEL_ANSWERS)
        return STATUS_OK;
    kernel_list_choose(plan, target, kernel);
    kernel_joint_choose(plan, kernel);
    return STATUS_OK;
}

/* ---- Columns that are decoded before the scan for want of shared memory ---- */

/* A value is read from memory with the sector that it is in. */
#define SECTOR_BYTES 32.0

/* The bytes that the GPU moves more if the column is decoded before the scan: all its values are written and those near
 * rows that reach it are read again, and chunks are read of tiles that no row reaches. `rows`: of a tile that reach it. */
static double decoding_costs(const struct plan *plan, const struct kernel_column *column, double rows)
{
    const double values = (double)plan->fact->rows * column->value_bytes;
    return (double)column->data->bytes * (1 - fmin(1, rows)) +
           values * (1 + fmin(1, rows * SECTOR_BYTES / (TILE_ROWS * column->value_bytes)));
}

/* Chooses the column of the shape whose decoding costs least for each byte that it frees of the `missing` ones;
 * column_count: none frees any. */
static uint32_t cheapest_to_decode(const struct plan *plan, const struct kernel_shape *shape,
                                   uint64_t missing)
{
    double least = INFINITY, rows = shape->indexed ? TILE_ROWS * shape->indexed_kept : TILE_ROWS;
    uint32_t found = shape->column_count;
    for (uint32_t c = 0; c < shape->column_count; c++) {
        const struct kernel_column *column = &shape->columns[c];
        const uint64_t frees =
            (uint64_t)WORK_TILES * (kernel_decoder_staging(column) - kernel_decoder_whole(column));
        const double costs = decoding_costs(plan, column, rows) / (double)(frees < missing ? frees : missing);
        rows *= column->kept;
        if (frees && costs < least) {
            least = costs;
            found = c;
        }
    }
    return found;
}

struct fitting {
    struct plan *plan;
    const struct kernel_target *target;
    struct kernel kernel;
    bool *marked; /* by this fitting, columns of the plan, which may have marks for other GPUs */
};

/* The shared memory that the smallest block of a kernel lacks. A kernel that cannot be made lacks none: kernel_make says
 * why. */
static uint64_t find_missing(struct fitting *fitting, enum kernel_use use)
{
    const struct plan *plan = fitting->plan;
    const uint64_t most = fitting->target->shared_block;
    kernel_free(&fitting->kernel);
    if ((use == KERNEL_FINDS_FIRST && plan->first.wanted == 0) ||
        kernel_shape_make(plan, use, fitting->target, &fitting->kernel, NULL) != STATUS_OK)
        return 0;
    const uint64_t least = kernel_layout_least(&fitting->kernel.shape);
    return least > most ? least - most : 0;
}

static void mark_columns(struct fitting *fitting, enum kernel_use use)
{
    struct kernel *kernel = &fitting->kernel;
    for (uint64_t missing; (missing = find_missing(fitting, use)) > 0;) {
        const uint32_t place = cheapest_to_decode(fitting->plan, &kernel->shape, missing);
        if (place == kernel->shape.column_count)
            return;
        const uint32_t c = kernel->columns[place];
        fitting->plan->columns[c].crowded = fitting->marked[c] = true;
    }
}

/* Takes back each mark that those after it have made needless. */
static void unmark_columns(struct fitting *fitting)
{
    for (uint32_t c = 0; c < fitting->plan->column_count; c++) {
        uint64_t missing = 0;
        if (!fitting->marked[c])
            continue;
        fitting->plan->columns[c].crowded = false;
        for (enum kernel_use use = 0; use < KERNEL_USES; use++)
            missing += find_missing(fitting, use);
        fitting->plan->columns[c].crowded = missing > 0;
    }
}

enum status kernel_fit(struct plan *plan, const struct kernel_target *target, struct error *error)
{
    struct fitting *fitting;
    if (plan->nothing)
        return STATUS_OK;
    RETURN_IF_ERROR(memory_zeros(&fitting, sizeof *fitting, "a kernel", error));
    fitting->plan = plan;
    fitting->target = target;
    const enum status status = memory_zeros(&fitting->marked, plan->column_count, "a kernel", error);
    for (enum kernel_use use = 0; use < KERNEL_USES && status == STATUS_OK; use++)
        mark_columns(fitting, use);
    if (status == STATUS_OK)
        unmark_columns(fitting);
    kernel_free(&fitting->kernel);
    free(fitting->marked);
    free(fitting);
    return status;
}
