/* table_checks.c: see table_checks.h. */
#include "loader/table/table_checks.h"

#include "storage/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_used(const struct schema_table *table, uint32_t column)
{
    for (uint32_t i = 0; i < table->check_count; i++)
        if (check_uses(table->checks[i], column))
            return true;
    return false;
}

/* ---- Conditions, while text is read ---- */

/* The values of a foreign key that a condition names: its block has positions. */
struct key_values {
    struct dictionary_builder *words; /* of strings */
    int64_t *values;
    uint8_t *nulls;
};

struct thread_checks {
    struct check_test *test;
    struct check_values *columns;
    struct key_values *keys; /* for each column; empty: its values are those of the block */
    uint32_t room, tested;   /* rows that there is room for; of the block's rows */
    uint32_t *rows;          /* the row of text of each row of the block */
    int32_t *failed;
};

struct row_checks {
    const struct schema_table *table;
    const struct text_reading *readings; /* of each column */
    unsigned threads;
    struct thread_checks *of; /* by thread */
};

static enum status thread_create(const struct schema_table *table, struct thread_checks *own,
                                 struct error *error)
{
    RETURN_IF_ERROR(check_test_create(table->checks, table->check_count, &own->test, error));
    RETURN_IF_ERROR(
        memory_zeros(&own->columns, table->column_count * sizeof *own->columns, "conditions", error));
    RETURN_IF_ERROR(memory_zeros(&own->keys, table->column_count * sizeof *own->keys, "conditions", error));
    for (uint32_t c = 0; c < table->column_count; c++)
        if (table->columns[c].type == TYPE_STRING && table->columns[c].references_table[0] &&
            is_used(table, c))
            RETURN_IF_ERROR(dictionary_builder_create(&own->keys[c].words, error));
    return STATUS_OK;
}

enum status row_checks_create(const struct schema_table *table, const struct text_reading *readings,
                              unsigned threads, struct row_checks **out, struct error *error)
{
    struct row_checks *checks;
    *out = NULL;
    if (table->check_count == 0)
        return STATUS_OK;
    RETURN_IF_ERROR(memory_zeros(&checks, sizeof *checks, "conditions", error));
    *checks = (struct row_checks){.table = table, .readings = readings, .threads = threads};
    enum status status = memory_zeros(&checks->of, threads * sizeof *checks->of, "conditions", error);
    for (unsigned t = 0; status == STATUS_OK && t < threads; t++)
        status = thread_create(table, &checks->of[t], error);
    if (status == STATUS_OK)
        *out = checks;
    else
        row_checks_free(checks);
    return status;
}

static void thread_free(struct thread_checks *own, uint32_t columns)
{
    for (uint32_t c = 0; own->keys && c < columns; c++) {
        dictionary_builder_destroy(own->keys[c].words);
        free(own->keys[c].values);
        free(own->keys[c].nulls);
    }
    check_test_free(own->test);
    free(own->columns);
    free(own->keys);
    free(own->rows);
    free(own->failed);
}

void row_checks_free(struct row_checks *checks)
{
    for (unsigned t = 0; checks && checks->of && t < checks->threads; t++)
        thread_free(&checks->of[t], checks->table->column_count);
    if (checks)
        free(checks->of);
    free(checks);
}

enum status row_checks_begin(struct row_checks *checks, unsigned thread, uint32_t rows, struct error *error)
{
    struct thread_checks *const own = &checks->of[thread];
    own->tested = 0;
    if (rows <= own->room)
        return STATUS_OK;
    RETURN_IF_ERROR(memory_grow(&own->rows, rows * sizeof *own->rows, "conditions", error));
    RETURN_IF_ERROR(memory_grow(&own->failed, rows * sizeof *own->failed, "conditions", error));
    for (uint32_t c = 0; c < checks->table->column_count; c++)
        if (checks->table->columns[c].references_table[0] && is_used(checks->table, c)) {
            RETURN_IF_ERROR(
                memory_grow(&own->keys[c].values, rows * sizeof *own->keys->values, "conditions", error));
            RETURN_IF_ERROR(memory_grow(&own->keys[c].nulls, rows, "conditions", error));
        }
    own->room = rows;
    return STATUS_OK;
}

