/*
 * sorted_values.h: measures of all values of groups that are on a GPU: the groups of the scan are sorted there by the statement's
 * group and the value (operators/general/values_cuda.h), and the host gets what measures need (struct partial_digest). This
 * takes 33 bytes of the GPU's memory for each group of the scan. Without them, or without CUB when Tessera was built, all groups of the
 * scan are copied to the host.
 */
#ifndef TESSERA_ENGINE_GPU_FIRST_SORTED_VALUES_H
#define TESSERA_ENGINE_GPU_FIRST_SORTED_VALUES_H

#include "engine/cuda/cuda.h"
#include "engine/plan/partial.h"

struct device_run;

/* Whether the measures can be made so: of a plan with numbers of one word, whose only aggregate is the number of rows. */
bool cuda_values_can(const struct device_run *run);

/* Makes the groups of the statement, with their digests, of `found` groups of the scan. *given is false if memory does not suffice. */
NODISCARD enum status cuda_values_groups(struct device_run *run, uint64_t found, struct partial *groups,
                                         bool *given, struct error *error);

#endif
