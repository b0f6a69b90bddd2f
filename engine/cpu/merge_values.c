/*
 * merge_values.c: merges the numbers of groups that quantiles alone need (engine/plan/grouping/quantiles.h). A number is
 * group * domain + code of a value, and the scan has put those of all rows into GROUP_PARTS parts by ranges of numbers. So
 * a part has the values of few groups, or a range of the values of one:
 *
 *     numbers   | group 0: 3 9 .. | .. group 0: 12 .. group 1: 2 .. | .. group 1: 20 .. | .. group 1: 40, group 2 ..
 *     parts       0                 1                                 2                   3
 *
 * Parts with numbers of several groups, 1 and 3, are sorted, each by one thread. Groups that lie in one of them are done
 * with it. Of those that lie in several parts the wanted rows are known when their rows are counted; of the parts with one
 * group's values alone, such as 2, those that have wanted rows are sorted. The answer gets the wanted rows' numbers; each
 * stands for the rows before it, too, and the last one for those after it.
 *
 * If the result is to be merged with others, all parts are sorted and all numbers given.
 */
#include "engine/cpu/group_states_internal.h"
#include "engine/plan/grouping/quantiles.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"
#include "storage/base/sort/sort_words.h"

#include <stdlib.h>
#include <string.h>

/* Numbers of a group that follow each other in a part, from place `first` on. */
struct portion {
    uint64_t group, first, count;
    uint32_t part;
};

struct value_part {
    uint64_t count;
    bool sorted, wanted;
    uint32_t portion_count;
    struct portion
        portions[2]; /* of groups that may have numbers in other parts, too: its first and its last */
};

/* The groups that a thread has found, and its memory. */
struct value_groups {
    uint64_t *numbers, *rows, count, room;
    uint64_t *words, *other, words_room;
    struct memory_charge charge;
};

struct value_merging {
    const struct merge *merge;
    uint64_t domain;  /* of codes */
    uint64_t numbers; /* all are less */
    uint32_t shift;
    bool nullable; /* code 0 is NULL */
    struct value_part parts[GROUP_PARTS];
    struct value_groups *found; /* of each thread */
};

static uint64_t numbers_of(const struct plan *plan)
{
    return plan->groups[0].stride * plan->groups[0].domain;
}

/* A number takes 8 bytes of a list, as an entry takes 16 or more of a table of each thread; so the list of so many rows a
 * number is larger than tables, but no entry of it is looked for. */
#define LISTED_ROWS 16u

bool values_are_listed(const struct plan *plan)
{
    return plan->shape == PLAN_HASH && plan_is_of_quantiles(plan) &&
           numbers_of(plan) >= plan->fact->rows / LISTED_ROWS;
}

void values_layout(const struct plan *plan, struct group_layout *layout)
{
    group_layout_make(layout, NULL, 0, 1, 0);
    layout->part_shift = 0;
    while ((numbers_of(plan) - 1) >> layout->part_shift >= GROUP_PARTS)
        layout->part_shift++;
}

/* ---- Groups ---- */

static enum status add(struct value_groups *found, uint64_t number, uint64_t rows, struct error *error)
{
    if (found->count == found->room) {
        const uint64_t room = found->room ? 2 * found->room : 1024, bytes = room * sizeof *found->numbers;
        RETURN_IF_ERROR(memory_charge_add(&found->charge, 2 * (bytes - found->room * sizeof *found->numbers),
                                          "groups", error));
        RETURN_IF_ERROR(memory_grow(&found->numbers, bytes, "groups", error));
        RETURN_IF_ERROR(memory_grow(&found->rows, bytes, "groups", error));
        found->room = room;
    }
    found->numbers[found->count] = number;
    found->rows[found->count++] = rows;
    return STATUS_OK;
}

