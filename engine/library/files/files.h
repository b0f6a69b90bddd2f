/*
 * files.h: the files that statements over a database name: found by the binder, loaded before a statement is planned, and kept
 * with the open database, so that the next statement finds them, until they are changed. Tables of changed files stay until
 * the database is closed, as devices know columns by their addresses.
 */
#ifndef TESSERA_ENGINE_LIBRARY_FILES_H
#define TESSERA_ENGINE_LIBRARY_FILES_H

#include "engine/library/files/file_table.h"
#include "engine/logical/logical.h"
#include "engine/run/engine.h"

/* The files of one statement. All zeros: none. */
struct statement_files {
    struct database *database;
    bool cluster; /* several processes answer the statement */
    struct file_reading reading;
    uint32_t count;
    struct file_table **tables;
    bool some; /* rows that the statement's conditions exclude were left out: it holds for their values */
};

/* Begins a statement, which is bound then with what `find` gives. */
struct logical_files statement_files_begin(struct statement_files *files, struct database *database,
                                           const struct engine *engine);
void statement_files_end(struct statement_files *files);

/* Loads the columns that the bound statement needs; of columnar files only the parts that may have rows for its conditions, if
 * these are few. Scans of the tree are then of tables that have no others. */
NODISCARD enum status statement_files_load(struct statement_files *files, struct logical_tree *tree,
                                           const struct logical_options *options, struct error *error);

/* Whether no file was changed since the statement was bound. */
NODISCARD enum status statement_files_compare(const struct statement_files *files, bool *same,
                                              struct error *error);

#endif
