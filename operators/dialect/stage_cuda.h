/*
 * stage_cuda.h: decodes a column into memory, for the kernels that stage columns (engine/gpu/decode.c). The
 * eight warps of a block take the eight tiles of a work item, as in a scan, or eight blocks of a byte stream.
 * Rows are written in their order, a whole line at a time.
 */
#ifndef TESSERA_OPERATORS_DIALECT_STAGE_CUDA_H
#define TESSERA_OPERATORS_DIALECT_STAGE_CUDA_H

#include "operators/decode/bytes/byte_block_cuda.h"
#include "operators/decode/decode_cuda.h"

#define STAGE_THREADS  (32 * WORK_TILES)
#define STAGE_RESIDENT 4 /* thread blocks that decode blocks on a multiprocessor: 64 registers a thread */

extern __shared__ __align__(16) unsigned char stage_shared[]; /* each warp's scratch of the decoder */

/* Runs pass PASS of a layered decoder; any other decoder has one pass. A chunk of `to` has its values at
 * `data` and the temporary memory between passes at `auxiliary`. */
template <class DECODE, class VALUE, uint32_t PASS>
TILE_INLINE void stage_column(const bound_chunk *from, const bound_chunk *to, const uint4 *work,
                              uint32_t items)
{
    const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    uint32_t *scratch = reinterpret_cast<uint32_t *>(stage_shared + warp * DECODE::SCRATCH_BYTES);
    for (uint32_t item = blockIdx.x; item < items; item += gridDim.x) {
        const uint4 piece = __ldg(work + item); /* struct bound_work */
        if ((piece.z & 0xffff) <= warp * TILE_ROWS)
            continue;
        const uint32_t tile = piece.y + warp;
        VALUE *rows = reinterpret_cast<VALUE *>(to[piece.x].data) + (uint64_t)tile * TILE_ROWS;
        DECODE decode;
        decode.seek(from[piece.x], tile, lane);
        if constexpr (DECODE::LAYERED)
            decode.template pass<PASS>(to[piece.x].auxiliary, rows);
        else
            decode.template items<false>(scratch,
                                         [&](uint32_t j, VALUE value) { rows[32 * j + lane] = value; });
        __syncwarp(); /* the next tile reuses the scratch */
    }
}

/* Decodes blocks of byte streams, each by a warp. A block whose stream is damaged lowers *fault to its segment and number
 * (docs/codecs.md draws a chunk's directory: the starts of streams follow two words). */
template <class DECODE, class VALUE>
TILE_INLINE void stage_blocks(const bound_chunk *from, const bound_chunk *to, const uint4 *work,
                              uint32_t items, unsigned long long *fault)
{
    const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    uint32_t *scratch = reinterpret_cast<uint32_t *>(stage_shared + warp * DECODE::SCRATCH_BYTES);
    for (uint32_t item = blockIdx.x * WORK_TILES + warp; item < items; item += gridDim.x * WORK_TILES) {
        const uint4 piece = __ldg(work + item); /* struct bound_block */
        const uint32_t *starts = words_at(from[piece.x].directory) + 2 + piece.y;
        const uint32_t start = load(starts);
        const uint64_t tile_bytes = TILE_ROWS * sizeof(VALUE);
        const byte_block block = {reinterpret_cast<const uint8_t *>(from[piece.x].data) + start,
                                  load(starts + 1) - start,
                                  reinterpret_cast<uint8_t *>(to[piece.x].data) + piece.z * tile_bytes,
                                  (uint32_t)(piece.w * tile_bytes)};
        if (!DECODE::decode(block, lane, scratch) && lane == 0)
            atomicMin(fault, (unsigned long long)piece.x << 32 | piece.y);
        __syncwarp(); /* the next block reuses the scratch */
    }
}

#endif
