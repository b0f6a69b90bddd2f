/*
 * radix_sort_cuda.h: sorts pairs of a key and a value of 64 bits each, or keys alone, by bits of the key, which has no sign; those
 * whose bits are equal keep their order. It is cub::DeviceRadixSort in its "onesweep" form (Adinets and Merrill, arXiv
 * 2206.01784): each digit is one pass over the pairs.
 *
 *     radix_sort_histogram    counts the keys by each digit
 *     radix_sort_starts       a block for each digit: exclusive sums of these
 *     radix_sort_pass_pairs   a block for RADIX_SORT_ITEMS pairs: sorts them by one digit, finds by looking back where the block's
 *                             pairs of each digit begin, and moves them
 *     radix_sort_pass_keys    the same for keys alone
 *     ..._narrow              the same for keys of 32 bits
 *
 * CUB's own launches are host code, which NVRTC does not compile; engine/gpu/sort does what they do. The kernels are
 * made of CUB's agents, with the sizes that CUB was tuned to for compute capability 8.0 and later. Agents are no promised
 * interface: they compile with CUB 3.0 and 3.5, and without its kernels (ahead.h) nothing is sorted on a GPU.
 */
#ifndef TESSERA_OPERATORS_SORT_RADIX_SORT_CUDA_H
#define TESSERA_OPERATORS_SORT_RADIX_SORT_CUDA_H

#include "operators/sort/radix_sort.h"

/* The agents have a hint to the next launch whose name NVRTC lacks. */
#define CCCL_DISABLE_PDL
#include <cub/agent/agent_radix_sort_histogram.cuh>
#include <cub/agent/agent_radix_sort_onesweep.cuh>
#include <cub/block/block_scan.cuh>

typedef unsigned long long radix_sort_word;

template <class KEY>
using radix_sort_histogram_agent = cub::detail::radix_sort::AgentRadixSortHistogram<
    cub::AgentRadixSortHistogramPolicy<RADIX_SORT_HISTOGRAM_THREADS, 16, 1, KEY, RADIX_SORT_BITS>, false, KEY,
    unsigned>;

template <class KEY, class VALUE>
using radix_sort_agent = cub::detail::radix_sort::AgentRadixSortOnesweep<
    cub::AgentRadixSortOnesweepPolicy<RADIX_SORT_THREADS, 21, KEY, 1, cub::RADIX_RANK_MATCH_EARLY_COUNTS_ANY,
                                      cub::BLOCK_SCAN_RAKING_MEMOIZE, cub::RADIX_SORT_STORE_DIRECT,
                                      RADIX_SORT_BITS>,
    false, KEY, VALUE, unsigned, int>;

template <class KEY, class VALUE> __device__ __forceinline__ void radix_sort_move(const radix_sort_pass &pass)
{
    typedef radix_sort_agent<KEY, VALUE> agent;
    static_assert(agent::TILE_ITEMS == (sizeof(KEY) == 4 ? RADIX_SORT_NARROW_ITEMS : RADIX_SORT_ITEMS) &&
                      agent::BLOCK_THREADS == RADIX_SORT_THREADS,
                  "the host launches as many blocks as there are tiles");
    __shared__ typename agent::TempStorage shared;
    agent(shared, reinterpret_cast<int *>(pass.lookback), reinterpret_cast<int *>(pass.next), nullptr,
          reinterpret_cast<const unsigned *>(pass.bins), reinterpret_cast<KEY *>(pass.keys_out),
          reinterpret_cast<const KEY *>(pass.keys), reinterpret_cast<VALUE *>(pass.values_out),
          reinterpret_cast<const VALUE *>(pass.values), pass.count, pass.first_bit, pass.bits)
        .Process();
}

template <class KEY>
__device__ __forceinline__ void radix_sort_count(uint64_t bins, uint64_t keys, uint32_t count,
                                                 uint32_t first_bit, uint32_t bits)
{
    __shared__ typename radix_sort_histogram_agent<KEY>::TempStorage shared;
    radix_sort_histogram_agent<KEY>(shared, reinterpret_cast<unsigned *>(bins),
                                    reinterpret_cast<const KEY *>(keys), count, (int)first_bit, (int)bits)
        .Process();
}

/* `bins`: RADIX_SORT_DIGITS for each digit of the bits first_bit .. bits - 1, zeros. */
extern "C" __global__ void __launch_bounds__(RADIX_SORT_HISTOGRAM_THREADS)
    radix_sort_histogram(uint64_t bins, uint64_t keys, uint32_t count, uint32_t first_bit, uint32_t bits)
{
    radix_sort_count<radix_sort_word>(bins, keys, count, first_bit, bits);
}

extern "C" __global__ void __launch_bounds__(RADIX_SORT_HISTOGRAM_THREADS)
    radix_sort_histogram_narrow(uint64_t bins, uint64_t keys, uint32_t count, uint32_t first_bit,
                                uint32_t bits)
{
    radix_sort_count<unsigned>(bins, keys, count, first_bit, bits);
}

extern "C" __global__ void __launch_bounds__(RADIX_SORT_DIGITS) radix_sort_starts(uint64_t bins)
{
    typedef cub::BlockScan<unsigned, RADIX_SORT_DIGITS> block_scan;
    __shared__ typename block_scan::TempStorage shared;
    unsigned *const mine = reinterpret_cast<unsigned *>(bins) + blockIdx.x * RADIX_SORT_DIGITS + threadIdx.x;
    unsigned start;
    block_scan(shared).ExclusiveSum(*mine, start);
    *mine = start;
}

extern "C" __global__ void __launch_bounds__(RADIX_SORT_THREADS)
    radix_sort_pass_pairs(const __grid_constant__ radix_sort_pass pass)
{
    radix_sort_move<radix_sort_word, radix_sort_word>(pass);
}

extern "C" __global__ void __launch_bounds__(RADIX_SORT_THREADS)
    radix_sort_pass_keys(const __grid_constant__ radix_sort_pass pass)
{
    radix_sort_move<radix_sort_word, cub::NullType>(pass);
}

extern "C" __global__ void __launch_bounds__(RADIX_SORT_THREADS)
    radix_sort_pass_narrow(const __grid_constant__ radix_sort_pass pass)
{
    radix_sort_move<unsigned, cub::NullType>(pass);
}

#endif
