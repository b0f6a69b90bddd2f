/*
 * unpack_cuda.h: what all decoders on the GPU share: loading encoded bytes, unpacking bits, sums over a warp.
 */
#ifndef TESSERA_OPERATORS_DECODE_UNPACK_CUDA_H
#define TESSERA_OPERATORS_DECODE_UNPACK_CUDA_H

#include "operators/dialect/bound.h"

#define TILE_ROWS   1024u
#define TILE_LANES  32u
#define TILE_INLINE static __device__ __forceinline__
#define FULL_WARP   0xffffffffu

/* With TILE_RACECHECK, which only the tests define, what warps or lanes write beside each other on purpose is done so that
 * racecheck finds nothing: bytes are loaded one at a time, and equal words written by atomics. */

/* Every encoded byte is read through these functions. A kernel compiled with TILE_COUNT_SECTORS also marks
 * the byte's 32-byte sector of memory, so that the sectors that a query needs can be counted
 * (engine/gpu/sectors.c). */
#ifdef TILE_COUNT_SECTORS
struct counted_memory {
    uint64_t address, bytes; /* of one column */
    uint32_t *sectors;       /* one bit a sector */
};
extern "C" {
__constant__ counted_memory tile_counted[193]; /* ends with bytes == 0 */
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

/* Loads a word of shared memory by its address there. With a pointer, the compiler computes the beginning of
 * shared memory before every load (three instructions, one of them slow). The word must have been written
 * before the last barrier. */
TILE_INLINE uint32_t load_shared(uint32_t address)
{
    uint32_t word;
    asm("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(address));
    return word;
}

/* Copies lines of 128 bytes, from `first` to `end` - 1, to their places in shared memory, all at once. All lanes call it, and
 * then wait_for_copies before the words are read with load_copied. */
TILE_INLINE void copy_lines(const uint32_t *from, uint32_t first, uint32_t end, uint32_t to, uint32_t lane)
{
    for (uint32_t line = first + lane / 8; line < end; line += 4) {
        const uint32_t at = line * 32 + lane % 8 * 4;
#if __CUDA_ARCH__ >= 800 && !defined(TILE_COUNT_SECTORS)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(to + at * 4), "l"(from + at));
#else
        const uint4 words = load(reinterpret_cast<const uint4 *>(from + at));
        asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};"
                     :
                     : "r"(to + at * 4), "r"(words.x), "r"(words.y), "r"(words.z), "r"(words.w));
#endif
    }
}

TILE_INLINE void wait_for_copies()
{
#if __CUDA_ARCH__ >= 800 && !defined(TILE_COUNT_SECTORS)
    asm volatile("cp.async.wait_all;" : : : "memory");
#endif
    __syncwarp();
}

/* load_shared of a word that was copied: it is volatile, so that it stays behind wait_for_copies. */
TILE_INLINE uint32_t load_copied(uint32_t address)
{
    uint32_t word;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(address));
    return word;
}

/* load_shared, but 0 without a load if `condition` is 0. It is one piece of assembly, so that only the load is
 * conditional and not the address. */
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

/* The same for global memory that does not change while the kernel runs. */
TILE_INLINE uint32_t load_if(const uint32_t *from, uint32_t condition)
{
    uint32_t word;
    asm("{\n"
        ".reg .pred wanted;\n"
        "setp.ne.u32 wanted, %2, 0;\n"
        "mov.u32 %0, 0;\n"
        "@wanted ld.global.nc.u32 %0, [%1];\n"
        "}"
        : "=&r"(word)
        : "l"(from), "r"(condition));
    return word;
}

/* load(), or `instead` without a load if `condition` is not 0: a word that is chosen after the load would wait for it. */
TILE_INLINE uint32_t load_unless(const uint32_t *from, uint32_t condition, uint32_t instead)
{
#ifdef TILE_COUNT_SECTORS
    if (!condition)
        mark_sector(reinterpret_cast<uint64_t>(from));
#endif
    uint32_t word = instead;
#ifdef __CUDA_ARCH__
    asm("{\n"
        ".reg .pred wanted;\n"
        "setp.eq.u32 wanted, %2, 0;\n"
        "@wanted ld.global.nc.u32 %0, [%1];\n"
        "}"
        : "+r"(word)
        : "l"(from), "r"(condition));
#else
    if (!condition)
        word = *from;
#endif
    return word;
}

