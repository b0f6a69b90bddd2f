/*
 * transfer.h: what it takes to read a column's chunks from the host's memory in a kernel, by the sector of 32 bytes,
 * instead of copying them whole (late transfer).
 *
 * Called once for each column of a statement, from the plan's estimates: the expected selectivity of each step says
 * how many sectors have a row that the next step or the answer needs.
 */
#ifndef TESSERA_ENGINE_GPU_STREAM_TRANSFER_H
#define TESSERA_ENGINE_GPU_STREAM_TRANSFER_H

#include "engine/gpu/kernel.h"

/* Of a column's chunks in kept tiles. */
struct transfer {
    double share; /* of their bytes that a kernel reads, at most 1 */
    double lasts; /* the time that this takes; 1: as long as copying all of them */
};

/* `c`: index in kernel->columns. */
struct transfer transfer_estimate(const struct plan *plan, const struct kernel *kernel, uint32_t c);

#endif
