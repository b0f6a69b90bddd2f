/*
 * first_groups.h: the groups of a run that may be in the answer, found on the GPU after the scan, so that no others are
 * copied to the host (operators/general/groups_cuda.h says how; engine/plan/order/first_rows.h which). This needs all rows
 * of the answer in the states of one run. Its kernels are compiled ahead and read HAVING and ORDER BY as data.
 *
 * Of a scan that groups by values, which measures need, the values are sorted (sorted_values.h).
 */
#ifndef TESSERA_ENGINE_GPU_FIRST_FIRST_GROUPS_H
#define TESSERA_ENGINE_GPU_FIRST_FIRST_GROUPS_H

#include "engine/cuda/cuda.h"
#include "engine/plan/partial.h"
#include "operators/general/groups.h"

struct device_run;

/* The module of the kernels. */
#define GROUPS_MODULE "general_groups"

/* The kernels of operators/general/values_cuda.h. */
struct cuda_value_kernels {
    struct cuda_function *collect, *add, *scan, *prefix, *starts, *groups, *pick;
};

/* Must be zero-initialised. */
struct cuda_groups {
    bool usable;                /* else the other fields are zeros */
    bool of_values;             /* sorted_values.h; then `work` and `first` are not set */
    bool of_totals;             /* of plan->totals */
    bool of_set;                /* the values of an output, of which the host gets a bitmap */
    struct cuda_module *module; /* of the kernels, within a call that needs them */
    uint64_t lent;              /* its number (memory/modules.h) */
    struct cuda_function *sample, *tighten, *select, *gather, *total, *set;
    struct cuda_value_kernels values;
    struct groups_work work;
    struct first_argument first;
    cuda_address arguments; /* of the module */
    cuda_address memory;    /* of the program, and of what `first` points to */
    cuda_address words;
    uint64_t slots; /* for which `memory` was made */
    void *program;  /* the instructions, and then the words of each aggregate's state: in the host's memory */
    uint64_t program_bytes, words_at;
};

/* Decides whether the run's groups can be told apart so, which is no error if not. */
NODISCARD enum status cuda_groups_open(struct device_run *run, struct error *error);
void cuda_groups_close(struct device_run *run);
/* After a call: lets other runs have the module of the kernels; or nobody, if the call has failed. */
void cuda_groups_give(struct device_run *run);
void cuda_groups_drop(struct device_run *run);

/* Finds the kernels, for the rest of the call, before the functions below. */
NODISCARD enum status cuda_groups_take(struct device_run *run, struct error *error);

/* Lists the groups after a scan; *count is their number. *listed is false if they are too many for the list. */
NODISCARD enum status cuda_groups_list(struct device_run *run, uint64_t *count, bool *listed,
                                       struct error *error);
/* Fills groups->totals where plan->totals are wanted and no groups; *given is false if that cannot be done. */
NODISCARD enum status cuda_groups_total(struct device_run *run, struct partial *groups, bool *given,
                                        struct error *error);

/* Fills groups->set where plan->set says so; *given is false if that cannot be done. */
NODISCARD enum status cuda_groups_set(struct device_run *run, struct partial *groups, bool *given,
                                      struct error *error);

/* Queues the copy of the listed groups to run->collected, column by column. */
NODISCARD enum status cuda_groups_gather(struct device_run *run, uint64_t count, struct error *error);

/* ---- Parts of these, for sorted_values.c ---- */

/* Queues the copy of the run's arguments to the module. */
NODISCARD enum status cuda_groups_send(struct device_run *run, struct error *error);

#endif
