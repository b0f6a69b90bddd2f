/*
 * schema.h: the five tables of the benchmark as the column store keeps them.
 *
 * Numbers are int32, strings have dictionaries, and the four keys of lineorder that name a dimension are
 * stored as row positions. lo_orderkey is int64 where the keys need it (from SF 358 on). lo_commitdate stays
 * a number: it may lie behind the last row of the date table, and no query joins on it.
 */
#ifndef TESSERA_SSB_DATA_SCHEMA_H
#define TESSERA_SSB_DATA_SCHEMA_H

#include "loader/table/schema_script.h"
#include "ssb/data/generator.h"

/* All five, in the order of enum ssb_table, as a script of CREATE TABLE would have them. `wide_orderkeys`: lo_orderkey is
 * int64; `nullable_keys`: keys without a row are stored as NULL. Free with schema_script_free. */
NODISCARD enum status ssb_schema_make(bool wide_orderkeys, bool nullable_keys, struct schema_script *schema,
                                      struct error *error);

/* The dimension that a column of lineorder references, or SSB_TABLES. */
enum ssb_table ssb_referenced_table(uint32_t lineorder_column);

/* Which table has the column of that name (their prefixes differ); STATUS_BAD_INPUT if none has. */
NODISCARD enum status ssb_column_find(const char *name, enum ssb_table *table, uint32_t *column,
                                      struct error *error);

/* The column of lineorder with that name; STATUS_BAD_INPUT with a sentence that lists all if there is none. */
NODISCARD enum status ssb_lineorder_column_find(const char *name, uint32_t *column, struct error *error);

#endif
