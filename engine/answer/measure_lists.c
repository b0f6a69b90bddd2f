/* measure_lists.c: see measure_lists.h. */
#include "engine/answer/measure_lists.h"

#include "engine/plan/partial/parts.h"
#include "engine/plan/partial/regroup.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"
#include "storage/base/sort/sort_rows.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_GROUPS 65536u

enum status measure_lists_open(const struct plan *plan, const struct partial *scanned, uint32_t s,
                               unsigned threads, struct measure_lists *lists, struct error *error)
{
    *lists = (struct measure_lists){.plan = plan, .scanned = scanned, .threads = threads};
    for (uint32_t word = 0; word < plan->key_words; word++)
        RETURN_IF_ERROR(spillable_work(&lists->numbers[word],
                                       (scanned->count + 1) * sizeof *lists->numbers[word],
                                       "the values of groups", error));
    return partial_renumber(plan, scanned, s, threads, lists->numbers, error);
}

static void free_order(struct measure_lists *lists)
{
    spillable_free(lists->places);
    spillable_free(lists->marks);
    free(lists->block_rows);
    lists->places = NULL;
    lists->marks = NULL;
    lists->block_rows = NULL;
    lists->measure = NULL;
}

void measure_lists_free(struct measure_lists *lists)
{
    free_order(lists);
    for (uint32_t word = 0; word < PLAN_KEY_WORDS_MAX; word++)
        spillable_free(lists->numbers[word]);
    spillable_free(lists->starts);
    *lists = (struct measure_lists){0};
}

/* ---- Sorting ---- */

/* The values of a term in all scanned groups. */
struct term_values {
    const struct partial *scanned;
    const struct plan_group *term;
    int64_t *values;
    uint8_t *nulls; /* NULL: none is NULL */
};

static enum status fill_chunk(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct term_values *const column = context;
    const uint64_t begin = item * CHUNK_GROUPS, left = column->scanned->count - begin,
                   end = begin + (left < CHUNK_GROUPS ? left : CHUNK_GROUPS);
    (void)thread;
    for (uint64_t group = begin; group < end; group++) {
        const bool known = plan_group_value(
            column->term, partial_group_code(column->scanned, column->term, group), &column->values[group]);
        if (column->nulls)
            column->nulls[group] = !known;
    }
    return cancel_check(error);
}

static enum status make_column(const struct measure_lists *lists, uint32_t term, struct term_values *column,
                               struct error *error)
{
    const uint64_t count = lists->scanned->count;
    *column = (struct term_values){.scanned = lists->scanned, .term = &lists->plan->groups[term]};
    RETURN_IF_ERROR(
        spillable_work(&column->values, (count + 1) * sizeof *column->values, "the values of groups", error));
    if (column->term->nullable)
        RETURN_IF_ERROR(spillable_work(&column->nulls, count + 1, "the values of groups", error));
    return parallel_for(lists->threads, (count + CHUNK_GROUPS - 1) / CHUNK_GROUPS, fill_chunk, column, error);
}

/* By the group, the order, and the value. */
static enum status sort(struct measure_lists *lists, const struct plan_measure *measure,
                        const struct term_values *order, const struct term_values *value, struct error *error)
{
    const uint32_t words = lists->plan->key_words;
    struct sort_term terms[PLAN_KEY_WORDS_MAX + 2];
    uint32_t count = 0;
    for (uint32_t word = words; word-- > 0;)
        terms[count++] = (struct sort_term){.values = (const int64_t *)lists->numbers[word]};
    if (order->values)
        terms[count++] = (struct sort_term){.values = order->values,
                                            .nulls = order->nulls,
                                            .descending = measure->descending,
                                            .nulls_first = !measure->nulls_last};
    terms[count++] = (struct sort_term){.values = value->values,
                                        .nulls = value->nulls,
                                        .descending = !order->values && measure->descending,
                                        .nulls_first = true};
    const struct sort_marks marks = {.prefix = words, .marks = lists->marks};
    return sort_rows_make(terms, count, lists->scanned->count, lists->scanned->count, NULL, &marks,
                          lists->threads, &lists->places, error);
}

