/*
 * decode_first.h: the time to decode the columns of a query to memory, one by one, before the query reads them: by nvCOMP, each column in
 * the smallest of the three cascaded schemes FOR+BP, Delta+FOR+BP and RLE+FOR+BP; or by the published method of the codec that each
 * column has. A column is measured once for all queries, and every decoded value is compared.
 */
#ifndef TESSERA_LAB_SSB_DECODE_FIRST_H
#define TESSERA_LAB_SSB_DECODE_FIRST_H

#include "engine/plan/plan.h"
#include "lab/bench/nvcomp.h"
#include "lab/published/published.h"
#include "ssb/data/generator.h"

#define DECODE_FIRST_COLUMNS ((PUBLISHED_METHODS + 1) * SSB_COLUMNS_MAX)

struct decode_first {
    struct lab *lab;
    struct nvcomp *nvcomp;
    char nvcomp_missing[NVCOMP_WHY_BYTES],
        published_missing[NVCOMP_WHY_BYTES]; /* why there are no times, or "" */
    uint32_t column_count;
    struct decode_first_column {
        const struct column *column;
        const struct published_method *method; /* NULL: nvCOMP */
        struct speed speed;
    } columns[DECODE_FIRST_COLUMNS];
};

/* Close with decode_first_close, also after an error; zero-initialised is legal. */
NODISCARD enum status decode_first_open(struct lab *lab, struct decode_first *first, struct error *error);
void decode_first_close(struct decode_first *first);

/* Adds up nvCOMP's times for the columns that the plan reads, which are int32 in the plain codec; measures those that are new.
 * If that fails in nvCOMP, `nvcomp_missing` says why. */
NODISCARD enum status decode_first_nvcomp(struct decode_first *first, const struct plan *plan,
                                          struct speed *sum, struct error *error);

/* The same by published methods: `plain` is the plan over plain columns, `plan` that of the same query over columns in the codecs whose
 * methods are meant, each of which must have one. Without a GPU, or without what a method needs, `published_missing` says so. */
NODISCARD enum status decode_first_published(struct decode_first *first, const struct plan *plain,
                                             const struct plan *plan, struct speed *sum, struct error *error);

#endif
