/*
 * layers.h: the temporary memory of codecs that are decoded layer by layer on a GPU (codec.gpu.layer_bytes):
 * arrays of one item for each row of a tile, as operators/decode has them.
 */
#ifndef TESSERA_STORAGE_CODEC_CASCADE_LAYERS_H
#define TESSERA_STORAGE_CODEC_CASCADE_LAYERS_H

#include "storage/codec/codec.h"

/* A layer of values. */
static inline uint64_t layers_value_bytes(const struct chunk_view *chunk)
{
    return (uint64_t)chunk->tiles * TILE_ROWS * chunk->value_bytes;
}

/* A layer of run lengths, flags or other words. */
static inline uint64_t layers_word_bytes(const struct chunk_view *chunk)
{
    return (uint64_t)chunk->tiles * TILE_ROWS * sizeof(uint32_t);
}

#endif
