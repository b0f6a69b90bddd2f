/*
 * index_step.c: decides which conditions bitmap indexes decide (planner.h: planner_use_indexes). Called once a statement;
 * it opens an index only if the index could pay.
 *
 * An index costs what the OR of its vectors and its decompression to bits cost, for every row of the table; a step
 * costs only for tiles that rows reach. So an index saves work where it is much smaller than its column, or so selective
 * that later steps find few tiles. Indexes are added one by one while the cost of all steps falls.
 */
#include "engine/plan/index/index_terms.h"

#include "storage/base/memory.h"
#include "storage/base/sort/sort.h"
#include "storage/index/index_file.h"
#include "storage/index/wah.h"

#include <stdlib.h>
#include <string.h>

/* CPU cycles (of the time stamp counter) of wah_or_bits() and bitset_or_many() by words: of vectors with fills, which are
 * met in an order that no processor predicts, and of literals or flat words, which are OR-ed by vector instructions. On
 * one core with AVX-512, 6 M rows, a loop over made data: 2.4 to 4.2 a word for uniform data of 50 to 4096 values (wah32:
 * 2.4 to 5.2), 0.83 for 11 values, whose words are all literals, 0.4 for flat words; in Q1.1 to Q1.3 at scale factor 1,
 * between scans that empty the caches, 5.5. Clustered data have few words; there it is the visits of vectors and the
 * pieces that cost: 0.01 to 0.12 cycles a row. Each row then costs a bit, written and read. */
#define SPARSE_WORD_CYCLES 5.5
#define DENSE_WORD_CYCLES  0.9
#define VISIT_CYCLES       400.0 /* of a vector in a segment: finding where its pieces begin */
#define MASK_ROW_CYCLES    0.03

/* The fraction of plan_step_cost that a range or semi-join of a scan takes on such a core: the test of lo_orderdate (12
 * bits, a range of rows of the dimension) takes 0.21 cycles a row in Q1.1, Q1.2 and Q1.3, of 0.74. */
#define STEP_PART 0.35

/* A condition on single rows, for each row that reaches it. */
#define CONDITION_CYCLES 6.0

/* On a GPU in bytes that a scan reads in the same time, at 3800 GB/s. On an H200, 120 M rows, making a mask takes 0.020
 * ms, the vectors' bytes at 2000 GB/s, and 0.02 ns for each piece of 64512 rows of a vector: 0.242 ms for 392 vectors
 * with 463 MB, of which 365 are a year of lo_orderdate, 0.112 for 193 MB and 0.109 for 188 MB in a few vectors. A scan
 * that begins with a mask (0.068 ms in Q1.2, 0.051 in Q1.3) takes a byte a row more than what it reads of columns, if
 * compared with one that does not. */
#define MASK_ROW_BYTES 1.0
#define LAUNCH_BYTES   76e6
#define WORD_BYTES     1.9 /* for each byte of a vector */
#define PIECE_BYTES    75.0

struct candidate {
    struct index_condition condition;
    struct plan_index_term term;
    struct plan_index_candidate told;
    bool elsewhere; /* groups, aggregates, outputs or other conditions need the column's values, too */
};

struct choice {
    const struct planner *planner;
    const struct plan *plan;
    uint32_t count;
    struct candidate candidates[PLAN_INDEX_TERMS_MAX];
    uint32_t *of_step;       /* the candidate of each step, or INDEX_NO_CONDITION */
    struct plan_step *steps; /* scratch: those that are left */
};

static double table_rows(const struct plan *plan)
{
    return (double)plan->fact->rows;
}

static uint64_t bit(uint32_t i)
{
    return UINT64_C(1) << i;
}

/* ---- Costs of one candidate ---- */

/* Of the values of the candidate's column in the fraction `share` of the rows. */
static double fetch_cost(const struct choice *choice, const struct candidate *candidate, double share)
{
    return (choice->planner->on_gpu ? plan_fetch_bytes : plan_fetch_cost)(choice->plan,
                                                                          candidate->condition.column, share);
}

/* Of the candidate's condition, evaluated on single rows. */
static double condition_cost(const struct choice *choice, const struct candidate *candidate, double share)
{
    return fetch_cost(choice, candidate, share) + (choice->planner->on_gpu ? 0 : CONDITION_CYCLES * share);
}

