/*
 * kernel_list.h: kernels whose rows are listed, sorted and then added up group by group (operators/group/listed_rows_cuda.h), where
 * a table of the groups would not fit the second-level cache; or whose rows stand in the order of their groups
 * (streamed_groups_cuda.h).
 */
#ifndef TESSERA_ENGINE_GPU_GROUPS_KERNEL_LIST_H
#define TESSERA_ENGINE_GPU_GROUPS_KERNEL_LIST_H

#include "engine/gpu/kernel.h"

#define LIST_THREADS 256u

/* The length of pieces of the list of edges (operators/group/streamed_groups_cuda.h), which is short. */
#define LIST_EDGES_PIECE 512u

/* Sets kernel->list: whether the rows are, which must fit 64 bits each. */
void kernel_list_choose(const struct plan *plan, const struct kernel_target *target, struct kernel *kernel);

/* Writes what lists a row, whose group's number and arguments are written; and the kernels after the scan. */
void kernel_list_write_row(FILE *out, const struct plan *plan, const struct kernel *kernel,
                           const struct kernel_body *body);
/* The type of groups' numbers where they are made of rows in order, and the name of an aggregate's enum merge_kind. */
const char *kernel_list_number_type(const struct kernel *kernel);
const char *kernel_list_kind(const struct plan *plan, uint32_t a);

void kernel_list_write_kernels(FILE *out, const struct plan *plan, const struct kernel *kernel);

#endif
