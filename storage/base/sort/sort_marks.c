/* sort_marks.c: lists what begins in an order (sort_rows.h), on all threads. */
#include "storage/base/sort/sort_rows.h"

#include "storage/base/execution/spillable.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_PLACES 4096u /* 32 KB of a thread's stack */

struct listing {
    const uint8_t *marks;
    uint64_t places;
    uint8_t marked;
    uint64_t *before; /* how many there are before each block of places */
    uint64_t *list;
};

static uint64_t block_end(const struct listing *listing, uint64_t block)
{
    const uint64_t end = (block + 1) * BLOCK_PLACES;
    return end < listing->places ? end : listing->places;
}

static enum status count_block(void *context, uint64_t block, unsigned thread, struct error *error)
{
    const struct listing *const listing = context;
    uint64_t found = 0;
    (void)thread;
    for (uint64_t at = block * BLOCK_PLACES; at < block_end(listing, block); at++)
        found += (listing->marks[at] & listing->marked) != 0;
    listing->before[block + 1] = found;
    return cancel_check(error);
}

static enum status list_block(void *context, uint64_t block, unsigned thread, struct error *error)
{
    const struct listing *const listing = context;
    uint64_t list[BLOCK_PLACES + 1],
        found = 0; /* beside the common one, so that no branch decides what is written */
    (void)thread;
    for (uint64_t at = block * BLOCK_PLACES; at < block_end(listing, block); at++) {
        list[found] = at;
        found += (listing->marks[at] & listing->marked) != 0;
    }
    memcpy(listing->list + listing->before[block], list, found * sizeof *list);
    return cancel_check(error);
}

enum status sort_marks_list(const uint8_t *marks, uint64_t places, uint8_t marked, enum sort_list as,
                            unsigned threads, uint64_t **list, uint64_t *count, struct error *error)
{
    const uint64_t blocks = (places + BLOCK_PLACES - 1) / BLOCK_PLACES;
    struct listing listing = {.marks = marks, .places = places, .marked = marked};
    *list = NULL;
    RETURN_IF_ERROR(
        memory_zeros(&listing.before, (blocks + 1) * sizeof *listing.before, "an answer's order", error));
    enum status status = parallel_for(threads, blocks, count_block, &listing, error);
    for (uint64_t b = 0; b < blocks; b++)
        listing.before[b + 1] += listing.before[b];
    *count = listing.before[blocks];
    status = AND_THEN(status, (as == SORT_LIST_WORK ? spillable_work : spillable_rows)(
                                  list, (*count + 1) * sizeof **list, "an answer's order", error));
    listing.list = *list;
    status = AND_THEN(status, parallel_for(threads, blocks, list_block, &listing, error));
    if (status == STATUS_OK)
        (*list)[*count] = places;
    free(listing.before);
    return status;
}