static double step_cost(const struct choice *choice, const struct candidate *candidate)
{
    const struct plan_step *step = &choice->plan->steps[candidate->condition.step];
    if (step->kind == STEP_CONDITION)
        return condition_cost(choice, candidate, 1);
    return choice->planner->on_gpu ? plan_step_bytes(choice->plan, step, 1)
                                   : STEP_PART * plan_step_cost(choice->plan, step, 1);
}

static double index_cost(const struct choice *choice, const struct index_words *words)
{
    const double rows = table_rows(choice->plan);
    if (choice->planner->on_gpu)
        return (WORD_BYTES * (double)words->bytes + PIECE_BYTES * (double)words->pieces) / rows;
    return (SPARSE_WORD_CYCLES * (double)words->sparse + DENSE_WORD_CYCLES * (double)words->dense +
            VISIT_CYCLES * (double)words->vectors) /
               rows +
           MASK_ROW_CYCLES;
}

/* ---- The cost of a set of candidates ---- */

static bool in(uint64_t set, uint32_t i)
{
    return set >> i & 1;
}

/* The candidate of the set that decides the step at least in part, or NULL. */
static const struct candidate *decides(const struct choice *choice, uint64_t set, uint32_t s)
{
    const uint32_t i = choice->of_step[s];
    return i != INDEX_NO_CONDITION && in(set, i) ? &choice->candidates[i] : NULL;
}

/* True if the set decides the step wholly. */
static bool is_decided(const struct choice *choice, uint64_t set, uint32_t s)
{
    const struct candidate *const by = decides(choice, set, s);
    return by && by->term.exact;
}

/* The selectivity that a step has after the set's mask: a candidate that decides it in part has taken some rows. */
static double share_left(const struct choice *choice, uint64_t set, uint32_t s)
{
    const struct candidate *const by = decides(choice, set, s);
    double share = choice->plan->steps[s].share;
    if (by && !by->term.exact)
        share /= by->term.share > share ? by->term.share : share;
    return share < 1 ? share : 1;
}

static int by_share(const void *left, const void *right, const void *context)
{
    (void)context;
    const double x = ((const struct plan_step *)left)->share, y = ((const struct plan_step *)right)->share;
    return (x > y) - (x < y);
}

/* The cost of the ranges, semi-joins and probes that are left; *share is that of the rows before and then after them. */
static double steps_cost(const struct choice *choice, uint64_t set, double *share)
{
    const struct plan *plan = choice->plan;
    struct plan_step *const steps = choice->steps;
    uint32_t count = 0;
    for (uint32_t s = 0; s < plan->step_count; s++)
        if (plan->steps[s].kind != STEP_CONDITION && !is_decided(choice, set, s)) {
            steps[count] = plan->steps[s];
            steps[count++].share = share_left(choice, set, s);
        }
    sort_items(steps, count, sizeof *steps, by_share, NULL);
    const double cost = planner_cheapest_order(plan, steps, count, *share, choice->planner->on_gpu);
    for (uint32_t s = 0; s < count; s++)
        *share *= steps[s].share;
    return choice->planner->on_gpu ? cost : STEP_PART * cost;
}

static bool is_condition(const struct choice *choice, const struct candidate *candidate)
{
    return choice->plan->steps[candidate->condition.step].kind == STEP_CONDITION;
}

/* The expected cost for each row of the table of all that an index could change. */
static double cost_of(const struct choice *choice, uint64_t set)
{
    const bool on_gpu = choice->planner->on_gpu;
    double cost = set && on_gpu ? MASK_ROW_BYTES + LAUNCH_BYTES / table_rows(choice->plan) : 0, share = 1;
    for (uint32_t i = 0; i < choice->count; i++)
        if (in(set, i)) {
            cost += choice->candidates[i].told.index_cost;
            share *= choice->candidates[i].term.share;
        }
    cost += steps_cost(choice, set, &share);
    for (uint32_t i = 0; i < choice->count; i++) {
        const struct candidate *candidate = &choice->candidates[i];
        const bool decided = in(set, i) && candidate->term.exact;
        if (!decided && is_condition(choice, candidate)) {
            cost += condition_cost(choice, candidate, share);
            share *= in(set, i) ? 1 : candidate->term.share;
        } else if (decided && candidate->elsewhere) {
            cost += fetch_cost(choice, candidate, share); /* which is free if a step has decoded the tile */
        }
    }
    return cost;
}

/* ---- Candidates ---- */

