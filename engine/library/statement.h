/*
 * engine/library/statement.h: statements of SQL over a database: prepared, run any number of times with other parameters, on the
 * CPU or a GPU. engine/library/tessera.h is the face of this for programs outside.
 */
#ifndef TESSERA_ENGINE_LIBRARY_STATEMENT_H
#define TESSERA_ENGINE_LIBRARY_STATEMENT_H

#include "engine/run/engine.h"
#include "engine/answer/rowset.h"
#include "engine/sql/sql.h"

struct run_timing {
    double plan_ms, compile_ms, load_ms; /* before the run; compile and load are 0 on a CPU */
    double filter_ms, scan_ms, total_ms; /* dimension conditions; the scan; both and what joins results. On a
                                            GPU the first two are measured only of a run that was opened `timed` */
    double output_ms;                    /* the host's part: HAVING, order, text */
    uint64_t bytes;                      /* of the encoded fact columns that are read */
};

/* The plan as rows of text (one column, "plan"), and of a run that was analysed (`counts` not NULL) with rows, bytes,
 * time, GB/s and share of the ceiling (bytes a second) a step. */
NODISCARD enum status sql_explain(const struct plan *plan, const struct engine *engine,
                                  const struct scan_counts *counts, const struct run_timing *timing,
                                  double read_ceiling, struct rowset *rows, struct error *error);

/* ---- Devices: engine/cpu/run.c, engine/gpu/run.c ---- */

struct device_run; /* a plan made ready on a device */

struct plan_device {
    /* The plan must outlive the run. On a GPU: compiles (or takes from the cache) and uploads. */
    enum status (*open)(struct engine *engine, struct plan *plan, bool timed, struct device_run **run,
                        struct run_timing *timing, struct error *error);
    /* Fills `groups` (partial_free) and the timing's filter_ms, scan_ms, total_ms. Ctrl-C (cancel_requested):
     * STATUS_INTERRUPTED. */
    enum status (*run)(struct device_run *run, struct partial *groups, struct run_timing *timing,
                       struct error *error);
    /* Runs once more, slower, and counts; after a run that succeeded. On a GPU it compiles two more kernels: one with
     * counters between the steps, one that marks the sectors of memory that it touches (engine/gpu/sectors.h). */
    enum status (*count)(struct device_run *run, struct scan_counts *counts, struct error *error);
    void (*close)(struct device_run *run); /* NULL is legal */
};
extern const struct plan_device cpu_device, cuda_device;

/* ---- Output: engine/answer/output.c ---- */

/* The answer from what a device brought back: output expressions, HAVING, order, limit. */
NODISCARD enum status star_output(const struct plan *plan, const struct partial *groups, unsigned threads,
                                  struct rowset *rows, struct error *error);

/* ---- Statements: engine/library/statement.c ---- */

struct sql_statement;

/* Parses the first statement of `text`; see sql_parse for *used and empty text (*statement is NULL). */
NODISCARD enum status sql_prepare(struct engine *engine, struct database *database, const char *text,
                                  size_t length, const char *codec, struct sql_statement **statement,
                                  size_t *used, struct error *error);
void sql_statement_free(struct sql_statement *statement);
uint32_t sql_parameter_count(const struct sql_statement *statement);

/* Sets parameter `index` (from 0); strings are copied. All are NULL at first. */
NODISCARD enum status sql_parameter_set(struct sql_statement *statement, uint32_t index,
                                        const struct sql_parameter *value, struct error *error);

/* Plans (again only after a parameter was set), runs, and fills `rows` (rowset_free) and `timing`, which may be
 * NULL. EXPLAIN statements give their text. */
NODISCARD enum status sql_run(struct sql_statement *statement, struct rowset *rows, struct run_timing *timing,
                              struct error *error);

#endif
