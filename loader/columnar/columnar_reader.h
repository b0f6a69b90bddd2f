/*
 * columnar_reader.h: reading a table from columnar files: its files and columns (columnar_reader.c), the beginning and
 * end of the files' parts (columnar_part.c), the values (columnar_rows.c), and many parts at once for a GPU
 * (columnar_batches.c).
 *
 * A column is read in one of two ways. One that is needed before the table is written (its strings have to be in one
 * dictionary first; its keys must be unique; or any row may have to be left out) is read part by part into blocks of
 * rows, as text is. All others are read later, when the column is written, straight into the segment that is encoded:
 * they are never in memory as a whole.
 */
#ifndef TESSERA_LOADER_COLUMNAR_COLUMNAR_READER_H
#define TESSERA_LOADER_COLUMNAR_COLUMNAR_READER_H

#include "loader/columnar/columnar_store.h"

/* COLUMNAR_SCRATCH_ROW_BYTES for a row of a segment whose streams are decompressed in one call. */
#define COLUMNAR_AHEAD_ROW_BYTES 12u

struct columnar_source {
    struct columnar_file *file;
    uint32_t *columns; /* for each column of the table its number among the file's */
};

/* A part of some file, from its first column to its last one. */
struct columnar_part_load {
    const struct columnar_source *source;
    uint32_t part;   /* of the file */
    uint64_t number; /* among those of all files, which is its block's */
    bool begun;
    struct columnar_opened opened;
    struct parsed_block block;
    struct columnar_bad_values bad;
    struct columnar_streams
        *streams;     /* for each column that is read into blocks, with a decoder of large calls; else NULL */
    atomic_uint left; /* columns that are not stored yet */
};

/* The decompressed streams of a column in several parts, before they are decoded. */
struct columnar_ahead {
    uint64_t first, count; /* parts */
    uint32_t column;
    uint64_t room;
    struct columnar_streams *streams;
};
void columnar_ahead_free(struct columnar_ahead *ahead);

/* The stored values of a column in a part of which the next segment has the remaining rows. */
struct columnar_kept {
    uint64_t part, rows; /* rows 0: there is none */
    uint32_t column;
    uint8_t *values, *nulls;
};
void columnar_kept_free(struct columnar_kept *kept);

struct columnar_thread_scratch {
    struct columnar_streams streams;
    struct columnar_ahead ahead;
    struct columnar_kept kept;
    struct columnar_values values;
    struct columnar_store_scratch store;
};

struct columnar_reader {
    const struct columnar_format *format; /* of all files */
    struct row_parse *parse;
    const struct byte_decoder *decoder;
    uint32_t columns;    /* of the table */
    uint32_t soon_count; /* columns that are read into blocks */
    uint32_t *soon;      /* their numbers */
    uint32_t source_count;
    struct columnar_source *sources;
    uint64_t part_count, first_part; /* first_part: of the batch */
    struct columnar_part_load *parts;
    unsigned threads; /* that read into blocks */
    struct columnar_thread_scratch *scratch;
    uint64_t most;            /* bytes that a stream, or the values of a column, may take */
    uint64_t rows, part_rows; /* in all, and of the largest part */
    atomic_uint_fast64_t rows_done;
    pthread_mutex_t decode_lock; /* of calls of a decoder that wants one at a time */
    pthread_mutex_t lock;        /* of the beginnings of parts, and of their lists of wrong values */
    struct error first_error;    /* of a part that could not begin, for all threads that need it */
};

static inline const struct columnar_part *columnar_part_info(const struct columnar_part_load *part)
{
    return &part->source->file->parts[part->part];
}

/* Whether a row has ended the load. */
bool columnar_reader_stopped(struct columnar_reader *reader);

/* ---- columnar_reader.c ---- */

/* Reads the files' footers, finds the table's columns, and decides which are read when, and on how many threads. The
 * reader is freed by columnar_reader_free, also after an error. */
NODISCARD enum status columnar_reader_open(struct columnar_reader *reader, const struct load_input *input,
                                           struct error *error);
void columnar_reader_free(struct columnar_reader *reader);

/* The bytes that the stored values of these columns take for a number of rows. */
uint64_t columnar_reader_block_bytes(const struct columnar_reader *reader, uint64_t rows);

/* ---- columnar_part.c ---- */

/* Begins a part once, by whichever thread comes first. */
NODISCARD enum status columnar_part_begin(struct columnar_reader *reader, struct columnar_part_load *part,
                                          unsigned thread, struct error *error);

/* Rejects rows with wrong values, and puts the block among those of the table. */
NODISCARD enum status columnar_part_end(struct columnar_reader *reader, struct columnar_part_load *part,
                                        struct error *error);

/* Frees what a part has while it is read. */
void columnar_part_drop(const struct columnar_reader *reader, struct columnar_part_load *part);

/* Adds one column's wrong values to the part's, which owns their texts from then on. */
NODISCARD enum status columnar_part_add_bad(struct columnar_reader *reader, struct columnar_part_load *part,
                                            const struct columnar_bad_values *bad, struct error *error);

/* ---- columnar_rows.c ---- */

/* Reads the streams of a column in a part, without decompressing them. */
NODISCARD enum status columnar_column_streams(const struct columnar_reader *reader,
                                              const struct columnar_part_load *part, uint32_t column,
                                              struct columnar_streams *streams, struct error *error);

/* Decodes a column from its decompressed streams into the part's block, which ends with its last column. */
NODISCARD enum status columnar_column_store(struct columnar_reader *reader, struct columnar_part_load *part,
                                            uint32_t column, unsigned thread,
                                            struct columnar_streams *streams, struct error *error);

/* ---- columnar_batches.c ---- */

/* Reads all parts into blocks. */
NODISCARD enum status columnar_batches_load(struct columnar_reader *reader, struct error *error);

/* The streams that columnar_column_ahead has decompressed for this thread, or NULL. */
struct columnar_streams *columnar_ahead_streams(struct columnar_reader *reader, uint64_t block,
                                                uint32_t column, unsigned thread);

#endif
