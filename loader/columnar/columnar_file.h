/*
 * columnar_file.h: a file that has its rows by columns, as ORC and Parquet files do, in parts (stripes, row groups) of
 * many rows each: what a load, a proposal of a schema and `tessera inspect` ask of such a file, whatever its format.
 *
 * A format is a struct columnar_format. columnar_formats.c lists them; nobody else names one. To read a column of a
 * part is three steps, so that a decoder of many streams in one call, as a GPU is, can do the second one for many
 * parts:
 *
 *     column_read      its bytes come from the file; each compressed piece becomes a job (columnar_streams.h)
 *     (the jobs)       are run by a byte_decoder
 *     column_decode    bytes become values (columnar_values.h)
 *
 * Files come from other programs and may be damaged or hostile: a format checks every length, offset and count before
 * it uses it, and tells what is wrong with file, part and column.
 */
#ifndef TESSERA_LOADER_COLUMNAR_COLUMNAR_FILE_H
#define TESSERA_LOADER_COLUMNAR_COLUMNAR_FILE_H

#include "loader/columnar/columnar_streams.h"
#include "loader/columnar/columnar_values.h"

#include <stdio.h>

/* The kinds of values, whatever they are called in the format. */
enum columnar_kind {
    COLUMNAR_BOOLEAN,
    COLUMNAR_INTEGER,
    COLUMNAR_FLOATING,
    COLUMNAR_DECIMAL, /* also whole numbers beyond 64 bits with sign */
    COLUMNAR_DATE,
    COLUMNAR_TIMESTAMP,
    COLUMNAR_TEXT,
    COLUMNAR_OTHER /* no column of a table can have it: lists, structs, bytes */
};

/* The memory that a thread takes for a row of one column: decompressed, decoded, stored if the next segment has its
 * other rows. */
#define COLUMNAR_SCRATCH_ROW_BYTES 32u

#define COLUMNAR_TYPE_BYTES 64u
struct columnar_type {
    enum columnar_kind kind;
    uint32_t precision, scale;      /* of COLUMNAR_DECIMAL */
    bool narrow;                    /* of COLUMNAR_INTEGER: all its numbers have 32 bits */
    bool zoned;                     /* COLUMNAR_TIMESTAMP: an instant, in UTC */
    char name[COLUMNAR_TYPE_BYTES]; /* as the format calls it: "bigint", "decimal(12,2)", "list" */
};

/* A column at the top of the file's schema. */
struct columnar_column {
    const char *name;
    struct columnar_type type;
    uint32_t number; /* by which the format knows it */
};

struct columnar_part {
    uint64_t first_row, rows;
};

/* What each format knows of a file, at the beginning of a struct of its own. */
struct columnar_file {
    const struct columnar_format *format;
    const char *path; /* the caller's */
    uint64_t size, rows;
    uint32_t column_count, part_count;
    struct columnar_column *columns;
    struct columnar_part *parts;
    uint32_t schemes; /* bit s: it may have jobs of byte_scheme s */
    bool encrypted;   /* some of its columns are */
};

/* A part that is open for reading. Zero-initialised with a descriptor of -1 is closed. */
struct columnar_opened {
    const struct columnar_file *file;
    uint32_t part; /* from 0 */
    int descriptor;
    void *own; /* the format's: a stripe's footer; or NULL */
};

struct columnar_format {
    const char *name;         /* "ORC" */
    const char *part;         /* "stripe" */
    const char *ending;       /* ".orc": files of such names are read in this format, and in no other */
    const char *first, *last; /* the bytes with which a file begins, and ends, but for `after` bytes */
    uint32_t after;

    /* Reads what the file says of itself. The format's own struct, of file_bytes bytes, has only format, path and size
     * before. file_end frees what it has read, also after an error, but for columns and parts. */
    size_t file_bytes;
    enum status (*file_read)(struct columnar_file *file, int descriptor, struct error *error);
    void (*file_end)(struct columnar_file *file);

