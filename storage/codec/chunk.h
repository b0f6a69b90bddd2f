/*
 * chunk.h: the layout of a chunk's sections (codec.h draws them). Only the codecs and chunk_open use it.
 *
 * All functions are inline, because the codecs are compiled once per instruction set. They are called once a
 * chunk or once a tile.
 */
#ifndef TESSERA_STORAGE_CODEC_CHUNK_H
#define TESSERA_STORAGE_CODEC_CHUNK_H

#include "storage/codec/codec.h"

#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "chunks are little-endian and are read in place: this machine is not"
#endif

_Static_assert(sizeof(struct chunk_header) == 64, "the chunk header is 64 bytes on disk");

/* Zero bytes after the last packed bit of a section, which count in its size, so that decoders may read whole
 * vectors or the word after a value. Streams in row order have 64 bytes (an AVX-512 register), streams in
 * lanes two lines (a 64-bit value touches up to three words of its lane). */
#define SPARE_BYTES      64u
#define LANE_SPARE_BYTES 256u

static inline uint64_t chunk_align(uint64_t bytes)
{
    return (bytes + CHUNK_ALIGNMENT - 1) / CHUNK_ALIGNMENT * CHUNK_ALIGNMENT;
}

static inline uint32_t chunk_tiles(uint32_t rows)
{
    return (rows + TILE_ROWS - 1) / TILE_ROWS;
}

static inline size_t chunk_size(uint64_t directory_bytes, uint64_t data_bytes, uint64_t auxiliary_bytes)
{
    return chunk_align(sizeof(struct chunk_header) + directory_bytes) + chunk_align(data_bytes) +
           chunk_align(auxiliary_bytes);
}

static inline uint8_t *chunk_directory(uint8_t *chunk)
{
    return chunk + sizeof(struct chunk_header);
}

static inline uint8_t *chunk_data(uint8_t *chunk, uint64_t directory_bytes)
{
    return chunk + chunk_align(sizeof(struct chunk_header) + directory_bytes);
}

static inline uint8_t *chunk_auxiliary(uint8_t *chunk, uint64_t directory_bytes, uint64_t data_bytes)
{
    return chunk_data(chunk, directory_bytes) + chunk_align(data_bytes);
}

/* Writes the header and the padding around sections that are in place. Returns the chunk's size, which it
 * also writes to the header. */
static inline size_t chunk_finish(uint8_t *chunk, struct chunk_header header)
{
    uint8_t *const data = chunk_data(chunk, header.directory_bytes);
    uint8_t *const auxiliary = chunk_auxiliary(chunk, header.directory_bytes, header.data_bytes);
    header.chunk_bytes = chunk_size(header.directory_bytes, header.data_bytes, header.auxiliary_bytes);
    uint8_t *const directory_end = chunk_directory(chunk) + header.directory_bytes;
    memset(directory_end, 0, (size_t)(data - directory_end));
    memset(data + header.data_bytes, 0, (size_t)(auxiliary - data) - header.data_bytes);
    memset(auxiliary + header.auxiliary_bytes, 0,
           (size_t)(chunk_align(header.auxiliary_bytes) - header.auxiliary_bytes));
    memcpy(chunk, &header, sizeof header);
    return header.chunk_bytes;
}

/* The header of an opened chunk. */
static inline const struct chunk_header *chunk_head(const struct chunk_view *chunk)
{
    return (const struct chunk_header *)chunk->bytes;
}

/* The 1024 values of a tile: in place, or for a partial last tile in `buffer` (1024 values), filled by
 * repeating its last value, which needs no wider width in any codec. */
static inline const void *chunk_tile_values(const void *values, uint32_t rows, uint32_t value_bytes,
                                            uint32_t tile, void *buffer)
{
    const uint8_t *const first = (const uint8_t *)values + (size_t)tile * TILE_ROWS * value_bytes;
    const uint32_t here = rows - tile * TILE_ROWS;
    if (here >= TILE_ROWS)
        return first;
    memcpy(buffer, first, (size_t)here * value_bytes);
    for (uint32_t i = here; i < TILE_ROWS; i++)
        memcpy((uint8_t *)buffer + (size_t)i * value_bytes, first + (size_t)(here - 1) * value_bytes,
               value_bytes);
    return buffer;
}

/* The narrowest and the widest width so far; it starts as {UINT32_MAX, 0}. */
struct width_range {
    uint32_t low, high;
};

