/*
 * published.h: decoding on a GPU as the papers publish it (lab/kernels/published): a thread block a piece, where our decoders give a tile
 * to a warp. A method decodes the chunks of one codec, so sizes are the codec's. Some need CUB's headers (engine/cuda/cccl.h).
 */
#ifndef TESSERA_LAB_PUBLISHED_PUBLISHED_H
#define TESSERA_LAB_PUBLISHED_PUBLISHED_H

#include "lab/bench/kernel.h"

struct published_method {
    const char *name;   /* in tables: "gpu-for, published" */
    const char *codec;  /* whose chunks it decodes */
    const char *header; /* of lab/kernels/published */
    const char *type;   /* in it: "for_offsets<4>" */
    uint32_t threads;   /* of a thread block */
    uint32_t rows;      /* of a piece */
    bool cub;           /* the header includes CUB's */
};

/* The methods that stand for a paper's codec in the tables. */
#define PUBLISHED_METHODS 8u
extern const struct published_method published_methods[PUBLISHED_METHODS];

/* Whether the method's kernels can be compiled; if not, `why` says why not. */
bool published_is_here(const struct published_method *method, char *why, size_t why_bytes);

/* Decodes the chunks of the method's codec by it, compares every value and the sum, and times both ways, as decode_measure. */
NODISCARD enum status published_measure(struct lab *lab, const struct published_method *method,
                                        const struct dataset *dataset, const struct encoded *encoded,
                                        struct decode_result *result, struct error *error);

/* Compiles the kernels that published_measure needs into the cache of kernels. May be called from several threads. */
NODISCARD enum status published_compile(struct lab *lab, const struct published_method *method,
                                        struct error *error);

/* A column decoded by a method, to memory or, with `sum`, to the sum of its values modulo 2^32 in the first word of `out`, to which each
 * run adds. */
struct published_decode {
    struct lab *lab;
    struct lab_kernel kernel;
    cuda_address chunks, out;
    uint32_t chunk_tiles, tiles;
    uint64_t rows;
};

/* `column` is of the method's codec and must outlive the result, which writes to its decoded values. Close with
 * published_decode_close, also after an error. */
NODISCARD enum status published_decode_open(struct lab *lab, const struct published_method *method,
                                            const struct lab_column *column, uint64_t rows, bool sum,
                                            struct published_decode *decode, struct error *error);
void published_decode_close(struct published_decode *decode);

/* Queues one run; `decode` is a struct published_decode, so that lab_time can call it. */
NODISCARD enum status published_decode_run(void *decode, struct error *error);

#endif