/* The first of the ascending numbers that is not less than `least`; it looks at few if that is near. */
static uint64_t first_from(const uint64_t *numbers, uint64_t count, uint64_t least)
{
    uint64_t step = 1, below = 0;
    while (below + step < count && numbers[below + step] < least) {
        below += step;
        step *= 2;
    }
    uint64_t end = below + step < count ? below + step : count;
    for (below = count && numbers[below] < least ? below + 1 : below; below < end;) {
        const uint64_t middle = below + (end - below) / 2;
        if (numbers[middle] < least)
            below = middle + 1;
        else
            end = middle;
    }
    return end;
}

/* ---- Parts ---- */

static uint64_t number_at(const struct value_merging *merging, uint32_t part, uint64_t place)
{
    for (uint32_t s = 0; s < merging->merge->from_count; s++) {
        struct group_stretch stretch = {0};
        for (; group_parts_next(&merging->merge->from[s]->values, part, &stretch); place -= stretch.count)
            if (place < stretch.count)
                return stretch.entries[place];
    }
    return 0;
}

static enum status sort_part(struct value_merging *merging, uint32_t p, struct value_groups *thread,
                             struct error *error)
{
    struct value_part *const part = &merging->parts[p];
    const uint64_t bytes = part->count * sizeof *thread->words;
    if (part->count > thread->words_room) {
        RETURN_IF_ERROR(memory_charge_add(
            &thread->charge, 2 * (bytes - thread->words_room * sizeof *thread->words), "groups", error));
        RETURN_IF_ERROR(memory_grow(&thread->words, bytes, "groups", error));
        RETURN_IF_ERROR(memory_grow(&thread->other, bytes, "groups", error));
        thread->words_room = part->count;
    }
    merge_copy_part(merging->merge, p, thread->words, false);
    sort_words(thread->words, thread->other, part->count, 0, merging->shift);
    merge_copy_part(merging->merge, p, thread->words, true);
    part->sorted = true;
    return cancel_check(error);
}

static void count_part(struct value_merging *merging, uint32_t part)
{
    for (uint32_t s = 0; s < merging->merge->from_count; s++) {
        struct group_stretch stretch = {0};
        while (group_parts_next(&merging->merge->from[s]->values, part, &stretch))
            merging->parts[part].count += stretch.count;
    }
}

/* True if the part has only values of one group, and no NULL. */
static bool has_one_group(const struct value_merging *merging, uint32_t part)
{
    const uint64_t first = (uint64_t)part << merging->shift, end = ((uint64_t)part + 1) << merging->shift,
                   last = (end < merging->numbers ? end : merging->numbers) - 1;
    return part + 1 < GROUP_PARTS && first / merging->domain == last / merging->domain &&
           !(merging->nullable && first % merging->domain == 0);
}

/* ---- Wanted rows ---- */

/* Adds the groups of a list of ascending numbers. */
static enum status add_list(const struct value_merging *merging, struct value_groups *found,
                            const uint64_t *numbers, uint64_t count, struct error *error)
{
    const uint64_t null = numbers[0] / merging->domain * merging->domain;
    const uint64_t nulls = merging->nullable ? first_from(numbers, count, null + 1) : 0;
    uint64_t wanted[PLAN_QUANTILE_ROWS_MAX], before = 0;
    if (nulls)
        RETURN_IF_ERROR(add(found, null, nulls, error));
    if (nulls == count)
        return STATUS_OK;
    const uint32_t rows = plan_quantile_rows(merging->merge->plan, count - nulls, wanted);
    for (uint32_t w = 0; w < rows; w++) {
        const uint64_t end = w + 1 == rows ? count - nulls : wanted[w] + 1;
        RETURN_IF_ERROR(add(found, numbers[nulls + wanted[w]], end - before, error));
        before = end;
    }
    return STATUS_OK;
}

