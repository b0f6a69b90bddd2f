/*
 * lane_levels_cuda.h: the decoder of lane-levels: the leading bits of row positions as bit planes, the rest as
 * lane-for. docs/codecs.md draws the bytes, storage/codec/integer/lane_levels.c is the host's twin,
 * decode_cuda.h says what a decoder defines.
 *
 * In addition to that, it tests and reads some of a value's bits (PLANAR), for which only the lines of these
 * bits are loaded:
 *
 *     load_planes<MASK>()       loads the planes of the bits in MASK into registers
 *     in_cubes<MASK, TEST>()    the mask of items whose bits in MASK are those of a cube of TEST
 *                               (operators/dialect/tile_levels_cuda.h); these planes must be loaded
 *     item_bits<MASK>(row)      item() & MASK
 *     complete<MASK>()          makes the first planes of MASK that a chunk may have apart, which load_planes() leaves out
 *     own_bits<MASK>(row)       the same for a row of this lane; the planes of the bits in MASK must be loaded and complete
 */
#ifndef TESSERA_OPERATORS_DECODE_LANE_LEVELS_CUDA_H
#define TESSERA_OPERATORS_DECODE_LANE_LEVELS_CUDA_H

#include "operators/decode/decode_cuda.h"

/* Transposes squares of SLOT x SLOT bits: bit c of each slot of x[r] becomes bit r of the same slot of x[c]
 * (Warren, Hacker's Delight, 7-3). `mask` has the lower STEP bits of every 2 * STEP. */
template <uint32_t SLOT, uint32_t STEP> TILE_INLINE void transpose_bits(uint32_t *x)
{
    constexpr uint32_t mask = 0xffffffffu / ((1u << STEP) + 1);
#pragma unroll
    for (uint32_t pair = 0; pair < SLOT / 2; pair++) {
        const uint32_t i = pair / STEP * 2 * STEP + pair % STEP;
        const uint32_t other = (x[i] >> STEP ^ x[i + STEP]) & mask;
        x[i + STEP] ^= other;
        x[i] ^= other << STEP;
    }
    if constexpr (STEP > 1)
        transpose_bits<SLOT, STEP / 2>(x);
}

/* Where a tile's lines are. The first `apart` ones, of a chunk whose detail is not 0, are at `first`, or the entry says that all
 * rows have the same bits there. Nothing but the entry has to be loaded before it is known, so lines need not wait for it. */
struct levels_place {
    const uint32_t *words; /* line i is at words + 32 * i, from line `apart` on */
    const uint32_t *first; /* line 0, if rows differ */
    uint32_t apart, entry;

    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t tile, uint32_t bits)
    {
        apart = (uint32_t)chunk.detail;
        words = words_at(chunk.data) + (int32_t)(tile * (bits - apart) - apart) * 32;
        first = words_at(chunk.auxiliary);
        entry = load_unless(words_at(chunk.directory) + 4 + tile, apart == 0, 0);
    }
    __device__ __forceinline__ bool differs() const
    {
        return (int32_t)entry < 0;
    }
    /* The place of a line from which lanes count. */
    __device__ __forceinline__ const uint32_t *line_at(uint32_t line) const
    {
        return line < apart ? first + ((entry & 0x7fffffffu) * apart + line) * 32 : words + line * 32;
    }
    /* A line is not stored: all rows have the same bit. */
    __device__ __forceinline__ bool is_same(uint32_t line) const
    {
        return line < apart && !differs();
    }
    /* The bits that all rows have. */
    __device__ __forceinline__ uint32_t bits_of_all() const
    {
        return differs() ? 0 : entry;
    }
};

/* BITS: of a value. PLANES: the leading ones that are planes; line i of a tile has bit BITS - 1 - i. The lines
 * after them have the low REST bits, packed. APART: the most planes that a chunk has apart. Of a tile of such a chunk whose rows
 * do not differ, which most are, lines from APART on are loaded, and nothing else. */
template <class VALUE, uint32_t BITS = 0, uint32_t PLANES = 0, uint32_t APART = 0> struct decode_lane_levels;

