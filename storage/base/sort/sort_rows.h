/*
 * sort_rows.h: puts rows of columns in order, on all threads.
 *
 * The terms of the order are packed into one number, the rank, each with as many bits as its values have; rows are sorted
 * by radix (sort_radix.c): they are dealt to parts by the leading bits of their ranks, and each part is sorted alone.
 * Rows that stand in order are left there, and terms in whose order rows stand are in no rank. Takes little beside the result; a million rows take 10 to 20 ms of one thread.
 *
 * If the account of memory refuses these bytes, rows are sorted by runs (sort_runs.c): each run is some thousand to million
 * rows that follow each other, whose ranks are sorted in memory and written to the statement's file; then all runs are
 * merged. Columns, runs and the result are read and written from their beginnings to their ends.
 */
#ifndef TESSERA_STORAGE_BASE_SORT_SORT_ROWS_H
#define TESSERA_STORAGE_BASE_SORT_SORT_ROWS_H

#include "storage/base/status.h"

#include <stdbool.h>
#include <stdint.h>

/* Row r's value is at `at` of the one array of values that is not NULL; at is r, or through[r]. */
struct sort_term {
    const int64_t *values;
    const uint32_t *small;
    const int32_t *narrow;
    const uint8_t *nulls;     /* 1: NULL; it may be NULL itself */
    const uint64_t *validity; /* the same as bits, 0: NULL */
    const uint64_t *through;
    bool descending, nulls_first;
};

/* Columns that belong to the rows, with those of the terms: a run's rows change their places in them, so that whoever takes the
 * rows in order reads each run from its beginning to its end. Other terms must be reached `through` one of them. */
struct sort_moved {
    int64_t **words; /* of `word_count` columns */
    uint8_t **bytes;
    uint32_t word_count, byte_count;
};

/* What begins at a place of the order: SORT_BEGINS if its row differs from the one before in some term, and also
 * SORT_BEGINS_PREFIX if it does in one of the first `prefix` terms. Both begin at the first place. */
enum { SORT_BEGINS = 1, SORT_BEGINS_PREFIX = 2 };
struct sort_marks {
    uint32_t prefix;
    bool may_stand; /* *places may be NULL: all rows stand in order as they are */
    uint8_t *marks; /* of each place */
};

/* Gives the first `wanted` of the rows 0 .. rows-1 in order; rows that are equal in all terms are in the order of their
 * numbers. *places is spillable. `moved` may be NULL; else *places are those that the rows have then. Fills in the marks of
 * these places unless `marks` is NULL. */
NODISCARD enum status sort_rows_make(const struct sort_term *terms, uint32_t count, uint64_t rows,
                                     uint64_t wanted, const struct sort_moved *moved,
                                     const struct sort_marks *marks, unsigned threads, uint64_t **places,
                                     struct error *error);

/* Lists the first row of each set of rows that are alike in the first `prefix` terms, ascending, if it is found without sorting
 * the rows: they stand in the order of these terms, or ranks are short and memory is there; else *list stays NULL. It is
 * spillable, as rows; free it with spillable_free, also after an error. */
NODISCARD enum status sort_first_of_each(const struct sort_term *terms, uint32_t count, uint32_t prefix,
                                         uint64_t rows, unsigned threads, uint64_t **list, uint64_t *found,
                                         struct error *error);

/* Lists the places that have a mark, ascending, and after them `places`; *count is their number. *list is spillable, as
 * what an operator works with or as rows; free it with spillable_free, also after an error. */
enum sort_list { SORT_LIST_WORK, SORT_LIST_ROWS };
NODISCARD enum status sort_marks_list(const uint8_t *marks, uint64_t places, uint8_t marked,
                                      enum sort_list as, unsigned threads, uint64_t **list, uint64_t *count,
                                      struct error *error);

#endif