    /* Reads what a part says of itself to opened->own; NULL: nothing. */
    enum status (*part_open)(struct columnar_opened *opened, struct error *error);
    void (*part_close)(struct columnar_opened *opened);

    /* Reads a column's bytes, and makes the jobs. STATUS_MACHINE if what they give could take more than `most` bytes. */
    enum status (*column_read)(const struct columnar_opened *opened, uint32_t column, uint64_t most,
                               struct columnar_streams *streams, struct error *error);

    /* Decodes all values, when all jobs are done. STATUS_MACHINE if they would take more than `most` bytes. */
    enum status (*column_decode)(const struct columnar_opened *opened, uint32_t column, uint64_t most,
                                 struct columnar_streams *streams, struct columnar_values *values,
                                 struct error *error);

    /* NULL, or gives what a part says of a column's values, without reading them: two values, of which the first is not
     * greater than any of the part's, and the second not less (count 0: it does not say), and how many are NULL
     * (-1: it does not say). What it says may be wrong or hostile; values that cannot be are not given. */
    enum status (*column_ends)(const struct columnar_file *file, uint32_t part, uint32_t column,
                               struct columnar_values *values, int64_t *nulls, struct error *error);

    /* Writes what the file holds as tables, or as one JSON object. */
    enum status (*inspect)(const struct columnar_file *file, bool json, FILE *out, struct error *error);
};

/* The format in which a file should be read, by its name's end, or its first and last bytes; NULL: it is none of these,
 * no regular file, or missing. */
NODISCARD enum status columnar_format_find(const char *path, const struct columnar_format **format,
                                           struct error *error);

/* Reads what a file says of itself; *file is NULL after an error. */
NODISCARD enum status columnar_file_open(const struct columnar_format *format, const char *path,
                                         struct columnar_file **file, struct error *error);
void columnar_file_close(struct columnar_file *file); /* or NULL */

/* The number of the column of this name, or else of one that differs in case only; column_count: there is none. */
uint32_t columnar_column_find(const struct columnar_file *file, const char *name);

/* Opens the file for reading a part. Close it by columnar_part_close, also after an error. STATUS_BAD_INPUT if it has
 * another size than when its footer was read. */
NODISCARD enum status columnar_part_open(const struct columnar_file *file, uint32_t part,
                                         struct columnar_opened *opened, struct error *error);
void columnar_part_close(struct columnar_opened *opened);

/* Reads bytes that lie in the file. */
NODISCARD enum status columnar_file_bytes(const struct columnar_file *file, int descriptor, uint64_t offset,
                                          uint64_t bytes, void *into, struct error *error);

/* ---- Places, for error sentences ---- */

#define COLUMNAR_WHOLE_FILE UINT32_MAX
struct columnar_place {
    const struct columnar_file *file;
    uint32_t part;      /* from 0; COLUMNAR_WHOLE_FILE: none */
    const char *column; /* or NULL */
};

static inline struct columnar_place columnar_place_of(const struct columnar_opened *opened, uint32_t column)
{
    return (struct columnar_place){opened->file, opened->part, opened->file->columns[column].name};
}

/* Writes "FILE, stripe 3, column NAME"; parts are counted from 1. */
#define COLUMNAR_PLACE_BYTES 640
void columnar_place_text(const struct columnar_place *place, char text[COLUMNAR_PLACE_BYTES]);

/* STATUS_BAD_INPUT, "FILE, stripe 3, column NAME: WHAT; the file is damaged ...". */
enum status columnar_damaged(struct error *error, const struct columnar_place *place, const char *what, ...)
    __attribute__((format(printf, 3, 4)));

/* STATUS_MACHINE, "FILE, stripe 3, column NAME: WHAT 70 MB of memory, and --memory allows 64; give more". */
enum status columnar_too_large(struct error *error, const struct columnar_place *place, const char *what,
                               uint64_t bytes, uint64_t most);

#endif
