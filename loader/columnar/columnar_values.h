/*
 * columnar_values.h: the values of one column in one part of a file, decoded. Nothing is converted yet to what a table
 * stores: that is for who knows what the values are wanted for (columnar_store.h).
 */
#ifndef TESSERA_LOADER_COLUMNAR_COLUMNAR_VALUES_H
#define TESSERA_LOADER_COLUMNAR_COLUMNAR_VALUES_H

#include "loader/text/text_source.h"
#include "storage/base/status.h"

#include <stdbool.h>
#include <stdint.h>

/* Memory that grows and is used again. */
struct columnar_room {
    void *memory;
    uint64_t bytes;
};
#define COLUMNAR_ROOMS 12u

/* Memory for texts that a format puts together, until the next values. */
struct columnar_block {
    struct columnar_block *next;
    char bytes[];
};

/* Decoded values. Zero-initialised is empty; its memory is used again for the next column. */
struct columnar_values {
    uint32_t rows;
    uint32_t count;       /* rows that are not NULL: the length of the arrays below */
    const uint8_t *nulls; /* for each row 1 if it is NULL; NULL: none is */

    /* Numbers; the keys of doubles (storage/base/double_key.h); a date's day; a decimal without its point. A
     * timestamp's second since 1970 if there are nanoseconds, else its ticks since then. With a dictionary the entry. */
    const int64_t *numbers;
    const int64_t *nanoseconds; /* of timestamps: 0 .. 999999999, to be added; or NULL */
    uint32_t ticks;             /* a second: 1000 or 1000000, of timestamps without nanoseconds */
    const __int128 *wide;       /* not NULL: of decimals, instead of `numbers` */

    /* Text: one a value, or of the dictionary. COLUMNAR_SPARE_BYTES after its end may be read, too. */
    bool is_dictionary;
    const struct text_field *texts; /* NULL: the column is no text */
    uint32_t text_count;

    struct columnar_room rooms[COLUMNAR_ROOMS];
    struct columnar_block *blocks;
    uint64_t block_bytes;
};
void columnar_values_free(struct columnar_values *values);

/* Forgets the values, but not the memory, for `rows` others. */
void columnar_values_begin(struct columnar_values *values, uint32_t rows);

/* Adds a block of texts. */
NODISCARD enum status columnar_values_block(struct columnar_values *values, uint64_t bytes, char **memory,
                                            struct error *error);

/* Gives the memory of room number `room`, without keeping what was in it. */
NODISCARD enum status columnar_values_take(struct columnar_values *values, uint32_t room, uint64_t bytes,
                                           void *pointer, struct error *error);

#endif
