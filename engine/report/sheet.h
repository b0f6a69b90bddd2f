/*
 * sheet.h: a table of figures, made once and shown as text, CSV, JSON or on a page (page.h).
 *
 * A database has tables and statements have rowsets; a sheet is a table of measurements. It has tens of rows.
 * People and programs want different figures of the same row ("4.52 MB", 4519032), so a column has a key for
 * programs, a name for people, or both.
 */
#ifndef TESSERA_ENGINE_REPORT_SHEET_H
#define TESSERA_ENGINE_REPORT_SHEET_H

#include "engine/report/keep.h"
#include "storage/base/status.h"

#include <stdio.h>

struct sheet_column {
    const char *key;  /* in CSV and JSON: "bytes_read"; NULL: the column is for people only */
    const char *name; /* for people: "read"; NULL: the column is in CSV and JSON only */
    const char *unit; /* of the numbers that people see: "MB"; NULL: none */

    /* Columns side by side with the same group have it as a heading above their names; NULL: none. */
    const char *group;

    uint32_t
        width; /* characters to leave for it in a table that is printed while it grows; 0: a usual number */
    const char *suffix;   /* follows each number for people, as in "2.13x"; NULL: none */
    bool text;            /* the cells are texts, which are left-aligned */
    bool label;           /* it names the row, as the first column does, and is nothing that was measured */
    bool whole;           /* the cells are integers, below 2^53 */
    uint32_t digits;      /* for people: after the decimal point */
    uint32_t significant; /* for people: so many significant digits instead; 0: `digits` counts */
    double scale;         /* people see the number times this: 1e-6 for bytes in MB; 0 counts as 1 */
};

struct sheet_cell {
    enum { SHEET_MISSING, SHEET_NUMBER, SHEET_TEXT } kind;
    double number;    /* finite */
    const char *text; /* of a missing cell: what people see instead, or NULL for "-" */
};

/* Read it freely; change it by the functions below. */
struct sheet {
    uint32_t column_count;
    struct sheet_column *columns;
    uint32_t cell_count;
    struct sheet_cell *cells; /* row by row */
    struct keep keep;
};

/* Makes an empty sheet; columns and their texts are copied. Free with sheet_destroy. */
NODISCARD enum status sheet_create(const struct sheet_column *columns, uint32_t column_count,
                                   struct sheet **sheet, struct error *error);
void sheet_destroy(struct sheet *sheet); /* NULL is legal */

/* Each adds the next cell, from left to right and from top to bottom. NaN, infinity and a text that is NULL are
 * missing. `why` ("not installed") is for people; NULL: "-". Texts are copied. */
void sheet_number(struct sheet *sheet, double number);
void sheet_known(struct sheet *sheet, double number); /* 0: it is not known, so missing */
void sheet_text(struct sheet *sheet, const char *text);
void sheet_missing(struct sheet *sheet, const char *why);

/* The number of complete rows. */
uint32_t sheet_rows(const struct sheet *sheet);

#define SHEET_NUMBER_BYTES 64

/* Gives the text that people see in a cell of the column: in `buffer`, or the cell's own. */
const char *sheet_cell_text(const struct sheet_column *column, const struct sheet_cell *cell,
                            char buffer[SHEET_NUMBER_BYTES]);

/* The two print the sheet to `file`:
 *
 *     sheet_print_table   a line of groups, if there are any, a line of names and units, and the rows, in
 *                         columns that are as wide as they need be
 *     sheet_print_csv     a line of keys and the rows, as in RFC 4180; numbers have 9 digits, missing cells
 *                         are empty
 *
 * A failure to write is left in ferror(file). STATUS_MACHINE if memory ran out while the sheet was made. */
NODISCARD enum status sheet_print_table(const struct sheet *sheet, FILE *file, struct error *error);
NODISCARD enum status sheet_print_csv(const struct sheet *sheet, FILE *file, struct error *error);

enum sheet_form { SHEET_TABLE, SHEET_CSV };

/* The same for a table that is printed while it grows: the head, and later the complete rows from row `first` on. Widths do
 * not depend on the rows, so a cell that is too wide moves the rest of its line. */
NODISCARD enum status sheet_print_head(const struct sheet *sheet, enum sheet_form form, FILE *file,
                                       struct error *error);
NODISCARD enum status sheet_print_rows(const struct sheet *sheet, enum sheet_form form, uint32_t first,
                                       FILE *file, struct error *error);

/* Gives an array of objects, one a row, which the caller owns; missing cells are null. NULL: a text is not
 * UTF-8, or there is no memory. `struct json_t` is jansson's. */
struct json_t *sheet_json(const struct sheet *sheet);

#endif
