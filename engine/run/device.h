/*
 * device.h: the interface of devices that run plans: a CPU with its threads, or a GPU. A device prepares a
 * plan, runs it over segments of the fact table, and gives partial results, which can be merged
 * (engine/plan/partial.h). So several devices can share the segments. engine.c opens devices;
 * engine/cpu/device.c and engine/gpu/device.c implement them.
 */
#ifndef TESSERA_ENGINE_RUN_DEVICE_H
#define TESSERA_ENGINE_RUN_DEVICE_H

#include "engine/plan/device/device_window.h"
#include "engine/plan/partial.h"
#include "storage/base/disk/disk_reads.h"
#include "storage/codec/codec_costs.h"

/* Which kernel of a GPU answers a statement: its own, which is compiled for it, or the general one, which is compiled ahead and
 * reads the plan as data. KERNEL_AUTO: the general one until the own one is compiled; the own one if the run is timed.
 * KERNEL_GENERAL: that one, wherever it covers the plan. */
enum kernel_choice { KERNEL_AUTO, KERNEL_GENERAL, KERNEL_SPECIALISED };

#define KERNEL_WHY_BYTES 160u

/* Times in milliseconds. What a statement takes from its text to its rows is the sum (run_timing_sum) of parse, bind, plan,
 * compile, load, total, fetch, operators and output, but for 5 % of it or less. A part that was done for an earlier run is 0. */
struct run_timing {
    double parse_ms; /* the text becomes a syntax tree */
    double bind_ms;  /* names and types are found, and the tree of operators is rewritten */
    double plan_ms, compile_ms, load_ms; /* before the run; compile and load are 0 on a CPU */
    double fetch_ms; /* the rest of engine_run: launches, waiting, reading the states; exact on one device */
    double operators_ms; /* joins, sorts, windows and sets between and above the scans, on the host */
    double open_ms;      /* part of load_ms: waiting until the GPU is open, which begins with the engine */

    /* The parts of a run: dimension predicates and clearing of states; the scan of the fact table; decoding
     * of a staged plan's columns into scratch memory, which comes first; merging of the threads' states,
     * which is 0 on a GPU. On a GPU, filter and scan are timed only if the run was prepared as `timed`. Of several
     * devices each part is that of the one that takes longest, and merge_ms has the merge of their results too. */
    double filter_ms;
    double scan_ms;
    double stage_ms;
    double merge_ms;

    /* From the first operation until the result is complete on the device. On a CPU it is the sum of the
     * parts. On a GPU the parts are timed in launches of their own, and only the total has the time between
     * kernels. Of several devices it is the longest one's, and the merge of their results; if a GPU merges
     * (team_run), it is measured on that GPU, from its first operation until the merged result is complete. */
    double total_ms;
    double exchange_ms; /* part of total_ms: several processes agree, and merge their results; else 0 */
    double output_ms;   /* on the host: output expressions, HAVING, order, text */
    uint64_t bytes;     /* the size of the encoded fact columns that are read */

    /* The bytes of columns that the run moved to a GPU, because they are not kept there: copied, and (as the plan
     * expects) read by kernels from the host's memory. */
    uint64_t moved_bytes;

    /* The most that the statement had of its account of memory (memory_account.h); sql_run fills it. */
    uint64_t memory_bytes;
    uint64_t spilled_bytes; /* that were in files instead; likewise */

    /* Of the last run of a plan on a GPU: which kernel answered, KERNEL_AUTO for none; and why the general one does not cover
     * the plan, if it was asked for. */
    enum kernel_choice kernel;
    char kernel_why[KERNEL_WHY_BYTES];

    /* Of the last run of a plan on a GPU: why groups that it should finish were copied to the host, or NULL. */
    const char *groups_why;

    /* What came from the disk: for the plan, which opens and checks columns, and for loading and the run. The caller of
     * the engine fills these. */
    struct disk_reads plan_reads, run_reads;
};

static inline double run_timing_sum(const struct run_timing *timing)
{
    return timing->parse_ms + timing->bind_ms + timing->plan_ms + timing->compile_ms + timing->load_ms +
           timing->total_ms + timing->fetch_ms + timing->operators_ms + timing->output_ms;
}

/* Which columns that a GPU does not keep its kernels read from the host's memory instead of having them copied: those of
 * which that moves fewer bytes, none, or all. */
enum late_transfer { LATE_AUTO, LATE_OFF, LATE_ON };

/* What a device is opened with. */
struct device_options {
    unsigned ordinal; /* of the GPU */
    unsigned threads; /* of the CPU, at least 1 */
    uint64_t
        memory; /* the most bytes of a GPU's memory that are taken; UINT64_MAX: what is free, less a reserve */
    enum late_transfer late; /* whether a GPU's kernels read what is not kept from the host's memory */
    enum kernel_choice kernel;
};

/* The segments of a plan's fact table that a device has, ascending. */
struct device_share {
    const uint32_t *segments;
    uint32_t count;
};

/* The segments to run over, and the kind of result. */
struct device_request {
    const uint32_t *segments; /* ascending, all in the run's share; NULL: the whole share */
    uint32_t segment_count;
    /* The result has the values of each count(distinct), which partial_merge needs. Else, if it is of the whole share, it is
     * the whole result, and groups that cannot be in the answer may be missing. */
    bool mergeable;
    /* NULL, or what may take the groups instead, if the result is the whole one. A device need not. */
    struct group_sink *sink;
};

