/*
 * kernel_decoder.h: the properties of its columns' codecs that a kernel needs: the decoder's header and type,
 * its shared memory, and the lines of memory of a tile. All come from the codecs' descriptors
 * (storage/codec/codec.h). Called a few times for each column of a kernel.
 */
#ifndef TESSERA_ENGINE_GPU_KERNEL_DECODER_H
#define TESSERA_ENGINE_GPU_KERNEL_DECODER_H

#include "engine/gpu/kernel_layout.h"

/* Writes the line that includes the codec's decoder; it must come before the decoder's type is used. */
void kernel_decoder_include(FILE *out, const struct codec *codec);

/* Writes the type of the column's decoder (operators/decode/decode_cuda.h), which follows from the column's
 * codec, widths and directories. */
void kernel_decoder_write(FILE *out, const struct kernel_column *column);

/* The bytes of shared memory that a warp needs for the column: the decoder's scratch and, if fetched values
 * cannot be decoded one by one, the values of a tile. */
uint32_t kernel_decoder_staging(const struct kernel_column *column);
/* Of these, what a column that is `whole` needs whatever its codec is. */
uint32_t kernel_decoder_whole(const struct kernel_column *column);

/* The most lines of 128 bytes that preloading a tile of the column takes; 0 if its decoder does not
 * preload. */
uint32_t kernel_decoder_lines(const struct kernel_column *column);

/* Whether some planes of a tile are loaded when its directory is known. */
bool kernel_decoder_apart(const struct kernel_column *column);

/* The value of bound_chunk.detail for a chunk that is uploaded. */
uint64_t kernel_decoder_detail(const struct chunk_view *chunk);

/* The kernels that decode all chunks into memory, one after the other: 1, or the most passes of a chunk
 * (codec.gpu.passes). And the temporary memory that a chunk needs between them. */
uint32_t kernel_decoder_passes(const struct column_data *data);
uint64_t kernel_decoder_layer_bytes(const struct chunk_view *chunk);

#endif
