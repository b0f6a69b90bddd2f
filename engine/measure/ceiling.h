/*
 * ceiling.h: measures the highest rate at which this device reads memory, with which a kernel's bytes per
 * second are compared; and the time of launches without work, with which a query's time is compared.
 */
#ifndef TESSERA_ENGINE_MEASURE_CEILING_H
#define TESSERA_ENGINE_MEASURE_CEILING_H

#include "engine/cuda/cuda.h"

/* Reads 2 GiB (or half of the free memory, if that is less) several times with 16-byte loads and persistent
 * blocks, and takes the best time. This takes about 100 ms. */
NODISCARD enum status ceiling_cuda(struct cuda *cuda, double *bytes_per_second, struct error *error);

/* Copies 256 MiB of pinned host memory to the GPU several times, and takes the best time. This takes about 150 ms. */
NODISCARD enum status ceiling_link(struct cuda *cuda, double *bytes_per_second, struct error *error);

/* The time of a graph of two kernels that do nothing, launched as those of a query without bitmaps are
 * (engine/gpu/scan.h): the median of 31, timed by events as a query's total is. This takes about a millisecond. */
NODISCARD enum status launch_floor_cuda(struct cuda *cuda, double *ms, struct error *error);

/* Sums 512 MiB of words on `threads` threads until that gets no faster, 3 to 7 times, and takes the best time. This takes
 * about 100 ms on 8 cores. */
NODISCARD enum status ceiling_cpu(unsigned threads, double *bytes_per_second, struct error *error);

#endif
