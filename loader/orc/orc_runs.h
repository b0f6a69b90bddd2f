/*
 * orc_runs.h: ORC's run-length encodings of bytes and of bits. (Those of integers are in storage/codec/bytes/orc_rle.h.)
 *
 * A run of bytes has a header byte h:
 *
 *     h 0 .. 127      the next byte, h + 3 times               0x61 0x00: a hundred zeros
 *     h 128 .. 255    the next 256 - h bytes as they are       0xfe 0x44 0x45: 0x44 0x45
 *
 * Bits are bytes so encoded, with the first bit in the highest place.
 */
#ifndef TESSERA_LOADER_ORC_ORC_RUNS_H
#define TESSERA_LOADER_ORC_ORC_RUNS_H

#include <stdbool.h>
#include <stdint.h>

/* Decodes exactly `count` bytes; a last run may have more. False if the stream ends before. */
bool orc_bytes_decode(const uint8_t *in, uint64_t in_bytes, uint8_t *out, uint64_t count);

/* Makes a byte of each of `count` bits: the bit, xor `flip`. Returns the number of bytes that are 1. */
uint64_t orc_bits_spread(const uint8_t *bits, uint64_t count, uint8_t flip, uint8_t *out);

#endif
