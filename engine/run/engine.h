/*
 * engine.h: runs plans on the CPU, on a GPU, or on several devices of one kind, which share the segments of a plan's
 * fact table (share.h). Their partial results are merged into one.
 *
 * engine_open opens the devices, once. engine_prepare decides how a plan is run, engine_compile compiles the
 * kernels of several plans on all threads, engine_load loads one plan to the device, and engine_run answers
 * it, any number of times. SQL statements call all these (engine/library/statement.h).
 */
#ifndef TESSERA_ENGINE_RUN_ENGINE_H
#define TESSERA_ENGINE_RUN_ENGINE_H

#include "engine/run/cluster.h"
#include "storage/base/execution/memory_account.h"
#include "storage/base/execution/execution.h"

struct engine;
struct prepared_plan;
struct database;

/* Lets `auto` choose codecs by the costs of this machine's GPU, if it has one (storage/codec/codec_costs.h).
 * For programs that load data. The GPU is looked for only when a codec is chosen. */
void engine_choose_by_device(void);

/* The devices of an engine:
 *
 *     "cpu"                   the CPU
 *     "cuda", "cuda:N"        GPU 0 or N; STATUS_MACHINE if it cannot be used
 *     "auto"                  the first GPU if it can be used, else the CPU
 *     "cuda:0,1", "cuda:all"  several GPUs, or all
 *     "cpu,cpu"               the CPU as two devices, each with half of the threads */
struct engine_options {
    const char *device;
    unsigned threads;        /* 0: all; of several processes their share of a host's */
    struct cluster *cluster; /* the processes that answer together, or NULL; must outlive the engine */
    const char *
        gpu_memory; /* the most bytes of a GPU's memory that are taken: "4G", "512M", "0"; NULL: what is free */
    enum late_transfer late;
    enum kernel_choice kernel; /* which kernels of a GPU answer */
    bool one_device;           /* several devices are refused: for what measures a single one */
    const char *
        memory; /* the most bytes of the host that statements take: "4G"; NULL: half of what is available now */
    const char *spill; /* a folder for rows that are more than that; NULL: $TMPDIR, or else /tmp */
};

/* Opens the devices. STATUS_BAD_INPUT if an option cannot be read. */
NODISCARD enum status engine_open(const struct engine_options *options, struct engine **engine,
                                  struct error *error);
/* Before the database that it asked is closed: devices keep columns, which are known by their addresses. */
void engine_close(struct engine *engine);

/* Makes the engine one for the database `to`, a newer state of `from`: devices keep their columns that have the same files.
 * All statements over `from` are freed before, and afterwards it may be closed. */
void engine_follow(struct engine *engine, struct database *from, struct database *to);

/* "NVIDIA H200 (cuda:0)", "2 x NVIDIA H200 (cuda:0,1)" or "CPU, 2 threads, avx512". engine_why_cpu gives the reason why "auto" chose the
 * CPU, or NULL. */
const char *engine_device_text(const struct engine *engine);
const char *engine_why_cpu(const struct engine *engine);
bool engine_is_cuda(const struct engine *engine);
unsigned engine_threads(const struct engine *engine);
struct cluster *engine_cluster(const struct engine *engine); /* or NULL */

/* The number of devices. */
uint32_t engine_members(const struct engine *engine);

/* Enters an execution with the engine's account of memory and its folder, a part of the thread's current one. It ends
 * with execution_leave. What is charged to the account is freed before the engine is closed. */
void engine_enter(struct engine *engine, struct execution *execution);

/* That account. */
const struct memory_account *engine_memory(const struct engine *engine);

/* The device itself, the first of several, for callers that know its kind (engine/gpu/device.h). */
struct device *engine_device(const struct engine *engine);

/* Gives the read bandwidth of all devices together in bytes a second. The first call measures it, in a fraction of a
 * second. */
NODISCARD enum status engine_read_ceiling(struct engine *engine, double *bytes_per_second,
                                          struct error *error);

/* Measures the rate at which pinned memory of the host is copied to the devices, to all at once; 0 on a CPU. */
NODISCARD enum status engine_link_rate(struct engine *engine, double *bytes_per_second, struct error *error);

/* Measures the time of a plan's launches without their work, on the slowest device; 0 on a CPU. */
NODISCARD enum status engine_launch_floor(struct engine *engine, double *ms, struct error *error);

/* ---- Plans: each call as in struct device_operations ---- */

/* Adapts a plan to all devices, before it is explained or prepared. */
NODISCARD enum status engine_fit(struct engine *engine, struct plan *plan, struct error *error);

/* The plan and the engine must outlive `prepared`. */
NODISCARD enum status engine_prepare(struct engine *engine, const struct plan *plan, bool timed,
                                     struct prepared_plan **prepared, struct error *error);

/* Compiles the kernels of `count` plans in parallel on all threads; a kernel takes a thread 0.3 to 2 seconds.
 * `counting`: also compiles the kernels that count bytes. Compiled kernels are kept in memory until they are
 * loaded, and in the cache of kernels if there is one. The call is optional: engine_load compiles a kernel
 * that is not compiled yet. On a CPU it does nothing. */
NODISCARD enum status engine_compile(struct engine *engine, struct prepared_plan *const *prepared,
                                     uint32_t count, bool counting, struct progress *progress,
                                     struct error *error);

NODISCARD enum status engine_load(struct prepared_plan *prepared, struct run_timing *timing,
                                  struct error *error);

/* Runs the plan; loads it first if it is not loaded. */
NODISCARD enum status engine_run(struct prepared_plan *prepared, const struct device_request *request,
                                 struct partial *partial, struct run_timing *timing, struct error *error);

/* Copies a column of rows that the engine's device has to the host (struct device_operations). */
NODISCARD enum status engine_fetch(const struct engine *engine, const struct device_rows *rows,
                                   uint32_t column, int64_t *values, uint8_t *nulls, struct error *error);

/* Adds columns of window functions to them, and frees those that are not kept, likewise. */
NODISCARD enum status engine_windows(const struct engine *engine, struct device_rows *rows,
                                     const struct device_window *windows, uint32_t count, const bool *kept,
                                     const char **why, struct error *error);

NODISCARD enum status engine_count(struct prepared_plan *prepared, bool steps, struct scan_counts *counts,
                                   struct error *error);
void engine_release(struct prepared_plan *prepared); /* NULL is legal */

/* ---- What each device does, for reports ---- */

struct engine_part {
    const char *device;
    uint32_t segments;        /* of the fact table */
    uint64_t tiles, bytes;    /* that the scan reads; after engine_count */
    double scan_ms, total_ms; /* of the last run */
};
struct engine_part engine_part(const struct prepared_plan *prepared, uint32_t member);

/* How the devices' results of the last run were merged; `how` is NULL for a single device. */
struct engine_exchange {
    const char *how; /* "merged by the host", "merged on a GPU that reads the others' memory" */
    uint64_t bytes;  /* of the results that moved */
    double ms;
};
/* What each process of a cluster does; after engine_count. */
struct engine_process {
    uint32_t segments;
    uint64_t tiles, bytes;
    double scan_ms, total_ms; /* of the last run */
};
const struct engine_process *engine_process(const struct prepared_plan *prepared, uint32_t rank);

const struct engine_exchange *engine_exchange_of(const struct prepared_plan *prepared);

#endif
