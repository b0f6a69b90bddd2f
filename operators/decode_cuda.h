/*
 * decode_cuda.h: every codec's decoder on the GPU, mirroring storage/CODEC.c line by line (docs/codecs.md
 * draws the bytes).
 *
 * A warp owns a tile. Lane l holds items 0..31, the rows l, 32 + l, 64 + l, ...; each decoder offers
 *
 *     seek(chunk, tile, lane)   finds the tile; called by all lanes
 *     preload()                 brings the tile's packed words into registers, for columns that filter: the
 * words of all of them are then in flight at once. Nothing where items() reads memory itself
 * without looking items<PRELOADED>(scratch, f) calls f(j, value) for j = 0 .. 31, unrolled, all lanes
 * together; what is decoded stays in registers. scratch: SCRATCH_BYTES of the warp's shared memory
 * stage(scratch) for decoders whose item() needs it: brings what it needs into scratch; all lanes
 * item(scratch, row)        the value of one row of the tile (RANDOM_ACCESS decoders only), any lane, any row
 *
 * Widths are template arguments where a column has few of them, so that shifts and masks become constants:
 * the engine compiles a kernel for the widths that the column's chunks have.
 */
#ifndef TESSERA_OPERATORS_DECODE_CUDA_H
#define TESSERA_OPERATORS_DECODE_CUDA_H

#include "operators/bound.h"

#define TILE_ROWS   1024u
#define TILE_LANES  32u
#define TILE_INLINE static __device__ __forceinline__
#define FULL_WARP   0xffffffffu

/* A lane-for column with this many different widths or fewer gets a decoder for each of them. */
#define TILE_WIDTHS_MAX 4

/* Every encoded byte is read through here. A kernel compiled with TILE_COUNT_SECTORS also marks the 32-byte
 * sector of memory that the byte lies in, so that the sectors a query needs can be counted
 * (engine/cuda_sectors.c). */
#ifdef TILE_COUNT_SECTORS
struct counted_memory {
    uint64_t address, bytes; /* of one column */
    uint32_t *sectors;       /* a bit each */
};
extern "C" {
__constant__ counted_memory tile_counted[16]; /* ends with bytes == 0 */
}

static __device__ __noinline__ void mark_sector(uint64_t address)
{
    for (uint32_t i = 0; tile_counted[i].bytes; i++)
        if (address - tile_counted[i].address < tile_counted[i].bytes) {
            const uint64_t sector = (address - tile_counted[i].address) / 32;
            atomicOr(tile_counted[i].sectors + sector / 32, 1u << sector % 32);
        }
}
#endif

template <class T> TILE_INLINE T load(const T *from)
{
#ifdef TILE_COUNT_SECTORS
    mark_sector(reinterpret_cast<uint64_t>(from));
#endif
    return __ldg(from);
}

/* A word of shared memory by its address there. Through a pointer the compiler would work out where shared
 * memory begins before every single load (three instructions, one of them slow). For what was written before
 * the last barrier. */
TILE_INLINE uint32_t load_shared(uint32_t address)
{
    uint32_t word;
    asm("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(address));
    return word;
}

/* 0 without a load if `condition` is 0. Written as one piece so that only the load is conditional, not the
 * address. */
TILE_INLINE uint32_t load_shared_if(uint32_t address, uint32_t condition)
{
    uint32_t word;
    asm("{\n"
        ".reg .pred wanted;\n"
        "setp.ne.u32 wanted, %2, 0;\n"
        "mov.u32 %0, 0;\n"
        "@wanted ld.shared.u32 %0, [%1];\n"
        "}"
        : "=&r"(word)
        : "r"(address), "r"(condition));
    return word;
}

TILE_INLINE const uint32_t *words_at(uint64_t address)
{
    return reinterpret_cast<const uint32_t *>(address);
}

/* The low `width` bits; width 0..32. */
TILE_INLINE uint32_t low_bits(uint32_t width)
{
    return width == 0 ? 0u : 0xffffffffu >> (32 - width);
}

/* Value at bit `bit` of a horizontally packed stream; reads the word behind it, which every section has
 * (codec.h). */
TILE_INLINE uint32_t unpack(const uint32_t *words, uint32_t bit, uint32_t width)
{
    const uint32_t *word = words + bit / 32;
    return __funnelshift_r(load(word), load(word + 1), bit) & low_bits(width);
}

TILE_INLINE uint32_t scan_warp(uint32_t value, uint32_t lane)
{
#pragma unroll
    for (uint32_t distance = 1; distance < 32; distance *= 2) {
        uint32_t below = __shfl_up_sync(FULL_WARP, value, distance);
        value += lane >= distance ? below : 0;
    }
    return value;
}

TILE_INLINE uint32_t sum_warp(uint32_t value)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(FULL_WARP, value);
#else
#pragma unroll
    for (uint32_t distance = 16; distance > 0; distance /= 2)
        value += __shfl_xor_sync(FULL_WARP, value, distance);
    return value;
#endif
}

