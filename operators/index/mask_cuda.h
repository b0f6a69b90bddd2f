/*
 * mask_cuda.h: the mask of a statement's index terms, in the order of lanes in which a scan reads it, in one pass over the
 * vectors: compressed words are read, 32 words a tile are written, and nothing else.
 *
 * A thread block has a piece of a segment. It ORs a term's vectors into shared memory as wah_inline_cuda.h does, ANDs the
 * terms there, and stops at the first term after which no row is left. Then each warp takes the piece's tiles in turn:
 * lane j cuts rows 32j .. 32j + 31 of the tile out of one or two groups, and a transposition of 32 x 32 bits gives lane l
 * its rows 32j + l. That is about 40 instructions a tile, as many as 37 words of vectors take.
 *
 * Terms of different formats take a launch for each format, of which all but the first refine the mask. Shared memory, in
 * 32-bit words: a piece, and a second one if there are several terms, of 2048 (WAH in 64-bit words) or 1024.
 */
#ifndef TESSERA_OPERATORS_INDEX_MASK_CUDA_H
#define TESSERA_OPERATORS_INDEX_MASK_CUDA_H

#include "operators/index/wah_inline_cuda.h"

extern __shared__ __align__(16) uint32_t mask_shared[];

/* Transposes 32 x 32 bits of a warp, each time in 15 instructions: bit j of lane l becomes bit l of lane j. At each
 * distance, lanes with that bit of their number and lanes without it exchange half of their bits. */
struct warp_transposition {
    uint32_t kept[5], turn[5]; /* the bits that stay in the lane, and how far the others turn to the left */

    __device__ __forceinline__ explicit warp_transposition(uint32_t lane)
    {
        uint32_t without = 0x0000ffffu; /* the bits j that lack the distance */
#pragma unroll
        for (uint32_t i = 0, distance = 16; i < 5; i++, distance /= 2) {
            kept[i] = lane & distance ? ~without : without;
            turn[i] = lane & distance ? 32 - distance : distance;
            without ^= without << distance / 2;
        }
    }
    __device__ __forceinline__ uint32_t operator()(uint32_t word) const
    {
#pragma unroll
        for (uint32_t i = 0, distance = 16; i < 5; i++, distance /= 2) {
            const uint32_t other = __shfl_xor_sync(FULL_WARP, word, distance);
            word = (word & kept[i]) | (__funnelshift_l(other, other, turn[i]) & ~kept[i]);
        }
        return word;
    }
};

/* Writes a lane's word of a tile of the mask. */
TILE_INLINE void mask_write(const bound_mask &work, uint64_t tile, uint32_t keep, uint32_t lane)
{
    uint32_t *const at = reinterpret_cast<uint32_t *>(work.mask) + tile * TILE_LANES + lane;
    *at = work.refines ? *at & keep : keep;
}

/* After term `term`: makes `kept` the rows of all terms so far and clears the piece for the next one; after the last term
 * the rows are in the piece. False: no row is left, and the piece is clear. */
template <class WORDS>
TILE_INLINE bool mask_and(uint32_t *piece, uint32_t *kept, uint32_t term, uint32_t terms)
{
    uint4 *const pieces = reinterpret_cast<uint4 *>(piece), *const all = reinterpret_cast<uint4 *>(kept);
    uint32_t any = 0;
    for (uint32_t i = threadIdx.x; i < inline_halves<WORDS, WAH_PIECE_GROUPS> / 4; i += blockDim.x) {
        uint4 rows = pieces[i];
        if (term) {
            const uint4 before = all[i];
            rows = make_uint4(rows.x & before.x, rows.y & before.y, rows.z & before.z, rows.w & before.w);
        }
        any |= rows.x | rows.y | rows.z | rows.w;
        if (term + 1 < terms)
            all[i] = rows;
        pieces[i] = term + 1 < terms ? make_uint4(0, 0, 0, 0) : rows;
    }
    return __syncthreads_or(any != 0);
}

template <class WORDS>
TILE_INLINE void mask_write_piece(const bound_mask &work, const bound_piece &at, const uint32_t *piece)
{
    const uint32_t lane = threadIdx.x % 32;
    const warp_transposition transpose(lane);
    for (uint32_t tile = threadIdx.x / 32; tile < at.tiles; tile += blockDim.x / 32) {
        const uint32_t row = tile * TILE_ROWS + 32 * lane, group = row / WORDS::GROUP_ROWS;
        const uint32_t rows =
            WORDS::rows(piece, inline_place(group), inline_place(group + 1), row % WORDS::GROUP_ROWS);
        mask_write(work, at.first_tile + tile, transpose(rows), lane);
    }
}

/* The grid has a block for each piece, of any number of warps. */
template <class WORDS> TILE_INLINE void mask_of_wah(const bound_mask &work)
{
    uint32_t *const piece = mask_shared, *const kept = piece + inline_halves<WORDS, WAH_PIECE_GROUPS>;
    const bound_piece at = reinterpret_cast<const bound_piece *>(work.pieces)[blockIdx.x];
    const uint32_t *const ends = reinterpret_cast<const uint32_t *>(work.ends) + at.segment * work.terms;
    inline_clear<WORDS, WAH_PIECE_GROUPS>(piece);
    __syncthreads();
    for (uint32_t term = 0; term < work.terms; term++) {
        inline_or_range<WORDS, WAH_PIECE_GROUPS>(piece, reinterpret_cast<const bound_vector *>(work.vectors),
                                                 ends[term], ends[term + 1], at.piece, at.pieces, 1);
        __syncthreads();
        if (work.terms > 1 && !mask_and<WORDS>(piece, kept, term, work.terms))
            break;
    }
    mask_write_piece<WORDS>(work, at, piece);
}

/* The OR of a term's flat vectors: a lane's 32 rows. Four loads are in flight at once. */
TILE_INLINE uint32_t flat_or_rows(const bound_vector *vectors, uint32_t first, uint32_t end, uint32_t word)
{
    uint32_t rows = 0;
#pragma unroll 4
    for (uint32_t v = first; v < end; v++) {
        const bound_vector vector = vectors[v];
        if (word < 2 * vector.count)
            rows |= __ldg(reinterpret_cast<const uint32_t *>(vector.words) + word);
    }
    return rows;
}

/* Flat vectors need no shared memory: a warp has a tile. */
TILE_INLINE void mask_of_flat(const bound_mask &work)
{
    const uint32_t lane = threadIdx.x % 32;
    const warp_transposition transpose(lane);
    const bound_piece at = reinterpret_cast<const bound_piece *>(work.pieces)[blockIdx.x];
    const uint32_t *const ends = reinterpret_cast<const uint32_t *>(work.ends) + at.segment * work.terms;
    for (uint32_t tile = threadIdx.x / 32; tile < at.tiles; tile += blockDim.x / 32) {
        const uint32_t word = (at.piece * INDEX_TILES_FLAT + tile) * TILE_LANES + lane;
        uint32_t keep = ~0u;
        for (uint32_t term = 0; term < work.terms && __any_sync(FULL_WARP, keep != 0); term++)
            keep &= flat_or_rows(reinterpret_cast<const bound_vector *>(work.vectors), ends[term],
                                 ends[term + 1], word);
        mask_write(work, at.first_tile + tile, transpose(keep), lane);
    }
}

#endif
