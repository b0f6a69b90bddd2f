/*
 * lane_planes.h: bit planes of a tile, for the codecs that keep bits apart (lane-slice, lane-levels): cutting numbers into
 * planes and back, and the order of rows in a plane.
 *
 * A plane is one bit of each row: bit j of its word l belongs to row 32j + l. Its 32 words are a line of 128 bytes.
 *
 * Cutting transposes 32x32 bits (Warren, Hacker's Delight, 7-3), once for each lane, in all lanes of a vector at the same
 * time. Narrow numbers need only the lower steps. For up to 8 bits, for example, items j, j + 8, j + 16 and j + 24 are the
 * bytes of one word, and 8x8 bits in each byte are transposed. The functions are called once a tile; the file is compiled
 * once per instruction set (isa.h).
 */
#ifndef TESSERA_STORAGE_CODEC_INTEGER_LANE_PLANES_H
#define TESSERA_STORAGE_CODEC_INTEGER_LANE_PLANES_H

#include "storage/codec/integer/bitpack.h"

#define LANE_VECTORS (TILE_LANES / VECTOR_LANES) /* the vectors for one word of every lane */

/* ---- Numbers and planes ---- */

/* The bits of a number's slot in a word: the least power of 2 that is not below the width. */
FORCED_INLINE unsigned planes_slot(const unsigned width)
{
    return width <= 1 ? 1 : width <= 2 ? 2 : width <= 4 ? 4 : width <= 8 ? 8 : width <= 16 ? 16 : 32;
}

/* clang-format off */
#define EACH_SLOT(X) X(1) X(2) X(4) X(8) X(16) X(32)
/* clang-format on */

/* Swaps, in squares of step x step bits, the upper bits of x[i] with the lower bits of x[i + step]. */
FORCED_INLINE void planes_exchange(lane_vector *x, const unsigned slot, const unsigned step,
                                   const uint32_t mask)
{
    if (slot <= step)
        return;
#pragma GCC unroll 32
    for (unsigned pair = 0; pair < slot / 2; pair++) {
        const unsigned i = pair / step * 2 * step + pair % step;
        const lane_vector other = (x[i] >> step ^ x[i + step]) & mask;
        x[i + step] ^= other;
        x[i] ^= other << step;
    }
}

/* Transposes squares of slot x slot bits: bit c of each slot of x[r] becomes bit r of the same slot of
 * x[c]. */
FORCED_INLINE void planes_transpose(lane_vector *x, const unsigned slot)
{
    planes_exchange(x, slot, 16, 0x0000ffffu);
    planes_exchange(x, slot, 8, 0x00ff00ffu);
    planes_exchange(x, slot, 4, 0x0f0f0f0fu);
    planes_exchange(x, slot, 2, 0x33333333u);
    planes_exchange(x, slot, 1, 0x55555555u);
}

/* ---- Bits of rows ---- */

/* Gives each lane l the value of lane l ^ step, by a constant shuffle. `step` is a power of 2 below
 * VECTOR_LANES. */
FORCED_INLINE lane_vector lane_partner(lane_vector x, const unsigned step)
{
#define PARTNER4(FIRST) \
    x[(FIRST) ^ step], x[((FIRST) + 1) ^ step], x[((FIRST) + 2) ^ step], x[((FIRST) + 3) ^ step]
#if VECTOR_BYTES == 64
    return (lane_vector){PARTNER4(0), PARTNER4(4), PARTNER4(8), PARTNER4(12)};
#elif VECTOR_BYTES == 32
    return (lane_vector){PARTNER4(0), PARTNER4(4)};
#else
    return (lane_vector){PARTNER4(0)};
#endif
#undef PARTNER4
}

/* One step of transposing 32x32 bits, whose rows are the 32 words in x: swaps each word's bits outside `mask` with the
 * bits inside `mask` of the word `step` positions later. */
