/* sort_rows.c: see sort_rows.h. Rows are dealt to parts by the high bits of their ranks; a part has some thousand rows,
 * which are sorted by their low bits in a thread's cache. If the values are so skewed that a part has most of the rows,
 * one thread sorts these. */
#include "storage/base/sort/sort_rows_internal.h"

#include "storage/base/execution/memory_account.h"
#include "storage/base/execution/spillable.h"
#include "storage/base/memory.h"
#include "storage/base/sort/deal.h"
#include "storage/base/sort/sort.h"

#include <stdlib.h>
#include <string.h>

/* With fewer rows, comparing them takes less time than finding the range of each term. */
#define RADIX_ROWS 512u

/* Rows of a part, and the most parts: so many places are written to at the same time. */
#define PART_ROWS 1024u
#define PARTS_MAX 2048u

#define RANGE_ROWS 65536u

/* So many rows, or fewer, are selected by a heap, which fits the caches. */
#define HEAP_ROWS 16384u

static int compare_term(const struct sort_term *term, uint64_t a, uint64_t b)
{
    const bool a_null = sort_term_null(term, a), b_null = sort_term_null(term, b);
    if (a_null || b_null)
        return a_null == b_null ? 0 : a_null == term->nulls_first ? -1 : 1;
    const int64_t x = sort_term_value(term, a), y = sort_term_value(term, b);
    const int result = (x > y) - (x < y);
    return term->descending ? -result : result;
}

int sort_rows_compare(const void *left, const void *right, const void *context)
{
    const struct ordering *ordering = context;
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    for (uint32_t t = 0; t < ordering->count; t++) {
        const int result = compare_term(&ordering->terms[t], a, b);
        if (result)
            return result;
    }
    return (a > b) - (a < b);
}

/* ---- The first rows ---- */

/* Restores the heap places[0 .. count-1], whose last row in order is first, after a change of places[at]. */
static void sift(uint64_t *places, uint64_t count, uint64_t at, const struct ordering *ordering)
{
    const uint64_t moved = places[at];
    for (uint64_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && sort_rows_compare(&places[child + 1], &places[child], ordering) > 0)
            child++;
        if (sort_rows_compare(&places[child], &moved, ordering) <= 0)
            break;
        places[at] = places[child];
        at = child;
    }
    places[at] = moved;
}

/* Gives the first `count` rows in order. Most other rows take one comparison. */
static void select_first(uint64_t *places, uint64_t count, const struct ordering *ordering)
{
    for (uint64_t at = count / 2; at-- > 0;)
        sift(places, count, at, ordering);
    for (uint64_t row = count; row < ordering->rows; row++) {
        if (sort_rows_compare(&row, &places[0], ordering) >= 0)
            continue;
        places[0] = row;
        sift(places, count, 0, ordering);
    }
    sort_items(places, count, sizeof *places, sort_rows_compare, ordering);
}

/* ---- Ranks ---- */

static unsigned bits_of(uint64_t number)
{
    return number ? 64 - (unsigned)__builtin_clzll(number) : 0;
}

struct finding {
    const struct ordering *ordering;
    uint32_t term;
    struct range *ranges; /* of the term in each RANGE_ROWS rows */
};

static enum status find_range(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct finding *finding = context;
    const struct sort_term *term = &finding->ordering->terms[finding->term];
    const uint64_t begin = item * RANGE_ROWS, left = finding->ordering->rows - begin,
                   end = begin + (left < RANGE_ROWS ? left : RANGE_ROWS);
    struct range range = {INT64_MAX, INT64_MIN};
    (void)thread;
    for (uint64_t row = begin; row < end; row++) {
        const int64_t value = sort_term_value(term, row);
        if (sort_term_null(term, row))
            continue;
        range.low = value < range.low ? value : range.low;
        range.high = value > range.high ? value : range.high;
    }
    finding->ranges[item] = range;
    return cancel_check(error);
}

