/*
 * scan_cuda.h: the rows of a column in a range of values, by a decoder that tests ranges without decoding: word l of a
 * tile's 32 words has lane l's rows, bit j row 32j + l. A warp takes a tile, and loads its next one meanwhile.
 */
#ifndef TESSERA_LAB_KERNELS_SCAN_CUDA_H
#define TESSERA_LAB_KERNELS_SCAN_CUDA_H

#include "lab/kernels/decode_cuda.h"

/* Bits after a chunk's last row may be set. PRELOADS: as in lab_sum. */
template <class DECODE, bool PRELOADS>
TILE_INLINE void lab_scan(const bound_chunk *chunks, const uint4 *work, uint32_t items, uint32_t chunk_tiles,
                          int32_t low, int32_t high, uint32_t *masks)
{
    static_assert(DECODE::RANGES, "the decoder tests ranges");
    const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const uint4 none = make_uint4(0, 0, 0, 0);
    uint64_t next_tile = 0;
    bool more = false;
    DECODE next;
    auto piece_at = [&](uint32_t item) {
        return item < items ? __ldg(work + item) : none;
    }; /* struct bound_work */
    auto seek = [&](const uint4 &piece) {
        more = lab_rows(piece, warp);
        next_tile = (uint64_t)piece.x * chunk_tiles + piece.y + warp;
        if (more) {
            next.seek(chunks[piece.x], piece.y + warp, lane);
            if (PRELOADS)
                next.preload();
        }
    };
    seek(piece_at(blockIdx.x));
    uint4 piece = piece_at(blockIdx.x + gridDim.x);
    for (uint32_t item = blockIdx.x; item < items; item += gridDim.x) {
        DECODE decode = next;
        const uint64_t tile = next_tile;
        const bool has_tile = more;
        seek(piece);
        piece = piece_at(item + 2 * gridDim.x);
        if (has_tile)
            masks[tile * TILE_LANES + lane] = decode.template in_range<PRELOADS>(low, high);
    }
}

#endif
