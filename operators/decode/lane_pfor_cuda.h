/*
 * lane_pfor_cuda.h: the decoder of lane-pfor: lane-for and a list of exceptions. docs/codecs.md draws the
 * bytes, storage/codec/integer/lane_pfor.c is the host's twin, decode_cuda.h says what a decoder defines.
 */
#ifndef TESSERA_OPERATORS_DECODE_LANE_PFOR_CUDA_H
#define TESSERA_OPERATORS_DECODE_LANE_PFOR_CUDA_H

#include "operators/decode/lane_for_cuda.h"
#include "operators/decode/patches_cuda.h"

/* The lanes share the exceptions of 256 rows, wherever they are: with 5 % outliers these are 13, a step. It puts what
 * the items lack into scratch, and every item then adds what it finds there. A tile without exceptions does not
 * touch scratch. LOW, HIGH and REGULAR are those of lane-for. */
template <class VALUE, uint32_t LOW = 0, uint32_t HIGH = 0, bool REGULAR = false>
struct decode_lane_pfor : decode_base {
    static constexpr bool RANDOM_ACCESS = true;
    static constexpr uint32_t SCRATCH_BYTES = PATCH_SCRATCH_BYTES + patches<VALUE>::MARK_BYTES;
    decode_lane_for<VALUE, LOW, HIGH, REGULAR> lines;
    patches<VALUE> list;
    uint32_t lane;

    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t tile, uint32_t of_lane)
    {
        lines.seek(chunk, tile, of_lane);
        const uint2 entry = load(reinterpret_cast<const uint2 *>(chunk.directory + chunk.detail) + tile);
        list.words = words_at(chunk.auxiliary) + entry.x;
        list.count = entry.y & 0xffff;
        list.high_width = entry.y >> 16;
        list.position_reference = 0;
        list.position_width = 10;
        list.shift = lines.width;
        lane = of_lane;
        if (list.count) {
            list.high = load_value<VALUE>(list.words);
            list.words += value_words<VALUE>;
            list.find_highs();
        }
    }
    __device__ __forceinline__ void preload()
    {
        lines.preload();
    }
    /* A row's word of scratch. A lane's words are in groups of four, which it reads at once. */
    __device__ __forceinline__ uint32_t slot(uint32_t row)
    {
        return row % PATCH_ROWS / 128 * 128 + row % 32 * 4 + row / 32 % 4;
    }
    /* Sets the words of rows end - PATCH_ROWS .. end - 1 to what their items lack; for 64-bit values, which need
     * two words, to the number of their exception from 1. 0: it is no exception. */
    __device__ __forceinline__ void spread(uint32_t *scratch, uint32_t end)
    {
        patch_scratch_clear(scratch, lane);
        list.each_below(end, lane, [&](uint32_t index, uint32_t row) {
            if constexpr (is_wide<VALUE>)
                scratch[slot(row)] = index + 1;
            else
                scratch[slot(row)] = list.value(index);
        });
        __syncwarp();
    }
    /* What the item whose word of scratch this is lacks. */
    __device__ __forceinline__ unsigned_of<VALUE> lacks(uint32_t word)
    {
        if constexpr (is_wide<VALUE>)
            return word ? list.value(word - 1) : 0;
        else
            return word;
    }
    template <bool PRELOADED, class F> __device__ __forceinline__ void items(uint32_t *scratch, F f)
    {
        uint4 words = make_uint4(0, 0, 0, 0);
        list.next = 0;
        lines.template items<PRELOADED>(scratch, [&](uint32_t j, VALUE value) {
            if (j % PATCH_ITEMS == 0 && list.count)
                spread(scratch, 32 * j + PATCH_ROWS);
            if (j % 4 == 0 && list.count)
                words = reinterpret_cast<const uint4 *>(scratch)[j % PATCH_ITEMS / 4 * 32 + lane];
            const uint32_t word = j % 4 == 0   ? words.x
                                  : j % 4 == 1 ? words.y
                                  : j % 4 == 2 ? words.z
                                               : words.w;
            f(j, (VALUE)((unsigned_of<VALUE>)value + lacks(word)));
        });
    }
    __device__ __forceinline__ void stage(uint32_t *scratch)
    {
        if (list.count)
            list.mark(scratch + PATCH_ROWS, lane);
    }
    __device__ __forceinline__ VALUE item(const uint32_t *scratch, uint32_t row)
    {
        const unsigned_of<VALUE> value = (unsigned_of<VALUE>)lines.item(scratch, row);
        return (VALUE)(value + (list.count ? list.find(scratch + PATCH_ROWS, row) : 0));
    }
};

#endif
