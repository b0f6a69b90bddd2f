/*
 * printing.h: an answer on its way out: what rowset_print.c, which deals parts of it to threads and writes them in order,
 * and printing_text.c, which makes their text, know of it.
 */
#ifndef TESSERA_ENGINE_ANSWER_PRINTING_H
#define TESSERA_ENGINE_ANSWER_PRINTING_H

#include "engine/answer/cells.h"

#include <pthread.h>

/* What one thread works with. */
struct printing_thread {
    struct text_space text;    /* rows, ready to go out */
    struct text_space *spaces; /* of each column's cells */
    struct piece *cells;       /* of a block, column by column */
    size_t *widths;            /* of the columns' cells so far, in characters */
};

struct printing {
    const struct rowset *rows;
    enum rowset_format format;
    FILE *out;
    struct cell_column *columns;
    struct piece *before;    /* a cell: a separator, a key; with PIECE_PADDING */
    struct text_space heads; /* their bytes */
    size_t *widths;          /* of tables */
    uint32_t block_rows;
    uint64_t part_rows, parts;
    struct printing_thread *threads;
    unsigned thread_count;
    pthread_mutex_t lock;
    pthread_cond_t turned;
    uint64_t turn; /* the part whose text goes out, under lock; */
    bool stopped;  /* none does any more */
};

/* A table or Markdown: columns have widths. */
bool printing_is_table(const struct printing *printing);

/* Fills `before`. */
NODISCARD enum status printing_heads_make(struct printing *printing, struct error *error);

/* Makes the thread's cells of a block of rows, or of one row that has the columns' names. */
NODISCARD enum status printing_cells_make(const struct printing *printing, struct printing_thread *own,
                                          uint64_t first, uint32_t count, struct error *error);
NODISCARD enum status printing_names_make(const struct printing *printing, struct printing_thread *own,
                                          struct error *error);

/* The rows of these cells: behind the thread's text, or into its widths. */
NODISCARD enum status printing_rows_put(const struct printing *printing, struct printing_thread *own,
                                        uint32_t count, struct error *error);
void printing_rows_measure(const struct printing *printing, struct printing_thread *own, uint32_t count);

/* What comes before the first row and behind the last. */
NODISCARD enum status printing_begin_put(const struct printing *printing, struct printing_thread *own,
                                         struct error *error);
NODISCARD enum status printing_end_put(const struct printing *printing, struct printing_thread *own,
                                       struct error *error);

#endif
