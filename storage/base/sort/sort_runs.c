/*
 * sort_runs.c: sorts more rows than memory has room for (sort_rows.h).
 *
 *     rows      | run 0         | run 1         | run 2 ...   each is read once, sorted in memory by one thread,
 *     ranked    | ascending     | ascending     | ascending   and written, with its rows' ranks
 *     places      merged: threads have a slice of the ranks each, and of all runs the rows that belong to it
 *
 * Runs follow each other as their rows do, so equal rows of an earlier run come first. Ranked rows, 16 bytes each, and places
 * are spillable; what a thread sorts a run in is of the account, and if that refuses the least run, beside it.
 */
#include "storage/base/sort/sort_rows_internal.h"

#include "storage/base/execution/memory_account.h"
#include "storage/base/execution/spillable.h"
#include "storage/base/memory.h"
#include "storage/base/sort/sort.h"

#include <stdlib.h>
#include <string.h>

#define BATCH_ROWS 1024u /* whose ranks are in the first-level cache */

#define RUN_LEAST 4096u /* rows: 160 KB of a thread */
#define SHARE     8u    /* of the account are runs while they are sorted */
#define SAMPLES   32u   /* of each run and slice, from which the slices' bounds are taken */

/* What a row takes while its run is sorted: twice its rank, and a column's value. */
#define ROW_BYTES (2 * sizeof(struct ranked) + sizeof(uint64_t))

struct runs {
    struct ranking ranking;
    unsigned bits; /* of the ranks here: the first ones */
    bool exact;    /* rows of equal ranks are equal */
    const struct sort_moved *moved;
    uint64_t run_rows, count;
    struct ranked *ranked;  /* of all runs */
    struct ranked **memory; /* of each thread: run_rows ranked rows twice, and as many values */
    uint64_t *bounds;       /* of each slice in each run: slices + 1 times `count` */
    uint64_t *places;
};

static uint64_t run_begin(const struct runs *runs, uint64_t run)
{
    const uint64_t rows = runs->ranking.ordering->rows;
    return run < runs->count ? run * runs->run_rows : rows;
}

static int compare(const struct runs *runs, const struct ranked *left, const struct ranked *right)
{
    if (left->rank != right->rank)
        return left->rank < right->rank ? -1 : 1;
    if (runs->exact)
        return (left->row > right->row) - (left->row < right->row);
    return sort_rows_compare(&left->row, &right->row, runs->ranking.ordering);
}

static int compare_ranked(const void *left, const void *right, const void *context)
{
    return compare(context, left, right);
}

/* ---- A run ---- */

/* Moves the rows of a run in all columns, and gives them the numbers of their new places. */
static void move_rows(const struct sort_moved *moved, struct ranked *ranked, uint64_t first, uint64_t count,
                      int64_t *values)
{
    uint8_t *const bytes = (uint8_t *)values;
    for (uint32_t c = 0; c < moved->word_count; c++) {
        for (uint64_t i = 0; i < count; i++)
            values[i] = moved->words[c][ranked[i].row];
        memcpy(moved->words[c] + first, values, count * sizeof *values);
    }
    for (uint32_t c = 0; c < moved->byte_count; c++) {
        for (uint64_t i = 0; i < count; i++)
            bytes[i] = moved->bytes[c][ranked[i].row];
        memcpy(moved->bytes[c] + first, bytes, count);
    }
    for (uint64_t i = 0; i < count; i++)
        ranked[i].row = first + i;
}

/* Ranks rows that follow each other. */
static void rank_rows(const struct runs *runs, uint64_t first, uint64_t count, struct ranked *ranked)
{
    uint64_t ranks[BATCH_ROWS];
    for (uint64_t begin = 0; begin < count; begin += BATCH_ROWS) {
        const uint64_t batch = count - begin < BATCH_ROWS ? count - begin : BATCH_ROWS;
        sort_ranks_of(&runs->ranking, 0, runs->bits, NULL, first + begin, batch, ranks);
        for (uint64_t i = 0; i < batch; i++)
            ranked[begin + i] = (struct ranked){ranks[i], first + begin + i};
    }
}

