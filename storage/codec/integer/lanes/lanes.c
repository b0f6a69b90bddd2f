/*
 * lanes.c: packing and unpacking of lanes (bitpack.h): 33 unrolled bodies, one a width, for each number of items.
 */
#include "storage/codec/integer/bitpack.h"

#define WIDTHS 33

FORCED_INLINE void lanes_pack_width(const uint32_t *values, const uint32_t items, uint32_t reference,
                                    const unsigned width, uint32_t *lines)
{
    const lane_vector zero = {0};
    for (uint32_t lane = 0; lane < TILE_LANES; lane += VECTOR_LANES) {
        lane_vector line = zero;
#pragma GCC unroll 32
        for (uint32_t item = 0; item < items; item++) {
            const unsigned shift = item * width % 32, word = item * width / 32;
            const lane_vector value =
                *(const lane_vector *)(values + (size_t)item * TILE_LANES + lane) - reference;
            line |= value << shift;
            if (shift + width >= 32) {
                *(lane_vector *)(lines + (size_t)word * TILE_LANES + lane) = line;
                line = zero;
                if (shift + width > 32)
                    line = value >> (32 - shift);
            }
        }
        if (items * width % 32)
            *(lane_vector *)(lines + (size_t)(items * width / 32) * TILE_LANES + lane) = line;
    }
}

/* Unpacks one width. Every line is loaded once and stays in a register until its last item is unpacked. */
FORCED_INLINE void lanes_unpack_width(const uint32_t *lines, const uint32_t items, uint32_t reference,
                                      const unsigned width, uint32_t *out)
{
    for (uint32_t lane = 0; lane < TILE_LANES; lane += VECTOR_LANES) {
        lane_vector line = {0};
        if (width)
            line = *(const lane_vector *)(lines + lane);
#pragma GCC unroll 32
        for (uint32_t item = 0; item < items; item++) {
            const unsigned shift = item * width % 32, word = item * width / 32;
            lane_vector value = line >> shift;
            if (shift + width >= 32 && (word + 1) * 32 < items * width) {
                line = *(const lane_vector *)(lines + (size_t)(word + 1) * TILE_LANES + lane);
                if (shift + width > 32)
                    value |= line << (32 - shift);
            }
            if (shift + width != 32)
                value &= (uint32_t)width_mask(width);
            *(lane_vector *)(out + (size_t)item * TILE_LANES + lane) = value + reference;
        }
    }
}

void ISA(lanes_pack_narrow)(const uint32_t *values, uint32_t items, uint32_t reference, unsigned width,
                            uint32_t *lines)
{
    switch (width + (items == TILE_LANES ? 0 : WIDTHS)) {
#define PACK_CASE(WIDTH)                                                   \
    case WIDTH:                                                            \
        lanes_pack_width(values, TILE_LANES, reference, WIDTH, lines);     \
        break;                                                             \
    case WIDTHS + (WIDTH):                                                 \
        lanes_pack_width(values, TILE_LANES - 1, reference, WIDTH, lines); \
        break;
        EACH_WIDTH(PACK_CASE)
    }
}

void ISA(lanes_unpack_narrow)(const uint32_t *lines, uint32_t items, uint32_t reference, unsigned width,
                              uint32_t *out)
{
    switch (width + (items == TILE_LANES ? 0 : WIDTHS)) {
#define UNPACK_CASE(WIDTH)                                                \
    case WIDTH:                                                           \
        lanes_unpack_width(lines, TILE_LANES, reference, WIDTH, out);     \
        break;                                                            \
    case WIDTHS + (WIDTH):                                                \
        lanes_unpack_width(lines, TILE_LANES - 1, reference, WIDTH, out); \
        break;
        EACH_WIDTH(UNPACK_CASE)
    }
}
