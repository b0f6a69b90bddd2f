/*
 * deflate.c: deflate: raw Deflate streams (RFC 1951), one for each block of values (byte_blocks.h), compressed by zlib at
 * level 9. Source: CODAG, section V.B.
 */
#include "storage/codec/bytes/deflate.h"

#include "storage/codec/bytes/byte_blocks.h"

static size_t stream_bound(uint32_t items, uint32_t value_bytes)
{
    return deflate_encode_bound((size_t)items * value_bytes);
}

static size_t stream_encode(const void *values, uint32_t items, uint32_t value_bytes, uint8_t *out)
{
    return deflate_encode(values, (size_t)items * value_bytes, out);
}

static enum status stream_decode(const uint8_t *in, size_t bytes, void *values, uint32_t items,
                                 uint32_t value_bytes)
{
    return deflate_decode(in, bytes, values, (size_t)items * value_bytes);
}

static const struct block_scheme scheme = {
    .codec = CODEC_DEFLATE, .bound = stream_bound, .encode = stream_encode, .decode = stream_decode};

BYTE_BLOCKS_FUNCTIONS(scheme)

const struct codec ISA(codec_deflate) = {
    .id = CODEC_DEFLATE,
    .name = "deflate",
    .family = "byte streams",
    .summary = "Deflate (RFC 1951): a stream of zlib's level 9 for each 128 KiB",
    .holds_int64 = true,
    .decode_cycles = 8,
    .gpu = {.header = "operators/decode/bytes/deflate_cuda.h",
            .decoder = "decode_deflate",
            .scratch_bytes = 7168},
    .bound = bound,
    .encode = encode,
    .valid = byte_blocks_valid,
    .block_tiles = byte_blocks_tiles,
    .decode_block = decode_block,
};