TILE_INLINE const uint32_t *words_at(uint64_t address)
{
    return reinterpret_cast<const uint32_t *>(address);
}

/* A word with its low `width` bits set; width 0..32. */
TILE_INLINE uint32_t low_bits(uint32_t width)
{
    return width == 0 ? 0u : 0xffffffffu >> (32 - width);
}

/* Decoders are templates over the type of a column's values, int32_t or int64_t; sums and references are
 * computed modulo 2^32 or 2^64. */
template <class VALUE> struct value_type {
    typedef uint32_t unsigned_type;
};
template <> struct value_type<int64_t> {
    typedef uint64_t unsigned_type;
};
template <class VALUE> using unsigned_of = typename value_type<VALUE>::unsigned_type;
template <class VALUE> constexpr bool is_wide = sizeof(VALUE) == 8;

/* The words of an unpacked value. */
template <class VALUE> constexpr uint32_t value_words = sizeof(VALUE) / 4;

/* Loads an unpacked value, low word first. */
template <class VALUE> TILE_INLINE unsigned_of<VALUE> load_value(const uint32_t *words)
{
    if constexpr (is_wide<VALUE>)
        return load(words) | (uint64_t)load(words + 1) << 32;
    else
        return load(words);
}

/* The value at bit `bit` of a stream that is packed in a row. It also reads the word after the value, which
 * every section has (codec.h). */
TILE_INLINE uint32_t unpack(const uint32_t *words, uint32_t bit, uint32_t width)
{
    const uint32_t *word = words + bit / 32;
    return __funnelshift_r(load(word), load(word + 1), bit) & low_bits(width);
}

/* `width` bits, 0..64, from `bit` on, of a stream whose words word(0), word(1) ... gives, counted from the one that has `bit`.
 * It asks for the next two words only if the value reaches into them. */
template <class WORD> TILE_INLINE uint64_t unpack_wide_of(uint32_t bit, uint32_t width, WORD word)
{
    if (width == 0)
        return 0;
    const uint32_t shift = bit % 32;
    uint64_t value = word(0);
    if (shift + width > 32)
        value |= (uint64_t)word(1) << 32;
    value >>= shift;
    if (shift + width > 64)
        value |= (uint64_t)word(2) << (64 - shift);
    return value & ~0ull >> (64 - width);
}

/* The same of a stream whose words are `apart` words from each other. */
TILE_INLINE uint64_t unpack_wide(const uint32_t *words, uint32_t apart, uint32_t bit, uint32_t width)
{
    const uint32_t *const from = words + bit / 32 * apart;
    return unpack_wide_of(bit, width, [&](uint32_t i) { return load(from + i * apart); });
}

/* unpack() for either type of value. */
template <class VALUE>
TILE_INLINE unsigned_of<VALUE> unpack_value(const uint32_t *words, uint32_t bit, uint32_t width)
{
    if constexpr (is_wide<VALUE>)
        return unpack_wide(words, 1, bit, width);
    else
        return unpack(words, bit, width);
}

/* The prefix sum: the sum of the values of all lanes up to this one. */
template <class UNSIGNED> TILE_INLINE UNSIGNED scan_values(UNSIGNED value, uint32_t lane)
{
#pragma unroll
    for (uint32_t distance = 1; distance < 32; distance *= 2) {
        UNSIGNED below = __shfl_up_sync(FULL_WARP, value, distance);
        value += lane >= distance ? below : 0;
    }
    return value;
}

TILE_INLINE uint32_t scan_warp(uint32_t value, uint32_t lane)
{
    return scan_values<uint32_t>(value, lane);
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

#endif
