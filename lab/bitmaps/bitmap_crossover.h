/*
 * bitmap_crossover.h: up to how many vectors the OR of an index is faster than a scan of the column.
 *
 * A uniform column has 8 to 2048 values and two encodings: an index of WAH vectors in 64-bit words, one a value, and
 * `codec`, whose scan (codec.in_range) reads all its bit planes. Both find the rows of a range of 1, 2, 4, ... values, up to half of
 * them, and give a bit a row: on a GPU `inline` and a kernel around the decoder's in_range(), on one thread of the
 * processor wah_or_many() with wah_to_bits() and the codec's in_range().
 */
#ifndef TESSERA_LAB_BITMAPS_BITMAP_CROSSOVER_H
#define TESSERA_LAB_BITMAPS_BITMAP_CROSSOVER_H

#include "lab/bitmaps/bitmap_kernel.h"

/* Measures, and shows a chart and the tables. STATUS_CHECK_FAILED if the two have other rows. `kernels` is not read
 * without a GPU. 250 M rows times --scale take 7 GB of the host's memory and 3 of the GPU's. */
NODISCARD enum status bitmap_crossover(struct lab *lab, const struct bitmap_kernels *kernels,
                                       const struct codec *codec, struct error *error);

#endif
