/*
 * byte_blocks.h: chunks of byte streams: the values of a chunk, cut into blocks that are compressed each on its own, as
 * CODAG cuts them ("CODAG: Characterizing and Optimizing Decompression Algorithms for GPUs", section II).
 *
 *     directory   uint32 tiles of a block | uint32 blocks | uint32 starts[blocks + 1]
 *     data        the streams, one after the other; stream b is bytes starts[b] .. starts[b + 1]
 *
 * A block has 128 KiB of values, or what is left at the end; the last tile is filled up by repeating its last value. Blocks
 * of 64 KiB to 1 MiB can be read.
 */
#ifndef TESSERA_STORAGE_CODEC_BYTES_BYTE_BLOCKS_H
#define TESSERA_STORAGE_CODEC_BYTES_BYTE_BLOCKS_H

#include "storage/codec/codec.h"

#define BYTE_BLOCK_BYTES     (128u << 10) /* of values, in the chunks that codecs write */
#define BYTE_BLOCK_BYTES_MIN (64u << 10)
#define BYTE_BLOCK_BYTES_MAX (1u << 20)

/* How one block is compressed. Items are int32_t or int64_t, by value_bytes. */
struct block_scheme {
    enum codec_id codec;

    /* The most bytes that `encode` writes for `items`. */
    size_t (*bound)(uint32_t items, uint32_t value_bytes);
    size_t (*encode)(const void *values, uint32_t items, uint32_t value_bytes, uint8_t *out);

    /* Gives exactly `items` items. STATUS_BAD_INPUT if the stream is damaged, STATUS_MACHINE without memory. */
    enum status (*decode)(const uint8_t *in, size_t bytes, void *values, uint32_t items,
                          uint32_t value_bytes);
};

/* codec.bound and codec.encode, with blocks of `block_bytes` of values: a multiple of BYTE_BLOCK_BYTES_MIN up to
 * BYTE_BLOCK_BYTES_MAX. */
size_t byte_blocks_bound(const struct block_scheme *scheme, uint32_t block_bytes, uint32_t rows,
                         uint32_t value_bytes);
size_t byte_blocks_encode(const struct block_scheme *scheme, uint32_t block_bytes,
                          const struct codec_input *input, uint8_t *out);

/* codec.valid: the directory is right; streams are checked when they are decoded. codec.block_tiles and
 * codec.decode_block. */
bool byte_blocks_valid(const struct chunk_view *chunk);
uint32_t byte_blocks_tiles(const struct chunk_view *chunk);
enum status byte_blocks_decode(const struct block_scheme *scheme, const struct chunk_view *chunk,
                               uint32_t block, void *out);

/* Defines `bound`, `encode` and `decode_block` for the descriptor of a codec with this struct block_scheme. */
#define BYTE_BLOCKS_FUNCTIONS(scheme)                                                          \
    static size_t bound(uint32_t rows, uint32_t value_bytes)                                   \
    {                                                                                          \
        return byte_blocks_bound(&scheme, BYTE_BLOCK_BYTES, rows, value_bytes);                \
    }                                                                                          \
    static size_t encode(const struct codec_input *input, uint8_t *out)                        \
    {                                                                                          \
        return byte_blocks_encode(&scheme, BYTE_BLOCK_BYTES, input, out);                      \
    }                                                                                          \
    static enum status decode_block(const struct chunk_view *chunk, uint32_t block, void *out) \
    {                                                                                          \
        return byte_blocks_decode(&scheme, chunk, block, out);                                 \
    }

#endif
