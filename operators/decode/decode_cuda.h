/*
 * decode_cuda.h: what a codec's decoder on the GPU must define. Each codec has a decoder in
 * operators/decode/NAME_cuda.h, the twin of its file in storage/codec (docs/codecs.md draws the bytes). The
 * codec's descriptor names it (storage/codec/codec.h), and a kernel includes the decoders of its columns'
 * codecs (engine/gpu/kernel_decoder.c).
 *
 * A warp owns a tile. Lane l has items 0..31, which are rows l, 32 + l, 64 + l, ... A decoder is a template
 * whose first argument is VALUE, int32_t or int64_t. It inherits decode_base and defines
 *
 *     RANDOM_ACCESS                 whether there is item()
 *     SCRATCH_BYTES                 shared memory for each warp: `scratch`, the same for both types
 *     seek(chunk, tile, lane)       finds the tile; all lanes call it
 *     items<PRELOADED>(scratch, f)  calls f(j, value) for j = 0 .. 31, all lanes together; it is unrolled for
 *                                   int32_t, unless an item takes so many instructions that the loop's code
 *                                   costs more than its counting
 *     stage(scratch)                prepares item() in scratch; all lanes call it
 *     item(scratch, row)            the value of one row of the tile, for any lane (RANDOM_ACCESS only)
 *
 *     copy(to, first, count)        copies what items first .. first + count - 1 of all lanes need to shared memory; all
 *                                   lanes call it (codec.gpu.copies only)
 *     copied(from, row)             item(), from that copy
 *
 * and for int32_t only, which is the type of columns that filter and join:
 *
 *     preload()                        loads the tile's packed words into registers, so that the loads of all
 *                                      filter columns are in flight at once; empty if items() reads memory
 *     own(row)                         item() of a row of this lane, from what preload() has loaded (SLICED only)
 *     in_range<PRELOADED>(low, high)   the mask of items in a range, without decoding (RANGES only)
 *     probe<PRELOADED>(bitmap, keep)   the mask of items whose bit is set in a bitmap of shared memory
 *                                      (PROBES only)
 *
 * Widths are template arguments if a column has few of them, so that shifts and masks become constants.
 *
 * A codec that is decoded layer by layer (codec.gpu.passes) has a decoder that inherits decode_layers and
 * defines only
 *
 *     seek(chunk, tile, lane)       as above
 *     pass<PASS>(layers, rows)      decodes layer PASS = 0, 1, ... of the tile. `layers` is the address of the
 *                                   chunk's temporary memory (codec.gpu.layer_bytes), in which a pass finds
 *                                   what earlier passes have written; the last pass writes the tile's 1024
 *                                   values to `rows`. Each pass is a kernel of its own (stage_cuda.h).
 *
 * A codec of byte streams (codec.decode_block) has a decoder that inherits decode_blocks and defines what
 * bytes/byte_block_cuda.h says; a warp owns a block of tiles.
 */
#ifndef TESSERA_OPERATORS_DECODE_DECODE_CUDA_H
#define TESSERA_OPERATORS_DECODE_DECODE_CUDA_H

#include "operators/decode/unpack_cuda.h"

/* The defaults; a decoder that has one of these abilities overrides it. */
struct decode_base {
    static constexpr bool LAYERED = false;     /* it has pass() instead of items() */
    static constexpr bool BYTE_BLOCKS = false; /* it has decode() of a byte_block instead */
    static constexpr bool RANGES = false;      /* in_range() tests items without decoding them */
    static constexpr bool SLICED = false; /* ... on bit planes, which is cheaper than counting survivors */
    static constexpr bool PROBES = false; /* probe() looks packed items up in a bitmap */
    static constexpr bool PLANAR = false; /* it tests and reads some of a value's bits: lane_levels_cuda.h */
};

struct decode_layers : decode_base {
    static constexpr bool LAYERED = true;
    static constexpr bool RANDOM_ACCESS = false;
    static constexpr uint32_t SCRATCH_BYTES = 0;
};

struct decode_blocks : decode_base {
    static constexpr bool BYTE_BLOCKS = true;
    static constexpr bool RANDOM_ACCESS = false;
};

#endif
