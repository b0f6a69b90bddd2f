/*
 * strategies_cuda.h: four published ways to OR decompressed vectors on a GPU: COA, ROA, hybrid and ideal hybrid (Nelson, Sorenson, Myre,
 * Sawin and Chiu, Journal of Cloud Computing 9:44, 2020).
 *
 * Vector v is at data + v * stride, a word for each of its n groups; there are m vectors. Reads and writes of global
 * memory, in words, as the paper gives them:
 *
 *                    reads         writes
 *     COA            (2m - 2) n    (m - 1) n    pairs of columns, level by level, in place
 *     ROA            m n           n            a thread block for each row, in shared memory
 *     hybrid         (m + k) n     (k + 1) n    tiles of some columns and some rows; k tiles span the columns
 *     ideal hybrid   m n           n            tiles that span all columns
 *
 * TRAFFIC counts them: bitmap_uncounted does nothing, bitmap_counted adds up what all threads read and write. In all but
 * ROA, whose blocks have one row, a thread takes two rows at a time, which is 16 bytes; so the stride is even, and the
 * word after the last one of an odd number is read, and written, and counted too.
 */
#ifndef TESSERA_LAB_KERNELS_BITMAPS_STRATEGIES_CUDA_H
#define TESSERA_LAB_KERNELS_BITMAPS_STRATEGIES_CUDA_H

#include "operators/decode/unpack_cuda.h"

#define STRATEGY_THREADS 1024u /* of COA, and at most of both hybrids */

struct bitmap_uncounted {
    __device__ __forceinline__ void add(uint32_t, uint32_t)
    {
    }
    __device__ __forceinline__ void finish(unsigned long long *)
    {
    }
};

/* Words that a thread has read and written; finish() adds them to traffic[0] and traffic[1]. */
struct bitmap_counted {
    uint32_t reads, writes;
    __device__ __forceinline__ bitmap_counted() : reads(0), writes(0)
    {
    }
    __device__ __forceinline__ void add(uint32_t read, uint32_t written)
    {
        reads += read;
        writes += written;
    }
    __device__ __forceinline__ void finish(unsigned long long *traffic)
    {
        if (reads)
            atomicAdd(traffic, (unsigned long long)reads);
        if (writes)
            atomicAdd(traffic + 1, (unsigned long long)writes);
    }
};

TILE_INLINE ulonglong2 bitmap_or(const ulonglong2 &a, const ulonglong2 &b)
{
    return make_ulonglong2(a.x | b.x, a.y | b.y);
}

/* ---- COA (algorithm 3) ---- */

/* One level: vector i gets its OR with vector i + half, for all i with i + half < count. The grid has for each pair
 * blocks_each blocks, a block of STRATEGY_THREADS pairs of 16 bytes. */
template <class TRAFFIC>
TILE_INLINE void bitmap_coa_level(uint64_t *data, uint64_t stride, uint64_t words, uint32_t half,
                                  uint32_t blocks_each, unsigned long long *traffic)
{
    const uint32_t pair = blockIdx.x / blocks_each, block = blockIdx.x % blocks_each;
    const uint64_t at = 2 * ((uint64_t)block * STRATEGY_THREADS + threadIdx.x);
    TRAFFIC counted;
    if (at < words) {
        ulonglong2 *const low = reinterpret_cast<ulonglong2 *>(data + pair * stride + at);
        const ulonglong2 *const high =
            reinterpret_cast<const ulonglong2 *>(data + (uint64_t)(pair + half) * stride + at);
        *low = bitmap_or(*low, *high);
        counted.add(4, 2);
    }
    counted.finish(traffic);
}

/* ---- ROA (algorithm 4) ---- */

#define ROA_VECTORS_MAX 2048u

/* Row blockIdx.x of up to 2048 vectors. A block has a thread for each two vectors, and whole warps. Shared memory: 8 KiB.
 * The last 32 words of a row are combined by a warp in registers. */
