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

#include "storage/codec/integer/lane_planes.h"
#include "storage/codec/integer/lane_tiles.h"

/* Sets bit r%64 of bits[r/64] for the rows r of a tile with values low .. high, and clears the bits of other
 * rows. The chunk is of int32, or of int64 with values that fit int32: they have at most 32 planes. The bits
 * after the chunk's last row are not specified. */
FORCED_INLINE void lane_slice_range(const struct chunk_view *chunk, uint32_t tile, int32_t low, int32_t high,
                                    uint64_t bits[TILE_ROWS / 64])
{
    const struct lane_tile entry = chunk->value_bytes == 4 ? lane_tile_read(chunk->directory, tile, 4)
                                                           : lane_tile_read(chunk->directory, tile, 8);
    const uint32_t width = entry.width < 32 ? entry.width : 32;
    const int64_t most = (int64_t)width_mask(width);
    const int64_t first = low - entry.reference, last = high - entry.reference;
    if (first > last || last < 0 || first > most) {
        memset(bits, 0, TILE_ROWS / 8);
        return;
    }
    if (first <= 0 && last >= most) {
        memset(bits, 0xff, TILE_ROWS / 8);
        return;
    }
    planes_in_range(lane_tile_lines(chunk, &entry), TILE_LANES, width, first > 0 ? (uint32_t)first : 0,
                    last < most ? (uint32_t)last : (uint32_t)most, bits);
}

#endif