/* What most decoders are not. */
struct decode_base {
    static constexpr bool SLICED = false; /* in_range() tests bit planes */
    static constexpr bool PROBES = false; /* probe() looks packed items up in a bitmap */
};

struct decode_plain : decode_base {
    static constexpr bool RANDOM_ACCESS = true;
    static constexpr uint32_t SCRATCH_BYTES = 0;
    const uint32_t *values;
    uint32_t lane, loaded[32];

    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t tile, uint32_t of_lane)
    {
        values = words_at(chunk.data) + tile * TILE_ROWS;
        lane = of_lane;
    }
    __device__ __forceinline__ void preload()
    {
#pragma unroll
        for (uint32_t j = 0; j < 32; j++)
            loaded[j] = load(values + j * 32 + lane);
    }
    template <bool PRELOADED, class F> __device__ __forceinline__ void items(uint32_t *, F f)
    {
        if (!PRELOADED)
            preload();
#pragma unroll
        for (uint32_t j = 0; j < 32; j++)
            f(j, (int32_t)loaded[j]);
    }
    __device__ __forceinline__ void stage(uint32_t *)
    {
    }
    __device__ __forceinline__ int32_t item(const uint32_t *, uint32_t row)
    {
        return (int32_t)load(values + row);
    }
};

/* TYPE: unsigned char, unsigned short or unsigned int, by the chunk's width. */
template <class TYPE> struct decode_nsf : decode_base {
    static constexpr bool RANDOM_ACCESS = true;
    static constexpr uint32_t SCRATCH_BYTES = 0;
    const TYPE *values;
    uint32_t lane;

    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t tile, uint32_t of_lane)
    {
        values = reinterpret_cast<const TYPE *>(chunk.data) + tile * TILE_ROWS;
        lane = of_lane;
    }
    __device__ __forceinline__ void preload()
    {
    }
    template <bool PRELOADED, class F> __device__ __forceinline__ void items(uint32_t *, F f)
    {
        TYPE loaded[32];
#pragma unroll
        for (uint32_t j = 0; j < 32; j++)
            loaded[j] = load(values + j * 32 + lane);
#pragma unroll
        for (uint32_t j = 0; j < 32; j++)
            f(j, (int32_t)loaded[j]);
    }
    __device__ __forceinline__ void stage(uint32_t *)
    {
    }
    __device__ __forceinline__ int32_t item(const uint32_t *, uint32_t row)
    {
        return (int32_t)load(values + row);
    }
};

/* For a column whose segments need different numbers of bytes. */
struct decode_nsf_mixed : decode_base {
    static constexpr bool RANDOM_ACCESS = true;
    static constexpr uint32_t SCRATCH_BYTES = 0;
    uint64_t data;
    uint32_t lane, bytes;

    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t tile, uint32_t of_lane)
    {
        bytes = (uint32_t)chunk.detail;
        data = chunk.data + (uint64_t)(tile * TILE_ROWS) * bytes;
        lane = of_lane;
    }
    __device__ __forceinline__ void preload()
    {
    }
    template <bool PRELOADED, class F> __device__ __forceinline__ void items(uint32_t *scratch, F f)
    {
#pragma unroll
        for (uint32_t j = 0; j < 32; j++)
            f(j, item(scratch, 32 * j + lane));
    }
    __device__ __forceinline__ void stage(uint32_t *)
    {
    }
    __device__ __forceinline__ int32_t item(const uint32_t *, uint32_t row)
    {
        const uint64_t address = data + (uint64_t)row * bytes;
        if (bytes == 1)
            return load(reinterpret_cast<const unsigned char *>(address));
        if (bytes == 2)
            return load(reinterpret_cast<const unsigned short *>(address));
        return (int32_t)load(words_at(address));
    }
};

