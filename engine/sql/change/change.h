/*
 * change.h: statements around a query or a condition, which write a file or change tables:
 *
 *     COPY table | (query) TO 'file' [[WITH] (option, ...)]
 *     DELETE FROM table [WHERE condition]
 *     INSERT INTO table [(column, ...) | BY NAME] [REPLACE WHERE condition] query
 *     CREATE [OR REPLACE] TABLE [IF NOT EXISTS] table [(column, ...)] AS query
 *     CREATE TABLE table (definition, ...)
 *     CREATE [OR REPLACE] VIEW [IF NOT EXISTS] view [(column, ...)] AS query
 *     DROP VIEW [IF EXISTS] view
 *     SET TimeZone = 'zone' | SET TIME ZONE 'zone'          of the statements that follow; it writes nothing
 *
 * This parses what is around them. The query or condition is a part of the text, and is parsed where it is run.
 */
#ifndef TESSERA_ENGINE_SQL_CHANGE_CHANGE_H
#define TESSERA_ENGINE_SQL_CHANGE_CHANGE_H

#include "engine/sql/sql.h"
#include "storage/base/sql_token.h"

enum sql_change_kind {
    SQL_CHANGE_COPY,
    SQL_CHANGE_DELETE,
    SQL_CHANGE_INSERT,
    SQL_CHANGE_CREATE,
    SQL_CHANGE_VIEW,
    SQL_CHANGE_DROP_VIEW,
    SQL_CHANGE_ZONE
};

/* An option of COPY: a name in lower case, and its value as text, NULL: there is none. */
struct sql_copy_option {
    const char *name, *value;
    struct sql_position position;
};

/* A part of the statement besides its query; its parameters come before those of the query. */
struct sql_change_part {
    const char *text; /* zero-terminated; NULL: there is none */
    struct sql_position position;
    uint32_t parameter_count;
};

struct sql_change {
    struct sql_statement_tree *arena; /* of all that is named here */
    enum sql_change_kind kind;
    struct sql_position position; /* of its first word */
    const char *table;            /* or view; NULL: COPY of a query */
    struct sql_position table_position;
    uint32_t column_count; /* of INSERT and CREATE; 0: none are named */
    struct sql_shared *columns;

    /* The query or condition, zero-terminated, after as many blanks and line ends as its place in the statement needs:
     * so positions in it are those in the statement. `part` is the text without these. NULL: COPY of a table, and DELETE
     * without WHERE. Of CREATE without AS it is the whole statement. */
    const char *text, *part;
    struct sql_position part_position;
    uint32_t parameter_count; /* in it and in `replaced` */

    struct sql_change_part replaced;    /* of INSERT: the condition of REPLACE WHERE */
    bool by_name;                       /* of INSERT */
    bool replaces, if_missing, defines; /* CREATE: OR REPLACE; IF NOT EXISTS; no AS */
    bool if_there;                      /* DROP: IF EXISTS */

    const char *zone; /* of SET; "" is UTC */
    const char *file; /* of COPY */
    struct sql_position file_position;
    uint32_t option_count;
    struct sql_copy_option *options;
};

/* True if a statement that begins with this token is one of these, or one of those that sql_change_parse refuses by name:
 * UPDATE, DROP, BEGIN and others. */
bool sql_change_begins(const struct sql_token *first);

/* Parses the first statement of the text, as sql_parse does. Free with sql_change_free. */
NODISCARD enum status sql_change_parse(const char *text, size_t length, struct sql_change *change,
                                       size_t *used, struct error *error);
void sql_change_free(struct sql_change *change);

/* STATUS_BAD_INPUT, "line L, column C: ...". */
NODISCARD enum status sql_change_refuse(struct error *error, struct sql_position position, const char *format,
                                        ...) __attribute__((format(printf, 3, 4)));

#endif
