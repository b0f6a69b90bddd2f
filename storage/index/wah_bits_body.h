/*
 * wah_bits_body.h: the functions of wah_bits.h, written once. wah.c and wah32.c include it after wah_body.h, and
 * have defined OR_RANGE_BITS, too: the function of wah_range.h for this machine.
 */
#include "storage/index/wah_bits.h"

/* Where `piece` begins in a vector. */
static struct wah_start piece_start(struct WAH(vector) vector, const struct wah_start *directory,
                                    uint64_t piece)
{
    const uint64_t first = piece * WAH_PIECE_GROUPS;
    uint64_t done = 0;
    if (directory)
        return directory[piece];
    for (uint64_t w = 0; w < vector.count; w++) {
        const WORD word = vector.words[w];
        const uint64_t next = done + (word & FILL ? word & LENGTH : 1);
        if (first < next)
            return (struct wah_start){(uint32_t)w, (uint32_t)(first - done)};
        done = next;
    }
    return (struct wah_start){(uint32_t)vector.count, 0};
}

enum status WAH(or_bits)(const struct WAH(vector) * vectors, const struct wah_start *const *directories,
                         uint64_t count, const struct wah_bits_part *part, uint64_t *bits,
                         struct error *error)
{
    const uint64_t groups = WAH(groups)(part->rows) - part->first * WAH_PIECE_GROUPS;
    struct WAH(cursor) *cursors = NULL;
    uint32_t *heads = NULL;
    enum status status = memory_take(&cursors, count * sizeof *cursors, "the vectors of an index", error);
    if (status == STATUS_OK)
        status = memory_take(&heads, part->pieces * sizeof *heads, "the pieces of an index", error);
    for (uint64_t v = 0; v < count && status == STATUS_OK; v++) {
        const struct WAH(vector) vector = vectors[v];
        const struct wah_start start = piece_start(vector, directories[v], part->first);
        cursors[v] = (struct WAH(cursor)){.next = vector.words + start.word,
                                          .end = vector.words + vector.count,
                                          .at = -(int64_t)start.skip};
    }
    if (status == STATUS_OK)
        OR_RANGE_BITS(cursors, count, min_of(groups, part->pieces * WAH_PIECE_GROUPS), heads, part->narrow,
                      bits, part->words);
    free(heads);
    free(cursors);
    return status;
}
