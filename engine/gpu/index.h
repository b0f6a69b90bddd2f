/*
 * index.h: makes the mask of a plan's index terms on a GPU before the scan, which begins with it
 * (operators/index/mask_cuda.h).
 *
 * The vectors of the terms' runs are uploaded once and stay for later statements; their list, which leaves out vectors
 * without rows in a segment, and the mask, 128 bytes a tile of the fact table, belong to the statement. There is a launch
 * for each format that the terms' indexes have, a thread block for each piece with tiles that are scanned.
 */
#ifndef TESSERA_ENGINE_GPU_INDEX_H
#define TESSERA_ENGINE_GPU_INDEX_H

#include "engine/cuda/kernel_cache.h"
#include "engine/gpu/memory/columns.h"
#include "engine/plan/tile_skip.h"
#include "storage/index/index_file.h"

/* The kernels' text, the same for all plans. */
extern const char cuda_index_source[];

/* The terms whose indexes have one format. */
struct index_pass {
    enum index_format format;
    struct cuda_function *function;
    cuda_address ends, vectors, pieces;
    struct bound_mask bound;
    uint32_t blocks, threads; /* blocks 0: no piece has tiles that are scanned */
};

/* Must be zero-initialised. */
struct cuda_index {
    struct kernel_binary binary;
    struct cuda_module *module;
    uint32_t run_count;
    const struct cuda_column **runs; /* the vectors of each run of each term, in the plan's order */
    cuda_address mask;               /* 32 words a tile, those of segment 0 first */
    uint32_t pass_count;
    struct index_pass passes[INDEX_FORMAT_COUNT];
};

/* Loads the kernels, which must be compiled, uploads the vectors and allocates the mask. The plan has terms. Free with
 * cuda_index_free, also after an error. */
NODISCARD enum status cuda_index_load(struct cuda *cuda, struct cuda_columns *columns,
                                      const struct plan_index *plan, const struct table *fact,
                                      struct cuda_index *index, struct error *error);

/* Lists the pieces that have tiles of `skip`. It may be called again. */
NODISCARD enum status cuda_index_select(struct cuda *cuda, struct cuda_columns *columns,
                                        const struct table *fact, const struct tile_skip *skip,
                                        struct cuda_index *index, struct error *error);

/* Queues the making of the mask for the selected pieces; does nothing without terms. */
NODISCARD enum status cuda_index_run(struct cuda *cuda, struct cuda_index *index, struct error *error);

void cuda_index_free(struct cuda *cuda, struct cuda_columns *columns, struct cuda_index *index);

#endif
