/*
 * parquet_writing.h: the state of a Parquet file that is being written; private to this folder.
 *
 *     "PAR1"
 *     row group 0:  column 0: [dictionary page] data page ...     a chunk, made by one thread
 *                   column 1: ...
 *     row group 1:  ...
 *     footer | 4 bytes: the footer's length, least byte first | "PAR1"
 *
 * parquet_write.c divides the answer into chunks and writes these in their order; parquet_chunk_write.c makes the values
 * of a chunk, parquet_page_write.c pages of them, and parquet_footer_write.c says at the end where they are.
 */
#ifndef TESSERA_ENGINE_ANSWER_PARQUET_PARQUET_WRITING_H
#define TESSERA_ENGINE_ANSWER_PARQUET_PARQUET_WRITING_H

#include "engine/answer/print/cells.h"
#include "engine/answer/print/ordered_output.h"
#include "engine/answer/parquet/parquet_write.h"
#include "storage/base/hash_table.h"

#include <zstd.h>

/* Rows of a group, as DuckDB's: threads of readers take groups, and a reader skips one by its least and greatest
 * values. Values of 8 bytes are then a page of a megabyte. */
#define PARQUET_GROUP_ROWS 122880u

/* The digits that fit 64 bits as INT64 must have them, and those of all 64 bits, in 9 bytes. */
#define PARQUET_DECIMAL_DIGITS      18u
#define PARQUET_WIDE_DECIMAL_DIGITS 19u
#define PARQUET_WIDE_DECIMAL_BYTES  9u

/* How a column is stored, in all of its chunks. */
struct parquet_write_column {
    const struct rowset_column *from;
    char *name;
    enum parquet_physical physical;
    enum parquet_logical logical;
    uint32_t digits; /* of a decimal */
};

/* What the footer says of a chunk. */
struct parquet_written_chunk {
    uint64_t offset, bytes, plain_bytes; /* with the headers of pages */
    uint64_t dictionary_bytes;           /* of its page, which comes first; 0: there is none */
    uint64_t values, nulls;
    bool has_range;           /* of values that are neither NULL nor NaN */
    uint64_t least, greatest; /* rows of the answer that have these */
};

/* The memory of one thread, for the chunk that it makes. Rows are counted from the group's first. */
struct parquet_writer {
    uint32_t *present; /* the rows that are not NULL */
    uint32_t count;
    uint32_t *entries; /* rows that have the dictionary's entries; only with a dictionary */
    uint32_t entry_count;
    uint32_t *codes; /* with a dictionary: of each present row its entry; room for 8 more */
    uint32_t *words; /* codes in bits */
    struct hash_table table;
    struct text_space plain, packed; /* the page that is made, and its compressed bytes */
    struct text_space chunk;         /* pages that wait for their turn */
    ZSTD_CCtx *zstd;
};

struct parquet_writing {
    const struct rowset *rows;
    const struct parquet_style *style;
    struct ordered_output out;            /* of chunks */
    struct parquet_write_column *columns; /* rows->column_count */
    uint64_t group_count;
    struct parquet_written_chunk *chunks; /* of column c in group g: chunks[g * column_count + c] */
    struct parquet_writer *writers;
    unsigned writer_count;
};

/* The rows of a group. */
static inline uint64_t parquet_group_rows(const struct parquet_writing *writing, uint64_t group)
{
    const uint64_t left = writing->rows->rows - group * PARQUET_GROUP_ROWS;
    return left < PARQUET_GROUP_ROWS ? left : PARQUET_GROUP_ROWS;
}

/* ---- parquet_values_write.c ---- */

/* Appends values of rows `first` + rows[0 .. count-1], none of which is NULL, in the encoding PLAIN. */
NODISCARD enum status parquet_put_plain(const struct parquet_write_column *column, uint64_t first,
                                        const uint32_t *rows, uint32_t count, struct text_space *to,
                                        struct error *error);

/* Appends codes in runs and groups of bits (RLE_DICTIONARY), with their width before them. `codes` has room for 8 more
 * codes, which become 0, and `words` for as many as there are codes. */
NODISCARD enum status parquet_put_codes(uint32_t *codes, uint32_t count, uint32_t entries, uint32_t *words,
                                        struct text_space *to, struct error *error);

/* Appends definition levels of `count` rows: 1 for a value and 0 for NULL. `nulls` NULL: there is none. */
NODISCARD enum status parquet_put_levels(const uint8_t *nulls, uint32_t count, struct text_space *to,
                                         struct error *error);

/* ---- parquet_page_write.c ---- */

/* Appends a page to the writer's chunk: its header, and `plain` compressed, which is emptied. */
NODISCARD enum status parquet_put_page(const struct parquet_writing *writing, struct parquet_writer *own,
                                       enum parquet_page_kind kind, enum parquet_encoding encoding,
                                       uint32_t values, struct parquet_written_chunk *chunk,
                                       struct error *error);

/* ---- parquet_chunk_write.c ---- */

/* Makes a chunk and writes it when it is its turn. */
NODISCARD enum status parquet_chunk_write(struct parquet_writing *writing, struct parquet_writer *own,
                                          uint64_t number, struct error *error);

/* ---- parquet_footer_write.c ---- */

NODISCARD enum status parquet_footer_write(struct parquet_writing *writing, struct error *error);

#endif
