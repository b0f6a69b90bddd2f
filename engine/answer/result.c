/* result.c: see result.h. */
#define _GNU_SOURCE
#include "engine/answer/result.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STRING_BLOCK_BYTES 4096u /* a few hundred cities or brands; answers rarely need a second block */
#define FIRST_ROWS         64u

/* Strings never move, so cells may point at them while the result grows. */
struct result_strings {
    struct result_strings *next;
    size_t used, size;
    char bytes[];
};

enum status result_create(struct result *result, uint32_t column_count, const char *const *names,
                          const uint8_t *is_string, struct error *error)
{
    *result = (struct result){0};
    if (column_count == 0 || column_count > RESULT_COLUMNS_MAX)
        return error_set(error, STATUS_BAD_INPUT,
                         "an answer of %" PRIu32 " columns was asked for; 1 to %u can be returned",
                         column_count, RESULT_COLUMNS_MAX);
    result->column_count = column_count;
    for (uint32_t c = 0; c < column_count; c++) {
        snprintf(result->names[c], sizeof result->names[c], "%s", names[c]);
        result->is_string[c] = is_string[c];
    }
    return STATUS_OK;
}

void result_destroy(struct result *result)
{
    for (struct result_strings *block = result->strings; block;) {
        struct result_strings *next = block->next;
        free(block);
        block = next;
    }
    free(result->cells);
    *result = (struct result){0};
}

static const char *keep_string(struct result *result, const char *string)
{
    size_t bytes = strlen(string) + 1;
    struct result_strings *block = result->strings;
    if (!block || block->size - block->used < bytes) {
        size_t size = bytes > STRING_BLOCK_BYTES ? bytes : STRING_BLOCK_BYTES;
        block = malloc(sizeof *block + size);
        if (!block)
            return NULL;
        *block = (struct result_strings){.next = result->strings, .size = size};
        result->strings = block;
    }
    char *copy = memcpy(block->bytes + block->used, string, bytes);
    block->used += bytes;
    return copy;
}

enum status result_add_row(struct result *result, const struct result_cell *cells, struct error *error)
{
    if (result->rows == result->capacity) {
        uint64_t capacity = result->capacity ? 2 * result->capacity : FIRST_ROWS;
        size_t bytes = capacity * result->column_count * sizeof *result->cells;
        struct result_cell *grown = realloc(result->cells, bytes);
        if (!grown)
            return error_out_of_memory(error, bytes, "the answer");
        result->cells = grown;
        result->capacity = capacity;
    }
    struct result_cell *row = result->cells + result->rows * result->column_count;
    for (uint32_t c = 0; c < result->column_count; c++) {
        row[c] = (struct result_cell){.null = true};
        if (cells[c].null || (result->is_string[c] && !cells[c].string))
            continue;
        row[c].null = false;
        if (!result->is_string[c]) {
            row[c].number = cells[c].number;
            continue;
        }
        row[c].string = keep_string(result, cells[c].string);
        if (!row[c].string)
            return error_out_of_memory(error, strlen(cells[c].string) + 1, "a string of the answer");
    }
    result->rows++;
    return STATUS_OK;
}

struct sort_context {
    const struct result *result;
    const struct result_order *orders;
    uint32_t count;
};

static int compare_cells(const struct result_cell *a, const struct result_cell *b, bool is_string)
{
    if (a->null || b->null)
        return (int)b->null - (int)a->null;
    if (is_string)
        return strcmp(a->string, b->string);
    return (a->number > b->number) - (a->number < b->number);
}

static int compare_rows(const void *left, const void *right, void *argument)
{
    const struct sort_context *context = argument;
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    for (uint32_t i = 0; i < context->count; i++) {
        uint32_t column = context->orders[i].column;
        int order =
            compare_cells(result_cell(context->result, a, column), result_cell(context->result, b, column),
                          context->result->is_string[column]);
        if (order)
            return context->orders[i].descending ? -order : order;
    }
    return (a > b) - (a < b); /* row numbers, which makes the sort stable */
}

enum status result_sort(struct result *result, const struct result_order *orders, uint32_t count,
                        struct error *error)
{
    if (result->rows < 2)
        return STATUS_OK;
    for (uint32_t i = 0; i < count; i++)
        if (orders[i].column >= result->column_count)
            return error_set(error, STATUS_BAD_INPUT,
                             "cannot sort an answer of %" PRIu32 " columns by column %" PRIu32,
                             result->column_count, orders[i].column + 1);
    size_t row_bytes = result->column_count * sizeof *result->cells;
    uint64_t *rows = malloc(result->rows * sizeof *rows);
    struct result_cell *sorted = malloc(result->rows * row_bytes);
    if (!rows || !sorted) {
        free(rows);
        free(sorted);
        return error_out_of_memory(error, result->rows * (row_bytes + sizeof *rows), "sorting the answer");
    }
    for (uint64_t i = 0; i < result->rows; i++)
        rows[i] = i;
    struct sort_context context = {.result = result, .orders = orders, .count = count};
    qsort_r(rows, result->rows, sizeof *rows, compare_rows, &context);
    for (uint64_t i = 0; i < result->rows; i++)
        memcpy(sorted + i * result->column_count, result_cell(result, rows[i], 0), row_bytes);
    free(rows);
    free(result->cells);
    result->cells = sorted;
    result->capacity = result->rows;
    return STATUS_OK;
}

enum status result_csv(const struct result *result, char **text, size_t *bytes, struct error *error)
{
    *text = NULL;
    *bytes = 0;
    FILE *stream = open_memstream(text, bytes);
    if (!stream)
        return error_out_of_memory(error, BUFSIZ, "the answer's text");
    for (uint32_t c = 0; c < result->column_count; c++)
        fprintf(stream, "%s%s", c ? "," : "", result->names[c]);
    fputc('\n', stream);
    for (uint64_t row = 0; row < result->rows; row++) {
        for (uint32_t c = 0; c < result->column_count; c++) {
            const struct result_cell *cell = result_cell(result, row, c);
            if (c)
                fputc(',', stream);
            if (cell->null)
                continue;
            if (result->is_string[c])
                fputs(cell->string, stream);
            else
                fprintf(stream, "%" PRId64, cell->number);
        }
        fputc('\n', stream);
    }
    bool failed = ferror(stream) != 0;
    if (fclose(stream) != 0 || failed) {
        free(*text);
        *text = NULL;
        return error_out_of_memory(error, *bytes, "the answer's text");
    }
    return STATUS_OK;
}
