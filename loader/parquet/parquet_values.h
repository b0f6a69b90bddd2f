/*
 * parquet_values.h: the values of one column in one row group, decoded from its pages (parquet_values.c): numbers
 * (parquet_numbers.c) and texts (parquet_text.c); and what its footer says of them (parquet_ends.c).
 *
 *     encoding                   of                               what a page has after its levels
 *     PLAIN                      all                              values side by side; truth values as bits
 *     RLE_DICTIONARY             all, with a dictionary           a byte: width; runs: entries
 *     RLE                        truth values                     4 bytes: length; runs of width 1
 *     DELTA_BINARY_PACKED        int32, int64                     deltas
 *     DELTA_LENGTH_BYTE_ARRAY    bytes                            deltas: lengths; the bytes of all
 *     DELTA_BYTE_ARRAY           bytes, fixed                     deltas: lengths of what is as in the value before;
 *                                                                 then the remaining bytes as the encoding above
 *     BYTE_STREAM_SPLIT          int32, int64, reals, fixed       the first byte of all values, the second one of all, ...
 *
 * Levels say which values are NULL (parquet_runs.h): 1 is a value. Without NULLs they are one run, which is not spread.
 */
#ifndef TESSERA_LOADER_PARQUET_PARQUET_VALUES_H
#define TESSERA_LOADER_PARQUET_PARQUET_VALUES_H

#include "loader/parquet/parquet_page.h"
#include "loader/parquet/parquet_runs.h"

/* What the rooms of columnar_values are for. */
enum parquet_room {
    PARQUET_ROOM_NULLS,
    PARQUET_ROOM_NUMBERS,
    PARQUET_ROOM_NANOSECONDS,
    PARQUET_ROOM_WIDE,
    PARQUET_ROOM_TEXTS,
    PARQUET_ROOM_ENTRIES, /* of a dictionary: the same, or texts */
    PARQUET_ROOM_ENTRY_NANOSECONDS,
    PARQUET_ROOM_ENTRY_WIDE,
    PARQUET_ROOM_INDICES,
    PARQUET_ROOM_LENGTHS,
    PARQUET_ROOM_PREFIXES,
    PARQUET_ROOM_BYTES
};

/* Arrays of decoded numbers; those that the column's meaning does not need are NULL. */
struct parquet_numbers {
    int64_t *numbers, *nanoseconds;
    __int128 *wide;
};

struct parquet_decoding {
    const struct columnar_place *place;
    const struct parquet_leaf *leaf;
    uint64_t most; /* bytes of one array */
    struct columnar_values *values;
    struct error *error;

    uint32_t page;               /* from 1 */
    uint32_t rows_done, done;    /* rows, and values without NULLs, of pages before */
    uint8_t *nulls;              /* NULL: no page had any */
    struct parquet_numbers into; /* of all values; of texts with a dictionary the entries */
    bool has_dictionary;
    uint32_t entry_count;
    struct parquet_numbers entries;
    struct text_field *entry_texts, *texts; /* texts: one a value, or the entries and then others */
    uint32_t text_count;
    bool any_wide; /* some number has more than 64 bits */
};

/* Decodes all values, as columnar_format's column_decode. */
NODISCARD enum status
parquet_values_decode(const struct columnar_place *place, const struct parquet_leaf *leaf,
                      const struct parquet_chunk *chunk, const struct columnar_stream *stream, uint32_t rows,
                      uint64_t most, struct columnar_values *values, struct error *error);

/* ---- parquet_ends.c ---- */

/* The least and the greatest value of a chunk, as columnar_format's column_ends. */
NODISCARD enum status parquet_ends_decode(const struct columnar_place *place, const struct parquet_leaf *leaf,
                                          const struct parquet_chunk *chunk, struct columnar_values *values,
                                          struct error *error);

/* ---- Between the files ---- */

/* How many bytes each value has in PLAIN; 0: of truth values, and of bytes that have their length. */
uint32_t parquet_width_of(const struct parquet_leaf *leaf);

/* Makes the decoded numbers of a column its values. */
void parquet_values_give(struct parquet_decoding *decoding);

/* STATUS_BAD_INPUT: the page is damaged, and how. */
enum status parquet_page_damaged(const struct parquet_decoding *decoding, const char *what);

/* Memory for an array, without keeping what was in it. */
NODISCARD enum status parquet_take(const struct parquet_decoding *decoding, enum parquet_room room,
                                   uint64_t bytes, void *pointer);

/* Decodes the entries of a page's values; each is one of the dictionary's. */
NODISCARD enum status parquet_indices_decode(const struct parquet_decoding *decoding,
                                             struct parquet_bytes *bytes, uint32_t count,
                                             const uint32_t **indices);

/* ---- parquet_numbers.c ---- */

NODISCARD enum status parquet_numbers_begin(struct parquet_decoding *decoding);
NODISCARD enum status parquet_numbers_dictionary(struct parquet_decoding *decoding,
                                                 struct parquet_bytes *bytes);
NODISCARD enum status parquet_numbers_page(struct parquet_decoding *decoding, uint32_t encoding,
                                           struct parquet_bytes *bytes, uint32_t count);

/* ---- parquet_text.c ---- */

NODISCARD enum status parquet_text_dictionary(struct parquet_decoding *decoding, struct parquet_bytes *bytes);
NODISCARD enum status parquet_text_page(struct parquet_decoding *decoding, uint32_t encoding,
                                        struct parquet_bytes *bytes, uint32_t count);

/* Decodes bytes in any encoding but a dictionary's. Their memory is the page's, or a block of the values'. */
NODISCARD enum status parquet_fields_decode(const struct parquet_decoding *decoding, uint32_t encoding,
                                            struct parquet_bytes *bytes, uint32_t count,
                                            struct text_field *fields);

#endif
