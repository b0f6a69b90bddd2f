/*
 * pattern_growth.h: how much faster compression makes pattern matching, by the size of the data (Przymus and Kaczmarski,
 * OTM 2012 Workshops, figure 3).
 *
 * Nine sizes, 2 MB .. 1 GB. The paper compares with a thread of the processor that reads values without compression. Its
 * curves have no numbers; at 1 GB they follow from its table 1.
 */
#ifndef TESSERA_LAB_EXPERIMENTS_PATTERN_GROWTH_H
#define TESSERA_LAB_EXPERIMENTS_PATTERN_GROWTH_H

#include "lab/lab.h"

/* Measures, and shows a table and a chart of each half of the figure. */
NODISCARD enum status pattern_growth_show(struct lab *lab, struct error *error);

#endif
