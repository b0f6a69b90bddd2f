/*
 * columnar_store.h: turns the decoded values of one column of one part into the values that a table stores: numbers and
 * dates converted to the schema's types, strings to codes, foreign keys to positions, as table_rows.c does with
 * fields of text.
 *
 * It works on pieces of some thousand rows, which stay in the cache. A piece whose values are all right takes a few
 * loops without branches on values; any other piece is done again, row by row.
 */
#ifndef TESSERA_LOADER_COLUMNAR_COLUMNAR_STORE_H
#define TESSERA_LOADER_COLUMNAR_COLUMNAR_STORE_H

#include "loader/columnar/columnar_file.h"
#include "loader/table/table_loader_internal.h"

#define COLUMNAR_PIECE_ROWS 4096u

/* A value that is wrong. Its row is left out, or ends the load. */
struct columnar_bad_value {
    uint32_t row, column; /* of the part, from 0; of the schema's table */
    char *text;           /* the sentence for the user; NULL after the first COLUMNAR_BAD_TEXTS of a column */
};
#define COLUMNAR_BAD_TEXTS 100u

struct columnar_bad_values {
    uint64_t count, room;
    struct columnar_bad_value *values;
};

void columnar_bad_values_free(struct columnar_bad_values *bad);

/* Where the values of a part's rows are stored. */
struct columnar_stored {
    void *values; /* int32_t[] or int64_t[], by the column */
    uint8_t *
        *nulls; /* *nulls NULL: no row is NULL. It is allocated for the first NULL; the caller frees it */
};

/* A string of at most 16 bytes and its code; most columns have few different strings. */
struct columnar_word {
    uint64_t first, second; /* 8 bytes each */
    uint32_t length;        /* UINT32_MAX: nothing is here */
    int32_t code;
};
#define COLUMNAR_WORD_BITS 10u

/* What a thread works in; zero-initialised. columnar_store_scratch_free frees its memory. */
struct columnar_store_scratch {
    union {
        int32_t narrow[COLUMNAR_PIECE_ROWS];
        int64_t wide[COLUMNAR_PIECE_ROWS];
    } piece;
    struct columnar_word words[1u << COLUMNAR_WORD_BITS];
    struct columnar_room entries; /* of a part's dictionary */
};
void columnar_store_scratch_free(struct columnar_store_scratch *scratch);

struct columnar_store {
    const struct row_parse *parse;
    const struct columnar_place *place;
    const struct columnar_type *type;
    const struct columnar_values *values;
    uint64_t first_row;               /* of the part, in the file */
    uint32_t column;                  /* of the schema's table */
    struct dictionary_builder *words; /* the thread's, of this column; NULL: the column has no dictionary */
    struct columnar_store_scratch *scratch;
    struct columnar_stored into;
};

/* Stores all rows. Wrong values are added to *bad, in the order of rows, at most `most` + 1 of them; what is stored for
 * them means nothing. */
NODISCARD enum status columnar_store_column(const struct columnar_store *store, uint64_t most,
                                            struct columnar_bad_values *bad, struct error *error);

/* The same for who tells of wrong values himself, by going through the rows once more: `place` and `first_row` need not be set.
 * *right: all values are right; else what is stored means nothing. */
NODISCARD enum status columnar_store_try(const struct columnar_store *store, bool *right,
                                         struct error *error);

#endif
