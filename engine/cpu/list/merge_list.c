/*
 * merge_list.c: adds up the groups of rows that are words (group_list.h), in the parts of all threads. A part has the rows of
 * some groups whose numbers follow each other, and is read twice, by one thread each time. The first time marks the numbers
 * that have rows (number_ranks.h); then it is known how many groups each part has, and so where its groups are in the answer.
 * The second time adds each row's values to the states at the rank of its number:
 *
 *     words        7:a  2:b  7:c  4:d        number : codes of arguments
 *     marks        2  4  7
 *     answer       b  d  a+c                 in the order of their numbers, so that nothing sorts them
 *
 * Groups that are only added up (struct group_sink) are in the thread's memory, one part after the other.
 */
#include "engine/cpu/group_states_internal.h"

#include "engine/cpu/list/list_loops.h"
#include "storage/base/huge_pages.h"
#include "storage/base/memory.h"
#include "storage/base/number/number_ranks.h"
#include "storage/base/parallel.h"
#include "storage/base/sort/sort_words.h"

#include <stdlib.h>
#include <string.h>

/* What a thread sorts a part in. */
struct list_scratch {
    uint64_t *words, *other, room;
    struct memory_charge charge;
};

struct list_merging {
    const struct merge *merge;
    const struct row_words *words;
    uint64_t part_numbers;           /* of a part; a power of two */
    uint64_t *marks;                 /* of all numbers */
    uint64_t first[GROUP_PARTS + 1]; /* the first group of each part */
    uint64_t most;                   /* groups of a part */
    struct partial *own;             /* of each thread, if groups go to a sink: those of a part, */
    struct partial *given;           /* and some of them */
    struct list_scratch *scratch;    /* of each thread, if parts are sorted */
    struct memory_charge charge;
};

static uint64_t *marks_of(const struct list_merging *merging, uint32_t part, uint64_t *count)
{
    const uint64_t begin = part * merging->part_numbers, end = begin + merging->part_numbers,
                   all = merging->words->numbers, last = end < all ? end : all;
    *count = begin < last ? (last - begin - 1) / NUMBER_RANKS_A_WORD + 1 : 0;
    return merging->marks + begin / NUMBER_RANKS_A_WORD;
}

/* Marks the numbers of a part's groups, and counts them. */
static uint64_t mark_part(const struct list_merging *merging, uint32_t part)
{
    uint64_t count, *const marks = marks_of(merging, part, &count);
    memset(marks, 0, count * sizeof *marks);
    for (uint32_t s = 0; s < merging->merge->from_count; s++) {
        struct group_stretch stretch = {0};
        while (group_parts_next(&merging->merge->from[s]->values, part, &stretch))
            ISA_CHOICE(list_mark)
        (stretch.entries, stretch.count, merging->words->number_shift, merging->part_numbers - 1, marks);
    }
    return number_ranks_sum(marks, count, 0);
}

static uint64_t rows_of(const struct list_merging *merging, uint32_t part)
{
    uint64_t rows = 0;
    for (uint32_t s = 0; s < merging->merge->from_count; s++) {
        struct group_stretch stretch = {0};
        while (group_parts_next(&merging->merge->from[s]->values, part, &stretch))
            rows += stretch.count;
    }
    return rows;
}

/* Sorts a part by the numbers of its groups, and counts these. */
static enum status sort_part(const struct list_merging *merging, uint32_t part, struct list_scratch *scratch,
                             uint64_t *groups, struct error *error)
{
    const uint64_t rows = rows_of(merging, part);
    const uint32_t shift = merging->words->number_shift;
    *groups = rows > 0;
    if (rows > scratch->room) {
        RETURN_IF_ERROR(memory_charge_set(&scratch->charge, 2 * rows * sizeof *scratch->words,
                                          "a table of groups", error));
        RETURN_IF_ERROR(memory_grow(&scratch->words, rows * sizeof *scratch->words, "groups", error));
        RETURN_IF_ERROR(memory_grow(&scratch->other, rows * sizeof *scratch->other, "groups", error));
        scratch->room = rows;
    }
    merge_copy_part(merging->merge, part, scratch->words, false);
    sort_words(scratch->words, scratch->other, rows, shift,
               shift + (uint32_t)__builtin_ctzll(merging->part_numbers));
    for (uint64_t i = 1; i < rows; i++)
        *groups += (scratch->words[i] ^ scratch->words[i - 1]) >> shift != 0;
    merge_copy_part(merging->merge, part, scratch->words, true);
    return STATUS_OK;
}

static enum status find_groups(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct list_merging *const merging = context;
    const uint32_t part = (uint32_t)item;
    uint64_t *const groups = &merging->first[part + 1];
    if (merging->marks)
        *groups = mark_part(merging, part);
    else
        RETURN_IF_ERROR(sort_part(merging, part, &merging->scratch[thread], groups, error));
    return cancel_check(error);
}

/* ---- Groups ---- */

