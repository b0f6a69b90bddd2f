/* text_rows.h: where rows and fields of delimited text begin and end (text_source.h has the rules). */
#ifndef TESSERA_LOADER_TEXT_ROWS_H
#define TESSERA_LOADER_TEXT_ROWS_H

#include "loader/text_source.h"

/* How text is read; known once the first file was opened. */
struct text_shape {
    char delimiter;
    bool trailing;         /* every row ends with a delimiter behind its last field */
    uint32_t columns;      /* fields of a row */
    const char *null_text; /* NULL: an empty field */
    size_t null_length;
};

/* The end of the last whole row in text that begins a row: bytes up to and with its line end; 0 if there is none. At
 * the end of a file (`last`) what has no line end is a row, too, unless a quote is open: then *open_quote. *lines counts
 * the line ends in what was taken. */
size_t text_rows_whole(const char *text, size_t length, char delimiter, bool last, uint64_t *lines,
                       bool *open_quote);

/* Cuts the row at `text` into fields (room for `room` of them): returns their number, which may be greater than room; *end is behind the row's
 * line end. Fields with doubled quotes are written to *spare, which moves on: at most as long as the row. *fault: NULL or what is wrong. */
uint32_t text_row_split(const char *text, const char *limit, const struct text_shape *shape,
                        struct text_field *fields, uint32_t room, const char **end, char **spare,
                        uint64_t *lines, const char **fault);

/* Whether the bytes are UTF-8 without zero bytes. */
bool text_is_utf8(const char *text, size_t length);

#endif
