/*
 * lane_for_cuda.h: the decoder of lane-for: a reference and a width per tile, 32 lanes of packed words.
 * docs/codecs.md draws the bytes, storage/codec/integer/lane_for.c is the host's twin, decode_cuda.h says
 * what a decoder defines.
 */
#ifndef TESSERA_OPERATORS_DECODE_LANE_FOR_CUDA_H
#define TESSERA_OPERATORS_DECODE_LANE_FOR_CUDA_H

#include "operators/decode/decode_cuda.h"
#include "storage/codec/integer/lane_widths.h"

/* A tile's entry in the directory of lane-for and lane-slice: x is the start in units of 32 bytes | width <<
 * 26, y is the reference. */
template <uint32_t LOW, bool REGULAR> TILE_INLINE uint2 lane_entry(const bound_chunk &chunk, uint32_t tile)
{
    if (REGULAR)
        return make_uint2(tile * (LOW * 4), 0);
    return load(reinterpret_cast<const uint2 *>(chunk.directory) + tile);
}

/* Copies the lines of some items of all lanes; each item has `width` bits. */
TILE_INLINE void copy_lane_items(const uint32_t *words, uint32_t width, uint32_t to, uint32_t first,
                                 uint32_t count, uint32_t lane)
{
    copy_lines(words, first * width / 32, ((first + count) * width + 31) / 32, to, lane);
}

/* What the int64 decoders of lane-for and lane-slice share: the tile's entry in the directory. */
struct decode_lane_wide : decode_base {
    static constexpr bool RANDOM_ACCESS = true;
    static constexpr uint32_t SCRATCH_BYTES = 0;
    const uint32_t *words;
    uint32_t lane, width;
    uint64_t reference;

    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t tile, uint32_t of_lane)
    {
        const uint4 entry = load(reinterpret_cast<const uint4 *>(chunk.directory) + tile);
        words = words_at(chunk.data) + entry.x * 8ull;
        width = entry.y;
        reference = entry.z | (uint64_t)entry.w << 32;
        lane = of_lane;
    }
    __device__ __forceinline__ void preload()
    {
    }
    __device__ __forceinline__ void stage(uint32_t *)
    {
    }
    __device__ __forceinline__ void copy(uint32_t to, uint32_t first, uint32_t count) const
    {
        copy_lane_items(words, width, to, first, count, lane);
    }
    /* The row's number in lanes of packed words, and from a copy of them. */
    __device__ __forceinline__ uint64_t whole(uint32_t row) const
    {
        return reference + unpack_wide(words + row % 32, TILE_LANES, row / 32 * width, width);
    }
    __device__ __forceinline__ uint64_t whole_copied(uint32_t from, uint32_t row) const
    {
        const uint32_t bit = row / 32 * width, word = from + (bit / 32 * TILE_LANES + row % 32) * 4;
        return reference +
               unpack_wide_of(bit, width, [&](uint32_t i) { return load_copied(word + i * TILE_LANES * 4); });
    }
};

/* LOW, HIGH: the widths of the column's narrowest and widest tile. REGULAR: the two are equal, all references
 * are 0 and tiles have no gaps, so the directory is not read. */
template <class VALUE, uint32_t LOW = 0, uint32_t HIGH = 0, bool REGULAR = false> struct decode_lane_for;

