/*
 * change.h: runs the statements of engine/sql/change/change.h: COPY writes a file; DELETE, INSERT and CREATE TABLE change
 * tables, CREATE VIEW and DROP VIEW views, each in one commit, all or nothing. SET
 * TimeZone sets the zone of statements that follow.
 *
 * A query inside is answered as any other, over the state of the database that is open; then its rows are loaded as
 * `tessera load` loads a stream (loader/table/table_loader.h). So a statement sees the state before it. Whoever has the
 * database open goes on reading the state that it opened, also this one, until it opens the database again.
 */
#ifndef TESSERA_ENGINE_LIBRARY_CHANGE_CHANGE_H
#define TESSERA_ENGINE_LIBRARY_CHANGE_CHANGE_H

#include "engine/library/statement.h"
#include "engine/sql/change/change.h"

/* What answers the query inside, as for sql_prepare and sql_statement_set. */
struct change_task {
    struct engine *engine;
    struct database *database;
    const char *codec;
    struct sql_settings settings;
    const struct sql_parameter *parameters; /* the values of the statement's; NULL: it must have none */
    const struct zone **zone;               /* SET TimeZone sets it */
    const char *spill; /* a folder for rows beyond memory that are loaded; NULL: as tables_load has it */
};

/* What was done. */
struct change_report {
    uint64_t rows; /* copied, deleted or inserted */
    bool
        superseded; /* it was refused, and somebody else has changed the database meanwhile: it may be run again */
    bool changed;    /* the database has a newer state than the one that is open */
    char text[1200]; /* a sentence for people, "sales: 3 rows deleted" */
};

/* Runs the statement. STATUS_BAD_INPUT, "line L, column C: ...", for what is wrong in it; for rows that cannot be stored
 * the sentence has the row's number. After STATUS_NOT_DURABLE tables were changed, and `report` is filled. In one of
 * several processes that answer together COPY writes the file in the first one; tables are not changed there. */
NODISCARD enum status change_run(const struct change_task *task, const struct sql_change *change,
                                 struct change_report *report, struct error *error);

/* So often a refused change is run again, when others change the same tables: a DELETE must find its rows in the state that
 * it marks them in. */
#define CHANGE_TRIES 100u

#endif
