/*
 * measure_values.c: measures that need all values of their argument (regrouped.h): each is taken from the lists of the
 * groups' values (measure_lists.h). A quantile reads one or two places of a list.
 */
#include "engine/answer/measure_lists.h"
#include "engine/answer/regrouped.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"
#include "storage/base/sort/sort_rows.h"

#include <stdlib.h>
#include <string.h>

/* The memory in which a thread makes lists, and what it has for strings. */
struct entries {
    struct measure_entry *entries; /* spillable */
    uint64_t room;
    struct memory_charge charge;
};

struct measuring {
    const struct plan *plan;
    const struct plan_measure *measure;
    const struct measure_lists *lists;
    uint64_t first;               /* group 0 of the lists is this one of the result */
    const struct partial *groups; /* the result's */
    struct entries *scratch;      /* of each thread */
    struct measure_column *column;
    struct strings_joined strings; /* RESULT_TEXT */
};

/* ---- Lists of values ---- */

/* Appends an entry, or joins it with the last one if that is alike. Of weights the greatest stays. */
static void append(struct measure_list *list, struct measure_entry *entries,
                   const struct measure_entry *entry, bool alike, bool weighs)
{
    struct measure_entry *const last = entries + list->count - 1;
    if (!alike || list->count == 0)
        entries[list->count++] = *entry;
    else if (!weighs)
        last->rows += entry->rows;
    else if (last->rows < entry->rows)
        last->rows = entry->rows;
}

/* The values at the places begin .. end - 1, each once. */
static enum status list_values(const struct measuring *measuring, uint64_t begin, uint64_t end,
                               unsigned thread, struct measure_list *list, struct error *error)
{
    const struct measure *const of = measure_of(measuring->measure->kind);
    const bool weighs = of->sketch && of->sketch->weight;
    struct entries *const scratch = &measuring->scratch[thread];
    struct measure_entry entry;
    if (end - begin > scratch->room) {
        const uint64_t room = end - begin > 2 * scratch->room ? end - begin : 2 * scratch->room;
        RETURN_IF_ERROR(spillable_grow(&scratch->entries, room * sizeof *scratch->entries,
                                       "the values of a group", error));
        scratch->room = room;
    }
    for (uint64_t place = begin; place < end; place++)
        if (measure_entry_at(measuring->lists, place, &entry))
            append(list, scratch->entries, &entry, !(measuring->lists->marks[place] & SORT_BEGINS), weighs);
    list->entries = scratch->entries;
    for (uint64_t e = 0; e < list->count; e++)
        list->rows += scratch->entries[e].rows;
    return STATUS_OK;
}

/* The first place with a value: NULLs come before all others. */
static uint64_t first_value(const struct measure_lists *lists, uint64_t begin, uint64_t end)
{
    struct measure_entry entry;
    while (begin < end) {
        const uint64_t middle = begin + (end - begin) / 2;
        if (measure_entry_at(lists, middle, &entry))
            end = middle;
        else
            begin = middle + 1;
    }
    return end;
}

/* The values that a measure wants of a list whose order is theirs: those of two rows that follow each other. */
static enum status list_two(const struct measuring *measuring, uint64_t begin, uint64_t end, unsigned thread,
                            struct measure_list *list, struct error *error)
{
    const struct measure_lists *const lists = measuring->lists;
    begin = first_value(lists, begin, end);
    const uint64_t rows = list->rows = measure_rows_of(lists, begin, end);
    if (rows == 0)
        return STATUS_OK;
    const uint64_t first = measure_of(measuring->measure->kind)->first(list),
                   place = measure_place_of(lists, begin, end, first, &list->skipped);
    uint64_t last = place, beyond;
    if (first + 1 < rows)
        last = measure_place_of(lists, place, end, first + 1 - list->skipped, &beyond);
    const enum status status = list_values(measuring, place, last + 1, thread, list, error);
    list->rows = rows;
    return status;
}

/* A list of no values. */
static struct measure_list empty_list(const struct plan *plan, const struct plan_measure *measure)
{
    return (struct measure_list){.real = plan->expressions.nodes[measure->argument].type.kind == VALUE_DOUBLE,
                                 .scale = measure->scale,
                                 .fraction = measure->fraction,
                                 .whole = measure->whole,
                                 .most = measure_most(measure->kind, table_whole_rows(plan->fact))};
}

static enum status measure_group(const struct measuring *measuring, uint64_t group, uint64_t at,
                                 unsigned thread, int64_t *value, bool *null, struct error *error)
{
    const struct plan_measure *const measure = measuring->measure;
    const struct measure *const of = measure_of(measure->kind);
    const uint64_t begin = measuring->lists->starts[group], end = measuring->lists->starts[group + 1];
    struct measure_list list = empty_list(measuring->plan, measure);
    RETURN_IF_ERROR(of->first && measure->order_term == measure->term
                        ? list_two(measuring, begin, end, thread, &list, error)
                        : list_values(measuring, begin, end, thread, &list, error));
    *null = list.count == 0 && of->result != RESULT_COUNT;
    if (list.count == 0)
        return STATUS_OK;
    if (of->sketch && of->sketch->extremes) {
        list.least = measuring->groups->states[measure->least][at];
        list.greatest = measuring->groups->states[measure->greatest][at];
    }
    if (of->of_values)
        return of->of_values(of, &list, value, null, error);
    struct measure_text *text;
    RETURN_IF_ERROR(measure_text_make(&measuring->strings, list.entries, list.count,
                                      &measuring->scratch[thread].charge, &text, error));
    *value = (int64_t)(intptr_t)text;
    return STATUS_OK;
}