/* A tile's entry in the directory of lane-for and lane-slice: start in units of 32 bytes | width << 26,
 * reference. */
template <uint32_t LOW, bool REGULAR> TILE_INLINE uint2 lane_entry(const bound_chunk &chunk, uint32_t tile)
{
    if (REGULAR)
        return make_uint2(tile * (LOW * 4), 0);
    return load(reinterpret_cast<const uint2 *>(chunk.directory) + tile);
}

/* LOW, HIGH: the column's narrowest and widest tile. REGULAR: these are equal, all references are 0, and each
 * tile stands right behind the one before: then the directory says nothing, and is not read. */
template <uint32_t LOW, uint32_t HIGH, bool REGULAR> struct decode_lane_for : decode_base {
    static constexpr bool RANDOM_ACCESS = true;
    static constexpr bool PROBES = HIGH - LOW < TILE_WIDTHS_MAX;
    static constexpr uint32_t SCRATCH_BYTES = 0;
    static constexpr bool FEW_WIDTHS = HIGH - LOW < TILE_WIDTHS_MAX;
    const uint32_t *words; /* word w of lane l at 32 w + l */
    uint32_t lane, width, reference;
    uint32_t loaded[FEW_WIDTHS ? HIGH + 1 : 1]; /* this lane's words */

    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t tile, uint32_t of_lane)
    {
        const uint2 entry = lane_entry<LOW, REGULAR>(chunk, tile);
        words = words_at(chunk.data) + (entry.x & 0x3ffffffu) * 8; /* starts count 32 bytes */
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
    /* Item j's bits at the bottom of a word, with whatever stands above them. */
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
    /* Bit j: the bitmap's bit at item j. The bitmap's words have their bits in reverse, so that shifting one
     * left by the row position (its lowest five bits count) brings the wanted bit to the top, from where a
     * funnel shift takes it into the mask: six instructions a row. CONDITIONAL: only rows in `keep` are
     * looked up, which spares bank conflicts. */
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

/* Bit planes: line k of a tile holds bit k of every value, word l of it that bit of lane l's 32 items. A
 * range is tested on the planes themselves, one logical operation a plane and bound for 32 rows
 * (BitWeaving/V, Li and Patel, SIGMOD 2013). */
template <uint32_t LOW, uint32_t HIGH, bool REGULAR> struct decode_lane_slice {
    static constexpr bool RANDOM_ACCESS = true;
    static constexpr bool SLICED = true;
    static constexpr bool PROBES = false;
    static constexpr uint32_t SCRATCH_BYTES = 0;
    const uint32_t *words;
    uint32_t lane, width, reference;
    uint32_t planes[HIGH + 1];

    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t tile, uint32_t of_lane)
    {
        const uint2 entry = lane_entry<LOW, REGULAR>(chunk, tile);
        words = words_at(chunk.data) + (entry.x & 0x3ffffffu) * 8;
        width = LOW == HIGH ? LOW : entry.x >> 26;
        reference = entry.y;
        lane = of_lane;
    }
    __device__ __forceinline__ void preload()
    {
#pragma unroll
        for (uint32_t k = 0; k < HIGH; k++)
            planes[k] = k < LOW || k < width ? load(words + k * 32 + lane) : 0;
    }
    /* Bit j: low <= value of item j <= high. From the least significant plane up, `above` says whether the
     * bits so far are at least the lower bound's, `below` whether they are at most the upper bound's. */
    template <bool PRELOADED> __device__ __forceinline__ uint32_t in_range(int32_t low, int32_t high)
    {
        if (!PRELOADED)
            preload();
        const int64_t most = (int64_t)low_bits(width), first = (int64_t)low - (int32_t)reference,
                      last = (int64_t)high - (int32_t)reference;
        if (last < 0 || first > most)
            return 0;
        const uint32_t from = first < 0 ? 0u : (uint32_t)first,
                       to = last > most ? (uint32_t)most : (uint32_t)last;
        uint32_t above = FULL_WARP, below = FULL_WARP;
#pragma unroll
        for (uint32_t k = 0; k < HIGH; k++) {
            const uint32_t from_bit = (uint32_t)((int32_t)(from << (31 - k)) >> 31);
            const uint32_t to_bit = (uint32_t)((int32_t)(to << (31 - k)) >> 31);
            above = (from_bit & planes[k] & above) | (~from_bit & (planes[k] | above));
            below = (to_bit & (~planes[k] | below)) | (~to_bit & ~planes[k] & below);
        }
        return above & below;
    }
    template <bool PRELOADED, class F> __device__ __forceinline__ void items(uint32_t *, F f)
    {
        if (!PRELOADED)
            preload();
#pragma unroll
        for (uint32_t j = 0; j < 32; j++) {
            uint32_t value = 0;
#pragma unroll
            for (uint32_t k = 0; k < HIGH; k++)
                value |= (planes[k] >> j & 1) << k;
            f(j, (int32_t)(reference + value));
        }
    }
    __device__ __forceinline__ void stage(uint32_t *)
    {
    }
    __device__ __forceinline__ int32_t item(const uint32_t *, uint32_t row)
    {
        uint32_t value = 0;
#pragma unroll
        for (uint32_t k = 0; k < HIGH; k++)
            if (k < LOW || k < width)
                value |= (load(words + k * 32 + row % 32) >> row / 32 & 1) << k;
        return (int32_t)(reference + value);
    }
};

