/*
 * text_source.h: rows of CSV (RFC 4180), TSV or '|'-delimited text from files, compressed files and standard
 * input, in blocks of whole rows that threads take one after the other.
 *
 * A block holds up to TEXT_BLOCK_BYTES of text, more only for a row that is longer (at most TEXT_ROW_BYTES).
 * Reading, decompressing and finding where rows end happens in text_source_next, by one thread at a time, at
 * about the speed of memory; splitting rows into fields, by each thread for its own block.
 *
 * Rows: a field that begins with " ends with one, and may hold delimiters, line ends and quotes, these doubled; any other quote
 * is a character like others. Lines end with \n or \r\n. Empty lines are no rows, but a NULL in a table of one column. Every row
 * has a delimiter behind its last field, or none: the first one decides. A byte order mark is skipped. A field that is
 * not quoted and equals the NULL text is NULL. Text must be UTF-8 without NUL bytes.
 */
#ifndef TESSERA_LOADER_TEXT_TEXT_SOURCE_H
#define TESSERA_LOADER_TEXT_TEXT_SOURCE_H

#include "storage/base/parallel.h"
#include "storage/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEXT_BLOCK_BYTES (1u << 20)
#define TEXT_ROW_BYTES   (16u << 20)

enum text_header {
    TEXT_HEADER_AUTO, /* the first row is a header if its fields are names of the columns, in any order */
    TEXT_HEADER_YES,
    TEXT_HEADER_NO
};

struct text_options {
    char delimiter; /* 0: by the file's name (.csv ',', .tsv tab, .tbl '|'), else by the first line */
    enum text_header header;
    const char *null_text; /* NULL: an empty field that is not quoted is NULL */
    /* Every byte between two delimiters belongs to the field: no quotes, no NULLs (`null_text` is not looked at), and an
     * empty line is a row, if a bad one. As dbgen writes. */
    bool verbatim;
};

/* Not zero-terminated; points into the block. `length` TEXT_NULL: NULL. */
#define TEXT_NULL UINT32_MAX
struct text_field {
    const char *text;
    uint32_t length;
};

/* A row that cannot be split into the right number of fields, has a NUL byte or is no UTF-8: its fields mean nothing. */
#define TEXT_COMPLAINT_BYTES 256u
struct text_fault {
    uint32_t row; /* of the block */
    char complaint
        [TEXT_COMPLAINT_BYTES]; /* "has 3 fields instead of 5: ...", of which what is behind the colon helps to find it */
};

/* One a thread, zero-initialised, reused from call to call, freed by text_block_free. */
struct text_block {
    uint64_t number;           /* 0, 1, ... in the order of the text */
    const char *path;          /* of the file that its rows come from */
    uint32_t rows;             /* faulty ones included */
    struct text_field *fields; /* rows * columns, in the order of the table's columns */
    const char **row_text;     /* rows + 1: where each row begins, as written */
    uint64_t *row_line;        /* rows: its first line in the file, from 1 */
    uint32_t fault_count;
    struct text_fault *faults; /* ascending by row */
    void *own;
};
void text_block_free(struct text_block *block);

struct text_source;

/* Files (or "-" for standard input, alone) of one table; .gz and .zst by their first bytes. `column_names` are
 * and `paths` are kept by reference. Missing files, header names that are unknown, missing (of nullable columns, too) or there
 * twice: STATUS_BAD_INPUT naming file and name. All files have the same delimiter; each has a header or not. */
NODISCARD enum status text_source_open(const char *const *paths, uint32_t path_count,
                                       const char *const *column_names, uint32_t columns,
                                       const struct text_options *options, struct text_source **source,
                                       struct error *error);
void text_source_close(struct text_source *source);

/* The next block; block->rows is 0 at the end. From any thread. A quoted field that does not end, a truncated
 * or damaged compressed file, a row longer than TEXT_ROW_BYTES: an error naming file and line. */
NODISCARD enum status text_source_next(struct text_source *source, struct text_block *block,
                                       struct error *error);

/* Bytes of files (compressed ones as they lie on disk) read so far, and in all; all is 0 if not known. */
void text_source_progress(const struct text_source *source, uint64_t *done, uint64_t *all);

/* ---- One field as a value ---- */

/* What is stored for the text, by the column's type (not strings): an optional sign, digits, a point and at most `scale` further
 * digits for decimals (trailing zeros beyond are fine); YYYY-MM-DD; YYYY-MM-DD[ T]HH:MM[:SS[.ffffff]][Z]; true/false/t/f/yes/no/1/0 in
 * any case. Returns NULL, or what is wrong with it: "is no whole number", "has more than 2 decimals", "is
 * out of range". */
struct column_schema;
const char *text_value(const struct column_schema *column, const char *text, uint32_t length, int64_t *value);

/* The complaint about a number that the column cannot hold, and what it can: "-999.99 to 999.99" into text of 64 bytes. */
extern const char text_out_of_range[];
void text_value_range(const struct column_schema *column, char *text);

#endif
