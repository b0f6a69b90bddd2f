/*
 * decode_cuda.h: the laboratory's kernels around a codec's decoder: sum a column, compare decoded values. A block has
 * eight warps, which take the eight tiles of a work item, as in a scan.
 */
#ifndef TESSERA_LAB_KERNELS_DECODE_CUDA_H
#define TESSERA_LAB_KERNELS_DECODE_CUDA_H

#include "operators/decode/decode_cuda.h"

extern __shared__ __align__(16) unsigned char lab_shared[]; /* each warp's scratch of the decoder */

/* The rows of this warp's tile of a work item; 0: it has none. */
TILE_INLINE uint32_t lab_rows(const uint4 &piece, uint32_t warp)
{
    return piece.z <= warp * TILE_ROWS ? 0 : min(piece.z - warp * TILE_ROWS, TILE_ROWS);
}

/* Adds all values to *out, modulo 2^32. A warp seeks and preloads its next tile before it decodes this one, so that the
 * loads of both are in flight, and reads the work item after that, so that seeking does not wait for it. PRELOADS says
 * whether preload() is to load the next tile's words. */
template <class DECODE, bool PRELOADS>
TILE_INLINE void lab_sum(const bound_chunk *chunks, const uint4 *work, uint32_t items, uint32_t *out)
{
    const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    uint32_t *scratch = reinterpret_cast<uint32_t *>(lab_shared + warp * DECODE::SCRATCH_BYTES);
    const uint4 none = make_uint4(0, 0, 0, 0);
    uint32_t next_rows = 0, sum = 0;
    DECODE next;
    auto piece_at = [&](uint32_t item) {
        return item < items ? __ldg(work + item) : none;
    }; /* struct bound_work */
    auto seek = [&](const uint4 &piece) {
        next_rows = lab_rows(piece, warp);
        if (next_rows) {
            next.seek(chunks[piece.x], piece.y + warp, lane);
            if (PRELOADS)
                next.preload();
        }
    };
    seek(piece_at(blockIdx.x));
    uint4 piece = piece_at(blockIdx.x + gridDim.x);
    for (uint32_t item = blockIdx.x; item < items; item += gridDim.x) {
        DECODE decode = next;
        const uint32_t rows = next_rows;
        seek(piece);
        piece = piece_at(item + 2 * gridDim.x);
        if (rows == TILE_ROWS)
            decode.template items<PRELOADS>(scratch,
                                            [&](uint32_t, int32_t value) { sum += (uint32_t)value; });
        else if (rows)
            decode.template items<PRELOADS>(scratch, [&](uint32_t j, int32_t value) {
                sum += 32 * j + lane < rows ? (uint32_t)value : 0u;
            });
        __syncwarp(); /* the next tile reuses the scratch */
    }
    sum = sum_warp(sum);
    if (lane == 0)
        atomicAdd(out, sum);
}

/* Counts the values that differ. */
TILE_INLINE void lab_compare(const int32_t *values, const int32_t *expected, uint64_t rows, uint32_t *out)
{
    uint32_t wrong = 0;
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < rows;
         i += gridDim.x * (uint64_t)blockDim.x)
        wrong += values[i] != expected[i];
    wrong = sum_warp(wrong);
    if (threadIdx.x % 32 == 0 && wrong)
        atomicAdd(out, wrong);
}

#endif
