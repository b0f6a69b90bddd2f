/*
 * gpu_rfor_cuda.h: the decoder of gpu-rfor: run values and run lengths of 512 rows, each packed.
 * docs/codecs.md draws the bytes, storage/codec/integer/gpu_rfor.c is the host's twin, decode_cuda.h says
 * what a decoder defines.
 */
#ifndef TESSERA_OPERATORS_DECODE_GPU_RFOR_CUDA_H
#define TESSERA_OPERATORS_DECODE_GPU_RFOR_CUDA_H

#include "operators/decode/decode_cuda.h"

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
            uint32_t end = 0; /* the rows of all runs before these 32 */
            single[b] = count == 512;
            for (uint32_t first = 0; first < count && !single[b]; first += 32) {
                const uint32_t run = first + lane;
                const uint32_t length = run < count ? reference + unpack(runs + 3, run * width, width) : 0;
                const uint32_t start = end + scan_warp(length, lane) - length;
                if (run < count)
                    atomicOr(&scratch[16 * b + start / 32], 1u << start % 32);
                end = __shfl_sync(FULL_WARP, start + length, 31);
            }
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
