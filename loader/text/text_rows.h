/* text_rows.h: splits a piece of delimited text into whole rows and their fields (text_source.h has the
 * rules). */
#ifndef TESSERA_LOADER_TEXT_TEXT_ROWS_H
#define TESSERA_LOADER_TEXT_TEXT_ROWS_H

#include "loader/text/text_scan.h"
#include "loader/text/text_source.h"

/* The shape of a text; it is known when the first row has been read. */
struct text_shape {
    char delimiter;
    int json;              /* enum json_layout (json_rows.h); 0: the text is delimited */
    bool verbatim;         /* as in text_options */
    bool trailing;         /* every row ends with a delimiter after its last field */
    uint32_t columns;      /* of the table */
    uint32_t fields;       /* of a row of the current file, which may have more than the table */
    const char *null_text; /* NULL: an empty field */
    size_t null_length;
    const char *const *names; /* of the columns, for complaints */
};

/* text_scan_whole, for this machine's instruction set. */
struct text_whole text_rows_whole(const char *text, size_t length, const struct text_shape *shape);

/* Fills the index by text_scan_index and grows its memory as needed; text_index_free frees it. *room is the
 * size of that memory, 0 at first. */
NODISCARD enum status text_rows_index(const char *text, size_t length, const struct text_shape *shape,
                                      struct text_index *index, size_t *room, struct error *error);
void text_index_free(struct text_index *index);

/* What text_row_split finds in a row. */
struct text_row {
    uint32_t fields;       /* an empty field after a trailing delimiter counts, too */
    bool last_empty;       /* there is nothing, not even quotes, after the last delimiter */
    uint64_t lines;        /* 1, and 1 more for each newline in quotes */
    const char *complaint; /* NULL, or what is wrong with a field */
};

/* The place of a field that the table does not have. */
#define TEXT_SKIPPED UINT32_MAX

/* Splits row number `row` of the index. The first `room` fields are written, field f to fields[places[f]]
 * (places NULL: to fields[f]), unless that is TEXT_SKIPPED. Fields with doubled quotes are copied to *spare, which moves on by at most the
 * row's length. */
struct text_row text_row_split(const char *text, const struct text_index *index, uint32_t row,
                               const struct text_shape *shape, const uint32_t *places, uint32_t room,
                               struct text_field *fields, char **spare);

/* Whether the row is an empty line, which is not a row if there are several columns. */
static inline bool text_row_empty(const struct text_row *row)
{
    return row->fields == 1 && row->last_empty;
}

/* Copies text for complaints: truncated, with control characters escaped (error_text_escape). */
#define TEXT_SHOWN_BYTES 64u
void text_printable(const char *text, size_t length, char shown[TEXT_SHOWN_BYTES]);

/* The complaint about text that is no UTF-8. */
extern const char text_no_utf8[];

#endif
