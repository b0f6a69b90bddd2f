/*
 * byte_block_cuda.h: what a decoder of a byte stream on the GPU works on, and what it must define.
 *
 * A byte stream is cut into blocks, each decodable alone (CODAG; docs/byte-streams.md). A warp owns a block. A decoder
 * is a template whose first argument is T, the type of an item of the output: int8_t .. int64_t or uint8_t .. uint64_t.
 * Decoders of bytes (Deflate) take uint8_t. It defines
 *
 *     SCRATCH_BYTES                   shared memory of each warp, a multiple of 128
 *     decode(block, lane, scratch)    all lanes call it together and all return the same: true if the stream was right
 *                                     and gave exactly `out_bytes`
 *
 * A decoder never reads outside the 128-byte lines that the block's bytes touch, nor writes outside its `out_bytes`,
 * whatever the stream says: streams may be damaged or hostile. After `false`, the output is undefined.
 */
#ifndef TESSERA_OPERATORS_DECODE_BYTES_BYTE_BLOCK_CUDA_H
#define TESSERA_OPERATORS_DECODE_BYTES_BYTE_BLOCK_CUDA_H

#include "operators/decode/unpack_cuda.h"

struct byte_block {
    const uint8_t *in; /* at any byte; the 128-byte lines that hold bytes of the stream may be read */
    uint32_t in_bytes;
    uint8_t *out; /* aligned to 128 in codecs and experiments, else to the item's size */
    uint32_t out_bytes;
};

#endif
