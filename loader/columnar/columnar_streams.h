/*
 * columnar_streams.h: the bytes that one column has in one part of a file, as they are in the file and decompressed. A
 * format has one stream or several of a column; each is read in one piece, and has a job (byte_decoder.h) for each
 * of its pieces that is decompressed alone: a chunk of ORC, a page of Parquet.
 */
#ifndef TESSERA_LOADER_COLUMNAR_COLUMNAR_STREAMS_H
#define TESSERA_LOADER_COLUMNAR_COLUMNAR_STREAMS_H

#include "storage/base/status.h"
#include "storage/codec/bytes/byte_decoder.h"

#include <stdint.h>

/* The most streams that a column has in any format. */
#define COLUMNAR_STREAMS 6u

/* The bytes after the end of what was read or decompressed that may be read, too; they mean nothing. */
#define COLUMNAR_SPARE_BYTES 64u

/* A stream. Its memory is kept and used again for the next one. */
struct columnar_stream {
    const uint8_t *bytes; /* the whole stream when it is decompressed, if its format needs it in one piece */
    uint64_t count;

    uint8_t *raw, *out; /* as in the file, and decompressed */
    uint64_t raw_room, out_room;
    struct byte_job *jobs;
    uint32_t job_count, job_room;
};
void columnar_stream_free(struct columnar_stream *stream);

/* The streams of a column in a part; zero-initialised is empty. */
struct columnar_streams {
    struct columnar_stream streams[COLUMNAR_STREAMS];
};
void columnar_streams_free(struct columnar_streams *streams);

/* Makes room for bytes of the file, or for what they give, without keeping what was there. */
NODISCARD enum status columnar_stream_reserve_raw(struct columnar_stream *stream, uint64_t bytes,
                                                  struct error *error);
NODISCARD enum status columnar_stream_reserve_out(struct columnar_stream *stream, uint64_t bytes,
                                                  struct error *error);

NODISCARD enum status columnar_stream_add_job(struct columnar_stream *stream, const struct byte_job *job,
                                              struct error *error);

/* Runs the jobs of these streams. */
NODISCARD enum status columnar_streams_run(const struct byte_decoder *decoder,
                                           struct columnar_streams *streams, struct error *error);

#endif
