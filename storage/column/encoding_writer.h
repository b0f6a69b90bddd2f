/*
 * encoding_writer.h: writes the segments of one column into a file of chunks.
 *
 * A segment needs one output buffer of the codec's bound (at most about 1.1 times its values), and two while
 * a chooser tries its candidates on the first segment.
 */
#ifndef TESSERA_STORAGE_COLUMN_ENCODING_WRITER_H
#define TESSERA_STORAGE_COLUMN_ENCODING_WRITER_H

#include "storage/column/column.h"
#include "storage/column/column_file.h"
#include "storage/column/segment_buffers.h"

#include <pthread.h>

/* A file of chunks that is being written, all of one codec: for a column that is loaded, or for a further
 * encoding of an existing column. */
struct encoding_writer {
    const char *directory; /* of the database; it and the column outlive the writer */
    const struct column *column;
    struct codec_choice choice;
    struct segment_buffers *buffers;      /* or NULL; outlives the writer */
    struct column_file_identity identity; /* its codec is known once there is a file */
    struct column_file_writer *file;      /* NULL until the first segment */
    uint32_t first;                       /* the segment that is number 0 of the file */
    pthread_mutex_t lock;                 /* protects the choice and the sum of bytes */
    uint64_t bytes;                       /* of all chunks */
};

/* The file is to have the segments of `span`, and its generation. */
void encoding_writer_open(struct encoding_writer *writer, const char *directory, const struct column *column,
                          const struct codec_choice *choice, const struct column_span *span,
                          struct segment_buffers *buffers);

/* Encodes and appends one segment, by its number in the table; any thread may call. */
NODISCARD enum status encoding_writer_segment(struct encoding_writer *writer, uint32_t segment,
                                              const void *values, uint32_t rows, struct error *error);

/* Completes the file and waits until it is on disk. */
NODISCARD enum status encoding_writer_finish(struct encoding_writer *writer, struct error *error);
void encoding_writer_close(struct encoding_writer *writer);

#endif
