/* order.c: rows in the order of a window; see window.h. */
#include "engine/relational/window/window.h"

#include "storage/base/memory.h"
#include "storage/base/parallel.h"
#include "storage/base/sort/sort_rows.h"

#include <stdlib.h>
#include <string.h>

void window_order_free(struct window_order *order)
{
    spillable_free(order->places);
    spillable_free(order->marks);
    spillable_free(order->partitions);
    spillable_free(order->groups);
    *order = (struct window_order){0};
}

bool window_order_is(const struct window_order *order, const struct window_term *terms, uint32_t count,
                     uint32_t partition_terms)
{
    bool same = order->marks && order->term_count == count && order->partition_terms == partition_terms;
    for (uint32_t t = 0; t < count && same; t++)
        same = order->terms[t].column == terms[t].column &&
               order->terms[t].descending == terms[t].descending &&
               order->terms[t].nulls_first == terms[t].nulls_first;
    return same;
}

static enum status terms_of(const struct rowset *rows, const struct window_term *terms, uint32_t count,
                            struct sort_term **made, struct error *error)
{
    RETURN_IF_ERROR(memory_take(made, (count + 1) * sizeof **made, "a window", error));
    for (uint32_t t = 0; t < count; t++)
        (*made)[t] = (struct sort_term){.values = rows->columns[terms[t].column].values,
                                        .nulls = rows->columns[terms[t].column].nulls,
                                        .descending = terms[t].descending,
                                        .nulls_first = terms[t].nulls_first};
    return STATUS_OK;
}

static enum status sort(const struct rowset *rows, unsigned threads, const struct sort_marks *marks,
                        struct window_order *order, struct error *error)
{
    struct sort_term *terms;
    RETURN_IF_ERROR(terms_of(rows, order->terms, order->term_count, &terms, error));
    const enum status status = sort_rows_make(terms, order->term_count, rows->rows, rows->rows, NULL, marks,
                                              threads, &order->places, error);
    free(terms);
    return status;
}

enum status window_first_rows(const struct rowset *rows, const struct window_term *terms, uint32_t count,
                              uint32_t partition_terms, unsigned threads, uint64_t **list, uint64_t *found,
                              struct error *error)
{
    struct sort_term *made;
    RETURN_IF_ERROR(terms_of(rows, terms, count, &made, error));
    const enum status status =
        sort_first_of_each(made, count, partition_terms, rows->rows, threads, list, found, error);
    free(made);
    return status;
}

enum status window_order_make(const struct rowset *rows, const struct window_term *terms, uint32_t count,
                              uint32_t partition_terms, unsigned threads, struct window_order *order,
                              struct error *error)
{
    *order = (struct window_order){
        .rows = rows->rows, .terms = terms, .term_count = count, .partition_terms = partition_terms};
    enum status status = spillable_work(&order->marks, rows->rows + 1, "a window", error);
    const struct sort_marks marks = {.prefix = partition_terms, .may_stand = true, .marks = order->marks};
    status = AND_THEN(status, sort(rows, threads, &marks, order, error));
    if (status != STATUS_OK)
        window_order_free(order);
    return status;
}

enum status window_order_divide(struct window_order *order, unsigned threads, struct error *error)
{
    if (order->groups)
        return STATUS_OK;
    spillable_free(order->partitions); /* of a call that failed */
    RETURN_IF_ERROR(sort_marks_list(order->marks, order->rows, SORT_BEGINS_PREFIX, SORT_LIST_WORK, threads,
                                    &order->partitions, &order->partition_count, error));
    return sort_marks_list(order->marks, order->rows, SORT_BEGINS, SORT_LIST_WORK, threads, &order->groups,
                           &order->group_count, error);
}

/* ---- Cursors ---- */

/* The last of the ascending starts that is not above a place. */
static uint64_t containing(const uint64_t *starts, uint64_t count, uint64_t at)
{
    uint64_t low = 0, high = count; /* starts[low] <= at */
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        *(starts[middle] <= at ? &low : &high) = middle;
    }
    return low;
}

static void enter_group(struct window_cursor *cursor)
{
    cursor->group_first = cursor->order->groups[cursor->group];
    cursor->group_end = cursor->order->groups[cursor->group + 1];
}

/* `first_group` is the partition's. Its last group is looked for near this one, because most partitions are small. */
static void enter_partition(struct window_cursor *cursor)
{
    const struct window_order *const order = cursor->order;
    uint64_t low = cursor->first_group, step = 1;
    cursor->first = order->partitions[cursor->partition];
    cursor->end = order->partitions[cursor->partition + 1];
    for (; step < order->group_count - low && order->groups[low + step] < cursor->end; step *= 2)
        low += step;
    const uint64_t left = order->group_count - low;
    cursor->end_group = low + containing(order->groups + low, step < left ? step : left, cursor->end - 1) + 1;
}

void window_cursor_open(const struct window_order *order, uint64_t at, struct window_cursor *cursor)
{
    *cursor = (struct window_cursor){.order = order, .at = at};
    cursor->partition = containing(order->partitions, order->partition_count, at);
    cursor->group = containing(order->groups, order->group_count, at);
    cursor->first_group = containing(order->groups, cursor->group + 1, order->partitions[cursor->partition]);
    enter_partition(cursor);
    enter_group(cursor);
}

void window_cursor_next(struct window_cursor *cursor)
{
    if (++cursor->at == cursor->order->rows)
        return;
    if (cursor->at == cursor->end) {
        cursor->partition++;
        cursor->first_group = cursor->end_group;
        enter_partition(cursor);
    }
    if (cursor->at == cursor->group_end) {
        cursor->group++;
        enter_group(cursor);
    }
}

/* ---- Blocks ---- */

struct blocks {
    uint64_t places;
    window_block *block;
    void *context;
};

static enum status one_block(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct blocks *const blocks = context;
    const uint64_t begin = item * WINDOW_BLOCK, end = begin + WINDOW_BLOCK;
    (void)thread;
    return blocks->block(blocks->context, begin, end < blocks->places ? end : blocks->places, error);
}

enum status window_blocks(uint64_t places, unsigned threads, window_block *block, void *context,
                          struct error *error)
{
    struct blocks blocks = {places, block, context};
    return parallel_for(threads, (places + WINDOW_BLOCK - 1) / WINDOW_BLOCK, one_block, &blocks, error);
}
