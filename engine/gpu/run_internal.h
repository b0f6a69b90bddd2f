/*
 * run_internal.h: a planned statement on a GPU: prepared and run (run.c), and the memory and results of its
 * states (states.c, sets.c).
 */
#ifndef TESSERA_ENGINE_GPU_RUN_INTERNAL_H
#define TESSERA_ENGINE_GPU_RUN_INTERNAL_H

#include "engine/cuda/kernel_cache.h"
#include "engine/gpu/memory/columns.h"
#include "engine/gpu/general/tier.h"
#include "engine/gpu/memory/modules.h"
#include "engine/gpu/first/first_groups.h"
#include "engine/gpu/index.h"
#include "engine/gpu/kernel.h"
#include "engine/gpu/groups/listed_groups.h"
#include "engine/gpu/scan.h"
#include "engine/gpu/stage.h"
#include "engine/gpu/stream/feed.h"
#include "engine/run/device.h"

/* The most arrays, tables and bitmaps that belong to one statement. */
#define RUN_OWNED_MAX (2 * ARGUMENT_ARRAYS_MAX + ARGUMENT_JOINS_MAX + 4u)

struct device {
    struct cuda *cuda;            /* with the stream on which columns are uploaded */
    struct cuda_columns *columns; /* stay on the GPU between statements, which have their memory from there */
    struct cuda_modules *modules; /* of statements that were freed */
    enum late_transfer late;
    enum kernel_choice kernel;
    unsigned threads; /* of the host, for what it does with results */
    char text[256];
};

/* The kernel that answers, and the same kernel compiled to mark the sectors that it touches (sectors.h). */
enum run_binary { BINARY_SCAN, BINARY_SECTORS, BINARIES };

/* A prepared plan. One thread at a time uses it; several are run at the same time, each on the stream of its statement. */
struct device_run {
    struct device *device;
    struct cuda *cuda; /* the stream of the statement that uses it now, or the device's own */
    const struct plan *plan;
    struct tile_skip own;          /* the tiles of the share's segments; unused if it has all */
    const struct tile_skip *share; /* the tiles that the run may read */
    struct device_share segments;  /* a copy of the share; NULL: all */
    bool timed;                    /* the two kernels are also timed one by one */
    bool counting;                 /* the kernel counts points, which is slower */
    bool nothing;                  /* no tile can have a row of the answer, or `known`: there is no kernel */
    bool known;                    /* the answer follows from the vectors' numbers of rows */
    bool selected;                 /* the list of work is that of some segments only */
    bool held;                     /* its columns stay where they are (cuda_columns_hold) */
    bool failed;                   /* a call has failed; it can only be released */
    bool loaded;                   /* all is made that its kernels need */
    uint64_t lent;                 /* which module it had (cuda_modules_take) */
    struct cuda_tenant tenant;
    struct kernel kernel;
    struct tier tier;                        /* whether `kernel` is the general one */
    struct kernel_binary binaries[BINARIES]; /* after compilation; the first one until it is loaded */
    struct cuda_scan scan;
    struct cuda_function *collect;
    const struct cuda_column *arrays[ARGUMENT_ARRAYS_MAX];
    struct cuda_place place;   /* of the columns' chunks */
    struct cuda_feed feed;     /* of a run that is scanned by segments */
    struct cuda_stage stage;   /* of a staged plan */
    struct cuda_index index;   /* of a plan with index terms */
    struct cuda_first first;   /* of a plan of which few rows are wanted */
    struct cuda_groups groups; /* of a plan of which few groups may be wanted */
    struct cuda_list list;     /* of a kernel that lists its rows */
    const char *groups_why;    /* as in struct run_timing */
    bool few_groups;           /* only groups that may be in the answer are copied, of this request */
    bool takes;                /* columns are made of the rows, of this request */
    struct device_rows *taken; /* what the last scan's rows became, until partial has it; or NULL */
    bool masked;               /* the wanted rows are too many for a list: the scan makes a mask */

    /* The columns as the scan reads them: the lists of `place`, or of their decoded values. */
    const struct cuda_column *read[KERNEL_COLUMNS_MAX];
    uint32_t owned_count;
    cuda_address owned[RUN_OWNED_MAX];
    uint8_t *bound; /* struct tile_bound: columns, dimensions, sums */
    struct query_arguments arguments;
    cuda_address arguments_address; /* the address from which the kernels read `arguments` */

    cuda_address states; /* the header, then the memory to which struct query_arguments points */
    uint64_t slots;      /* of the hash table of groups; else plan->slots */
    uint64_t set_capacity[PLAN_AGGREGATES_MAX];
    uint64_t answer_bytes; /* the bytes at the start of `states` that are copied to the host */
    uint8_t *answer;       /* the copy in the host's memory */
    bool answer_pinned;
    bool indirect; /* the numbers of hashed groups are not their slots, which would be too many */
    bool no_room;  /* the states did not fit the GPU's memory */

    /* PLAN_HASH: where the groups are collected; 0 until a run has found some. */
    cuda_address collected;
    uint64_t collected_bytes;
    uint32_t most_parts; /* the segments that are run at a time since then; 0: all */
};

/* ---- device.c ---- */