struct decode_lane_delta : decode_base {
    static constexpr bool RANDOM_ACCESS = false;
    static constexpr uint32_t SCRATCH_BYTES = 0;
    const uint32_t *words; /* of this lane */
    const uint32_t *firsts;
    uint32_t lane, width, first_width, base, reference;

    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t tile, uint32_t of_lane)
    {
        const uint4 entry = load(reinterpret_cast<const uint4 *>(chunk.directory) + tile);
        const uint32_t *start = words_at(chunk.data) + (entry.x & 0x3ffffffu) * 8;
        lane = of_lane;
        width = entry.x >> 26;
        first_width = entry.y;
        base = entry.z;
        reference = entry.w;
        words = start + lane;
        firsts = start + (31 * width + 31) / 32 * 32;
    }
    __device__ __forceinline__ void preload()
    {
    }
    template <bool PRELOADED, class F> __device__ __forceinline__ void items(uint32_t *, F f)
    {
        const uint32_t mask = low_bits(width);
        uint32_t value = base + unpack(firsts, lane * first_width, first_width);
        f(0u, (int32_t)value);
#pragma unroll
        for (uint32_t j = 1; j < 32; j++) {
            const uint32_t bit = (j - 1) * width, word = bit / 32, shift = bit % 32;
            const uint32_t low = width ? load(words + word * 32) : 0;
            const uint32_t high = shift + width > 32 ? load(words + word * 32 + 32) : 0;
            value += reference + (__funnelshift_r(low, high, shift) & mask);
            f(j, (int32_t)value);
        }
    }
    __device__ __forceinline__ void stage(uint32_t *)
    {
    }
};

struct decode_rank_rle : decode_base {
    static constexpr bool RANDOM_ACCESS = true;
    static constexpr uint32_t SCRATCH_BYTES = 256; /* 32 mark words, 32 ranks before them */
    const uint32_t *marks;
    uint32_t lane, width, reference;

    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t tile, uint32_t of_lane)
    {
        const uint2 entry = load(reinterpret_cast<const uint2 *>(chunk.directory) + 2 * tile);
        marks = words_at(chunk.data) + (entry.x & 0x3ffffffu) * 8;
        width = entry.x >> 26;
        reference = entry.y;
        lane = of_lane;
    }
    /* Value of the run that item j (row 32j + lane) lies in: `mark` is mark word j, `before` the runs before
     * it. */
    __device__ __forceinline__ int32_t run_value(uint32_t of_lane, uint32_t mark, uint32_t before)
    {
        const uint32_t rank = before + __popc(mark & (0xffffffffu >> (31 - of_lane))) - 1;
        return (int32_t)(reference + unpack(marks + 32, rank * width, width));
    }
    __device__ __forceinline__ void preload()
    {
    }
    template <bool PRELOADED, class F> __device__ __forceinline__ void items(uint32_t *, F f)
    {
        const uint32_t mark = load(marks + lane), count = __popc(mark);
        const uint32_t before = scan_warp(count, lane) - count;
#pragma unroll
        for (uint32_t j = 0; j < 32; j++)
            f(j, run_value(lane, __shfl_sync(FULL_WARP, mark, j), __shfl_sync(FULL_WARP, before, j)));
    }
    __device__ __forceinline__ void stage(uint32_t *scratch)
    {
        const uint32_t mark = load(marks + lane), count = __popc(mark);
        scratch[lane] = mark;
        scratch[32 + lane] = scan_warp(count, lane) - count;
        __syncwarp();
    }
    __device__ __forceinline__ int32_t item(const uint32_t *scratch, uint32_t row)
    {
        return run_value(row % 32, scratch[row / 32], scratch[32 + row / 32]);
    }
};