template <uint32_t BITS, uint32_t PLANES, uint32_t APART>
struct decode_lane_levels<int32_t, BITS, PLANES, APART> : decode_base {
    static constexpr bool RANDOM_ACCESS = true;
    static constexpr bool PLANAR = true;
    static constexpr uint32_t SCRATCH_BYTES = 0;
    static constexpr uint32_t REST = BITS - PLANES;
    static constexpr uint32_t REST_MASK = REST ? 0xffffffffu >> (32 - REST) : 0u;
    static constexpr bool RANGES = REST == 0;
    static constexpr bool SLICED = RANGES;
    static constexpr uint32_t FIRST_MASK = APART ? 0xffffffffu >> (32 - APART) << (BITS - APART) : 0u;
    static constexpr uint32_t SLOT = PLANES <= 1    ? 1
                                     : PLANES <= 2  ? 2
                                     : PLANES <= 4  ? 4
                                     : PLANES <= 8  ? 8
                                     : PLANES <= 16 ? 16
                                                    : 32;
    const uint32_t *words; /* of the tile */
    uint32_t lane;
    levels_place place; /* if APART is not 0 */
    uint32_t
        loaded[BITS + 1]; /* this lane's words of the lines that are loaded; a spare word for unpacking */

    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t tile, uint32_t of_lane)
    {
        lane = of_lane;
        if constexpr (APART != 0) {
            place.seek(chunk, tile, BITS);
            words = place.words;
        } else {
            words = words_at(chunk.data) + tile * (BITS * 32);
        }
    }
    template <uint32_t MASK> __device__ __forceinline__ void load_planes()
    {
#pragma unroll
        for (uint32_t line = APART; line < PLANES; line++)
            if (MASK >> (BITS - 1 - line) & 1)
                loaded[line] = load(words + line * 32 + lane);
    }
    __device__ __forceinline__ void preload()
    {
#pragma unroll
        for (uint32_t line = APART; line < BITS; line++)
            loaded[line] = load(words + line * 32 + lane);
        loaded[BITS] = 0;
    }
    /* All rows of the tile have the first APART bits of the entry: the same in all lanes. It waits for the entry. */
    __device__ __forceinline__ bool is_plain() const
    {
        return place.apart == APART && !place.differs();
    }
    /* The word of a lane of a line before line APART. */
    __device__ __forceinline__ uint32_t first_word(uint32_t line, uint32_t of_lane) const
    {
        return load_unless(place.line_at(line) + of_lane, place.is_same(line),
                           0u - (place.entry >> (BITS - 1 - line) & 1));
    }
    /* The first APART planes of MASK, which load_planes() and preload() leave out. It may be called again. */
    template <uint32_t MASK> __device__ __forceinline__ void complete()
    {
        if constexpr ((MASK & FIRST_MASK) != 0) {
            if (is_plain()) {
#pragma unroll
                for (uint32_t line = 0; line < APART; line++)
                    if (MASK >> (BITS - 1 - line) & 1)
                        loaded[line] = (uint32_t)((int32_t)(place.entry << (32 - BITS + line)) >> 31);
            } else {
#pragma unroll
                for (uint32_t line = 0; line < APART; line++)
                    if (MASK >> (BITS - 1 - line) & 1)
                        loaded[line] = first_word(line, lane);
            }
        }
    }
    template <uint32_t MASK, class TEST> __device__ __forceinline__ uint32_t in_cubes()
    {
        complete<MASK>();
        uint32_t any = 0;
#pragma unroll
        for (uint32_t cube = 0; cube < TEST::CUBES; cube++) {
            uint32_t all = FULL_WARP;
#pragma unroll
            for (uint32_t line = 0; line < PLANES; line++)
                if (MASK >> (BITS - 1 - line) & 1)
                    all &= TEST::matches(loaded[line], cube, BITS - 1 - line);
            any |= all;
        }
        return any;
    }
    /* As lane-slice's, from the least significant plane up. */
    template <bool PRELOADED> __device__ __forceinline__ uint32_t in_range(int32_t low, int32_t high)
    {
        static_assert(RANGES, "all bits are planes");
        if (!PRELOADED)
            preload();
        complete<FULL_WARP>();
        const int32_t most = (int32_t)low_bits(BITS);
        if (high < 0 || low > most || low > high)
            return 0;
        const uint32_t from = low < 0 ? 0u : (uint32_t)low, to = (uint32_t)(high > most ? most : high);
        uint32_t above = FULL_WARP, below = FULL_WARP;
#pragma unroll
        for (uint32_t bit = 0; bit < BITS; bit++) {
            const uint32_t plane = loaded[BITS - 1 - bit];
            const uint32_t from_bit = (uint32_t)((int32_t)(from << (31 - bit)) >> 31);
            const uint32_t to_bit = (uint32_t)((int32_t)(to << (31 - bit)) >> 31);
            above = (from_bit & plane & above) | (~from_bit & (plane | above));
            below = (to_bit & (~plane | below)) | (~to_bit & ~plane & below);
        }
        return above & below;
    }
    /* The low bits of item j of this lane, from loaded words. */
    __device__ __forceinline__ uint32_t rest_of(uint32_t j) const
    {
        if constexpr (REST == 0)
            return 0;
        const uint32_t bit = j * REST, word = PLANES + bit / 32, shift = bit % 32;
        return (shift + REST > 32 ? __funnelshift_r(loaded[word], loaded[word + 1], shift)
                                  : loaded[word] >> shift) &
               REST_MASK;
    }
    template <bool PRELOADED, class F> __device__ __forceinline__ void items(uint32_t *, F f)
    {
        if (!PRELOADED)
            preload();
        complete<FULL_WARP>();
        uint32_t x[SLOT];
#pragma unroll
        for (uint32_t i = 0; i < SLOT; i++)
            x[i] = i < PLANES ? loaded[PLANES - 1 - i] : 0;
        if constexpr (SLOT > 1)
            transpose_bits<SLOT, SLOT / 2>(x);
#pragma unroll
        for (uint32_t j = 0; j < 32; j++) {
            const uint32_t prefix = x[j % SLOT] >> j / SLOT * SLOT & low_bits(PLANES);
            f(j, (int32_t)((REST < 32 ? prefix << REST : 0u) | rest_of(j)));
        }
    }
    __device__ __forceinline__ void stage(uint32_t *)
    {
    }
    /* Planes are taken from the most significant one down. A funnel shift moves an item's bit to the end of the
     * bits before it, so that a plane takes two instructions; plane(line) gives its word. */
    template <uint32_t MASK, class PLANE>
    __device__ __forceinline__ uint32_t bits_of(const uint32_t *mine, uint32_t j, PLANE plane)
    {
        uint32_t value = 0;
#pragma unroll
        for (uint32_t line = 0; line < PLANES; line++)
            value = MASK >> (BITS - 1 - line) & 1 ? __funnelshift_l(plane(line) << (31 - j), value, 1)
                                                  : value << 1;
        if constexpr ((MASK & REST_MASK) != 0) {
            const uint32_t bit = j * REST, shift = bit % 32;
            const uint32_t *word = mine + (PLANES + bit / 32) * 32;
            const uint32_t high = shift + REST > 32 ? load(word + 32) : 0;
            return (PLANES ? value << REST : 0u) |
                   (__funnelshift_r(load(word), high, shift) & REST_MASK & MASK);
        }
        return PLANES ? value << REST : 0u;
    }
    template <uint32_t MASK> __device__ __forceinline__ uint32_t item_bits(uint32_t row)
    {
        const uint32_t *const mine = words + row % 32;
        const uint32_t others = bits_of<MASK & ~FIRST_MASK>(
            mine, row / 32, [&](uint32_t line) { return load(mine + line * 32); });
        if constexpr ((MASK & FIRST_MASK) == 0)
            return others;
        else
            return others | first_bits<MASK & FIRST_MASK>(
                                row, [&](uint32_t line) { return first_word(line, row % 32); });
    }
    template <uint32_t MASK> __device__ __forceinline__ uint32_t own_bits(uint32_t row)
    {
        const uint32_t others =
            bits_of<MASK & ~FIRST_MASK>(words + lane, row / 32, [&](uint32_t line) { return loaded[line]; });
        if constexpr ((MASK & FIRST_MASK) == 0)
            return others;
        else
            return others | first_bits<MASK & FIRST_MASK>(row, [&](uint32_t line) { return loaded[line]; });
    }
    /* The bits of MASK, which are of the first APART planes, by plane(line) if the tile's rows may differ in them. */
    template <uint32_t MASK, class PLANE>
    __device__ __forceinline__ uint32_t first_bits(uint32_t row, PLANE plane) const
    {
        if (is_plain())
            return place.entry & MASK;
        uint32_t value = 0;
#pragma unroll
        for (uint32_t line = 0; line < APART; line++)
            if (MASK >> (BITS - 1 - line) & 1)
                value |= (plane(line) >> row / 32 & 1) << (BITS - 1 - line);
        return value;
    }
    __device__ __forceinline__ int32_t item(const uint32_t *, uint32_t row)
    {
        return (int32_t)item_bits<0xffffffffu>(row);
    }
};

#endif
