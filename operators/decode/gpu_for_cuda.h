/*
 * gpu_for_cuda.h: the decoder of gpu-for: blocks of 128 values in four miniblocks of 32 (Shanbhag et al.,
 * SIGMOD 2022). docs/codecs.md draws the bytes, storage/codec/integer/gpu_for.c is the host's twin,
 * decode_cuda.h says what a decoder defines.
 */
#ifndef TESSERA_OPERATORS_DECODE_GPU_FOR_CUDA_H
#define TESSERA_OPERATORS_DECODE_GPU_FOR_CUDA_H

#include "operators/decode/decode_cuda.h"

/* Unpacks the eight GPU-FOR blocks of a tile, 128 values each: calls f(j, reference, packed) for j = 0 .. 31,
 * which is item j % 4 of block j / 4. All starts are loaded at once, then all headers, then the packed words:
 * three dependent accesses to memory a tile. The published encoder gives the four miniblocks of a block the
 * same width. Then a lane's word and shift are the same in each miniblock, and there is no branch between the
 * loads of different blocks. */
template <class VALUE, class F>
TILE_INLINE void gpu_tile_items(const uint32_t *data, const uint32_t *starts, uint32_t lane, F f)
{
    if constexpr (is_wide<VALUE>) {
#pragma unroll
        for (uint32_t b = 0; b < 8; b++) {
            const uint32_t *block = data + load(starts + b);
            const uint64_t reference = load_value<VALUE>(block);
            const uint32_t widths = load(block + value_words<VALUE>);
            const uint32_t *miniblock = block + value_words<VALUE> + 1;
#pragma unroll
            for (uint32_t m = 0; m < 4; m++) {
                const uint32_t width = widths >> (8 * m) & 0xff;
                f(4 * b + m, reference, unpack_wide(miniblock, 1, lane * width, width));
                miniblock += max(width, 1u);
            }
        }
        return;
    }
    const uint4 first = load(reinterpret_cast<const uint4 *>(starts)),
                second = load(reinterpret_cast<const uint4 *>(starts) + 1);
    const uint32_t block[8] = {first.x, first.y, first.z, first.w, second.x, second.y, second.z, second.w};
    uint32_t reference[8], widths[8];
    bool same = true;
#pragma unroll
    for (uint32_t b = 0; b < 8; b++) {
        reference[b] = load(data + block[b]);
        widths[b] = load(data + block[b] + 1);
    }
#pragma unroll
    for (uint32_t b = 0; b < 8; b++)
        same &= widths[b] == (widths[b] & 0xff) * 0x01010101u;
    if (same) {
#pragma unroll
        for (uint32_t b = 0; b < 8; b++) {
            const uint32_t width = widths[b] & 0xff, step = max(width, 1u), shift = lane * width,
                           mask = low_bits(width);
            const uint32_t word = block[b] + 2 + shift / 32;
#pragma unroll
            for (uint32_t m = 0; m < 4; m++) {
                const uint32_t *at = data + (word + m * step);
                f(4 * b + m, reference[b], __funnelshift_r(load(at), load(at + 1), shift) & mask);
            }
        }
        return;
    }
#pragma unroll
    for (uint32_t b = 0; b < 8; b++) {
        uint32_t miniblock = block[b] + 2;
#pragma unroll
        for (uint32_t m = 0; m < 4; m++) {
            const uint32_t width = widths[b] >> (8 * m) & 0xff;
            f(4 * b + m, reference[b], unpack(data + miniblock, lane * width, width));
            miniblock += max(width, 1u);
        }
    }
}

template <class VALUE> struct decode_gpu_for : decode_base {
    static constexpr bool RANDOM_ACCESS = true;
    static constexpr uint32_t SCRATCH_BYTES = 0;
    const uint32_t *data, *starts; /* of this tile's 8 blocks */
    uint32_t lane;

    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t tile, uint32_t of_lane)
    {
        data = words_at(chunk.data);
        starts = words_at(chunk.directory) + tile * 8;
        lane = of_lane;
    }
    __device__ __forceinline__ void preload()
    {
    }
    template <bool PRELOADED, class F> __device__ __forceinline__ void items(uint32_t *, F f)
    {
        typedef unsigned_of<VALUE> bits;
        gpu_tile_items<VALUE>(data, starts, lane, [&](uint32_t j, bits reference, bits packed) {
            f(j, (VALUE)(reference + packed));
        });
    }
    __device__ __forceinline__ void stage(uint32_t *)
    {
    }
    __device__ __forceinline__ VALUE item(const uint32_t *, uint32_t row)
    {
        const uint32_t j = row / 32;
        const uint32_t *block = data + load(starts + j / 4);
        const uint32_t widths = load(block + value_words<VALUE>);
        const uint32_t *miniblock = block + value_words<VALUE> + 1;
        for (uint32_t m = 0; m < j % 4; m++)
            miniblock += max(widths >> (8 * m) & 0xff, 1u);
        const uint32_t width = widths >> (8 * (j % 4)) & 0xff;
        return (VALUE)(load_value<VALUE>(block) + unpack_value<VALUE>(miniblock, row % 32 * width, width));
    }
};

#endif
