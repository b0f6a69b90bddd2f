/* reading_check.c: see reading_check.h. */
#include "loader/table/reading_check.h"

#include "loader/text/reading_options.h"

/* What an option is for, if columns of this type are no such thing; else NULL. */
static const char *misfit(enum reading_field field, enum column_type type)
{
    if (field == READING_DATE_FORMAT)
        return type == TYPE_DATE ? NULL : "a DATE";
    if (field == READING_TIMESTAMP_FORMAT)
        return type == TYPE_TIMESTAMP ? NULL : "a TIMESTAMP";
    switch (type) {
    case TYPE_INT32:
    case TYPE_INT64:
    case TYPE_DECIMAL:
    case TYPE_DOUBLE:
        return NULL;
    case TYPE_DATE:
    case TYPE_TIMESTAMP:
    case TYPE_BOOL:
    case TYPE_STRING:
        break;
    }
    return "a number";
}

/* Counts the option's columns in a table, and tests their types. */
static enum status check_table(const struct reading_option *option, const struct schema_table *table,
                               uint32_t *found, struct error *error)
{
    char type[64];
    for (uint32_t c = 0; c < table->column_count; c++) {
        const struct column_schema *const column = &table->columns[c];
        if (!reading_option_is_of(option, table->name, column->name))
            continue;
        ++*found;
        if (misfit(option->field, column->type))
            return error_set(error, STATUS_BAD_INPUT, "%s '%s': column %s of table %s is %s and not %s",
                             reading_option_name(option->field), option->text, column->name, table->name,
                             column_type_text(column, type), misfit(option->field, column->type));
    }
    return STATUS_OK;
}

static enum status check_option(const struct schema_script *schema, const struct load_options *options,
                                const struct reading_option *option, struct error *error)
{
    uint32_t found = option->column_length == 0;
    for (uint32_t i = 0; i < options->input_count && option->column_length; i++) {
        const struct schema_table *const table = schema_table(schema, options->inputs[i].table);
        if (table)
            RETURN_IF_ERROR(check_table(option, table, &found, error));
    }
    return found ? STATUS_OK
                 : error_set(error, STATUS_BAD_INPUT, "%s '%s': no table that is loaded has a column '%.*s'",
                             reading_option_name(option->field), option->text, (int)option->column_length,
                             option->text);
}

enum status readings_check(const struct schema_script *schema, const struct load_options *options,
                           struct error *error)
{
    for (uint32_t o = 0; o < options->text.reading_count; o++)
        RETURN_IF_ERROR(check_option(schema, options, &options->text.readings[o], error));
    for (uint32_t i = 0; i < options->input_count; i++) {
        const struct schema_table *const table = schema_table(schema, options->inputs[i].table);
        for (uint32_t c = 0; table && c < table->column_count; c++) {
            const struct text_reading reading =
                reading_of(&options->text, table->name, table->columns[c].name);
            RETURN_IF_ERROR(reading_check(&reading, error));
        }
    }
    return STATUS_OK;
}
