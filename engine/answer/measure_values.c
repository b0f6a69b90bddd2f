/*
 * measure_values.c: measures that need all values of their argument (regrouped.h): the values of each group, with the
 * numbers of rows that have them, are sorted, and the measure is taken from the list. Takes some 100 ns a value.
 */
#include "engine/answer/regrouped.h"
#include "engine/plan/partial/regroup.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"

#include <stdlib.h>
#include <string.h>

struct measuring {
    const struct plan *plan;
    const struct plan_measure *measure;
    struct measure_entry *entries;
    uint64_t *starts;             /* of each group's entries, and their end */
    uint64_t first;               /* group 0 of `starts` is this one of the result */
    const struct partial *groups; /* the result's */
    struct measure_column *column;
    struct strings_joined strings; /* RESULT_TEXT */
};

/* ---- Lists of values ---- */

static int compare_entries(const void *left, const void *right)
{
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
    for (uint64_t g = 0; g < scanned->count; g++)
        if (entry_of(measuring->plan, measuring->measure, scanned, g, &entry))
            measuring->entries[next[to[g]]++] = entry;
    return STATUS_OK; /* next[group] is now the end of the group's entries, which is starts[group + 1] */
}

/* Longer lists are sorted by their digits of RADIX_BITS bits, if there is memory: 1.5 million values of 24 bits take 30 ms,
 * where comparisons take 1000. */
#define RADIX_LEAST 512u
#define RADIX_BITS  11u

/* Sorts by one digit of the orders' distances to the least one, from one array into another. */
static void sort_by_digit(const struct measure_entry *from, uint64_t count, int64_t least, uint32_t shift,
                          struct measure_entry *into)
{
    uint64_t places[(1u << RADIX_BITS) + 1] = {0};
    const uint64_t mask = (1u << RADIX_BITS) - 1;
    for (uint64_t e = 0; e < count; e++)
        places[(((uint64_t)from[e].order - (uint64_t)least) >> shift & mask) + 1]++;
    for (uint64_t digit = 0; digit < mask; digit++)
        places[digit + 1] += places[digit];
    for (uint64_t e = 0; e < count; e++)
        into[places[((uint64_t)from[e].order - (uint64_t)least) >> shift & mask]++] = from[e];
}

/* Sorts by orders alone. */
static bool sort_by_digits(struct measure_entry *entries, uint64_t count)
{
    struct measure_entry *from = entries, *into = malloc(count * sizeof *into), *const other = into;
    int64_t least = INT64_MAX, most = INT64_MIN;
    if (!other)
        return false;
    for (uint64_t e = 0; e < count; e++) {
        least = entries[e].order < least ? entries[e].order : least;
        most = entries[e].order > most ? entries[e].order : most;
    }
    for (uint32_t shift = 0; shift < 64 && ((uint64_t)most - (uint64_t)least) >> shift; shift += RADIX_BITS) {
        struct measure_entry *const sorted = into;
        sort_by_digit(from, count, least, shift, into);
        into = from;
        from = sorted;
    }
    if (from != entries)
        memcpy(entries, from, count * sizeof *entries);
    free(other);
    return true;
}

/* Sorts the entries and joins those that are alike; returns their number. `plain`: the order is that of the values.
 * `weighs`: an entry has a weight in place of rows, and the greatest stays. */
static uint64_t sort_entries(struct measure_entry *entries, uint64_t count, bool plain, bool weighs)
{
    uint64_t kept = 0;
    bool sorted = true;
    for (uint64_t e = 1; e < count && sorted; e++)
        sorted = compare_entries(&entries[e - 1], &entries[e]) <= 0;
    if (!sorted && !(plain && count >= RADIX_LEAST && sort_by_digits(entries, count)))
        qsort(entries, count, sizeof *entries, compare_entries);
    for (uint64_t e = 0; e < count; e++)
        if (!kept || compare_entries(&entries[kept - 1], &entries[e]) != 0)
            entries[kept++] = entries[e];
        else if (!weighs)
            entries[kept - 1].rows += entries[e].rows;
        else if (entries[kept - 1].rows < entries[e].rows)
            entries[kept - 1].rows = entries[e].rows;
    return kept;
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
    const struct measure *const of = measure_of(measuring->measure->kind);
    struct measure_entry *const entries = measuring->entries + measuring->starts[group];
    uint64_t count = measuring->starts[group + 1] - measuring->starts[group];
    if (!of->by_other)
        count = sort_entries(entries, count, measuring->measure->order_term == measuring->measure->term,
                             of->sketch && of->sketch->weight);
    const uint64_t at = measuring->first + group;
    bool null = count == 0 && of->result != RESULT_COUNT;
    (void)thread;
    if (count > 0)
        RETURN_IF_ERROR(
            measure_group(measuring, entries, count, at, &measuring->column->values[at], &null, error));
    if (null)
        measuring->column->values[at] = 0;
    measuring->column->nulls[at] = null;
    return STATUS_OK;
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
    enum status status = STATUS_OK;
    for (uint32_t m = 0; status == STATUS_OK && m < plan->measure_count; m++) {
        if (!plan->measures[m].of_values)
            continue;
        const bool texts = measure_of(plan->measures[m].kind)->result == RESULT_TEXT;
        struct measuring measuring = {.plan = plan,
                                      .measure = &plan->measures[m],
                                      .first = first,
                                      .groups = &regrouped->groups,
                                      .column = &regrouped->measures[m]};
        if (texts)
            measuring.strings = strings_of(plan, measuring.measure);
        measuring.column->texts = texts;
        status = measure_all(&measuring, scanned, to, regrouped->groups.count - first, threads, error);
        free(measuring.entries);
        free(measuring.starts);
    }
    return status;
}
