/*
 * orc_values.h: the values of one column in one stripe, decoded from its streams.
 *
 *     column's kind                    DATA                       other streams
 *     tinyint                          runs of bytes
 *     boolean                          runs of bits
 *     smallint, int, bigint, date      integers
 *     float, double                    numbers of IEEE 754, the lowest byte first
 *     timestamp                        integers: seconds          SECONDARY: nanoseconds
 *     decimal                          numbers in base 128        SECONDARY: integers, each number's scale
 *     string, varchar, char, direct    text, one after the other  LENGTH: integers
 *     the same with a dictionary       integers: entries          DICTIONARY_DATA: text, LENGTH: integers
 *
 * Integers are in the run-length encoding of version 1 or 2, as the column's encoding says. PRESENT has a bit a row; the
 * other streams have no values for rows that are NULL.
 */
#ifndef TESSERA_LOADER_ORC_ORC_VALUES_H
#define TESSERA_LOADER_ORC_ORC_VALUES_H

#include "loader/orc/orc_streams.h"

/* Decodes `rows` rows of a column of type `type` from finished streams. STATUS_BAD_INPUT, naming the place, if the
 * streams are damaged or the type has no values of its own; STATUS_MACHINE if it would take more than `most` bytes. */
NODISCARD enum status orc_values_decode(const struct columnar_place *place, const struct orc_type *type,
                                        const struct orc_column_encoding *encoding, const char *timezone,
                                        const struct columnar_streams *streams, uint32_t rows, uint64_t most,
                                        struct columnar_values *values, struct error *error);

#endif
