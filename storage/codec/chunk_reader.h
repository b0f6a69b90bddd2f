/*
 * chunk_reader.h: reads the values of chunks in any codec, on the host: all of a chunk, or tile by tile.
 *
 * Codecs of tiles decode the tile that is asked for. Codecs of byte streams decode a block of tiles, which the
 * reader keeps, so tiles should be read in ascending order. A damaged stream gives STATUS_BAD_INPUT, which
 * names the file, the segment and the block.
 */
#ifndef TESSERA_STORAGE_CODEC_CHUNK_READER_H
#define TESSERA_STORAGE_CODEC_CHUNK_READER_H

#include "storage/codec/codec.h"

/* Zero-initialised is valid; end with chunk_reader_close. One thread uses it. */
struct chunk_reader {
    uint8_t *values;     /* of the last unit that was decoded: a tile or a block */
    size_t bytes;        /* their room */
    const uint8_t *from; /* the chunk of that unit; NULL: none */
    uint32_t unit;
};

/* Gives the 1024 values of a tile, int32_t[] or int64_t[] by the chunk's value_bytes, aligned to 64. They last
 * until the next call. */
NODISCARD enum status chunk_reader_tile(struct chunk_reader *reader, const struct chunk_view *chunk,
                                        uint32_t tile, const void **values, struct error *error);
void chunk_reader_close(struct chunk_reader *reader);

/* Decodes tiles of a chunk to `out`, which has room for them and is aligned to 64. `first` is the first tile of
 * a unit (below), and the tiles end with a unit or with the chunk. */
NODISCARD enum status chunk_decode(const struct chunk_view *chunk, uint32_t first, uint32_t tiles, void *out,
                                   struct error *error);

/* The tiles that a codec decodes together: those of a block, or 1. */
uint32_t chunk_unit_tiles(const struct chunk_view *chunk);

/* Sets the error of a damaged block; returns STATUS_BAD_INPUT. */
enum status chunk_block_damaged(const struct chunk_view *chunk, uint32_t block, struct error *error);

#endif
