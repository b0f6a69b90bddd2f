/*
 * nvcomp.h: NVIDIA's nvCOMP as a peer of the codecs on a GPU: columns of int32 in chunks of 64 KiB, by its batched calls.
 *
 * The library (version 5 or 6) is opened at run time: from the folder that the environment variable TESSERA_NVCOMP names,
 * or from where the system finds libraries. It is closed source, and nothing here needs it: without it the tables say
 * "not installed". docs/lab.md says where to get it.
 */
#ifndef TESSERA_LAB_BENCH_NVCOMP_H
#define TESSERA_LAB_BENCH_NVCOMP_H

#include "lab/bench/decode.h"

/* The schemes, by their names in tables. Cascaded ones have one layer each of what is named, as in figure 10a of SIGMOD
 * 2022, or, "cascaded", what nvCOMP tries by default. */
#define NVCOMP_SCHEMES 6u
extern const char *const nvcomp_schemes[NVCOMP_SCHEMES];

#define NVCOMP_WHY_BYTES 128

struct nvcomp_result {
    double bits;                /* a value, by nvCOMP's lengths of the chunks; 0: not measured */
    struct speed memory;        /* of decompression */
    char why[NVCOMP_WHY_BYTES]; /* it was not measured: "not installed" */
};

struct nvcomp;

/* Opens the library; that it is missing is no error. Close with nvcomp_close; NULL is legal. */
NODISCARD enum status nvcomp_open(struct lab *lab, struct nvcomp **nvcomp, struct error *error);
void nvcomp_close(struct nvcomp *nvcomp);

/* Why nothing can be measured ("not installed"), or NULL. */
const char *nvcomp_missing(const struct nvcomp *nvcomp);

/* Compresses the dataset on the GPU, decompresses it, compares every value, and times decompression. What fails in nvCOMP
 * or because of it, a wrong value included, is not an error but the result's `why`. */
NODISCARD enum status nvcomp_measure(struct nvcomp *nvcomp, uint32_t scheme, const struct dataset *dataset,
                                     struct nvcomp_result *result, struct error *error);

#endif
