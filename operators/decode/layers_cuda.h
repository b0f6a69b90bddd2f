/*
 * layers_cuda.h: what decoders share that decode layer by layer: each function is the work of one pass on one
 * tile, by a warp. Layers are arrays in temporary global memory, written by one kernel and read by the next.
 */
#ifndef TESSERA_OPERATORS_DECODE_LAYERS_CUDA_H
#define TESSERA_OPERATORS_DECODE_LAYERS_CUDA_H

#include "operators/decode/decode_cuda.h"

/* Loads a lane's items of a layer, before the first result is stored: a store that might be to the same layer
 * would keep later loads waiting. */
template <uint32_t ITEMS, class T>
TILE_INLINE void layer_load(const T *layer, uint32_t lane, T (&items)[ITEMS])
{
#pragma unroll
    for (uint32_t j = 0; j < ITEMS; j++)
        items[j] = layer[32 * j + lane];
}

/* A prefix sum over ITEMS items of each lane, in the order of rows, that begins with `first`. */
template <uint32_t ITEMS, class UNSIGNED, class VALUE>
TILE_INLINE void layer_add_up(UNSIGNED first, const UNSIGNED *difference, uint32_t lane, VALUE *rows)
{
    UNSIGNED value = first; /* of the row before the lanes' next items */
#pragma unroll
    for (uint32_t j = 0; j < ITEMS; j++) {
        const UNSIGNED own = value + scan_values<UNSIGNED>(difference[j], lane);
        rows[32 * j + lane] = (VALUE)own;
        value = __shfl_sync(FULL_WARP, own, 31);
    }
}

/* ---- Run lengths, in four steps (Fang, He and Luo, PVLDB 2010; SIGMOD 2022, section 6) ---- */

/* Step 1: a prefix sum over `count` run lengths gives the rows at which runs start. LENGTH_OF(i) loads that
 * of run i; `starts` may have the place of the lengths. */
template <class LENGTH_OF>
TILE_INLINE void runs_start(LENGTH_OF length_of, uint32_t count, uint32_t lane, uint32_t *starts)
{
    uint32_t before = 0; /* rows of all runs before these 32 */
    for (uint32_t first = 0; first < count; first += 32) {
        const uint32_t run = first + lane;
        const uint32_t length = run < count ? length_of(run) : 0;
        const uint32_t end = before + scan_warp(length, lane);
        if (run < count)
            starts[run] = end - length;
        before = __shfl_sync(FULL_WARP, end, 31);
    }
}

/* Step 2: sets the flag of each row at which a run starts, of ROWS flags. */
template <uint32_t ROWS>
TILE_INLINE void runs_flag(const uint32_t *starts, uint32_t count, uint32_t lane, uint32_t *flags)
{
#pragma unroll
    for (uint32_t j = 0; j < ROWS / 32; j++)
        flags[32 * j + lane] = 0;
    __syncwarp();
#pragma unroll 4
    for (uint32_t run = lane; run < count; run += 32)
        flags[starts[run]] = 1;
}

/* Step 3: an inclusive prefix sum over the flags, in place, numbers the run of each row from 1. */
template <uint32_t ROWS> TILE_INLINE void runs_number(uint32_t *flags, uint32_t lane)
{
    uint32_t flag[ROWS / 32], before = 0;
    layer_load(flags, lane, flag);
#pragma unroll
    for (uint32_t j = 0; j < ROWS / 32; j++) {
        const uint32_t number = before + scan_warp(flag[j], lane);
        flags[32 * j + lane] = number;
        before = __shfl_sync(FULL_WARP, number, 31);
    }
}

/* Step 4: gathers the value of each row's run. VALUE_OF(i) loads that of run i. */
template <uint32_t ROWS, class VALUE, class VALUE_OF>
TILE_INLINE void runs_gather(const uint32_t *numbers, VALUE_OF value_of, uint32_t lane, VALUE *rows)
{
    uint32_t number[ROWS / 32];
    VALUE value[ROWS / 32];
    layer_load(numbers, lane, number);
#pragma unroll
    for (uint32_t j = 0; j < ROWS / 32; j++)
        value[j] = (VALUE)value_of(number[j] - 1);
#pragma unroll
    for (uint32_t j = 0; j < ROWS / 32; j++)
        rows[32 * j + lane] = value[j];
}

#endif
