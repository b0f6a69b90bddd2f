/*
 * ceiling.h: measures the highest rate at which this device reads memory, with which a kernel's bytes per
 * second are compared.
 */
#ifndef TESSERA_ENGINE_MEASURE_CEILING_H
#define TESSERA_ENGINE_MEASURE_CEILING_H

#include "engine/cuda/cuda.h"

/* Reads 2 GiB (or half of the free memory, if that is less) several times with 16-byte loads and persistent
 * blocks, and takes the best time. This takes about 100 ms. */
NODISCARD enum status ceiling_cuda(struct cuda *cuda, double *bytes_per_second, struct error *error);

/* Sums 512 MiB of words several times on `threads` threads, and takes the best time. This takes about 300
 * ms. */
NODISCARD enum status ceiling_cpu(unsigned threads, double *bytes_per_second, struct error *error);

#endif
