/*
 * list_measure.h: encodes a list by one of the codecs for processors (list_codec.h), decodes it on one thread, as the paper does, compares
 * every integer, and times decoding to memory.
 */
#ifndef TESSERA_LAB_LISTS_LIST_MEASURE_H
#define TESSERA_LAB_LISTS_LIST_MEASURE_H

#include "lab/bench/decode.h"
#include "lab/lists/list_codec.h"

struct list_result {
    double bits; /* an integer */
    struct speed speed;
};

/* STATUS_CHECK_FAILED if an integer is decoded wrongly; nothing is timed then. */
NODISCARD enum status list_measure(struct lab *lab, const struct list_codec *codec, const uint32_t *values,
                                   uint32_t count, struct list_result *result, struct error *error);

#endif
