/*
 * streamvbyte.h: StreamVByte (Lemire, Kurz, Rupp, 2018) by its authors' library, on one thread of the processor: the
 * peer of codecs for posting lists. The library is opened at run time; without it the table says "not installed".
 */
#ifndef TESSERA_LAB_BENCH_STREAMVBYTE_H
#define TESSERA_LAB_BENCH_STREAMVBYTE_H

#include "lab/bench/decode.h"

#define STREAMVBYTE_LISTS_MAX 32u

struct streamvbyte {
    void *library; /* NULL: not installed */
    size_t (*encode)(const uint32_t *in, uint32_t length, uint8_t *out);
    size_t (*decode)(const uint8_t *in, uint32_t *out, uint32_t length);
    uint32_t list_count;
    struct {
        double x, bits;
        uint64_t rows;
        struct speed speed;
    } lists[STREAMVBYTE_LISTS_MAX];
};

void streamvbyte_open(struct streamvbyte *peer);
void streamvbyte_close(struct streamvbyte *peer);

/* Encodes the dataset, decodes it, compares, and times decoding to memory. `x` is the list's name in the table. */
NODISCARD enum status streamvbyte_measure(struct lab *lab, const struct dataset *dataset, double x,
                                          struct streamvbyte *peer, struct error *error);

/* Shows the table of all lists. */
NODISCARD enum status streamvbyte_report(struct lab *lab, const struct streamvbyte *peer,
                                         struct error *error);

#endif
