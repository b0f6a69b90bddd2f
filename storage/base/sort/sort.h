/*
 * sort.h: sorts small things in place, by comparing them: a thousand values of a list, the steps of a plan. Takes no memory, so
 * it never fails. Rows of columns are sorted by sort_rows.h, strings by sort_strings.h: both in parallel.
 *
 * Quicksort, and a heap if its pivots are unlucky: at most n log n. Up to SORT_STABLE items
 * are inserted one by one, and equal ones keep their order; of more, the comparison says which of two is first.
 */
#ifndef TESSERA_STORAGE_BASE_SORT_SORT_H
#define TESSERA_STORAGE_BASE_SORT_SORT_H

#include <stddef.h>
#include <stdint.h>

#define SORT_STABLE 64u

/* Less than 0 if `left` comes first, more than 0 if `right` does. */
typedef int sort_compare(const void *left, const void *right, const void *context);

/* Sorts `count` items of `bytes` bytes each. Any number of threads may sort at once. */
void sort_items(void *items, uint64_t count, size_t bytes, sort_compare *compare, const void *context);

/* Sorts numbers, ascending; unsigned ones must be below 2^63. */
void sort_integers(int64_t *values, uint64_t count);
void sort_doubles(double *values, uint64_t count);

/* The same, and keeps one of equal ones; returns how many there are. */
uint64_t sort_distinct(int64_t *values, uint64_t count);

#endif
