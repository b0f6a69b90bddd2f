/*
 * measure_values.c: measures that need all values of their argument (regrouped.h): the values of each group, with the
 * numbers of rows that have them, are sorted, and the measure is taken from the list. Takes some 100 ns a value.
 */
#include "engine/answer/regrouped.h"
#include "engine/plan/partial/regroup.h"
#include "storage/base/huge_pages.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"
#include "storage/base/sort/sort.h"
#include "storage/base/sort/sort_rows.h"

#include <stdlib.h>
#include <string.h>

struct measuring {
    const struct plan *plan;
    const struct plan_measure *measure;
    struct measure_entry *entries;
    uint64_t *starts;             /* of each group's entries, and their end */
    uint64_t first;               /* group 0 of `starts` is this one of the result */
    const struct partial *groups; /* the result's */
    unsigned threads;             /* that sort a list: more than one if the groups are fewer */
    struct measure_column *column;
    struct strings_joined strings; /* RESULT_TEXT */
};

/* ---- Lists of values ---- */

static int compare_entries(const void *left, const void *right, const void *context)
{
    (void)context;
    const struct measure_entry *const a = left, *const b = right;
    if (a->last != b->last)
        return a->last ? 1 : -1;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    return (a->value > b->value) - (a->value < b->value);
}

/* The entry of a group of the scan; false: its value is NULL. A descending order is that of the complements. */
static bool entry_of(const struct plan *plan, const struct plan_measure *measure,
                     const struct partial *scanned, uint64_t group, struct measure_entry *entry)
{
    const struct plan_group *const term = &plan->groups[measure->term],
                                   *const order = &plan->groups[measure->order_term];
    if (!plan_group_value(term, partial_group_code(scanned, term, group), &entry->value))
        return false;
    const bool ordered = plan_group_value(order, partial_group_code(scanned, order, group), &entry->order);
    if (!ordered && measure_of(measure->kind)->by_other)
        return false;
    entry->last = !ordered && measure->nulls_last;
    if (!ordered)
        entry->order = INT64_MIN;
    else if (measure->descending)
        entry->order = ~entry->order;
    entry->rows = (uint64_t)scanned->states[measure->count][group];
    return true;
}

/* Puts the entries of each group behind one another, in the order of the scan's groups. */
static enum status collect(struct measuring *measuring, const struct partial *scanned, const uint64_t *to,
                           uint64_t groups, struct error *error)
{
    struct measure_entry entry;
    uint64_t all = 0;
    RETURN_IF_ERROR(
        memory_zeros(&measuring->starts, (groups + 2) * sizeof *measuring->starts, "values", error));
    uint64_t *const next = measuring->starts + 1;
    for (uint64_t g = 0; g < scanned->count; g++)
        if (entry_of(measuring->plan, measuring->measure, scanned, g, &entry))
            next[to[g] + 1]++, all++;
    for (uint64_t group = 0; group < groups; group++)
        next[group + 1] += next[group];
    RETURN_IF_ERROR(
        memory_take(&measuring->entries, (all + 1) * sizeof *measuring->entries, "values", error));
    huge_pages_prefer(measuring->entries, (all + 1) * sizeof *measuring->entries);
    for (uint64_t g = 0; g < scanned->count; g++)
        if (entry_of(measuring->plan, measuring->measure, scanned, g, &entry))
            measuring->entries[next[to[g]]++] = entry;
    return STATUS_OK; /* next[group] is now the end of the group's entries, which is starts[group + 1] */
}

/* Longer lists are sorted by radix: 1.5 million values of 24 bits take 30 ms, where comparisons take 1000. */
#define RADIX_LEAST 512u

/* Gives the entries by their orders, and then by their values unless `plain`: then both are the same. */
static enum status sort_list(const struct measure_entry *entries, uint64_t count, bool plain,
                             unsigned threads, struct measure_entry **sorted, struct error *error)
{
    int64_t *orders = NULL, *values = NULL;
    uint8_t *last = NULL;
    uint64_t *places = NULL;
    enum status status = memory_take(&orders, count * sizeof *orders, "values", error);
    if (status == STATUS_OK)
        huge_pages_prefer(orders, count * sizeof *orders);
    if (!plain) {
        status = AND_THEN(status, memory_take(&values, count * sizeof *values, "values", error));
        status = AND_THEN(status, memory_take(&last, count, "values", error));
    }
    for (uint64_t e = 0; status == STATUS_OK && e < count; e++)
        orders[e] = entries[e].order;
    for (uint64_t e = 0; status == STATUS_OK && !plain && e < count; e++) {
        values[e] = entries[e].value;
        last[e] = entries[e].last;
    }
    const struct sort_term terms[] = {{.values = orders, .nulls = last}, {.values = values}};
    status = AND_THEN(
        status, sort_rows_make(terms, plain ? 1 : 2, count, count, NULL, NULL, threads, &places, error));
    free(last);
    free(values);
    free(orders);
    status = AND_THEN(status, memory_take(sorted, count * sizeof **sorted, "values", error));
    if (status == STATUS_OK)
        huge_pages_prefer(*sorted, count * sizeof **sorted);
    for (uint64_t e = 0; status == STATUS_OK && e < count; e++)
        (*sorted)[e] = entries[places[e]];
    spillable_free(places);
    return status;
}

