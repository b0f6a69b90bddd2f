/*
 * decode_cuda.h: what a codec's decoder on the GPU is. Each codec has one, in operators/decode/NAME_cuda.h, the twin of
 * its file in storage/codec (docs/codecs.md draws the bytes); its descriptor names it (storage/codec/codec.h), and a
 * kernel includes those of the codecs that its columns are in (engine/gpu/kernel_decoder.c).
 *
 * A warp owns a tile. Lane l holds items 0..31, the rows l, 32 + l, 64 + l, ... A decoder is a template whose first
 * argument is VALUE, int32_t or int64_t; it inherits decode_base and offers
 *
 *     RANDOM_ACCESS                 whether there is item()
 *     SCRATCH_BYTES                 of shared memory that a warp keeps for it: `scratch`, the same for both types
 *     seek(chunk, tile, lane)       finds the tile; called by all lanes
 *     items<PRELOADED>(scratch, f)  calls f(j, value) for j = 0 .. 31, all lanes together; unrolled for int32_t, so that
 *                                   what is decoded stays in registers
 *     stage(scratch)                brings what item() needs into scratch; all lanes
 *     item(scratch, row)            the value of one row of the tile, by any lane (RANDOM_ACCESS only)
 *
 * and for int32_t alone, which columns have that filter and join:
 *
 *     preload()                     brings the tile's packed words into registers: those of all columns that filter are
 *                                   then in flight at once. Nothing where items() reads memory itself
 *     in_range<PRELOADED>(low, high)   the mask of items in a range, without decoding (RANGES only)
 *     probe<PRELOADED>(bitmap, keep)   the mask of items whose bit is set in a bitmap in shared memory (PROBES only)
 *
 * Widths are template arguments where a column has few of them, so that shifts and masks become constants.
 */
#ifndef TESSERA_OPERATORS_DECODE_DECODE_CUDA_H
#define TESSERA_OPERATORS_DECODE_DECODE_CUDA_H

#include "operators/decode/unpack_cuda.h"

/* What most decoders are not. */
struct decode_base {
    static constexpr bool RANGES = false; /* in_range() tests items without decoding them */
    static constexpr bool SLICED = false; /* ... on bit planes, for less than it takes to count survivors */
    static constexpr bool PROBES = false; /* probe() looks packed items up in a bitmap */
};

#endif
