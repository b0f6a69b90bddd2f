/*
 * series_kinds.h: eight time series in place of those of Przymus and Kaczmarski, OTM 2012 Workshops, figure 1.
 *
 * Theirs are recordings of others, which are not part of the paper. Ours are made by a model of each kind with a fixed seed,
 * as integers of a fixed decimal precision. The models and their constants are ours, so a figure of one series compares
 * methods with each other and not with the paper's bar of the same name.
 */
#ifndef TESSERA_LAB_SERIES_SERIES_KINDS_H
#define TESSERA_LAB_SERIES_SERIES_KINDS_H

#include "lab/bench/dataset.h"

#define SERIES_KINDS      8u
#define SERIES_LINE_BYTES 13u /* at most, of a line of text: -21474.83648 and its end */

struct series_kind {
    const char *name;  /* the paper's: "TR1" */
    const char *about; /* what it is, and the unit of a value: "pulsating stars, 0.001 mag" */
    uint32_t decimals; /* of its text: a value of 15012 is 15.012 with 3 */
    dataset_fill *fill;
    const void *parameters;
};
extern const struct series_kind series_kinds[SERIES_KINDS];

/* Writes the values as a text file has them, one a line; *text is the caller's to free. */
NODISCARD enum status series_text(const struct dataset *dataset, uint32_t decimals, char **text,
                                  uint64_t *bytes, struct error *error);

#endif
