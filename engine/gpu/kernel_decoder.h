/*
 * kernel_decoder.h: what a kernel must know of its columns' codecs: the decoder's type, the shared memory that it
 * takes, and how many lines of memory a tile has. All of it comes from the codecs' descriptors (storage/codec/codec.h).
 * Called a few times for each column of a kernel that is planned.
 */
#ifndef TESSERA_ENGINE_GPU_KERNEL_DECODER_H
#define TESSERA_ENGINE_GPU_KERNEL_DECODER_H

#include "engine/gpu/kernel_plan.h"

/* The type of the column's decoder (operators/decode/decode_cuda.h), from its codec, its widths and its directories. */
void kernel_decoder_write(FILE *out, const struct kernel_column *column);

/* Bytes of shared memory that a warp needs for the column. */
uint32_t kernel_decoder_staging(const struct kernel_column *column);

/* Lines of 128 bytes that a tile has at most, 0 for codecs that are not made of lines (or of too many
 * different numbers of them: TILE_WIDTHS_MAX). */
uint32_t kernel_decoder_lines(const struct kernel_column *column);

#endif
