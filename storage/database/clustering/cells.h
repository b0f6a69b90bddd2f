/*
 * cells.h: puts the rows of a segment next to those of the same cell.
 *
 * A term of a clustering gives each row a code of a few bits: leading bits of a position, which say where in the hierarchy of
 * a dimension the row stands (storage/column/levels.h), or leading bits of a value. The codes of all terms are a row's cell.
 * Rows are stored cell after cell, and those of one cell in the order in which they came. A column is then written through
 * the places of its rows: it is read from front to back, and written at as many places as there are cells, which stay in the
 * second-level cache. Reading it in the new order instead would touch a line of memory for each row.
 *
 * Prior art: multidimensional hierarchical clustering (Markl, Ramsak and Bayer, VLDB 1999), which sorts whole tables.
 */
#ifndef TESSERA_STORAGE_DATABASE_CLUSTERING_CELLS_H
#define TESSERA_STORAGE_DATABASE_CLUSTERING_CELLS_H

#include "storage/base/status.h"

#include <stdint.h>

/* Of all codes of a row. */
#define CELL_BITS_MAX 16u

/* The code of a row is (value - least) >> shift, and with `validity` one more than that, or 0 for NULL. */
struct cell_term {
    const void *values;       /* int32_t[] or int64_t[]; those of NULL rows mean nothing */
    const uint64_t *validity; /* NULL: no row is NULL; else bit r%64 of word r/64 is set if row r is not */
    uint32_t value_bytes;
    uint32_t shift, bits; /* every code has at most `bits` bits */
    int64_t least;        /* of the values */
};

/* Sets places[r], where row r of `rows` rows goes, and *cells, how many have rows. The bits of all terms are at most
 * CELL_BITS_MAX. STATUS_MACHINE without memory: 4 bytes a cell that there may be, for each piece of 65,536 rows, at most 64. */
NODISCARD enum status cells_place(const struct cell_term *terms, uint32_t term_count, uint32_t rows,
                                  unsigned threads, uint32_t *places, uint32_t *cells, struct error *error);

/* Writes values (4 or 8 bytes each), or bits of NULLs, to their places. `to` does not overlap what is read. */
void cells_scatter(const uint32_t *places, uint32_t rows, uint32_t value_bytes, const void *values, void *to);
void cells_scatter_bits(const uint32_t *places, uint32_t rows, const uint64_t *bits, uint64_t *to);

#endif
