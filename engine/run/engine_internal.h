/*
 * engine/run/engine_internal.h: the executor's two halves. A device answers a few calls, in the order below;
 * engine/run/engine.c chooses between them once and knows nothing else of either.
 */
#ifndef TESSERA_ENGINE_RUN_ENGINE_INTERNAL_H
#define TESSERA_ENGINE_RUN_ENGINE_INTERNAL_H

#include "engine/plan/query_bind.h"
#include "engine/run/engine.h"

struct cuda;
struct cuda_columns;

struct engine {
    unsigned threads;
    struct cuda *cuda;            /* NULL: the CPU */
    struct cuda_columns *columns; /* kept on the GPU between queries */
    double read_ceiling;          /* bytes a second; 0 until measured */
    char device[256];
    char why_cpu[ERROR_TEXT_BYTES]; /* "" unless "auto" was asked for and no GPU could be used */
};

struct prepared {
    struct engine *engine;
    struct bound_query bound;
    struct prepared_info info;
    void *device; /* of engine/cpu/execute.c or engine/gpu/execute.c */
};

enum kernel { KERNEL_QUERY, KERNEL_COUNTING /* the query's, counting the bytes that it needs */, KERNELS };

struct device_operations {
    /* Decides what is to be compiled; then compiles one kernel, unless that is done, several at the same
     * time. Nothing on the device yet. NULL: kernels are not compiled at run time. */
    enum status (*plan)(struct prepared *prepared, struct error *error);
    enum status (*compile)(struct prepared *prepared, enum kernel kernel, struct error *error);
    enum status (*load)(struct prepared *prepared, struct error *error);
    /* Answers into sums[slots] and present[slots], owned by the device half and valid until the next call. */
    enum status (*run)(struct prepared *prepared, struct query_timing *timing, const int64_t **sums,
                       const uint32_t **present, struct error *error);
    enum status (*bytes_read)(struct prepared *prepared, uint64_t *bytes, struct error *error);
    void (*release)(struct prepared *prepared);
};

extern const struct device_operations cpu_operations, cuda_operations;

#endif