/* The eight GPU-FOR blocks of a tile, 128 values each: f(j, reference, packed) for j = 0 .. 31, item j % 4 of
 * block j / 4. All starts are loaded at once, then all headers, then the packed words: three trips to memory
 * a tile. The published encoder gives the four miniblocks of a block the same width; then a lane's word and
 * shift are the same in each of them, and no branch stands between the loads of different blocks. */
template <class F>
TILE_INLINE void gpu_tile_items(const uint32_t *data, const uint32_t *starts, uint32_t lane, F f)
{
    const uint4 first = load(reinterpret_cast<const uint4 *>(starts)),
                second = load(reinterpret_cast<const uint4 *>(starts) + 1);
    const uint32_t block[8] = {first.x, first.y, first.z, first.w, second.x, second.y, second.z, second.w};
    uint32_t reference[8], widths[8];
    bool same = true;
#pragma unroll
    for (uint32_t b = 0; b < 8; b++) {
        reference[b] = load(data + block[b]);
        widths[b] = load(data + block[b] + 1);
    }
#pragma unroll
    for (uint32_t b = 0; b < 8; b++)
        same &= widths[b] == (widths[b] & 0xff) * 0x01010101u;
    if (same) {
#pragma unroll
        for (uint32_t b = 0; b < 8; b++) {
            const uint32_t width = widths[b] & 0xff, step = max(width, 1u), shift = lane * width,
                           mask = low_bits(width);
            const uint32_t word = block[b] + 2 + shift / 32;
#pragma unroll
            for (uint32_t m = 0; m < 4; m++) {
                const uint32_t *at = data + (word + m * step);
                f(4 * b + m, reference[b], __funnelshift_r(load(at), load(at + 1), shift) & mask);
            }
        }
        return;
    }
#pragma unroll
    for (uint32_t b = 0; b < 8; b++) {
        uint32_t miniblock = block[b] + 2;
#pragma unroll
        for (uint32_t m = 0; m < 4; m++) {
            const uint32_t width = widths[b] >> (8 * m) & 0xff;
            f(4 * b + m, reference[b], unpack(data + miniblock, lane * width, width));
            miniblock += max(width, 1u);
        }
    }
}

struct decode_gpu_for : decode_base {
    static constexpr bool RANDOM_ACCESS = true;
    static constexpr uint32_t SCRATCH_BYTES = 0;
    const uint32_t *data, *starts; /* of this tile's 8 blocks */
    uint32_t lane;

    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t tile, uint32_t of_lane)
    {
        data = words_at(chunk.data);
        starts = words_at(chunk.directory) + tile * 8;
        lane = of_lane;
    }
    __device__ __forceinline__ void preload()
    {
    }
    template <bool PRELOADED, class F> __device__ __forceinline__ void items(uint32_t *, F f)
    {
        gpu_tile_items(data, starts, lane, [&](uint32_t j, uint32_t reference, uint32_t packed) {
            f(j, (int32_t)(reference + packed));
        });
    }
    __device__ __forceinline__ void stage(uint32_t *)
    {
    }
    __device__ __forceinline__ int32_t item(const uint32_t *, uint32_t row)
    {
        const uint32_t j = row / 32;
        const uint32_t *block = data + load(starts + j / 4);
        const uint32_t widths = load(block + 1);
        const uint32_t *miniblock = block + 2;
        for (uint32_t m = 0; m < j % 4; m++)
            miniblock += max(widths >> (8 * m) & 0xff, 1u);
        const uint32_t width = widths >> (8 * (j % 4)) & 0xff;
        return (int32_t)(load(block) + unpack(miniblock, row % 32 * width, width));
    }
};