/* Reads the row's foreign keys that conditions name. What cannot be read is not tested. */
static enum status read_keys(const struct row_checks *checks, const struct thread_checks *own, uint32_t row,
                             const struct text_field *fields, struct error *error)
{
    for (uint32_t c = 0; c < checks->table->column_count; c++) {
        const struct key_values *const keys = &own->keys[c];
        int32_t code = 0;
        if (!keys->values)
            continue;
        keys->nulls[row] = fields[c].length == TEXT_NULL;
        keys->values[row] = 0;
        if (keys->nulls[row])
            continue;
        if (!keys->words) {
            keys->nulls[row] = text_value(&checks->readings[c], &checks->table->columns[c], fields[c].text,
                                          fields[c].length, &keys->values[row]) != NULL;
            continue;
        }
        RETURN_IF_ERROR(dictionary_builder_add(keys->words, fields[c].text, fields[c].length, &code, error));
        keys->values[row] = code;
    }
    return STATUS_OK;
}

enum status row_checks_row(struct row_checks *checks, unsigned thread, uint32_t row, uint32_t text_row,
                           const struct text_field *fields, struct error *error)
{
    const struct thread_checks *const own = &checks->of[thread];
    own->rows[row] = text_row;
    return read_keys(checks, own, row, fields, error);
}

/* Takes rows that passed to the places of those that did not. */
static void move_row(const struct row_parse *parse, struct parsed_block *block, uint32_t from, uint32_t to)
{
    for (uint32_t c = 0; c < parse->parsed->table->column_count; c++) {
        const uint32_t bytes = parse->value_bytes[c];
        memcpy((uint8_t *)block->values[c] + (size_t)to * bytes,
               (const uint8_t *)block->values[c] + (size_t)from * bytes, bytes);
        if (block->nulls[c])
            block->nulls[c][to] = block->nulls[c][from];
    }
    if (block->lines)
        block->lines[to] = block->lines[from];
}

/* Where the columns' values are, of the block's rows so far. */
static void find_columns(const struct row_parse *parse, const struct parsed_block *block, unsigned thread,
                         const struct thread_checks *own)
{
    const uint32_t columns = parse->parsed->table->column_count;
    for (uint32_t c = 0; c < columns; c++) {
        const struct key_values *const keys = &own->keys[c];
        own->columns[c] =
            keys->values ? (struct check_values){keys->values, 8, keys->nulls, keys->words}
                         : (struct check_values){block->values[c], parse->value_bytes[c], block->nulls[c],
                                                 parse->parsed->words[thread * columns + c]};
    }
}

enum status row_checks_test(struct row_parse *parse, unsigned thread, struct parsed_block *block,
                            row_failed *reject, void *context, struct error *error)
{
    struct thread_checks *const own = &parse->checks->of[thread];
    const uint32_t rows = block->rows;
    uint32_t kept = own->tested;
    bool any;
    find_columns(parse, block, thread, own);
    RETURN_IF_ERROR(check_test_rows(own->test, own->columns, own->tested, rows, own->failed, &any, error));
    for (uint32_t row = own->tested; any && row < rows; row++) {
        if (own->failed[row]) {
            char says[CHECK_SAYS_BYTES];
            check_says(parse->checks->table->checks, own->failed[row], says);
            RETURN_IF_ERROR(reject(context, own->rows[row], says));
        } else {
            move_row(parse, block, row, kept++);
        }
    }
    block->rows = any ? kept : rows;
    own->tested = block->rows;
    return STATUS_OK;
}

/* ---- Conditions, block by block ---- */

struct block_test {
    const struct parsed_table *parsed;
    struct check_test *test;
    struct block_column *columns;
    struct check_values *values;
    int32_t *failed;
};

