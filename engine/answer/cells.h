/*
 * cells.h: an answer's values as pieces of text, a column and some hundred rows at a time: loops over values of one type,
 * and what a format asks of strings done once for each string of a small dictionary.
 */
#ifndef TESSERA_ENGINE_ANSWER_CELLS_H
#define TESSERA_ENGINE_ANSWER_CELLS_H

#include "engine/answer/rowset.h"

/* Behind a piece's text so many bytes may be read: pieces are copied so many at a time. */
#define PIECE_PADDING 16u

struct piece {
    const char *text;
    size_t bytes;
};

/* Bytes that grow, with PIECE_PADDING more behind them. Zero-initialised is valid; free `bytes`. */
struct text_space {
    char *bytes;
    size_t used, capacity;
};

/* Room for `more` bytes behind `used`, and for the padding; what is there may move. */
NODISCARD enum status text_space_reserve(struct text_space *space, size_t more, struct error *error);

/* A string as the format has it: quoted if it needs it, or with what would break a line of a table made blank. Writes at
 * `at`, where cell_string_bound bytes are free, and returns the end. */
char *cell_string(enum rowset_format format, const char *text, size_t length, char *at);
size_t cell_string_bound(enum rowset_format format, size_t length);

/* A column made ready: for all threads, read only. */
struct cell_column {
    const struct rowset_column *column;
    enum rowset_format format;
    struct piece *strings; /* of a small dictionary, and the empty string behind them; else NULL */
    char *string_bytes;
};

NODISCARD enum status cell_column_open(const struct rowset_column *column, uint64_t rows,
                                       enum rowset_format format, struct cell_column *made,
                                       struct error *error);
void cell_column_close(struct cell_column *column);

/* The pieces of rows first .. first + count - 1. Their texts are in `space`, which is written anew, or in the column. */
NODISCARD enum status cells_make(const struct cell_column *column, uint64_t first, uint32_t count,
                                 struct text_space *space, struct piece *cells, struct error *error);

#endif
