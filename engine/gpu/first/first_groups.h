/*
 * first_groups.h: the groups of a run that may be in the answer, found on the GPU after the scan, so that no others are
 * copied to the host (operators/general/groups_cuda.h says how; engine/plan/order/first_rows.h which). This needs all rows
 * of the answer in the states of one run. Its kernels are compiled ahead and read HAVING and ORDER BY as data.
 */
#ifndef TESSERA_ENGINE_GPU_FIRST_FIRST_GROUPS_H
#define TESSERA_ENGINE_GPU_FIRST_FIRST_GROUPS_H

#include "engine/cuda/cuda.h"
#include "engine/plan/partial.h"
#include "operators/general/groups.h"

struct device_run;

/* Must be zero-initialised. */
struct cuda_groups {
    bool usable; /* else the other fields are zeros */
    struct cuda_module *module;
    struct cuda_function *sample, *tighten, *select, *gather;
    struct groups_work work;
    struct first_argument first;
    cuda_address arguments; /* of the module */
    cuda_address memory;    /* of the program, and of what `first` points to */
    cuda_address words;
    uint64_t slots; /* for which `memory` was made */
    void *program;  /* the instructions, and then the words of each aggregate's state: in the host's memory */
    uint64_t program_bytes, words_at;
};

/* Decides whether the run's groups can be told apart so, which is no error if not, and finds the kernels. */
NODISCARD enum status cuda_groups_open(struct device_run *run, struct error *error);
void cuda_groups_close(struct device_run *run);

/* Lists the groups after a scan; *count is their number. *listed is false if they are too many for the list, or if so few
 * groups were `found` (hashed ones, or slots) that copying all takes no longer. */
NODISCARD enum status cuda_groups_list(struct device_run *run, uint64_t found, uint64_t *count, bool *listed,
                                       struct error *error);
/* Queues the copy of the listed groups to run->collected, column by column. */
NODISCARD enum status cuda_groups_gather(struct device_run *run, uint64_t count, struct error *error);

#endif
