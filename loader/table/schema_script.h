/*
 * loader/table/schema_script.h: what tables a script of CREATE TABLE statements describes: plain SQL that SQLite takes as
 * well, with INT, BIGINT, DECIMAL(p,s), DATE, TIMESTAMP, BOOLEAN, CHAR/VARCHAR/TEXT, NOT NULL, PRIMARY KEY and
 * REFERENCES as column or table constraints.
 *
 * A table that references others is a fact, one that is referenced a dimension; a table may be both.
 */
#ifndef TESSERA_LOADER_TABLE_SCHEMA_SCRIPT_H
#define TESSERA_LOADER_TABLE_SCHEMA_SCRIPT_H

#include "storage/database/database.h"

#define SCHEMA_TABLES_MAX  256u
#define SCHEMA_COLUMNS_MAX 1024u /* of a table */

struct schema_table {
    char name[NAME_BYTES];
    uint32_t line; /* of the script */
    uint32_t column_count;
    struct column_schema *columns;
};

/* Tables in an order in which each stands behind those that it references. */
struct schema_script {
    uint32_t table_count;
    struct schema_table *tables;
};

/* Reads a script; `path` names it in messages. Statements other than CREATE TABLE, types and constraints that
 * are not known, references to nothing or in a circle, two tables or columns of one name, a foreign key to
 * what is no primary key, keys of more than one column: STATUS_BAD_INPUT, "PATH:LINE:COLUMN: ...". Free with
 * schema_script_free. */
NODISCARD enum status schema_script_parse(const char *path, const char *text, size_t length,
                                          struct schema_script *schema, struct error *error);
NODISCARD enum status schema_script_read(const char *path, struct schema_script *schema, struct error *error);
void schema_script_free(struct schema_script *schema);

const struct schema_table *schema_table(const struct schema_script *schema, const char *name);

/* The primary key, or NULL: there is none. */
const struct column_schema *schema_key(const struct schema_table *table);

#endif