FORCED_INLINE void lane_words_exchange(lane_vector x[LANE_VECTORS], const unsigned step, const uint32_t mask)
{
    if (step >= VECTOR_LANES) {
        const unsigned apart = step / VECTOR_LANES;
#pragma GCC unroll 8
        for (unsigned pair = 0; pair < LANE_VECTORS / 2; pair++) {
            const unsigned i = pair / apart * 2 * apart + pair % apart;
            const lane_vector other = (x[i] >> step ^ x[i + apart]) & mask;
            x[i + apart] ^= other;
            x[i] ^= other << step;
        }
        return;
    }
    lane_vector keep, up, down; /* each lane's bits that stay, that come from below, that come from above */
#pragma GCC unroll 16
    for (unsigned lane = 0; lane < VECTOR_LANES; lane++) {
        keep[lane] = lane & step ? ~mask : mask;
        up[lane] = lane & step ? 0 : ~mask;
        down[lane] = lane & step ? mask : 0;
    }
#pragma GCC unroll 8
    for (unsigned i = 0; i < LANE_VECTORS; i++) {
        const lane_vector other = lane_partner(x[i], step);
        x[i] = (x[i] & keep) | (other << step & up) | (other >> step & down);
    }
}

/* Converts one bit a row from lane order (row 32j + l is bit j of word l) to row order (bit l of word j), or
 * back. */
FORCED_INLINE void lane_words_transpose(lane_vector x[LANE_VECTORS])
{
    lane_words_exchange(x, 16, 0x0000ffffu);
    lane_words_exchange(x, 8, 0x00ff00ffu);
    lane_words_exchange(x, 4, 0x0f0f0f0fu);
    lane_words_exchange(x, 2, 0x33333333u);
    lane_words_exchange(x, 1, 0x55555555u);
}

/* The majority of three bits, in each bit. */
FORCED_INLINE lane_vector lane_majority(lane_vector a, lane_vector b, lane_vector c)
{
#if defined(__AVX512F__)
    return (lane_vector)_mm512_ternarylogic_epi32((__m512i)a, (__m512i)b, (__m512i)c, 0xe8);
#else
    return ((a ^ b) & (a ^ c)) ^ a;
#endif
}

/* Compares the numbers of `width` planes with two constants: sets bit r%64 of bits[r/64] for the rows r whose number is
 * first .. last, and clears the bits of other rows. Plane k, which has bit k of the numbers, is the line at `lowest` + k *
 * step words.
 *
 * A number is at least c if number + ~c + 1 has a carry out of its highest bit, and above c if number + ~c has one. A carry
 * is the majority of the two bits and the carry before. So both bounds go through the planes from the lowest up, without a
 * branch. BitWeaving goes from the highest down and may stop early; with 1024 rows it almost never could. */
FORCED_INLINE void planes_in_range(const uint32_t *lowest, const int32_t step, uint32_t width, uint32_t first,
                                   uint32_t last, uint64_t bits[TILE_ROWS / 64])
{
    const uint32_t not_first = ~first, not_last = ~last;
    const lane_vector none = {0};
    lane_vector inside[LANE_VECTORS];
    /* Two vectors at a time: four chains of carries keep a processor busy, and fit the registers of every
     * level. */
#pragma GCC unroll 4
    for (unsigned v = 0; v < LANE_VECTORS; v += 2) {
        const uint32_t *line = lowest + v * VECTOR_LANES;
        lane_vector reached0 = ~none, reached1 = ~none, above0 = none, above1 = none;
        for (unsigned plane = 0; plane < width; plane++, line += step) {
            const lane_vector bits0 = *(const lane_vector *)line;
            const lane_vector bits1 = *(const lane_vector *)(line + VECTOR_LANES);
            const lane_vector first_bit = none - (not_first >> plane & 1);
            const lane_vector last_bit = none - (not_last >> plane & 1);
            reached0 = lane_majority(first_bit, bits0, reached0);
            reached1 = lane_majority(first_bit, bits1, reached1);
            above0 = lane_majority(last_bit, bits0, above0);
            above1 = lane_majority(last_bit, bits1, above1);
        }
        inside[v] = reached0 & ~above0;
        inside[v + 1] = reached1 & ~above1;
    }
    lane_words_transpose(inside);
    memcpy(bits, inside, TILE_ROWS / 8);
}

#endif
