/*
 * wah_packed_body.h: the OR of many vectors within a range of pieces as a compressed vector, written once for both sizes of
 * words. wah_packed.c and wah_packed32.c include it after storage/index/wah_range_body.h, whose lists and pieces it uses.
 */
#define BLOCK 64u /* groups that are compressed together: a bit each */

struct packed {
    struct range range;
    WORD *out;
    uint64_t words;
};

static inline void put(struct packed *packed, WORD bits, uint64_t groups)
{
    packed->words = put_run(packed->out, packed->words, bits, groups);
}

/* Forced inline: GCC takes a function that only fetches for one without effect. */
__attribute__((always_inline)) static inline void fetch_words(const WORD *begin, uint64_t count)
{
    for (const char *at = (const char *)begin; at < (const char *)(begin + count); at += 64)
        __builtin_prefetch(at);
}

/* ---- A piece in which one vector has something ---- */

static void copy_piece(struct packed *packed, struct WAH(cursor) * cursor, uint64_t first, uint64_t end)
{
    const WORD *next = cursor->next;
    int64_t at = cursor->at;
    uint64_t done = at > (int64_t)first ? (uint64_t)at : first;
    put(packed, 0, done - first);
    for (; done < end; next++) {
        const WORD word = *next;
        if (!(word & FILL)) {
            packed->out[packed->words++] = word;
            done++;
            at++;
            continue;
        }
        at += (int64_t)(word & LENGTH);
        if (word & ONES)
            note_ones(&packed->range, (uint64_t)at);
        put(packed, word & ONES ? FULL : 0, min_of((uint64_t)at, end) - done);
        done = (uint64_t)at;
    }
    cursor->next = next;
    cursor->at = at;
}

/* ---- Compressing a piece ---- */

static inline void copy(WORD *restrict to, const WORD *restrict from, uint32_t words)
{
    for (uint32_t w = 0; w < words; w++)
        to[w] = from[w];
}

static inline void clear(WORD *block)
{
    for (uint32_t g = 0; g < BLOCK; g++)
        block[g] = 0;
}

/* Appends a block's groups, of which bit g of `zeros` and `ones` tells that group g is all zeros or ones. */
static inline void put_block(struct packed *packed, const WORD *block, uint64_t zeros, uint64_t ones,
                             uint32_t count)
{
    for (uint32_t g = 0; g < count;) {
        const uint64_t others = (zeros >> g & 1 ? ~zeros : ones >> g & 1 ? ~ones : zeros | ones) >> g;
        const uint32_t groups =
            (uint32_t)min_of(others ? (uint64_t)__builtin_ctzll(others) : BLOCK, count - g);
        if ((zeros | ones) >> g & 1) {
            put(packed, block[g], groups);
        } else {
            copy(packed->out + packed->words, block + g, groups);
            packed->words += groups;
        }
        g += groups;
    }
}

/* Bit g tells whether group g is all zeros, or all ones. */
static inline void compare_block(const WORD *block, uint64_t *zeros, uint64_t *ones)
{
    uint64_t zero = 0, one = 0;
#if defined(__AVX512F__)
    for (uint32_t g = 0; g < BLOCK; g += 64 / sizeof *block) {
        const __m512i groups = _mm512_load_si512(block + g);
        if (sizeof *block == 8) {
            zero |= (uint64_t)_mm512_testn_epi64_mask(groups, groups) << g;
            one |= (uint64_t)_mm512_cmpeq_epi64_mask(groups, _mm512_set1_epi64((int64_t)FULL)) << g;
        } else {
            zero |= (uint64_t)_mm512_testn_epi32_mask(groups, groups) << g;
            one |= (uint64_t)_mm512_cmpeq_epi32_mask(groups, _mm512_set1_epi32((int32_t)FULL)) << g;
        }
    }
#elif defined(__AVX2__)
    for (uint32_t g = 0; g < BLOCK; g += 32 / sizeof *block) {
        const __m256i groups = _mm256_load_si256((const __m256i *)(block + g)), none = _mm256_setzero_si256();
        if (sizeof *block == 8) {
            const __m256i full = _mm256_set1_epi64x((int64_t)FULL);
            zero |= (uint64_t)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(groups, none))) << g;
            one |= (uint64_t)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(groups, full))) << g;
        } else {
            const __m256i full = _mm256_set1_epi32((int32_t)FULL);
            zero |= (uint64_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(groups, none))) << g;
            one |= (uint64_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(groups, full))) << g;
        }
    }
