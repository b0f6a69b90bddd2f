/* double_sum.c: see double_sum.h. The exact sum is a whole number of up to 2098 + 63 bits, in two's complement. */
#include "engine/answer/double_sum.h"

#include <math.h>
#include <string.h>

/* 128 bits after the last bit, for the fractions of averages; 2098 bits; and the carries of 2^40 rows. */
#define FRACTION_WORDS 2u
#define SUM_WORDS_MAX  (FRACTION_WORDS + 36u)

#define LIMBS_MAX 96u /* of 22 bits or more (bind_double_sum.c) */

/* The lowest word is first. Only as many words as the limbs of the plan can fill are used: 5 or 6 for decimal-like
 * numbers, which saves nine tenths of the time. */
struct sum {
    unsigned count;
    uint64_t words[SUM_WORDS_MAX];
};

/* A limb has up to 128 bits and a sign; the last word has the sign and carries. */
static unsigned words_needed(uint32_t limbs, unsigned width)
{
    const unsigned words = FRACTION_WORDS + ((limbs - 1) * width + 128) / 64 + 2;
    return words < SUM_WORDS_MAX ? words : SUM_WORDS_MAX;
}

/* Adds value * 2^shift. */
static void add(struct sum *sum, __int128 value, unsigned shift)
{
    const unsigned word = FRACTION_WORDS + shift / 64, bit = shift % 64;
    const uint64_t low = (uint64_t)value, high = (uint64_t)(value >> 64), sign = value < 0 ? UINT64_MAX : 0;
    const uint64_t parts[3] = {low << bit, bit ? high << bit | low >> (64 - bit) : high,
                               bit ? sign << bit | high >> (64 - bit) : sign};
    uint64_t carry = 0;
    for (unsigned w = word; w < sum->count; w++) {
        const unsigned __int128 all =
            (unsigned __int128)sum->words[w] + (w - word < 3 ? parts[w - word] : sign) + carry;
        sum->words[w] = (uint64_t)all;
        carry = (uint64_t)(all >> 64);
    }
}

/* Makes the number positive; true if it was negative. */
static bool make_positive(struct sum *sum)
{
    const bool negative = sum->words[sum->count - 1] >> 63;
    uint64_t carry = 1;
    for (unsigned w = 0; negative && w < sum->count; w++) {
        sum->words[w] = ~sum->words[w] + carry;
        carry = carry && sum->words[w] == 0;
    }
    return negative;
}

/* Divides, from the highest word. Returns whether there is a remainder. */
static bool divide(struct sum *sum, uint64_t divisor)
{
    uint64_t rest = 0;
    for (unsigned w = sum->count; w-- > 0;) {
        const unsigned __int128 all = (unsigned __int128)rest << 64 | sum->words[w];
        if (all == 0)
            continue;
        sum->words[w] = (uint64_t)(all / divisor);
        rest = (uint64_t)(all % divisor);
    }
    return rest != 0;
}

static bool bit_of(const struct sum *sum, unsigned bit)
{
    return sum->words[bit / 64] >> bit % 64 & 1;
}

static bool any_below(const struct sum *sum, unsigned bit)
{
    for (unsigned w = 0; w < bit / 64; w++)
        if (sum->words[w])
            return true;
    return (sum->words[bit / 64] & ((UINT64_C(1) << bit % 64) - 1)) != 0;
}

/* The number of bits up to the highest one that is set. */
static unsigned bits_of(const struct sum *sum)
{
    for (unsigned w = sum->count; w-- > 0;)
        if (sum->words[w])
            return 64 * w + 64 - (unsigned)__builtin_clzll(sum->words[w]);
    return 0;
}

/* Bits cut .. top - 1, of which there are at most 53. */
static uint64_t bits_from(const struct sum *sum, unsigned cut, unsigned top)
{
    const unsigned word = cut / 64, bit = cut % 64;
    uint64_t bits = top > cut ? sum->words[word] >> bit : 0;
    if (bit && top > 64 * (word + 1))
        bits |= sum->words[word + 1] << (64 - bit);
    return bits;
}

/* The double nearest to sum * 2^exponent, ties to even; `more`: the number is slightly greater. */
static double nearest(const struct sum *sum, int exponent, bool more)
{
    const unsigned top = bits_of(sum);
    if (top == 0)
        return 0;
    int cut = (int)top - 53; /* bits that a double does not have */
    if (exponent + cut < DOUBLE_FINEST)
        cut = DOUBLE_FINEST - exponent;
    cut = cut < 0 ? 0 : cut;
    uint64_t kept = bits_from(sum, (unsigned)cut, top);
    if (cut > 0 && (unsigned)cut <= top && bit_of(sum, (unsigned)cut - 1))
        kept += more || (kept & 1) || any_below(sum, (unsigned)cut - 1);
    return ldexp((double)kept, exponent + cut);
}

int64_t double_sum_round(const __int128 *limbs, uint32_t count, unsigned width, int first, uint64_t divisor)
{
    struct sum sum;
    sum.count = words_needed(count, width);
    memset(sum.words, 0, sum.count * sizeof *sum.words);
    for (uint32_t l = 0; l < count; l++)
        add(&sum, limbs[l], l * width);
    const bool negative = make_positive(&sum), more = divisor > 1 && divide(&sum, divisor);
    const double number = nearest(&sum, first - 64 * (int)FRACTION_WORDS, more);
    return double_key_of(negative ? -number : number);
}

int64_t double_sum_of(const struct plan *plan, const struct partial *groups, uint32_t aggregate,
                      uint64_t group, uint64_t divisor)
{
    const struct plan_double_sum *doubles = &plan->aggregates[aggregate].doubles;
    __int128 limbs[LIMBS_MAX];
    if (doubles->infinite) {
        const int64_t least = groups->states[doubles->least][group],
                      greatest = groups->states[doubles->greatest][group];
        const bool up = greatest >= DOUBLE_KEY_INFINITY, down = least == DOUBLE_KEY_MINUS_INFINITY;
        if (up || down)
            return (up && down) || greatest == DOUBLE_KEY_NAN ? DOUBLE_KEY_NAN
                   : up                                       ? DOUBLE_KEY_INFINITY
                                                              : DOUBLE_KEY_MINUS_INFINITY;
    }
    for (uint32_t l = 0; l < doubles->limbs; l++) {
        limbs[l] = partial_number(plan, groups, aggregate + l, group);
    }
    return double_sum_round(limbs, doubles->limbs, doubles->width, doubles->first, divisor);
}
