/* byte_blocks.c: see byte_blocks.h. */
#include "storage/codec/bytes/byte_blocks.h"

#include "storage/codec/chunk.h"

#define HEAD_WORDS 2u /* of the directory, before the starts */

static uint32_t tiles_of(uint32_t block_bytes, uint32_t value_bytes)
{
    return block_bytes / (TILE_ROWS * value_bytes);
}

static uint32_t blocks_of(uint32_t tiles, uint32_t block_tiles)
{
    return (tiles + block_tiles - 1) / block_tiles;
}

static uint64_t directory_bytes(uint32_t blocks)
{
    return (HEAD_WORDS + (uint64_t)blocks + 1) * sizeof(uint32_t);
}

static uint32_t word(const struct chunk_view *chunk, uint32_t index)
{
    return load_u32(chunk->directory + (size_t)index * sizeof(uint32_t));
}

static uint32_t start_of(const struct chunk_view *chunk, uint32_t block)
{
    return word(chunk, HEAD_WORDS + block);
}

size_t byte_blocks_bound(const struct block_scheme *scheme, uint32_t block_bytes, uint32_t rows,
                         uint32_t value_bytes)
{
    const uint32_t block_tiles = tiles_of(block_bytes, value_bytes);
    const uint32_t blocks = blocks_of(chunk_tiles(rows), block_tiles);
    return chunk_size(directory_bytes(blocks),
                      blocks * scheme->bound(block_tiles * TILE_ROWS, value_bytes) + SPARE_BYTES, 0);
}

/* Compresses the last block, whose last tile may have to be filled up. */
static size_t encode_last(const struct block_scheme *scheme, const uint8_t *values, uint32_t rows,
                          uint32_t value_bytes, uint8_t *out)
{
    _Alignas(64) uint8_t whole[BYTE_BLOCK_BYTES_MAX];
    const uint32_t items = chunk_tiles(rows) * TILE_ROWS;
    memcpy(whole, values, (size_t)rows * value_bytes);
    for (uint32_t i = rows; i < items; i++)
        memcpy(whole + (size_t)i * value_bytes, values + (size_t)(rows - 1) * value_bytes, value_bytes);
    return scheme->encode(whole, items, value_bytes, out);
}

size_t byte_blocks_encode(const struct block_scheme *scheme, uint32_t block_bytes,
                          const struct codec_input *input, uint8_t *out)
{
    const uint32_t rows = input->rows, value_bytes = input->value_bytes;
    const uint32_t block_tiles = tiles_of(block_bytes, value_bytes), block_rows = block_tiles * TILE_ROWS;
    const uint32_t blocks = blocks_of(chunk_tiles(rows), block_tiles);
    uint32_t *const directory = (uint32_t *)(void *)chunk_directory(out);
    uint8_t *const data = chunk_data(out, directory_bytes(blocks));
    const uint8_t *from = input->values;
    uint32_t at = 0;
    directory[0] = block_tiles;
    directory[1] = blocks;
    for (uint32_t b = 0; b < blocks; b++) {
        const uint32_t left = rows - b * block_rows;
        directory[HEAD_WORDS + b] = at;
        at += (uint32_t)(left >= block_rows ? scheme->encode(from, block_rows, value_bytes, data + at)
                                            : encode_last(scheme, from, left, value_bytes, data + at));
        from += (size_t)block_rows * value_bytes;
    }
    directory[HEAD_WORDS + blocks] = at;
    const uint32_t bits = value_bytes * 8;
    return chunk_finish_packed(out, scheme->codec, rows, value_bytes, (struct width_range){bits, bits},
                               directory_bytes(blocks), at, SPARE_BYTES);
}

static bool is_block_size(uint32_t tiles, uint32_t value_bytes)
{
    const uint64_t bytes = (uint64_t)tiles * TILE_ROWS * value_bytes;
    return bytes >= BYTE_BLOCK_BYTES_MIN && bytes <= BYTE_BLOCK_BYTES_MAX &&
           bytes % BYTE_BLOCK_BYTES_MIN == 0;
}

bool byte_blocks_valid(const struct chunk_view *chunk)
{
    const struct chunk_header *const head = chunk_head(chunk);
    if (head->directory_bytes < directory_bytes(0) || !is_block_size(word(chunk, 0), chunk->value_bytes))
        return false;
    const uint32_t blocks = blocks_of(chunk->tiles, word(chunk, 0));
    if (word(chunk, 1) != blocks || head->directory_bytes != directory_bytes(blocks) ||
        head->data_bytes < SPARE_BYTES || head->auxiliary_bytes != 0 ||
        chunk->width_low != chunk->value_bytes * 8 || chunk->width_high != chunk->value_bytes * 8)
        return false;
    for (uint32_t b = 0; b < blocks; b++)
        if (start_of(chunk, b) > start_of(chunk, b + 1))
            return false;
    return start_of(chunk, 0) == 0 && start_of(chunk, blocks) == head->data_bytes - SPARE_BYTES;
}

uint32_t byte_blocks_tiles(const struct chunk_view *chunk)
{
    return word(chunk, 0);
}

enum status byte_blocks_decode(const struct block_scheme *scheme, const struct chunk_view *chunk,
                               uint32_t block, void *out)
{
    const uint32_t block_tiles = byte_blocks_tiles(chunk), left = chunk->tiles - block * block_tiles;
    const uint32_t start = start_of(chunk, block);
    return scheme->decode(chunk->data + start, start_of(chunk, block + 1) - start, out,
                          (left < block_tiles ? left : block_tiles) * TILE_ROWS, chunk->value_bytes);
}
