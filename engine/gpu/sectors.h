/*
 * engine/gpu/sectors.h: how many bytes of the fact table a query's kernel needs, counted and not guessed.
 *
 * Filters read whole columns, but survivors' values are fetched one by one, so the sizes of the columns say
 * too much. The kernel is compiled once more so that every load marks the 32-byte sector of memory that it
 * touches (a GPU reads memory by sectors); the marked sectors are the bytes that must come from memory if
 * nothing is read twice.
 */
#ifndef TESSERA_ENGINE_GPU_SECTORS_H
#define TESSERA_ENGINE_GPU_SECTORS_H

#include "engine/cuda/cuda.h"
#include "engine/gpu/columns.h"

/* What the query's own source must be compiled with to count; ended by NULL. */
extern const char *const cuda_sectors_options[];

/* A launch of the counting kernel: the same shape and arguments as the query's own. */
struct sector_count {
    const char *name;
    const void *cubin;
    const struct cuda_column *const *columns; /* that it reads */
    uint32_t column_count;
    unsigned blocks, threads;
    uint64_t shared_bytes;
    void **arguments;
    const void *constant; /* what the variable `arguments` holds in the kernel's constant memory */
};

/* Runs it once; bytes[c] is 32 times the sectors marked of column c. */
NODISCARD enum status cuda_sectors_count(struct cuda *cuda, struct cuda_columns *columns,
                                         const struct sector_count *count, uint64_t *bytes,
                                         struct error *error);

#endif
