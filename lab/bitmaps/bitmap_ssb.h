/*
 * bitmap_ssb.h: the ranges of Q1.1 to Q1.3 of the Star Schema Benchmark, as vectors of the index of lineorder's column:
 * one a value, in the order in which the generator makes the rows.
 */
#ifndef TESSERA_LAB_BITMAPS_BITMAP_SSB_H
#define TESSERA_LAB_BITMAPS_BITMAP_SSB_H

#include "lab/bitmaps/bitmap_set.h"
#include "ssb/data/generator.h"

enum bitmap_ssb {
    BITMAP_SSB_DISCOUNT, /* Q1.1; Q1.2 and Q1.3 have as many discounts */
    BITMAP_SSB_QUANTITY_LOW,
    BITMAP_SSB_QUANTITY_MIDDLE, /* Q1.2 and Q1.3 */
    BITMAP_SSB_YEAR,
    BITMAP_SSB_MONTH,
    BITMAP_SSB_WEEK,
    BITMAP_SSB_RANGES
};
extern const struct bitmap_kind bitmap_ssb_kinds[BITMAP_SSB_RANGES]; /* names alone */

/* The vectors of a range over the first `rows` rows, which the generator has. A date's vector is that of a day. Free with
 * bitmap_set_free, also after an error. */
NODISCARD enum status bitmap_ssb_make(struct lab *lab, const struct ssb_generator *generator,
                                      enum bitmap_ssb range, uint64_t rows, struct bitmap_set *set,
                                      struct error *error);

#endif