/* Writes the numbers of a part's groups that are marked. */
static void write_numbers(const struct list_merging *merging, uint32_t part, uint64_t *numbers)
{
    uint64_t count;
    const uint64_t *const marks = marks_of(merging, part, &count);
    for (uint64_t w = 0; w < count; w++)
        for (uint32_t bits = (uint32_t)marks[w]; bits; bits &= bits - 1)
            *numbers++ =
                part * merging->part_numbers + w * NUMBER_RANKS_A_WORD + (uint32_t)__builtin_ctz(bits);
}

static void clear_states(const struct plan *plan, struct partial *to, uint64_t first, uint64_t end)
{
    for (uint32_t a = 0; a < plan->aggregate_count; a++) {
        const int64_t *const identity = plan_aggregate_of(plan, a)->identity;
        for (uint64_t g = first; g < end; g++)
            to->states[a][g] = identity[0];
        for (uint64_t g = first; to->states_high[a] && g < end; g++)
            to->states_high[a][g] = identity[1];
    }
}

/* Gives the argument of each word; returns the NULLs, if there may be any. */
static const uint8_t *read_codes(const struct list_merging *merging, uint32_t a, const uint64_t *words,
                                 uint32_t count, int64_t *values, uint8_t *nulls)
{
    const struct row_words *const of = merging->words;
    const bool nullable = plan_argument_is_nullable(merging->merge->plan, a);
    const uint64_t low = (uint64_t)merging->merge->plan->aggregates[a].low - nullable,
                   mask = row_words_mask(of, a);
    ISA_CHOICE(list_values)(words, of->shifts[a], mask, low, count, values);
    for (uint32_t i = 0; nullable && i < count; i++)
        nulls[i] = (words[i] >> of->shifts[a] & mask) == 0;
    return nullable ? nulls : NULL;
}

/* The groups of a part while its rows are added: they begin at `first` in `to`. */
struct adding {
    const uint64_t *marks; /* NULL: the rows are sorted, and the last one's group is `group` */
    struct partial *to;
    uint64_t first, group;
    bool begun;
};

/* Counts the groups of sorted rows, and writes their numbers. */
static void count_groups(const struct list_merging *merging, struct adding *adding, const uint64_t *words,
                         uint32_t count, uint64_t *at)
{
    const uint32_t shift = merging->words->number_shift;
    uint64_t *const numbers = adding->to->keys[0], group = adding->group;
    if (!adding->begun)
        numbers[group] = words[0] >> shift;
    adding->begun = true;
    uint64_t last = numbers[group];
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t number = words[i] >> shift;
        group += number != last;
        numbers[group] = last = number;
        at[i] = group;
    }
    adding->group = group;
}

/* Adds up to VECTOR_ROWS rows. */
static void add_rows(const struct list_merging *merging, struct adding *adding, const uint64_t *words,
                     uint32_t count)
{
    const struct plan *const plan = merging->merge->plan;
    struct partial *const to = adding->to;
    uint64_t at[VECTOR_ROWS];
    int64_t values[VECTOR_ROWS];
    uint8_t nulls[VECTOR_ROWS];
    if (adding->marks)
        ISA_CHOICE(list_ranks)
    (words, count, merging->words->number_shift, merging->part_numbers - 1, adding->marks, adding->first, at);
    else count_groups(merging, adding, words, count, at);
    for (uint32_t a = 0; a < plan->aggregate_count; a++) {
        const bool coded = merging->words->code_of[a] != ROW_WORDS_NO_CODE;
        const uint8_t *const missing = coded ? read_codes(merging, a, words, count, values, nulls) : NULL;
        plan_aggregate_of(plan, a)->add(to->states[a], to->states_high[a], count, at, values, missing);
    }
}

/* Gives a part's groups to the sink, some at a time. */
static enum status give(const struct list_merging *merging, struct partial *own, uint64_t groups,
                        unsigned thread, struct error *error)
{
    const struct plan *const plan = merging->merge->plan;
    struct group_sink *const sink = merging->merge->deliveries[thread].sink;
    struct partial *const some = &merging->given[thread];
    for (uint64_t first = 0; first < groups; first += VECTOR_ROWS) {
        some->count = groups - first < VECTOR_ROWS ? groups - first : VECTOR_ROWS;
        some->keys[0] = own->keys[0] + first;
        for (uint32_t a = 0; a < plan->aggregate_count; a++) {
            some->states[a] = own->states[a] + first;
            some->states_high[a] = own->states_high[a] ? own->states_high[a] + first : NULL;
        }
        RETURN_IF_ERROR(sink->take(sink, some, thread, error));
    }
    return STATUS_OK;
}

