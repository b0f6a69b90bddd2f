/* queries.h: the 13 queries of the Star Schema Benchmark, one file each in this folder. */
#ifndef TESSERA_SSB_QUERIES_QUERIES_H
#define TESSERA_SSB_QUERIES_QUERIES_H

#include "operators/dialect/hand_kernel.h"

#define SSB_QUERIES 13u

struct ssb_query {
    const char *name; /* "q2.1" */
    const char *sql;
    struct hand_kernel kernel; /* runs instead of the kernel that is generated from the SQL */
};

extern const struct ssb_query q11, q12, q13, q21, q22, q23, q31, q32, q33, q34, q41, q42, q43;

/* All of them in order. */
extern const struct ssb_query *const ssb_queries[SSB_QUERIES];

/* "q2.1", "Q2.1" or "q21"; NULL if there is no such query. */
const struct ssb_query *ssb_query_by_name(const char *name);

/* The columns and dimensions that the kernels may name. */
extern const struct kernel_names ssb_names;

#endif
