/* text_rows.h: whole rows and their fields in a piece of delimited text (text_source.h has the rules). */
#ifndef TESSERA_LOADER_TEXT_TEXT_ROWS_H
#define TESSERA_LOADER_TEXT_TEXT_ROWS_H

#include "loader/text/text_scan.h"
#include "loader/text/text_source.h"

/* How text is read; known once the first row was read. */
struct text_shape {
    char delimiter;
    bool verbatim;         /* as in text_options */
    bool trailing;         /* every row ends with a delimiter behind its last field */
    uint32_t columns;      /* fields of a row */
    const char *null_text; /* NULL: an empty field */
    size_t null_length;
    const char *const *names; /* of the columns, for complaints */
};

/* text_scan.h, for this machine. */
struct text_whole text_rows_whole(const char *text, size_t length, const struct text_shape *shape);

/* Fills the index, growing its memory as needed; text_index_free frees it. `room`: in and out, zero at first. */
NODISCARD enum status text_rows_index(const char *text, size_t length, const struct text_shape *shape,
                                      struct text_index *index, size_t *room, struct error *error);
void text_index_free(struct text_index *index);

/* What a row is made of. */
struct text_row {
    uint32_t fields;       /* as written: an empty one behind a trailing delimiter is one more */
    bool last_empty;       /* nothing, not even quotes, behind the last delimiter */
    uint64_t lines;        /* that it takes: 1, and 1 for each newline in quotes */
    const char *complaint; /* NULL, or what is wrong with a field */
};

/* The fields of row number `row` of the index, of which the first `room` are written, field f to fields[places[f]] (places
 * NULL: to fields[f]). Fields with doubled quotes are written to *spare, which moves on: at most as long as the row. */
struct text_row text_row_split(const char *text, const struct text_index *index, uint32_t row,
                               const struct text_shape *shape, const uint32_t *places, uint32_t room,
                               struct text_field *fields, char **spare);

/* An empty line, which is no row where rows have several columns. */
static inline bool text_row_empty(const struct text_row *row)
{
    return row->fields == 1 && row->last_empty;
}

/* Cut, and control characters as '?', for complaints. */
#define TEXT_SHOWN_BYTES 64u
void text_printable(const char *text, size_t length, char shown[TEXT_SHOWN_BYTES]);

/* Whether the bytes are UTF-8. */
bool text_is_utf8(const char *text, size_t length);

#endif
