/*
 * orc_rle1_codec.c: orc-rle1: version 1 of the run-length encoding of ORC files (orc_rle1.c draws it), one stream for each block
 * of values (byte_blocks.h). Values are signed, so they are zigzag-coded. Source: CODAG, section V.B.
 */
#include "storage/codec/bytes/orc_rle.h"

#include "storage/base/isa.h"
#include "storage/codec/bytes/byte_blocks.h"

static struct orc_item item_of(uint32_t value_bytes)
{
    return (struct orc_item){.bytes = value_bytes, .is_signed = true};
}

static size_t stream_bound(uint32_t items, uint32_t value_bytes)
{
    return orc_rle1_bound(items, item_of(value_bytes));
}

static size_t stream_encode(const void *values, uint32_t items, uint32_t value_bytes, uint8_t *out)
{
    return orc_rle1_encode(values, items, item_of(value_bytes), out);
}

static enum status stream_decode(const uint8_t *in, size_t bytes, void *values, uint32_t items,
                                 uint32_t value_bytes)
{
    return orc_rle1_decode(in, bytes, item_of(value_bytes), values, items, NULL) ? STATUS_OK
                                                                                 : STATUS_BAD_INPUT;
}

static const struct block_scheme scheme = {
    .codec = CODEC_ORC_RLE1, .bound = stream_bound, .encode = stream_encode, .decode = stream_decode};

BYTE_BLOCKS_FUNCTIONS(scheme)

const struct codec ISA(codec_orc_rle1) = {
    .id = CODEC_ORC_RLE1,
    .name = "orc-rle1",
    .family = "byte streams",
    .summary = "ORC's run-length encoding 1: runs with a step, and literals",
    .holds_int64 = true,
    .decode_cycles = 6,
    .gpu = {.header = "operators/decode/bytes/orc_rle1_cuda.h",
            .decoder = "decode_orc_rle1",
            .scratch_bytes = 2176},
    .bound = bound,
    .encode = encode,
    .valid = byte_blocks_valid,
    .block_tiles = byte_blocks_tiles,
    .decode_block = decode_block,
};
