/*
 * warp.h: enough of CUDA's C++ for g++ to compile the general kernel (operators/general), whose threads are fibers of one
 * thread of the host: those of a block take turns, and change where they wait for each other. Only what that kernel uses is
 * here. All collective functions take all 32 lanes.
 */
#ifndef TESSERA_TESTS_EMULATOR_WARP_H
#define TESSERA_TESTS_EMULATOR_WARP_H

#include <math.h>
#include <stdint.h>
#include <string.h>

struct emulated_index {
    uint32_t x;
};
/* Of the fiber that runs. */
extern emulated_index threadIdx, blockIdx, blockDim, gridDim;

/* Waits until all threads of the warp, or of the block, have called it. */
void emulated_warp_wait();
void emulated_block_wait();
/* The warp's memory for exchanging values: 32 of 8 bytes. */
uint64_t *emulated_exchange();

/* A module that the driver can load (driver.cpp). */
struct emulated_function {
    const char *name;
    void (*run)(void **parameters);
    uint32_t parameter_count;
    uint32_t parameter_bytes[5];
};
struct emulated_module {
    const char *name;
    void *arguments;
    size_t arguments_bytes;
    emulated_function functions[128];
    void *counted; /* tile_counted (operators/decode/unpack_cuda.h), if the module has it */
    size_t counted_bytes;
};

#define __device__
#define __global__
#define __constant__
#define __shared__
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __forceinline__  inline
#define __noinline__     __attribute__((noinline))

struct uint2 {
    uint32_t x, y;
};
struct alignas(16) uint4 {
    uint32_t x, y, z, w;
};
struct alignas(16) ulonglong2 {
    unsigned long long x, y;
};
static inline uint2 make_uint2(uint32_t x, uint32_t y)
{
    return {x, y};
}
static inline uint4 make_uint4(uint32_t x, uint32_t y, uint32_t z, uint32_t w)
{
    return {x, y, z, w};
}

static inline ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y)
{
    return {x, y};
}

template <class T> static inline T __ldg(const T *from)
{
    return *from;
}
/* As CUDA has them: of two signed numbers, or else as unsigned ones. */
static inline int32_t min(int32_t a, int32_t b)
{
    return a < b ? a : b;
}
static inline int32_t max(int32_t a, int32_t b)
{
    return a > b ? a : b;
}
#define EMULATED_EXTREMES(left, right)                                \
    static inline uint32_t min(left a, right b)                       \
    {                                                                 \
        return (uint32_t)a < (uint32_t)b ? (uint32_t)a : (uint32_t)b; \
    }                                                                 \
    static inline uint32_t max(left a, right b)                       \
    {                                                                 \
        return (uint32_t)a > (uint32_t)b ? (uint32_t)a : (uint32_t)b; \
    }
EMULATED_EXTREMES(uint32_t, uint32_t)
EMULATED_EXTREMES(uint32_t, int32_t)
EMULATED_EXTREMES(int32_t, uint32_t)

/* ---- Bits ---- */

static inline uint32_t __popc(uint32_t word)
{
    return __builtin_popcount(word);
}
static inline uint32_t __ffs(uint32_t word)
{
    return __builtin_ffs((int)word);
}
static inline uint32_t __clz(uint32_t word)
{
    return word ? __builtin_clz(word) : 32;
}
static inline int __clzll(long long word)
{
    return word ? __builtin_clzll((unsigned long long)word) : 64;
}
static inline uint32_t __brev(uint32_t word)
{
    uint32_t reversed = 0;
    for (int bit = 0; bit < 32; bit++)
        reversed |= (word >> bit & 1) << (31 - bit);
    return reversed;
}
static inline uint32_t __funnelshift_r(uint32_t low, uint32_t high, uint32_t shift)
{
    return (uint32_t)(((uint64_t)high << 32 | low) >> shift % 32);
}
static inline uint32_t __funnelshift_l(uint32_t low, uint32_t high, uint32_t shift)
{
    return (uint32_t)(((uint64_t)high << 32 | low) << shift % 32 >> 32);
}
static inline uint32_t __byte_perm(uint32_t x, uint32_t y, uint32_t select)
{
    const uint64_t bytes = (uint64_t)y << 32 | x;
    uint32_t result = 0;
    for (uint32_t i = 0; i < 4; i++)
        result |= (uint32_t)(bytes >> (select >> 4 * i & 7) * 8 & 0xff) << 8 * i;
    return result;
}