static inline void width_range_add(struct width_range *range, uint32_t width)
{
    range->low = width < range->low ? width : range->low;
    range->high = width > range->high ? width : range->high;
}

/* Completes a chunk without auxiliary section, whose directory and `bytes` of packed data are in place: adds `spare`
 * zeros after the data; returns the chunk's size. */
static inline size_t chunk_finish_packed(uint8_t *chunk, enum codec_id codec, uint32_t rows,
                                         uint32_t value_bytes, struct width_range widths,
                                         uint64_t directory_bytes, uint64_t bytes, uint32_t spare)
{
    memset(chunk_data(chunk, directory_bytes) + bytes, 0, spare);
    return chunk_finish(chunk, (struct chunk_header){.codec = codec,
                                                     .rows = rows,
                                                     .value_bytes = value_bytes,
                                                     .width_low = widths.low,
                                                     .width_high = widths.high,
                                                     .directory_bytes = directory_bytes,
                                                     .data_bytes = bytes + spare});
}

/* Whether the header's widths are those of the tiles. Kernels are specialised to the header's widths, so a
 * chunk is refused if they differ. */
static inline bool width_range_matches(const struct width_range *range, const struct chunk_view *chunk)
{
    return range->low == chunk->width_low && range->high == chunk->width_high;
}

static inline uint32_t load_u32(const void *bytes)
{
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

static inline uint64_t load_u64(const void *bytes)
{
    uint64_t words;
    memcpy(&words, bytes, sizeof words);
    return words;
}

/* A value that was computed modulo 2^64 in its type: wrapped to 32 bits for int32. */
static inline int64_t chunk_value(uint64_t value, uint32_t value_bytes)
{
    return value_bytes == 4 ? (int64_t)(int32_t)(uint32_t)value : (int64_t)value;
}

/* One stored value, sign-extended; value_bytes 4 or 8. */
static inline int64_t load_value(const void *bytes, uint32_t value_bytes)
{
    return chunk_value(value_bytes == 4 ? load_u32(bytes) : load_u64(bytes), value_bytes);
}

/* ---- Functions of many codecs ---- */

/* codec.gpu.cut of codecs whose directory has `entry_bytes` for each tile, after `head_bytes`, and that keep tiles one after the
 * other in data alone. */
static inline void chunk_cut_tiles(const struct chunk_view *chunk, uint32_t first, uint32_t tiles,
                                   uint64_t head_bytes, uint64_t entry_bytes, struct chunk_part parts[3])
{
    uint32_t bytes;
    const uint8_t *const begin = chunk->codec->tile_span(chunk, first, &bytes), *const last =
                                                                                    chunk->codec->tile_span(
                                                                                        chunk,
                                                                                        first + tiles - 1,
                                                                                        &bytes);
    parts[0] = (struct chunk_part){.from = head_bytes + first * entry_bytes, .bytes = tiles * entry_bytes};
    parts[1] = (struct chunk_part){.from = (uint64_t)(begin - chunk->data),
                                   .bytes = (uint64_t)(last + bytes - begin)};
    parts[2] = (struct chunk_part){0};
}

/* codec.encode and codec.decode_tile by encode_values() and decode_values() of the codec's file, which are forced inline:
 * their loops are compiled for values of 4 and of 8 bytes. */
#define CODEC_ENCODE_BOTH                                                                   \
    static size_t encode(const struct codec_input *input, uint8_t *out)                     \
    {                                                                                       \
        return input->value_bytes == 4 ? encode_values(input->values, input->rows, 4, out)  \
                                       : encode_values(input->values, input->rows, 8, out); \
    }
#define CODEC_DECODE_BOTH                                                             \
    static void decode_tile(const struct chunk_view *chunk, uint32_t tile, void *out) \
    {                                                                                 \
        if (chunk->value_bytes == 4)                                                  \
            decode_values(chunk, tile, 4, out);                                       \
        else                                                                          \
            decode_values(chunk, tile, 8, out);                                       \
    }

/* codec.fetch by value() of the codec's file. */
#define CODEC_FETCH_VALUES                                                                                 \
    static void fetch(const struct chunk_view *chunk, uint32_t tile, const uint16_t *rows, uint32_t count, \
                      int32_t *out)                                                                        \
    {                                                                                                      \
        for (uint32_t i = 0; i < count; i++)                                                               \
            out[rows[i]] = (int32_t)value(chunk, tile * TILE_ROWS + rows[i]);                              \
    }

#endif
