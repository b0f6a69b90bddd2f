/*
 * rle_for_bp_cuda.h: the decoder of rle-for-bp: the blocks of gpu-rfor in eight passes. docs/codecs.md draws
 * the bytes, storage/codec/cascade/rle_for_bp.c is the host's twin, decode_cuda.h says what a decoder
 * defines.
 */
#ifndef TESSERA_OPERATORS_DECODE_RLE_FOR_BP_CUDA_H
#define TESSERA_OPERATORS_DECODE_RLE_FOR_BP_CUDA_H

#include "operators/decode/layers_cuda.h"

#define RUN_ROWS 512u /* a tile has two blocks of runs */

/* A block of run values, or of run lengths (ITEM is then int32_t). */
template <class ITEM> struct run_stream {
    const uint32_t *words;

    /* A pass: unpacks the bits of the block's items. */
    __device__ __forceinline__ void unpack_items(uint32_t lane, unsigned_of<ITEM> *layer) const
    {
        const uint32_t width = load(words + value_words<ITEM>) & 0xff, runs = count();
#pragma unroll 4
        for (uint32_t run = lane; run < runs; run += 32)
            layer[run] = unpack_value<ITEM>(words + value_words<ITEM> + 2, run * width, width);
    }
    /* A pass: adds the block's reference, in place. */
    __device__ __forceinline__ void add_reference(uint32_t lane, unsigned_of<ITEM> *layer) const
    {
        const unsigned_of<ITEM> reference = load_value<ITEM>(words);
        const uint32_t runs = count();
#pragma unroll 4
        for (uint32_t run = lane; run < runs; run += 32)
            layer[run] += reference;
    }
    __device__ __forceinline__ uint32_t count() const
    {
        return load(words + value_words<ITEM> + 1);
    }
};

template <class VALUE> struct decode_rle_for_bp : decode_layers {
    typedef unsigned_of<VALUE> bits;
    const uint32_t *data, *auxiliary, *value_starts, *run_starts;
    uint32_t tile, lane;

    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t of_tile, uint32_t of_lane)
    {
        data = words_at(chunk.data);
        auxiliary = words_at(chunk.auxiliary);
        value_starts = words_at(chunk.directory) + of_tile * 2;
        run_starts = value_starts + (uint32_t)chunk.detail + 1;
        tile = of_tile;
        lane = of_lane;
    }
    /* A tile's layers: 1024 run values, 1024 run lengths and then starts, 1024 flags and then numbers. */
    template <uint32_t PASS> __device__ __forceinline__ void pass(uint64_t layers, VALUE *rows)
    {
        const uint64_t mine = layers + (uint64_t)tile * TILE_ROWS * (sizeof(VALUE) + 8);
        static_assert(PASS < 8, "it has eight passes");
#pragma unroll
        for (uint32_t b = 0; b < 2; b++)
            block_pass<PASS>(b, reinterpret_cast<bits *>(mine) + b * RUN_ROWS,
                             reinterpret_cast<uint32_t *>(mine + TILE_ROWS * sizeof(VALUE)) + b * RUN_ROWS,
                             reinterpret_cast<uint32_t *>(mine + TILE_ROWS * (sizeof(VALUE) + 4)) +
                                 b * RUN_ROWS,
                             rows + b * RUN_ROWS);
    }
    template <uint32_t PASS>
    __device__ __forceinline__ void block_pass(uint32_t b, bits *run_values, uint32_t *lengths,
                                               uint32_t *flags, VALUE *rows)
    {
        const run_stream<VALUE> values = {data + load(value_starts + b)};
        const run_stream<int32_t> runs = {auxiliary + load(run_starts + b)};
        if constexpr (PASS == 0)
            values.unpack_items(lane, run_values);
        else if constexpr (PASS == 1)
            values.add_reference(lane, run_values);
        else if constexpr (PASS == 2)
            runs.unpack_items(lane, lengths);
        else if constexpr (PASS == 3)
            runs.add_reference(lane, lengths);
        else if constexpr (PASS == 4)
            runs_start([&](uint32_t run) { return lengths[run]; }, runs.count(), lane, lengths);
        else if constexpr (PASS == 5)
            runs_flag<RUN_ROWS>(lengths, runs.count(), lane, flags);
        else if constexpr (PASS == 6)
            runs_number<RUN_ROWS>(flags, lane);
        else
            runs_gather<RUN_ROWS>(
                flags, [&](uint32_t run) { return run_values[run]; }, lane, rows);
    }
};

#endif
