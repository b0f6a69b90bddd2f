/* row_words.c: see row_words.h. */
#include "engine/plan/grouping/row_words.h"

static uint32_t bits_of(uint64_t most)
{
    return most ? 64 - (uint32_t)__builtin_clzll(most) : 0;
}

/* An aggregate of rows needs no code of its argument. */
static bool needs_code(const struct plan *plan, uint32_t a)
{
    return plan->aggregates[a].argument != EXPRESSION_NONE &&
           (plan_argument_is_nullable(plan, a) || plan_aggregate_of(plan, a)->device.value != STATE_OF_ROW);
}

/* The bits of an argument's codes. */
static uint32_t code_bits(const struct plan *plan, uint32_t a)
{
    const struct plan_aggregate *const of = &plan->aggregates[a];
    const uint64_t last = of->low > of->high ? 0 : (uint64_t)of->high - (uint64_t)of->low;
    return last == UINT64_MAX ? 65 : bits_of(last + plan_argument_is_nullable(plan, a));
}

/* Gives codes their places; false: they are too many. */
static bool place_codes(const struct plan *plan, struct row_words *words)
{
    uint32_t used = 0;
    for (uint32_t a = 0; a < plan->aggregate_count; a++) {
        uint32_t same = 0;
        words->shifts[a] = words->bits[a] = 0;
        words->code_of[a] = ROW_WORDS_NO_CODE;
        if (!needs_code(plan, a))
            continue;
        while (plan->aggregates[same].argument != plan->aggregates[a].argument || !needs_code(plan, same))
            same++;
        const uint32_t bits = code_bits(plan, a);
        if (same == a && used + bits >= 64)
            return false;
        words->code_of[a] = (uint16_t)same;
        words->shifts[a] = same == a ? (uint8_t)used : words->shifts[same];
        words->bits[a] = (uint8_t)bits;
        used += same == a ? bits : 0;
    }
    words->number_shift = used;
    return true;
}

void row_words_find(const struct plan *plan, struct row_words *words)
{
    words->fit = false;
    if (plan->shape != PLAN_HASH || plan->key_words != 1 || plan->group_count == 0)
        return;
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        if (plan_is_distinct(plan, a))
            return;
    const struct plan_group *const outermost = &plan->groups[0];
    words->numbers = outermost->stride * outermost->domain;
    words->number_bits = bits_of(words->numbers - 1);
    words->fit = place_codes(plan, words) && words->number_shift + words->number_bits <= 64;
}

/* ---- What is expected ---- */

double row_words_rows(const struct plan *plan)
{
    double rows = (double)plan->scan.kept_rows;
    for (uint32_t s = 0; s < plan->step_count; s++)
        rows *= plan->steps[s].share;
    return rows;
}

double row_words_groups(const struct plan *plan)
{
    const double rows = row_words_rows(plan);
    return rows < (double)plan->groups_most ? rows : (double)plan->groups_most;
}

struct run_search {
    const struct plan *plan;
    struct row_runs runs;
};

static void see_runs(void *context, const struct expression *leaf)
{
    struct run_search *const search = context;
    const struct plan_source *const source = &search->plan->sources[leaf->index];
    const uint32_t c = source->join < 0 ? source->column : search->plan->joins[source->join].column;
    const uint64_t runs = search->plan->columns[c].column->statistics.runs;
    search->runs.most = runs > search->runs.most ? runs : search->runs.most;
    search->runs.all += runs;
    search->runs.known &= runs > 0;
}

struct row_runs row_words_runs(const struct plan *plan)
{
    struct run_search search = {.plan = plan, .runs = {.known = true}};
    for (uint32_t g = 0; g < plan->group_count; g++)
        expression_visit(&plan->expressions, plan->groups[g].expression, see_runs, &search);
    return search.runs;
}