template <uint32_t LOW, uint32_t HIGH, bool REGULAR>
struct decode_lane_for<int32_t, LOW, HIGH, REGULAR> : decode_base {
    static constexpr bool RANDOM_ACCESS = true;
    static constexpr uint32_t SCRATCH_BYTES = 0;
    static constexpr bool FEW_WIDTHS = HIGH - LOW < LANE_WIDTHS_MAX;
    static constexpr bool PROBES = FEW_WIDTHS;
    static constexpr bool RANGES = FEW_WIDTHS;
    const uint32_t *words; /* word w of lane l at 32 w + l */
    uint32_t lane, width, reference;
    uint32_t loaded[FEW_WIDTHS ? HIGH + 1 : 1]; /* this lane's words */

    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t tile, uint32_t of_lane)
    {
        const uint2 entry = lane_entry<LOW, REGULAR>(chunk, tile);
        words = words_at(chunk.data) + (entry.x & 0x3ffffffu) * 8; /* starts are in units of 32 bytes */
        width = LOW == HIGH ? LOW : entry.x >> 26;
        reference = entry.y;
        lane = of_lane;
    }
    __device__ __forceinline__ void preload()
    {
        if constexpr (FEW_WIDTHS) {
#pragma unroll
            for (uint32_t w = 0; w < HIGH; w++)
                loaded[w] = w < LOW || w < width ? load(words + w * 32 + lane) : 0;
            loaded[HIGH] = 0;
        }
    }
    /* A word with item j's bits at the bottom; the bits above them are not defined. */
    template <uint32_t WIDTH> __device__ __forceinline__ uint32_t aligned(uint32_t j)
    {
        const uint32_t bit = j * WIDTH, word = bit / 32, shift = bit % 32;
        if (WIDTH == 0)
            return 0;
        return shift + WIDTH > 32 ? __funnelshift_r(loaded[word], loaded[word + 1], shift)
                                  : loaded[word] >> shift;
    }
    template <uint32_t WIDTH, class F> __device__ __forceinline__ void items_of(F f)
    {
#pragma unroll
        for (uint32_t j = 0; j < 32; j++)
            f(j, (int32_t)(reference + (aligned<WIDTH>(j) & low_bits(WIDTH))));
    }
    /* Bit j is set if from <= item j <= to, all as packed numbers; from <= to. Items are compared at the top
     * of a word, where the bits below them do not matter. The comparison's carry goes directly into the mask.
     * That takes four instructions an item. */
    template <uint32_t WIDTH> __device__ __forceinline__ uint32_t in_range_of(uint32_t from, uint32_t to)
    {
        if (WIDTH == 0)
            return FULL_WARP;
        constexpr uint32_t FREE = WIDTH ? 32 - WIDTH : 0;
        const uint32_t first = from << FREE, over = ~((to - from) << FREE | low_bits(FREE));
        uint32_t outside = 0;
#pragma unroll
        for (uint32_t i = 0; i < 32; i++) {
            const uint32_t bit = (31 - i) * WIDTH, word = bit / 32, shift = bit % 32;
            const uint32_t top = shift > FREE
                                     ? __funnelshift_l(loaded[word], loaded[word + 1], FREE + 32 - shift)
                                     : loaded[word] << (FREE - shift);
            asm("{\n"
                ".reg .u32 sum;\n"
                "add.cc.u32 sum, %1, %2;\n" /* carry: the item is above `to` */
                "addc.u32 %0, %0, %0;\n"
                "}"
                : "+r"(outside)
                : "r"(top - first), "r"(over));
        }
        return ~outside;
    }
    template <bool PRELOADED> __device__ __forceinline__ uint32_t in_range(int32_t low, int32_t high)
    {
        if (!PRELOADED)
            preload();
        const int64_t most = (int64_t)low_bits(width), first = (int64_t)low - (int32_t)reference,
                      last = (int64_t)high - (int32_t)reference;
        if (last < first || last < 0 || first > most)
            return 0;
        const uint32_t from = first < 0 ? 0u : (uint32_t)first,
                       to = last > most ? (uint32_t)most : (uint32_t)last;
        if (LOW == HIGH || width == HIGH)
            return in_range_of<HIGH>(from, to);
        if (width == LOW)
            return in_range_of<LOW>(from, to);
        if (width == LOW + 1)
            return in_range_of<(LOW + 1 < HIGH ? LOW + 1 : HIGH)>(from, to);
        return in_range_of<(LOW + 2 < HIGH ? LOW + 2 : HIGH)>(from, to);
    }
    /* Bit j is the bitmap's bit at item j. The bitmap's words have their bits in reverse order. So shifting a
     * word left by the row position (only its lowest five bits count) moves the wanted bit to the top, and a
     * funnel shift moves it from there into the mask. That takes six instructions a row. CONDITIONAL: only
     * rows in `keep` are probed, which avoids bank conflicts. */
    template <uint32_t WIDTH, bool CONDITIONAL>
    __device__ __forceinline__ uint32_t probe_of(uint32_t bitmap, uint32_t keep)
    {
        constexpr uint32_t INDEX_BITS = WIDTH > 5 ? WIDTH - 5 : 0;
        constexpr uint32_t INDEX_MASK = !REGULAR     ? 0xfffffffcu
                                        : INDEX_BITS ? 0xffffffffu >> (32 - INDEX_BITS) << 2
                                                     : 0u;
        uint32_t found = 0;
#pragma unroll
        for (uint32_t i = 0; i < 32; i++) {
            const uint32_t j = 31 - i;
            uint32_t position = aligned<WIDTH>(j);
            if (!REGULAR)
                position = reference + (position & low_bits(WIDTH));
            else if (WIDTH < 5) /* the shift below would otherwise use bits of the next items */
                position &= low_bits(WIDTH);
            const uint32_t at = bitmap + (position >> 3 & INDEX_MASK);
            const uint32_t word = CONDITIONAL ? load_shared_if(at, keep & 1u << j) : load_shared(at);
            found = __funnelshift_l(__funnelshift_l(word, word, position), found, 1);
        }
        return found & keep;
    }
    template <uint32_t WIDTH> __device__ __forceinline__ uint32_t probe_width(uint32_t bitmap, uint32_t keep)
    {
        return __all_sync(FULL_WARP, keep == FULL_WARP) ? probe_of<WIDTH, false>(bitmap, keep)
                                                        : probe_of<WIDTH, true>(bitmap, keep);
    }
    template <bool PRELOADED> __device__ __forceinline__ uint32_t probe(uint32_t bitmap, uint32_t keep)
    {
        if (!PRELOADED)
            preload();
        if (LOW == HIGH || width == HIGH)
            return probe_width<HIGH>(bitmap, keep);
        if (width == LOW)
            return probe_width<LOW>(bitmap, keep);
        if (width == LOW + 1)
            return probe_width<(LOW + 1 < HIGH ? LOW + 1 : HIGH)>(bitmap, keep);
        return probe_width<(LOW + 2 < HIGH ? LOW + 2 : HIGH)>(bitmap, keep);
    }
    __device__ __forceinline__ uint32_t packed_at(uint32_t of_lane, uint32_t j)
    {
        const uint32_t bit = j * width, shift = bit % 32;
        const uint32_t *word = words + bit / 32 * 32 + of_lane;
        if (width == 0)
            return 0;
        const uint32_t high = shift + width > 32 ? load(word + 32) : 0;
        return __funnelshift_r(load(word), high, shift) & low_bits(width);
    }
    __device__ __forceinline__ void copy(uint32_t to, uint32_t first, uint32_t count) const
    {
        copy_lane_items(words, width, to, first, count, lane);
    }
    __device__ __forceinline__ int32_t copied(uint32_t from, uint32_t row)
    {
        const uint32_t bit = row / 32 * width, word = from + (bit / 32 * TILE_LANES + row % 32) * 4;
        return (int32_t)(reference +
                         (__funnelshift_r(load_copied(word), load_copied(word + TILE_LANES * 4), bit) &
                          low_bits(width)));
    }
    template <bool PRELOADED, class F> __device__ __forceinline__ void items(uint32_t *, F f)
    {
        if constexpr (!FEW_WIDTHS) {
#pragma unroll 8
            for (uint32_t j = 0; j < 32; j++)
                f(j, (int32_t)(reference + packed_at(lane, j)));
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
    __device__ __forceinline__ int32_t item(const uint32_t *, uint32_t row)
    {
        return (int32_t)(reference + packed_at(row % 32, row / 32));
    }
};

/* 64-bit values of any width are fetched one by one. */
template <> struct decode_lane_for<int64_t> : decode_lane_wide {
    template <bool PRELOADED, class F> __device__ __forceinline__ void items(uint32_t *scratch, F f)
    {
        for (uint32_t j = 0; j < 32; j++)
            f(j, item(scratch, 32 * j + lane));
    }
    __device__ __forceinline__ int64_t item(const uint32_t *, uint32_t row)
    {
        return (int64_t)whole(row);
    }
    __device__ __forceinline__ int64_t copied(uint32_t from, uint32_t row)
    {
        return (int64_t)whole_copied(from, row);
    }
};

#endif
