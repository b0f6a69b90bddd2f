/*
 * ceiling.h: the fastest that this device reads memory, measured: what a kernel's bytes per second are held
 * against.
 */
#ifndef TESSERA_ENGINE_MEASURE_CEILING_H
#define TESSERA_ENGINE_MEASURE_CEILING_H

#include "engine/cuda/cuda.h"

/* Reads 2 GiB (or half of what is free, if that is less) several times with 16-byte loads and persistent
 * blocks; the best time counts. About 100 ms. */
NODISCARD enum status ceiling_cuda(struct cuda *cuda, double *bytes_per_second, struct error *error);

/* Sums 512 MiB of words several times on `threads` threads; the best time counts. About 300 ms. */
NODISCARD enum status ceiling_cpu(unsigned threads, double *bytes_per_second, struct error *error);

#endif
