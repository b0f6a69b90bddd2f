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

#include "storage/column/column.h"

struct index_data; /* storage/index/index_file.h */

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

/* A condition on a column that has an index, for EXPLAIN. */
struct plan_index_candidate {
    const struct column *column;
    bool used, exact;
    bool opened;      /* if not, the numbers follow from the catalogue: it could not pay */
    uint32_t vectors; /* that the condition needs */
    uint32_t of;      /* all of the index */
    uint64_t bytes;   /* of the words and pieces of these vectors */

    /* Of the mask by this index, and of the step that reads the column, if nothing else had dropped rows: on a CPU
     * cycles a row, on a GPU bytes a row. */
    double index_cost, step_cost;
};

struct plan_index {
    uint32_t term_count; /* 0: the plan uses no index */
    struct plan_index_term terms[PLAN_INDEX_TERMS_MAX];
    uint32_t candidate_count;
    struct plan_index_candidate candidates[PLAN_INDEX_TERMS_MAX];
};

/* Whether a plan uses indexes: where they are expected to pay, wherever they can decide, or nowhere. */
enum plan_index_use { PLAN_INDEX_AUTO, PLAN_INDEX_ON, PLAN_INDEX_OFF };

#endif
