/* chunk_decode.h: decodes a column's chunks on a GPU without a plan, for measurements and tests (engine/gpu/decode.h). */
#ifndef TESSERA_LAB_BENCH_CHUNK_DECODE_H
#define TESSERA_LAB_BENCH_CHUNK_DECODE_H

#include "engine/gpu/decode.h"

struct cuda_decode;

/* Compiles the kernels for the chunks of `data`, uploads the chunks and allocates memory for their values.
 * `data` needs a codec and segments, but no column; it must outlive the result. */
NODISCARD enum status cuda_decode_open(struct cuda *cuda, const struct column_data *data,
                                       struct cuda_decode **decode, struct error *error);

/* Queues the decoding of all chunks. Record events before and after it for its time. cuda_decode_check waits for it and
 * tells whether a block was damaged. */
NODISCARD enum status cuda_decode_run(struct cuda_decode *decode, struct error *error);
NODISCARD enum status cuda_decode_check(struct cuda_decode *decode, struct error *error);

/* The address of a segment's values on the GPU: 1024 for each tile of the chunk. */
cuda_address cuda_decode_values(const struct cuda_decode *decode, uint32_t segment);

/* For kernels that decode the chunks in another way: the address of the list of struct bound_chunk, one for each segment;
 * and of the list of struct bound_work, which has all tiles, and its length. */
cuda_address cuda_decode_chunks(const struct cuda_decode *decode);
cuda_address cuda_decode_work(const struct cuda_decode *decode, uint32_t *items);

void cuda_decode_close(struct cuda_decode *decode); /* NULL is legal */

#endif