static enum status range_of(const struct ordering *ordering, uint32_t term, unsigned threads,
                            struct range *range, struct error *error)
{
    const uint64_t items = (ordering->rows + RANGE_ROWS - 1) / RANGE_ROWS;
    struct finding finding = {.ordering = ordering, .term = term};
    RETURN_IF_ERROR(memory_take(&finding.ranges, items * sizeof *finding.ranges, "an answer's order", error));
    const enum status status = parallel_for(threads, items, find_range, &finding, error);
    *range = (struct range){INT64_MAX, INT64_MIN};
    for (uint64_t i = 0; status == STATUS_OK && i < items; i++) {
        range->low = finding.ranges[i].low < range->low ? finding.ranges[i].low : range->low;
        range->high = finding.ranges[i].high > range->high ? finding.ranges[i].high : range->high;
    }
    free(finding.ranges);
    if (range->low > range->high)
        *range = (struct range){0, 0}; /* all are NULL */
    return status;
}

/* Adds terms to the rank until its 64 bits are full. */
enum status sort_ranking_make(const struct ordering *ordering, unsigned threads, struct ranking *ranking,
                              struct error *error)
{
    *ranking = (struct ranking){.ordering = ordering, .exact = true};
    RETURN_IF_ERROR(memory_zeros(&ranking->parts, (ordering->count + 1) * sizeof *ranking->parts,
                                 "an answer's order", error));
    for (uint32_t t = 0; t < ranking->ordering->count && ranking->bits < 64; t++) {
        const struct sort_term *term = &ranking->ordering->terms[t];
        struct rank_part *const part = &ranking->parts[t];
        RETURN_IF_ERROR(range_of(ranking->ordering, t, threads, &part->range, error));
        const uint64_t span = (uint64_t)part->range.high - (uint64_t)part->range.low;
        if (sort_term_nullable(term) && span == UINT64_MAX) { /* no code is left for NULL */
            ranking->exact = false;
            return STATUS_OK;
        }
        part->first = sort_term_nullable(term) && term->nulls_first;
        part->null = term->nulls_first ? 0 : span + 1;
        const unsigned bits = bits_of(span + sort_term_nullable(term)), room = 64 - ranking->bits;
        part->cut = bits > room ? bits - room : 0;
        part->bits = bits - part->cut;
        ranking->bits += part->bits;
        ranking->count = t + 1;
        ranking->exact = part->cut == 0;
    }
    ranking->exact &= ranking->count == ranking->ordering->count;
    return STATUS_OK;
}

/* ---- Sorting ---- */

struct sorting {
    struct ranking ranking;
    unsigned shift; /* a row's part is its rank without so many bits */
    struct deal deal;
    struct ranked **scratch; /* of each thread: `room` rows, twice */
    uint64_t *room;
};

static uint32_t part_of(const void *context, uint64_t row)
{
    const struct sorting *sorting = context;
    return sorting->shift < 64 ? (uint32_t)(sort_rank_of(&sorting->ranking, row) >> sorting->shift) : 0;
}

struct ranked *sort_ranked(struct ranked *rows, struct ranked *other, uint64_t count, unsigned bits)
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

/* Sorts the rows of each rank by all terms. */
static void sort_equals(const struct ordering *ordering, const struct ranked *ranked, uint64_t count,
                        uint64_t *rows)
{
    for (uint64_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && ranked[end].rank == ranked[begin].rank;)
            end++;
        if (end - begin > 1)
            sort_items(rows + begin, end - begin, sizeof *rows, sort_rows_compare, ordering);
    }
}

