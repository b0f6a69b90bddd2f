/*
 * parquet_page.h: the pages of one column in one row group, read and decompressed.
 *
 * A chunk is a sequence of pages, first that of the dictionary, if there is one. A page has a header in Thrift's
 * compact protocol and then its bytes:
 *
 *     data page v1     levels | values                     all compressed together
 *     data page v2     levels (not compressed) | values    compressed, or not, as the header says
 *     dictionary       values, PLAIN                       compressed
 *
 * Reading walks over the pages, compares checksums where a header has one, and makes the jobs. Decoding walks over them
 * again; a page then has its bytes.
 */
#ifndef TESSERA_LOADER_PARQUET_PARQUET_PAGE_H
#define TESSERA_LOADER_PARQUET_PARQUET_PAGE_H

#include "loader/parquet/parquet_file.h"

struct parquet_page {
    uint32_t kind;
    uint32_t values; /* NULLs count */
    uint32_t encoding, level_encoding;

    /* What the levels of v2 have, which come first; then the values. Of other pages `levels` is empty. */
    const uint8_t *levels, *bytes;
    uint32_t level_bytes, byte_count;
    bool is_compressed;
    uint32_t plain_bytes; /* of the values, as the header says */
};

/* The place in a column's pages; each step gives the next page with its bytes decompressed. */
struct parquet_walk {
    const struct columnar_place *place;
    const struct columnar_stream *stream;
    const uint8_t *at, *end;
    uint32_t codec, job; /* the next */
    uint32_t page;       /* that were given */
    struct error *error;
};

/* The schemes of byte_decoder.h, as bits, that pages of a codec need. */
uint32_t parquet_codec_schemes(uint32_t codec);

/* Reads the chunk and makes the jobs, as columnar_format's column_read. */
NODISCARD enum status parquet_chunk_read(const struct columnar_place *place, int descriptor,
                                         const struct parquet_chunk *chunk, uint64_t rows, uint64_t most,
                                         struct columnar_stream *stream, struct error *error);

/* Begins a walk over a stream that was read and whose jobs are done. */
struct parquet_walk parquet_walk_begin(const struct columnar_place *place, const struct parquet_chunk *chunk,
                                       const struct columnar_stream *stream, struct error *error);

/* Gives the next page. The chunk must have one. */
NODISCARD enum status parquet_walk_next(struct parquet_walk *walk, struct parquet_page *page);

#endif
