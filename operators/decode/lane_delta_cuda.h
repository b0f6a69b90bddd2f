/*
 * lane_delta_cuda.h: the decoder of lane-delta: differences to the value 32 rows earlier. docs/codecs.md
 * draws the bytes, storage/codec/integer/lane_delta.c is the host's twin, decode_cuda.h says what a decoder
 * defines.
 */
#ifndef TESSERA_OPERATORS_DECODE_LANE_DELTA_CUDA_H
#define TESSERA_OPERATORS_DECODE_LANE_DELTA_CUDA_H

#include "operators/decode/decode_cuda.h"
#include "storage/codec/integer/lane_widths.h"

/* LOW, HIGH: the widths of the column's narrowest and widest tile. If there are few, shifts are constants and preload()
 * loads the tile's words into registers. */
template <class VALUE, uint32_t LOW = 0, uint32_t HIGH = 64> struct decode_lane_delta : decode_base {
    static constexpr bool RANDOM_ACCESS = false;
    static constexpr uint32_t SCRATCH_BYTES = 0;
    static constexpr bool FEW_WIDTHS = !is_wide<VALUE> && HIGH - LOW < LANE_WIDTHS_MAX;
    static constexpr uint32_t LINES = (31 * HIGH + 31) / 32;
    static constexpr int UNROLLED =
        is_wide<VALUE> ? 4 : 31;                 /* items of any width: the code of wide ones is long */
    uint32_t loaded[FEW_WIDTHS ? LINES + 1 : 1]; /* this lane's words */
    uint32_t first_low, first_high;              /* the words in which its first value is */
    const uint32_t *words;                       /* of this lane */
    const uint32_t *firsts;
    uint32_t lane, width, first_width;
    unsigned_of<VALUE> base, reference;

    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t tile, uint32_t of_lane)
    {
        const uint4 *entries = reinterpret_cast<const uint4 *>(chunk.directory) + tile * value_words<VALUE>;
        const uint4 entry = load(entries);
        const uint32_t *start;
        lane = of_lane;
        if constexpr (is_wide<VALUE>) {
            const uint4 values = load(entries + 1);
            start = words_at(chunk.data) + entry.x * 8ull;
            width = entry.y;
            first_width = entry.z;
            base = values.x | (uint64_t)values.y << 32;
            reference = values.z | (uint64_t)values.w << 32;
        } else {
            start = words_at(chunk.data) + (entry.x & 0x3ffffffu) * 8;
            width = LOW == HIGH ? LOW : entry.x >> 26;
            first_width = entry.y;
            base = entry.z;
            reference = entry.w;
        }
        words = start + lane;
        firsts = start + (31 * width + 31) / 32 * 32;
    }
    __device__ __forceinline__ void preload()
    {
        if constexpr (FEW_WIDTHS) {
            const uint32_t lines = (31 * width + 31) / 32;
#pragma unroll
            for (uint32_t w = 0; w < LINES; w++)
                loaded[w] = w < (31 * LOW + 31) / 32 || w < lines ? load(words + w * 32) : 0;
            loaded[LINES] = 0;
            const uint32_t *first = firsts + lane * first_width / 32;
            first_low = load(first);
            first_high = load(first + 1);
        }
    }
    template <uint32_t WIDTH, class F> __device__ __forceinline__ void items_of(F f)
    {
        uint32_t value =
            base + (__funnelshift_r(first_low, first_high, lane * first_width) & low_bits(first_width));
        f(0u, (VALUE)value);
#pragma unroll
        for (uint32_t j = 1; j < 32; j++) {
            const uint32_t bit = (j - 1) * WIDTH, word = bit / 32, shift = bit % 32;
            const uint32_t packed = shift + WIDTH > 32
                                        ? __funnelshift_r(loaded[word], loaded[word + 1], shift)
                                        : loaded[word] >> shift;
            value += reference + (packed & low_bits(WIDTH));
            f(j, (VALUE)value);
        }
    }
    template <class F> __device__ __forceinline__ void items_of_any(F f)
    {
        const uint32_t mask = low_bits(width);
        unsigned_of<VALUE> value = base + unpack_value<VALUE>(firsts, lane * first_width, first_width);
        f(0u, (VALUE)value);
#pragma unroll UNROLLED
        for (uint32_t j = 1; j < 32; j++) {
            const uint32_t bit = (j - 1) * width, word = bit / 32, shift = bit % 32;
            if constexpr (is_wide<VALUE>) {
                value += reference + unpack_wide(words, TILE_LANES, bit, width);
            } else {
                const uint32_t low = width ? load(words + word * 32) : 0;
                const uint32_t high = shift + width > 32 ? load(words + word * 32 + 32) : 0;
                value += reference + (__funnelshift_r(low, high, shift) & mask);
            }
            f(j, (VALUE)value);
        }
    }
    template <bool PRELOADED, class F> __device__ __forceinline__ void items(uint32_t *, F f)
    {
        if constexpr (!FEW_WIDTHS) {
            items_of_any(f);
        } else {
            if (!PRELOADED)
                preload();
            if (LOW == HIGH || width == HIGH)
                items_of<HIGH>(f);
            else if (width == LOW)
                items_of<LOW>(f);
            else if (width == LOW + 1)
                items_of<(LOW + 1 < HIGH ? LOW + 1 : HIGH)>(f);
            else
                items_of<(LOW + 2 < HIGH ? LOW + 2 : HIGH)>(f);
        }
    }
    __device__ __forceinline__ void stage(uint32_t *)
    {
    }
};

#endif
