/*
 * gpu_bp_cuda.h: decodes GPU-BP: blocks of BLOCK values of one width, which follows from the block's length (Mallia et
 * al., CIKM 2019, section 3.1). The codecs with blocks of 128 and of 256 values share it.
 *
 * The published kernel gives a thread one value. Here a lane has 32, so a warp loads the end points of its tile once,
 * all at a time, and then there is one more dependent access to memory: the packed words.
 */
#ifndef TESSERA_OPERATORS_DECODE_LISTS_GPU_BP_CUDA_H
#define TESSERA_OPERATORS_DECODE_LISTS_GPU_BP_CUDA_H

#include "operators/decode/decode_cuda.h"

template <class VALUE, uint32_t BLOCK> struct gpu_bp_tile : decode_base {
    static constexpr bool RANDOM_ACCESS = true;
    static constexpr uint32_t SCRATCH_BYTES = 0;
    static constexpr uint32_t BLOCKS = TILE_ROWS / BLOCK; /* of a tile */
    static constexpr uint32_t ITEMS =
        BLOCK / 32;                      /* that a lane has of a block; its words are ITEMS * width */
    static constexpr uint32_t BATCH = 8; /* items whose words are loaded before the first of them is used */
    const uint32_t *data, *ends;         /* of this tile's blocks: block b is words [ends[b], ends[b + 1]) */
    uint32_t lane;

    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t tile, uint32_t of_lane)
    {
        data = words_at(chunk.data);
        ends = words_at(chunk.directory) + tile * BLOCKS;
        lane = of_lane;
    }
    __device__ __forceinline__ void preload()
    {
    }
    template <bool PRELOADED, class F> __device__ __forceinline__ void items(uint32_t *, F f)
    {
        uint32_t end[BLOCKS + 1];
#pragma unroll
        for (uint32_t b = 0; b < BLOCKS; b += 4) {
            const uint4 four = load(reinterpret_cast<const uint4 *>(ends + b));
            end[b] = four.x;
            end[b + 1] = four.y;
            end[b + 2] = four.z;
            end[b + 3] = four.w;
        }
        end[BLOCKS] = load(ends + BLOCKS);
        if constexpr (is_wide<VALUE>) {
#pragma unroll
            for (uint32_t b = 0; b < BLOCKS; b++) {
                const uint32_t width = (end[b + 1] - end[b]) / ITEMS;
#pragma unroll
                for (uint32_t m = 0; m < ITEMS; m++)
                    f(ITEMS * b + m, (VALUE)unpack_wide(data + end[b] + m * width, 1, lane * width, width));
            }
            return;
        }
#pragma unroll
        for (uint32_t first = 0; first < 32; first += BATCH) {
            uint32_t low[BATCH], high[BATCH];
#pragma unroll
            for (uint32_t i = 0; i < BATCH; i++) {
                const uint32_t b = (first + i) / ITEMS, m = (first + i) % ITEMS;
                const uint32_t width = (end[b + 1] - end[b]) / ITEMS;
                const uint32_t *word = data + (end[b] + lane * width / 32 + m * width);
                low[i] = load(word);
                high[i] = load(word + 1);
            }
#pragma unroll
            for (uint32_t i = 0; i < BATCH; i++) {
                const uint32_t b = (first + i) / ITEMS, width = (end[b + 1] - end[b]) / ITEMS;
                f(first + i, (VALUE)(__funnelshift_r(low[i], high[i], lane * width) & low_bits(width)));
            }
        }
    }
    __device__ __forceinline__ void stage(uint32_t *)
    {
    }
    __device__ __forceinline__ VALUE item(const uint32_t *, uint32_t row)
    {
        const uint32_t begin = load(ends + row / BLOCK), end = load(ends + row / BLOCK + 1);
        const uint32_t width = (end - begin) / ITEMS;
        return (VALUE)unpack_value<VALUE>(data + begin, row % BLOCK * width, width);
    }
};

#endif
