/*
 * lineorder.h: the columns of lineorder of the Star Schema Benchmark as datasets of 4-byte integers: dates are yyyymmdd numbers, keys are
 * keys, strings are codes, as in the papers.
 */
#ifndef TESSERA_LAB_SSB_LINEORDER_H
#define TESSERA_LAB_SSB_LINEORDER_H

#include "lab/bench/dataset.h"
#include "ssb/data/generator.h"

#define LINEORDER_SCALE_FACTOR 20.0

/* The parameter of fill_lineorder. */
struct lineorder_column {
    const struct ssb_generator *generator;
    uint32_t column; /* of ssb_table_info(SSB_LINEORDER) */
};
dataset_fill fill_lineorder;

/* Makes the generator of an experiment at --scale: of scale factor 20, and above scale 1 of more. lineorder_rows are the rows that it takes:
 * below scale 1 the first ones of scale factor 20, whose values are as wide as in all of them. Destroy with ssb_generator_destroy. */
NODISCARD enum status lineorder_generator(const struct lab *lab, struct ssb_generator **generator,
                                          struct error *error);
uint64_t lineorder_rows(const struct lab *lab, const struct ssb_generator *generator);

#endif
