/*
 * planner_cuda.h: the decoder of planner: a pass for each layer of the chunk's plan. docs/codecs.md draws the
 * bytes, storage/codec/cascade/planner.c is the host's twin, decode_cuda.h says what a decoder defines.
 */
#ifndef TESSERA_OPERATORS_DECODE_PLANNER_CUDA_H
#define TESSERA_OPERATORS_DECODE_PLANNER_CUDA_H

#include "operators/decode/layers_cuda.h"
#include "operators/decode/nsv_cuda.h"
#include "storage/codec/cascade/planner_layers.h"

/* Stores F(item) for `count` items, eight of each lane at a time, whose loads are in flight at once. */
template <class T, class F> TILE_INLINE void layer_map(uint32_t count, uint32_t lane, T *to, F item)
{
    for (uint32_t first = lane; first < count; first += 256) {
        T value[8];
#pragma unroll
        for (uint32_t k = 0; k < 8; k++)
            value[k] = first + 32 * k < count ? item(first + 32 * k) : 0;
#pragma unroll
        for (uint32_t k = 0; k < 8; k++)
            if (first + 32 * k < count)
                to[first + 32 * k] = value[k];
    }
}

/* Undoes null suppression of `count` items from byte `start` of `stream` on. */
template <class T>
TILE_INLINE void restore(uint64_t stream, uint64_t start, uint32_t count, uint32_t width, uint32_t lane,
                         T *to)
{
    const uint64_t in = stream + start;
    if (width == 0) {
        const uint32_t words = (count + 15) / 16, first = 2 * lane;
        const uint2 lengths = {first < words ? load(words_at(in) + first) : 0,
                               first + 1 < words ? load(words_at(in) + first + 1) : 0};
        nsv_items<int32_t, false>(words_at(in), 4 * words, lengths, count, lane,
                                  [&](uint32_t j, uint32_t value) { to[32 * j + lane] = value; });
    } else if (width == 1) {
        layer_map(count, lane, to,
                  [&](uint32_t i) { return (T)load(reinterpret_cast<const uint8_t *>(in) + i); });
    } else if (width == 2) {
        layer_map(count, lane, to,
                  [&](uint32_t i) { return (T)load(reinterpret_cast<const uint16_t *>(in) + i); });
    } else if (width == 4) {
        layer_map(count, lane, to, [&](uint32_t i) { return (T)load(words_at(in) + i); });
    } else if constexpr (sizeof(T) == 8) {
        layer_map(count, lane, to, [&](uint32_t i) { return (T)load_value<int64_t>(words_at(in) + 2 * i); });
    }
}

