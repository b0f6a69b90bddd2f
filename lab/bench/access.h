/*
 * access.h: sums the rows of an encoded dataset that a random bit vector selects, checks the sum, and times it. Tiles
 * without a selected row are not read.
 */
#ifndef TESSERA_LAB_BENCH_ACCESS_H
#define TESSERA_LAB_BENCH_ACCESS_H

#include "lab/bench/kernel.h"

/* `lab` and `dataset` are set, the rest is zero, before the first call. */
struct access {
    struct lab *lab;
    const struct dataset *dataset;
    const struct encoded *encoded;
    bool fetch;     /* selected rows are read one by one, else whole tiles are decoded */
    uint32_t *bits; /* on a processor: word l of a tile's 32 words has lane l's 32 items */

    /* On a GPU: the column and the kernels, of which the first two serve all codecs. */
    struct lab_column column;
    struct lab_kernel select, expected, kernel;
    cuda_address device_bits, out;
};

/* Whether the codec can be read in this way on this device. */
bool access_possible(const struct access *access, const struct codec *codec, bool fetch);

/* Prepares a codec's chunks. access_close ends its use, also after an error; access_destroy frees all. */
NODISCARD enum status access_open(struct access *access, const struct encoded *encoded, bool fetch,
                                  struct error *error);
void access_close(struct access *access);
void access_destroy(struct access *access);

/* Selects each row with this probability. STATUS_CHECK_FAILED if the sum is wrong. */
NODISCARD enum status access_measure(struct access *access, double selectivity, struct speed *speed,
                                     struct error *error);

#endif
