/*
 * byte_threads_cuda.h: the microbenchmark of CODAG, section IV-D: a warp reads words of memory and does so many operations for
 * each, all its lanes alike or lane 0 alone, as decoders do that a warp shares (published_one_lane of
 * lab/kernels/bytes_published/). An operation is a multiply-add that needs the one before, as a decoder's state does.
 *
 * Each warp reads a word of `accesses` lines of 128 bytes, warp after warp, and again from the first line after the last.
 * All lanes of a warp load the same word, so both ways move the same bytes. lab/bytes/byte_threads.c has it in C.
 */
#ifndef TESSERA_LAB_KERNELS_BYTE_THREADS_CUDA_H
#define TESSERA_LAB_KERNELS_BYTE_THREADS_CUDA_H

#include "operators/decode/unpack_cuda.h"

struct byte_threads_work {
    const uint32_t *words;
    uint32_t lines, accesses, operations, factor;
};

/* The state after all accesses of a warp. */
TILE_INLINE uint32_t byte_threads_decode(const byte_threads_work &work, uint32_t warp, uint32_t warps)
{
    uint32_t state = warp, line = warp % work.lines;
    const uint32_t step = warps % work.lines;
    for (uint32_t access = 0; access < work.accesses; access++) {
        const uint32_t word = work.words[line * 32ull];
        for (uint32_t operation = 0; operation < work.operations; operation++)
            state = state * work.factor + word;
        line += step;
        line -= line >= work.lines ? work.lines : 0;
    }
    return state;
}

/* states gets the state of each lane of each warp; one lane sends its own to the others at the end. */
template <bool ALL> TILE_INLINE void byte_threads(const byte_threads_work &work, uint32_t *states)
{
    const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    uint32_t state = 0;
    if (ALL || lane == 0)
        state = byte_threads_decode(work, thread / 32, gridDim.x * blockDim.x / 32);
    if (!ALL)
        state = __shfl_sync(FULL_WARP, state, 0);
    states[thread] = state;
}

#endif
