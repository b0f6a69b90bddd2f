/*
 * list_gpu.h: sums of d-gaps, AND and OR of a query's lists on a GPU (lab/kernels/lists_cuda.h), after all lists were decoded to the GPU's
 * memory in any way. The answers are compared with the query's before anything is timed.
 */
#ifndef TESSERA_LAB_LISTS_LIST_GPU_H
#define TESSERA_LAB_LISTS_LIST_GPU_H

#include "lab/bench/decode.h"
#include "lab/lists/list_query.h"

enum list_function {
    LIST_SCAN_WORDS,
    LIST_SCAN_BYTES,
    LIST_PROBE,
    LIST_PICK,
    LIST_MARK,
    LIST_COUNT,
    LIST_WRITE,
    LIST_FUNCTIONS
};

/* The kernels, compiled once. */
struct list_gpu {
    struct lab *lab;
    struct cuda_module *module;
    struct cuda_function *functions[LIST_FUNCTIONS];
};

/* The text of all kernels, to be freed. */
NODISCARD enum status list_kernel_text(char **source, struct error *error);

/* Close with list_gpu_close, also after an error. */
NODISCARD enum status list_gpu_open(struct lab *lab, struct list_gpu *gpu, struct error *error);
void list_gpu_close(struct list_gpu *gpu);

/* Times of all lists' sums, of AND and of OR; the latter two without the sums. */
struct list_gpu_result {
    struct speed sum, all, any;
};

/* gaps[l]: the address of the decoded d-gaps of list l. */
NODISCARD enum status list_gpu_measure(struct list_gpu *gpu, const struct list_query *query,
                                       const cuda_address *gaps, struct list_gpu_result *result,
                                       struct error *error);

#endif
