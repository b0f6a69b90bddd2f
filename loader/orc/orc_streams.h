/*
 * orc_streams.h: the bytes of one column's streams in one stripe, read and decompressed.
 *
 * In a compressed file a stream is a sequence of chunks. A chunk has a header of 3 bytes, least byte first, whose
 * lowest bit says that the chunk is not compressed, and whose other bits are the length of what follows:
 *
 *     0x0b 0x00 0x00  h e l l o      5 bytes as they are: 5 * 2 + 1
 *     0x40 0x0d 0x03  ...            100,000 compressed bytes (0x030d40 = 200,000 = 2 * 100,000 + 0)
 *
 * A chunk gives at most the file's block_bytes. Reading makes a job of each compressed chunk (byte_decoder.h), whoever
 * runs them, for one column or for many stripes at once; finishing puts all chunks one after the other.
 */
#ifndef TESSERA_LOADER_ORC_ORC_STREAMS_H
#define TESSERA_LOADER_ORC_ORC_STREAMS_H

#include "loader/orc/orc_file.h"

/* The bytes after the end of a stream that may be read; they mean nothing. */
#define ORC_TEXT_SPARE 64u

/* A stream. Its memory is kept and used again for the next stream. */
struct orc_stream_bytes {
    const uint8_t *bytes; /* when finished */
    uint64_t count;

    uint8_t *raw, *out; /* as in the file, and decompressed */
    uint64_t raw_room, out_room;
    struct byte_job *jobs; /* a chunk each */
    uint32_t job_count, job_room;
};

/* The bytes that a column has in a stripe; zero-initialised is empty. */
struct orc_streams {
    struct orc_stream_bytes kinds[ORC_VALUE_STREAMS];
};
void orc_streams_free(struct orc_streams *streams);

/* The streams with values of one column in one stripe; bytes 0: there is none. */
struct orc_column_layout {
    struct orc_stream streams[ORC_VALUE_STREAMS];
    struct orc_column_encoding encoding;
};

/* Finds the streams of type number `column`. STATUS_BAD_INPUT if one is there twice. */
NODISCARD enum status orc_column_layout_find(const struct orc_place *place,
                                             const struct orc_stripe_footer *footer, uint32_t column,
                                             struct orc_column_layout *layout, struct error *error);

/* Reads the column's streams from the file and makes the jobs. STATUS_MACHINE if decompressing a stream could take more
 * than `most` bytes. */
NODISCARD enum status orc_streams_read(const struct orc_place *place, int descriptor,
                                       const struct orc_column_layout *layout, uint64_t most,
                                       struct orc_streams *streams, struct error *error);

/* Runs the jobs of these streams. */
NODISCARD enum status orc_streams_run(const struct byte_decoder *decoder, struct orc_streams *streams,
                                      struct error *error);

/* When all jobs are done: sets bytes and count of each stream. STATUS_BAD_INPUT if a chunk was damaged. */
NODISCARD enum status orc_streams_finish(const struct orc_place *place, struct orc_streams *streams,
                                         struct error *error);

/* Reads one range of the file and decompresses it on the host, for footers. */
NODISCARD enum status orc_metadata_read(const struct orc_place *place, int descriptor, uint64_t offset,
                                        uint64_t bytes, struct orc_stream_bytes *stream, struct error *error);
void orc_stream_bytes_free(struct orc_stream_bytes *stream);

#endif
