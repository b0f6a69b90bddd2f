/*
 * stage.h: decodes the columns of a staged plan on a GPU. A kernel for each column decodes its chunks into
 * scratch memory, with the decoder that a scan would use, and then the scan reads plain values there. Inline
 * decoding is compared with this.
 */
#ifndef TESSERA_ENGINE_GPU_STAGE_H
#define TESSERA_ENGINE_GPU_STAGE_H

#include "engine/cuda/kernel_cache.h"
#include "engine/gpu/columns.h"
#include "engine/gpu/kernel.h"
#include "engine/gpu/scan.h"

struct stage_column {
    bool used;
    const struct cuda_column *from; /* the encoded column */
    struct cuda_column to;          /* a list of chunks of plain values, and then the values */
    struct cuda_function *decode;
    uint32_t scratch_bytes; /* shared memory of the decoder for each warp */
};

/* Must be zero-initialised; columns are indexed as in struct kernel. */
struct cuda_stage {
    uint32_t count; /* the number of columns that are used */
    char *source;   /* the text of their kernels; NULL: no column is staged */
    struct kernel_binary binary;
    struct cuda_module *module;
    struct cuda_event *begin, *end;
    struct stage_column columns[KERNEL_COLUMNS_MAX];
};

/* Writes the kernels' text if columns of the kernel are staged. This needs no GPU. */
NODISCARD enum status cuda_stage_write(const struct plan *plan, const struct kernel *kernel,
                                       struct cuda_stage *stage, struct error *error);

/* Gives the text of kernels `decode_0`, `decode_1` ... for columns in any codec; the caller frees it. */
NODISCARD enum status cuda_stage_source(const struct kernel_column *columns, uint32_t count, char **source,
                                        struct error *error);

/* Loads the kernels and allocates the scratch memory. The binary must be compiled and the encoded columns
 * uploaded. */
NODISCARD enum status cuda_stage_load(struct cuda *cuda, struct cuda_columns *columns,
                                      const struct plan *plan, const struct kernel *kernel,
                                      const struct cuda_column *const *encoded, struct cuda_stage *stage,
                                      struct error *error);

/* Queues the decoding of the tiles in the scan's list of work. */
NODISCARD enum status cuda_stage_run(struct cuda *cuda, struct cuda_stage *stage,
                                     const struct cuda_scan *scan, struct error *error);
/* Gives the time of the decoding, after the stream has been waited for. */
NODISCARD enum status cuda_stage_elapsed(struct cuda *cuda, const struct cuda_stage *stage, double *ms,
                                         struct error *error);

void cuda_stage_free(struct cuda *cuda, struct cuda_stage *stage);

#endif
