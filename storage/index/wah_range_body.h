/*
 * wah_range_body.h: the OR of many vectors within a range of pieces, written once for both sizes of words. wah_range.c
 * and wah_range32.c include it, with the names that wah_body.h needs.
 *
 * A piece of 1024 groups is OR-ed in the first-level cache. Vectors wait in the list of the piece in which they have
 * their next word that is not a fill of zeros, so a piece costs nothing for the others; and under a long fill of ones
 * all wait for its end. Within a piece, eight literals are OR-ed at once. Other words take no branch but for fills of
 * ones, because fills and literals come in an order that no processor can predict; except in vectors of few words, where
 * after a fill comes a literal and after a literal, mostly, a fill.
 */
#include "storage/index/wah_put.h"
#include "storage/index/wah_range.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

/* Runs are short: a call of memcpy() or a string instruction, which GCC would make of these loops, takes longer. */
#pragma GCC optimize("no-tree-loop-distribute-patterns")

#define PIECE_GROUPS WAH_PIECE_GROUPS
#define STRIDE       8u   /* words that are looked at together */
#define AHEAD_BYTES  512u /* are fetched of a vector: there are too many for the processor to follow */

/* A vector with fewer words in a piece is sparse: at most every fourth literal or so follows another. As it takes few
 * instructions a word, memory is asked FAR_BYTES ahead, which is as much as a piece, mostly: what is not used in this
 * piece waits in the second-level cache for the next one. */
#define SPARSE_WORDS (PIECE_GROUPS * 3 / 8)
#define FAR_BYTES    2048u

struct range {
    struct WAH(cursor) * cursors;
    uint32_t *heads; /* of each piece: the first vector that has something in it */
    uint64_t groups;
    uint64_t ones_end;                     /* all groups from the current piece's first up to here are ones */
    _Alignas(64) WORD piece[PIECE_GROUPS]; /* zeros between pieces */
};

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

/* ---- A piece of several vectors ---- */

static inline void paint_ones(struct range *range, uint64_t begin, uint64_t end)
{
    for (uint64_t g = begin; g < end; g++)
        range->piece[g] = FULL;
}

/* Paints `words` words that stand from group `at` of the piece on, until `count` groups are done; returns the number of
 * words. Only fills of ones take a branch. */
static inline uint32_t paint_words(struct range *range, const WORD *next, uint32_t words, uint64_t first,
                                   uint64_t *at, uint64_t count)
{
    uint64_t group = *at;
    uint32_t w = 0;
    for (; w < words && group < count; w++) {
        const WORD word = next[w], fill = (WORD)0 - (word >> (8 * sizeof word - 1)); /* all bits or none */
        if (word >= (FILL | ONES)) {
            paint_ones(range, group, min_of(group + (word & LENGTH), count));
            note_ones(range, first + group + (word & LENGTH));
        }
        range->piece[group] |= word & ~fill;
        group += 1 + (((word & LENGTH) - 1) & fill);
    }
    *at = group;
    return w;
}

/* Paints STRIDE words if they are literals only, or literals and fills of zeros, and all within the piece. */
static inline bool paint_stride(WORD *piece, const WORD *next, uint64_t *at, uint64_t count)
{
#if defined(__AVX512F__)
    if (sizeof *next == 8) {
        const __m512i words = _mm512_loadu_si512(next);
        const __mmask8 fills = _mm512_movepi64_mask(words);
        if (!fills && *at + STRIDE <= count) {
            _mm512_storeu_si512(piece + *at, _mm512_or_si512(words, _mm512_loadu_si512(piece + *at)));
            *at += STRIDE;
            return true;
        }
        if (fills & _mm512_movepi64_mask(_mm512_slli_epi64(words, 1)))
            return false;
        const __m512i one = _mm512_set1_epi64(1), none = _mm512_setzero_si512();
        __m512i ends = _mm512_mask_and_epi64(one, fills, words, _mm512_set1_epi64((int64_t)LENGTH));
        const __m512i lengths = ends;
        ends = _mm512_add_epi64(ends, _mm512_alignr_epi64(ends, none, 7));
        ends = _mm512_add_epi64(ends, _mm512_alignr_epi64(ends, none, 6));
        ends = _mm512_add_epi64(ends, _mm512_alignr_epi64(ends, none, 4));
        const uint64_t total = (uint64_t)_mm_extract_epi64(_mm512_extracti64x2_epi64(ends, 3), 1);
        if (*at + total > count)
            return false;
        _Alignas(64) uint64_t groups[STRIDE], literals[STRIDE];
        _mm512_store_si512(groups, _mm512_sub_epi64(ends, lengths));
        _mm512_store_si512(literals, _mm512_maskz_mov_epi64((__mmask8)~fills, words));
        WORD *const begin = piece + *at;
#pragma GCC unroll 8
        for (uint32_t i = 0; i < STRIDE; i++)
            begin[groups[i]] |= (WORD)literals[i];
        *at += total;
        return true;
    }
#endif
    WORD any = 0;
    for (uint32_t i = 0; i < STRIDE; i++)
        any |= next[i];
    if (any & FILL || *at + STRIDE > count)
        return false;
    for (uint32_t i = 0; i < STRIDE; i++)
        piece[*at + i] |= next[i];
    *at += STRIDE;
    return true;
}

/* Paints the words of a sparse vector from group *at on, up to a fill of ones or `count` groups. Returns the word after the
 * last one. */
static inline const WORD *paint_sparse(WORD *piece, const WORD *next, uint64_t *at, uint64_t count)
{
    uint64_t group = *at;
    while (group < count) {
        WORD word = *next;
        if (word & FILL) {
            if (word & ONES)
                break;
            group += word & LENGTH;
            next++;
            __builtin_prefetch((const char *)next + FAR_BYTES);
            if (group >= count)
                break;
            word = *next;
            if (word & FILL)
                continue;
        }
        piece[group++] |= word;
        next++;
    }
    *at = group;
    return next;
}

static void paint(struct range *range, struct WAH(cursor) * cursor, uint64_t first, uint64_t count)
{
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
    if (cursor->words < SPARSE_WORDS)
        next = paint_sparse(range->piece, next, &at, count);
    while (at < count) {
        __builtin_prefetch(next + AHEAD_BYTES / sizeof *next);
        if (end - next >= STRIDE && paint_stride(range->piece, next, &at, count))
            next += STRIDE;
        else
            next += paint_words(range, next, STRIDE, first, &at, count);
    }
    cursor->words = (uint32_t)(next - cursor->next);
    cursor->next = next;
    cursor->at = (int64_t)(first + at);
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
