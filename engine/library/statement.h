/*
 * engine/library/statement.h: statements of SQL over a database: prepared, run any number of times with other parameters, on
 * the CPU or a GPU. The one way to ask anything; engine/library/tessera.h is its face for programs outside.
 */
#ifndef TESSERA_ENGINE_LIBRARY_STATEMENT_H
#define TESSERA_ENGINE_LIBRARY_STATEMENT_H

#include "engine/answer/rowset.h"
#include "engine/run/engine.h"
#include "engine/sql/sql.h"

struct sql_statement;

/* Parses the first statement of `text`; see sql_parse for *used and empty text (*statement is NULL). `codec` as in
 * sql_bind. Engine and database must stay open. */
NODISCARD enum status sql_prepare(struct engine *engine, struct database *database, const char *text,
                                  size_t length, const char *codec, struct sql_statement **statement,
                                  size_t *used, struct error *error);
void sql_statement_free(struct sql_statement *statement);
uint32_t sql_parameter_count(const struct sql_statement *statement);

/* Sets parameter `index` (from 0); strings are copied. All are NULL at first. */
NODISCARD enum status sql_parameter_set(struct sql_statement *statement, uint32_t index,
                                        const struct sql_parameter *value, struct error *error);

/* How a statement is run, if not by default: by a kernel that was written by hand, which must answer it
 * (plan_use_kernel); with the times of filter and scan, for which a GPU runs twice; staged, so that its columns are
 * decoded into scratch memory first. Takes effect with the next plan. */
struct sql_settings {
    const struct hand_kernel *kernel; /* NULL: the one made from the plan */
    bool timed, staged;
};
void sql_statement_set(struct sql_statement *statement, struct sql_settings settings);

/* Plans (again only after a parameter was set, or a run failed), runs, and fills `rows` (rowset_free) and `timing`, which
 * may be NULL. EXPLAIN statements give their text. */
NODISCARD enum status sql_run(struct sql_statement *statement, struct rowset *rows, struct run_timing *timing,
                              struct error *error);

/* ---- The steps of sql_run apart, for those who run many statements ---- */

/* Plans the statement if that is not done; *plan is the statement's, until it is planned again. */
NODISCARD enum status sql_plan(struct sql_statement *statement, const struct plan **plan,
                               struct error *error);

/* Plans `count` statements of one engine and compiles their kernels at once (engine_compile). */
NODISCARD enum status sql_compile(struct sql_statement *const *statements, uint32_t count, bool counting,
                                  struct progress *progress, struct error *error);

/* Runs and brings nothing to the host's side: for those who measure. */
NODISCARD enum status sql_measure(struct sql_statement *statement, struct run_timing *timing,
                                  struct error *error);

/* Runs once more and counts, as in struct device_operations; after a run that succeeded. */
NODISCARD enum status sql_count(struct sql_statement *statement, bool steps, struct scan_counts *counts,
                                struct error *error);

#endif
