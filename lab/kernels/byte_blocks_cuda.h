/*
 * byte_blocks_cuda.h: the laboratory's kernels around decoders of byte streams (operators/decode/bytes), ours and as published:
 * decode a list of blocks, a warp a block, and compare what a decoder gave with what was compressed. The other ways that
 * the paper compares have kernels of their own (byte_streams_cuda.h).
 */
#ifndef TESSERA_LAB_KERNELS_BYTE_BLOCKS_CUDA_H
#define TESSERA_LAB_KERNELS_BYTE_BLOCKS_CUDA_H

#include "lab/kernels/decode_cuda.h"
#include "operators/decode/bytes/byte_block_cuda.h"

TILE_INLINE uint32_t take_block(uint32_t *next, uint32_t lane)
{
    uint32_t taken = 0;
    if (lane == 0)
        taken = atomicAdd(next, 1u);
    return __shfl_sync(FULL_WARP, taken, 0);
}

/* Warps take one block after the other, by *next, which is 0 before; so any grid will do. *faults gets the number of blocks
 * that are not right. */
template <class DECODER>
TILE_INLINE void lab_decode_blocks(const byte_block *blocks, uint32_t count, uint32_t *next, uint32_t *faults)
{
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint32_t *const scratch = reinterpret_cast<uint32_t *>(lab_shared + warp * DECODER::SCRATCH_BYTES);
    for (uint32_t b = take_block(next, lane); b < count; b = take_block(next, lane)) {
        const byte_block block = blocks[b]; /* in registers: stores to its output might change the list */
        const bool right = DECODER::decode(block, lane, scratch);
        if (!right && lane == 0)
            atomicAdd(faults, 1u);
        __syncwarp(); /* the next block reuses the scratch */
    }
}

/* Counts the words of 8 bytes that differ from those expected, in each of `copies` copies, which are `stride` words
 * apart. The last copy has `rest` words. */
TILE_INLINE void lab_compare_copies(const uint64_t *words, const uint64_t *expected, uint64_t copy_words,
                                    uint64_t stride, uint32_t copies, uint64_t rest, uint32_t *wrong)
{
    uint32_t found = 0;
    for (uint32_t copy = 0; copy < copies; copy++) {
        const uint64_t end = copy + 1 < copies ? copy_words : rest;
        for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < end;
             i += gridDim.x * (uint64_t)blockDim.x)
            found += words[copy * stride + i] != expected[i];
    }
    found = sum_warp(found);
    if (threadIdx.x % 32 == 0 && found)
        atomicAdd(wrong, found);
}

#endif
