/*
 * cells.h: writes an answer's values as pieces of text, some hundred rows of a column at a time. So each loop
 * is over values of one type, and the strings of a small dictionary are quoted once.
 */
#ifndef TESSERA_ENGINE_ANSWER_CELLS_H
#define TESSERA_ENGINE_ANSWER_CELLS_H

#include "engine/answer/rowset.h"

/* The bytes after a piece's text that may be read: pieces are copied by this many bytes at a time. */
#define PIECE_PADDING 16u

struct piece {
    const char *text;
    size_t bytes;
};

/* Text that grows, with PIECE_PADDING more bytes after it. Valid if zero-initialised; free `bytes`. */
struct text_space {
    char *bytes;
    size_t used, capacity;
};

/* Makes room for `more` bytes after `used`, and for the padding. `bytes` may move. */
NODISCARD enum status text_space_reserve(struct text_space *space, size_t more, struct error *error);

/* Writes a string in the format: in quotes if it needs them or, in a table, with blanks for control
 * characters. Writes at `at`, where cell_string_bound bytes must be free, and returns the end. */
char *cell_string(const struct rowset_style *style, const char *text, size_t length, char *at);
size_t cell_string_bound(enum rowset_format format, size_t length);

/* A column, prepared for printing. Threads share it and only read it. */
struct cell_column {
    const struct rowset_column *column;
    const struct rowset_style *style;
    struct piece *strings; /* those of a small dictionary, and then the empty string; else NULL */
    char *string_bytes;
};

NODISCARD enum status cell_column_open(const struct rowset_column *column, uint64_t rows,
                                       const struct rowset_style *style, struct cell_column *made,
                                       struct error *error);
void cell_column_close(struct cell_column *column);

/* Makes the pieces of rows first .. first + count - 1. Their texts are in `space`, which is overwritten, or
 * in the column. */
NODISCARD enum status cells_make(const struct cell_column *column, uint64_t first, uint32_t count,
                                 struct text_space *space, struct piece *cells, struct error *error);

#endif