/* True if the values of the candidate's column are needed also when its steps are decided. */
static bool needed_elsewhere(const struct choice *choice, uint32_t i, const struct index_condition *condition)
{
    const struct plan *const plan = choice->plan;
    bool needed = plan_groups_read(plan, condition->column);
    for (uint32_t s = 0; s < plan->step_count; s++)
        if (plan->steps[s].kind == STEP_CONDITION && choice->of_step[s] != i)
            needed |= plan_expression_reads(plan, plan->steps[s].expression, condition->column);
    for (uint32_t o = 0; plan->shape == PLAN_ROWS && o < plan->output_count + plan->hidden_count; o++)
        needed |= plan_expression_reads(plan, plan->outputs[o].expression, condition->column);
    return needed;
}

/* What the catalogue tells of the vectors, before their file is opened. */
static struct index_words expected_words(const struct plan *plan, const struct candidate *candidate)
{
    const struct column_index *index = candidate->told.column->index;
    const double part = candidate->told.of ? (double)candidate->told.vectors / candidate->told.of : 0;
    return (struct index_words){.dense = (uint64_t)(part * (double)index->words),
                                .bytes = (uint64_t)(part * (double)index->bytes),
                                .pieces = candidate->told.vectors * wah_pieces(plan->fact->rows),
                                .rows = (uint64_t)(part * table_rows(plan))};
}

static void tell(struct choice *choice, struct candidate *candidate, struct index_words words)
{
    candidate->told.bytes = candidate->term.bytes = words.bytes;
    candidate->told.index_cost = index_cost(choice, &words);
    candidate->term.share = (double)words.rows / table_rows(choice->plan);
    candidate->term.share = candidate->term.share < 1 ? candidate->term.share : 1;
}

/* True if the first candidate alone gives the number of rows that is the answer: no word is read. */
static bool answers(const struct choice *choice)
{
    return plan_only_counts(choice->plan) && choice->plan->step_count == 1 && choice->count == 1 &&
           choice->candidates[0].term.exact;
}

/* Opens the index unless it cannot pay: its words alone would cost more than all that it saves. A file that is damaged
 * is no candidate, unless indexes must be used. */
static enum status open_candidate(struct choice *choice, struct candidate *candidate, struct error *error)
{
    const struct planner *planner = choice->planner;
    struct error why = {0};
    if (planner->index_use == PLAN_INDEX_AUTO && candidate->told.index_cost > cost_of(choice, 0) &&
        !answers(choice))
        return STATUS_OK;
    const enum status status = index_data_open(choice->plan->database, candidate->told.column,
                                               planner->threads, &candidate->term.index, &why);
    if (status != STATUS_OK && planner->index_use == PLAN_INDEX_AUTO && status != STATUS_INTERRUPTED)
        return STATUS_OK;
    if (status != STATUS_OK)
        return error_set(error, status, "%s", why.text);
    candidate->told.opened = true;
    tell(choice, candidate, index_term_words(&candidate->term));
    return STATUS_OK;
}

static enum status add_candidate(struct choice *choice, const struct index_condition *condition,
                                 struct error *error)
{
    const uint32_t i = choice->count++;
    struct candidate *const candidate = &choice->candidates[i];
    const struct column *const column = choice->plan->columns[condition->column].column;
    *candidate =
        (struct candidate){.condition = *condition, .elsewhere = needed_elsewhere(choice, i, condition)};
    RETURN_IF_ERROR(
        index_term_find(choice->plan, condition, &candidate->term, &candidate->told.vectors, error));
    candidate->told.column = column;
    candidate->told.of = column->index->bin_count + (column->statistics.nulls > 0);
    candidate->told.exact = candidate->term.exact;
    candidate->told.step_cost = step_cost(choice, candidate);
    tell(choice, candidate, expected_words(choice->plan, candidate));
    return STATUS_OK;
}

static enum status find_candidates(struct choice *choice, bool *nothing, struct error *error)
{
    struct index_condition conditions[PLAN_INDEX_TERMS_MAX];
    const uint32_t steps = choice->plan->step_count;
    RETURN_IF_ERROR(memory_take(&choice->of_step, steps * sizeof *choice->of_step, "a plan", error));
    RETURN_IF_ERROR(memory_take(&choice->steps, steps * sizeof *choice->steps, "a plan", error));
    const uint32_t count = index_conditions_find(choice->plan, conditions, choice->of_step);
    for (uint32_t i = 0; i < count; i++) {
        RETURN_IF_ERROR(add_candidate(choice, &conditions[i], error));
        *nothing |= choice->candidates[i].term.run_count == 0;
    }
    for (uint32_t i = 0; i < count && !*nothing; i++)
        RETURN_IF_ERROR(open_candidate(choice, &choice->candidates[i], error));
    return STATUS_OK;
}

