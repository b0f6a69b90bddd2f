/* table_replace.c: see table_replace.h. Both states are asked in the same way, so whatever a condition may name, also keys of
 * other tables, decides for appended rows as for those that go. */
#include "loader/table/table_replace.h"

#include <stdlib.h>

enum status table_replace_begin(const struct load_replacement *replacement, struct database_writer *writer,
                                struct database **existing, uint64_t *replaced, struct error *error)
{
    uint64_t *rows = NULL, count = 0;
    enum status status =
        replacement->find(replacement->context, *existing, replacement->table, &rows, &count, error);
    status = AND_THEN(status, database_writer_delete(writer, replacement->table, rows, count, error));
    free(rows);
    *replaced = count;
    if (status != STATUS_OK || count == 0)
        return status;
    database_close(*existing);
    return database_writer_state(writer, existing, error);
}

static enum appended_place place_of(const struct table *table, bool sorted)
{
    return sorted || table->levels   ? APPENDED_ANYWHERE
           : table->clustering.count ? APPENDED_LAST
                                     : APPENDED_AS_THEY_CAME;
}

enum status table_replace_check(const struct load_replacement *replacement, struct database_writer *writer,
                                uint64_t appended, bool sorted, struct error *error)
{
    struct database *state;
    const struct table *table;
    uint64_t *rows = NULL, count = 0;
    RETURN_IF_ERROR(database_writer_state(writer, &state, error));
    enum status status = database_table(state, replacement->table, &table, error);
    status = AND_THEN(
        status, replacement->find(replacement->context, state, replacement->table, &rows, &count, error));
    if (status == STATUS_OK && count != appended)
        status = replacement->refuse(replacement->context, state, replacement->table, appended, count,
                                     place_of(table, sorted), error);
    free(rows);
    database_close(state);
    return status;
}
