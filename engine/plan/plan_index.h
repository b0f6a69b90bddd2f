/*
 * plan_index.h: the conditions of a plan that bitmap indexes decide (storage/index/index_file.h).
 *
 * All of them together are one step of the plan, STEP_INDEX, which is the first: a mask with a bit for each row of the
 * fact table, made before the scan. Within a term the vectors of its runs are ORed; terms are ANDed. A device makes the
 * mask for the tiles that it scans, from the compressed vectors, and the scan begins with it instead of with all rows.
 * What an index decides only in part (a bin that an end of the range lies in) keeps its range step or semi-join, too.
 */
#ifndef TESSERA_ENGINE_PLAN_PLAN_INDEX_H
#define TESSERA_ENGINE_PLAN_PLAN_INDEX_H

#include "storage/index/index_file.h"

#define PLAN_INDEX_TERMS_MAX 16u

/* Vectors first .. first + count - 1 of an index. */
struct plan_index_run {
    uint32_t first, count;
};

/* A condition on one column: a row passes if its bit is set in a vector of a run. */
struct plan_index_term {
    const struct index_data *index; /* belongs to the database */
    uint32_t run_count;
    struct plan_index_run *runs; /* ascending, none touch; owned by the plan */
    uint64_t bytes;              /* of words and pieces of these vectors, in all segments */
    double share; /* of the fact table's rows: exact, from the vectors' numbers of rows, if `exact` */
    bool exact;   /* no row of the vectors fails the condition */
};

struct plan_index {
    uint32_t term_count; /* 0: the plan uses no index */
    struct plan_index_term terms[PLAN_INDEX_TERMS_MAX];
};

#endif
