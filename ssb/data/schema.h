/*
 * schema.h: the five tables of the benchmark as the column store has them.
 *
 * Numbers are int32, strings have dictionaries, and the four keys of lineorder that reference a dimension are
 * row positions. lo_orderkey is int64 if the keys need it (from SF 358 on). lo_commitdate stays a number: it
 * may be after the last row of the date table, and no query joins on it.
 */
#ifndef TESSERA_SSB_DATA_SCHEMA_H
#define TESSERA_SSB_DATA_SCHEMA_H

#include "loader/table/schema_script.h"
#include "ssb/data/generator.h"

/* Makes the schema of all five tables, in the order of enum ssb_table, as a CREATE TABLE script would.
 * `wide_orderkeys`: lo_orderkey is int64. `nullable_keys`: keys without a matching row are stored as NULL.
 * Free it with schema_script_free. */
NODISCARD enum status ssb_schema_make(bool wide_orderkeys, bool nullable_keys, struct schema_script *schema,
                                      struct error *error);

/* The dimension that a column of lineorder references, or SSB_TABLES. */
enum ssb_table ssb_referenced_table(uint32_t lineorder_column);

/* Finds the table with a column of that name (names have different prefixes); STATUS_BAD_INPUT if there is
 * none. */
NODISCARD enum status ssb_column_find(const char *name, enum ssb_table *table, uint32_t *column,
                                      struct error *error);

/* Finds the column of lineorder with that name. If there is none: STATUS_BAD_INPUT with a sentence that lists
 * all columns. */
NODISCARD enum status ssb_lineorder_column_find(const char *name, uint32_t *column, struct error *error);

#endif
