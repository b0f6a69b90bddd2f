/* double_sum.c: see double_sum.h. The exact sum is a whole number of up to 2098 + 63 bits, in two's complement. */
#include "engine/answer/double_sum.h"

#include <math.h>
#include <string.h>

/* 128 bits after the last bit, for the fractions of averages; 2098 bits; and the carries of 2^40 rows. */
#define FRACTION_WORDS 2u
#define SUM_WORDS      (FRACTION_WORDS + 36u)

/* Adds value * 2^shift. */
static void add(uint64_t sum[SUM_WORDS], __int128 value, unsigned shift)
{
    const unsigned word = FRACTION_WORDS + shift / 64, bit = shift % 64;
    const uint64_t low = (uint64_t)value, high = (uint64_t)(value >> 64), sign = value < 0 ? UINT64_MAX : 0;
    const uint64_t parts[3] = {low << bit, bit ? high << bit | low >> (64 - bit) : high,
                               bit ? sign << bit | high >> (64 - bit) : sign};
    uint64_t carry = 0;
    for (unsigned w = word; w < SUM_WORDS; w++) {
        const unsigned __int128 all =
            (unsigned __int128)sum[w] + (w - word < 3 ? parts[w - word] : sign) + carry;
        sum[w] = (uint64_t)all;
        carry = (uint64_t)(all >> 64);
    }
}

/* Makes the number positive; true if it was negative. */
static bool make_positive(uint64_t sum[SUM_WORDS])
{
    const bool negative = sum[SUM_WORDS - 1] >> 63;
    uint64_t carry = 1;
    for (unsigned w = 0; negative && w < SUM_WORDS; w++) {
        sum[w] = ~sum[w] + carry;
        carry = carry && sum[w] == 0;
    }
    return negative;
}

/* Divides, from the highest word. Returns whether there is a remainder. */
static bool divide(uint64_t sum[SUM_WORDS], uint64_t divisor)
{
    uint64_t rest = 0;
    for (unsigned w = SUM_WORDS; w-- > 0;) {
        const unsigned __int128 all = (unsigned __int128)rest << 64 | sum[w];
        sum[w] = (uint64_t)(all / divisor);
        rest = (uint64_t)(all % divisor);
    }
    return rest != 0;
}

static bool bit_of(const uint64_t sum[SUM_WORDS], unsigned bit)
{
    return sum[bit / 64] >> bit % 64 & 1;
}

static bool any_below(const uint64_t sum[SUM_WORDS], unsigned bit)
{
    for (unsigned w = 0; w < bit / 64; w++)
        if (sum[w])
            return true;
    return (sum[bit / 64] & ((UINT64_C(1) << bit % 64) - 1)) != 0;
}

/* The double nearest to sum * 2^exponent, ties to even; `more`: the number is slightly greater. */
static double nearest(const uint64_t sum[SUM_WORDS], int exponent, bool more)
{
    unsigned top = 64 * SUM_WORDS;
    while (top > 0 && !bit_of(sum, top - 1))
        top--;
    if (top == 0)
        return 0;
    int cut = (int)top - 53; /* bits that a double does not have */
    if (exponent + cut < DOUBLE_FINEST)
        cut = DOUBLE_FINEST - exponent;
    cut = cut < 0 ? 0 : cut;
    uint64_t kept = 0;
    for (unsigned bit = top; bit-- > (unsigned)cut;)
        kept = kept << 1 | bit_of(sum, bit);
    if (cut > 0 && (unsigned)cut <= top && bit_of(sum, (unsigned)cut - 1))
        kept += more || (kept & 1) || any_below(sum, (unsigned)cut - 1);
    return ldexp((double)kept, exponent + cut);
}

int64_t double_sum_of(const struct plan *plan, const struct partial *groups, uint32_t aggregate,
                      uint64_t group, uint64_t divisor)
{
    const struct plan_double_sum *doubles = &plan->aggregates[aggregate].doubles;
    uint64_t sum[SUM_WORDS] = {0};
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
        const uint64_t low = (uint64_t)groups->states[aggregate + l][group];
        const int64_t high = plan->aggregates[aggregate + l].kind == AGGREGATE_SUM_WIDE
                                 ? groups->states_high[aggregate + l][group]
                                 : (int64_t)low >> 63;
        add(sum, (__int128)((unsigned __int128)(uint64_t)high << 64 | low), l * doubles->width);
    }
    const bool negative = make_positive(sum), more = divisor > 1 && divide(sum, divisor);
    const double number = nearest(sum, doubles->first - 64 * (int)FRACTION_WORDS, more);
    return double_key_of(negative ? -number : number);
}