/* Sorts rows by their ranks, from the lowest digit on. Returns where they are: in `rows` or in `other`. */
static struct ranked *sort_ranked(struct ranked *rows, struct ranked *other, uint64_t count, unsigned bits)
{
    for (unsigned digit = 0; digit < bits; digit += 8) {
        uint64_t place[256] = {0}, next = 0;
        for (uint64_t i = 0; i < count; i++)
            place[rows[i].rank >> digit & 255]++;
        if (place[rows[0].rank >> digit & 255] == count)
            continue;
        for (unsigned value = 0; value < 256; value++) {
            const uint64_t here = place[value];
            place[value] = next;
            next += here;
        }
        for (uint64_t i = 0; i < count; i++)
            other[place[rows[i].rank >> digit & 255]++] = rows[i];
        struct ranked *const sorted = other;
        other = rows;
        rows = sorted;
    }
    return rows;
}

static enum status sort_run(void *context, uint64_t run, unsigned thread, struct error *error)
{
    struct runs *const runs = context;
    const uint64_t first = run_begin(runs, run), count = run_begin(runs, run + 1) - first;
    if (!runs->memory[thread])
        RETURN_IF_ERROR(
            memory_take(&runs->memory[thread], runs->run_rows * ROW_BYTES, "an answer's order", error));
    struct ranked *const memory = runs->memory[thread];
    rank_rows(runs, first, count, memory);
    struct ranked *const ranked = sort_ranked(memory, memory + runs->run_rows, count, runs->bits);
    for (uint64_t begin = 0, end; !runs->exact && begin < count; begin = end) {
        for (end = begin + 1; end < count && ranked[end].rank == ranked[begin].rank;)
            end++;
        sort_items(ranked + begin, end - begin, sizeof *ranked, compare_ranked, runs);
    }
    if (runs->moved)
        move_rows(runs->moved, ranked, first, count, (int64_t *)(memory + 2 * runs->run_rows));
    memcpy(runs->ranked + first, ranked, count * sizeof *ranked);
    return cancel_check(error);
}

/* The longest runs that the account has memory for, on all threads. */
static void choose_runs(struct runs *runs, unsigned threads, struct memory_charge *charge)
{
    const uint64_t rows = runs->ranking.ordering->rows, limit = execution_memory()->limit,
                   share = limit / SHARE / threads / ROW_BYTES;
    runs->run_rows = share < rows ? share : rows;
    while (runs->run_rows > RUN_LEAST &&
           !memory_charge_try(charge, threads * runs->run_rows * ROW_BYTES, limit))
        runs->run_rows /= 2;
    runs->run_rows = runs->run_rows < RUN_LEAST ? RUN_LEAST : runs->run_rows;
    runs->count = (rows + runs->run_rows - 1) / runs->run_rows;
}

/* ---- Slices ---- */