#else
    for (uint32_t g = 0; g < BLOCK; g++) {
        zero |= (uint64_t)(block[g] == 0) << g;
        one |= (uint64_t)(block[g] == FULL) << g;
    }
#endif
    *zeros = zero;
    *ones = one;
}

/* Compresses the piece and makes it zeros. */
static void put_piece(struct packed *packed, uint64_t count)
{
    for (uint64_t first = 0; first < count; first += BLOCK) {
        WORD *const block = packed->range.piece + first;
        uint64_t zeros, ones;
        compare_block(block, &zeros, &ones);
        if (zeros == UINT64_MAX) {
            put(packed, 0, min_of(BLOCK, count - first));
            continue;
        }
        put_block(packed, block, zeros, ones, (uint32_t)min_of(BLOCK, count - first));
        clear(block);
    }
}

/* ---- The range ---- */

/* A run of ones from piece `p` on: those that wait in its pieces wait for the piece of its end, which is returned. */
static uint64_t pass_ones(struct packed *packed, uint64_t p)
{
    const uint64_t first = p * PIECE_GROUPS, end = packed->range.ones_end;
    const bool all = end >= packed->range.groups;
    const uint64_t last = all ? (packed->range.groups + PIECE_GROUPS - 1) / PIECE_GROUPS : end / PIECE_GROUPS;
    put(packed, FULL, (all ? packed->range.groups : last * PIECE_GROUPS) - first);
    for (; p < last && !all; p++)
        for (uint32_t v = packed->range.heads[p], link; v != WAH_NO_VECTOR; v = link) {
            link = packed->range.cursors[v].link;
            packed->range.cursors[v].link = packed->range.heads[last];
            packed->range.heads[last] = v;
        }
    return last;
}

static void or_piece(struct packed *packed, uint64_t p, uint64_t first, uint64_t end)
{
    const uint32_t head = packed->range.heads[p];
    const bool alone = packed->range.cursors[head].link == WAH_NO_VECTOR && packed->range.ones_end <= first;
    if (!alone && packed->range.ones_end > first)
        paint_ones(&packed->range, 0, packed->range.ones_end - first);
    for (uint32_t v = head, link; v != WAH_NO_VECTOR; v = link) {
        struct WAH(cursor) *const cursor = &packed->range.cursors[v];
        link = cursor->link;
        if (link != WAH_NO_VECTOR)
            fetch_words(packed->range.cursors[link].next, packed->range.cursors[link].words);
        catch_up(cursor, first);
        if (alone)
            copy_piece(packed, cursor, first, end);
        else
            paint(&packed->range, cursor, first, end - first);
        wait_for(&packed->range, v);
    }
    if (!alone)
        put_piece(packed, end - first);
}

static uint64_t or_range(struct WAH(cursor) * cursors, uint64_t count, uint64_t groups, uint32_t *heads,
                         WORD *out)
{
    const uint64_t pieces = (groups + PIECE_GROUPS - 1) / PIECE_GROUPS;
    struct packed packed = {.range = {.cursors = cursors, .heads = heads, .groups = groups}, .out = out};
    for (uint64_t p = 0; p < pieces; p++)
        heads[p] = WAH_NO_VECTOR;
    for (uint32_t v = 0; v < count; v++)
        wait_for(&packed.range, v);
    for (uint64_t p = 0; p < pieces;) {
        const uint64_t first = p * PIECE_GROUPS, end = min_of(first + PIECE_GROUPS, groups);
        if (packed.range.ones_end >= end) {
            p = pass_ones(&packed, p);
            continue;
        }
        if (heads[p] != WAH_NO_VECTOR) {
            or_piece(&packed, p, first, end);
        } else {
            const uint64_t ones = packed.range.ones_end > first ? packed.range.ones_end - first : 0;
            put(&packed, FULL, ones);
            put(&packed, 0, end - first - ones);
        }
        p++;
    }
    return packed.words;
}
