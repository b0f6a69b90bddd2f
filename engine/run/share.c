/* share.c: see share.h. The members are kept in a heap, because a table can have a million segments. */
#include "engine/run/share.h"

#include "storage/base/memory.h"

#include <stdlib.h>

struct holder {
    uint64_t rows;
    uint32_t member;
};

static bool is_less(struct holder a, struct holder b)
{
    return a.rows != b.rows ? a.rows < b.rows : a.member < b.member;
}

/* Moves the first one of the heap down to its place. */
static void settle(struct holder *heap, uint32_t count)
{
    const struct holder holder = heap[0];
    uint32_t at = 0;
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && is_less(heap[child + 1], heap[child]))
            child++;
        if (is_less(holder, heap[child]))
            break;
        heap[at] = heap[child];
    }
    heap[at] = holder;
}

enum status share_divide(const struct table *fact, uint32_t members, uint32_t member, uint32_t **segments,
                         uint32_t *count, struct error *error)
{
    struct holder *heap;
    *segments = NULL;
    *count = 0;
    RETURN_IF_ERROR(memory_take(&heap, members * sizeof *heap, "the shares of a table", error));
    for (uint32_t m = 0; m < members; m++)
        heap[m] = (struct holder){.member = m};
    const enum status status =
        memory_take(segments, fact->segment_count * sizeof **segments, "the shares of a table", error);
    for (uint32_t s = 0; status == STATUS_OK && s < fact->segment_count; s++) {
        if (heap[0].member == member)
            (*segments)[(*count)++] = s;
        heap[0].rows += fact->segment_rows[s];
        settle(heap, members);
    }
    free(heap);
    return status;
}
