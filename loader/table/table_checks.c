/* table_checks.c: see table_checks.h. */
#include "loader/table/table_checks.h"

#include "storage/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Conditions, row by row ---- */

struct row_checks {
    const struct schema_table *table;
    const struct text_reading *reading;
    bool used[SCHEMA_COLUMNS_MAX];
    struct check_value *values; /* for each thread the columns of its row */
};

static bool is_used(const struct schema_table *table, uint32_t column)
{
    for (uint32_t i = 0; i < table->check_count; i++)
        if (schema_check_uses(table->checks[i], column))
            return true;
    return false;
}

enum status row_checks_create(const struct schema_table *table, const struct text_reading *reading,
                              unsigned threads, struct row_checks **out, struct error *error)
{
    *out = NULL;
    if (table->check_count == 0)
        return STATUS_OK;
    struct row_checks *checks;
    RETURN_IF_ERROR(memory_zeros(&checks, sizeof *checks, "conditions", error));
    checks->table = table;
    checks->reading = reading;
    for (uint32_t c = 0; c < table->column_count; c++)
        checks->used[c] = is_used(table, c);
    const enum status status = memory_zeros(
        &checks->values, (size_t)threads * table->column_count * sizeof *checks->values, "conditions", error);
    if (status != STATUS_OK)
        row_checks_free(checks);
    else
        *out = checks;
    return status;
}

void row_checks_free(struct row_checks *checks)
{
    if (checks)
        free(checks->values);
    free(checks);
}

void row_checks_value(struct row_checks *checks, unsigned thread, uint32_t column,
                      const struct text_field *field, int64_t value, bool null)
{
    const struct column_schema *const schema = &checks->table->columns[column];
    if (!checks->used[column])
        return;
    if (!null && schema->references_table[0] && schema->type != TYPE_STRING)
        null = text_value_as(checks->reading, schema, field->text, field->length, &value) != NULL;
    checks->values[thread * checks->table->column_count + column] =
        (struct check_value){null, value, field->text, null ? 0 : field->length};
}

static const char *failed_condition(const struct schema_table *table, const struct check_value *values)
{
    for (uint32_t i = 0; i < table->check_count; i++)
        if (!schema_check_passes(table->checks[i], values))
            return schema_check_text(table->checks[i]);
    return NULL;
}

const char *row_checks_failed(const struct row_checks *checks, unsigned thread)
{
    return failed_condition(checks->table, checks->values + thread * checks->table->column_count);
}

/* ---- Columns of a block ---- */

struct block_column {
    void *values;
    uint8_t *nulls;
    bool any_null;
    uint32_t value_bytes;
};

static void block_column_free(struct block_column *column)
{
    free(column->values);
    free(column->nulls);
    *column = (struct block_column){0};
}

static enum status block_column_read(const struct parsed_table *parsed, const struct parsed_block *block,
                                     uint32_t c, struct block_column *column, struct error *error)
{
    const uint32_t bytes = column_schema_value_bytes(&parsed->table->columns[c]);
    column->value_bytes = bytes;
    column->values = malloc((size_t)block->rows * bytes + 1);
    column->nulls = malloc((size_t)block->rows + 1);
    if (!column->values || !column->nulls)
        return error_out_of_memory(error, (uint64_t)block->rows * bytes, "a test of rows");
    return parsed_block_read(parsed, block, c, 0, block->rows, 0, column->values, column->nulls,
                             &column->any_null, error);
}

static int64_t block_value(const struct block_column *column, uint32_t row)
{
    return column->value_bytes == 4 ? ((const int32_t *)column->values)[row]
                                    : ((const int64_t *)column->values)[row];
}

/* ---- Conditions, block by block ---- */

static struct check_value check_value_of(const struct parsed_table *parsed, const struct parsed_block *block,
                                         uint32_t c, const struct block_column *column, uint32_t row)
{
    const struct dictionary_builder *const words =
        parsed->words[parsed_block_thread(block, c) * parsed->table->column_count + c];
    struct check_value value = {.null = column->any_null && column->nulls[row],
                                .number = block_value(column, row)};
    if (words && !value.null)
        value.text = dictionary_builder_string(words, (int32_t)value.number, &value.length);
    /* a foreign key is a position by now; what is not known passes */
    value.null |= parsed->table->columns[c].references_table[0] != '\0';
    return value;
}

static enum status test_block(const struct parsed_table *parsed, const struct parsed_block *block,
                              uint64_t first, struct block_column *columns, struct check_value *values,
                              struct error *error)
{
    const struct schema_table *const table = parsed->table;
    for (uint32_t c = 0; c < table->column_count; c++)
        if (is_used(table, c))
            RETURN_IF_ERROR(block_column_read(parsed, block, c, &columns[c], error));
    for (uint32_t row = 0; row < block->rows; row++) {
        for (uint32_t c = 0; c < table->column_count; c++)
            if (columns[c].values)
                values[c] = check_value_of(parsed, block, c, &columns[c], row);
        const char *const failed = failed_condition(table, values);
        if (failed) {
            char place[KEY_PLACE_BYTES];
            parsed_row_place(parsed, first + row, place);
            return error_set(error, STATUS_BAD_INPUT, "%s: the row fails CHECK (%s); nothing was loaded",
                             place, failed);
        }
    }
    return STATUS_OK;
}

