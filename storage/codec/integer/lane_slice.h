/*
 * lane_slice.h: compares the rows of a lane-slice tile with constants, on its bit planes.
 *
 * Nothing is decoded. A logical operation on words of a plane computes 32 rows. A range takes two operations
 * for each bit of the width with AVX-512, and eight without. Filters call it once a tile. It reads `width`
 * lines of 128 bytes, or none if the tile's reference and width decide the answer. The file is compiled once
 * per instruction set (isa.h). tests/benches/bench_slice.c compares it with decoding and comparing.
 */
#ifndef TESSERA_STORAGE_CODEC_INTEGER_LANE_SLICE_H
#define TESSERA_STORAGE_CODEC_INTEGER_LANE_SLICE_H

#include "storage/codec/integer/lane_tiles.h"

#define LANE_VECTORS (TILE_LANES / VECTOR_LANES) /* the vectors for one word of every lane */

FORCED_INLINE lane_vector lane_majority(lane_vector a, lane_vector b, lane_vector c)
{
#if defined(__AVX512F__)
    return (lane_vector)_mm512_ternarylogic_epi32((__m512i)a, (__m512i)b, (__m512i)c, 0xe8);
#else
    return ((a ^ b) & (a ^ c)) ^ a;
#endif
}

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

/* One step of transposing 32x32 bits (Warren, Hacker's Delight, 7-3), whose rows are the 32 words in x: swaps
 * each word's bits outside `mask` with the bits inside `mask` of the word `step` positions later. */
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

/* Sets bit r%64 of bits[r/64] for the rows r of a tile of an int32 chunk with values low .. high, and clears
 * the bits of other rows. The bits after the chunk's last row are not specified.
 *
 * A row's item is at least c if item + ~c + 1 has a carry out of its highest bit, and above c if item + ~c
 * has one. A carry is the majority of the two bits and the carry before. So both bounds go through the planes
 * from the lowest up, without a branch. BitWeaving goes from the highest down and may stop early; with 1024
 * rows it almost never could. */
FORCED_INLINE void lane_slice_range(const struct chunk_view *chunk, uint32_t tile, int32_t low, int32_t high,
                                    uint64_t bits[TILE_ROWS / 64])
{
    const struct lane_tile entry = lane_tile_read(chunk->directory, tile, 4);
    const int64_t most = (int64_t)width_mask(entry.width);
    const int64_t first = low - entry.reference, last = high - entry.reference;
    if (first > last || last < 0 || first > most) {
        memset(bits, 0, TILE_ROWS / 8);
        return;
    }
    if (first <= 0 && last >= most) {
        memset(bits, 0xff, TILE_ROWS / 8);
        return;
    }
    const uint32_t not_first = ~(first > 0 ? (uint32_t)first : 0);
    const uint32_t not_last = ~(last < most ? (uint32_t)last : (uint32_t)most);
    const uint32_t *const lines = lane_tile_lines(chunk, &entry);
    const lane_vector none = {0};
    lane_vector inside[LANE_VECTORS];
    /* Two vectors at a time: four chains of carries keep a processor busy, and fit the registers of every
     * level. */
#pragma GCC unroll 4
    for (unsigned v = 0; v < LANE_VECTORS; v += 2) {
        const uint32_t *line = lines + v * VECTOR_LANES;
        lane_vector reached0 = ~none, reached1 = ~none, above0 = none, above1 = none;
        for (unsigned plane = 0; plane < entry.width; plane++, line += TILE_LANES) {
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
