/* sort_rank.c: ranks of rows (sort_rows_internal.h): terms are columns, so that a loop over rows has one term. */
#include "storage/base/sort/sort_rows_internal.h"

#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

#define RANGE_ROWS 65536u

/* ---- Ranges ---- */

static unsigned bits_of(uint64_t number)
{
    return number ? 64 - (unsigned)__builtin_clzll(number) : 0;
}

struct finding {
    const struct ordering *ordering;
    uint32_t term;
    struct range *ranges; /* of the term in each RANGE_ROWS rows */
};

static struct range range_of_values(const int64_t *values, uint64_t count)
{
    struct range range = {INT64_MAX, INT64_MIN};
    for (uint64_t i = 0; i < count; i++) {
        range.low = values[i] < range.low ? values[i] : range.low;
        range.high = values[i] > range.high ? values[i] : range.high;
    }
    return range;
}

static struct range range_of_term(const struct sort_term *term, uint64_t begin, uint64_t end)
{
    struct range range = {INT64_MAX, INT64_MIN};
    for (uint64_t row = begin; row < end; row++) {
        const int64_t value = sort_term_value(term, row);
        if (sort_term_null(term, row))
            continue;
        range.low = value < range.low ? value : range.low;
        range.high = value > range.high ? value : range.high;
    }
    return range;
}

/* True if row r's value is values[r], and none is NULL. */
static bool is_plain(const struct sort_term *term)
{
    return term->values && !term->through && !sort_term_nullable(term);
}

static enum status find_range(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct finding *finding = context;
    const struct sort_term *term = &finding->ordering->terms[finding->term];
    const uint64_t begin = item * RANGE_ROWS, left = finding->ordering->rows - begin,
                   count = left < RANGE_ROWS ? left : RANGE_ROWS;
    (void)thread;
    finding->ranges[item] = is_plain(term) ? range_of_values(term->values + begin, count)
                                           : range_of_term(term, begin, begin + count);
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

enum status sort_ranking_make(const struct ordering *ordering, unsigned threads, struct ranking *ranking,
                              struct error *error)
{
    *ranking = (struct ranking){.ordering = ordering};
    RETURN_IF_ERROR(memory_zeros(&ranking->parts, (ordering->count + 1) * sizeof *ranking->parts,
                                 "an answer's order", error));
    for (uint32_t t = 0; t < ordering->count; t++) {
        const struct sort_term *term = &ordering->terms[t];
        struct rank_part *const part = &ranking->parts[t];
        RETURN_IF_ERROR(range_of(ordering, t, threads, &part->range, error));
        const uint64_t span = (uint64_t)part->range.high - (uint64_t)part->range.low;
        if (sort_term_nullable(term) && span == UINT64_MAX) /* no code is left for NULL */
            return STATUS_OK;
        part->first = sort_term_nullable(term) && term->nulls_first;
        part->null = term->nulls_first ? 0 : span + 1;
        part->bits = bits_of(span + sort_term_nullable(term));
        ranking->bits += part->bits;
        ranking->count = t + 1;
    }
    ranking->exact = true;
    return STATUS_OK;
}

/* ---- Ranks ---- */

/* The bits of a term's code that go into ranks: `kept` of them, without the last `cut`. */
struct slice {
    const struct sort_term *term;
    const struct rank_part *part;
    unsigned kept, cut;
};

static inline uint64_t append(uint64_t rank, uint64_t code, const struct slice *slice)
{
    const uint64_t bits = code >> slice->cut;
    return slice->kept == 64 ? bits : rank << slice->kept | (bits & ((UINT64_C(1) << slice->kept) - 1));
}

/* A descending term's code is that of the complements. */
static void add_plain(const struct slice *slice, const int64_t *values, uint64_t count, uint64_t *ranks)
{
    const uint64_t flip = slice->term->descending ? UINT64_MAX : 0,
                   base = flip ^ (uint64_t)(flip ? slice->part->range.high : slice->part->range.low);
    for (uint64_t i = 0; i < count; i++)
        ranks[i] = append(ranks[i], ((uint64_t)values[i] ^ flip) - base, slice);
}

static void add_any(const struct slice *slice, const uint64_t *rows, uint64_t first, uint64_t count,
                    uint64_t *ranks)
{
    const struct sort_term *const term = slice->term;
    const struct rank_part *const part = slice->part;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t row = rows ? rows[i] : first + i, value = (uint64_t)sort_term_value(term, row);
        const uint64_t code = sort_term_null(term, row) ? part->null
                              : term->descending        ? part->first + ((uint64_t)part->range.high - value)
                                                        : part->first + (value - (uint64_t)part->range.low);
        ranks[i] = append(ranks[i], code, slice);
    }
}

void sort_ranks_of(const struct ranking *ranking, unsigned from, unsigned to, const uint64_t *rows,
                   uint64_t first, uint64_t count, uint64_t *ranks)
{
    unsigned begin = 0;
    memset(ranks, 0, count * sizeof *ranks);
    for (uint32_t t = 0; t < ranking->count && begin < to; t++) {
        const unsigned end = begin + ranking->parts[t].bits, high = begin > from ? begin : from,
                       low = end < to ? end : to;
        const struct slice slice = {&ranking->ordering->terms[t], &ranking->parts[t],
                                    high < low ? low - high : 0, end - low};
        if (slice.kept && !rows && is_plain(slice.term))
            add_plain(&slice, slice.term->values + first, count, ranks);
        else if (slice.kept)
            add_any(&slice, rows, first, count, ranks);
        begin = end;
    }
}

void sort_ranks_fetch(const struct ranking *ranking, unsigned from, uint64_t row)
{
    unsigned end = 0;
    for (uint32_t t = 0; t < ranking->count; t++) {
        const struct sort_term *const term = &ranking->ordering->terms[t];
        end += ranking->parts[t].bits;
        if (end <= from)
            continue;
        if (term->through)
            __builtin_prefetch(&term->through[row]);
        else if (term->values)
            __builtin_prefetch(&term->values[row]);
        else if (term->small)
            __builtin_prefetch(&term->small[row]);
        else
            __builtin_prefetch(&term->narrow[row]);
    }
}
