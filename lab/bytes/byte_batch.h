/*
 * byte_batch.h: the blocks of a set on a GPU, as many as an experiment asks for: the set's streams are there in as many
 * copies as that takes, each at its own place, so that no copy is found in a cache. Beside them are the output and the
 * set's bytes, with which every decoded byte is compared.
 *
 * 4224 blocks of 128 KiB (half as many as an H200 has warps) take 0.6 GB of output, up to 0.8 of streams, and the set.
 */
#ifndef TESSERA_LAB_BYTES_BYTE_BATCH_H
#define TESSERA_LAB_BYTES_BYTE_BATCH_H

#include "lab/bench/decode.h"
#include "lab/bench/kernel.h"
#include "lab/bytes/byte_streams.h"

/* A block as kernels know it: struct byte_block of operators/decode/bytes/byte_block_cuda.h. */
struct byte_batch_block {
    cuda_address in;
    uint32_t in_bytes, unused;
    cuda_address out;
    uint32_t out_bytes, unused_too;
};

struct byte_batch {
    struct lab *lab;
    const struct byte_streams *streams;
    uint32_t count, copies;
    uint64_t copy_bytes; /* of output, from one copy to the next */
    uint64_t out_bytes;  /* of all blocks together */
    struct byte_batch_block *blocks;
    cuda_address expected, in, out, list,
        counter; /* list: `blocks` on the device; counter: a word for kernels */
};

/* Puts `count` blocks on the device. Close with byte_batch_close, also after an error. */
NODISCARD enum status byte_batch_open(struct lab *lab, const struct byte_streams *streams, uint32_t count,
                                      struct byte_batch *batch, struct error *error);
void byte_batch_close(struct byte_batch *batch);

/* Overwrites the output, runs `work` once, compares every byte of the output (STATUS_CHECK_FAILED names `what`), and times
 * `work`. Kernels count blocks that are not right in the counter, which must stay 0. */
NODISCARD enum status byte_batch_measure(struct byte_batch *batch, const char *what, lab_work *work,
                                         void *context, struct speed *speed, struct error *error);

#endif
