/* change_internal.h: the statements one by one, for change.c. */
#ifndef TESSERA_ENGINE_LIBRARY_CHANGE_CHANGE_INTERNAL_H
#define TESSERA_ENGINE_LIBRARY_CHANGE_CHANGE_INTERNAL_H

#include "engine/library/change/change.h"
#include "loader/table/table_loader.h"

/* copy.c, insert.c, create.c, view.c: as change_run. */
NODISCARD enum status copy_run(const struct change_task *task, const struct sql_change *change,
                               struct change_report *report, struct error *error);
NODISCARD enum status insert_run(const struct change_task *task, const struct sql_change *change,
                                 struct change_report *report, struct error *error);
NODISCARD enum status create_run(const struct change_task *task, const struct sql_change *change,
                                 struct change_report *report, struct error *error);
NODISCARD enum status view_run(const struct change_task *task, const struct sql_change *change,
                               struct change_report *report, struct error *error);

/* ---- change.c ---- */

/* Finds the statement's table, or refuses it at its place. */
NODISCARD enum status change_table(const struct change_task *task, const struct sql_change *change,
                                   const struct table **table, struct error *error);

/* Finds a column of it in the same way. */
NODISCARD enum status change_column(const struct table *table, const struct sql_shared *named,
                                    const struct column **column, struct error *error);

/* The settings of queries and conditions in statements that write. */
struct sql_settings change_settings(const struct change_task *task);

/* Answers a query, of which `first` is the number of the first parameter; *statement, which may be NULL, gets it
 * (sql_statement_free). */
NODISCARD enum status change_query(const struct change_task *task, const char *text, uint32_t first,
                                   struct rowset *rows, struct sql_statement **statement,
                                   struct error *error);

/* Gives the answer's columns other names. */
NODISCARD enum status change_rename(struct rowset *rows, uint32_t column, const char *name,
                                    struct error *error);

/* Parses a script that begins with the statement, or has nothing of it: errors tell places in the statement. */
NODISCARD enum status change_script_parse(const char *script, struct schema_script *parsed,
                                          struct error *error);

/* What a load does with a table that is there. */
enum change_load_mode { CHANGE_LOAD_NEW, CHANGE_LOAD_REPLACE, CHANGE_LOAD_APPEND };

struct change_load {
    enum change_load_mode mode;
    const struct load_replacement *replaces; /* or NULL */
};

/* Loads a stream into a table of the script, which it releases in any case. */
NODISCARD enum status change_load(const struct change_task *task, const char *script, const char *table,
                                  struct ArrowArrayStream *stream, const struct change_load *how,
                                  struct load_report *report, struct error *error);

/* "INTEGER", "DECIMAL", ...: a type of an answer, for errors. */
const char *change_type_text(struct value_type type);

#endif
