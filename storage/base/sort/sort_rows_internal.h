/* sort_rows_internal.h: ranks of rows, which sorts in memory (sort_rows.c) and by runs (sort_runs.c) share. */
#ifndef TESSERA_STORAGE_BASE_SORT_SORT_ROWS_INTERNAL_H
#define TESSERA_STORAGE_BASE_SORT_SORT_ROWS_INTERNAL_H

#include "storage/base/parallel.h"
#include "storage/base/sort/sort_rows.h"

struct ordering {
    const struct sort_term *terms;
    uint32_t count;
    uint64_t rows;
};

/* What a term adds to the rank: its code, without the last `cut` bits, in `bits` bits. */
struct range {
    int64_t low, high;
};

struct rank_part {
    struct range range;
    unsigned bits, cut;
    uint64_t null;  /* the code of NULL */
    uint64_t first; /* the code of the first value */
};

struct ranking {
    const struct ordering *ordering;
    struct rank_part *parts;
    uint32_t count; /* of terms that are in the rank; the last one may be cut */
    unsigned bits;  /* of a rank */
    bool exact;     /* rows of equal ranks are equal in all terms */
};

struct ranked {
    uint64_t rank, row;
};

static inline int64_t sort_term_value(const struct sort_term *term, uint64_t row)
{
    const uint64_t at = term->through ? term->through[row] : row;
    return term->values ? term->values[at] : term->small ? (int64_t)term->small[at] : term->narrow[at];
}

static inline bool sort_term_nullable(const struct sort_term *term)
{
    return term->nulls || term->validity;
}

static inline bool sort_term_null(const struct sort_term *term, uint64_t row)
{
    const uint64_t at = term->through ? term->through[row] : row;
    return (term->nulls && term->nulls[at]) || (term->validity && !(term->validity[at / 64] >> at % 64 & 1));
}

static inline uint64_t sort_rank_of(const struct ranking *ranking, uint64_t row)
{
    uint64_t rank = 0;
    for (uint32_t t = 0; t < ranking->count; t++) {
        const struct sort_term *term = &ranking->ordering->terms[t];
        const struct rank_part *part = &ranking->parts[t];
        const uint64_t value = (uint64_t)sort_term_value(term, row);
        const uint64_t code = sort_term_null(term, row) ? part->null
                              : term->descending        ? part->first + ((uint64_t)part->range.high - value)
                                                        : part->first + (value - (uint64_t)part->range.low);
        rank = (part->bits < 64 ? rank << part->bits : 0) | code >> part->cut;
    }
    return rank;
}

/* Packs as many terms into ranks as fit. Free ranking->parts, also after an error. */
NODISCARD enum status sort_ranking_make(const struct ordering *ordering, unsigned threads,
                                        struct ranking *ranking, struct error *error);

/* Compares rows, whose numbers `left` and `right` point to; `context` is the ordering. */
int sort_rows_compare(const void *left, const void *right, const void *context);

/* Sorts rows by the low `bits` bits of their ranks, from the lowest digit on. Returns where they are: in `rows` or in
 * `other`. */
struct ranked *sort_ranked(struct ranked *rows, struct ranked *other, uint64_t count, unsigned bits);

/* Gives all rows in order, as sort_rows_make does, by runs that are sorted one by one and merged. */
NODISCARD enum status sort_runs(const struct ordering *ordering, const struct sort_moved *moved,
                                unsigned threads, uint64_t **places, struct error *error);

#endif
