/*
 * orc_store.h: turns the decoded values of one column of one stripe into the values that a table stores: numbers and
 * dates converted to the schema's types, strings to codes, foreign keys to positions, as table_rows.c does with
 * fields of text.
 *
 * It works on pieces of some thousand rows, which stay in the cache. A piece whose values are all right takes a few
 * loops without branches on values; any other piece is done again, row by row.
 */
#ifndef TESSERA_LOADER_ORC_ORC_STORE_H
#define TESSERA_LOADER_ORC_ORC_STORE_H

#include "loader/orc/orc_values.h"
#include "loader/table/table_loader_internal.h"

#define ORC_PIECE_ROWS 4096u

/* A value that is wrong. Its row is left out, or ends the load. */
struct orc_bad_value {
    uint32_t row, column; /* of the stripe, from 0; of the schema's table */
    char *text;           /* the sentence for the user; NULL after the first ORC_BAD_TEXTS of a column */
};
#define ORC_BAD_TEXTS 100u

struct orc_bad_values {
    uint64_t count, room;
    struct orc_bad_value *values;
};

void orc_bad_values_free(struct orc_bad_values *bad);

/* Where the values of a stripe's rows are stored. */
struct orc_stored {
    void *values; /* int32_t[] or int64_t[], by the column */
    uint8_t *
        *nulls; /* *nulls NULL: no row is NULL. It is allocated for the first NULL; the caller frees it */
};

/* A string of at most 16 bytes and its code; most columns have few different strings. */
struct orc_word {
    uint64_t first, second; /* 8 bytes each */
    uint32_t length;        /* UINT32_MAX: nothing is here */
    int32_t code;
};
#define ORC_WORD_BITS 10u

/* What a thread works in; zero-initialised. orc_store_scratch_free frees its memory. */
struct orc_store_scratch {
    union {
        int32_t narrow[ORC_PIECE_ROWS];
        int64_t wide[ORC_PIECE_ROWS];
    } piece;
    struct orc_word words[1u << ORC_WORD_BITS];
    struct orc_room entries; /* of a stripe's dictionary */
};
void orc_store_scratch_free(struct orc_store_scratch *scratch);

struct orc_store {
    const struct row_parse *parse;
    const struct orc_place *place;
    const struct orc_type *type;
    const struct orc_values *values;
    uint64_t first_row;               /* of the stripe, in the file */
    uint32_t column;                  /* of the schema's table */
    struct dictionary_builder *words; /* the thread's, of this column; NULL: the column has no dictionary */
    struct orc_store_scratch *scratch;
    struct orc_stored into;
};

/* Stores all rows. Wrong values are added to *bad, in the order of rows, at most `most` + 1 of them; what is stored for
 * them means nothing. */
NODISCARD enum status orc_store_column(const struct orc_store *store, uint64_t most,
                                       struct orc_bad_values *bad, struct error *error);

#endif
