/*
 * table_tuples.h: keys of several columns in a load, and the references by them: FOREIGN KEY (a, b) REFERENCES t (a, b),
 * and references of a table to itself.
 *
 * A row's values in the columns of a key are written as one string of bytes, a tuple: numbers as 8 bytes, texts after
 * their length, foreign keys as the positions that they have. A dictionary_builder finds it again: 8 bytes a number and
 * 32 more, and 4 for the row, while the load lasts. References are found when all rows of a table have been read, before
 * any is written, so a row may reference a later one; the positions that they have stay in memory, 4 bytes a row. NULL
 * in a column makes the reference NULL, whatever the others have, as SQL says (MATCH SIMPLE).
 */
#ifndef TESSERA_LOADER_TABLE_TABLE_TUPLES_H
#define TESSERA_LOADER_TABLE_TABLE_TUPLES_H

#include "loader/table/table_loader_internal.h"

struct load_tuples;

/* `keys`: those of each table of the script, as far as they are known, for errors. */
NODISCARD enum status load_tuples_create(const struct schema_script *schema, const struct table_keys *keys,
                                         struct load_tuples **out, struct error *error);
void load_tuples_free(struct load_tuples *tuples);

/* Makes the keys of table `number` of the script from all its rows: those of `before`, unless it is NULL, and the parsed
 * ones. A tuple that is there twice gives STATUS_BAD_INPUT (key_twice). */
NODISCARD enum status load_tuples_make(struct load_tuples *tuples, uint32_t number,
                                       const struct parsed_table *parsed, const struct key_owner *owner,
                                       struct database *before, unsigned threads, struct error *error);

/* Gives the rows of a table with levels their positions; NULL: they stay. */
void load_tuples_place(struct load_tuples *tuples, uint32_t number, const int32_t *positions);

/* Says that table `number` was written: rows were added to `old`, the state before, and its rows are at these positions,
 * the old ones first (NULL: a row's position is its number). Stored keys of other tables that reference it, and are
 * read later, have old positions, which are taken for the new ones. If `old` is NULL the table was replaced, and such
 * keys mean nothing: reading them is STATUS_BAD_INPUT. */
NODISCARD enum status load_tuples_moved(struct load_tuples *tuples, uint32_t number, const struct table *old,
                                        const int32_t *positions, struct error *error);

struct tuple_search {
    struct database *existing; /* has the tables that are not loaded now; or NULL */
    unsigned threads;
    bool dangling_null;
};

/* Finds all references of the table that are no columns of its files: sets `found` in its blocks. A tuple without a row
 * gives STATUS_BAD_INPUT with file, line, columns and values. */
NODISCARD enum status load_tuples_find(struct load_tuples *tuples, struct parsed_table *parsed,
                                       const struct tuple_search *search, struct error *error);

/* True if the table references itself. */
bool load_tuples_self(const struct schema_table *table);

#endif