/* The first of a run's ranked rows that does not come before `bound`. */
static uint64_t find_bound(const struct runs *runs, uint64_t run, const struct ranked *bound)
{
    uint64_t low = run_begin(runs, run), high = run_begin(runs, run + 1);
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (compare(runs, &runs->ranked[middle], bound) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static enum status find_slices(struct runs *runs, uint64_t slices, struct error *error)
{
    const uint64_t each = SAMPLES * slices, all = each * runs->count;
    struct ranked *samples;
    RETURN_IF_ERROR(memory_take(&runs->bounds, (slices + 1) * runs->count * sizeof *runs->bounds,
                                "an answer's order", error));
    RETURN_IF_ERROR(memory_take(&samples, all * sizeof *samples, "an answer's order", error));
    for (uint64_t run = 0; run < runs->count; run++)
        for (uint64_t s = 0; s < each; s++) {
            const uint64_t first = run_begin(runs, run), count = run_begin(runs, run + 1) - first;
            samples[run * each + s] = runs->ranked[first + count * s / each];
        }
    sort_items(samples, all, sizeof *samples, compare_ranked, runs);
    for (uint64_t slice = 0; slice <= slices; slice++)
        for (uint64_t run = 0; run < runs->count; run++)
            runs->bounds[slice * runs->count + run] =
                slice == 0        ? run_begin(runs, run)
                : slice == slices ? run_begin(runs, run + 1)
                                  : find_bound(runs, run, &samples[all / slices * slice]);
    free(samples);
    return STATUS_OK;
}

/* ---- Merging ---- */

/* A heap of runs; the run whose next row is the first of all is at its top. */
struct merge {
    const struct runs *runs;
    uint64_t *at; /* the next row of each run */
    uint64_t *heap, count;
};

static bool comes_first(const struct merge *merge, uint64_t left, uint64_t right)
{
    const struct ranked *const ranked = merge->runs->ranked;
    return compare(merge->runs, &ranked[merge->at[left]], &ranked[merge->at[right]]) < 0;
}

static void sift(struct merge *merge, uint64_t at)
{
    const uint64_t run = merge->heap[at];
    for (uint64_t child = 2 * at + 1; child < merge->count; child = 2 * at + 1) {
        if (child + 1 < merge->count && comes_first(merge, merge->heap[child + 1], merge->heap[child]))
            child++;
        if (!comes_first(merge, merge->heap[child], run))
            break;
        merge->heap[at] = merge->heap[child];
        at = child;
    }
    merge->heap[at] = run;
}

static enum status merge_slice(void *context, uint64_t slice, unsigned thread, struct error *error)
{
    const struct runs *const runs = context;
    const uint64_t *const first = runs->bounds + slice * runs->count, *const end = first + runs->count;
    struct merge merge = {.runs = runs};
    uint64_t *to = runs->places;
    (void)thread;
    RETURN_IF_ERROR(memory_take(&merge.at, 2 * runs->count * sizeof *merge.at, "an answer's order", error));
    merge.heap = merge.at + runs->count;
    for (uint64_t run = 0; run < runs->count; run++) {
        to += first[run] - run_begin(runs, run);
        merge.at[run] = first[run];
        if (first[run] < end[run])
            merge.heap[merge.count++] = run;
    }
    for (uint64_t at = merge.count / 2; at-- > 0;)
        sift(&merge, at);
    enum status status = STATUS_OK;
    for (uint64_t done = 0; merge.count && status == STATUS_OK; done++) {
        const uint64_t run = merge.heap[0];
        *to++ = runs->ranked[merge.at[run]].row;
        if (++merge.at[run] == end[run])
            merge.heap[0] = merge.heap[--merge.count];
        sift(&merge, 0);
        if (done % RUN_LEAST == 0)
            status = cancel_check(error);
    }
    free(merge.at);
    return status;
}

/* ---- All ---- */

static enum status make_runs(struct runs *runs, unsigned threads, struct error *error)
{
    struct memory_charge charge = {0};
    choose_runs(runs, threads, &charge);
    enum status status =
        memory_zeros(&runs->memory, threads * sizeof *runs->memory, "an answer's order", error);
    status = AND_THEN(status, parallel_for(threads, runs->count, sort_run, runs, error));
    for (unsigned t = 0; runs->memory && t < threads; t++)
        free(runs->memory[t]);
    free(runs->memory);
    memory_charge_drop(&charge);
    return status;
}

enum status sort_runs(const struct ordering *ordering, const struct sort_moved *moved, unsigned threads,
                      uint64_t **places, struct error *error)
{
    struct runs runs = {.moved = moved};
    *places = NULL;
    enum status status = sort_ranking_make(ordering, threads, &runs.ranking, error);
    runs.bits = runs.ranking.bits < 64 ? runs.ranking.bits : 64;
    runs.exact = runs.ranking.exact && runs.bits == runs.ranking.bits;
    status = AND_THEN(status, spillable_rows(&runs.ranked, (ordering->rows + 1) * sizeof *runs.ranked,
                                             "an answer's order", error));
    status = AND_THEN(status, make_runs(&runs, threads, error));
    status = AND_THEN(status, find_slices(&runs, threads, error));
    status = AND_THEN(
        status, spillable_rows(places, (ordering->rows + 1) * sizeof **places, "an answer's order", error));
    runs.places = *places;
    status = AND_THEN(status, parallel_for(threads, threads, merge_slice, &runs, error));
    if (status != STATUS_OK) {
        spillable_free(*places);
        *places = NULL;
    }
    spillable_free(runs.ranked);
    free(runs.bounds);
    free(runs.ranking.parts);
    return status;
}
