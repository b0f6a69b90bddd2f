/*
 * dictionary_builder.h: collects the distinct strings of a column, first in order of arrival, then sorted.
 *
 * While rows are read, every new string gets the next number as its code. At the end the strings are sorted
 * by bytes, and a table gives the sorted code of each early code. Each thread has its own builder, and
 * builders are merged at the end, so no thread waits for another. A builder holds up to 2^31 - 1 strings
 * (codes are int32). It needs memory for the strings, and at most 48 bytes more for each.
 */
#ifndef TESSERA_STORAGE_COLUMN_DICTIONARY_DICTIONARY_BUILDER_H
#define TESSERA_STORAGE_COLUMN_DICTIONARY_DICTIONARY_BUILDER_H

#include "storage/column/column.h"
#include "storage/base/status.h"

#include <stdint.h>

struct dictionary_builder;

NODISCARD enum status dictionary_builder_create(struct dictionary_builder **builder, struct error *error);
void dictionary_builder_destroy(struct dictionary_builder *builder);

uint32_t dictionary_builder_count(const struct dictionary_builder *builder);

/* Gives the code of the string; a new string is copied. */
NODISCARD enum status dictionary_builder_add(struct dictionary_builder *builder, const char *string,
                                             uint32_t length, int32_t *code, struct error *error);

#define DICTIONARY_PREFETCH 32u

/* Brings what adding or finding these strings reads into the caches, if there are so many that it may not be there; up
 * to DICTIONARY_PREFETCH strings. The waits for memory then overlap. */
void dictionary_builder_prefetch(const struct dictionary_builder *builder, const char *const *strings,
                                 const uint32_t *lengths, uint32_t count);

/* The string of a code; it stays where it is until a string is added. */
const char *dictionary_builder_string(const struct dictionary_builder *builder, int32_t code,
                                      uint32_t *length);

/* The code of the string, or -1. Many threads may call it while none adds strings. */
int32_t dictionary_builder_find(const struct dictionary_builder *builder, const char *string,
                                uint32_t length);

/* Adds all strings of `from`. codes[c] gets this builder's code for code c of `from`; it has room for its
 * count. */
NODISCARD enum status dictionary_builder_merge(struct dictionary_builder *builder,
                                               const struct dictionary_builder *from, int32_t *codes,
                                               struct error *error);

/* Sorts the strings. *dictionary points into the builder and lives as long as it. An early code becomes
 * sorted[code]. After this no string may be added, and dictionary_builder_find gives sorted codes. */
NODISCARD enum status dictionary_builder_sort(struct dictionary_builder *builder,
                                              struct dictionary *dictionary, const int32_t **sorted,
                                              struct error *error);

#endif