struct decode_gpu_dfor : decode_base {
    static constexpr bool RANDOM_ACCESS = false;
    static constexpr uint32_t SCRATCH_BYTES = 0;
    const uint32_t *data, *starts;
    uint32_t lane;

    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t tile, uint32_t of_lane)
    {
        data = words_at(chunk.data);
        starts = words_at(chunk.directory) + tile * 8;
        lane = of_lane;
    }
    __device__ __forceinline__ void preload()
    {
    }
    template <bool PRELOADED, class F> __device__ __forceinline__ void items(uint32_t *, F f)
    {
        /* A group's first value stands before its first block; its first difference is 0. */
        const uint32_t first[2] = {load(data + load(starts) - 1), load(data + load(starts + 4) - 1)};
        uint32_t value = 0; /* of the row before the item's first */
        gpu_tile_items(data, starts, lane, [&](uint32_t j, uint32_t reference, uint32_t packed) {
            value = j % 16 == 0 ? first[j / 16] : value;
            const uint32_t own = value + scan_warp(reference + packed, lane);
            f(j, (int32_t)own);
            value = __shfl_sync(FULL_WARP, own, 31);
        });
    }
    __device__ __forceinline__ void stage(uint32_t *)
    {
    }
};

/* Decoded to rank form: a bit for each run's start, set from the run lengths; a row's run is the rank of its
 * bit. */
struct decode_gpu_rfor : decode_base {
    static constexpr bool RANDOM_ACCESS = false;
    static constexpr uint32_t SCRATCH_BYTES = 128; /* 32 mark words */
    const uint32_t *data, *auxiliary, *value_starts, *run_starts;
    uint32_t lane;

    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t tile, uint32_t of_lane)
    {
        data = words_at(chunk.data);
        auxiliary = words_at(chunk.auxiliary);
        value_starts = words_at(chunk.directory) + tile * 2;
        run_starts = value_starts + (uint32_t)chunk.detail + 1;
        lane = of_lane;
    }
    __device__ __forceinline__ void preload()
    {
    }
    template <bool PRELOADED, class F> __device__ __forceinline__ void items(uint32_t *scratch, F f)
    {
        __syncwarp();
        scratch[lane] = 0;
        __syncwarp();
        bool single[2]; /* every row of the block is a run of its own */
#pragma unroll
        for (uint32_t b = 0; b < 2; b++) {
            const uint32_t *runs = auxiliary + load(run_starts + b);
            const uint32_t reference = load(runs), width = load(runs + 1) & 0xff, count = load(runs + 2);
            uint32_t end = 0; /* rows of the runs before these 32 */
            single[b] = count == 512;
            for (uint32_t first = 0; first < count && !single[b]; first += 32) {
                const uint32_t run = first + lane;
                const uint32_t length = run < count ? reference + unpack(runs + 3, run * width, width) : 0;
                const uint32_t start = end + scan_warp(length, lane) - length;
                if (run < count)
                    atomicOr(&scratch[16 * b + start / 32], 1u << start % 32);
                end = __shfl_sync(FULL_WARP, start + length, 31);
            }
        }
        __syncwarp();
        const uint32_t mark = scratch[lane], count = __popc(mark);
        uint32_t before = scan_warp(count, lane) - count;
        const uint32_t first_block = __shfl_sync(FULL_WARP, before, 16);
        before -= lane < 16 ? 0 : first_block; /* ranks begin anew in each block of 512 */
#pragma unroll
        for (uint32_t b = 0; b < 2; b++) {
            const uint32_t *values = data + load(value_starts + b);
            const uint32_t reference = load(values), width = load(values + 1) & 0xff;
            if (single[b]) {
#pragma unroll
                for (uint32_t j = 0; j < 16; j++)
                    f(16 * b + j, (int32_t)(reference + unpack(values + 3, (32 * j + lane) * width, width)));
                continue;
            }
#pragma unroll
            for (uint32_t j = 16 * b; j < 16 * b + 16; j++) {
                const uint32_t word = __shfl_sync(FULL_WARP, mark, j);
                const uint32_t rank =
                    __shfl_sync(FULL_WARP, before, j) + __popc(word & (0xffffffffu >> (31 - lane))) - 1;
                f(j, (int32_t)(reference + unpack(values + 3, rank * width, width)));
            }
        }
    }
    __device__ __forceinline__ void stage(uint32_t *)
    {
    }
};

#endif
