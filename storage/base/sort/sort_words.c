/* sort_words.c: see sort_words.h. */
#include "storage/base/sort/sort_words.h"

#include <stdbool.h>
#include <string.h>

#define DIGIT_BITS 8u
#define WIDE_BITS  12u /* a digit of so many words in a cache has all bits, so that they are dealt once */
#define WIDE_WORDS (UINT64_C(1) << 13)
#define FEW        24u /* are sorted by insertion */
#define SPARE_BITS \
    3u /* beyond those of `count`: of words that are spread evenly, one in eight is like another one */

static void insert_all(uint64_t *words, uint64_t count, unsigned low, uint64_t mask)
{
    for (uint64_t i = 1; i < count; i++) {
        const uint64_t word = words[i], key = word >> low & mask;
        uint64_t at = i;
        for (; at > 0 && (words[at - 1] >> low & mask) > key; at--)
            words[at] = words[at - 1];
        words[at] = word;
    }
}

/* Deals the words by a digit; false: all have the same one, and stay. */
static bool deal_digit(const uint64_t *words, uint64_t *other, uint64_t count, unsigned low, unsigned bits)
{
    const uint64_t mask = (UINT64_C(1) << bits) - 1;
    uint64_t place[1u << WIDE_BITS], next = 0;
    memset(place, 0, (mask + 1) * sizeof *place);
    for (uint64_t i = 0; i < count; i++)
        place[words[i] >> low & mask]++;
    if (place[words[0] >> low & mask] == count)
        return false;
    for (uint64_t value = 0; value <= mask; value++) {
        const uint64_t here = place[value];
        place[value] = next;
        next += here;
    }
    for (uint64_t i = 0; i < count; i++)
        other[place[words[i] >> low & mask]++] = words[i];
    return true;
}

/* Sorts by digits, from the lowest on. */
static void deal_digits(uint64_t *words, uint64_t *other, uint64_t count, unsigned low, unsigned high)
{
    const unsigned bits = high - low;
    const bool wide = bits <= WIDE_BITS && 2 * count >> bits > 0 && count <= WIDE_WORDS;
    const unsigned digits = wide ? 1 : (bits + DIGIT_BITS - 1) / DIGIT_BITS;
    uint64_t *from = words, *to = other;
    for (unsigned d = 0; d < digits; d++) {
        const unsigned begin = low + (high - low) * d / digits, end = low + (high - low) * (d + 1) / digits;
        if (!deal_digit(from, to, count, begin, end - begin))
            continue;
        uint64_t *const dealt = to;
        to = from;
        from = dealt;
    }
    if (from != words)
        memcpy(words, from, count * sizeof *words);
}

void sort_words(uint64_t *words, uint64_t *other, uint64_t count, unsigned low, unsigned high)
{
    if (count < 2 || low == high)
        return;
    const unsigned bits = high - low;
    const uint64_t mask = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
    if (count <= FEW) {
        insert_all(words, count, low, mask);
        return;
    }
    const unsigned telling = 64 - (unsigned)__builtin_clzll(count) + SPARE_BITS,
                   digits = (telling + DIGIT_BITS - 1) / DIGIT_BITS * DIGIT_BITS,
                   middle = digits < bits ? high - digits : low;
    deal_digits(words, other, count, middle, high);
    for (uint64_t begin = 0, end; middle > low && begin < count; begin = end) {
        const uint64_t key = (words[begin] >> low & mask) >> (middle - low);
        for (end = begin + 1; end < count && (words[end] >> low & mask) >> (middle - low) == key;)
            end++;
        sort_words(words + begin, other, end - begin, low, middle);
    }
}