/* Adds the groups that are in this sorted part alone, and finds the portions of others. */
static enum status add_lists(struct value_merging *merging, uint32_t p, struct value_groups *found,
                             struct error *error)
{
    struct value_part *const part = &merging->parts[p];
    for (uint64_t begin = 0, end; begin < part->count; begin = end) {
        const uint64_t group = found->words[begin] / merging->domain;
        end = begin + first_from(found->words + begin, part->count - begin, (group + 1) * merging->domain);
        if (begin == 0 || end == part->count)
            part->portions[part->portion_count++] = (struct portion){group, begin, end - begin, p};
        else
            RETURN_IF_ERROR(add_list(merging, found, found->words + begin, end - begin, error));
    }
    return STATUS_OK;
}

/* Adds each number with its rows. */
static enum status add_numbers(const struct value_merging *merging, uint32_t part, struct value_groups *found,
                               struct error *error)
{
    const uint64_t count = merging->parts[part].count;
    for (uint64_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && found->words[end] == found->words[begin];)
            end++;
        RETURN_IF_ERROR(add(found, found->words[begin], end - begin, error));
    }
    return STATUS_OK;
}

static enum status merge_part(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct value_merging *const merging = context;
    struct value_groups *const found = &merging->found[thread];
    const uint32_t p = (uint32_t)item;
    struct value_part *const part = &merging->parts[p];
    count_part(merging, p);
    if (part->count == 0)
        return STATUS_OK;
    if (!merging->merge->mergeable && has_one_group(merging, p)) {
        part->portions[part->portion_count++] =
            (struct portion){((uint64_t)p << merging->shift) / merging->domain, 0, part->count, p};
        return STATUS_OK;
    }
    RETURN_IF_ERROR(sort_part(merging, p, found, error));
    return merging->merge->mergeable ? add_numbers(merging, p, found, error)
                                     : add_lists(merging, p, found, error);
}

/* ---- Groups of several parts ---- */

/* A group's portions, in the order of its numbers. */
struct span {
    const struct portion *portions;
    uint32_t count;
    uint64_t nulls, values; /* its rows */
};

/* The portion that has row `row` of the values, and its place in that part. */
static const struct portion *portion_of(const struct span *span, uint64_t row, uint64_t *place)
{
    const struct portion *portion = span->portions;
    row += span->nulls;
    for (; row >= portion->count; portion++)
        row -= portion->count;
    *place = portion->first + row;
    return portion;
}

