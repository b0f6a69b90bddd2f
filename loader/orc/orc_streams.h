/*
 * orc_streams.h: the bytes of one column's streams in one stripe, read and decompressed.
 *
 * In a compressed file a stream is a sequence of chunks. A chunk has a header of 3 bytes, least byte first, whose
 * lowest bit says that the chunk is not compressed, and whose other bits are the length of what follows:
 *
 *     0x0b 0x00 0x00  h e l l o      5 bytes as they are: 5 * 2 + 1
 *     0x40 0x0d 0x03  ...            100,000 compressed bytes (0x030d40 = 200,000 = 2 * 100,000 + 0)
 *
 * A chunk gives at most the file's block_bytes. Reading makes a job of each chunk (loader/columnar/columnar_streams.h);
 * finishing puts what all chunks gave one after the other.
 */
#ifndef TESSERA_LOADER_ORC_ORC_STREAMS_H
#define TESSERA_LOADER_ORC_ORC_STREAMS_H

#include "loader/orc/orc_file.h"

/* The streams with values of one column in one stripe; bytes 0: there is none. */
struct orc_column_layout {
    struct orc_stream streams[ORC_VALUE_STREAMS];
    struct orc_column_encoding encoding;
};

/* Finds the streams of type number `column`. STATUS_BAD_INPUT if one is there twice. */
NODISCARD enum status orc_column_layout_find(const struct columnar_place *place,
                                             const struct orc_stripe_footer *footer, uint32_t column,
                                             struct orc_column_layout *layout, struct error *error);

/* Reads the column's streams from the file and makes the jobs. STATUS_MACHINE if decompressing a stream could take more
 * than `most` bytes. */
NODISCARD enum status orc_streams_read(const struct columnar_place *place, int descriptor,
                                       const struct orc_column_layout *layout, uint64_t most,
                                       struct columnar_streams *streams, struct error *error);

/* When all jobs are done: sets bytes and count of each stream. STATUS_BAD_INPUT if a chunk was damaged. Stream number k
 * is that of enum orc_stream_kind. */
NODISCARD enum status orc_streams_finish(const struct columnar_place *place, struct columnar_streams *streams,
                                         struct error *error);

/* Reads one range of the file and decompresses it on the host, for footers. */
NODISCARD enum status orc_metadata_read(const struct columnar_place *place, int descriptor, uint64_t offset,
                                        uint64_t bytes, struct columnar_stream *stream, struct error *error);

#endif
