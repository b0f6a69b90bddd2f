/* table_replace.h: the rows of a table that a load replaces (struct load_replacement). */
#ifndef TESSERA_LOADER_TABLE_TABLE_REPLACE_H
#define TESSERA_LOADER_TABLE_TABLE_REPLACE_H

#include "loader/table/table_loader.h"
#include "storage/database/writer.h"

/* Deletes the rows in the change that begins, and counts them. *existing becomes the state without them. */
NODISCARD enum status table_replace_begin(const struct load_replacement *replacement,
                                          struct database_writer *writer, struct database **existing,
                                          uint64_t *replaced, struct error *error);

/* Tests that the rows which were appended, all of them written, are those that the replacement's condition finds.
 * `sorted`: the table was given another order. */
NODISCARD enum status table_replace_check(const struct load_replacement *replacement,
                                          struct database_writer *writer, uint64_t appended, bool sorted,
                                          struct error *error);

#endif
