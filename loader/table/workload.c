/* workload.c: see workload.h. Statements are not parsed, because the loader knows nothing of the engine: words are read one after
 * the other, and those between WHERE or ON and the next part of the statement that are columns of the schema stand in a
 * condition. A subquery in parentheses has parts of its own. What a column is compared with is not looked at. */
#include "loader/table/workload.h"

#include "loader/text/text_file.h"
#include "loader/text/text_format.h"
#include "storage/base/memory.h"
#include "storage/base/sql_token.h"
#include "storage/base/words/word.h"

#include <stdlib.h>
#include <string.h>

#define WORKLOAD_BYTES_MAX (64u << 20)
#define NESTING_MAX        256u /* parentheses */

struct reader {
    const struct schema_script *schema;
    struct workload *workload;
    char *end; /* of the names so far */
    uint32_t room, statement, depth;
    bool condition[NESTING_MAX]; /* whether what stands at each depth of parentheses is part of one */
};

static bool is_column(const struct schema_script *schema, const char *name)
{
    for (uint32_t t = 0; t < schema->table_count; t++)
        for (uint32_t c = 0; c < schema->tables[t].column_count; c++)
            if (word_compare(schema->tables[t].columns[c].name, name) == 0)
                return true;
    return false;
}

static enum status add_name(struct reader *reader, const struct sql_token *token, struct error *error)
{
    struct workload *const workload = reader->workload;
    struct cluster_workload *const conditions = &workload->conditions;
    const size_t length = sql_token_text(token, reader->end);
    if (!is_column(reader->schema, reader->end))
        return STATUS_OK;
    if (conditions->count == reader->room) {
        const uint32_t room = reader->room ? 2 * reader->room : 256;
        RETURN_IF_ERROR(memory_grow(&workload->names, room * sizeof *workload->names, "a workload", error));
        RETURN_IF_ERROR(
            memory_grow(&workload->statements, room * sizeof *workload->statements, "a workload", error));
        reader->room = room;
    }
    workload->names[conditions->count] = reader->end;
    workload->statements[conditions->count++] = reader->statement;
    reader->end += length + 1;
    return STATUS_OK;
}

/* Whether the word begins a part of a statement; *condition: that part is a condition. */
static bool begins_part(const struct sql_token *token, bool *condition)
{
    static const char *const conditions[] = {"WHERE", "ON"};
    static const char *const others[] = {"SELECT", "FROM",  "JOIN",  "GROUP",  "HAVING",   "WINDOW",
                                         "ORDER",  "LIMIT", "UNION", "EXCEPT", "INTERSECT"};
    *condition = false;
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++)
        *condition |= sql_token_is(token, conditions[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (sql_token_is(token, others[i]))
            return true;
    return *condition;
}

static enum status take_token(struct reader *reader, const struct sql_token *token, struct error *error)
{
    bool *const here = &reader->condition[reader->depth];
    bool condition;
    if (token->kind == TOKEN_NAME)
        return *here ? add_name(reader, token, error) : STATUS_OK;
    if (token->kind == TOKEN_WORD) {
        if (begins_part(token, &condition))
            *here = condition;
        else if (*here)
            return add_name(reader, token, error);
    } else if (sql_token_is(token, "(")) {
        if (++reader->depth == NESTING_MAX)
            return error_set(error, STATUS_BAD_INPUT, "line %u: more than %u parentheses in each other",
                             token->line, NESTING_MAX - 1);
        here[1] = *here;
    } else if (sql_token_is(token, ")")) {
        reader->depth -= reader->depth > 0;
    } else if (sql_token_is(token, ";")) {
        reader->depth = 0;
        reader->condition[0] = false;
        reader->statement++;
    }
    return STATUS_OK;
}

static enum status read_statements(struct reader *reader, const char *text, size_t length,
                                   struct error *error)
{
    struct sql_tokens tokens;
    struct sql_token token;
    sql_tokens_begin(&tokens, text, length);
    for (;;) {
        RETURN_IF_ERROR(sql_token_next(&tokens, &token, error));
        if (token.kind == TOKEN_END)
            return STATUS_OK;
        RETURN_IF_ERROR(take_token(reader, &token, error));
    }
}

enum status workload_read(const char *path, const struct schema_script *schema, struct workload *workload,
                          struct error *error)
{
    struct reader reader = {.schema = schema, .workload = workload};
    struct error reason = {0};
    char *text = NULL;
    size_t length = 0;
    *workload = (struct workload){0};
    enum status status = text_file_whole(path, WORKLOAD_BYTES_MAX, &text, &length, error);
    status = AND_THEN(status, text_format_check(path, text, length, error));
    /* a name and its end have at most twice the bytes of its token */
    status = AND_THEN(status, memory_take(&workload->text, 2 * length + 2, "a workload", error));
    if (status == STATUS_OK) {
        reader.end = workload->text;
        status = read_statements(&reader, text, length, &reason);
        if (status != STATUS_OK)
            error_set(error, status, "--workload %s: %s", path, reason.text);
    }
    free(text);
    RETURN_IF_ERROR(status);
    workload->conditions.names = workload->names;
    workload->conditions.statements = workload->statements;
    return workload->conditions.count
               ? STATUS_OK
               : error_set(error, STATUS_BAD_INPUT,
                           "--workload %s: no condition in it (WHERE, ON) names a column of the tables; give "
                           "statements, separated by semicolons",
                           path);
}

void workload_free(struct workload *workload)
{
    free(workload->text);
    free(workload->names);
    free(workload->statements);
    *workload = (struct workload){0};
}
