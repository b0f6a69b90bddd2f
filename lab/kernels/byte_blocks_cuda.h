/*
 * byte_blocks_cuda.h: the laboratory's kernels around a decoder of byte streams (operators/decode/bytes/byte_block_cuda.h):
 * decode a list of blocks, and compare bytes.
 */
#ifndef TESSERA_LAB_KERNELS_BYTE_BLOCKS_CUDA_H
#define TESSERA_LAB_KERNELS_BYTE_BLOCKS_CUDA_H

#include "operators/decode/bytes/byte_block_cuda.h"

#define LAB_BLOCK_WARPS 8u /* of a thread block; each has a block of the stream */

/* Adds the number of blocks that are not right to *faults. */
template <class DECODER>
TILE_INLINE void lab_decode_blocks(const byte_block *blocks, uint32_t count, uint32_t *faults)
{
    extern __shared__ __align__(128) unsigned char lab_scratch[]; /* each warp's */
    const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const uint32_t b = blockIdx.x * LAB_BLOCK_WARPS + warp;
    if (b >= count)
        return;
    const byte_block block = blocks[b];
    const bool right = DECODER::decode(block, lane, lab_scratch + warp * (uint32_t)DECODER::SCRATCH_BYTES);
    if (!right && lane == 0)
        atomicAdd(faults, 1u);
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
