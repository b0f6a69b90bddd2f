/*
 * orc_file.h: what an ORC file says about itself: types, stripes and their streams.
 *
 *     "ORC"
 *     stripe 0:  index streams | data streams | stripe footer      a stripe has all columns of its rows
 *     stripe 1:  ...
 *     metadata | footer | postscript | 1 byte, the postscript's length
 *
 * The postscript says how everything else is compressed. A compressed footer or stream is a sequence of chunks
 * (orc_streams.h).
 */
#ifndef TESSERA_LOADER_ORC_ORC_FILE_H
#define TESSERA_LOADER_ORC_ORC_FILE_H

#include "loader/columnar/columnar_file.h"

/* The numbers are the format's. */
enum orc_kind {
    ORC_BOOLEAN,
    ORC_BYTE,
    ORC_SHORT,
    ORC_INT,
    ORC_LONG,
    ORC_FLOAT,
    ORC_DOUBLE,
    ORC_STRING,
    ORC_BINARY,
    ORC_TIMESTAMP,
    ORC_LIST,
    ORC_MAP,
    ORC_STRUCT,
    ORC_UNION,
    ORC_DECIMAL,
    ORC_DATE,
    ORC_VARCHAR,
    ORC_CHAR,
    ORC_TIMESTAMP_INSTANT, /* with a time zone, stored in UTC */
    ORC_KINDS
};

enum orc_compression { ORC_NONE, ORC_ZLIB, ORC_SNAPPY, ORC_LZO, ORC_LZ4, ORC_ZSTD, ORC_COMPRESSIONS };

enum orc_encoding { ORC_DIRECT, ORC_DICTIONARY, ORC_DIRECT_V2, ORC_DICTIONARY_V2, ORC_ENCODINGS };

enum orc_stream_kind {
    ORC_PRESENT, /* a bit a row: 0 is NULL */
    ORC_DATA,
    ORC_LENGTH,
    ORC_DICTIONARY_DATA,
    ORC_DICTIONARY_COUNT,
    ORC_SECONDARY,     /* nanoseconds of timestamps, scales of decimals */
    ORC_VALUE_STREAMS, /* those from here on have no values: indexes and Bloom filters */
    ORC_ROW_INDEX = ORC_VALUE_STREAMS,
    ORC_BLOOM_FILTER,
    ORC_BLOOM_FILTER_UTF8,
    ORC_STREAM_KINDS
};

/* A column of the file, or the root (number 0), or what is nested in another column. */
struct orc_type {
    uint32_t kind; /* enum orc_kind, or unknown from ORC_KINDS on */
    uint32_t precision, scale, maximum_length;
    uint32_t child_count, *children; /* numbers of types, each greater than this one's */
    char *name;                      /* in its parent; "" if it has none */
};

struct orc_stripe {
    uint64_t offset, index_bytes, data_bytes, footer_bytes;
};

struct orc_file {
    struct columnar_file base;             /* its parts are the stripes, its columns the root's children */
    uint64_t footer_bytes, metadata_bytes; /* metadata: statistics of stripes */
    enum orc_compression compression;
    uint32_t block_bytes; /* the most that a chunk has when it is decompressed */
    uint32_t version[2];  /* 0.11 or 0.12 */
    uint32_t writer, writer_version;
    char *software; /* the writer's own version, or "" */
    uint32_t row_index_stride;
    uint32_t type_count;
    struct orc_type *types; /* 0 is the root, a struct whose children are the file's columns */
    struct orc_stripe *stripes;
    void *statistics; /* of stripes, for orc_statistics_find; NULL: the file has none */
};

static inline const struct orc_file *orc_file_of(const struct columnar_file *file)
{
    return (const struct orc_file *)file;
}

/* A stream's place in the file. */
struct orc_stream {
    uint32_t kind, column;
    uint64_t offset, bytes;
};

struct orc_column_encoding {
    uint32_t kind, dictionary_size;
};

struct orc_stripe_footer {
    uint32_t stream_count;
    struct orc_stream *streams;
    struct orc_column_encoding *encodings; /* one a type */
    char *timezone;                        /* of the writer, for timestamps; or "" */
};

/* Reads the postscript and the footer, and frees them, as columnar_format's file_read and file_end. STATUS_BAD_INPUT for
 * what is no ORC file, is damaged, or is compressed by lzo. */
NODISCARD enum status orc_file_read(struct orc_file *file, int descriptor, struct error *error);
void orc_file_free(struct orc_file *file);

/* Reads the footer of stripe number `stripe`. Free the result with orc_stripe_footer_free, also after an error. */
NODISCARD enum status orc_stripe_footer_read(const struct orc_file *file, int descriptor, uint32_t stripe,
                                             struct orc_stripe_footer *footer, struct error *error);
void orc_stripe_footer_free(struct orc_stripe_footer *footer);

/* What a stripe says of a column's values: the least and the greatest one, if `known`. */
struct orc_statistics {
    uint64_t values; /* that are not NULL; UINT64_MAX: it does not say */
    bool known;
    int64_t ends[2];            /* numbers, days, keys of doubles */
    struct text_field texts[2]; /* instead of them, of strings; their memory is the file's */
};

/* Gives it for the column of this type. Nothing is known of other kinds than whole numbers, doubles, dates and texts, nor of
 * what cannot be. */
void orc_statistics_find(const struct orc_file *file, uint32_t stripe, uint32_t type,
                         struct orc_statistics *statistics);

/* The scheme of the file's compressed chunks; the file is compressed. */
enum byte_scheme orc_file_scheme(const struct orc_file *file);

/* The format's names: "bigint", "zlib", "DIRECT_V2", "DATA"; or "unknown". */
const char *orc_kind_name(uint32_t kind);
/* "decimal(12,2)", "varchar(10)", "bigint" */
void orc_type_text(const struct orc_type *type, char text[COLUMNAR_TYPE_BYTES]);
const char *orc_compression_name(uint32_t compression);
const char *orc_encoding_name(uint32_t encoding);
const char *orc_stream_name(uint32_t kind);

#endif
