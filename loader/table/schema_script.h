/*
 * schema_script.h: the tables that a script of CREATE TABLE statements describes. It is SQL as pg_dump, DuckDB and
 * SQLite write it, with NOT NULL, PRIMARY KEY, REFERENCES, UNIQUE and CHECK as constraints of columns and tables. What
 * has no meaning for a load (DEFAULT, ON DELETE, owners, indexes, triggers) is skipped.
 *
 * A table that references others is a fact table; a table that is referenced is a dimension. A table may be
 * both.
 */
#ifndef TESSERA_LOADER_TABLE_SCHEMA_SCRIPT_H
#define TESSERA_LOADER_TABLE_SCHEMA_SCRIPT_H

#include "storage/database/database.h"

#define SCHEMA_TABLES_MAX  256u
#define SCHEMA_COLUMNS_MAX 1024u /* of a table */
#define SCHEMA_NOTES_MAX   64u

struct check; /* loader/check/check.h */

/* Columns that together have no value twice: a primary key or UNIQUE of several columns, or what a reference that is no
 * column of its own needs (struct column_schema: of). */
struct schema_tuple {
    struct key_columns key;
    bool primary;
    bool referenced;
};
#define SCHEMA_TUPLES_MAX 64u /* of a table */

struct schema_table {
    char name[NAME_BYTES];
    uint32_t line; /* its line in the script */
    uint32_t column_count;
    uint32_t
        reference_count; /* further columns, after these: references of several columns, and to the table itself */
    struct column_schema *columns;
    uint32_t tuple_count;
    struct schema_tuple *tuples; /* SCHEMA_TUPLES_MAX */

    bool *unique; /* SCHEMA_COLUMNS_MAX: whether a column is UNIQUE; or NULL: none is */
    uint32_t check_count;
    struct check **checks; /* conditions that all rows fulfil */
    const char *unkept;    /* what a database does not keep of it: CHECK, UNIQUE or DEFAULT; or NULL */
};

/* The tables, each after those that it references. */
struct schema_script {
    uint32_t table_count;
    struct schema_table *tables;

    /* Sentences for the user, "PATH:LINE: ...", about what was understood and has no effect. */
    uint32_t note_count;
    char *notes[SCHEMA_NOTES_MAX];
};

/* Parses a script; `path` names it in messages. Free the result with schema_script_free. STATUS_BAD_INPUT,
 * "PATH:LINE:COLUMN: ...", for statements that change tables, unknown types and constraints, references
 * to a missing table or in a circle, two tables or columns of one name, and a foreign key to columns that are not
 * a key. The error has all faults of the script, a line each, as far as they
 * fit. */
NODISCARD enum status schema_script_parse(const char *path, const char *text, size_t length,
                                          struct schema_script *schema, struct error *error);
NODISCARD enum status schema_script_read(const char *path, struct schema_script *schema, struct error *error);
/* The tables of a database, as it has them: with their keys and references, but without CHECK and UNIQUE, which it does not
 * keep. */
NODISCARD enum status schema_script_stored(const char *directory, struct schema_script *schema,
                                           struct error *error);
void schema_script_free(struct schema_script *schema);

/* All columns that are stored: those of files, and references that are no columns of the user's. */
static inline uint32_t schema_columns(const struct schema_table *table)
{
    return table->column_count + table->reference_count;
}

const struct schema_table *schema_table(const struct schema_script *schema, const char *name);

/* Whether a table of the script references this one, by one column or by several, or it itself does. */
bool schema_references(const struct schema_script *schema, const struct schema_table *table);

/* The table's primary key, or NULL. */
const struct column_schema *schema_key(const struct schema_table *table);

/* Writes "(a, b)", the names of a key's columns, as many as have room; gives `text`. */
const char *schema_key_names(const struct schema_table *table, const struct key_columns *key, char *text,
                             size_t bytes);

#endif
