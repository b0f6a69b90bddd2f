/* sort_strings.h: sorts strings by their bytes, on all threads. */
#ifndef TESSERA_STORAGE_BASE_SORT_SORT_STRINGS_H
#define TESSERA_STORAGE_BASE_SORT_SORT_STRINGS_H

#include "storage/base/status.h"

#include <stdint.h>

struct piece {
    const char *text;
    uint32_t length;
    uint32_t number;
};

/* By bytes, the shorter first if it is the beginning of the other. */
int piece_compare(const struct piece *a, const struct piece *b);

/* Sorts pieces; the order of equal ones is any. Takes 30 ns a piece and thread, and 5 ns if they are in order, or if they
 * are two parts that are. `threads` 0: all available. */
NODISCARD enum status pieces_sort(struct piece *pieces, uint64_t count, unsigned threads,
                                  struct error *error);

#endif
