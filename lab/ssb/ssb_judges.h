/*
 * ssb_judges.h: runs of the 13 queries over an experiment's databases (ssb_databases.h), each answer compared with the plain codec's on the
 * same device.
 */
#ifndef TESSERA_LAB_SSB_SSB_JUDGES_H
#define TESSERA_LAB_SSB_SSB_JUDGES_H

#include "lab/ssb/ssb_databases.h"
#include "ssb/benchmark/judge.h"

struct ssb_judges {
    struct benchmark_options options; /* all queries, compared with plain */
    struct judge judges[SSB_ORDERS];
    FILE *notes; /* why an answer is wrong */
    char *text;
    size_t bytes;
};

/* lab->ssb is open. Close with ssb_judges_close, also after an error; zero-initialised is legal. */
NODISCARD enum status ssb_judges_open(struct lab *lab, struct ssb_judges *judges, struct error *error);
void ssb_judges_close(struct ssb_judges *judges);

/* Runs a statement of query `q`, an index into ssb_queries, over the database of that order. A wrong answer is STATUS_CHECK_FAILED and names
 * `system`. */
NODISCARD enum status ssb_judged_run(struct ssb_judges *judges, struct sql_statement *statement, uint32_t q,
                                     enum ssb_order order, const char *system, struct run_timing *timing,
                                     struct error *error);

#endif