static enum status measure_item(void *context, uint64_t group, unsigned thread, struct error *error)
{
    const struct measuring *const measuring = context;
    const uint64_t at = measuring->first + group;
    int64_t value = 0;
    bool null = false;
    RETURN_IF_ERROR(measure_group(measuring, group, at, thread, &value, &null, error));
    measuring->column->values[at] = null ? 0 : value;
    measuring->column->nulls[at] = null;
    return cancel_check(error);
}

static enum status make_column(struct measuring *measuring, struct error *error)
{
    const uint64_t all = measuring->groups->count;
    struct measure_column *const column = measuring->column;
    const bool counts = measure_of(measuring->measure->kind)->result == RESULT_COUNT;
    RETURN_IF_ERROR(memory_grow(&column->values, (all + 1) * sizeof *column->values, "measures", error));
    RETURN_IF_ERROR(memory_grow(&column->nulls, all + 1, "measures", error));
    for (uint64_t group = measuring->first; group < all; group++)
        column->values[group] = 0, column->nulls[group] = !counts;
    column->measured = all;
    return STATUS_OK;
}

static enum status measure_all(struct measuring *measuring, struct error *error)
{
    const unsigned threads = measuring->lists->threads;
    struct measure_column *const column = measuring->column;
    RETURN_IF_ERROR(make_column(measuring, error));
    RETURN_IF_ERROR(
        memory_zeros(&measuring->scratch, threads * sizeof *measuring->scratch, "measures", error));
    const enum status status = parallel_for(threads, measuring->lists->count, measure_item, measuring, error);
    for (unsigned t = 0; t < threads; t++) {
        const struct memory_charge *const charge = &measuring->scratch[t].charge;
        spillable_free(measuring->scratch[t].entries);
        column->charge.account = charge->account ? charge->account : column->charge.account;
        column->charge.bytes += charge->bytes;
    }
    free(measuring->scratch);
    return status;
}

static struct strings_joined strings_of(const struct plan *plan, const struct plan_measure *measure)
{
    const struct expression *const nodes = plan->expressions.nodes;
    struct strings_joined strings = {.dictionary = nodes[measure->argument].type.dictionary,
                                     .separator = "",
                                     .distinct = measure->distinct};
    if (measure->separator != EXPRESSION_NONE)
        strings.separator = dictionary_string(nodes[measure->separator].type.dictionary,
                                              nodes[measure->separator].constant, &strings.separator_length);
    return strings;
}

enum status regrouped_measure(const struct plan *plan, struct measure_lists *lists, uint64_t first,
                              struct regrouped *regrouped, struct error *error)
{
    for (uint32_t m = 0; m < plan->measure_count; m++) {
        const struct plan_measure *const measure = &plan->measures[m];
        struct measuring measuring = {.plan = plan,
                                      .measure = measure,
                                      .lists = lists,
                                      .first = first,
                                      .groups = &regrouped->groups,
                                      .column = &regrouped->measures[m]};
        if (!measure->of_values)
            continue;
        measuring.column->texts = measure_of(measure->kind)->result == RESULT_TEXT;
        if (measuring.column->texts)
            measuring.strings = strings_of(plan, measure);
        RETURN_IF_ERROR(measure_lists_sort(lists, measure, error));
        RETURN_IF_ERROR(measure_all(&measuring, error));
    }
    return STATUS_OK;
}

/* ---- Digests ---- */

#define CHUNK_GROUPS 16384u

/* From what a GPU has found in the sorted values. */
static enum status measure_digest(const struct measuring *measuring, uint64_t group, struct error *error)
{
    const struct plan_measure *const measure = measuring->measure;
    const struct measure *const of = measure_of(measure->kind);
    const struct partial_digest *const digest =
        &measuring->groups->digests[(measure - measuring->plan->measures) * measuring->groups->count + group];
    const struct measure_entry two[] = {{.order = digest->values[0], .value = digest->values[0], .rows = 1},
                                        {.order = digest->values[1], .value = digest->values[1], .rows = 1}};
    const __int128 sum = (__int128)digest->values[1] << 64 | (uint64_t)digest->values[0];
    struct measure_list list = empty_list(measuring->plan, measure);
    int64_t value = 0;
    bool null = false;
    list.rows = digest->rows;
    if (digest->rows == 0)
        return STATUS_OK;
    list.entries = of->first ? two : NULL;
    list.count = of->first ? 2 : digest->rows;
    list.skipped = of->first ? of->first(&list) : 0;
    list.sum = of->first ? NULL : &sum;
    RETURN_IF_ERROR(of->of_values(of, &list, &value, &null, error));
    measuring->column->values[group] = null ? 0 : value;
    measuring->column->nulls[group] = null;
    return STATUS_OK;
}

static enum status digest_chunk(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct measuring *const measuring = context;
    const uint64_t begin = item * CHUNK_GROUPS, left = measuring->groups->count - begin,
                   end = begin + (left < CHUNK_GROUPS ? left : CHUNK_GROUPS);
    (void)thread;
    for (uint64_t group = begin; group < end; group++)
        RETURN_IF_ERROR(measure_digest(measuring, group, error));
    return cancel_check(error);
}

enum status regrouped_digests(const struct plan *plan, unsigned threads, struct regrouped *regrouped,
                              struct error *error)
{
    for (uint32_t m = 0; m < plan->measure_count; m++) {
        struct measuring measuring = {.plan = plan,
                                      .measure = &plan->measures[m],
                                      .groups = &regrouped->groups,
                                      .column = &regrouped->measures[m]};
        RETURN_IF_ERROR(make_column(&measuring, error));
        RETURN_IF_ERROR(parallel_for(threads, (regrouped->groups.count + CHUNK_GROUPS - 1) / CHUNK_GROUPS,
                                     digest_chunk, &measuring, error));
    }
    return STATUS_OK;
}
