/*
 * columns_cuda.h: fact columns of the general kernel. A column's codec is a number; which decoder reads it is decided for a
 * tile, or for the rows that are looked at together, and not for each value. Decoders are those of operators/decode for any
 * width, and those of planes_cuda.h.
 *
 * Decoders with scratch, and values of decoders without random access, have a place in the warp's staging area. They are
 * prepared once a tile, when a row of it is first looked at.
 */
#ifndef TESSERA_OPERATORS_GENERAL_COLUMNS_CUDA_H
#define TESSERA_OPERATORS_GENERAL_COLUMNS_CUDA_H

#include "operators/decode/alp_cuda.h"
#include "operators/decode/gpu_for_cuda.h"
#include "operators/decode/lane_delta_cuda.h"
#include "operators/decode/lane_pfor_cuda.h"
#include "operators/decode/nsf_cuda.h"
#include "operators/decode/plain_cuda.h"
#include "operators/decode/rank_rle_cuda.h"
#include "operators/general/codecs.h"
#include "operators/general/planes_cuda.h"

template <class DECODE> TILE_INLINE void shape_decoder(DECODE &, const general_column &)
{
}
TILE_INLINE void shape_decoder(general_levels &decode, const general_column &column)
{
    decode.bits = column.bits;
    decode.planes = column.planes;
    decode.needed = column.needed;
}

/* Calls f with the decoder of the column's codec: general_decoder_narrow_NAME or general_decoder_wide_NAME. */
typedef decode_plain<int32_t> general_narrow_PLAIN;
typedef decode_nsf<int32_t, void> general_narrow_NSF;
typedef decode_gpu_for<int32_t> general_narrow_GPU_FOR;
typedef general_lanes general_narrow_LANE_FOR;
typedef general_lanes general_narrow_ALP; /* of numbers that are no doubles it is lane-for */
typedef decode_lane_delta<int32_t> general_narrow_LANE_DELTA;
typedef decode_lane_pfor<int32_t, 0, 32> general_narrow_LANE_PFOR;
typedef decode_rank_rle<int32_t> general_narrow_RANK_RLE;
typedef general_slices general_narrow_LANE_SLICE;
typedef general_levels general_narrow_LANE_LEVELS;
typedef decode_plain<int64_t> general_wide_PLAIN;
typedef decode_nsf<int64_t, void> general_wide_NSF;
typedef decode_gpu_for<int64_t> general_wide_GPU_FOR;
typedef general_wide_lanes general_wide_LANE_FOR;
typedef decode_alp<int64_t> general_wide_ALP;
typedef decode_lane_delta<int64_t> general_wide_LANE_DELTA;
typedef decode_lane_pfor<int64_t> general_wide_LANE_PFOR;
typedef decode_rank_rle<int64_t> general_wide_RANK_RLE;
typedef general_wide_slices general_wide_LANE_SLICE;

#define GENERAL_DECODER_CASE_(kind, NAME) \
    case CODEC_##NAME: {                  \
        general_##kind##_##NAME decode;   \
        shape_decoder(decode, column);    \
        f(decode);                        \
        return;                           \
    }
template <class F> TILE_INLINE void with_narrow_decoder(const general_column &column, F f)
{
#define GENERAL_NARROW_(NAME) GENERAL_DECODER_CASE_(narrow, NAME)
    switch (column.codec) {
        GENERAL_CODECS(GENERAL_NARROW_)
        GENERAL_NARROW_(LANE_LEVELS)
    }
}
template <class F> TILE_INLINE void with_wide_decoder(const general_column &column, F f)
{
#define GENERAL_WIDE_(NAME) GENERAL_DECODER_CASE_(wide, NAME)
    switch (column.codec) {
        GENERAL_CODECS(GENERAL_WIDE_)
    }
}
template <> constexpr bool general_by_tile<general_narrow_PLAIN> = true;

/* A column in a tile. `scratch` is its place in the warp's staging area. */
struct general_source {
    const bound_chunk *chunk;
    uint32_t *scratch;
    uint32_t tile, lane;
};

/* Where the values of a decoder without random access are. */
template <class VALUE, class DECODE> TILE_INLINE VALUE *staged_values(const general_source &from)
{
    return reinterpret_cast<VALUE *>(from.scratch + DECODE::SCRATCH_BYTES / sizeof(uint32_t));
}

