/*
 * kernel_joint.h: which aggregates have joint states (operators/group/joint_states_cuda.h), and the text of kernels that have
 * them. Of groups whose numbers are slots of global memory, which so many rows reach that the second-level cache binds them.
 */
#ifndef TESSERA_ENGINE_GPU_GROUPS_KERNEL_JOINT_H
#define TESSERA_ENGINE_GPU_GROUPS_KERNEL_JOINT_H

#include "engine/gpu/kernel.h"

/* Sets kernel->joint. */
void kernel_joint_choose(const struct plan *plan, struct kernel *kernel);

/* Whether the aggregate's state is in a joint word, and whether it is the first one in it. */
bool kernel_joint_has(const struct kernel *kernel, uint32_t a);
bool kernel_joint_begins(const struct kernel *kernel, uint32_t a);

/* Writes what a row adds to the word that begins with aggregate `a`; `write` writes what it adds to one state. */
void kernel_joint_write_row(FILE *out, const struct plan *plan, const struct kernel *kernel, uint32_t a,
                            void (*write)(void *context, uint32_t a), void *context);

/* Writes the kernel `complete`, which makes the states after the scan. */
void kernel_joint_write_kernel(FILE *out, const struct plan *plan, const struct kernel *kernel);

#endif