static enum status sort_by(struct measure_lists *lists, const struct plan_measure *measure,
                           struct error *error)
{
    struct term_values order = {0}, value;
    RETURN_IF_ERROR(spillable_work(&lists->marks, lists->scanned->count + 1, "the values of groups", error));
    enum status status = make_column(lists, measure->term, &value, error);
    if (status == STATUS_OK && measure->order_term != measure->term)
        status = make_column(lists, measure->order_term, &order, error);
    status = AND_THEN(status, sort(lists, measure, &order, &value, error));
    spillable_free(order.values);
    spillable_free(order.nulls);
    spillable_free(value.values);
    spillable_free(value.nulls);
    return status;
}

/* ---- Rows ---- */

static uint64_t rows_at(const struct measure_lists *lists, uint64_t place)
{
    return (uint64_t)lists->scanned->states[lists->measure->count][lists->places[place]];
}

static enum status count_block(void *context, uint64_t block, unsigned thread, struct error *error)
{
    const struct measure_lists *const lists = context;
    const uint64_t begin = block * MEASURE_BLOCK, left = lists->scanned->count - begin,
                   end = begin + (left < MEASURE_BLOCK ? left : MEASURE_BLOCK);
    uint64_t rows = 0;
    (void)thread;
    for (uint64_t place = begin; place < end; place++)
        rows += rows_at(lists, place);
    lists->block_rows[block] = rows;
    return cancel_check(error);
}

static enum status count_blocks(struct measure_lists *lists, struct error *error)
{
    const uint64_t blocks = (lists->scanned->count + MEASURE_BLOCK - 1) / MEASURE_BLOCK;
    uint64_t most = 0;
    for (uint64_t group = 0; group < lists->count; group++) {
        const uint64_t places = lists->starts[group + 1] - lists->starts[group];
        most = places > most ? places : most;
    }
    if (most < 4 * MEASURE_BLOCK)
        return STATUS_OK;
    RETURN_IF_ERROR(
        memory_take(&lists->block_rows, blocks * sizeof *lists->block_rows, "the values of groups", error));
    return parallel_for(lists->threads, blocks, count_block, lists, error);
}

/* The place after `place` and the rows up to there: a block's end if its rows are known, and `most` rows are not reached. */
static uint64_t step(const struct measure_lists *lists, uint64_t place, uint64_t end, uint64_t most,
                     uint64_t *rows)
{
    const bool block = lists->block_rows && place % MEASURE_BLOCK == 0 && end - place >= MEASURE_BLOCK;
    *rows = block ? lists->block_rows[place / MEASURE_BLOCK] : 0;
    if (block && *rows <= most)
        return place + MEASURE_BLOCK;
    *rows = rows_at(lists, place);
    return place + 1;
}

uint64_t measure_rows_of(const struct measure_lists *lists, uint64_t begin, uint64_t end)
{
    uint64_t all = 0, rows;
    for (uint64_t place = begin; place < end; all += rows)
        place = step(lists, place, end, UINT64_MAX, &rows);
    return all;
}

uint64_t measure_place_of(const struct measure_lists *lists, uint64_t begin, uint64_t end, uint64_t row,
                          uint64_t *skipped)
{
    uint64_t rows;
    *skipped = 0;
    for (uint64_t place = begin, next; place < end; place = next, *skipped += rows) {
        next = step(lists, place, end, row - *skipped, &rows);
        if (rows > row - *skipped)
            return place;
    }
    return end;
}

/* ---- Lists ---- */

static bool in_same_order(const struct plan_measure *a, const struct plan_measure *b)
{
    return a->term == b->term && a->order_term == b->order_term && a->descending == b->descending &&
           a->nulls_last == b->nulls_last && a->count == b->count;
}

