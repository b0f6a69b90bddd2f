/*
 * orc_reader.h: the parts of reading a table from ORC files: its files and columns (orc_reader.c), the beginning and end
 * of its stripes (orc_stripe.c), the values (orc_rows.c), and many stripes at once for a GPU (orc_batches.c).
 *
 * A column is read in one of two ways. One that is needed before the table is written (its strings have to be in one
 * dictionary first; its keys must be unique; or any row may have to be left out) is read stripe by stripe into blocks
 * of rows, as text is. All others are read later, when the column is written, straight into the segment that is
 * encoded: they are never in memory as a whole.
 */
#ifndef TESSERA_LOADER_ORC_ORC_READER_H
#define TESSERA_LOADER_ORC_ORC_READER_H

#include "loader/orc/orc_store.h"

/* The memory that a thread takes for a row of one column: decompressed, decoded, stored if the next
 * segment has its other rows. */
#define ORC_SCRATCH_ROW_BYTES 32u

/* The same for a row of a segment whose streams are decompressed in one call. */
#define ORC_AHEAD_ROW_BYTES 12u

struct orc_source {
    struct orc_file file;
    uint32_t *types; /* for each column of the table its type in the file */
};

/* A stripe of some file, from its first column to its last one. */
struct orc_stripe_load {
    const struct orc_source *source;
    uint32_t stripe; /* of the file */
    uint64_t number; /* among those of all files, which is its block's */
    bool begun;
    int descriptor;
    struct orc_stripe_footer footer;
    struct parsed_block block;
    struct orc_bad_values bad;
    struct orc_streams
        *streams;     /* for each column that is read into blocks, with a decoder of large calls; else NULL */
    atomic_uint left; /* columns that are not stored yet */
};

/* The decompressed streams of a column in several stripes, before they are decoded. */
struct orc_ahead {
    uint64_t first, count; /* stripes */
    uint32_t column;
    uint64_t room;
    struct orc_streams *streams;
};
void orc_ahead_free(struct orc_ahead *ahead);

/* The stored values of a column in a stripe of which the next segment has the remaining rows. */
struct orc_kept {
    uint64_t stripe, rows; /* rows 0: there is none */
    uint32_t column;
    uint8_t *values, *nulls;
};
void orc_kept_free(struct orc_kept *kept);

struct orc_thread_scratch {
    struct orc_streams streams;
    struct orc_ahead ahead;
    struct orc_kept kept;
    struct orc_values values;
    struct orc_store_scratch store;
};

struct orc_reader {
    struct row_parse *parse;
    const struct byte_decoder *decoder;
    uint32_t columns;    /* of the table */
    uint32_t soon_count; /* columns that are read into blocks */
    uint32_t *soon;      /* their numbers */
    uint32_t source_count;
    struct orc_source *sources;
    uint64_t stripe_count, first_stripe; /* first_stripe: of the batch */
    struct orc_stripe_load *stripes;
    unsigned threads; /* that read into blocks */
    struct orc_thread_scratch *scratch;
    uint64_t most;              /* bytes that a stream, or the values of a column, may take */
    uint64_t rows, stripe_rows; /* in all, and of the largest stripe */
    atomic_uint_fast64_t rows_done;
    pthread_mutex_t decode_lock; /* of calls of a decoder that wants one at a time */
    pthread_mutex_t lock;        /* of the beginnings of stripes, and of their lists of wrong values */
    struct error first_error;    /* of a stripe that could not begin, for all threads that need it */
};

static inline const struct orc_stripe *orc_stripe_info(const struct orc_stripe_load *stripe)
{
    return &stripe->source->file.stripes[stripe->stripe];
}

/* Whether a row has ended the load. */
bool orc_reader_stopped(struct orc_reader *reader);

/* ---- orc_reader.c ---- */

/* Reads the files' footers, finds the table's columns, and decides which are read when, and on how many threads. The
 * reader is freed by orc_reader_free, also after an error. */
NODISCARD enum status orc_reader_open(struct orc_reader *reader, const struct load_input *input,
                                      struct error *error);
void orc_reader_free(struct orc_reader *reader);

/* The bytes that the stored values of these columns take for a number of rows. */
uint64_t orc_reader_block_bytes(const struct orc_reader *reader, uint64_t rows);

/* ---- orc_stripe.c ---- */

/* Begins a stripe once, by whichever thread comes first. */
NODISCARD enum status orc_stripe_begin(struct orc_reader *reader, struct orc_stripe_load *stripe,
                                       unsigned thread, struct error *error);

/* Rejects rows with wrong values, and puts the block among those of the table. */
NODISCARD enum status orc_stripe_end(struct orc_reader *reader, struct orc_stripe_load *stripe,
                                     struct error *error);

/* Frees what a stripe has while it is read. */
void orc_stripe_close(const struct orc_reader *reader, struct orc_stripe_load *stripe);

/* Adds one column's wrong values to the stripe's, which owns their texts from then on. */
NODISCARD enum status orc_stripe_add_bad(struct orc_reader *reader, struct orc_stripe_load *stripe,
                                         const struct orc_bad_values *bad, struct error *error);

/* ---- orc_rows.c ---- */

/* Reads the streams of a column in a stripe, without decompressing them. */
NODISCARD enum status orc_column_streams(const struct orc_reader *reader,
                                         const struct orc_stripe_load *stripe, uint32_t column,
                                         struct orc_streams *streams, struct error *error);

/* Decodes a column from its decompressed streams into the stripe's block, which ends with its last column. */
NODISCARD enum status orc_column_store(struct orc_reader *reader, struct orc_stripe_load *stripe,
                                       uint32_t column, unsigned thread, struct orc_streams *streams,
                                       struct error *error);

/* ---- orc_batches.c ---- */

/* Reads all stripes into blocks. */
NODISCARD enum status orc_batches_load(struct orc_reader *reader, struct error *error);

/* The streams that orc_column_ahead has decompressed for this thread, or NULL. */
struct orc_streams *orc_ahead_streams(struct orc_reader *reader, uint64_t block, uint32_t column,
                                      unsigned thread);

#endif
