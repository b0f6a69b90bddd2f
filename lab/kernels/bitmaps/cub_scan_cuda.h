/*
 * cub_scan_cuda.h: cub::DeviceScan, as the exclusive sums of WAH's decompression: what scan_device_cuda.h is compared with.
 *
 * CUB's own launches are host code, which NVRTC does not compile. So these kernels do what its two kernels do (DeviceScanInitKernel and
 * DeviceScanKernel of cub/device/dispatch) with CUB's own parts: the agent that scans a tile, the states of tiles with their look-back,
 * and the sizes that CUB was tuned to for the architecture. The host does what its dispatch does (lab/bitmaps/bitmap_decompress.c):
 *
 *     cub_scan_shape     asked once: the threads of a block, the tiles, the bytes of the tiles' states
 *     cub_scan_begin     a thread for each tile: no tile is known
 *     cub_scan_sums      a block for each tile
 *
 * Sums have 32 bits, items 32 or 8; there are less than 2^31 tiles. Tried with CUB 3.0, 3.1, 3.2 and 3.5. From compute capability 10 on, CUB 3.5
 * takes another algorithm (look-ahead), which this is not; and it begins the second kernel before the first one ends, which this does not.
 */
#ifndef TESSERA_LAB_KERNELS_BITMAPS_CUB_SCAN_CUDA_H
#define TESSERA_LAB_KERNELS_BITMAPS_CUB_SCAN_CUDA_H

#include "operators/decode/unpack_cuda.h"

/* The header with the tuned sizes has functions for the host as well, and the agent a hint to the next launch whose name NVRTC lacks; CUB
 * lets both be chosen. */
#define CUB_RUNTIME_FUNCTION __device__
#define CCCL_DISABLE_PDL

#include <cub/config.cuh>
#if CUB_VERSION < 300100 /* where NVRTC does not see this template, which that header names */
CUB_NAMESPACE_BEGIN
namespace detail
{
template <typename POLICY, typename = void> struct PolicyWrapper;
}
CUB_NAMESPACE_END
#endif
#include <cub/agent/agent_scan.cuh>
#include <cub/device/dispatch/tuning/tuning_scan.cuh>

#define CUB_BEGIN_THREADS 128u

template <class ITEM> struct cub_scan {
    typedef ::cuda::std::plus<> sum;
    typedef typename cub::detail::scan::policy_hub<ITEM, uint32_t, uint32_t, uint32_t,
                                                   sum>::MaxPolicy::ActivePolicy::ScanPolicyT policy;
    typedef cub::ScanTileState<uint32_t> states;
    typedef cub::detail::scan::AgentScan<policy, const ITEM *, uint32_t *, sum, uint32_t, uint32_t, uint32_t>
        agent;
    static constexpr uint32_t THREADS = policy::BLOCK_THREADS;
};

/* Of `count` items: shape[0] threads of a block, shape[1] tiles, shape[2] bytes of their states. */
template <class ITEM> TILE_INLINE void cub_scan_shape(uint32_t count, uint64_t *shape)
{
    const uint32_t items = cub_scan<ITEM>::agent::TILE_ITEMS, tiles = count / items + (count % items != 0);
    size_t bytes = 0;
    cub_scan<ITEM>::states::AllocationSize((int)tiles, bytes);
    shape[0] = cub_scan<ITEM>::THREADS;
    shape[1] = tiles;
    shape[2] = bytes;
}

TILE_INLINE cub::ScanTileState<uint32_t> cub_scan_states(unsigned char *states, uint64_t bytes,
                                                         uint32_t tiles)
{
    cub::ScanTileState<uint32_t> all;
    all.Init((int)tiles, states, bytes);
    return all;
}

TILE_INLINE void cub_scan_begin(unsigned char *states, uint64_t bytes, uint32_t tiles)
{
    cub_scan_states(states, bytes, tiles).InitializeStatus((int)tiles);
}

/* sums[i] = the sum of items[0 .. i - 1]. `sums` may be `items`. */
template <class ITEM>
TILE_INLINE void cub_scan_sums(const ITEM *items, uint32_t count, uint32_t *sums, unsigned char *states,
                               uint64_t bytes, uint32_t tiles)
{
    __shared__ typename cub_scan<ITEM>::agent::TempStorage shared;
    cub::ScanTileState<uint32_t> all = cub_scan_states(states, bytes, tiles);
    typename cub_scan<ITEM>::agent agent(shared, items, sums, typename cub_scan<ITEM>::sum(), 0u);
    agent.ConsumeRange(count, all, 0);
}

#endif
