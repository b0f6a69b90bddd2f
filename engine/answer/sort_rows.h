/*
 * sort_rows.h: puts the rows of an answer in order, on all threads.
 *
 * The terms of the order are packed into one number of 64 bits, the rank, each with as many bits as its values have; rows
 * are sorted by radix: rows are dealt to parts by the leading bits of their ranks, and each part is sorted alone. Terms
 * that do not fit are compared one by one, where ranks are equal. Takes 12 bytes a row beside the result, which are
 * spillable as it is; a million rows take 20 to 40 ms of one thread.
 */
#ifndef TESSERA_ENGINE_ANSWER_SORT_ROWS_H
#define TESSERA_ENGINE_ANSWER_SORT_ROWS_H

#include "storage/base/status.h"

#include <stdbool.h>
#include <stdint.h>

/* Row r's value is values[at], or small[at] if `values` is NULL; at is r, or through[r]. */
struct sort_term {
    const int64_t *values;
    const uint32_t *small;
    const uint8_t *nulls; /* 1: NULL; it may be NULL itself */
    const uint64_t *through;
    bool descending, nulls_first;
};

/* Gives the first `wanted` of the rows 0 .. rows-1 in order; rows that are equal in all terms are in the order of their
 * numbers. *places is spillable. */
NODISCARD enum status sort_rows_make(const struct sort_term *terms, uint32_t count, uint64_t rows,
                                     uint64_t wanted, unsigned threads, uint64_t **places,
                                     struct error *error);

#endif
