/*
 * byte_kernel.h: the GPU's decoders of byte streams in the experiment: ours, the published one, and its ablations, each
 * as a kernel over a batch's blocks (lab/kernels/byte_streams_cuda.h, byte_blocks_cuda.h).
 *
 * A kernel's text is compiled around a decoder (operators/decode/bytes) for a format and an item's size. Its module has a
 * second kernel that tells how much shared memory it needs.
 */
#ifndef TESSERA_LAB_BYTES_BYTE_KERNEL_H
#define TESSERA_LAB_BYTES_BYTE_KERNEL_H

#include "lab/bytes/byte_batch.h"

/* The decoders, by their names in tables and keys in JSON. BASELINE is what CODAG was compared with: a thread block
 * decodes a block of the stream. */
enum byte_decoder {
    BYTE_PUBLISHED,
    BYTE_REGISTERS,
    BYTE_ONE_LANE,
    BYTE_PREFETCHED,
    BYTE_BASELINE,
    BYTE_OURS,
    BYTE_DECODERS
};
extern const char *const byte_decoder_names[BYTE_DECODERS], *const byte_decoder_keys[BYTE_DECODERS];

/* The name of a kernel, "decode_rle1_published": profilers tell by it which one ran. */
#define BYTE_KERNEL_NAME_BYTES 40u
const char *byte_kernel_name(enum byte_decoder decoder, enum byte_format format,
                             char name[BYTE_KERNEL_NAME_BYTES]);

/* Writes a kernel's text, to be freed. Items are unsigned; those of Deflate are bytes. */
NODISCARD enum status byte_kernel_text(enum byte_decoder decoder, enum byte_format format,
                                       uint32_t item_bytes, char **source, struct error *error);

/* The text of the kernel that compares bytes. */
NODISCARD enum status byte_kernel_compare(char **source, struct error *error);
#define BYTE_KERNEL_COMPARE "compare_copies"

/* Compiles all kernels of the experiment on all threads, into the cache of kernels. */
NODISCARD enum status byte_kernel_compile(struct lab *lab, struct error *error);

/* What a compiled kernel needs, for the table of kernels. */
struct byte_kernel_needs {
    uint32_t registers, local_bytes, shared_bytes; /* shared_bytes: of a block of the stream */
    uint32_t blocks;                               /* of the stream that a multiprocessor decodes at once */
};

/* Decodes the batch, compares every byte, and times it. `needs` may be NULL. */
NODISCARD enum status byte_kernel_measure(struct byte_batch *batch, enum byte_decoder decoder,
                                          struct speed *speed, struct byte_kernel_needs *needs,
                                          struct error *error);

#endif
