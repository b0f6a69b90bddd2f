/*
 * listed_groups.h: the groups of a scan that has listed its rows (operators/group/listed_rows_cuda.h), where kernel->list.used:
 * the words of the rows are sorted and become a table that is full. Of rows that stand in the order of their groups the scan makes
 * the table itself (streamed_groups_cuda.h), and edges of tiles are added to it. What reads tables of groups finds run->slots,
 * arguments.keys and arguments.states as after another scan; the last place of the table is free.
 */
#ifndef TESSERA_ENGINE_GPU_GROUPS_LISTED_GROUPS_H
#define TESSERA_ENGINE_GPU_GROUPS_LISTED_GROUPS_H

#include "engine/cuda/cuda.h"

struct device_run;

/* Must be zero-initialised. */
struct cuda_list {
    struct cuda_function *heads, *groups, *edges;
    bool streams;  /* the scan makes the groups */
    bool disorder; /* it has tried, and rows were in no order: so it lists them from then on */
    bool again;    /* the scan has to be repeated */
    uint64_t rows; /* that there is room for */
    cuda_address words, other, sums, scratch;
    cuda_address table; /* of the groups; it stays for the next run */
    uint64_t table_bytes;
};

/* Whether the program has the kernels that sort on this GPU. */
bool cuda_list_can(const struct cuda *cuda);

/* The bytes of the list and of what sorts it; sets the addresses of its pieces. */
uint64_t cuda_list_lay_out(struct device_run *run, cuda_address base);
NODISCARD enum status cuda_list_open(struct device_run *run, struct error *error);
void cuda_list_free(struct device_run *run);

/* Lets the scan make the groups, if the rows may be in order and all segments are scanned. */
NODISCARD enum status cuda_list_begin(struct device_run *run, bool all, struct error *error);
/* Makes the groups, after the scan, or sets run->list.again. */
NODISCARD enum status cuda_list_groups(struct device_run *run, struct error *error);

#endif
