/*
 * show.h: SHOW TABLES, SHOW VIEWS and DESCRIBE of a table, a view, a file or a query, whose answers are rows like any others. A
 * query is bound for it and not run.
 */
#ifndef TESSERA_ENGINE_LIBRARY_SHOW_H
#define TESSERA_ENGINE_LIBRARY_SHOW_H

#include "engine/library/statement.h"
#include "storage/base/sql_token.h"

struct show {
    enum { SHOW_TABLES, SHOW_VIEWS, SHOW_TABLE, SHOW_FILE, SHOW_QUERY } kind;
    struct sql_position position; /* of the name */
    char *name;                   /* of a table, a view or files, or the text of the query; owned */
};

/* Whether a statement that begins with this token is one of these. */
bool show_begins(const struct sql_token *first);

/* Parses the first statement of a text. *used is as in sql_parse. End with show_free, but after an error. */
NODISCARD enum status show_parse(const char *text, size_t length, struct show *show, size_t *used,
                                 struct error *error);
void show_free(struct show *show);

struct show_task {
    struct engine *engine;
    struct database *database;
    struct sql_settings settings;
};

/* Fills `rows` (rowset_free), which own their strings. STATUS_BAD_INPUT, with its place, if there is no such table or file, or the
 * query is wrong. */
NODISCARD enum status show_run(const struct show *show, const struct show_task *task, struct rowset *rows,
                               struct error *error);

/* Finds a table as FROM does: in any case of letters if none has exactly this name. */
NODISCARD enum status show_table(const struct database *database, const char *name,
                                 const struct table **table, struct error *error);

#endif