/* NULLs come first, in a part that is sorted. */
static uint64_t nulls_of(const struct value_merging *merging, const struct portion *portion)
{
    const uint64_t null = portion->group * merging->domain;
    uint64_t begin = 0, end = merging->nullable && merging->parts[portion->part].sorted ? portion->count : 0;
    while (begin < end) {
        const uint64_t middle = begin + (end - begin) / 2;
        if (number_at(merging, portion->part, portion->first + middle) <= null)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

/* Marks the parts with rows that are wanted. */
static void want_parts(struct value_merging *merging, const struct span *span)
{
    uint64_t wanted[PLAN_QUANTILE_ROWS_MAX], place;
    const uint32_t rows = span->values ? plan_quantile_rows(merging->merge->plan, span->values, wanted) : 0;
    for (uint32_t w = 0; w < rows; w++)
        merging->parts[portion_of(span, wanted[w], &place)->part].wanted = true;
}

static enum status add_span(const struct value_merging *merging, const struct span *span, struct error *error)
{
    struct value_groups *const found = &merging->found[0];
    uint64_t wanted[PLAN_QUANTILE_ROWS_MAX], before = 0, place;
    const uint32_t rows = span->values ? plan_quantile_rows(merging->merge->plan, span->values, wanted) : 0;
    if (span->nulls)
        RETURN_IF_ERROR(add(found, span->portions[0].group * merging->domain, span->nulls, error));
    for (uint32_t w = 0; w < rows; w++) {
        const struct portion *const portion = portion_of(span, wanted[w], &place);
        const uint64_t end = w + 1 == rows ? span->values : wanted[w] + 1;
        RETURN_IF_ERROR(add(found, number_at(merging, portion->part, place), end - before, error));
        before = end;
    }
    return STATUS_OK;
}

static enum status sort_wanted(void *context, uint64_t part, unsigned thread, struct error *error)
{
    struct value_merging *const merging = context;
    return merging->parts[part].wanted && !merging->parts[part].sorted
               ? sort_part(merging, (uint32_t)part, &merging->found[thread], error)
               : STATUS_OK;
}

static enum status merge_spans(struct value_merging *merging, struct error *error)
{
    struct portion portions[2 * GROUP_PARTS];
    struct span spans[2 * GROUP_PARTS];
    uint32_t portion_count = 0, span_count = 0;
    for (uint32_t p = 0; p < GROUP_PARTS; p++)
        for (uint32_t i = 0; i < merging->parts[p].portion_count; i++)
            portions[portion_count++] = merging->parts[p].portions[i];
    for (uint32_t begin = 0, end; begin < portion_count; begin = end) {
        struct span *const span = &spans[span_count++];
        *span = (struct span){.portions = &portions[begin], .nulls = nulls_of(merging, &portions[begin])};
        for (end = begin; end < portion_count && portions[end].group == portions[begin].group; end++)
            span->values += portions[end].count;
        span->count = end - begin;
        span->values -= span->nulls;
        want_parts(merging, span);
    }
    RETURN_IF_ERROR(parallel_for(merging->merge->threads, GROUP_PARTS, sort_wanted, merging, error));
    for (uint32_t s = 0; s < span_count; s++)
        RETURN_IF_ERROR(add_span(merging, &spans[s], error));
    return STATUS_OK;
}

/* ---- The result ---- */

static enum status copy_groups(const struct value_merging *merging, struct error *error)
{
    const struct merge *const merge = merging->merge;
    uint64_t count = 0, first = 0;
    for (unsigned t = 0; t < merge->threads; t++)
        count += merging->found[t].count;
    RETURN_IF_ERROR(partial_allocate(merge->plan, count, merge->groups, error));
    for (unsigned t = 0; t < merge->threads; first += merging->found[t++].count) {
        const struct value_groups *const found = &merging->found[t];
        if (found->count == 0)
            continue;
        memcpy(merge->groups->keys[0] + first, found->numbers, found->count * sizeof *found->numbers);
        memcpy(merge->groups->states[0] + first, found->rows, found->count * sizeof *found->rows);
    }
    return STATUS_OK;
}

static void close(struct value_merging *merging)
{
    for (unsigned t = 0; merging->found && t < merging->merge->threads; t++) {
        free(merging->found[t].numbers);
        free(merging->found[t].rows);
        free(merging->found[t].words);
        free(merging->found[t].other);
        memory_charge_drop(&merging->found[t].charge);
    }
    free(merging->found);
    free(merging);
}

enum status merge_values(const struct merge *merge, struct error *error)
{
    const struct plan_group *const value = &merge->plan->groups[merge->plan->grouping.listed];
    struct value_merging *merging;
    RETURN_IF_ERROR(memory_zeros(&merging, sizeof *merging, "groups", error));
    merging->merge = merge;
    merging->domain = value->domain;
    merging->nullable = value->nullable;
    merging->numbers = numbers_of(merge->plan);
    merging->shift = merge->from[0]->pairs.part_shift;
    enum status status =
        memory_zeros(&merging->found, merge->threads * sizeof *merging->found, "groups", error);
    if (status == STATUS_OK)
        status = parallel_for(merge->threads, GROUP_PARTS, merge_part, merging, error);
    if (status == STATUS_OK && !merge->mergeable)
        status = merge_spans(merging, error);
    status = AND_THEN(status, copy_groups(merging, error));
    close(merging);
    for (uint32_t s = 0; s < merge->from_count; s++)
        group_parts_free(&merge->from[s]->values);
    return status;
}
