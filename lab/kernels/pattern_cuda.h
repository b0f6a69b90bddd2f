/*
 * pattern_cuda.h: the Hamming distance of each tile of a column to a pattern of 1024 values, and the tile that has the
 * least. A warp decodes a tile and compares its items as it gets them; nothing but the distances is written.
 *
 * A block has eight warps. They take every (8 * blocks)-th tile each. All chunks have `chunk_tiles` whole tiles, the
 * last one the rest.
 */
#ifndef TESSERA_LAB_KERNELS_PATTERN_CUDA_H
#define TESSERA_LAB_KERNELS_PATTERN_CUDA_H

#include "lab/kernels/decode_cuda.h"

#define MATCH_WARPS 8u

/* A decoder that preloads at most so many lines does so a tile ahead, which takes a register a line, of 64. Wider columns
 * have enough bytes in flight without. */
#define MATCH_AHEAD_LINES 18u

/* The pattern, in 4 KB of shared memory. A lane's items are in groups of four, which it reads at once. In registers, 32 of
 * them, the pattern leaves too few for decoders that patch: what they then spill costs as many accesses. */
struct match_pattern {
    const uint4 *groups; /* group g of lane l at 32 g + l */
    uint4 group;

    __device__ __forceinline__ void open(const uint32_t *pattern, uint4 *shared, uint32_t lane)
    {
        for (uint32_t g = threadIdx.x; g < TILE_ROWS / 4; g += 32 * MATCH_WARPS) {
            const uint32_t *row = pattern + g / 32 * 128 + g % 32;
            shared[g] = make_uint4(load(row), load(row + 32), load(row + 64), load(row + 96));
        }
        __syncthreads();
        groups = shared + lane;
    }
    /* This lane's item j, for j = 0, 1, 2, ... in this order. */
    __device__ __forceinline__ uint32_t item(uint32_t j)
    {
        if (j % 4 == 0)
            group = groups[j / 4 * 32];
        return j % 4 == 0 ? group.x : j % 4 == 1 ? group.y : j % 4 == 2 ? group.z : group.w;
    }
};

/* Adds 1 to `count` if the two differ. The compiler makes three instructions of `count += value != other`; these are two. */
TILE_INLINE void count_different(uint32_t &count, uint32_t value, uint32_t other)
{
    asm("{\n"
        ".reg .pred differ;\n"
        "setp.ne.u32 differ, %1, %2;\n"
        "@differ add.u32 %0, %0, 1;\n"
        "}"
        : "+r"(count)
        : "r"(value), "r"(other));
}

/* distances[t] gets tile t's distance, and *best becomes distance << 32 | t where that is less. LINES: the most lines
 * that the decoder's preload() loads; 0: none. A warp looks up the next tile before it decodes this one; where it also
 * loads the next tile's lines, it looks up the one after that, so that it waits for neither. */
template <class DECODE, uint32_t LINES>
TILE_INLINE void lab_match(const bound_chunk *chunks, uint32_t chunk_tiles, uint32_t tiles,
                           const uint32_t *pattern, uint32_t *distances, unsigned long long *best)
{
    constexpr bool AHEAD = LINES != 0 && LINES <= MATCH_AHEAD_LINES;
    __shared__ uint4 room[TILE_ROWS / 4];
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, stride = gridDim.x * MATCH_WARPS;
    const uint32_t first = blockIdx.x * MATCH_WARPS + warp;
    uint32_t *scratch = reinterpret_cast<uint32_t *>(lab_shared + warp * DECODE::SCRATCH_BYTES);
    unsigned long long least = ~0ull;
    match_pattern wanted;
    DECODE next, after; /* the tiles after this one */
    auto look_up = [&](DECODE &decode, uint32_t tile) {
        if (tile < tiles)
            decode.seek(chunks[tile / chunk_tiles], tile % chunk_tiles, lane);
    };
    auto advance = [&](uint32_t tile) {
        if constexpr (AHEAD) {
            next = after;
            if (tile < tiles)
                next.preload();
            look_up(after, tile + stride);
        } else {
            look_up(next, tile);
        }
    };
    look_up(after, first);
    advance(first);
    wanted.open(pattern, room, lane);
    for (uint32_t tile = first; tile < tiles; tile += stride) {
        DECODE decode = next;
        uint32_t distance = 0;
        advance(tile + stride);
        decode.template items<AHEAD>(scratch, [&](uint32_t j, int32_t value) {
            count_different(distance, (uint32_t)value, wanted.item(j));
        });
        distance = sum_warp(distance);
        if (lane == 0)
            distances[tile] = distance;
        least = min(least, (unsigned long long)distance << 32 | tile);
        __syncwarp(); /* the next tile reuses the scratch */
    }
    if (lane == 0 && least < *reinterpret_cast<volatile unsigned long long *>(best))
        atomicMin(best, least);
}

#endif