/* Begins a call that uses the GPU: the run is busy, and has the stream that its statement, the current execution, has of the
 * device. An execution without an account of memory has the device's own. */
NODISCARD enum status gpu_attach(struct device_run *run, struct error *error);
/* Ends it, with its status, which is the result. After an error it waits for what may still be at work. */
NODISCARD enum status gpu_detach(struct device_run *run, enum status status);

/* ---- run.c: as in struct device_operations ---- */

NODISCARD enum status gpu_prepare(struct device *device, const struct plan *plan,
                                  const struct device_share *share, bool timed, struct device_run **out,
                                  struct error *error);
NODISCARD enum status gpu_compile(struct device_run *run, bool counting, struct error *error);
NODISCARD enum status gpu_load(struct device_run *run, struct run_timing *timing, struct error *error);
NODISCARD enum status gpu_run(struct device_run *run, const struct device_request *request,
                              struct partial *partial, struct run_timing *timing, struct error *error);
NODISCARD enum status gpu_count(struct device_run *run, bool steps, struct scan_counts *counts,
                                struct error *error);
void gpu_release(struct device_run *run);

/* Lets the columns go that a run holds, whose scan has ended. */
void gpu_let_go(struct device_run *run);

/* For runs of several GPUs together (peers/peers.h), between gpu_attach and gpu_detach. gpu_queue_begin queues what comes before the graph of a run over the
 * share (cuda_scan_run); *whole is false if the run is not one scan of kept columns and states, and then it is made by
 * gpu_run. gpu_times gives a run's times, after its stream was waited for. gpu_queue_end waits for all. */
NODISCARD enum status gpu_queue_begin(struct device_run *run, struct run_timing *timing, bool *whole,
                                      struct error *error);
NODISCARD enum status gpu_queue_end(struct device_run *run, struct error *error);
NODISCARD enum status gpu_times(struct device_run *run, struct run_timing *timing, struct error *error);

/* What the run's kernels are made for. GPUs that share a statement have tables of groups, of which one can read the others'. */
struct kernel_target gpu_target(const struct device_run *run);

/* What is compiled for the run. */
struct nvrtc_request gpu_kernel_request(const struct device_run *run, enum run_binary binary);

/* ---- memory/lend.c: the module of the run's kernels ---- */

/* Takes one that no run uses; false: there is none. Then gpu_module_binary gets its code, from which gpu_module_open loads it;
 * the latter finds the kernels in either. */
bool gpu_module_take(struct device_run *run);
NODISCARD enum status gpu_module_binary(struct device_run *run, struct error *error);
NODISCARD enum status gpu_module_open(struct device_run *run, struct error *error);
/* Gives it, after a call; drops it, after one that has failed: it is unloaded with the run. */
void gpu_module_give(struct device_run *run);
void gpu_module_drop(struct device_run *run);
/* Before a call of a loaded run: its module again, or another in the same state. */
NODISCARD enum status gpu_module_return(struct device_run *run, struct error *error);

/* ---- bind.c ---- */

/* Allocates the statement's tables, bitmaps and lists, queues their copies, and fills the arguments of its kernels. */
NODISCARD enum status gpu_bind(struct device_run *run, struct error *error);

/* ---- states.c ---- */

/* Allocates the states' memory, the first time or larger than before, sets the arguments that point into it,
 * and uploads the arguments. */
NODISCARD enum status cuda_states_make(struct device_run *run, struct error *error);
void cuda_states_free(struct device_run *run);
/* Uploads the arguments again, after a list to which they point has moved. */
NODISCARD enum status cuda_states_point(struct device_run *run, struct error *error);

/* Queues the copy of the answer; of its header alone, if few groups may be wanted. */
NODISCARD enum status cuda_states_fetch(struct device_run *run, struct error *error);

/* After the copy is complete: cuda_states_full is true if a hash table was too full; then the run must be
 * repeated after cuda_states_grow. The others give the points of a counting run, and the groups or rows. */
bool cuda_states_full(const struct device_run *run);
uint64_t cuda_states_found(const struct device_run *run); /* the groups of a hash table */
/* Makes the states as large as at first, after they did not fit. */
NODISCARD enum status cuda_states_restart(struct device_run *run, struct error *error);
NODISCARD enum status cuda_states_grow(struct device_run *run, struct error *error);
void cuda_states_points(const struct device_run *run, struct scan_point *points);
NODISCARD enum status cuda_states_groups(struct device_run *run, struct partial *groups, struct error *error);

/* ---- rows/found_rows.c ---- */

/* Lists the rows that a scan has marked in `words`, 32 a tile, ascending. */
NODISCARD enum status cuda_found_rows(const struct device_run *run, const uint32_t *words,
                                      struct partial *found, struct error *error);

/* ---- take.c ---- */

/* After a scan whose columns are still held, waits for it and makes columns of the rows that it has marked; *taken is NULL if
 * the run has not the kernels, or the GPU no memory. */
NODISCARD enum status cuda_take(struct device_run *run, struct device_rows **taken, struct error *error);

/* ---- sets.c ---- */

/* Lists the values of each count(distinct) in partial->sets; the groups must be in `partial` already. */
NODISCARD enum status cuda_sets_list(struct device_run *run, struct partial *partial, struct error *error);

#endif
