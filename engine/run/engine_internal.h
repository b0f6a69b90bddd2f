/* engine_internal.h: what the files of engine/run/ know of an engine and of its plans. */
#ifndef TESSERA_ENGINE_RUN_ENGINE_INTERNAL_H
#define TESSERA_ENGINE_RUN_ENGINE_INTERNAL_H

#include "engine/run/device_list.h"
#include "engine/run/engine.h"

/* One device of an engine. */
struct member {
    struct device *device;
    unsigned threads; /* of the host */
};

struct engine {
    const struct device_operations *operations; /* of all members */
    uint32_t member_count;
    struct member members[DEVICES_MAX];

    /* The members that share a table's segments, and the number of this engine's first one among them. */
    uint32_t sharers, first_sharer;
    unsigned threads;
    struct cluster *cluster;       /* the processes that answer together, or NULL */
    struct device_options options; /* of each device, but for its number and its threads */
    struct memory_account memory;
    char *spill;         /* or NULL */
    double read_ceiling; /* bytes a second; 0 until measured */
    char text[ERROR_TEXT_BYTES];
    char why_cpu[ERROR_TEXT_BYTES]; /* the reason if "auto" found no GPU that can be used, else "" */
};

/* A plan on one member. With a single sharer there is no share: the member has all segments. */
struct member_run {
    struct device_run *run;
    uint32_t *segments, segment_count;
    struct run_timing timing;   /* of the last run */
    struct partial partial;     /* while it runs */
    uint64_t tiles, bytes;      /* that the scan reads; after engine_count */
    struct scan_counts *counts; /* while it counts */
};

struct prepared_plan {
    struct engine *engine;
    const struct plan *plan;
    bool loaded;
    struct device_team *team;         /* NULL: the host merges */
    struct engine_exchange exchange;  /* of the last run */
    struct engine_process *processes; /* of a cluster, one a process; after engine_count */
    struct member_run members[];      /* engine->member_count */
};

/* ---- members.c: the calls of engine.h for each member, each on a thread of its own ---- */

NODISCARD enum status members_prepare(struct prepared_plan *prepared, bool timed, struct error *error);
NODISCARD enum status members_load(struct prepared_plan *prepared, struct run_timing *timing,
                                   struct error *error);
NODISCARD enum status members_run(struct prepared_plan *prepared, const struct device_request *request,
                                  struct partial *partial, struct run_timing *timing, struct error *error);
NODISCARD enum status members_count(struct prepared_plan *prepared, bool steps, struct scan_counts *counts,
                                    struct error *error);
/* The sum of what `measure` gives for the members, all at once. */
typedef enum status device_rate(struct device *device, double *bytes_per_second, struct error *error);
NODISCARD enum status members_rate(struct engine *engine, device_rate *measure, double *bytes_per_second,
                                   struct error *error);
void members_release(struct prepared_plan *prepared);

#endif
