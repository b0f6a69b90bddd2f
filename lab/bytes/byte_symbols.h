/*
 * byte_symbols.h: counts the symbols of compressed blocks, for the mean length of a symbol (CODAG, table V). The streams
 * are the laboratory's own; others give any counts, but nothing outside of them is read.
 */
#ifndef TESSERA_LAB_BYTES_BYTE_SYMBOLS_H
#define TESSERA_LAB_BYTES_BYTE_SYMBOLS_H

#include "lab/bytes/byte_streams.h"

/* What the symbols give. Of RLE v1: values, by runs and by literals; of Deflate: bytes, by copies and by literals. */
struct byte_symbols {
    uint64_t runs, run_length; /* the number of runs (or copies), and all that they give */
    uint64_t literals;
};

/* Counts the symbols of RLE v1 and Deflate; of RLE v2 there are none to count. */
NODISCARD enum status byte_symbols_count(struct lab *lab, const struct byte_streams *streams,
                                         struct byte_symbols *symbols, struct error *error);

/* The mean length of a symbol, and that of a run; NaN without one. */
double byte_symbols_length(const struct byte_symbols *symbols);
double byte_symbols_run(const struct byte_symbols *symbols);

#endif
