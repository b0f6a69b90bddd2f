/*
 * delta_for_bp_cuda.h: the decoder of delta-for-bp: the groups of gpu-dfor in three passes, which unpack
 * bits, add references and add up differences. docs/codecs.md draws the bytes,
 * storage/codec/cascade/delta_for_bp.c is the host's twin, decode_cuda.h says what a decoder defines.
 */
#ifndef TESSERA_OPERATORS_DECODE_DELTA_FOR_BP_CUDA_H
#define TESSERA_OPERATORS_DECODE_DELTA_FOR_BP_CUDA_H

#include "operators/decode/for_bp_cuda.h"

template <class VALUE> struct decode_delta_for_bp : decode_layers {
    typedef unsigned_of<VALUE> bits;
    const uint32_t *data, *starts; /* of this tile's 8 blocks, in two groups */
    uint32_t tile, lane;

    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t of_tile, uint32_t of_lane)
    {
        data = words_at(chunk.data);
        starts = words_at(chunk.directory) + of_tile * 8;
        tile = of_tile;
        lane = of_lane;
    }
    template <uint32_t PASS> __device__ __forceinline__ void pass(uint64_t layers, VALUE *rows)
    {
        bits *differences = reinterpret_cast<bits *>(layers) + tile * TILE_ROWS;
        static_assert(PASS < 3, "it has three passes");
        if constexpr (PASS == 0)
            blocks_unpack<VALUE>(data, starts, lane, differences);
        else if constexpr (PASS == 1)
            blocks_add_references<VALUE>(data, starts, lane, differences, differences);
        else
            add_up(differences, rows);
    }
    /* A group's first value is before its first block; its first difference is 0. */
    __device__ __forceinline__ void add_up(const bits *differences, VALUE *rows)
    {
        const bits first[2] = {load_value<VALUE>(data + load(starts) - value_words<VALUE>),
                               load_value<VALUE>(data + load(starts + 4) - value_words<VALUE>)};
        bits difference[32];
        layer_load(differences, lane, difference);
        layer_add_up<16>(first[0], difference, lane, rows);
        layer_add_up<16>(first[1], difference + 16, lane, rows + 512);
    }
};

#endif
