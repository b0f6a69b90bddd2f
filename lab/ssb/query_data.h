/*
 * query_data.h: the columns of lineorder that a query of lab/kernels/published reads, what its joins need, and its answer by the host.
 */
#ifndef TESSERA_LAB_SSB_QUERY_DATA_H
#define TESSERA_LAB_SSB_QUERY_DATA_H

#include "lab/bench/dataset.h"
#include "ssb/data/generator.h"

#define QUERY_COLUMNS    4u
#define QUERY_GROUPS_MAX 280u
#define QUERIES          2u

/* A byte for each key of a column, from `first` on (query_cuda.h); bytes NULL: the column is no key. */
struct query_dimension {
    int32_t first;
    uint32_t count;
    uint8_t *bytes;
};

struct query_data {
    uint64_t rows;
    struct dataset columns[QUERY_COLUMNS];
    struct query_dimension dimensions[QUERY_COLUMNS];
    int64_t sums[QUERY_GROUPS_MAX]; /* the answer: a sum for each group */
};

struct query_kind {
    const char *name;                /* "Q1.1" */
    const char *kernel;              /* "q11": lab/kernels/published/q11_cuda.h */
    uint32_t columns[QUERY_COLUMNS]; /* of lineorder, in the kernel's order */
    bool joins;                      /* its keys have dimensions */
    uint32_t groups;
    /* The row's group and the number that it adds; -1: it does not pass. For query_data_make. */
    int32_t (*row)(const struct query_data *data, const int32_t values[QUERY_COLUMNS], int64_t *number);
};
extern const struct query_kind query_kinds[QUERIES];

/* Makes the data of scale factor 20 at --scale, on all threads. Free with query_data_free, also after an error. */
NODISCARD enum status query_data_make(struct lab *lab, const struct query_kind *kind, struct query_data *data,
                                      struct error *error);
void query_data_free(struct lab *lab, struct query_data *data);

#endif
