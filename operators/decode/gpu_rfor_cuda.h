/*
 * gpu_rfor_cuda.h: the decoder of gpu-rfor: run values and run lengths of 512 rows, each packed.
 * docs/codecs.md draws the bytes, storage/codec/integer/gpu_rfor.c is the host's twin, decode_cuda.h says
 * what a decoder defines.
 */
#ifndef TESSERA_OPERATORS_DECODE_GPU_RFOR_CUDA_H
#define TESSERA_OPERATORS_DECODE_GPU_RFOR_CUDA_H

#include "operators/decode/decode_cuda.h"

/* Sets the bit of each run's first row in the marks of a block of 512 rows, which were 0. A lane takes runs that follow
 * each other: so one scan over the warp is enough for a block, and most of a lane's bits are in one word. */
TILE_INLINE void mark_runs(const uint32_t *packed, uint32_t reference, uint32_t width, uint32_t count,
                           uint32_t *marks, uint32_t lane)
{
    const uint32_t each = (count + 31) / 32, first = min(lane * each, count), last = min(first + each, count);
    uint32_t rows = 0, bits = 0;
#pragma unroll 4
    for (uint32_t run = first; run < last; run++)
        rows += reference + unpack(packed, run * width, width);
    uint32_t start = scan_warp(rows, lane) - rows, word = start / 32;
#pragma unroll 4
    for (uint32_t run = first; run < last; run++) {
        if (start / 32 != word) {
            atomicOr(marks + word, bits);
            bits = 0;
            word = start / 32;
        }
        bits |= 1u << start % 32;
        start += reference + unpack(packed, run * width, width);
    }
    if (bits)
        atomicOr(marks + word, bits);
}

/* It decodes to rank form: the run lengths set a bit for each run's start, and a row's run is the rank of its
 * bit. */
template <class VALUE> struct decode_gpu_rfor : decode_base {
    static constexpr bool RANDOM_ACCESS = false;
    static constexpr uint32_t SCRATCH_BYTES = 128; /* 32 mark words */
    const uint32_t *data, *auxiliary, *value_starts, *run_starts;
    uint32_t lane;

    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t tile, uint32_t of_lane)
    {
        data = words_at(chunk.data);
        auxiliary = words_at(chunk.auxiliary);
        value_starts = words_at(chunk.directory) + tile * 2;
        run_starts = value_starts + (uint32_t)chunk.detail + 1;
        lane = of_lane;
    }
    __device__ __forceinline__ void preload()
    {
    }
    template <bool PRELOADED, class F> __device__ __forceinline__ void items(uint32_t *scratch, F f)
    {
        __syncwarp();
        scratch[lane] = 0;
        __syncwarp();
        bool single[2]; /* every run of the block has length 1 */
#pragma unroll
        for (uint32_t b = 0; b < 2; b++) {
            const uint32_t *runs = auxiliary + load(run_starts + b);
            const uint32_t reference = load(runs), width = load(runs + 1) & 0xff, count = load(runs + 2);
            single[b] = count == 512;
            if (!single[b])
                mark_runs(runs + 3, reference, width, count, scratch + 16 * b, lane);
        }
        __syncwarp();
        const uint32_t mark = scratch[lane], count = __popc(mark);
        uint32_t before = scan_warp(count, lane) - count;
        const uint32_t first_block = __shfl_sync(FULL_WARP, before, 16);
        before -= lane < 16 ? 0 : first_block; /* ranks start from 0 in each block of 512 */
#pragma unroll
        for (uint32_t b = 0; b < 2; b++) {
            const uint32_t *values = data + load(value_starts + b);
            const unsigned_of<VALUE> reference = load_value<VALUE>(values);
            const uint32_t width = load(values + value_words<VALUE>) & 0xff;
            const uint32_t *packed = values + value_words<VALUE> + 2;
            if (single[b]) {
#pragma unroll
                for (uint32_t j = 0; j < 16; j++)
                    f(16 * b + j,
                      (VALUE)(reference + unpack_value<VALUE>(packed, (32 * j + lane) * width, width)));
                continue;
            }
#pragma unroll
            for (uint32_t j = 16 * b; j < 16 * b + 16; j++) {
                const uint32_t word = __shfl_sync(FULL_WARP, mark, j);
                const uint32_t rank =
                    __shfl_sync(FULL_WARP, before, j) + __popc(word & (0xffffffffu >> (31 - lane))) - 1;
                f(j, (VALUE)(reference + unpack_value<VALUE>(packed, rank * width, width)));
            }
        }
    }
    __device__ __forceinline__ void stage(uint32_t *)
    {
    }
};

#endif