/* Sorts the entries and joins those that are alike; *left is their number. `plain`: the order is that of the values.
 * `weighs`: an entry has a weight in place of rows, and the greatest stays. A long list is sorted into *made, for the caller
 * to free. */
static enum status sort_entries(struct measure_entry **list, uint64_t *left, bool plain, bool weighs,
                                unsigned threads, struct measure_entry **made, struct error *error)
{
    struct measure_entry *entries = *list;
    const uint64_t count = *left;
    uint64_t kept = 0, ordered = 1;
    while (ordered < count && compare_entries(&entries[ordered - 1], &entries[ordered], NULL) <= 0)
        ordered++;
    if (ordered < count && count >= RADIX_LEAST) {
        RETURN_IF_ERROR(sort_list(entries, count, plain, threads, made, error));
        *list = entries = *made;
    } else if (ordered < count) {
        sort_items(entries, count, sizeof *entries, compare_entries, NULL);
    }
    for (uint64_t e = 0; e < count; e++)
        if (!kept || compare_entries(&entries[kept - 1], &entries[e], NULL) != 0)
            entries[kept++] = entries[e];
        else if (!weighs)
            entries[kept - 1].rows += entries[e].rows;
        else if (entries[kept - 1].rows < entries[e].rows)
            entries[kept - 1].rows = entries[e].rows;
    *left = kept;
    return STATUS_OK;
}

static enum status measure_group(const struct measuring *measuring, const struct measure_entry *entries,
                                 uint64_t count, uint64_t group, int64_t *value, bool *null,
                                 struct error *error)
{
    const struct plan_measure *const measure = measuring->measure;
    const struct measure *const of = measure_of(measure->kind);
    struct measure_list list = {.entries = entries,
                                .count = count,
                                .real = measuring->plan->expressions.nodes[measure->argument].type.kind ==
                                        VALUE_DOUBLE,
                                .scale = measure->scale,
                                .fraction = measure->fraction,
                                .whole = measure->whole,
                                .most = measure_most(measure->kind, table_whole_rows(measuring->plan->fact))};
    if (of->sketch && of->sketch->extremes) {
        list.least = measuring->groups->states[measure->least][group];
        list.greatest = measuring->groups->states[measure->greatest][group];
    }
    for (uint64_t e = 0; e < count; e++)
        list.rows += entries[e].rows;
    if (of->of_values)
        return of->of_values(of, &list, value, null, error);
    struct measure_text *text;
    RETURN_IF_ERROR(measure_text_make(&measuring->strings, entries, count, &text, error));
    *value = (int64_t)(intptr_t)text;
    return STATUS_OK;
}

static enum status measure_item(void *context, uint64_t group, unsigned thread, struct error *error)
{
    const struct measuring *const measuring = context;
    const struct plan_measure *const measure = measuring->measure;
    const struct measure *const of = measure_of(measure->kind);
    struct measure_entry *entries = measuring->entries + measuring->starts[group], *made = NULL;
    uint64_t count = measuring->starts[group + 1] - measuring->starts[group];
    const uint64_t at = measuring->first + group;
    bool null = count == 0 && of->result != RESULT_COUNT;
    enum status status = STATUS_OK;
    (void)thread;
    if (!of->by_other)
        status = sort_entries(&entries, &count, measure->order_term == measure->term,
                              of->sketch && of->sketch->weight, measuring->threads, &made, error);
    if (status == STATUS_OK && count > 0)
        status = measure_group(measuring, entries, count, at, &measuring->column->values[at], &null, error);
    free(made);
    if (null)
        measuring->column->values[at] = 0;
    measuring->column->nulls[at] = null;
    return status;
}

static enum status measure_all(struct measuring *measuring, const struct partial *scanned, const uint64_t *to,
                               uint64_t groups, unsigned threads, struct error *error)
{
    const uint64_t all = measuring->first + groups;
    struct measure_column *const column = measuring->column;
    RETURN_IF_ERROR(memory_grow(&column->values, (all + 1) * sizeof *column->values, "measures", error));
    RETURN_IF_ERROR(memory_grow(&column->nulls, all + 1, "measures", error));
    for (uint64_t group = measuring->first; group < all; group++)
        column->values[group] = 0, column->nulls[group] = 1;
    column->measured = all;
    RETURN_IF_ERROR(collect(measuring, scanned, to, groups, error));
    return parallel_for(threads, groups, measure_item, measuring, error);
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

enum status regrouped_measure(const struct plan *plan, const struct partial *scanned, const uint64_t *to,
                              uint64_t first, unsigned threads, struct regrouped *regrouped,
                              struct error *error)
{
    const uint64_t groups = regrouped->groups.count - first;
    enum status status = STATUS_OK;
    for (uint32_t m = 0; status == STATUS_OK && m < plan->measure_count; m++) {
        if (!plan->measures[m].of_values)
            continue;
        const bool texts = measure_of(plan->measures[m].kind)->result == RESULT_TEXT;
        struct measuring measuring = {.plan = plan,
                                      .measure = &plan->measures[m],
                                      .first = first,
                                      .groups = &regrouped->groups,
                                      .threads = groups < threads ? threads : 1,
                                      .column = &regrouped->measures[m]};
        if (texts)
            measuring.strings = strings_of(plan, measuring.measure);
        measuring.column->texts = texts;
        status = measure_all(&measuring, scanned, to, groups, threads, error);
        free(measuring.entries);
        free(measuring.starts);
    }
    return status;
}
