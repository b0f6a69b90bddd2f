/* chunk_reader.c: see chunk_reader.h. */
#include "storage/codec/chunk_reader.h"

#include <stdlib.h>

static size_t tile_bytes(const struct chunk_view *chunk)
{
    return (size_t)TILE_ROWS * chunk->value_bytes;
}

uint32_t chunk_unit_tiles(const struct chunk_view *chunk)
{
    return chunk->codec->decode_block ? chunk->codec->block_tiles(chunk) : 1;
}

enum status chunk_block_damaged(const struct chunk_view *chunk, uint32_t block, struct error *error)
{
    return error_set(
        error, STATUS_BAD_INPUT,
        "%s: segment %u: block %u of its %s streams is damaged; restore the file, or load the table again",
        chunk->file ? chunk->file : "a column in memory", chunk->segment, block, chunk->codec->name);
}

static enum status decode_unit(const struct chunk_view *chunk, uint32_t unit, void *out, struct error *error)
{
    if (!chunk->codec->decode_block) {
        chunk->codec->decode_tile(chunk, unit, out);
        return STATUS_OK;
    }
    const enum status status = chunk->codec->decode_block(chunk, unit, out);
    if (status == STATUS_BAD_INPUT)
        return chunk_block_damaged(chunk, unit, error);
    return status == STATUS_OK ? STATUS_OK : error_out_of_memory(error, 1u << 16, "decoding a block");
}

enum status chunk_decode(const struct chunk_view *chunk, uint32_t first, uint32_t tiles, void *out,
                         struct error *error)
{
    const uint32_t unit = chunk_unit_tiles(chunk);
    for (uint32_t tile = first; tile < first + tiles; tile += unit)
        RETURN_IF_ERROR(
            decode_unit(chunk, tile / unit, (uint8_t *)out + (tile - first) * tile_bytes(chunk), error));
    return STATUS_OK;
}

static enum status make_room(struct chunk_reader *reader, size_t bytes, struct error *error)
{
    if (reader->bytes >= bytes)
        return STATUS_OK;
    chunk_reader_close(reader);
    reader->values = aligned_alloc(CHUNK_ALIGNMENT, bytes);
    reader->bytes = reader->values ? bytes : 0;
    return reader->values ? STATUS_OK : error_out_of_memory(error, bytes, "decoded values");
}

enum status chunk_reader_tile(struct chunk_reader *reader, const struct chunk_view *chunk, uint32_t tile,
                              const void **values, struct error *error)
{
    const uint32_t tiles = chunk_unit_tiles(chunk), unit = tile / tiles;
    if (reader->from != chunk->bytes || reader->unit != unit) {
        RETURN_IF_ERROR(make_room(reader, tiles * tile_bytes(chunk), error));
        reader->from = NULL;
        RETURN_IF_ERROR(decode_unit(chunk, unit, reader->values, error));
        reader->from = chunk->bytes;
        reader->unit = unit;
    }
    *values = reader->values + tile % tiles * tile_bytes(chunk);
    return STATUS_OK;
}

void chunk_reader_close(struct chunk_reader *reader)
{
    free(reader->values);
    *reader = (struct chunk_reader){0};
}
