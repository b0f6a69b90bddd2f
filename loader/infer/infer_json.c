/* infer_json.c: the columns of files of JSON (infer_internal.h): all names of members, in the order in which they are found. A text in
 * quotes is no number, also if it has digits alone. */
#include "loader/infer/infer_internal.h"

#include "loader/text/text_source_internal.h"
#include "storage/base/memory.h"
#include "storage/base/text/json_scan.h"
#include "storage/base/words/word.h"

#include <stdio.h>
#include <string.h>

static bool is_named(const struct infer_column *column, const char *name, uint32_t length)
{
    return strlen(column->name) == length && word_compare_bytes(column->name, name, length) == 0;
}

/* Adds a column for a member that none has. One whose name no column can have is left out. */
static enum status see_member(struct infer_table *table, const struct json_scanned *name, uint32_t *guess,
                              struct error *error)
{
    char own[4 * NAME_BYTES];
    uint32_t length = name->length;
    if (*guess < table->column_count && !name->escaped &&
        is_named(&table->columns[*guess], name->text, length)) {
        ++*guess;
        return STATUS_OK;
    }
    if (length >= sizeof own || !json_scan_unescape(name->text, name->length, own, &length))
        return STATUS_OK;
    own[length] = '\0';
    for (uint32_t c = 0; c < table->column_count; c++)
        if (is_named(&table->columns[c], own, length)) {
            *guess = c + 1;
            return STATUS_OK;
        }
    if (length >= NAME_BYTES || !name_valid(own))
        return STATUS_OK;
    if (table->column_count == SCHEMA_COLUMNS_MAX)
        return error_set(error, STATUS_BAD_INPUT,
                         "%s: the objects have more than %u members; a table has at most so many columns",
                         table->input->paths[0], SCHEMA_COLUMNS_MAX);
    if (!table->columns)
        RETURN_IF_ERROR(
            memory_zeros(&table->columns, SCHEMA_COLUMNS_MAX * sizeof *table->columns, "columns", error));
    memcpy(table->columns[table->column_count].name, own, length + 1);
    *guess = ++table->column_count;
    return STATUS_OK;
}

static enum status see_row(struct infer_table *table, const char *begin, const char *end, struct error *error)
{
    struct json_scanned object, name, value;
    uint32_t guess = 0;
    bool more;
    if (json_scan_value(&begin, end, &object) || object.kind != JSON_SCAN_OBJECT)
        return STATUS_OK; /* the row is counted as wrong later */
    struct json_scan_items items = json_scan_items(&object);
    while (!json_scan_next(&items, &name, &value, &more) && more)
        RETURN_IF_ERROR(see_member(table, &name, &guess, error));
    return STATUS_OK;
}

bool infer_is_json(const char *path, const struct text_options *options, const char *text, size_t bytes)
{
    return !options->delimiter &&
           (text_name_is_json(path) || (text_may_be_json(0, path) && text_format_is_json(text, bytes)));
}

enum status infer_json_names(struct infer_table *table, const struct text_options *options,
                             struct error *error)
{
    static const char *const nothing[] = {""}; /* a column that no member has */
    struct text_source *source;
    struct text_block block = {.rows = 1};
    char wrong[TEXT_COMPLAINT_BYTES + 64] = ""; /* what the first wrong row is */
    table->json = true;
    RETURN_IF_ERROR(
        text_source_open(table->input->paths, table->input->path_count, nothing, 1, options, &source, error));
    enum status status = STATUS_OK;
    while (status == STATUS_OK && block.rows) {
        status = text_source_next(source, &block, error);
        if (status == STATUS_OK && block.fault_count && !*wrong)
            snprintf(wrong, sizeof wrong, "; the row of line %llu %s",
                     (unsigned long long)block.row_line[block.faults[0].row], block.faults[0].complaint);
        for (uint32_t row = 0; status == STATUS_OK && row < block.rows; row++)
            status = see_row(table, block.row_text[row], block.row_text[row + 1], error);
        status = AND_THEN(status, cancel_check(error));
    }
    text_block_free(&block);
    text_source_close(source);
    if (status == STATUS_OK && table->column_count == 0)
        return error_set(error, STATUS_BAD_INPUT,
                         "%s: has no object with a member, so nothing can be inferred from it%s",
                         table->input->paths[0], wrong);
    return status;
}

void infer_json_value(struct infer_column *column, const struct text_field *field, const char *row,
                      const char *end)
{
    const bool unescaped = field->text < row || field->text >= end; /* it was copied elsewhere */
    if (field->length != TEXT_NULL && (unescaped || field->text[-1] == '"'))
        column->kinds &= KIND_DATE | KIND_TIME;
}
