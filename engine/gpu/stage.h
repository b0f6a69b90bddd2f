/*
 * engine/gpu/stage.h: the columns of a staged plan on a GPU.
 *
 * A kernel for each column decodes its chunks into scratch memory, with the decoder that a scan would use; then
 * the scan reads plain values there. This is what decoding inside the scan is compared with.
 */
#ifndef TESSERA_ENGINE_GPU_STAGE_H
#define TESSERA_ENGINE_GPU_STAGE_H

#include "engine/cuda/kernel_cache.h"
#include "engine/gpu/columns.h"
#include "engine/gpu/kernel.h"
#include "engine/gpu/scan.h"

struct stage_column {
    bool used;
    const struct cuda_column *from; /* the encoded one */
    struct cuda_column to;          /* a list of chunks of plain values, with the values behind it */
    struct cuda_function *decode;
    uint32_t scratch_bytes; /* of shared memory that the decoder wants for a warp */
};

/* Begins as zeros; columns as in struct kernel. */
struct cuda_stage {
    uint32_t count; /* of the columns that are used */
    char *source;   /* of their kernels; NULL: none is staged */
    struct kernel_binary binary;
    struct cuda_module *module;
    struct cuda_event *begin, *end;
    struct stage_column columns[KERNEL_COLUMNS_MAX];
};

/* Writes the kernels' text, if columns of the kernel are staged. No GPU is needed. */
NODISCARD enum status cuda_stage_write(const struct plan *plan, const struct kernel *kernel,
                                       struct cuda_stage *stage, struct error *error);

/* The text for columns in any codec, decoded by `decode_0`, `decode_1` ..., the caller's to free. */
NODISCARD enum status cuda_stage_source(const struct kernel_column *columns, uint32_t count, char **source,
                                        struct error *error);

/* Loads the kernels and makes the scratch memory, when the binary is compiled and the encoded columns are on the
 * GPU. */
NODISCARD enum status cuda_stage_load(struct cuda *cuda, struct cuda_columns *columns,
                                      const struct plan *plan, const struct kernel *kernel,
                                      const struct cuda_column *const *encoded, struct cuda_stage *stage,
                                      struct error *error);

/* Queues the decoding of the tiles that the scan's work names. */
NODISCARD enum status cuda_stage_run(struct cuda *cuda, struct cuda_stage *stage,
                                     const struct cuda_scan *scan, struct error *error);
/* How long that took, when the stream was waited for. */
NODISCARD enum status cuda_stage_elapsed(struct cuda *cuda, const struct cuda_stage *stage, double *ms,
                                         struct error *error);

void cuda_stage_free(struct cuda *cuda, struct cuda_stage *stage);

#endif
