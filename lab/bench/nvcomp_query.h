/*
 * nvcomp_query.h: the time that nvCOMP takes to decompress the columns of a query, one by one, before the query could read
 * them. Each column is in the smallest of the three cascaded schemes FOR+BP, Delta+FOR+BP and RLE+FOR+BP, and is measured
 * once for all queries.
 */
#ifndef TESSERA_LAB_BENCH_NVCOMP_QUERY_H
#define TESSERA_LAB_BENCH_NVCOMP_QUERY_H

#include "engine/plan/plan.h"
#include "lab/bench/nvcomp.h"
#include "ssb/data/generator.h"

struct nvcomp_query {
    struct lab *lab;
    struct nvcomp *nvcomp;
    char missing[NVCOMP_WHY_BYTES]; /* why there are no times, or "" */
    uint32_t column_count;
    struct {
        const struct column *column;
        struct speed speed;
    } columns[SSB_COLUMNS_MAX];
};

/* Close with nvcomp_query_close, also after an error; zero-initialised is legal. */
NODISCARD enum status nvcomp_query_open(struct lab *lab, struct nvcomp_query *query, struct error *error);
void nvcomp_query_close(struct nvcomp_query *query);

/* Adds up the times for the columns that the plan reads, which are int32 in the plain codec; measures those that are new.
 * If that fails in nvCOMP, `missing` says why. */
NODISCARD enum status nvcomp_query_measure(struct nvcomp_query *query, const struct plan *plan,
                                           struct speed *sum, struct error *error);

#endif
