/*
 * regrouped.h: the groups of an answer that are not those of the scan: those of grouping sets, and those whose measures
 * need all values of an argument (engine/plan/grouping/grouping.h).
 */
#ifndef TESSERA_ENGINE_ANSWER_REGROUPED_H
#define TESSERA_ENGINE_ANSWER_REGROUPED_H

#include "engine/aggregate/measure.h"
#include "engine/answer/rowset.h"
#include "engine/plan/partial.h"

/* A measure of all groups. */
struct measure_column {
    int64_t *values;
    uint8_t *nulls;

    /* RESULT_TEXT: values are codes of this dictionary, which is sorted. Until regrouped_finish, values are pointers
     * to blocks of memory, struct measure_text, that belong to the column. */
    struct dictionary *strings;
    bool texts;
    uint64_t measured;           /* groups that have values */
    struct memory_charge charge; /* of the strings */
};

struct measure_text {
    uint64_t length;
    char bytes[];
};

struct regrouped {
    struct partial groups;
    uint32_t *sets; /* the grouping set of each group */
    struct measure_column measures[PLAN_MEASURES_MAX];
    bool none; /* the scan found no row: the groups, which are those of empty sets, have none */
};

/* Makes the groups from those of the scan. Free with regrouped_free, also after an error. */
NODISCARD enum status regrouped_make(const struct plan *plan, const struct partial *scanned, unsigned threads,
                                     struct regrouped *regrouped, struct error *error);
void regrouped_free(struct regrouped *regrouped);

/* True if a term of GROUP BY is in the set of the group. */
static inline bool regrouped_has(const struct plan *plan, const struct regrouped *regrouped, uint64_t group,
                                 uint32_t term)
{
    return plan->grouping.sets[regrouped->sets[group]] >> term & 1;
}

/* ---- The values of a measure (measure_values.c) ---- */

struct measure_lists;

/* Computes the measures of groups first .. groups.count - 1, which are those of the lists. */
NODISCARD enum status regrouped_measure(const struct plan *plan, struct measure_lists *lists, uint64_t first,
                                        struct regrouped *regrouped, struct error *error);

/* The same of all groups, from their digests (struct partial). */
NODISCARD enum status regrouped_digests(const struct plan *plan, unsigned threads,
                                        struct regrouped *regrouped, struct error *error);

/* ---- string_agg (measure_strings.c) ---- */

/* Joins strings, of `dictionary`, with a separator: each entry's as often as it has rows. */
struct strings_joined {
    const struct dictionary *dictionary;
    const char *separator;
    uint32_t separator_length;
    bool distinct;
};
NODISCARD enum status measure_text_make(const struct strings_joined *strings,
                                        const struct measure_entry *entries, uint64_t count,
                                        struct memory_charge *charge, struct measure_text **text,
                                        struct error *error);

/* Puts the texts of the measure's groups into a sorted dictionary, and their codes into the column. */
NODISCARD enum status measure_texts_finish(struct measure_column *column, struct error *error);
void measure_texts_free(struct measure_column *column);

#endif
