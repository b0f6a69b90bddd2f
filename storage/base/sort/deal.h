/* deal.h: deals items to parts, on all threads: a sort by few keys. */
#ifndef TESSERA_STORAGE_BASE_SORT_DEAL_H
#define TESSERA_STORAGE_BASE_SORT_DEAL_H

#include "storage/base/status.h"

#include <stdint.h>

/* Items 0 .. count-1 in the order of their parts: the items of part p are order[start[p]] .. order[start[p+1]-1],
 * ascending. `order` is spillable. */
struct deal {
    uint64_t *order, *start;
};

/* The part of an item, less than the deal's `parts`. Called once for each item, on any thread. */
typedef uint32_t deal_part(const void *context, uint64_t item);

/* Takes 12 bytes an item while it runs, and 8 after. Free with deal_free, also after an error. */
NODISCARD enum status deal_make(uint64_t count, uint32_t parts, unsigned threads, deal_part *part,
                                const void *context, struct deal *deal, struct error *error);
void deal_free(struct deal *deal);

#endif
