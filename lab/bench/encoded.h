/*
 * encoded.h: a dataset encoded with one codec, in chunks of at most ENCODED_CHUNK_ROWS rows, on all threads.
 */
#ifndef TESSERA_LAB_BENCH_ENCODED_H
#define TESSERA_LAB_BENCH_ENCODED_H

#include "lab/bench/dataset.h"
#include "storage/codec/codec.h"

#define ENCODED_CHUNK_ROWS (1u << 20)

struct encoded {
    const struct codec *codec;
    uint64_t rows, bytes; /* bytes: of all chunks */
    uint32_t chunk_count; /* 0: the codec cannot hold these values */
    struct chunk_view *chunks;
    double seconds; /* that encoding took, on all threads */
    uint8_t *memory;
};

/* Free with encoded_free, also after an error. */
NODISCARD enum status encoded_make(struct lab *lab, const struct codec *codec, const struct dataset *dataset,
                                   struct encoded *encoded, struct error *error);
void encoded_free(struct encoded *encoded);

/* Bits a value, with headers, directories and padding. */
double encoded_bits(const struct encoded *encoded);

#endif
