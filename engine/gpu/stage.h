/*
 * stage.h: decodes columns of a plan on a GPU before the scan, which then reads plain values in scratch
 * memory: all columns of a staged plan, with which inline decoding is compared, and in any plan those in
 * codecs that a query's kernel cannot decode (codec.gpu.passes). If a run scans segment by segment
 * (engine/gpu/stream/place.h), a segment's values are in its slot, after the chunks that were copied there.
 */
#ifndef TESSERA_ENGINE_GPU_STAGE_H
#define TESSERA_ENGINE_GPU_STAGE_H

#include "engine/cuda/kernel_cache.h"
#include "engine/gpu/memory/columns.h"
#include "engine/gpu/decode.h"
#include "engine/gpu/kernel.h"
#include "engine/gpu/scan.h"
#include "engine/gpu/stream/place.h"

struct stage_column {
    bool used;
    const struct cuda_column *from; /* the list of encoded chunks */
    struct cuda_column to;          /* the list of chunks of plain values */
    cuda_address values;            /* of all segments, if they are not in slots */
    uint64_t value_bytes;
    struct cuda_decoder decoder;
};

/* Must be zero-initialised; columns are indexed as in struct kernel. */
struct cuda_stage {
    uint32_t count; /* the number of columns that are used */
    char *source;   /* the text of their kernels; NULL: no column is staged */
    struct kernel_binary binary;
    struct cuda_module *module;
    struct cuda_event *begin, *end;
    cuda_address layers; /* temporary memory between passes; columns use it one after the other */
    uint64_t layer_bytes;
    bool in_slots;
    struct stage_column columns[KERNEL_COLUMNS_MAX];
};

/* Writes the kernels' text if columns of the kernel are staged. This needs no GPU. */
NODISCARD enum status cuda_stage_write(const struct plan *plan, const struct kernel *kernel,
                                       struct cuda_stage *stage, struct error *error);

/* Loads the kernels, and allocates the lists of chunks. The binary must be compiled. */
NODISCARD enum status cuda_stage_load(struct cuda *cuda, struct cuda_columns *columns,
                                      const struct plan *plan, const struct kernel *kernel,
                                      const struct cuda_place *place, struct cuda_stage *stage,
                                      struct error *error);

/* Gives the columns scratch memory: their own, or in slots. Called when the places of chunks have changed. */
NODISCARD enum status cuda_stage_place(struct cuda *cuda, struct cuda_columns *columns,
                                       const struct plan *plan, const struct kernel *kernel,
                                       const struct cuda_place *place, struct cuda_stage *stage,
                                       struct error *error);

/* Lists the blocks that the scan of these tiles reads, of columns that are decoded by blocks. */
NODISCARD enum status cuda_stage_select(struct cuda *cuda, struct cuda_columns *columns,
                                        const struct plan *plan, const struct kernel *kernel,
                                        const struct tile_skip *skip, struct cuda_stage *stage,
                                        struct error *error);

/* Queues the decoding of the tiles in the scan's list of work. If columns are decoded by blocks, it waits for
 * them, and a damaged block is an error: no scan may use its values. */
NODISCARD enum status cuda_stage_run(struct cuda *cuda, struct cuda_stage *stage, const struct plan *plan,
                                     const struct kernel *kernel, const struct cuda_scan *scan,
                                     struct error *error);
/* The same for one segment, into its slot. */
NODISCARD enum status cuda_stage_run_segment(struct cuda *cuda, struct cuda_stage *stage,
                                             const struct plan *plan, const struct kernel *kernel,
                                             const struct cuda_scan *scan, uint32_t segment,
                                             struct error *error);

/* Gives the time of the decoding, after the stream has been waited for. */
NODISCARD enum status cuda_stage_elapsed(struct cuda *cuda, const struct cuda_stage *stage, double *ms,
                                         struct error *error);

void cuda_stage_free(struct cuda *cuda, struct cuda_stage *stage);

#endif
