/*
 * nvcomp_internal.h: what the files about nvCOMP share (nvcomp.c, lab/bytes/nvcomp_deflate.c): its C interface, as far as it
 * is needed, from the headers of versions 5.3 and 6.0.
 *
 * Its batched calls are the same for all formats and in both versions, but for the call that asks for temporary memory.
 * Each takes options by value, in a struct of 64 bytes that differs by format and version. C passes any struct of that
 * size in memory, in the same way, so one type of function serves all.
 */
#ifndef TESSERA_LAB_BENCH_NVCOMP_INTERNAL_H
#define TESSERA_LAB_BENCH_NVCOMP_INTERNAL_H

#include "lab/bench/nvcomp.h"

#define NVCOMP_5    5000u /* major * 1000 + minor * 100 + patch */
#define NVCOMP_6    6000u
#define NVCOMP_NEXT 7000u

enum nvcomp_format { NVCOMP_CASCADED, NVCOMP_BITCOMP, NVCOMP_ANS, NVCOMP_DEFLATE, NVCOMP_FORMATS };

struct nvcomp_options {
    uint64_t words[8];
};

/* All return 0 (nvcompSuccess) or the number of an error. Addresses are the GPU's, in lists that are there, too. */
typedef int nvcomp_temporary_5(size_t chunks, size_t chunk_bytes, struct nvcomp_options options,
                               size_t *bytes, size_t all_bytes);
typedef int nvcomp_temporary_6(size_t chunks, size_t chunk_bytes, struct nvcomp_options options,
                               size_t *bytes, size_t all_bytes, void *stream);
typedef int nvcomp_output_bound(size_t chunk_bytes, struct nvcomp_options options, size_t *bytes);
typedef int nvcomp_compress(cuda_address in, cuda_address in_bytes, size_t chunk_bytes, size_t chunks,
                            cuda_address temporary, size_t temporary_bytes, cuda_address out,
                            cuda_address out_bytes, struct nvcomp_options options, cuda_address statuses,
                            void *stream);
typedef int nvcomp_decompress(cuda_address in, cuda_address in_bytes, cuda_address room_bytes,
                              cuda_address out_bytes, size_t chunks, cuda_address temporary,
                              size_t temporary_bytes, cuda_address out, struct nvcomp_options options,
                              cuda_address statuses, void *stream);
_Static_assert(sizeof(cuda_address) == sizeof(void *), "addresses are passed as pointers");

struct nvcomp_functions {
    void *compress_temporary, *decompress_temporary; /* nvcomp_temporary_5 or _6 */
    nvcomp_output_bound *bound;
    nvcomp_compress *compress;
    nvcomp_decompress *decompress;
};

struct nvcomp {
    struct lab *lab;
    void *library;
    char missing[NVCOMP_WHY_BYTES]; /* "": all is there */
    unsigned version;
    const char *(*status_text)(int status);
    struct nvcomp_functions formats[NVCOMP_FORMATS];
};

/* STATUS_MACHINE with nvCOMP's words for a number that is not 0. */
NODISCARD enum status nvcomp_check(const struct nvcomp *nvcomp, const char *what, int number,
                                   struct error *error);

/* Asks `function`, of temporary memory, how much it wants, and allocates it; the caller frees it with cuda_free. */
NODISCARD enum status nvcomp_temporary(struct nvcomp *nvcomp, void *function, size_t chunks,
                                       size_t chunk_bytes, size_t all_bytes,
                                       const struct nvcomp_options *options, cuda_address *temporary,
                                       size_t *bytes, struct error *error);

#endif