static enum status add_part(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct list_merging *const merging = context;
    const struct plan *const plan = merging->merge->plan;
    const uint32_t part = (uint32_t)item;
    const uint64_t groups = merging->first[part + 1] - merging->first[part],
                   first = merging->own ? 0 : merging->first[part];
    struct partial *const to = merging->own ? &merging->own[thread] : merging->merge->groups;
    struct adding adding = {.to = to, .first = first, .group = first};
    uint64_t count;
    if (groups == 0)
        return STATUS_OK;
    if (!to->keys[0])
        RETURN_IF_ERROR(partial_open(plan, merging->most, to, error));
    if (merging->marks) {
        adding.marks = marks_of(merging, part, &count);
        write_numbers(merging, part, to->keys[0] + first);
    }
    clear_states(plan, to, first, first + groups);
    for (uint32_t s = 0; s < merging->merge->from_count; s++) {
        struct group_stretch stretch = {0};
        while (group_parts_next(&merging->merge->from[s]->values, part, &stretch))
            for (uint64_t i = 0; i < stretch.count; i += VECTOR_ROWS) {
                const uint64_t left = stretch.count - i;
                add_rows(merging, &adding, stretch.entries + i,
                         left < VECTOR_ROWS ? (uint32_t)left : VECTOR_ROWS);
            }
    }
    if (merging->own)
        RETURN_IF_ERROR(give(merging, to, groups, thread, error));
    return cancel_check(error);
}

/* ---- All ---- */

/* Marks take two bits a number. With more numbers a row sorting takes less. */
#define NUMBERS_A_ROW 32u

static enum status make_marks(struct list_merging *merging, struct error *error)
{
    const uint64_t bytes = (merging->words->numbers / NUMBER_RANKS_A_WORD + 1) * sizeof *merging->marks;
    RETURN_IF_ERROR(memory_charge_add(&merging->charge, bytes, "a table of groups", error));
    RETURN_IF_ERROR(memory_take(&merging->marks, bytes, "groups", error));
    huge_pages_prefer(merging->marks, bytes);
    return STATUS_OK;
}

static enum status open_merging(struct list_merging *merging, struct error *error)
{
    const struct merge *const merge = merging->merge;
    uint64_t rows = 0;
    for (uint32_t s = 0; s < merge->from_count; s++)
        rows += group_parts_entries(&merge->from[s]->values);
    if (merging->words->numbers / NUMBERS_A_ROW <= rows)
        RETURN_IF_ERROR(make_marks(merging, error));
    else
        RETURN_IF_ERROR(
            memory_zeros(&merging->scratch, merge->threads * sizeof *merging->scratch, "groups", error));
    if (!merge->deliveries)
        return STATUS_OK;
    RETURN_IF_ERROR(memory_zeros(&merging->own, merge->threads * sizeof *merging->own, "groups", error));
    return memory_zeros(&merging->given, merge->threads * sizeof *merging->given, "groups", error);
}

/* Makes the numbers of the parts' groups their places in the answer. */
static void place_parts(struct list_merging *merging)
{
    merging->first[0] = 0;
    for (uint32_t part = 0; part < GROUP_PARTS; part++) {
        const uint64_t groups = merging->first[part + 1];
        merging->most = groups > merging->most ? groups : merging->most;
        merging->first[part + 1] += merging->first[part];
    }
}

static enum status merge_all(struct list_merging *merging, struct error *error)
{
    const struct merge *const merge = merging->merge;
    struct partial *const groups = merge->groups;
    RETURN_IF_ERROR(open_merging(merging, error));
    RETURN_IF_ERROR(parallel_for(merge->threads, GROUP_PARTS, find_groups, merging, error));
    place_parts(merging);
    RETURN_IF_ERROR(partial_open(merge->plan, merging->own ? 0 : merging->first[GROUP_PARTS], groups, error));
    RETURN_IF_ERROR(parallel_for(merge->threads, GROUP_PARTS, add_part, merging, error));
    groups->ascending = true;
    if (merging->own)
        merge->deliveries[0].sink->taken = true;
    return STATUS_OK;
}

enum status merge_lists(const struct merge *merge, struct error *error)
{
    const struct group_states *const states = merge->from[0];
    struct list_merging *merging;
    RETURN_IF_ERROR(memory_zeros(&merging, sizeof *merging, "groups", error));
    merging->merge = merge;
    merging->words = &states->words_of;
    merging->part_numbers = UINT64_C(1) << (states->pairs.part_shift - states->words_of.number_shift);
    const enum status status = merge_all(merging, error);
    for (unsigned t = 0; merging->own && t < merge->threads; t++)
        partial_free(&merging->own[t]);
    for (uint32_t s = 0; s < merge->from_count; s++)
        group_parts_free(&merge->from[s]->values);
    for (unsigned t = 0; merging->scratch && t < merge->threads; t++) {
        memory_charge_drop(&merging->scratch[t].charge);
        free(merging->scratch[t].words);
        free(merging->scratch[t].other);
    }
    memory_charge_drop(&merging->charge);
    free(merging->scratch);
    free(merging->own);
    free(merging->given);
    free(merging->marks);
    free(merging);
    return status;
}
