/*
 * for_bp_cuda.h: the decoder of for-bp: the blocks of gpu-for in two passes, which unpack bits and add
 * references. docs/codecs.md draws the bytes, storage/codec/cascade/for_bp.c is the host's twin,
 * decode_cuda.h says what a decoder defines.
 */
#ifndef TESSERA_OPERATORS_DECODE_FOR_BP_CUDA_H
#define TESSERA_OPERATORS_DECODE_FOR_BP_CUDA_H

#include "operators/decode/gpu_for_cuda.h"
#include "operators/decode/layers_cuda.h"

/* A pass: unpacks the bits of a tile's eight blocks. */
template <class VALUE>
TILE_INLINE void blocks_unpack(const uint32_t *data, const uint32_t *starts, uint32_t lane,
                               unsigned_of<VALUE> *layer)
{
    typedef unsigned_of<VALUE> bits;
    gpu_tile_items<VALUE>(data, starts, lane,
                          [&](uint32_t j, bits, bits packed) { layer[32 * j + lane] = packed; });
}

/* A pass: adds the blocks' references. `out` may be `layer`. */
template <class VALUE>
TILE_INLINE void blocks_add_references(const uint32_t *data, const uint32_t *starts, uint32_t lane,
                                       const unsigned_of<VALUE> *layer, unsigned_of<VALUE> *out)
{
    unsigned_of<VALUE> offset[32], reference[8];
#pragma unroll
    for (uint32_t b = 0; b < 8; b++)
        reference[b] = load_value<VALUE>(data + load(starts + b));
    layer_load(layer, lane, offset);
#pragma unroll
    for (uint32_t j = 0; j < 32; j++)
        out[32 * j + lane] = offset[j] + reference[j / 4];
}

template <class VALUE> struct decode_for_bp : decode_layers {
    typedef unsigned_of<VALUE> bits;
    const uint32_t *data, *starts; /* of this tile's 8 blocks */
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
        bits *offsets = reinterpret_cast<bits *>(layers) + tile * TILE_ROWS;
        static_assert(PASS < 2, "it has two passes");
        if constexpr (PASS == 0)
            blocks_unpack<VALUE>(data, starts, lane, offsets);
        else
            blocks_add_references<VALUE>(data, starts, lane, offsets, reinterpret_cast<bits *>(rows));
    }
};

#endif
