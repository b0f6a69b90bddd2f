/*
 * random.h: the random numbers of ssb-dbgen: Park and Miller's "minimal standard" generator.
 *
 * A step takes the state s, 1 .. 2^31-2, to 16807 s mod 2^31-1; the new state is the random number. n steps
 * multiply by 16807^n, so random_jump reaches the draws of any row with four modular multiplications. A
 * dimension's row takes up to about 100 draws, an order 10 to 50. At SF 1000 that is 10^11 draws, so nothing
 * here divides integers.
 */
#ifndef TESSERA_SSB_DATA_RANDOM_H
#define TESSERA_SSB_DATA_RANDOM_H

#include <stdint.h>

#define RANDOM_MODULUS    2147483647u /* 2^31-1, a Mersenne prime */
#define RANDOM_MULTIPLIER 16807u

/* a b mod 2^31-1 for a, b in 1 .. 2^31-2. 2^31 is 1 modulo the prime, so adding the high bits to the low ones
 * keeps the residue. The first sum is in 1 .. 2^32-4 and never a multiple of the modulus, because the prime
 * divides neither factor; so the second sum is in 1 .. 2^31-2. */
static inline uint32_t random_multiply(uint32_t a, uint32_t b)
{
    uint64_t product = (uint64_t)a * b;
    uint32_t folded = (uint32_t)(product & RANDOM_MODULUS) + (uint32_t)(product >> 31);
    return (folded & RANDOM_MODULUS) + (folded >> 31);
}

static inline uint32_t random_step(uint32_t state)
{
    return random_multiply(state, RANDOM_MULTIPLIER);
}

/* The number in low .. low + width - 1 that a state gives; width <= 2^31. The division and the multiplication
 * both round to double. That rounding is part of the data's definition, so neither a reciprocal nor integers
 * may replace them: the results would differ for wide ranges (customer keys from SF 70, addresses at any
 * scale factor). */
static inline int64_t random_draw(uint32_t state, int64_t low, int64_t width)
{
    return low + (int64_t)((double)(int32_t)state / 2147483647.0 * (double)width);
}

/* power[k][b] is 16807^(b 256^k). The table has 4 KiB, and a jump takes four look-ups. */
struct random_jumps {
    uint32_t power[4][256];
};

static inline void random_jumps_init(struct random_jumps *jumps)
{
    uint32_t base = RANDOM_MULTIPLIER;
    for (int k = 0; k < 4; k++) {
        jumps->power[k][0] = 1;
        for (int b = 1; b < 256; b++)
            jumps->power[k][b] = random_multiply(jumps->power[k][b - 1], base);
        base = random_multiply(jumps->power[k][255], base);
    }
}

/* The state `steps` steps later. The generator's period is 2^31-2. */
static inline uint32_t random_jump(const struct random_jumps *jumps, uint32_t state, uint64_t steps)
{
    uint32_t n = (uint32_t)(steps % (RANDOM_MODULUS - 1));
    uint32_t low = random_multiply(jumps->power[0][n & 255], jumps->power[1][n >> 8 & 255]);
    uint32_t high = random_multiply(jumps->power[2][n >> 16 & 255], jumps->power[3][n >> 24]);
    return random_multiply(state, random_multiply(low, high));
}

#endif
