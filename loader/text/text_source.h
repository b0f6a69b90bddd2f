/*
 * text_source.h: reads rows of CSV (RFC 4180), TSV or '|'-delimited text, or JSON (json_rows.h), from files, compressed files and
 * standard input, in blocks of whole rows that threads take one after the other.
 *
 * A block has up to TEXT_BLOCK_BYTES of text, and more only for a longer row (at most TEXT_ROW_BYTES). In
 * text_source_next one thread at a time reads, decompresses and finds the ends of rows, at about the speed of
 * memory. Each thread splits the rows of its own block into fields.
 *
 * A field that begins with " also ends with one, and may contain delimiters, line ends and doubled quotes;
 * any other quote is an ordinary character. Lines end with \n or \r\n. Empty lines are ignored, but in a
 * table of one column an empty line is a NULL. Either every row has a delimiter after its last field, or none
 * has; the first row decides. A byte order mark is skipped; that of UTF-16
 * says that the file is UTF-16. An unquoted field that equals the NULL text is
 * NULL. Text must be UTF-8, or of the encoding that is given, without NUL bytes.
 */
#ifndef TESSERA_LOADER_TEXT_TEXT_SOURCE_H
#define TESSERA_LOADER_TEXT_TEXT_SOURCE_H

#include "storage/base/parallel.h"
#include "storage/base/status.h"
#include "storage/base/text/time_format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEXT_BLOCK_BYTES (1u << 20)
#define TEXT_ROW_BYTES   (16u << 20)

enum text_header {
    TEXT_HEADER_AUTO, /* the first row is a header if the columns' names are among its fields, in any order */
    TEXT_HEADER_YES,
    TEXT_HEADER_NO
};

/* What 12.5 % is, if percents are read: 12.5 or 0.125. A number without the sign is itself. */
enum text_percent { TEXT_PERCENT_NONE, TEXT_PERCENT_POINTS, TEXT_PERCENT_FRACTION };

struct zone;

/* How values are read. All zero: as written below at text_value. */
struct text_reading {
    char thousands;    /* between groups of three digits: , . ' _ or a blank; 0: none */
    char decimal_mark; /* 0: a point */
    char percent;      /* enum text_percent */
    char currency[13]; /* its sign may stand before or behind numbers; "": none may */
    bool round;        /* numbers with more decimals than their column are rounded; half goes away from 0 */
    bool cut_nanoseconds; /* of times the digits after microseconds are cut */
    const struct time_format *date_format, *timestamp_format; /* NULL: as in ISO 8601 */
    const struct zone
        *zone; /* by whose clock times without an offset are, in columns with time zone; NULL: UTC */
};

struct reading_option;

struct text_options {
    struct text_reading reading;           /* of all columns */
    const struct reading_option *readings; /* and of single ones, reading_options.h */
    uint32_t reading_count;
    /* 0: by the file's name (.tsv tab, .tbl '|', .csv ',' if that cuts the first line), else by the first line */
    char delimiter;
    enum text_header header;
    const char *encoding; /* NULL: UTF-8; or a name of iconv's */

    /* NULL, or the columns of the files' fields, "a,b,-,c": a name that is no column of the table is skipped. A header,
     * if there is one, then says nothing. */
    const char *columns;
    const char *null_text; /* NULL: an empty field that is not quoted is NULL */
    /* As dbgen writes: every byte between two delimiters belongs to the field. There are no quotes and no
     * NULLs (`null_text` is ignored), and an empty line is a (bad) row. */
    bool verbatim;
};

/* A field. Its text is not zero-terminated and is in the block. A `length` of TEXT_NULL means NULL. */
#define TEXT_NULL UINT32_MAX
struct text_field {
    const char *text;
    uint32_t length;
};

/* A row that cannot be split into the right number of fields, has a NUL byte or is not UTF-8. Its fields mean
 * nothing. */
#define TEXT_COMPLAINT_BYTES 256u
struct text_fault {
    uint32_t row; /* of the block */
    bool no_text; /* the row has a NUL byte, or is not UTF-8 */

    /* "has 3 fields instead of 5: ..."; the text after the colon helps to find the row. */
    char complaint[TEXT_COMPLAINT_BYTES];
};

/* A block of rows. Each thread has one, zero-initialised, reuses it for each call, and frees it by
 * text_block_free. */
struct text_block {
    uint64_t number;           /* 0, 1, ... in the order of the text */
    const char *path;          /* of the rows' file */
    uint32_t rows;             /* including faulty rows */
    struct text_field *fields; /* rows * columns, in the order of the table's columns */
    const char **row_text;     /* rows + 1: where each row begins, as written */
    uint64_t *row_line;        /* rows: its first line in the file, from 1 */
    uint32_t fault_count;
    struct text_fault *faults; /* ascending by row */
    void *own;
};
void text_block_free(struct text_block *block);

struct text_source;

/* Opens the files of one table, or standard input alone ("-"). Compressed files are recognised by their first
 * bytes. `column_names` and `paths` must outlive the source. STATUS_BAD_INPUT, naming file and name, for
 * missing files and for columns that a header lacks (also nullable ones) or names twice; other names in it are
 * skipped. All files have the same delimiter; each may have a header or not. */
NODISCARD enum status text_source_open(const char *const *paths, uint32_t path_count,
                                       const char *const *column_names, uint32_t columns,
                                       const struct text_options *options, struct text_source **source,
                                       struct error *error);
void text_source_close(struct text_source *source);

/* Reads the next block; block->rows is 0 at the end. Any thread may call. An error, naming file and line, for
 * a quoted field that does not end, a truncated or damaged compressed file, and a row longer than
 * TEXT_ROW_BYTES. */
NODISCARD enum status text_source_next(struct text_source *source, struct text_block *block,
                                       struct error *error);

/* The bytes of files read so far, and of all files, as they are on disk; *all is 0 if it is not known. */
void text_source_progress(const struct text_source *source, uint64_t *done, uint64_t *all);

/* ---- One field as a value ---- */

/* Converts text to the stored value of the column's type (not strings): an optional sign, digits, for
 * decimals a point and at most `scale` digits, further zeros, and an exponent; YYYY-MM-DD (also with 00:00:00); YYYY-MM-DD[
 * T]HH:MM[:SS[.ffffff]][Z|+HH[[:]MM]], of which UTC is stored, as is of the reading's zone in columns with time zone; true/false/t/f/yes/no/1/0 in any case. Returns NULL, or
 * the complaint: "is no whole number", "has more than 2 decimals", "is out of range". */
struct column_schema;
const char *text_value(const struct text_reading *reading, const struct column_schema *column,
                       const char *text, uint32_t length, int64_t *value);

/* What a user can do about a complaint: " (--round rounds such numbers)", or "". */
const char *text_value_advice(const char *complaint);

/* The same for columns of doubles (text_double.c). */
const char *text_double(const char *text, uint32_t length, int64_t *value);
/* The double nearest to number / 10^scale, scale 0 .. 38. */
const char *text_decimal_double(__int128 number, int scale, int64_t *value);

/* The complaint about a number that does not fit the column; and the column's range, "-999.99 to 999.99",
 * written to `text`. */
#define TEXT_RANGE_BYTES 112u /* two numbers of 20 digits with decimals, by a compiler's count */
extern const char text_out_of_range[];
void text_value_range(const struct column_schema *column, char text[TEXT_RANGE_BYTES]);

#endif