static enum status read_used(const struct block_test *test, const struct parsed_block *block,
                             struct error *error)
{
    const struct schema_table *const table = test->parsed->table;
    for (uint32_t c = 0; c < table->column_count; c++) {
        struct block_column *const column = &test->columns[c];
        if (!is_used(table, c) || table->columns[c].references_table[0])
            continue; /* a foreign key is a position by now; what is not known passes */
        RETURN_IF_ERROR(block_column_read(test->parsed, block, c, 0, column, error));
        test->values[c] = (struct check_values){
            column->values, column->value_bytes, column->any_null ? column->nulls : NULL,
            test->parsed->words[parsed_block_thread(block, c) * table->column_count + c]};
    }
    return STATUS_OK;
}

static enum status test_block(struct block_test *test, const struct parsed_block *block, uint64_t first,
                              struct error *error)
{
    bool any = false;
    uint32_t row = 0;
    RETURN_IF_ERROR(read_used(test, block, error));
    RETURN_IF_ERROR(
        memory_grow(&test->failed, (block->rows + 1ull) * sizeof *test->failed, "a test of rows", error));
    RETURN_IF_ERROR(check_test_rows(test->test, test->values, 0, block->rows, test->failed, &any, error));
    if (!any)
        return STATUS_OK;
    while (!test->failed[row])
        row++;
    char place[KEY_PLACE_BYTES], says[CHECK_SAYS_BYTES];
    parsed_row_place(test->parsed, first + row, place);
    check_says(test->parsed->table->checks, test->failed[row], says);
    return error_set(error, STATUS_BAD_INPUT, "%s: the row %s; nothing was loaded", place, says);
}

static enum status test_conditions(const struct parsed_table *parsed, struct error *error)
{
    const struct schema_table *const table = parsed->table;
    struct block_test test = {.parsed = parsed,
                              .columns = calloc(table->column_count, sizeof *test.columns),
                              .values = calloc(table->column_count, sizeof *test.values)};
    enum status status = test.columns && test.values
                             ? check_test_create(table->checks, table->check_count, &test.test, error)
                             : error_out_of_memory(error, table->column_count, "a test of rows");
    uint64_t first = 0;
    for (uint64_t b = 0; status == STATUS_OK && b < parsed->block_count; first += parsed->blocks[b++].rows) {
        status = test_block(&test, &parsed->blocks[b], first, error);
        for (uint32_t c = 0; c < table->column_count; c++)
            block_column_free(&test.columns[c]);
    }
    check_test_free(test.test);
    free(test.failed);
    free(test.columns);
    free(test.values);
    return status;
}

/* ---- UNIQUE ---- */

struct unique_test {
    const struct parsed_table *parsed;
    int64_t *values; /* of rows that are not NULL */
    uint64_t *rows;  /* their rows */
    uint64_t count;
};

static void place_of(const void *context, uint64_t row, char text[KEY_PLACE_BYTES])
{
    const struct unique_test *test = context;
    parsed_row_place(test->parsed, test->rows[row], text);
}

static enum status gather(struct unique_test *test, uint32_t column, struct word_codes *words,
                          struct error *error)
{
    const struct parsed_table *const parsed = test->parsed;
    const bool strings = parsed->words[column] != NULL;
    if (strings)
        RETURN_IF_ERROR(word_codes_make(parsed, column, NULL, false, words, error));
    RETURN_IF_ERROR(
        memory_take(&test->values, (parsed->rows + 1) * sizeof *test->values, "a test of rows", error));
    RETURN_IF_ERROR(
        memory_take(&test->rows, (parsed->rows + 1) * sizeof *test->rows, "a test of rows", error));
    return column_gather(parsed, column, strings ? words : NULL, test->values, test->rows, &test->count,
                         error);
}

static enum status test_unique(const struct parsed_table *parsed, uint32_t column, struct error *error)
{
    struct unique_test test = {.parsed = parsed};
    struct word_codes words = {0};
    struct key_index *index = NULL;
    enum status status = gather(&test, column, &words, error);
    if (status == STATUS_OK) {
        const struct key_owner owner = {.table = parsed->table->name,
                                        .column = parsed->table->columns[column].name,
                                        .positions = words.all != NULL,
                                        .unique = true,
                                        .place = place_of,
                                        .context = &test};
        status = key_index_create(test.values, NULL, 0, test.count, &owner, &index, error);
    }
    key_index_destroy(index);
    word_codes_free(&words);
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
