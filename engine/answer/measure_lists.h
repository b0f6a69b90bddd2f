/*
 * measure_lists.h: the values of each group, in order, for the measures that need all of them
 * (engine/plan/grouping/grouping.h). The groups of the scan, which have an answer's group and a value each, are sorted by
 * both: so the answer's groups follow each other, and each has its values in order.
 *
 *     places    scanned groups | group 0: least value ... greatest | group 1: ...
 *     starts                     ^                                   ^
 */
#ifndef TESSERA_ENGINE_ANSWER_MEASURE_LISTS_H
#define TESSERA_ENGINE_ANSWER_MEASURE_LISTS_H

#include "engine/aggregate/measure.h"
#include "engine/plan/partial.h"

/* Valid if zero-initialised. */
struct measure_lists {
    const struct plan *plan;
    const struct partial *scanned;
    unsigned threads;
    uint64_t *numbers[PLAN_KEY_WORDS_MAX]; /* of the scanned groups in the set */
    const struct plan_measure *measure;    /* whose order it is; NULL: none */
    uint64_t *places;
    uint8_t *marks; /* of each place (sort_rows.h) */
    uint64_t count; /* of the answer's groups */
    uint64_t *starts;
    uint64_t *block_rows; /* the rows of each MEASURE_BLOCK places; NULL: no group has so many */
};

#define MEASURE_BLOCK 16384u

/* Opens the lists of grouping set `s`, which have no order. Free them also after an error. */
NODISCARD enum status measure_lists_open(const struct plan *plan, const struct partial *scanned, uint32_t s,
                                         unsigned threads, struct measure_lists *lists, struct error *error);
void measure_lists_free(struct measure_lists *lists);

/* Sorts the lists as a measure wants them. Groups stay where they are. */
NODISCARD enum status measure_lists_sort(struct measure_lists *lists, const struct plan_measure *measure,
                                         struct error *error);

/* Makes the groups, with the states of aggregates. The lists have an order. */
NODISCARD enum status measure_lists_groups(const struct measure_lists *lists, struct partial *groups,
                                           struct error *error);

/* The entry of a place; false: it counts in no list, because its value is NULL. */
bool measure_entry_at(const struct measure_lists *lists, uint64_t place, struct measure_entry *entry);

/* The rows at these places. */
uint64_t measure_rows_of(const struct measure_lists *lists, uint64_t begin, uint64_t end);

/* The place of places begin .. end - 1 at which row `row` of them is; *skipped becomes the number of rows before it. */
uint64_t measure_place_of(const struct measure_lists *lists, uint64_t begin, uint64_t end, uint64_t row,
                          uint64_t *skipped);

#endif
