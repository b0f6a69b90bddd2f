/* cells.c: see cells.h. A radix partition: the rows of each cell are counted piece by piece, from which follows where the rows
 * of a piece begin in a cell, and so where each row goes. */
#include "storage/database/clustering/cells.h"

#include "storage/base/memory.h"
#include "storage/base/parallel.h"

#include <stdlib.h>
#include <string.h>

#define PIECE_LEAST 65536u
#define PIECES_MOST 64u
#define BATCH_ROWS  1024u

struct placing {
    const struct cell_term *terms;
    uint32_t term_count, rows, cells, piece_rows, pieces;
    uint32_t *counts; /* of a piece after the other: rows of each cell, later the place of the next one */
    uint32_t *places; /* first the cells */
};

static uint32_t rows_of(const struct placing *placing, uint64_t piece)
{
    const uint32_t left = placing->rows - (uint32_t)piece * placing->piece_rows;
    return left < placing->piece_rows ? left : placing->piece_rows;
}

/* Appends the term's codes to those of `count` rows from `first` on. The mask is for values that nobody has checked yet. */
static void add_codes(const struct cell_term *term, uint32_t first, uint32_t count, uint32_t *cells)
{
    const uint64_t least = (uint64_t)term->least, mask = (UINT64_C(1) << term->bits) - 1;
    const uint32_t nullable = term->validity != NULL;
    if (term->value_bytes == 4) {
        const int32_t *const values = (const int32_t *)term->values + first;
        for (uint32_t r = 0; r < count; r++)
            cells[r] =
                cells[r] << term->bits |
                (uint32_t)(((((uint64_t)(int64_t)values[r] - least) >> term->shift) + nullable) & mask);
    } else {
        const int64_t *const values = (const int64_t *)term->values + first;
        for (uint32_t r = 0; r < count; r++)
            cells[r] = cells[r] << term->bits |
                       (uint32_t)(((((uint64_t)values[r] - least) >> term->shift) + nullable) & mask);
    }
}

/* A NULL row has any value, so its code is cleared where it stands among the codes so far. */
static void add_nullable(const struct cell_term *term, uint32_t first, uint32_t count, uint32_t *cells)
{
    uint32_t before[BATCH_ROWS];
    memcpy(before, cells, count * sizeof *before);
    add_codes(term, first, count, cells);
    for (uint32_t r = 0; r < count; r++)
        if (!(term->validity[(first + r) / 64] >> (first + r) % 64 & 1))
            cells[r] = before[r] << term->bits;
}

static enum status count_piece(void *context, uint64_t piece, unsigned thread, struct error *error)
{
    struct placing *const placing = context;
    uint32_t *const counts = placing->counts + piece * placing->cells;
    const uint32_t begin = (uint32_t)piece * placing->piece_rows, rows = rows_of(placing, piece);
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    for (uint32_t done = 0; done < rows; done += BATCH_ROWS) {
        const uint32_t count = rows - done < BATCH_ROWS ? rows - done : BATCH_ROWS;
        uint32_t *const cells = placing->places + begin + done;
        memset(cells, 0, count * sizeof *cells);
        for (uint32_t t = 0; t < placing->term_count; t++)
            (placing->terms[t].validity ? add_nullable : add_codes)(&placing->terms[t], begin + done, count,
                                                                    cells);
        for (uint32_t r = 0; r < count; r++)
            counts[cells[r]]++;
    }
    return STATUS_OK;
}

static enum status place_piece(void *context, uint64_t piece, unsigned thread, struct error *error)
{
    struct placing *const placing = context;
    uint32_t *const next = placing->counts + piece * placing->cells, *const places =
                                                                         placing->places +
                                                                         piece * placing->piece_rows;
    const uint32_t rows = rows_of(placing, piece);
    (void)thread;
    for (uint32_t r = 0; r < rows; r++)
        places[r] = next[places[r]]++;
    return cancel_check(error);
}

/* Turns counts into the places of each piece's first row of a cell. */
static uint32_t find_starts(const struct placing *placing)
{
    uint32_t place = 0, used = 0;
    for (uint32_t cell = 0; cell < placing->cells; cell++) {
        const uint32_t begin = place;
        for (uint32_t piece = 0; piece < placing->pieces; piece++) {
            uint32_t *const of = &placing->counts[(uint64_t)piece * placing->cells + cell];
            const uint32_t count = *of;
            *of = place;
            place += count;
        }
        used += place > begin;
    }
    return used;
}

enum status cells_place(const struct cell_term *terms, uint32_t term_count, uint32_t rows, unsigned threads,
                        uint32_t *places, uint32_t *cells, struct error *error)
{
    struct placing placing = {.terms = terms, .term_count = term_count, .rows = rows, .places = places};
    uint32_t bits = 0;
    for (uint32_t t = 0; t < term_count; t++)
        bits += terms[t].bits;
    placing.cells = 1u << bits;
    const uint32_t each = (rows + PIECES_MOST - 1) / PIECES_MOST;
    placing.piece_rows = each > PIECE_LEAST ? each : PIECE_LEAST;
    placing.pieces = (rows + placing.piece_rows - 1) / placing.piece_rows;
    const uint64_t counters = (uint64_t)placing.pieces * placing.cells;
    RETURN_IF_ERROR(memory_zeros(&placing.counts, (counters + 1) * sizeof *placing.counts, "cells", error));
    enum status status = parallel_for(threads, placing.pieces, count_piece, &placing, error);
    if (status == STATUS_OK) {
        *cells = find_starts(&placing);
        status = parallel_for(threads, placing.pieces, place_piece, &placing, error);
    }
    free(placing.counts);
    return status;
}

void cells_scatter(const uint32_t *places, uint32_t rows, uint32_t value_bytes, const void *values, void *to)
{
    if (value_bytes == 4)
        for (uint32_t r = 0; r < rows; r++)
            ((int32_t *)to)[places[r]] = ((const int32_t *)values)[r];
    else
        for (uint32_t r = 0; r < rows; r++)
            ((int64_t *)to)[places[r]] = ((const int64_t *)values)[r];
}

void cells_scatter_bits(const uint32_t *places, uint32_t rows, const uint64_t *bits, uint64_t *to)
{
    memset(to, 0, ((size_t)rows + 63) / 64 * sizeof *to);
    for (uint32_t r = 0; r < rows; r++)
        to[places[r] / 64] |= (bits[r / 64] >> r % 64 & 1) << places[r] % 64;
}
