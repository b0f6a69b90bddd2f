/*
 * wah_put.h: appends words to an array; a part of wah_body.h and wah_range_body.h, which name what it needs: WORD, FILL,
 * ONES, LENGTH and FULL.
 */
static inline uint64_t min_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline bool is_uniform(WORD bits)
{
    return bits == 0 || bits == FULL;
}

/* Puts `groups` equal groups after words[0 .. count-1] and returns the new count. There is room. */
static inline uint64_t put_run(WORD *words, uint64_t count, WORD bits, uint64_t groups)
{
    if (!is_uniform(bits)) {
        while (groups--)
            words[count++] = bits;
        return count;
    }
    const WORD head = FILL | (bits ? ONES : 0);
    if (count && groups && (words[count - 1] & ~LENGTH) == head) {
        const uint64_t more = min_of(groups, LENGTH - (words[count - 1] & LENGTH));
        words[count - 1] += (WORD)more;
        groups -= more;
    }
    while (groups) {
        const uint64_t length = min_of(groups, LENGTH);
        words[count++] = head | (WORD)length;
        groups -= length;
    }
    return count;
}
