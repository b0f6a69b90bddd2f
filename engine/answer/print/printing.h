/*
 * printing.h: the state of an answer that is being printed, shared by rowset_print.c, which divides the
 * answer into parts for threads and writes these in order, and by printing_text.c, which makes the text of a
 * part.
 */
#ifndef TESSERA_ENGINE_ANSWER_PRINTING_H
#define TESSERA_ENGINE_ANSWER_PRINTING_H

#include "engine/answer/print/cells.h"
#include "engine/answer/print/ordered_output.h"

/* The memory of one thread. */
struct printing_thread {
    struct text_space text;    /* rows, ready to be written */
    struct text_space *spaces; /* the text of each column's cells */
    struct piece *cells;       /* of a block of rows, column by column */
    size_t *widths;            /* the columns' widest cells so far (text_width.h) */
};

struct printing {
    const struct rowset *rows;
    const struct rowset_style *style;
    enum rowset_format format; /* the style's */
    struct ordered_output out; /* of parts */
    struct cell_column *columns;
    struct piece *before;    /* the text before each column's cell: a separator, a key; with PIECE_PADDING */
    struct text_space heads; /* the bytes of `before` */
    size_t *widths;          /* the columns' widths in a table */
    uint32_t block_rows;
    uint64_t part_rows, parts;
    struct printing_thread *threads;
    unsigned thread_count;
};

/* True for a table and for Markdown, whose columns have widths. */
bool printing_is_table(const struct printing *printing);

/* Fills `before`. */
NODISCARD enum status printing_heads_make(struct printing *printing, struct error *error);

/* Makes the thread's cells from a block of rows, or one row of cells from the columns' names. */
NODISCARD enum status printing_cells_make(const struct printing *printing, struct printing_thread *own,
                                          uint64_t first, uint32_t count, struct error *error);
NODISCARD enum status printing_names_make(const struct printing *printing, struct printing_thread *own,
                                          struct error *error);

/* Appends the rows of the thread's cells to its text, or enters them into its widths. */
NODISCARD enum status printing_rows_put(const struct printing *printing, struct printing_thread *own,
                                        uint32_t count, struct error *error);
void printing_rows_measure(const struct printing *printing, struct printing_thread *own, uint32_t count);

/* Append the text before the first row, and that after the last. */
NODISCARD enum status printing_begin_put(const struct printing *printing, struct printing_thread *own,
                                         struct error *error);
NODISCARD enum status printing_end_put(const struct printing *printing, struct printing_thread *own,
                                       struct error *error);

#endif
