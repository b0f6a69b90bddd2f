/*
 * kernel_decoder.h: what a kernel must know of its columns' codecs: the decoder's header and type, the shared memory
 * that it takes, and how many lines of memory a tile has. All of it comes from the codecs' descriptors
 * (storage/codec/codec.h). Called a few times for each column of a kernel that is planned.
 */
#ifndef TESSERA_ENGINE_GPU_KERNEL_DECODER_H
#define TESSERA_ENGINE_GPU_KERNEL_DECODER_H

#include "engine/gpu/kernel_layout.h"

/* The line that includes the codec's decoder; it stands before the decoder's type is used. */
void kernel_decoder_include(FILE *out, const struct codec *codec);

/* The type of the column's decoder (operators/decode/decode_cuda.h), from its codec, its widths and its directories. */
void kernel_decoder_write(FILE *out, const struct kernel_column *column);

/* Bytes of shared memory that a warp needs for the column: the decoder's own, and a tile's values where a value
 * that is fetched cannot be decoded alone. */
uint32_t kernel_decoder_staging(const struct kernel_column *column);

/* Lines of 128 bytes that a tile of the column brings into registers at most; 0 if its decoder brings none. */
uint32_t kernel_decoder_lines(const struct kernel_column *column);

/* bound_chunk.detail of a chunk that is uploaded. */
uint64_t kernel_decoder_detail(const struct chunk_view *chunk);

#endif
