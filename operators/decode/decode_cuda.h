/*
 * decode_cuda.h: every codec's decoder on the GPU, one header each, mirroring storage/CODEC.c (docs/codecs.md draws the
 * bytes).
 *
 * A warp owns a tile. Lane l holds items 0..31, the rows l, 32 + l, 64 + l, ...; each decoder offers
 *
 *     seek(chunk, tile, lane)       finds the tile; called by all lanes
 *     preload()                     brings the tile's packed words into registers, for columns that filter: the words of
 *                                   all of them are then in flight at once. Nothing where items() reads memory itself
 *     items<PRELOADED>(scratch, f)  calls f(j, value) for j = 0 .. 31, unrolled, all lanes together; what is decoded
 *                                   stays in registers. scratch: SCRATCH_BYTES of the warp's shared memory
 *     stage(scratch)                for decoders whose item() needs it: brings what it needs into scratch; all lanes
 *     item(scratch, row)            the value of one row of the tile, by any lane (RANDOM_ACCESS decoders only)
 *     in_range<PRELOADED>(low, high) the mask of items in a range, without decoding (RANGES only)
 *     probe<PRELOADED>(bitmap, keep) the mask of items whose bit is set in a bitmap in shared memory (PROBES only)
 *
 * Widths are template arguments where a column has few of them, so that shifts and masks become constants: the engine
 * compiles a kernel for the widths that the column's chunks have.
 */
#ifndef TESSERA_OPERATORS_DECODE_DECODE_CUDA_H
#define TESSERA_OPERATORS_DECODE_DECODE_CUDA_H

#include "operators/decode/gpu_dfor_cuda.h"
#include "operators/decode/gpu_for_cuda.h"
#include "operators/decode/gpu_rfor_cuda.h"
#include "operators/decode/lane_delta_cuda.h"
#include "operators/decode/lane_for_cuda.h"
#include "operators/decode/lane_slice_cuda.h"
#include "operators/decode/nsf_cuda.h"
#include "operators/decode/plain_cuda.h"
#include "operators/decode/rank_rle_cuda.h"

#endif
