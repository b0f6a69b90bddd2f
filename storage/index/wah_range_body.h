/*
 * wah_range_body.h: the OR of many vectors within a range of pieces, written once for both sizes of words. wah_range.c
 * and wah_range32.c include it, with the names that wah_body.h needs.
 *
 * A piece of 1024 groups is OR-ed in the first-level cache. Vectors wait in the list of the piece in which they have
 * their next word that is not a fill of zeros, so a piece costs nothing for the others; and under a long fill of ones
 * all wait for its end. Within a piece, eight literals are OR-ed at once. Other words take no branch but for fills of
 * ones, because fills and literals come in an order that no processor can predict.
 */
#include "storage/index/wah_put.h"
#include "storage/index/wah_range.h"

#include <string.h>

#define PIECE_GROUPS WAH_PIECE_GROUPS
#define STRIDE       8u  /* words that are looked at together */
#define BLOCK        64u /* groups that are compressed together: a bit each */

struct range {
    struct WAH(cursor) * cursors;
    uint32_t *heads; /* of each piece: the first vector that has something in it */
    uint64_t groups;
    uint64_t ones_end; /* all groups from the current piece's first up to here are ones */
    WORD *out;
    uint64_t words;
    WORD piece[PIECE_GROUPS]; /* zeros between pieces */
};

static inline void put(struct range *range, WORD bits, uint64_t groups)
{
    range->words = put_run(range->out, range->words, bits, groups);
}

static inline uint64_t length_of(WORD word)
{
    return word & FILL ? word & LENGTH : 1;
}

static inline void note_ones(struct range *range, uint64_t end)
{
    range->ones_end = range->ones_end > end ? range->ones_end : end;
}

/* Passes the words that end at or before group `first`. */
static inline void catch_up(struct WAH(cursor) * cursor, uint64_t first)
{
    while (cursor->at < (int64_t)first) {
        const int64_t end = cursor->at + (int64_t)length_of(*cursor->next);
        if (end > (int64_t)first)
            return;
        cursor->at = end;
        cursor->next++;
    }
}

/* ---- A piece in which one vector has something ---- */

static void copy_piece(struct range *range, struct WAH(cursor) * cursor, uint64_t first, uint64_t end)
{
    const WORD *next = cursor->next;
    int64_t at = cursor->at;
    uint64_t done = at > (int64_t)first ? (uint64_t)at : first;
    put(range, 0, done - first);
    for (; done < end; next++) {
        const WORD word = *next;
        if (!(word & FILL)) {
            range->out[range->words++] = word;
            done++;
            at++;
            continue;
        }
        at += (int64_t)(word & LENGTH);
        if (word & ONES)
            note_ones(range, (uint64_t)at);
        put(range, word & ONES ? FULL : 0, min_of((uint64_t)at, end) - done);
        done = (uint64_t)at;
    }
    cursor->next = next;
    cursor->at = at;
}

/* ---- A piece of several vectors ---- */

static inline void paint_ones(struct range *range, uint64_t begin, uint64_t end)
{
    for (uint64_t g = begin; g < end; g++)
        range->piece[g] = FULL;
}

static void paint(struct range *range, struct WAH(cursor) * cursor, uint64_t first, uint64_t count)
{
    WORD *const piece = range->piece;
    const WORD *next = cursor->next, *const end = cursor->end;
    uint64_t at = 0;
    if (cursor->at < (int64_t)first) { /* a fill that began in an earlier piece */
        at = (uint64_t)(cursor->at + (int64_t)(*next & LENGTH)) - first;
        if (*next++ & ONES) {
            paint_ones(range, 0, min_of(at, count));
            note_ones(range, first + at);
        }
    } else {
        at = (uint64_t)cursor->at - first;
    }
    while (at < count) {
        if (end - next >= STRIDE && at + STRIDE <= count) {
            WORD any = 0;
            for (uint32_t i = 0; i < STRIDE; i++)
                any |= next[i];
            if (!(any & FILL)) {
                for (uint32_t i = 0; i < STRIDE; i++)
                    piece[at + i] |= next[i];
                at += STRIDE;
                next += STRIDE;
                continue;
            }
        }
        for (uint32_t i = 0; i < STRIDE && at < count; i++) {
            const WORD word = *next++;
            const bool fill = word & FILL;
            if (word >= (FILL | ONES)) {
                paint_ones(range, at, min_of(at + (word & LENGTH), count));
                note_ones(range, first + at + (word & LENGTH));
            }
            piece[at] |= fill ? 0 : word;
            at += fill ? word & LENGTH : 1;
        }
    }
    cursor->next = next;
    cursor->at = (int64_t)(first + at);
}