struct device;
struct group_sink;  /* engine/plan/partial.h */
struct device_run;  /* a plan that is prepared on a device */
struct device_team; /* runs of one plan, each on a device of its own */

/* Of a run of several devices together. */
struct team_timing {
    bool merged;     /* false: they cannot run together this time, and nothing has been done */
    double merge_ms; /* the merge alone */
    double total_ms; /* as in struct run_timing, with the merge, measured on the device that merges */
    uint64_t bytes;  /* of the others' states, which the merge reads */
};

struct database;

struct device_operations {
    /* ---- The device ---- */

    /* Opens the device. STATUS_MACHINE with the reason if it cannot be used. */
    enum status (*open)(const struct device_options *options, struct device **device, struct error *error);
    void (*close)(struct device *device);
    /* Gives the name of the first GPU, "NVIDIA H200", under which cost tables are kept, without opening it;
     * false if there is none. NULL for the CPU, which always exists. */
    bool (*find)(char name[CODEC_COSTS_DEVICE_BYTES]);
    /* Counts the devices of this kind, at least 1. NULL for the CPU. */
    enum status (*number)(unsigned *devices, struct error *error);
    /* "NVIDIA H200 (cuda:0)", "CPU, 2 threads, avx512" */
    const char *(*text)(const struct device *device);
    /* Measures the device's read bandwidth, in a fraction of a second. */
    enum status (*read_ceiling)(struct device *device, double *bytes_per_second, struct error *error);
    /* Measures the rate at which pinned host memory is copied to the device. NULL for the CPU. */
    enum status (*link_rate)(struct device *device, double *bytes_per_second, struct error *error);
    /* Measures the time of a plan's launches without their work. NULL for the CPU, which launches nothing. */
    enum status (*launch_floor)(struct device *device, double *ms, struct error *error);

    /* After a change: what the device keeps of columns of `from` it keeps as that of the same columns of `to`, as far as these
     * have the same files, and forgets the rest. Both are open, and no plan over `from` is left. NULL for the CPU, which keeps
     * nothing. */
    void (*follow)(struct device *device, struct database *from, struct database *to);

    /* ---- Plans ---- */

    /* Adapts a plan to the device, which must be done before it is prepared: marks columns that are decoded before the
     * scan (plan_column.crowded). NULL: the device takes plans as they are. */
    enum status (*fit)(struct device *device, struct plan *plan, struct error *error);
    /* Decides how the plan is run over the segments of `share`, NULL: all; uses no memory of the device yet. The
     * plan must outlive the run, but `share` need not. `timed`: the run measures filter_ms and scan_ms, for which
     * a GPU runs the plan twice. */
    enum status (*prepare)(struct device *device, const struct plan *plan, const struct device_share *share,
                           bool timed, struct device_run **run, struct error *error);
    /* Compiles the run's kernel or, if `counting`, the kernel of `count`, unless it is compiled already. May
     * be called for several runs in parallel. NULL if the device compiles nothing at run time. */
    enum status (*compile)(struct device_run *run, bool counting, struct error *error);
    /* Loads kernel and columns into the device's memory, and fills compile_ms, load_ms and open_ms. Call it once. */
    enum status (*load)(struct device_run *run, struct run_timing *timing, struct error *error);
    /* Runs the plan; fills `partial` (partial_free) and the timing's filter_ms, scan_ms, merge_ms and
     * total_ms. STATUS_INTERRUPTED on Ctrl-C (cancel_requested). A run that failed can only be released. */
    enum status (*run)(struct device_run *run, const struct device_request *request, struct partial *partial,
                       struct run_timing *timing, struct error *error);
    /* Runs the plan again over all segments, more slowly, and counts the bytes of each fact column that it
     * touches (on a GPU in sectors of 32 bytes, engine/gpu/sectors.h) and, if `steps`, the rows that reach
     * each step. Call it after a successful run. */
    enum status (*count)(struct device_run *run, bool steps, struct scan_counts *counts, struct error *error);
    void (*release)(struct device_run *run); /* NULL is legal */

    /* Copies a column of rows that the device has (device_rows.h) to the host: `rows` values, and if it has a validity as many
     * marks of NULLs, else none. NULL: the device makes no such rows. */
    enum status (*fetch)(const struct device_rows *rows, uint32_t column, int64_t *values, uint8_t *nulls,
                         struct error *error);
    /* Adds a column for each window function to rows that the device has, and then frees those of the others that are not kept.
     * `kept` has a word for each of the others, and then true for each function. The rows may come in another order. *why says
     * why it cannot compute one of them: some may be added then, and no other column is changed; NULL: all are. */
    enum status (*windows)(struct device_rows *rows, const struct device_window *windows, uint32_t count,
                           const bool *kept, const char **why, struct error *error);

    /* ---- Several devices that merge their results themselves; NULL: they cannot ---- */

    /* Makes a team of loaded runs of one plan over disjoint shares, which must outlive it. *team is NULL if they cannot
     * merge their states: the host then merges their partial results. */
    enum status (*team_open)(struct device_run *const *runs, uint32_t count, struct device_team **team,
                             struct error *error);
    /* Runs all over their shares; fills `partial`, the merged result, `mergeable` as of a request, the timings of those
     * that have tiles to read, and `timing`. */
    enum status (*team_run)(struct device_team *team, bool mergeable, struct partial *partial,
                            struct run_timing *const *timings, struct team_timing *timing,
                            struct error *error);
    void (*team_close)(struct device_team *team); /* NULL is legal */
};

extern const struct device_operations cpu_device, cuda_device;

#endif