static enum status test_conditions(const struct parsed_table *parsed, struct error *error)
{
    const uint32_t count = parsed->table->column_count;
    struct block_column *const columns = calloc(count, sizeof *columns);
    struct check_value *const values = calloc(count, sizeof *values);
    enum status status =
        columns && values ? STATUS_OK : error_out_of_memory(error, count * sizeof *values, "a test of rows");
    uint64_t first = 0;
    for (uint64_t b = 0; status == STATUS_OK && b < parsed->block_count; first += parsed->blocks[b++].rows) {
        status = test_block(parsed, &parsed->blocks[b], first, columns, values, error);
        for (uint32_t c = 0; c < count; c++)
            block_column_free(&columns[c]);
    }
    free(columns);
    free(values);
    return status;
}

/* ---- UNIQUE ---- */

struct unique_test {
    const struct parsed_table *parsed;
    uint32_t column;
    struct dictionary_builder *words; /* of all threads; NULL: no strings */
    int32_t **codes;                  /* for each thread its codes in `words` */
    int64_t *values;                  /* of rows that are not NULL */
    uint64_t *rows;                   /* their rows */
    uint64_t count;
};

static void place_of(const void *context, uint64_t row, char text[KEY_PLACE_BYTES])
{
    const struct unique_test *test = context;
    parsed_row_place(test->parsed, test->rows[row], text);
}

static enum status merge_words(struct unique_test *test, struct error *error)
{
    const struct parsed_table *const parsed = test->parsed;
    RETURN_IF_ERROR(
        memory_zeros(&test->codes, parsed->threads * sizeof *test->codes, "a test of rows", error));
    if (!parsed->words[test->column])
        return STATUS_OK;
    RETURN_IF_ERROR(dictionary_builder_create(&test->words, error));
    for (unsigned t = 0; t < parsed->threads; t++) {
        const struct dictionary_builder *const own =
            parsed->words[t * parsed->table->column_count + test->column];
        RETURN_IF_ERROR(memory_take(&test->codes[t], (dictionary_builder_count(own) + 1ull) * 4,
                                    "a test of rows", error));
        RETURN_IF_ERROR(dictionary_builder_merge(test->words, own, test->codes[t], error));
    }
    return STATUS_OK;
}

static enum status gather(struct unique_test *test, struct error *error)
{
    const struct parsed_table *const parsed = test->parsed;
    uint64_t first = 0;
    RETURN_IF_ERROR(
        memory_take(&test->values, (parsed->rows + 1) * sizeof *test->values, "a test of rows", error));
    RETURN_IF_ERROR(
        memory_take(&test->rows, (parsed->rows + 1) * sizeof *test->rows, "a test of rows", error));
    for (uint64_t b = 0; b < parsed->block_count; first += parsed->blocks[b++].rows) {
        const struct parsed_block *const block = &parsed->blocks[b];
        const int32_t *const codes =
            test->words ? test->codes[parsed_block_thread(block, test->column)] : NULL;
        struct block_column column = {0};
        const enum status status = block_column_read(parsed, block, test->column, &column, error);
        for (uint32_t row = 0; status == STATUS_OK && row < block->rows; row++) {
            if (column.any_null && column.nulls[row])
                continue;
            const int64_t value = block_value(&column, row);
            test->values[test->count] = codes ? codes[value] : value;
            test->rows[test->count++] = first + row;
        }
        block_column_free(&column);
        RETURN_IF_ERROR(status);
    }
    return STATUS_OK;
}

static enum status test_unique(const struct parsed_table *parsed, uint32_t column, struct error *error)
{
    struct unique_test test = {.parsed = parsed, .column = column};
    struct key_index *index = NULL;
    enum status status = merge_words(&test, error);
    if (status == STATUS_OK)
        status = gather(&test, error);
    if (status == STATUS_OK) {
        const struct key_owner owner = {.table = parsed->table->name,
                                        .column = parsed->table->columns[column].name,
                                        .positions = test.words != NULL,
                                        .unique = true,
                                        .place = place_of,
                                        .context = &test};
        status = key_index_create(test.values, test.count, &owner, &index, error);
    }
    key_index_destroy(index);
    for (unsigned t = 0; test.codes && t < parsed->threads; t++)
        free(test.codes[t]);
    free(test.codes);
    dictionary_builder_destroy(test.words);
    free(test.values);
    free(test.rows);
    return status;
}

enum status table_checks_test(const struct parsed_table *parsed, bool conditions, struct error *error)
{
    const struct schema_table *const table = parsed->table;
    if (conditions && table->check_count)
        RETURN_IF_ERROR(test_conditions(parsed, error));
    for (uint32_t c = 0; table->unique && c < table->column_count; c++)
        if (table->unique[c] && !table->columns[c].primary_key)
            RETURN_IF_ERROR(test_unique(parsed, c, error));
    return STATUS_OK;
}
