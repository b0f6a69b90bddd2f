/*
 * dictionary_builder.h: the distinct strings of a column, first in order of arrival, then sorted.
 *
 * While rows come in, every string gets a code, new ones the next number. At the end the strings are sorted
 * by bytes, and a table says which sorted code each early code became. Threads have a builder each and add
 * them together at the end, so that none waits for another. Up to 2^31 - 1 strings (codes are int32); memory
 * is the strings plus at most 32 bytes for each.
 */
#ifndef TESSERA_LOADER_TABLE_DICTIONARY_BUILDER_H
#define TESSERA_LOADER_TABLE_DICTIONARY_BUILDER_H

#include "storage/database/database.h"
#include "storage/base/status.h"

#include <stdint.h>

struct dictionary_builder;

NODISCARD enum status dictionary_builder_create(struct dictionary_builder **builder, struct error *error);
void dictionary_builder_destroy(struct dictionary_builder *builder);

uint32_t dictionary_builder_count(const struct dictionary_builder *builder);

/* The code of the string, which is copied if it is new. */
NODISCARD enum status dictionary_builder_add(struct dictionary_builder *builder, const char *string,
                                             uint32_t length, int32_t *code, struct error *error);

/* The code of the string, or -1. Safe from many threads while none adds. */
int32_t dictionary_builder_find(const struct dictionary_builder *builder, const char *string,
                                uint32_t length);

/* Adds all strings of `from`; codes[c] becomes the code here of code c there (room for its count). */
NODISCARD enum status dictionary_builder_merge(struct dictionary_builder *builder,
                                               const struct dictionary_builder *from, int32_t *codes,
                                               struct error *error);

/* Sorts. *dictionary points into the builder, as long as it lives; codes given so far become sorted[code]. No
 * string may be added afterwards, and dictionary_builder_find gives the sorted codes. */
NODISCARD enum status dictionary_builder_sort(struct dictionary_builder *builder,
                                              struct dictionary *dictionary, const int32_t **sorted,
                                              struct error *error);

#endif