template <class TRAFFIC>
TILE_INLINE void bitmap_roa(const uint64_t *data, uint64_t stride, uint32_t vectors, uint64_t *out,
                            unsigned long long *traffic)
{
    __shared__ uint64_t row[ROA_VECTORS_MAX / 2];
    const uint32_t t = threadIdx.x;
    const uint64_t *const column = data + blockIdx.x;
    uint32_t count = (vectors + 1) / 2;
    uint64_t word = 0;
    TRAFFIC counted;
    if (t < count) {
        word = column[t * stride];
        counted.add(1, 0);
        if (t + count < vectors) {
            word |= column[(uint64_t)(t + count) * stride];
            counted.add(1, 0);
        }
    }
    while (count > 32) {
        const uint32_t half = (count + 1) / 2;
        if (t >= half && t < count)
            row[t] = word;
        __syncthreads();
        if (t + half < count)
            word |= row[t + half];
        count = half;
        __syncthreads();
    }
    if (t < 32) {
        if (t >= count)
            word = 0;
#pragma unroll
        for (uint32_t distance = 16; distance; distance /= 2)
            word |= __shfl_xor_sync(FULL_WARP, (unsigned long long)word, distance);
        if (t == 0) {
            out[blockIdx.x] = word;
            counted.add(0, 1);
        }
    }
    counted.finish(traffic);
}

/* ---- Hybrid and ideal hybrid (algorithms 5 and 6) ---- */

/* Tiles of 2 k columns and 2 j rows by thread blocks of k x j threads, k = 2^log_k and j a power of two, k j at most STRATEGY_THREADS;
 * the paper's tiles have k x 1024/k threads. `tiles` tiles stand side by side;
 * tile q has columns 2 k q ..., of which column c is vector c * step, and its result goes to vector q * out_step of
 * `out`, which may be `data` where that is the tile's first column. A hybrid's first round has step 1 and writes each
 * tile's first vector; its second round combines those. Ideal hybrid: one round with one tile. Shared memory: 16 KiB. */
template <class TRAFFIC>
TILE_INLINE void bitmap_tile(const uint64_t *data, uint64_t stride, uint64_t words, uint32_t columns,
                             uint32_t step, uint32_t log_k, uint32_t tiles, uint64_t *out, uint32_t out_step,
                             unsigned long long *traffic)
{
    __shared__ ulonglong2 tile[STRATEGY_THREADS];
    const uint32_t k = 1u << log_k, j = blockDim.x >> log_k;
    const uint32_t r = threadIdx.x & (j - 1), c = threadIdx.x / j;
    const uint32_t q = blockIdx.x % tiles, low = q * 2 * k + c, high = low + k;
    const uint64_t at = 2 * ((uint64_t)(blockIdx.x / tiles) * j + r);
    const bool inside = at < words;
    TRAFFIC counted;
    ulonglong2 both = make_ulonglong2(0, 0);
    if (inside && low < columns) {
        both = *reinterpret_cast<const ulonglong2 *>(data + (uint64_t)low * step * stride + at);
        counted.add(2, 0);
    }
    if (inside && high < columns) {
        both = bitmap_or(both,
                         *reinterpret_cast<const ulonglong2 *>(data + (uint64_t)high * step * stride + at));
        counted.add(2, 0);
    }
    for (uint32_t half = k / 2; half; half /= 2) {
        if (c >= half && c < 2 * half)
            tile[threadIdx.x] = both;
        __syncthreads();
        if (c < half)
            both = bitmap_or(both, tile[threadIdx.x + half * j]);
        /* The next level's threads write to places that nobody reads at this level, below half * j. */
    }
    if (c == 0 && inside) {
        *reinterpret_cast<ulonglong2 *>(out + (uint64_t)q * out_step * stride + at) = both;
        counted.add(0, 2);
    }
    counted.finish(traffic);
}

#endif