/* Appends a block's groups, of which bit g of `zeros` and `ones` tells that group g is all zeros or ones. */
static inline void put_block(struct range *range, const WORD *block, uint64_t zeros, uint64_t ones,
                             uint32_t count)
{
    for (uint32_t g = 0; g < count;) {
        const uint64_t others = (zeros >> g & 1 ? ~zeros : ones >> g & 1 ? ~ones : zeros | ones) >> g;
        const uint32_t groups =
            (uint32_t)min_of(others ? (uint64_t)__builtin_ctzll(others) : BLOCK, count - g);
        if ((zeros | ones) >> g & 1) {
            put(range, block[g], groups);
        } else {
            memcpy(range->out + range->words, block + g, groups * sizeof *block);
            range->words += groups;
        }
        g += groups;
    }
}

/* Compresses the piece and makes it zeros. */
static void put_piece(struct range *range, uint64_t count)
{
    for (uint64_t first = 0; first < count; first += BLOCK) {
        WORD *const block = range->piece + first;
        uint64_t zeros = 0, ones = 0;
        for (uint32_t g = 0; g < BLOCK; g++) {
            zeros |= (uint64_t)(block[g] == 0) << g;
            ones |= (uint64_t)(block[g] == FULL) << g;
        }
        put_block(range, block, zeros, ones, (uint32_t)min_of(BLOCK, count - first));
        memset(block, 0, BLOCK * sizeof *block);
    }
}

/* ---- The range ---- */

static inline void wait_for(struct range *range, uint32_t v)
{
    const uint64_t at = range->cursors[v].at < 0 ? 0 : (uint64_t)range->cursors[v].at;
    if (at >= range->groups)
        return;
    range->cursors[v].link = range->heads[at / PIECE_GROUPS];
    range->heads[at / PIECE_GROUPS] = v;
}

/* A run of ones from piece `p` on: those that wait in its pieces wait for the piece of its end, which is returned. */
static uint64_t pass_ones(struct range *range, uint64_t p)
{
    const uint64_t first = p * PIECE_GROUPS, end = range->ones_end;
    const bool all = end >= range->groups;
    const uint64_t last = all ? (range->groups + PIECE_GROUPS - 1) / PIECE_GROUPS : end / PIECE_GROUPS;
    put(range, FULL, (all ? range->groups : last * PIECE_GROUPS) - first);
    for (; p < last && !all; p++)
        for (uint32_t v = range->heads[p], link; v != WAH_NO_VECTOR; v = link) {
            link = range->cursors[v].link;
            range->cursors[v].link = range->heads[last];
            range->heads[last] = v;
        }
    return last;
}

static void or_piece(struct range *range, uint64_t p, uint64_t first, uint64_t end)
{
    const uint32_t head = range->heads[p];
    const bool alone = range->cursors[head].link == WAH_NO_VECTOR && range->ones_end <= first;
    if (!alone && range->ones_end > first)
        paint_ones(range, 0, range->ones_end - first);
    for (uint32_t v = head, link; v != WAH_NO_VECTOR; v = link) {
        struct WAH(cursor) *const cursor = &range->cursors[v];
        link = cursor->link;
        catch_up(cursor, first);
        if (alone)
            copy_piece(range, cursor, first, end);
        else
            paint(range, cursor, first, end - first);
        wait_for(range, v);
    }
    if (!alone)
        put_piece(range, end - first);
}

static uint64_t or_range(struct WAH(cursor) * cursors, uint64_t count, uint64_t groups, uint32_t *heads,
                         WORD *out)
{
    const uint64_t pieces = (groups + PIECE_GROUPS - 1) / PIECE_GROUPS;
    struct range range = {.cursors = cursors, .heads = heads, .groups = groups, .out = out};
    for (uint64_t p = 0; p < pieces; p++)
        heads[p] = WAH_NO_VECTOR;
    for (uint32_t v = 0; v < count; v++)
        wait_for(&range, v);
    for (uint64_t p = 0; p < pieces;) {
        const uint64_t first = p * PIECE_GROUPS, end = min_of(first + PIECE_GROUPS, groups);
        if (range.ones_end >= end) {
            p = pass_ones(&range, p);
            continue;
        }
        if (heads[p] != WAH_NO_VECTOR) {
            or_piece(&range, p, first, end);
        } else {
            const uint64_t ones = range.ones_end > first ? range.ones_end - first : 0;
            put(&range, FULL, ones);
            put(&range, 0, end - first - ones);
        }
        p++;
    }
    return range.words;
}