enum status measure_lists_sort(struct measure_lists *lists, const struct plan_measure *measure,
                               struct error *error)
{
    if (!lists->measure || !in_same_order(lists->measure, measure)) {
        free_order(lists);
        RETURN_IF_ERROR(sort_by(lists, measure, error));
    }
    lists->measure = measure;
    if (!lists->starts)
        RETURN_IF_ERROR(sort_marks_list(lists->marks, lists->scanned->count, SORT_BEGINS_PREFIX,
                                        SORT_LIST_WORK, lists->threads, &lists->starts, &lists->count,
                                        error));
    return lists->block_rows ? STATUS_OK : count_blocks(lists, error);
}

bool measure_entry_at(const struct measure_lists *lists, uint64_t place, struct measure_entry *entry)
{
    const struct plan_measure *const measure = lists->measure;
    const struct plan_group *const term = &lists->plan->groups[measure->term],
                                   *const order = &lists->plan->groups[measure->order_term];
    const uint64_t group = lists->places[place];
    if (!plan_group_value(term, partial_group_code(lists->scanned, term, group), &entry->value))
        return false;
    const bool ordered =
        plan_group_value(order, partial_group_code(lists->scanned, order, group), &entry->order);
    if (!ordered && measure_of(measure->kind)->by_other)
        return false;
    entry->last = !ordered && measure->nulls_last;
    if (!ordered)
        entry->order = INT64_MIN;
    else if (measure->descending) /* that of the complements */
        entry->order = ~entry->order;
    entry->rows = rows_at(lists, place);
    return true;
}

/* ---- Groups ---- */

struct making {
    const struct measure_lists *lists;
    struct partial *groups;
    bool counts; /* all aggregates are numbers of rows, which are added without looking at each other */
};

static void add_counts(const struct making *making, uint64_t group)
{
    const struct measure_lists *const lists = making->lists;
    const uint64_t begin = lists->starts[group], end = lists->starts[group + 1];
    for (uint32_t a = 0; a < lists->plan->aggregate_count; a++) {
        int64_t *const state = &making->groups->states[a][group];
        if (a == lists->measure->count)
            *state = (int64_t)measure_rows_of(lists, begin, end);
        for (uint64_t place = begin; a != lists->measure->count && place < end; place++)
            *state += lists->scanned->states[a][lists->places[place]];
    }
}

static void add_states(const struct making *making, uint64_t group)
{
    const struct measure_lists *const lists = making->lists;
    const uint64_t first = lists->starts[group];
    partial_group_copy(lists->plan, making->groups, group, lists->scanned, lists->places[first]);
    for (uint64_t place = first + 1; place < lists->starts[group + 1]; place++)
        partial_group_add(lists->plan, making->groups, group, lists->scanned, lists->places[place]);
}

static enum status make_group(void *context, uint64_t group, unsigned thread, struct error *error)
{
    const struct making *const making = context;
    const struct measure_lists *const lists = making->lists;
    (void)thread;
    if (making->counts)
        add_counts(making, group);
    else
        add_states(making, group);
    for (uint32_t word = 0; word < lists->plan->key_words; word++)
        making->groups->keys[word][group] = lists->numbers[word][lists->places[lists->starts[group]]];
    return cancel_check(error);
}

enum status measure_lists_groups(const struct measure_lists *lists, struct partial *groups,
                                 struct error *error)
{
    struct making making = {.lists = lists, .groups = groups, .counts = true};
    for (uint32_t a = 0; a < lists->plan->aggregate_count; a++)
        making.counts &= plan_aggregate_of(lists->plan, a)->counts && !plan_is_distinct(lists->plan, a);
    RETURN_IF_ERROR(partial_allocate(lists->plan, lists->count, groups, error));
    groups->total_rows = lists->scanned->total_rows;
    return parallel_for(lists->threads, lists->count, make_group, &making, error);
}