template <class VALUE> struct decode_planner : decode_layers {
    typedef unsigned_of<VALUE> bits;
    const uint32_t *head;
    uint64_t data, auxiliary, passes;
    uint32_t tile, lane;

    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t of_tile, uint32_t of_lane)
    {
        head = words_at(chunk.directory);
        data = chunk.data;
        auxiliary = chunk.auxiliary;
        passes = chunk.detail;
        tile = of_tile;
        lane = of_lane;
    }

    /* The plan, and where the items of this tile are. */
    struct place {
        uint32_t layers, value_width, length_width;
        uint32_t count; /* of runs; without RLE, of rows */
        uint64_t value_start, length_start;
        const uint32_t *first; /* the item before DELTA */
    };
    __device__ __forceinline__ place place_of() const
    {
        const uint32_t plan = load(head);
        place at = {plan & 0xff, plan >> 8 & 0xff, plan >> 16 & 0xff, TILE_ROWS, 0, 0, nullptr};
        const uint32_t rle = at.layers & PLANNER_RLE ? 1 : 0, values = at.value_width == 0 ? 1 : 0,
                       lengths = rle && at.length_width == 0 ? 1 : 0;
        const uint32_t words = rle + values + lengths + (at.layers & PLANNER_DELTA ? value_words<VALUE> : 0);
        const uint32_t *entry = head + PLANNER_HEAD_WORDS + tile * words;
        const uint32_t first_run = rle ? load(entry) : tile * TILE_ROWS;
        if (rle)
            at.count = load(entry + words) - first_run;
        at.value_start = values ? load(entry + rle) * 4ull : (uint64_t)first_run * at.value_width;
        at.length_start = lengths ? load(entry + rle + values) * 4ull : (uint64_t)first_run * at.length_width;
        at.first = entry + rle + values + lengths;
        return at;
    }

    /* Whether some plan has this pass in place PASS. The passes come in the order of their numbers, and only
     * RLE needs those from the fifth on, all of them. */
    template <uint32_t PASS, uint32_t OPERATION>
    static constexpr bool MAY_BE = PASS + 1 <= OPERATION &&PASS + 1 >= (OPERATION <= PLANNER_PASS_VALUES ? 1
                                                                        : OPERATION <= PLANNER_PASS_LENGTHS
                                                                            ? 2
                                                                            : OPERATION - 3);

    /* A tile's layers: 1024 values or run values; with RLE, 1024 run lengths and then starts, and 1024 flags and
     * then numbers. The last pass writes rows instead of the first layer. */
    template <uint32_t PASS> __device__ __forceinline__ void pass(uint64_t layers, VALUE *rows)
    {
        static_assert(PASS < PLANNER_PASSES, "a plan has up to nine passes");
        const uint32_t operation = passes >> 4 * PASS & 15;
        if (operation == PLANNER_PASS_NONE)
            return; /* another chunk of the column has more layers */
        const place at = place_of();
        const bool rle = at.layers & PLANNER_RLE;
        layers += (uint64_t)tile * TILE_ROWS * (sizeof(VALUE) + (rle ? 8 : 0));
        bits *values = reinterpret_cast<bits *>(layers),
             *to = passes >> 4 * PASS >> 4 == 0 ? reinterpret_cast<bits *>(rows) : values;
        uint32_t *lengths = reinterpret_cast<uint32_t *>(layers + TILE_ROWS * sizeof(VALUE)),
                 *flags = lengths + TILE_ROWS;
        if constexpr (MAY_BE<PASS, PLANNER_PASS_VALUES>)
            if (operation == PLANNER_PASS_VALUES)
                restore(data, at.value_start, at.count, at.value_width, lane, to);
        if constexpr (MAY_BE<PASS, PLANNER_PASS_ADD>)
            if (operation == PLANNER_PASS_ADD) {
                const bits reference = load_value<VALUE>(head + 2);
                layer_map(at.count, lane, to, [&](uint32_t i) { return values[i] + reference; });
            }
        if constexpr (MAY_BE<PASS, PLANNER_PASS_SUM>)
            if (operation == PLANNER_PASS_SUM)
                add_up(load_value<VALUE>(at.first), values, at.count, to);
        if constexpr (MAY_BE<PASS, PLANNER_PASS_LOOK_UP>)
            if (operation == PLANNER_PASS_LOOK_UP)
                layer_map(at.count, lane, to, [&](uint32_t i) {
                    return load_value<VALUE>(words_at(auxiliary) + values[i] * value_words<VALUE>);
                });
        if constexpr (MAY_BE<PASS, PLANNER_PASS_LENGTHS>)
            if (operation == PLANNER_PASS_LENGTHS)
                restore(auxiliary + load(head + 1) * (uint64_t)sizeof(VALUE), at.length_start, at.count,
                        at.length_width, lane, lengths);
        if constexpr (MAY_BE<PASS, PLANNER_PASS_STARTS>)
            if (operation == PLANNER_PASS_STARTS)
                runs_start([&](uint32_t run) { return lengths[run]; }, at.count, lane, lengths);
        if constexpr (MAY_BE<PASS, PLANNER_PASS_FLAGS>)
            if (operation == PLANNER_PASS_FLAGS)
                runs_flag<TILE_ROWS>(lengths, at.count, lane, flags);
        if constexpr (MAY_BE<PASS, PLANNER_PASS_NUMBERS>)
            if (operation == PLANNER_PASS_NUMBERS)
                runs_number<TILE_ROWS>(flags, lane);
        if constexpr (MAY_BE<PASS, PLANNER_PASS_GATHER>)
            if (operation == PLANNER_PASS_GATHER)
                runs_gather<TILE_ROWS>(
                    flags, [&](uint32_t run) { return values[run]; }, lane, rows);
    }

    /* A prefix sum over `count` differences, 16 of each lane at a time. */
    __device__ __forceinline__ void add_up(bits first, const bits *differences, uint32_t count, bits *to)
    {
        bits before = first; /* the item before these */
        for (uint32_t begin = 0; begin < count; begin += 512) {
            bits difference[16];
#pragma unroll
            for (uint32_t j = 0; j < 16; j++) {
                const uint32_t i = begin + 32 * j + lane;
                difference[j] = i < count ? differences[i] : 0;
            }
#pragma unroll
            for (uint32_t j = 0; j < 16; j++) {
                const uint32_t i = begin + 32 * j + lane;
                const bits own = before + scan_values<bits>(difference[j], lane);
                if (i < count)
                    to[i] = own;
                before = __shfl_sync(FULL_WARP, own, 31);
            }
        }
    }
};

#endif
