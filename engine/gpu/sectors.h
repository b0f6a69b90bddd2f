/*
 * sectors.h: counts the bytes of the fact table that a query's kernel reads.
 *
 * Filters read whole columns, but values of survivors are fetched one by one, so a query reads less than the
 * size of its columns. To count, the kernel is compiled once more so that every load marks the 32-byte sector
 * that it touches; a GPU reads memory in sectors. The marked sectors are the bytes that come from memory if
 * none is read twice.
 */
#ifndef TESSERA_ENGINE_GPU_SECTORS_H
#define TESSERA_ENGINE_GPU_SECTORS_H

#include "engine/cuda/cuda.h"
#include "engine/gpu/memory/columns.h"

/* The options with which the query's source is compiled to count; ended by NULL. */
extern const char *const cuda_sectors_options[];

/* Memory that chunks of a column lie in. */
struct sector_range {
    uint32_t column;
    bool of_host;
    cuda_address address;
    uint64_t bytes;
};
#define SECTOR_RANGES_MAX 192u /* the entries of tile_counted in unpack_cuda.h, without the closing one */

/* A launch of the counting kernel: the same shape and arguments as the query's own. */
struct sector_count {
    const char *name;
    const void *cubin;
    const struct sector_range *ranges;
    uint32_t range_count;
    unsigned blocks, threads;
    uint64_t shared_bytes;
    void **arguments;
    const void *constant; /* the value of the variable `arguments` in the kernel's constant memory */
};

/* Runs the counting kernel once; bytes[r] is 32 times the number of marked sectors of range r. */
NODISCARD enum status cuda_sectors_count(struct cuda *cuda, struct cuda_columns *columns,
                                         const struct sector_count *count, uint64_t *bytes,
                                         struct error *error);

#endif
