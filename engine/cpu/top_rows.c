/* top_rows.c: see top_rows.h. */
#include "engine/cpu/top_rows.h"

#include "engine/plan/planner.h"

bool top_rows_of(const struct plan *plan, struct top_rows *top)
{
    if (plan->shape != PLAN_ROWS || plan->order_count == 0 || plan->limit > TOP_ROWS_MAX ||
        plan->offset > TOP_ROWS_MAX - plan->limit || plan->limit + plan->offset == 0)
        return false;
    const struct plan_order *order = &plan->orders[0];
    top->expression = plan->outputs[order->output].expression;
    const struct expression *node = &plan->expressions.nodes[top->expression];
    const bool column = node->operation == EXPRESSION_COLUMN;
    if (plan_reads(plan, top->expression).joins || (node->type.kind == VALUE_STRING && !column))
        return false; /* computed strings have codes of their own order */
    top->wanted = plan->limit + plan->offset;
    top->column = -1;
    if (column && plan->sources[node->index].join < 0)
        top->column = (int32_t)plan->sources[node->index].column;
    top->descending = order->descending;
    top->nulls_first = order->nulls_first;
    return true;
}

void top_rows_begin(struct top_rows *top)
{
    atomic_store(&top->bound, UINT64_MAX);
}

/* The best rank that a row of the tile can have. */
static uint64_t best_of(const struct top_rows *top, const struct plan *plan, uint32_t segment, uint32_t tile)
{
    const struct plan_column *column = &plan->columns[top->column];
    const int64_t *const range = column->data->segments[segment].tile_min_max + 2 * (uint64_t)tile;
    if (column->nullable && top->nulls_first)
        return 0;
    return range[0] > range[1] ? UINT64_MAX : top_rank(top, top->descending ? range[1] : range[0], false);
}

bool top_rows_skip(const struct top_rows *top, const struct plan *plan, uint32_t segment, uint32_t tile)
{
    const uint64_t bound = atomic_load_explicit(&top->bound, memory_order_relaxed);
    return top->column >= 0 && bound != UINT64_MAX && best_of(top, plan, segment, tile) > bound;
}

bool top_rows_backwards(const struct top_rows *top, const struct plan *plan, const struct tile_skip *scan)
{
    if (scan->run_count == 0)
        return false;
    const struct tile_run *first = scan->runs, *last = &scan->runs[scan->run_count - 1];
    return best_of(top, plan, last->segment, last->first + last->tiles - 1) <
           best_of(top, plan, first->segment, first->first);
}

static void sift_down(uint64_t *ranks, uint64_t count, uint64_t at)
{
    const uint64_t rank = ranks[at];
    for (uint64_t child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && ranks[child + 1] > ranks[child];
        if (ranks[child] <= rank)
            break;
        ranks[at] = ranks[child];
    }
    ranks[at] = rank;
}

static void sift_up(uint64_t *ranks, uint64_t at)
{
    const uint64_t rank = ranks[at];
    for (; at > 0 && ranks[(at - 1) / 2] < rank; at = (at - 1) / 2)
        ranks[at] = ranks[(at - 1) / 2];
    ranks[at] = rank;
}

/* Lowers the bound that all threads share. */
static void share_bound(struct top_rows *top, uint64_t own)
{
    uint64_t bound = atomic_load(&top->bound);
    while (own < bound && !atomic_compare_exchange_weak(&top->bound, &bound, own))
        ;
}

uint32_t top_rows_keep(struct top_rows *top, struct top_heap *heap, const uint64_t *ranks, uint16_t *rows,
                       uint32_t count)
{
    uint64_t bound = atomic_load_explicit(&top->bound, memory_order_relaxed);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (ranks[i] > bound)
            continue;
        rows[kept++] = rows[i];
        if (heap->count < top->wanted) {
            heap->ranks[heap->count] = ranks[i];
            sift_up(heap->ranks, heap->count++);
        } else if (ranks[i] < heap->ranks[0]) {
            heap->ranks[0] = ranks[i];
            sift_down(heap->ranks, heap->count, 0);
        }
        if (heap->count == top->wanted && heap->ranks[0] < bound)
            bound = heap->ranks[0];
    }
    share_bound(top, bound);
    return kept;
}
