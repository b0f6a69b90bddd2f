/*
 * decode.h: decodes chunks in any codec into a GPU's memory, as plain values.
 *
 * A codec that a query's kernel can decode takes one pass: a kernel in which each warp decodes a tile. Others
 * are decoded layer by layer (codec.gpu.passes): one kernel for each layer, each over all tiles, with
 * temporary memory between them. Byte streams (codec.decode_block) are decoded by a kernel in which each warp
 * decodes a block; it tells the first damaged one. Staged columns of a plan are decoded so (stage.h); struct
 * cuda_decode does it without a plan, for measurements and tests.
 */
#ifndef TESSERA_ENGINE_GPU_DECODE_H
#define TESSERA_ENGINE_GPU_DECODE_H

#include "engine/cuda/cuda.h"
#include "engine/gpu/kernel_layout.h"
#include "engine/plan/tile_skip.h"
#include "operators/dialect/bound.h"

struct cuda_decoder {
    struct cuda_function *passes[CODEC_PASSES_MAX];
    uint32_t pass_count;
    uint32_t scratch_bytes; /* shared memory of each warp */
    bool of_blocks;         /* the kernel decodes blocks */
    cuda_address blocks; /* of_blocks: the number of the damaged one, then the list (cuda_decoder_blocks) */
    uint32_t block_count;
    uint32_t *segment_blocks; /* of_blocks: the first block of each segment in the list; then block_count */
};

/* Gives the text of kernels `decode_C_P` for pass P of column C, for columns in any codec; the caller frees
 * it. This needs no GPU. */
NODISCARD enum status cuda_decoder_source(const struct kernel_column *columns, uint32_t count, char **source,
                                          struct error *error);

/* Finds the kernels of column `index` of the text in the module that was compiled from it. */
NODISCARD enum status cuda_decoder_load(struct cuda *cuda, struct cuda_module *module, uint32_t index,
                                        const struct column_data *data, struct cuda_decoder *decoder,
                                        struct error *error);

/* The bytes of a segment's and of a column's values, in whole tiles, and of the temporary memory between passes: of a
 * segment, of the segment that needs most, and of all. */
uint64_t cuda_decoder_segment_bytes(const struct segment_data *segment);
uint64_t cuda_decoder_values_bytes(const struct column_data *data);
uint64_t cuda_decoder_segment_layers(const struct segment_data *segment);
uint64_t cuda_decoder_layer_most(const struct column_data *data);
uint64_t cuda_decoder_layer_bytes(const struct column_data *data);

/* Writes the list of chunks that the passes write to: the values of all segments, one after the other, and
 * the temporary memory, which is not used after the last pass. `validity` of the chunks is not changed. */
void cuda_decoder_target(const struct column_data *data, cuda_address values, cuda_address layers,
                         struct bound_chunk *chunks);

/* Frees what cuda_decoder_blocks made, and the list on the GPU. */
void cuda_decoder_free(struct cuda *cuda, struct cuda_decoder *decoder);

/* Lists the blocks that a scan of the tiles of `skip` reads, for a decoder of blocks: first BLOCK_SOUND (two
 * entries' room), then a struct bound_block each. The caller frees *list of `bytes`, and uploads it to
 * decoder->blocks. */
NODISCARD enum status cuda_decoder_blocks(const struct column_data *data, const struct tile_skip *skip,
                                          struct bound_block **list, uint64_t *bytes,
                                          struct cuda_decoder *decoder, struct error *error);

/* Queues all passes over `items` pieces of work (struct bound_work); a decoder of blocks takes its own list
 * instead. `from` and `to` are lists of chunks in the GPU's memory: as uploaded, and as cuda_decoder_target
 * writes it. */
NODISCARD enum status cuda_decoder_run(struct cuda *cuda, const struct cuda_decoder *decoder,
                                       cuda_address from, cuda_address to, cuda_address work, uint32_t items,
                                       struct error *error);

/* The same for one segment, whose pieces of work are given. */
NODISCARD enum status cuda_decoder_run_segment(struct cuda *cuda, const struct cuda_decoder *decoder,
                                               uint32_t segment, cuda_address from, cuda_address to,
                                               cuda_address work, uint32_t items, struct error *error);

/* Waits for a decoder of blocks, and gives the error of a damaged block, if there is one. Values of a damaged
 * block must not be used. Other decoders: nothing. */
NODISCARD enum status cuda_decoder_check(struct cuda *cuda, const struct cuda_decoder *decoder,
                                         const struct column_data *data, struct error *error);

#endif
