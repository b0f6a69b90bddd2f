/*
 * wah_range_bits.h: the OR of many vectors within a range of pieces as flat bits; wah_range.c and wah_range32.c include
 * it after wah_range_body.h, whose cursors and lists it uses.
 */
#define PIECE_WORDS (PIECE_GROUPS * GROUP_ROWS / 64)
#define PACK_GROUPS 64u /* have GROUP_ROWS words */

/* Shifts the groups of 63 or 31 bits together. */
static inline void pack_groups(const WORD *restrict groups, uint64_t *restrict bits)
{
    if (sizeof *groups == 8) {
        for (uint32_t w = 0; w < 63; w++)
            bits[w] = (uint64_t)groups[w] >> w | (uint64_t)groups[w + 1] << (63 - w);
        return;
    }
    uint64_t pairs[PACK_GROUPS / 2];
    for (uint32_t p = 0; p < PACK_GROUPS / 2; p++)
        pairs[p] = (uint64_t)groups[2 * p] | (uint64_t)groups[2 * p + 1] << 31;
    for (uint32_t w = 0; w < 31; w++)
        bits[w] = pairs[w] >> 2 * w | pairs[w + 1] << (62 - 2 * w);
}

static inline void put_bits(const uint64_t *restrict from, bool narrow, uint64_t *restrict bits,
                            uint64_t words)
{
    for (uint64_t w = 0; w < words; w++)
        bits[w] = narrow ? bits[w] & from[w] : from[w];
}

/* Decompresses the piece to `words` words, of which there may be fewer than it has, and makes it zeros. */
static void put_piece_bits(struct range *range, bool narrow, uint64_t *bits, uint64_t words)
{
    for (uint64_t w = 0; w < words; w += GROUP_ROWS) {
        WORD *const groups = range->piece + w / GROUP_ROWS * PACK_GROUPS;
        uint64_t packed[GROUP_ROWS];
        pack_groups(groups, packed);
        put_bits(packed, narrow, bits + w, min_of(GROUP_ROWS, words - w));
        for (uint32_t g = 0; g < PACK_GROUPS; g++)
            groups[g] = 0;
    }
}

/* A piece in which every row has the same value. `groups` is what the range still has. */
static void put_same(bool value, uint64_t groups, bool narrow, uint64_t *bits, uint64_t words)
{
    const uint64_t rows = groups * GROUP_ROWS, full = value ? min_of(rows / 64, words) : 0;
    if (!narrow)
        for (uint64_t w = 0; w < full; w++)
            bits[w] = UINT64_MAX;
    if (full == words)
        return;
    const uint64_t last = value ? (UINT64_C(1) << rows % 64) - 1 : 0;
    bits[full] = narrow ? bits[full] & last : last;
    for (uint64_t w = full + 1; w < words; w++)
        bits[w] = 0;
}

static void paint_piece(struct range *range, uint64_t p, uint64_t first, uint64_t end)
{
    if (range->ones_end > first)
        paint_ones(range, 0, range->ones_end - first);
    for (uint32_t v = range->heads[p], link; v != WAH_NO_VECTOR; v = link) {
        struct WAH(cursor) *const cursor = &range->cursors[v];
        link = cursor->link;
        if (link != WAH_NO_VECTOR)
            for (uint32_t i = 0; i < AHEAD_BYTES; i += 64)
                __builtin_prefetch((const char *)range->cursors[link].next + i);
        catch_up(cursor, first);
        paint(range, cursor, first, end - first);
        wait_for(range, v);
    }
}

/* Moves those that wait in a piece of ones to the next one. */
static void pass_piece(struct range *range, uint64_t p, uint64_t pieces)
{
    for (uint32_t v = range->heads[p], link; p + 1 < pieces && v != WAH_NO_VECTOR; v = link) {
        link = range->cursors[v].link;
        range->cursors[v].link = range->heads[p + 1];
        range->heads[p + 1] = v;
    }
}

static void or_range_bits(struct WAH(cursor) * cursors, uint64_t count, uint64_t groups, uint32_t *heads,
                          bool narrow, uint64_t *bits, uint64_t words)
{
    const uint64_t pieces = (groups + PIECE_GROUPS - 1) / PIECE_GROUPS;
    struct range range = {.cursors = cursors, .heads = heads, .groups = groups};
    for (uint64_t p = 0; p < pieces; p++)
        heads[p] = WAH_NO_VECTOR;
    for (uint32_t v = 0; v < count; v++)
        wait_for(&range, v);
    for (uint64_t p = 0; p < pieces; p++, bits += PIECE_WORDS) {
        const uint64_t first = p * PIECE_GROUPS, end = min_of(first + PIECE_GROUPS, groups);
        const uint64_t left = words - p * PIECE_WORDS, here = min_of(PIECE_WORDS, left);
        if (range.ones_end >= end) {
            put_same(true, end - first, narrow, bits, here);
            pass_piece(&range, p, pieces);
        } else if (heads[p] == WAH_NO_VECTOR && range.ones_end <= first) {
            put_same(false, 0, narrow, bits, here);
        } else {
            paint_piece(&range, p, first, end);
            put_piece_bits(&range, narrow, bits, here);
        }
    }
}
