/*
 * table_checks.h: tests the rows of one table by its CHECK conditions and UNIQUE columns.
 *
 * Rows of text are tested by their conditions block by block while they are read, so that a row that fails is a bad row
 * like any other. Rows of columnar files and Arrow streams are read by columns: they are tested when the whole table has been
 * read, and a row that fails ends the load. UNIQUE is tested then for rows of any source, among the rows of this load.
 */
#ifndef TESSERA_LOADER_TABLE_TABLE_CHECKS_H
#define TESSERA_LOADER_TABLE_TABLE_CHECKS_H

#include "loader/check/check.h"
#include "loader/table/table_loader_internal.h"

struct row_checks;

/* Makes what rows of text are tested by; *checks is NULL if the table has no conditions. `readings`, one for each column, must outlive
 * it. */
NODISCARD enum status row_checks_create(const struct schema_table *table, const struct text_reading *readings,
                                        unsigned threads, struct row_checks **checks, struct error *error);
void row_checks_free(struct row_checks *checks);

/* A thread begins a block of up to `rows` rows; tells where row `row` of it comes from, once its values are there. */
NODISCARD enum status row_checks_begin(struct row_checks *checks, unsigned thread, uint32_t rows,
                                       struct error *error);
NODISCARD enum status row_checks_row(struct row_checks *checks, unsigned thread, uint32_t row,
                                     uint32_t text_row, const struct text_field *fields, struct error *error);

/* Tests the rows of the thread's block that have not been, and takes out those that do not pass. Gives each of these to
 * `reject` with its row of text and what is wrong with it; an error of its own ends the load. */
typedef enum status row_failed(void *context, uint32_t text_row, const char *says);
NODISCARD enum status row_checks_test(struct row_parse *parse, unsigned thread, struct parsed_block *block,
                                      row_failed *reject, void *context, struct error *error);

/* Tests a table whose rows have been read, by UNIQUE; and by its conditions, if they were not tested row by row. */
NODISCARD enum status table_checks_test(const struct parsed_table *parsed, bool conditions,
                                        struct error *error);

#endif
