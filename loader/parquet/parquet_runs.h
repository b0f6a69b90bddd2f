/*
 * parquet_runs.h: Parquet's encodings of whole numbers in few bits: runs, for levels, truth values and entries of
 * dictionaries, and deltas. Every decoder gets what is left of a page and never reads past it, but for
 * COLUMNAR_SPARE_BYTES.
 *
 * Runs. A header h in base 128, then
 *
 *     h even    a value in as few whole bytes as its width needs, h / 2 times    0x06 0x01: 1 1 1, at width 1
 *     h odd     h / 2 groups of 8 values, packed from the lowest bit on          0x03 0x88 0xc6 0xfa: 0 1 .. 7, at width 3
 *
 * Deltas. The head: values of a block, miniblocks of a block, values in all, each in base 128, and the first value in
 * zigzag. Then blocks: the least delta in zigzag, a byte for the width of each miniblock, and the miniblocks, in which
 * delta - least is packed.
 *
 *     0x80 0x01 0x04 0x05 0x0e  0x02 0x00 0x00 0x00 0x00     7 8 9 10 11: five values, from 7 on, all deltas 1
 */
#ifndef TESSERA_LOADER_PARQUET_PARQUET_RUNS_H
#define TESSERA_LOADER_PARQUET_PARQUET_RUNS_H

#include <stdbool.h>
#include <stdint.h>

/* What is left of a page. A decoder that succeeds moves `at` to what follows. */
struct parquet_bytes {
    const uint8_t *at, *end;
};

static inline uint64_t parquet_bytes_left(const struct parquet_bytes *bytes)
{
    return (uint64_t)(bytes->end - bytes->at);
}

/* Decodes `count` values of runs, width 0 .. 32; a last run may have more. False: the bytes end before, or are wrong. */
bool parquet_runs_decode(struct parquet_bytes *bytes, uint32_t width, uint32_t count, uint32_t *out);

/* Whether the runs of width 1 begin with one of `count` or more values that are all 1, as levels without NULLs do. */
bool parquet_runs_all_one(const struct parquet_bytes *bytes, uint32_t count);

/* Decodes `count` levels of runs of width 1, or of old files as bits from the highest one on, to 1 for each level that is
 * 0, and 0 for others. Adds the number of them to *nulls. */
bool parquet_levels_decode(struct parquet_bytes *bytes, bool old, uint32_t count, uint8_t *out,
                           uint32_t *nulls);

/* Makes a number of each of `count` bits, from the lowest one on. */
bool parquet_bits_decode(struct parquet_bytes *bytes, uint32_t count, int64_t *out);

/* Decodes deltas that must be `count` values. `narrow`: values have 32 bits, and deltas wrap around there. */
bool parquet_deltas_decode(struct parquet_bytes *bytes, bool narrow, uint32_t count, int64_t *out);

#endif