static inline uint32_t __dp4a(uint32_t x, uint32_t y, uint32_t sum)
{
    for (uint32_t i = 0; i < 32; i += 8)
        sum += (x >> i & 0xff) * (y >> i & 0xff);
    return sum;
}

/* ---- Doubles ---- */

static inline double __dadd_rn(double a, double b)
{
    return a + b;
}
static inline double __dsub_rn(double a, double b)
{
    return a - b;
}
static inline double __dmul_rn(double a, double b)
{
    return a * b;
}
static inline double __ddiv_rn(double a, double b)
{
    return a / b;
}
static inline double __fma_rn(double a, double b, double c)
{
    return fma(a, b, c);
}
static inline double __dsqrt_rn(double a)
{
    return sqrt(a);
}
static inline double __longlong_as_double(long long bits)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}
static inline long long __double_as_longlong(double number)
{
    long long bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

/* ---- Warps ---- */

template <class T> static inline T emulated_from(T value, uint32_t lane)
{
    uint64_t *const values = emulated_exchange();
    T other;
    memcpy(&values[threadIdx.x % 32], &value, sizeof value);
    emulated_warp_wait();
    memcpy(&other, &values[lane % 32], sizeof other);
    emulated_warp_wait();
    return other;
}
template <class T> static inline T __shfl_sync(uint32_t, T value, uint32_t lane)
{
    return emulated_from(value, lane);
}
template <class T> static inline T __shfl_up_sync(uint32_t, T value, uint32_t distance)
{
    const uint32_t lane = threadIdx.x % 32;
    return emulated_from(value, lane >= distance ? lane - distance : lane);
}
template <class T> static inline T __shfl_down_sync(uint32_t, T value, uint32_t distance)
{
    const uint32_t lane = threadIdx.x % 32;
    return emulated_from(value, lane + distance < 32 ? lane + distance : lane);
}
template <class T> static inline T __shfl_xor_sync(uint32_t, T value, uint32_t mask)
{
    return emulated_from(value, threadIdx.x % 32 ^ mask);
}
static inline uint32_t __ballot_sync(uint32_t, bool condition)
{
    uint64_t *const values = emulated_exchange();
    uint32_t bits = 0;
    values[threadIdx.x % 32] = condition;
    emulated_warp_wait();
    for (uint32_t lane = 0; lane < 32; lane++)
        bits |= (uint32_t)values[lane] << lane;
    emulated_warp_wait();
    return bits;
}
static inline bool __any_sync(uint32_t mask, bool condition)
{
    return __ballot_sync(mask, condition) != 0;
}
static inline bool __all_sync(uint32_t mask, bool condition)
{
    return __ballot_sync(mask, condition) == UINT32_MAX;
}
static inline void __syncwarp()
{
    emulated_warp_wait();
}
static inline void __syncthreads()
{
    emulated_block_wait();
}
static inline int __syncthreads_or(int condition)
{
    static int any;
    __syncthreads();
    any = 0;
    __syncthreads();
    any |= condition;
    __syncthreads();
    return any;
}
static inline void __threadfence()
{
}
static inline size_t __cvta_generic_to_shared(const void *)
{
    return 0;
}

/* ---- Atomic operations: fibers change at collective functions alone ---- */

#define EMULATED_ATOMIC(name, expression)                                   \
    template <class T, class V> static inline T name(T *address, V operand) \
    {                                                                       \
        const T before = *address, value = (T)operand;                      \
        *address = (expression);                                            \
        return before;                                                      \
    }
EMULATED_ATOMIC(atomicAdd, before + value)
EMULATED_ATOMIC(atomicExch, value)
EMULATED_ATOMIC(atomicOr, before | value)
EMULATED_ATOMIC(atomicXor, before ^ value)
EMULATED_ATOMIC(atomicMax, before > value ? before : value)
EMULATED_ATOMIC(atomicMin, before < value ? before : value)
template <class T> static inline T atomicCAS(T *address, T compare, T value)
{
    const T before = *address;
    if (before == compare)
        *address = value;
    return before;
}

#endif