static enum status sort_part(void *context, uint64_t part, unsigned thread, struct error *error)
{
    struct sorting *const sorting = context;
    const uint64_t first = sorting->deal.start[part], count = sorting->deal.start[part + 1] - first;
    uint64_t *const rows = sorting->deal.order + first;
    if (count < 2)
        return STATUS_OK;
    if (count > sorting->room[thread]) {
        sorting->room[thread] = count < 2 * PART_ROWS ? 2 * PART_ROWS : count;
        RETURN_IF_ERROR(spillable_grow(&sorting->scratch[thread],
                                       2 * sorting->room[thread] * sizeof **sorting->scratch,
                                       "an answer's order", error));
    }
    struct ranked *ranked = sorting->scratch[thread];
    for (uint64_t i = 0; i < count; i++)
        ranked[i] = (struct ranked){sort_rank_of(&sorting->ranking, rows[i]), rows[i]};
    ranked = sort_ranked(ranked, ranked + sorting->room[thread], count,
                         sorting->shift < 64 ? sorting->shift : sorting->ranking.bits);
    for (uint64_t i = 0; i < count; i++)
        rows[i] = ranked[i].row;
    if (!sorting->ranking.exact)
        sort_equals(sorting->ranking.ordering, ranked, count, rows);
    return cancel_check(error);
}

static enum status sort_rows(const struct ordering *ordering, struct sorting *sorting, unsigned threads,
                             struct error *error)
{
    RETURN_IF_ERROR(sort_ranking_make(ordering, threads, &sorting->ranking, error));
    RETURN_IF_ERROR(
        memory_zeros(&sorting->scratch, threads * sizeof *sorting->scratch, "an answer's order", error));
    RETURN_IF_ERROR(
        memory_zeros(&sorting->room, threads * sizeof *sorting->room, "an answer's order", error));
    unsigned bits = 0;
    while (bits < sorting->ranking.bits && (1u << bits) < PARTS_MAX && ordering->rows >> bits > PART_ROWS)
        bits++;
    sorting->shift = bits ? sorting->ranking.bits - bits : 64;
    RETURN_IF_ERROR(deal_make(ordering->rows, 1u << bits, threads, part_of, sorting, &sorting->deal, error));
    return parallel_for(threads, 1u << bits, sort_part, sorting, error);
}

static enum status order_all(const struct ordering *ordering, unsigned threads, uint64_t **places,
                             struct error *error)
{
    struct sorting sorting = {0};
    const enum status status = sort_rows(ordering, &sorting, threads, error);
    if (status == STATUS_OK) {
        *places = sorting.deal.order;
        sorting.deal.order = NULL;
    }
    deal_free(&sorting.deal);
    for (unsigned t = 0; sorting.scratch && t < threads; t++)
        spillable_free(sorting.scratch[t]);
    free(sorting.scratch);
    free(sorting.room);
    free(sorting.ranking.parts);
    return status;
}

/* Whether the account has what order_all takes of rows. */
static bool fits(uint64_t rows)
{
    struct memory_charge charge = {0};
    const struct memory_account *const account = execution_memory();
    const bool fitting = !account || memory_charge_try(&charge, rows * 12, account->limit / 2);
    memory_charge_drop(&charge);
    return fitting;
}

enum status sort_rows_make(const struct sort_term *terms, uint32_t count, uint64_t rows, uint64_t wanted,
                           const struct sort_moved *moved, unsigned threads, uint64_t **places,
                           struct error *error)
{
    const struct ordering ordering = {.terms = terms, .count = count, .rows = rows};
    threads = threads ? threads : parallel_threads_available();
    wanted = wanted < rows ? wanted : rows;
    if (rows >= RADIX_ROWS && (wanted > rows / 8 || wanted > HEAP_ROWS))
        return fits(rows) ? order_all(&ordering, threads, places, error)
                          : sort_runs(&ordering, moved, threads, places, error);
    RETURN_IF_ERROR(spillable_rows(places, (wanted + 1) * sizeof **places, "an answer's order", error));
    for (uint64_t row = 0; row < wanted; row++)
        (*places)[row] = row;
    if (wanted)
        select_first(*places, wanted, &ordering);
    return STATUS_OK;
}
