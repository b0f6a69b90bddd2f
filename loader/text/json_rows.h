/*
 * json_rows.h: rows of a text that are JSON objects: one a line (JSON lines), or one after the other, as in a list or printed
 * over several lines. A member is the field of the column that has its name, in any case of letters; other members are
 * skipped, and a column without a member is NULL. A field is a string without its escapes, null is NULL, and any other
 * value is as it is written.
 *
 * Where each row is a line, blocks end at newlines, which are found at the speed of memory. Otherwise brackets are counted
 * outside of strings, at some 0.5 GB/s, by one thread at a time. Members are read at about 1 GB/s on each thread: most
 * objects have the members of the one before, in the same order.
 */
#ifndef TESSERA_LOADER_TEXT_JSON_ROWS_H
#define TESSERA_LOADER_TEXT_JSON_ROWS_H

#include "loader/text/text_rows.h"

#include <stddef.h>

enum json_layout {
    JSON_LAYOUT_NONE,    /* the text is not JSON */
    JSON_LAYOUT_LINES,   /* an object a line */
    JSON_LAYOUT_OBJECTS, /* objects follow each other */
    JSON_LAYOUT_LIST     /* the same, in brackets */
};

/* Finds the layout of a text that begins so; `whole`: there is no more of it. *known is false if more bytes must be seen. *bytes are those
 * before the first object: of the bracket that begins a list. */
enum json_layout json_layout_find(const char *text, size_t length, bool whole, bool *known, size_t *bytes);

/* The whole rows of the text, as in text_scan_whole; open_quote: it ends within an object. */
struct text_whole json_rows_whole(const char *text, size_t length, enum json_layout layout);

/* Fills the index with the ends of rows: `ends` and `rows` as for delimited text of one field. What is behind the last object
 * of JSON_LAYOUT_OBJECTS is one more row, if it is more than the end of a list. */
void json_rows_index(const char *text, size_t length, struct text_index *index);

/* What is known of the members of the object before, for one block. */
#define JSON_GUESSES 512u
struct json_guess {
    const char *name;
    uint32_t length, column; /* TEXT_SKIPPED: no column has the name */
};
struct json_reader {
    const struct text_shape *shape;
    const uint32_t *lengths; /* of the columns' names */
    uint32_t *seen;          /* of each column the last row that has it, from 1 */
    uint32_t row;            /* that is read, from 1 */
    uint32_t guessed;
    struct json_guess guesses[JSON_GUESSES];
};

/* Reads the object that a row is. Fields that it lacks are NULL. *at moves behind it. Strings without their escapes are put to
 * *spare, which moves on by at most the row's length. Returns NULL, or the complaint, which is in `sentence`. */
const char *json_row_read(struct json_reader *reader, const char **at, const char *end,
                          struct text_field *fields, char **spare, char sentence[TEXT_COMPLAINT_BYTES]);

#endif
