/* top_rows.c: see top_rows.h. */
#include "engine/cpu/top_rows.h"

#include <math.h>

void top_rows_begin(struct top_rows *top)
{
    atomic_store(&top->bound, top->first.bound);
    top->guessed = false;
}

uint64_t top_rows_sampled(const struct top_rows *top, uint64_t of_tiles, uint64_t tiles)
{
    const double expected = (double)top->first.wanted * (double)of_tiles / (double)tiles;
    const uint64_t place = (uint64_t)(expected + 4 * sqrt(expected)) + 8;
    return place < top->first.wanted ? place : 0;
}

void top_rows_guess(struct top_rows *top, uint64_t bound)
{
    top->guessed = bound < top->first.bound;
    if (top->guessed)
        atomic_store(&top->bound, bound);
}

/* A rank is up to the bound only if the first term's part is, so if the value is no farther from the best end than `most`. */
bool top_rows_range(const struct top_rows *top, bool nullable, int32_t *low, int32_t *high)
{
    const struct first_term *const term = &top->first.terms[0];
    const uint64_t bound = atomic_load_explicit(&top->bound, memory_order_relaxed),
                   codes = bound / term->stride;
    if (bound == UINT64_MAX || (nullable && term->null <= codes))
        return false;
    if (codes < term->best) { /* only NULLs were as good */
        *low = INT32_MAX;
        *high = INT32_MIN;
        return true;
    }
    const uint64_t span = (uint64_t)term->high - (uint64_t)term->low, units = codes - term->best;
    if (units >= span >> term->shift)
        return false;
    const int64_t most = (int64_t)(((units + 1) << term->shift) - 1);
    if (term->descending && term->high - most > *low)
        *low = (int32_t)(term->high - most);
    if (!term->descending && term->low + most < *high)
        *high = (int32_t)(term->low + most);
    return true;
}

bool top_rows_skip(const struct top_rows *top, const struct plan *plan, uint32_t segment, uint32_t tile)
{
    const uint64_t bound = atomic_load_explicit(&top->bound, memory_order_relaxed);
    return first_rows_know_tiles(&top->first) && bound != UINT64_MAX &&
           first_rows_best(&top->first, plan, segment, tile) > bound;
}

bool top_rows_backwards(const struct top_rows *top, const struct plan *plan, const struct tile_skip *scan)
{
    if (scan->run_count == 0)
        return false;
    const struct tile_run *first = scan->runs, *last = &scan->runs[scan->run_count - 1];
    return first_rows_best(&top->first, plan, last->segment, last->first + last->tiles - 1) <
           first_rows_best(&top->first, plan, first->segment, first->first);
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

uint32_t top_rows_may_keep(const struct top_rows *top, uint64_t *ranks, uint16_t *rows, uint32_t count)
{
    const uint64_t bound = atomic_load_explicit(&top->bound, memory_order_relaxed);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        ranks[kept] = ranks[i];
        rows[kept] = rows[i];
        kept += ranks[i] <= bound;
    }
    return kept;
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
        if (heap->count < top->first.wanted) {
            heap->ranks[heap->count] = ranks[i];
            sift_up(heap->ranks, heap->count++);
        } else if (ranks[i] < heap->ranks[0]) {
            heap->ranks[0] = ranks[i];
            sift_down(heap->ranks, heap->count, 0);
        }
        if (heap->count == top->first.wanted && heap->ranks[0] < bound)
            bound = heap->ranks[0];
    }
    share_bound(top, bound);
    return kept;
}
