/*
 * list_sets.h: posting lists on one thread of the processor: d-gaps to documents, and AND and OR of ascending documents. Each gives the
 * number of documents that it wrote.
 */
#ifndef TESSERA_LAB_LISTS_LIST_SETS_H
#define TESSERA_LAB_LISTS_LIST_SETS_H

#include <stdint.h>

/* The first gap is the first document and 1. */
void list_sum(const uint32_t *gaps, uint32_t count, uint32_t *documents);

/* Looks the documents of `few` up in `many` by galloping from one to the next. `out` has room for few_count, and may be `few`. */
uint32_t list_and(const uint32_t *few, uint32_t few_count, const uint32_t *many, uint32_t many_count,
                  uint32_t *out);

/* Merges; `out` has room for all and overlaps neither. */
uint32_t list_or(const uint32_t *a, uint32_t a_count, const uint32_t *b, uint32_t b_count, uint32_t *out);

#endif
