/* first_rows.c: see first_rows.h. */
#include "engine/plan/order/first_rows.h"

#include "engine/plan/planner.h"

/* Ranks are less than this, so that their sums do not wrap. */
#define RANKS_MAX (UINT64_C(1) << 63)

/* ---- Terms ---- */

/* False if values do not have the order of the term: computed strings have codes of their own. */
static bool has_codes(const struct plan *plan, uint32_t expression)
{
    const struct expression *node = &plan->expressions.nodes[expression];
    return node->type.kind != VALUE_STRING || node->operation == EXPRESSION_COLUMN ||
           node->operation == EXPRESSION_GROUP;
}

/* Makes a term with at most `most` codes, *domain of them; its stride is set later. */
static struct first_term make_term(const struct plan *plan, const struct plan_order *order, uint64_t most,
                                   uint64_t *domain)
{
    struct first_term term = {
        .expression = plan->outputs[order->output].expression, .column = -1, .descending = order->descending};
    const struct expression *node = &plan->expressions.nodes[term.expression];
    const bool column = node->operation == EXPRESSION_COLUMN && plan->sources[node->index].join < 0;
    if (column)
        term.column = (int32_t)plan->sources[node->index].column;
    if (node->low <= node->high) {
        term.low = node->low;
        term.high = node->high;
    }
    const uint64_t width = (uint64_t)term.high - (uint64_t)term.low;
    while ((width >> term.shift) + 2 > most || width >> term.shift >= RANKS_MAX)
        term.shift++;
    term.best = order->nulls_first;
    term.null = order->nulls_first ? 0 : (width >> term.shift) + 1;
    *domain = (width >> term.shift) + 2;
    return term;
}

/* Adds terms while they fit; *domain becomes the number of ranks. True if all are there, exactly. */
static bool add_terms(const struct plan *plan, struct first_rows *first, uint64_t *domain)
{
    uint64_t domains[FIRST_TERMS_MAX];
    *domain = 1;
    for (uint32_t o = 0; o < plan->order_count; o++) {
        const uint32_t expression = plan->outputs[plan->orders[o].output].expression;
        if (o == FIRST_TERMS_MAX || !has_codes(plan, expression) || RANKS_MAX / *domain < 4)
            return false;
        first->terms[o] = make_term(plan, &plan->orders[o], RANKS_MAX / *domain, &domains[o]);
        first->term_count = o + 1;
        *domain *= domains[o];
        for (uint32_t before = 0; before < o; before++)
            first->terms[before].stride *= domains[o];
        first->terms[o].stride = 1;
        if (first->terms[o].shift)
            return false;
    }
    return true;
}

struct first_rows first_rows_of(const struct plan *plan)
{
    const uint64_t places = (uint64_t)plan->fact->segment_count << 24;
    struct first_rows first = {.bound = UINT64_MAX};
    uint64_t domain;
    if (plan->shape != PLAN_ROWS || plan->order_count == 0 || plan->having != EXPRESSION_NONE ||
        plan->limit > FIRST_ROWS_MAX || plan->offset > FIRST_ROWS_MAX - plan->limit ||
        !has_codes(plan, plan->outputs[plan->orders[0].output].expression))
        return first;
    first.wanted = plan->limit + plan->offset;
    first.by_row = add_terms(plan, &first, &domain) && places <= RANKS_MAX / domain;
    for (uint32_t t = 0; first.by_row && t < first.term_count; t++)
        first.terms[t].stride *= places;
    return first;
}

/* ---- Groups ---- */

/* One more than the greatest highest word of a group's number. */
static uint64_t numbers_of(const struct plan *plan)
{
    uint64_t most = 0;
    for (uint32_t g = 0; g < plan->group_count; g++)
        if (plan->groups[g].word + 1 == plan->key_words)
            most += (plan->groups[g].domain - 1) * plan->groups[g].stride;
    return plan->shape == PLAN_DENSE ? plan->slots : most < RANKS_MAX ? most + 1 : RANKS_MAX;
}

struct first_groups first_groups_of(const struct plan *plan)
{
    struct first_groups groups = {.first.bound = UINT64_MAX};
    const bool limited = plan->limit <= FIRST_ROWS_MAX && plan->offset <= FIRST_ROWS_MAX - plan->limit;
    uint64_t domain, numbers;
    if ((plan->shape != PLAN_HASH && plan->shape != PLAN_DENSE) || plan->grouping.set_count > 0 ||
        (!limited && plan->having == EXPRESSION_NONE))
        return groups;
    groups.few = true;
    groups.first.wanted = limited ? plan->limit + plan->offset : 0;
    if (groups.first.wanted == 0)
        return groups;
    const bool exact = add_terms(plan, &groups.first, &domain);
    if (plan->order_count && groups.first.term_count == 0) {
        groups.first.wanted = 0;
        groups.few = plan->having != EXPRESSION_NONE;
        return groups;
    }
    numbers = numbers_of(plan);
    groups.by_number = exact && numbers <= RANKS_MAX / domain;
    groups.number_stride = 1;
    for (uint32_t t = 0; groups.by_number && t < groups.first.term_count; t++)
        groups.first.terms[t].stride *= numbers;
    return groups;
}

/* ---- Ranks ---- */

/* Quickselect: all ranks before `low` are less, and all from `end` on greater, than those between. */
uint64_t first_rows_nth(uint64_t *ranks, uint64_t count, uint64_t nth)
{
    uint64_t low = 0, end = count;
    for (;;) {
        const uint64_t pivot = ranks[low + (end - low) / 2];
        uint64_t less = low, greater = end;
        for (uint64_t i = low; i < greater;) {
            const uint64_t rank = ranks[i];
            if (rank < pivot) {
                ranks[i++] = ranks[less];
                ranks[less++] = rank;
            } else if (rank > pivot) {
                ranks[i] = ranks[--greater];
                ranks[greater] = rank;
            } else {
                i++;
            }
        }
        if (nth <= less)
            end = less;
        else if (nth <= greater)
            return pivot;
        else
            low = greater;
    }
}
