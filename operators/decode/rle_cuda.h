/*
 * rle_cuda.h: the decoder of rle: values and lengths of runs, in four passes. docs/codecs.md draws the bytes,
 * storage/codec/cascade/rle.c is the host's twin, decode_cuda.h says what a decoder defines.
 */
#ifndef TESSERA_OPERATORS_DECODE_RLE_CUDA_H
#define TESSERA_OPERATORS_DECODE_RLE_CUDA_H

#include "operators/decode/layers_cuda.h"

template <class VALUE> struct decode_rle : decode_layers {
    const uint32_t *values, *lengths; /* of this tile's runs */
    uint32_t count, tile, lane;

    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t of_tile, uint32_t of_lane)
    {
        const uint32_t *first_run = words_at(chunk.directory) + of_tile;
        const uint32_t first = load(first_run);
        count = load(first_run + 1) - first;
        values = words_at(chunk.data) + first * value_words<VALUE>;
        lengths = words_at(chunk.auxiliary) + first;
        tile = of_tile;
        lane = of_lane;
    }
    /* A tile's layers: 1024 starts, 1024 flags and then numbers. */
    template <uint32_t PASS> __device__ __forceinline__ void pass(uint64_t layers, VALUE *rows)
    {
        uint32_t *starts = reinterpret_cast<uint32_t *>(layers) + tile * 2 * TILE_ROWS,
                 *flags = starts + TILE_ROWS;
        static_assert(PASS < 4, "it has four passes");
        if constexpr (PASS == 0)
            runs_start([&](uint32_t run) { return load(lengths + run); }, count, lane, starts);
        else if constexpr (PASS == 1)
            runs_flag<TILE_ROWS>(starts, count, lane, flags);
        else if constexpr (PASS == 2)
            runs_number<TILE_ROWS>(flags, lane);
        else
            runs_gather<TILE_ROWS>(
                flags, [&](uint32_t run) { return load_value<VALUE>(values + run * value_words<VALUE>); },
                lane, rows);
    }
};

#endif
