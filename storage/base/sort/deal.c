/* deal.c: deals items to parts by a counting sort (deal.h): threads count the items of slices by their parts,
 * and then each writes its slices' items to where they belong. */
#include "storage/base/sort/deal.h"

#include "storage/base/execution/spillable.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"

#include <stdlib.h>

#define SLICE_ITEMS (UINT64_C(1) << 16)

struct dealing {
    uint64_t count;
    uint32_t parts;
    deal_part *part;
    const void *context;
    uint32_t *part_of; /* of each item */
    uint64_t *at;      /* for each slice and part: the number of items, then the first one's place */
    uint64_t *order;
};

static uint64_t slice_end(const struct dealing *dealing, uint64_t slice)
{
    const uint64_t end = (slice + 1) * SLICE_ITEMS;
    return end < dealing->count ? end : dealing->count;
}

static enum status count_slice(void *context, uint64_t slice, unsigned thread, struct error *error)
{
    const struct dealing *dealing = context;
    uint64_t *const at = dealing->at + slice * dealing->parts;
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    for (uint64_t item = slice * SLICE_ITEMS; item < slice_end(dealing, slice); item++)
        at[dealing->part_of[item] = dealing->part(dealing->context, item)]++;
    return STATUS_OK;
}

static enum status place_slice(void *context, uint64_t slice, unsigned thread, struct error *error)
{
    const struct dealing *dealing = context;
    uint64_t *const at = dealing->at + slice * dealing->parts;
    (void)thread;
    (void)error;
    for (uint64_t item = slice * SLICE_ITEMS; item < slice_end(dealing, slice); item++)
        dealing->order[at[dealing->part_of[item]]++] = item;
    return STATUS_OK;
}

static void find_places(const struct dealing *dealing, uint64_t slices, uint64_t *start)
{
    uint64_t place = 0;
    for (uint32_t part = 0; part < dealing->parts; part++) {
        start[part] = place;
        for (uint64_t slice = 0; slice < slices; slice++) {
            uint64_t *const at = &dealing->at[slice * dealing->parts + part];
            const uint64_t items = *at;
            *at = place;
            place += items;
        }
    }
    start[dealing->parts] = place;
}

enum status deal_make(uint64_t count, uint32_t parts, unsigned threads, deal_part *part, const void *context,
                      struct deal *deal, struct error *error)
{
    struct dealing dealing = {.count = count, .parts = parts, .part = part, .context = context};
    const uint64_t slices = (count + SLICE_ITEMS - 1) / SLICE_ITEMS;
    *deal = (struct deal){0};
    enum status status =
        memory_zeros(&deal->start, (parts + UINT64_C(1)) * sizeof *deal->start, "groups", error);
    if (status == STATUS_OK)
        status = spillable_rows(&deal->order, count * sizeof *deal->order, "groups", error);
    if (status == STATUS_OK)
        status = spillable_rows(&dealing.part_of, count * sizeof *dealing.part_of, "groups", error);
    if (status == STATUS_OK)
        status = memory_zeros(&dealing.at, slices * parts * sizeof *dealing.at, "groups", error);
    dealing.order = deal->order;
    if (status == STATUS_OK)
        status = parallel_for(threads, slices, count_slice, &dealing, error);
    if (status == STATUS_OK) {
        find_places(&dealing, slices, deal->start);
        status = parallel_for(threads, slices, place_slice, &dealing, error);
    }
    spillable_free(dealing.part_of);
    free(dealing.at);
    return status;
}

void deal_free(struct deal *deal)
{
    spillable_free(deal->order);
    free(deal->start);
    *deal = (struct deal){0};
}
