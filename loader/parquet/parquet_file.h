/*
 * parquet_file.h: what a Parquet file says about itself: its schema, row groups, and where their columns are.
 *
 *     "PAR1"
 *     row group 0:  column 0: dictionary page | data page | data page ...      a chunk: one column of one group
 *                   column 1: ...
 *     row group 1:  ...
 *     footer | 4 bytes: the footer's length, least byte first | "PAR1"
 *
 * The footer is a struct in Thrift's compact protocol (thrift.h). The schema is a tree, listed parents first; only its
 * leaves have chunks, each group all of them in that order. A column of a table is a leaf at the top of the tree.
 */
#ifndef TESSERA_LOADER_PARQUET_PARQUET_FILE_H
#define TESSERA_LOADER_PARQUET_PARQUET_FILE_H

#include "loader/columnar/columnar_file.h"
#include "storage/base/parquet_numbers.h"

/* What the values of a leaf mean, by its logical type. */
enum parquet_meaning {
    PARQUET_NOTHING, /* nothing that a table can have */
    PARQUET_TRUTH,
    PARQUET_NUMBER,
    PARQUET_UNSIGNED,
    PARQUET_REAL,
    PARQUET_DECIMAL, /* of bytes: a signed number, the greatest byte first */
    PARQUET_DATE,
    PARQUET_MILLIS,
    PARQUET_MICROS,
    PARQUET_NANOS,
    PARQUET_JULIAN, /* 12 bytes: nanoseconds of the day, and the day's number, of INT96 */
    PARQUET_TEXT,
    PARQUET_UUID, /* 16 bytes, which become text */
    PARQUET_NULLS /* no value at all */
};

struct parquet_leaf {
    char *name;                /* with those that it is in: "address.street" */
    uint32_t physical, length; /* of PARQUET_FIXED, in bytes */
    enum parquet_meaning meaning;
    bool optional; /* of a column: it has levels, 1 for a value and 0 for NULL */
    bool ordered;  /* the file says that least and greatest values are by the order of the type */
    struct columnar_type type;
};

/* What a chunk says of its values: two of them in PLAIN, without lengths before them, in the footer's bytes. */
struct parquet_statistics {
    const char *least, *greatest; /* NULL: it does not say */
    uint32_t least_bytes, greatest_bytes;
    bool old;      /* of the fields that were for signed numbers alone */
    int64_t nulls; /* -1: it does not say */
};

struct parquet_chunk {
    uint64_t offset, bytes, plain_bytes; /* plain_bytes: not compressed */
    uint32_t codec, encodings;           /* bit e: some page has encoding e */
    bool elsewhere;                      /* in another file */
    struct parquet_statistics statistics;
};

struct parquet_file {
    struct columnar_file base; /* its parts are the row groups */
    uint64_t footer_bytes;
    uint8_t *footer; /* in which statistics are */
    uint32_t version;
    char *software; /* that wrote it, or "" */
    uint32_t leaf_count, inner_count;
    struct parquet_leaf *leaves;
    char **inner_names;           /* of columns that are no leaves */
    struct parquet_chunk *chunks; /* those of each group; parquet_chunk_of */
};

static inline const struct parquet_file *parquet_file_of(const struct columnar_file *file)
{
    return (const struct parquet_file *)file;
}

static inline struct parquet_chunk *parquet_chunk_of(const struct parquet_file *file, uint32_t group,
                                                     uint32_t leaf)
{
    return &file->chunks[(uint64_t)group * file->leaf_count + leaf];
}

/* Reads the footer, and frees it, as columnar_format's file_read and file_end. */
NODISCARD enum status parquet_file_read(struct parquet_file *file, int descriptor, struct error *error);
void parquet_file_free(struct parquet_file *file);

/* The format's names, "zstd", "RLE_DICTIONARY"; or "unknown". */
const char *parquet_codec_name(uint32_t codec);
const char *parquet_encoding_name(uint32_t encoding);

/* ---- parquet_schema.c ---- */

struct thrift;
struct thrift_field;

/* Reads the list of the schema's elements to the file's leaves and columns. */
NODISCARD enum status parquet_schema_read(struct parquet_file *file, struct thrift *thrift,
                                          const struct thrift_field *field, struct error *error);

#endif
