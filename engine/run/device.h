/*
 * engine/run/device.h: the one interface of what runs plans: a CPU with its threads, or a GPU. A device makes a plan
 * ready, runs it over segments of the fact table, and gives partial results back that merge (engine/plan/partial.h); so
 * whoever has several devices hands each its segments. engine/run/engine.c opens devices, engine/cpu/device.c and
 * engine/gpu/device.c are them.
 */
#ifndef TESSERA_ENGINE_RUN_DEVICE_H
#define TESSERA_ENGINE_RUN_DEVICE_H

#include "engine/plan/partial.h"
#include "storage/codec/codec_costs.h"

/* Milliseconds, unless it says otherwise. */
struct run_timing {
    double plan_ms, compile_ms, load_ms; /* before the run; compile and load are 0 on a CPU */
    double
        filter_ms; /* dimension conditions, and states cleared: on a GPU only of a run made ready as `timed` */
    double scan_ms;  /* of the fact table; likewise */
    double stage_ms; /* of a staged plan: decoding its columns into scratch memory, before all else */
    double merge_ms; /* the threads' states brought together; 0 on a GPU */
    double
        total_ms; /* from the first operation to the result complete on the device. On a CPU its parts add up to
                         it; on a GPU they are launched by themselves, and what lies between kernels is in it only */
    double output_ms; /* the host's part: HAVING, order, text */
    uint64_t bytes;   /* of the encoded fact columns that are read */
};

/* What a run is to bring back. */
struct device_request {
    const uint32_t *segments; /* of the fact table, ascending; NULL: all */
    uint32_t segment_count;
    bool mergeable; /* with the values of each count(distinct), which partial_merge needs */
};

struct device;
struct device_run; /* a plan made ready on a device */

struct device_operations {
    /* ---- The device ---- */

    /* GPU `ordinal`, or the CPU with `threads` threads. STATUS_MACHINE with the reason if it cannot be used. */
    enum status (*open)(unsigned ordinal, unsigned threads, struct device **device, struct error *error);
    void (*close)(struct device *device);
    /* The name of the first one, "NVIDIA H200", by which tables of costs are kept; false if there is none. Opens
     * nothing. NULL for the CPU, which is always there. */
    bool (*find)(char name[CODEC_COSTS_DEVICE_BYTES]);
    /* "NVIDIA H200 (cuda:0)", "CPU, 2 threads, avx512" */
    const char *(*text)(const struct device *device);
    /* The fastest that it reads memory, measured: a fraction of a second. */
    enum status (*read_ceiling)(struct device *device, double *bytes_per_second, struct error *error);

    /* ---- Plans ---- */

    /* Decides how the plan is run; nothing is on the device yet. The plan must outlive the run. `timed`: filter_ms and
     * scan_ms are wanted, which a GPU runs twice for. */
    enum status (*prepare)(struct device *device, const struct plan *plan, bool timed,
                           struct device_run **run, struct error *error);
    /* Compiles the run's kernel or, if `counting`, the one by which count_bytes counts, unless that is done; several
     * runs at the same time. NULL: nothing is compiled at run time. */
    enum status (*compile)(struct device_run *run, bool counting, struct error *error);
    /* Kernel and columns go to the device's memory; fills compile_ms and load_ms. Once. */
    enum status (*load)(struct device_run *run, struct run_timing *timing, struct error *error);
    /* Fills `partial` (partial_free) and the timing's filter_ms, scan_ms, merge_ms and total_ms. Ctrl-C
     * (cancel_requested): STATUS_INTERRUPTED. A run that failed may only be released. */
    enum status (*run)(struct device_run *run, const struct device_request *request, struct partial *partial,
                       struct run_timing *timing, struct error *error);
    /* Runs once more, slower, over all segments, and counts the bytes of each fact column that are touched (on a GPU in
     * sectors of 32 bytes, engine/gpu/sectors.h) and, if `steps`, what reaches each step. After a run that succeeded. */
    enum status (*count)(struct device_run *run, bool steps, struct scan_counts *counts, struct error *error);
    void (*release)(struct device_run *run); /* NULL is legal */
};

extern const struct device_operations cpu_device, cuda_device;

#endif
