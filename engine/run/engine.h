/*
 * engine/run/engine.h: runs plans on the CPU or on one GPU.
 *
 * engine_open once. engine_prepare decides how a plan is run; engine_compile compiles the kernels of many on
 * all threads, engine_load brings one to the device, engine_run answers, any number of times. Statements of SQL do all this
 * (engine/library/statement.h).
 */
#ifndef TESSERA_ENGINE_RUN_ENGINE_H
#define TESSERA_ENGINE_RUN_ENGINE_H

#include "engine/run/device.h"

struct engine;
struct prepared_plan;

/* From now on `auto` chooses codecs by the costs of this machine's GPU, if it has one (storage/codec/codec_costs.h). For
 * programs that load data; costs nothing until a choice is made. */
void engine_choose_by_device(void);

/* `device`: "cpu"; "cuda" or "cuda:N", which fail with STATUS_MACHINE where that GPU cannot be used; "auto",
 * which takes the first GPU if it can and else the CPU. threads: 0 for all. */
NODISCARD enum status engine_open(const char *device, unsigned threads, struct engine **engine,
                                  struct error *error);
void engine_close(struct engine *engine);

/* "NVIDIA H200 (cuda:0)" or "CPU, 2 threads, avx512"; if "auto" took the CPU, engine_why_cpu says why, else
 * it is NULL. */
const char *engine_device_text(const struct engine *engine);
const char *engine_why_cpu(const struct engine *engine);
bool engine_is_cuda(const struct engine *engine);
unsigned engine_threads(const struct engine *engine);

/* The device itself, for those who know which one it is (engine/gpu/device.h). */
struct device *engine_device(const struct engine *engine);

/* How fast this device can read memory, in bytes a second: measured by the first call (a fraction of a
 * second). */
NODISCARD enum status engine_read_ceiling(struct engine *engine, double *bytes_per_second,
                                          struct error *error);

/* ---- Plans: each call as in struct device_operations ---- */

/* The plan and the engine must outlive what is prepared. */
NODISCARD enum status engine_prepare(struct engine *engine, const struct plan *plan, bool timed,
                                     struct prepared_plan **prepared, struct error *error);

/* Compiles the kernels of all `count` plans at once, on all threads (a kernel takes 0.3 to 2 seconds of one),
 * `counting`: also those that count bytes. They are kept in memory until they are loaded, and in the cache of kernels if
 * there is one. Never needed: what is not compiled is compiled when it is loaded. On a CPU there is nothing to do. */
NODISCARD enum status engine_compile(struct engine *engine, struct prepared_plan *const *prepared,
                                     uint32_t count, bool counting, struct progress *progress,
                                     struct error *error);

NODISCARD enum status engine_load(struct prepared_plan *prepared, struct run_timing *timing,
                                  struct error *error);

/* Loads the plan if that is not done. */
NODISCARD enum status engine_run(struct prepared_plan *prepared, const struct device_request *request,
                                 struct partial *partial, struct run_timing *timing, struct error *error);

NODISCARD enum status engine_count(struct prepared_plan *prepared, bool steps, struct scan_counts *counts,
                                   struct error *error);
void engine_release(struct prepared_plan *prepared); /* NULL is legal */

#endif