template <class VALUE, class DECODE> TILE_INLINE void prepare_with(DECODE &decode, const general_source &from)
{
    if constexpr (!DECODE::RANDOM_ACCESS) {
        VALUE *const mine = staged_values<VALUE, DECODE>(from) + from.lane;
        decode.seek(*from.chunk, from.tile, from.lane);
        decode.template items<false>(from.scratch, [&](uint32_t j, VALUE value) { mine[32 * j] = value; });
    } else if constexpr (DECODE::SCRATCH_BYTES > 0) {
        decode.seek(*from.chunk, from.tile, from.lane);
        decode.stage(from.scratch);
    }
}

/* Prepares the values of a tile, for a column that is staged. All lanes call it. */
static __device__ __noinline__ void prepare_column(const general_column &column, const general_source &from)
{
    if (column.wide)
        with_wide_decoder(column, [&](auto &decode) { prepare_with<int64_t>(decode, from); });
    else
        with_narrow_decoder(column, [&](auto &decode) { prepare_with<int32_t>(decode, from); });
    __syncwarp();
}

/* The value of a row of the tile, from a decoder that has found it. */
template <class VALUE, class DECODE>
TILE_INLINE VALUE value_at(DECODE &decode, const general_source &from, uint32_t row)
{
    if constexpr (DECODE::RANDOM_ACCESS)
        return decode.item(from.scratch, row);
    else
        return staged_values<VALUE, DECODE>(from)[row];
}

/* The values of some rows of the tile. */
template <class VALUE, uint32_t ITEMS, class DECODE>
TILE_INLINE void fetch_with(DECODE &decode, const general_source &from, const uint32_t *rows, int64_t *values)
{
    if constexpr (DECODE::RANDOM_ACCESS)
        decode.seek(*from.chunk, from.tile, from.lane);
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++)
        values[i] = value_at<VALUE>(decode, from, rows[i]);
}

template <uint32_t ITEMS>
TILE_INLINE void fetch_column(const general_column &column, const general_source &from, const uint32_t *rows,
                              int64_t *values)
{
    if (column.wide)
        with_wide_decoder(column,
                          [&](auto &decode) { fetch_with<int64_t, ITEMS>(decode, from, rows, values); });
    else
        with_narrow_decoder(column,
                            [&](auto &decode) { fetch_with<int32_t, ITEMS>(decode, from, rows, values); });
}

/* A test of values of 32 bits: low <= value <= low + span or, with a bitmap, value's bit in it. */
struct general_test {
    const uint32_t *bitmap;
    uint32_t low, span;

    __device__ __forceinline__ uint32_t passes(uint32_t value) const
    {
        return bitmap ? __ldg(bitmap + value / 32) << value % 32 >> 31 : value - low <= span;
    }
};

/* With at most so many rows in a tile, lanes look at their own rows alone. */
#define GENERAL_FEW_ROWS 64u

template <class DECODE>
TILE_INLINE tile_mask test_with(DECODE &decode, const general_source &from, tile_mask keep,
                                const general_test &test)
{
    if constexpr (DECODE::RANDOM_ACCESS)
        decode.seek(*from.chunk, from.tile, from.lane);
    if constexpr (DECODE::RANGES)
        if (!test.bitmap)
            return keep & decode.in_range((int32_t)test.low, (int32_t)(test.low + test.span));
    const auto value_of = [&](uint32_t j) {
        return (uint32_t)value_at<int32_t>(decode, from, 32 * j + from.lane);
    };
    if (sum_warp(__popc(keep)) > GENERAL_FEW_ROWS && !test.bitmap) {
        tile_mask passing = 0;
#pragma unroll 4
        for (uint32_t j = 0; j < 32; j++)
            passing |= test.passes(value_of(j)) << j;
        return keep & passing;
    }
#pragma unroll 1
    for (tile_mask rest = keep; rest; rest &= rest - 1) {
        const uint32_t j = __ffs(rest) - 1;
        if (!test.passes(value_of(j)))
            keep &= ~(1u << j);
    }
    __syncwarp();
    return keep;
}

/* The rows of `keep` that pass the test. All lanes call it. */
static __device__ __noinline__ tile_mask test_column(const general_column &column, const general_source &from,
                                                     tile_mask keep, const general_test &test)
{
    with_narrow_decoder(column, [&](auto &decode) { keep = test_with(decode, from, keep, test); });
    return keep;
}

#endif