/* ---- Choosing ---- */

static uint64_t all_opened(const struct choice *choice)
{
    uint64_t set = 0;
    for (uint32_t i = 0; i < choice->count; i++)
        set |= choice->candidates[i].told.opened ? bit(i) : 0;
    return set;
}

/* Adds the candidate that saves most, as long as one saves anything. */
static uint64_t cheapest_set(const struct choice *choice, uint64_t opened)
{
    uint64_t set = 0, best = 0;
    double least = cost_of(choice, 0);
    do {
        set = best;
        for (uint32_t i = 0; i < choice->count; i++) {
            const double cost = in(opened & ~set, i) ? cost_of(choice, set | bit(i)) : least;
            best = cost < least ? set | bit(i) : best;
            least = cost < least ? cost : least;
        }
    } while (best != set);
    return cost_of(choice, opened) < least ? opened : set;
}

static uint64_t choose(const struct choice *choice)
{
    const struct plan *plan = choice->plan;
    const uint64_t opened = all_opened(choice);
    const bool first_rows = plan->shape == PLAN_ROWS && plan->order_count == 0 && plan->limit != UINT64_MAX;
    if (choice->planner->index_use == PLAN_INDEX_ON)
        return opened;
    if (first_rows) /* the scan ends after the first rows, the mask is one of all */
        return 0;
    return opened && answers(choice) ? opened : cheapest_set(choice, opened);
}

/* ---- The plan's step ---- */

/* Moves the terms of the set to the plan, and their steps out of it. */
static enum status apply(struct plan *plan, struct choice *choice, uint64_t set, struct error *error)
{
    struct plan_step *kept;
    uint32_t count = 1;
    RETURN_IF_ERROR(memory_take(&plan->decided, plan->step_count * sizeof *plan->decided, "a plan", error));
    RETURN_IF_ERROR(memory_take(&kept, (plan->step_count + 1) * sizeof *kept, "a plan", error));
    kept[0] = (struct plan_step){.kind = STEP_INDEX, .share = 1};
    for (uint32_t i = 0; i < choice->count; i++)
        if (in(set, i)) {
            kept[0].share *= choice->candidates[i].term.share;
            plan->index.terms[plan->index.term_count++] = choice->candidates[i].term;
            choice->candidates[i].term.runs = NULL; /* the plan's */
        }
    for (uint32_t s = 0; s < plan->step_count; s++)
        if (is_decided(choice, set, s)) {
            plan->decided[plan->decided_count++] = plan->steps[s];
        } else {
            kept[count] = plan->steps[s];
            kept[count++].share = share_left(choice, set, s);
        }
    free(plan->steps);
    plan->steps = kept;
    plan->step_count = count;
    for (uint32_t c = 0; c < plan->column_count; c++)
        plan->columns[c].decided = plan->columns[c].stepped || plan->columns[c].fetched;
    planner_mark_columns(plan);
    for (uint32_t c = 0; c < plan->column_count; c++)
        plan->columns[c].decided &= !plan->columns[c].stepped && !plan->columns[c].fetched;
    return STATUS_OK;
}

enum status planner_use_indexes(struct planner *planner)
{
    struct plan *plan = planner->plan;
    struct choice choice = {.planner = planner, .plan = plan};
    bool nothing = false;
    if (planner->index_use == PLAN_INDEX_OFF || plan->nothing)
        return STATUS_OK;
    enum status status = find_candidates(&choice, &nothing, planner->error);
    const uint64_t set = status == STATUS_OK && !nothing ? choose(&choice) : 0;
    for (uint32_t i = 0; i < choice.count; i++) {
        choice.candidates[i].told.used = in(set, i);
        plan->index.candidates[plan->index.candidate_count++] = choice.candidates[i].told;
    }
    plan->nothing |= nothing;
    if (set)
        status = apply(plan, &choice, set, planner->error);
    for (uint32_t i = 0; i < choice.count; i++)
        free(choice.candidates[i].term.runs);
    free(choice.of_step);
    free(choice.steps);
    return status;
}
