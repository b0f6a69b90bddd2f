/*
 * index_terms.h: conditions of a plan as vectors of bitmap indexes: the candidates of the plan's index step. Made once a
 * statement; at most PLAN_INDEX_TERMS_MAX of them.
 */
#ifndef TESSERA_ENGINE_PLAN_INDEX_INDEX_TERMS_H
#define TESSERA_ENGINE_PLAN_INDEX_INDEX_TERMS_H

#include "engine/plan/planner.h"

/* Stored values of a fact column that pass: low .. high; of these only the members of a set, if there is one. */
struct index_values {
    int64_t low, high;
    const struct value_table *set;        /* or NULL: sorted values */
    const struct position_set *positions; /* or NULL: rows of a dimension */
};

struct index_condition {
    uint32_t column; /* of the plan */
    uint32_t step;   /* the first step that says this */
    struct index_values values;
};

#define INDEX_NO_CONDITION UINT32_MAX

/* Lists the conditions of the plan that the indexes of their columns can decide; returns their number. of_step[s] gets the
 * condition that step s of the plan says, and nothing else, or INDEX_NO_CONDITION. */
uint32_t index_conditions_find(const struct plan *plan,
                               struct index_condition conditions[PLAN_INDEX_TERMS_MAX], uint32_t *of_step);

/* Finds the vectors of a condition; term->index stays NULL. The caller frees term->runs, also after an error. *vectors
 * gets their number. */
NODISCARD enum status index_term_find(const struct plan *plan, const struct index_condition *condition,
                                      struct plan_index_term *term, uint32_t *vectors, struct error *error);

/* What the words of a term's vectors are, in all segments, once its index is open. */
struct index_words {
    uint64_t sparse;  /* words of vectors that have fills */
    uint64_t dense;   /* words of flat vectors, and of those that are nearly all literals */
    uint64_t vectors; /* that have a row, in each segment */
    uint64_t pieces;  /* of these vectors, of WAH_PIECE_ROWS rows each */
    uint64_t rows;
    uint64_t bytes; /* of words and pieces */
};
struct index_words index_term_words(const struct plan_index_term *term);

#endif
