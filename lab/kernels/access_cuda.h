/*
 * access_cuda.h: sums the rows of a column that a bit vector selects. Word l of a tile's 32 words has lane l's 32 items,
 * bit j item j, which is row 32j + l. A warp takes a tile.
 */
#ifndef TESSERA_LAB_KERNELS_ACCESS_CUDA_H
#define TESSERA_LAB_KERNELS_ACCESS_CUDA_H

#include "lab/kernels/decode_cuda.h"

/* Selects each row with probability `threshold` / 2^32, by a hash of its number (Steele et al., OOPSLA 2014). */
TILE_INLINE void lab_select(uint32_t *bits, uint64_t rows, uint64_t threshold)
{
    const uint64_t words = (rows + TILE_ROWS - 1) / TILE_ROWS * TILE_LANES;
    for (uint64_t w = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; w < words;
         w += gridDim.x * (uint64_t)blockDim.x) {
        uint32_t word = 0;
        for (uint32_t j = 0; j < 32; j++) {
            const uint64_t row = w / TILE_LANES * TILE_ROWS + 32 * j + w % TILE_LANES;
            uint64_t z = (row + 1) * 0x9e3779b97f4a7c15ull;
            z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
            z = (z ^ z >> 27) * 0x94d049bb133111ebull;
            word |= (uint32_t)(row < rows && (uint32_t)((z ^ z >> 31) >> 32) < threshold) << j;
        }
        bits[w] = word;
    }
}

/* The sum of the selected rows of a plain array, with which the others are compared. */
TILE_INLINE void lab_expected(const int32_t *values, const uint32_t *bits, uint64_t rows, uint32_t *out)
{
    uint32_t sum = 0;
    for (uint64_t row = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; row < rows;
         row += gridDim.x * (uint64_t)blockDim.x)
        if (bits[row / TILE_ROWS * TILE_LANES + row % TILE_LANES] >> row % TILE_ROWS / TILE_LANES & 1)
            sum += (uint32_t)values[row];
    sum = sum_warp(sum);
    if (threadIdx.x % 32 == 0 && sum)
        atomicAdd(out, sum);
}

/* A tile without a selected row is not read. FETCH: the selected rows of a tile are read one by one, else the whole tile
 * is decoded. */
template <class DECODE, bool FETCH>
TILE_INLINE void lab_access(const bound_chunk *chunks, const uint4 *work, uint32_t items,
                            uint32_t chunk_tiles, const uint32_t *bits, uint32_t *out)
{
    const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    uint32_t *scratch = reinterpret_cast<uint32_t *>(lab_shared + warp * DECODE::SCRATCH_BYTES);
    uint32_t sum = 0;
    for (uint32_t item = blockIdx.x; item < items; item += gridDim.x) {
        const uint4 piece = __ldg(work + item); /* struct bound_work */
        if (!lab_rows(piece, warp))
            continue;
        const uint32_t tile = piece.y + warp;
        uint32_t keep = __ldg(bits + ((uint64_t)piece.x * chunk_tiles + tile) * TILE_LANES + lane);
        if (!__any_sync(FULL_WARP, keep))
            continue;
        DECODE decode;
        decode.seek(chunks[piece.x], tile, lane);
        if constexpr (FETCH) {
            decode.stage(scratch);
            for (; keep; keep &= keep - 1)
                sum += (uint32_t)decode.item(scratch, 32 * (__ffs(keep) - 1) + lane);
        } else {
            decode.template items<false>(
                scratch, [&](uint32_t j, int32_t value) { sum += keep >> j & 1 ? (uint32_t)value : 0u; });
        }
        __syncwarp(); /* the next tile reuses the scratch */
    }
    sum = sum_warp(sum);
    if (lane == 0)
        atomicAdd(out, sum);
}

#endif
