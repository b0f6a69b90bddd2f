/*
 * table_checks.h: tests the rows of one table by its CHECK conditions and UNIQUE columns.
 *
 * Rows of text are tested by their conditions one by one, as they are read, so that a row that fails is a bad row like
 * any other. Rows of ORC files and Arrow streams are read by columns: they are tested when the whole table has been
 * read, and a row that fails ends the load. UNIQUE is tested then for rows of any source, among the rows of this load.
 */
#ifndef TESSERA_LOADER_TABLE_TABLE_CHECKS_H
#define TESSERA_LOADER_TABLE_TABLE_CHECKS_H

#include "loader/schema/schema_check.h"
#include "loader/table/table_loader_internal.h"

struct row_checks;

/* Makes what rows of text are tested by; *checks is NULL if the table has no conditions. `reading` must outlive it. */
NODISCARD enum status row_checks_create(const struct schema_table *table, const struct text_reading *reading,
                                        unsigned threads, struct row_checks **checks, struct error *error);
void row_checks_free(struct row_checks *checks);

/* Tells a thread's row the value of a column; a foreign key's value is read from its text. */
void row_checks_value(struct row_checks *checks, unsigned thread, uint32_t column,
                      const struct text_field *field, int64_t value, bool null);

/* The condition that is false for the thread's row, as it was written; or NULL. */
const char *row_checks_failed(const struct row_checks *checks, unsigned thread);

/* Tests a table whose rows have been read, by UNIQUE; and by its conditions, if they were not tested row by row. */
NODISCARD enum status table_checks_test(const struct parsed_table *parsed, bool conditions,
                                        struct error *error);

#endif
