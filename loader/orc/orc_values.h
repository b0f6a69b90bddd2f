/*
 * orc_values.h: the values of one column in one stripe, decoded from its streams. Nothing is converted yet: that is for
 * who knows what the values are wanted for (orc_rows.c).
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

/* Memory that grows and is used again. */
struct orc_room {
    void *memory;
    uint64_t bytes;
};

/* Decoded values. Zero-initialised is empty; its memory is used again for the next column. */
struct orc_values {
    uint32_t rows;
    uint32_t count;       /* rows that are not NULL: the length of the arrays below */
    const uint8_t *nulls; /* for each row 1 if it is NULL; NULL: none is */

    /* Numbers; the keys of doubles (storage/base/double_key.h); a date's day; a timestamp's second since 1970, of the wall clock where it was written; a decimal without
     * its point. With a dictionary the entry. */
    const int64_t *numbers;
    const int64_t *nanoseconds; /* of timestamps: 0 .. 999999999, to be added; else NULL */
    const __int128 *wide;       /* not NULL: of decimals, instead of `numbers` */

    /* Text: string s is bytes starts[s] .. starts[s + 1] - 1. There are text_count strings, one a value, or of the
     * dictionary. */
    bool is_dictionary;
    const char *text; /* ORC_TEXT_SPARE bytes after its end may be read, too */
    const uint64_t *starts;
    uint32_t text_count;

    struct orc_room rooms[6];
};
void orc_values_free(struct orc_values *values);

/* Decodes `rows` rows of a column of type `type` from finished streams. STATUS_BAD_INPUT, naming the place, if the
 * streams are damaged or the type has no values of its own; STATUS_MACHINE if it would take more than `most` bytes. */
NODISCARD enum status orc_values_decode(const struct orc_place *place, const struct orc_type *type,
                                        const struct orc_column_encoding *encoding, const char *timezone,
                                        const struct orc_streams *streams, uint32_t rows, uint64_t most,
                                        struct orc_values *values, struct error *error);

#endif
