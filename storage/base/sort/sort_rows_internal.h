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

/* What a term adds to the rank: its code, in `bits` bits. */
struct range {
    int64_t low, high;
};

struct rank_part {
    struct range range;
    unsigned bits;
    uint64_t null;  /* the code of NULL */
    uint64_t first; /* the code of the first value */
};

/* A row's rank is a number of any length: the codes of the terms, the first term's in its highest bits. */
struct ranking {
    const struct ordering *ordering;
    struct rank_part *parts;
    uint32_t count; /* of terms that are in the rank */
    unsigned bits;  /* of a rank */
    bool exact;     /* rows of equal ranks are equal in all terms, or stand in their order */
    /* The last terms are in no rank, because the rows stand in their order (sort_ranking_cut); no two rows are alike in
     * these. */
    bool cut, distinct;
};

/* A row, and the highest 64 bits of its rank. */
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

/* ---- sort_rank.c, sort_standing.c ---- */

/* Finds the range of each term. Free ranking->parts, also after an error. */
NODISCARD enum status sort_ranking_make(const struct ordering *ordering, unsigned threads,
                                        struct ranking *ranking, struct error *error);

/* Leaves out the longest suffix of the terms in whose order all rows stand, but none of the marks' prefix alone. If it is
 * all terms, no bit is left, and the marks of the first `marked` places are filled in. */
NODISCARD enum status sort_ranking_cut(struct ranking *ranking, const struct sort_marks *marks,
                                       uint64_t marked, unsigned threads, struct error *error);

/* Gives the bits from .. to - 1, at most 64, of the ranks of `count` rows; bit 0 is the highest of a rank. The rows are
 * rows[0 .. count - 1], or `first` and those after it if that is NULL. */
void sort_ranks_of(const struct ranking *ranking, unsigned from, unsigned to, const uint64_t *rows,
                   uint64_t first, uint64_t count, uint64_t *ranks);

/* Fetches what the bits of a row's rank from `from` on are made of, some rows before they are wanted. */
void sort_ranks_fetch(const struct ranking *ranking, unsigned from, uint64_t row);

/* ---- sort_rows.c ---- */

/* Compares rows, whose numbers `left` and `right` point to; `context` is the ordering. */
int sort_rows_compare(const void *left, const void *right, const void *context);

/* Whether the account of memory has what sort_radix takes of rows. */
bool sort_rows_fit(uint64_t rows);

/* What begins at a row that stands after another one. */
uint8_t sort_rows_mark(const struct ordering *ordering, uint32_t prefix, uint64_t before, uint64_t row);
/* The same of all places, by comparing their rows. */
NODISCARD enum status sort_rows_mark_all(const struct ordering *ordering, const uint64_t *places,
                                         uint64_t count, unsigned threads, const struct sort_marks *marks,
                                         struct error *error);

/* ---- sort_radix.c, sort_runs.c: as sort_rows_make ---- */

NODISCARD enum status sort_radix(const struct ordering *ordering, uint64_t wanted,
                                 const struct sort_marks *marks, unsigned threads, uint64_t **places,
                                 struct error *error);

/* Sets kept[row] of the first row of each set of rows whose ranks have the same first `prefix` bits. May not if these bits and
 * a row do not fit a word, or most of the bits' numbers have no row. */
bool sort_radix_may_find_first(const struct ranking *ranking, unsigned prefix);
NODISCARD enum status sort_radix_first(const struct ranking *ranking, unsigned prefix, unsigned threads,
                                       uint8_t *kept, struct error *error);

/* Gives all rows in order, as sort_rows_make does, by runs that are sorted one by one and merged. */
NODISCARD enum status sort_runs(const struct ordering *ordering, const struct sort_moved *moved,
                                unsigned threads, uint64_t **places, struct error *error);

#endif
