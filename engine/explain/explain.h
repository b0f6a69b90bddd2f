/* explain.h: EXPLAIN, which describes a plan in words, and EXPLAIN ANALYZE, which runs it and counts. */
#ifndef TESSERA_ENGINE_EXPLAIN_EXPLAIN_H
#define TESSERA_ENGINE_EXPLAIN_EXPLAIN_H

#include "engine/answer/rowset.h"
#include "engine/run/engine.h"

/* A plan, and the figures of its runs. */
struct explained {
    const struct plan *plan;
    const struct engine *engine;
    const struct prepared_plan *prepared; /* of an analysed run */
    const struct scan_counts *counts;     /* NULL: the plan was not run */
    const struct run_timing *timing;      /* of an analysed run: medians */
    double read_ceiling;                  /* bytes a second that the devices read at most; 0: not known */
};

/* Is told each plan that EXPLAIN ANALYZE has run: a statement has one, or one for each level. */
struct explain_observer {
    enum status (*analysed)(void *context, const struct explained *run, struct error *error);
    void *context;
};

/* Gives the plan as rows of text, in one column "plan". For an analysed run each step has its rows, bytes, time, GB/s and
 * percentage of the read ceiling, and each of several devices that ran it has its share. */
NODISCARD enum status sql_explain(const struct explained *explained, struct rowset *rows,
                                  struct error *error);

/* Runs a plan again, after a first run whose times are *timing: a few times for medians, which *timing gets, and once to
 * count. Gives sql_explain's rows, and tells the observer unless that is NULL. The plan was prepared as `timed`. */
NODISCARD enum status explain_analyse(struct engine *engine, const struct plan *plan,
                                      struct prepared_plan *prepared, const struct explain_observer *observer,
                                      struct run_timing *timing, struct rowset *rows, struct error *error);

/* ---- The figures one by one ---- */

/* True if the run was analysed and read the fact table. */
bool explain_has_steps(const struct explained *explained);

/* What step s does: "semi-join"; and with what: "lo_suppkey -> supplier where ...". */
const char *explain_step_kind(const struct plan_step *step);
void explain_step_words(const struct plan *plan, uint32_t s, FILE *out);

/* The bytes of the columns that step s is the first to read, and its milliseconds of the scan; s is step_count for the
 * grouping of rows that pass. An index step reads none: its mask is made before the scan. */
uint64_t explain_step_bytes(const struct explained *explained, uint32_t s);
double explain_step_ms(const struct explained *explained, uint32_t s);

uint64_t explain_scan_bytes(const struct explained *explained);

/* The rows of the fact table, and of all its parts if processes have them. */
uint64_t explain_fact_rows(const struct explained *explained);

#endif
