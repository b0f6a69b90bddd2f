/*
 * encoding_writer.h: segments of one column into a file of chunks.
 *
 * A segment needs one output buffer of the codec's bound (at most about 1.1 times its values), twice that
 * while a chooser tries its candidates on the first segment.
 */
#ifndef TESSERA_STORAGE_COLUMN_ENCODING_WRITER_H
#define TESSERA_STORAGE_COLUMN_ENCODING_WRITER_H

#include "storage/column/column.h"
#include "storage/column/column_file.h"

#include <pthread.h>

/* Memory for the values or the bytes of a segment, aligned to 128 at least; free() it. NULL with its sentence
 * if there is none. */
void *segment_buffer(size_t bytes, const char *what, struct error *error);

/* A column file of chunks, all of one codec: a column being loaded, or a further encoding of one that is
 * there. */
struct encoding_writer {
    const char *directory; /* of the database; it and the column outlive the writer */
    const struct column *column;
    struct codec_choice choice;
    struct column_file_identity identity; /* its codec: the choice's, once there is a file */
    struct column_file_writer *file;      /* NULL until the first segment */
    pthread_mutex_t lock;                 /* over the choice and the sum of bytes */
    uint64_t bytes;                       /* of all chunks */
};

void encoding_writer_open(struct encoding_writer *writer, const char *directory, const struct column *column,
                          const struct codec_choice *choice, uint64_t generation);

/* Encodes and appends one segment; any thread. */
NODISCARD enum status encoding_writer_segment(struct encoding_writer *writer, uint32_t segment,
                                              const void *values, uint32_t rows, struct error *error);

/* Completes the file and brings it to disk. */
NODISCARD enum status encoding_writer_finish(struct encoding_writer *writer, struct error *error);
void encoding_writer_close(struct encoding_writer *writer);

#endif
