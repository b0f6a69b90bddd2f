/* answer.c: see answer.h. */
#define _GNU_SOURCE
#include "ssb/benchmark/answer.h"

#include "storage/base/file.h"
#include "storage/base/text/text_stream.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

#define CELL_TEXT_BYTES 128

const char *answer_check_text(enum answer_check check)
{
    static const char *const texts[] = {"skipped", "ok", "wrong"};
    return texts[check];
}

static bool is_string(const struct rowset *answer, uint32_t column)
{
    return answer->columns[column].type.kind == VALUE_STRING;
}

static bool is_null(const struct rowset *answer, uint64_t row, uint32_t column)
{
    return answer->columns[column].nulls && answer->columns[column].nulls[row];
}

/* The text of a string cell, which must not be NULL. */
static const char *string_at(const struct rowset *answer, uint64_t row, uint32_t column, uint32_t *length)
{
    char unused[ROWSET_TEXT_BYTES];
    return rowset_text(&answer->columns[column], row, unused, length);
}

static bool same_cell(const struct rowset *a, const struct rowset *b, uint64_t row, uint32_t column)
{
    if (is_null(a, row, column) || is_null(b, row, column))
        return is_null(a, row, column) == is_null(b, row, column);
    if (!is_string(a, column))
        return a->columns[column].values[row] == b->columns[column].values[row];
    uint32_t length, other_length;
    const char *const text = string_at(a, row, column, &length), *const other =
                                                                     string_at(b, row, column, &other_length);
    return length == other_length && memcmp(text, other, length) == 0;
}

static const char *cell_text(const struct rowset *answer, uint64_t row, uint32_t column,
                             char text[CELL_TEXT_BYTES])
{
    char number[ROWSET_TEXT_BYTES];
    uint32_t length;
    const char *const quote = is_string(answer, column) ? "\"" : "";
    const char *const value = rowset_text(&answer->columns[column], row, number, &length);
    if (value)
        snprintf(text, CELL_TEXT_BYTES, "%s%.*s%s", quote, (int)length, value, quote);
    else
        snprintf(text, CELL_TEXT_BYTES, "NULL");
    return text;
}

static enum status compare_columns(const char *query, const char *judge, const struct rowset *expected,
                                   const struct rowset *got, struct error *error)
{
    if (expected->column_count != got->column_count)
        return error_set(error, STATUS_CHECK_FAILED,
                         "%s is wrong: %s answers %" PRIu32 " columns, got %" PRIu32, query, judge,
                         expected->column_count, got->column_count);
    for (uint32_t c = 0; c < expected->column_count; c++) {
        const char *const name = expected->columns[c].name;
        if (strcmp(name, got->columns[c].name) != 0)
            return error_set(error, STATUS_CHECK_FAILED,
                             "%s is wrong: column %" PRIu32 " is %s for %s, got %s", query, c + 1, name,
                             judge, got->columns[c].name);
        if (is_string(expected, c) != is_string(got, c))
            return error_set(error, STATUS_CHECK_FAILED, "%s is wrong: column %s is of %s for %s, got %s",
                             query, name, is_string(expected, c) ? "strings" : "numbers", judge,
                             is_string(got, c) ? "strings" : "numbers");
    }
    return STATUS_OK;
}

enum status answer_compare(const char *query, const char *judge, const struct rowset *expected,
                           const struct rowset *got, struct error *error)
{
    RETURN_IF_ERROR(compare_columns(query, judge, expected, got, error));
    uint64_t rows = expected->rows < got->rows ? expected->rows : got->rows;
    for (uint64_t row = 0; row < rows; row++)
        for (uint32_t c = 0; c < expected->column_count; c++) {
            char want_text[CELL_TEXT_BYTES], have_text[CELL_TEXT_BYTES];
            if (!same_cell(expected, got, row, c))
                return error_set(error, STATUS_CHECK_FAILED,
                                 "%s is wrong: row %" PRIu64 ", column %s: %s answers %s, got %s (%" PRIu64
                                 " and %" PRIu64 " rows)",
                                 query, row + 1, expected->columns[c].name, judge,
                                 cell_text(expected, row, c, want_text), cell_text(got, row, c, have_text),
                                 expected->rows, got->rows);
        }
    if (expected->rows != got->rows)
        return error_set(error, STATUS_CHECK_FAILED,
                         "%s is wrong: %s answers %" PRIu64 " rows, got %" PRIu64 " (the first %" PRIu64
                         " agree)",
                         query, judge, expected->rows, got->rows, rows);
    return STATUS_OK;
}

bool answer_is_empty(const struct rowset *answer)
{
    for (uint64_t row = 0; row < answer->rows; row++)
        for (uint32_t c = 0; c < answer->column_count; c++)
            if (!is_null(answer, row, c))
                return false;
    return true;
}

enum status answer_text(const struct rowset *answer, char **text, size_t *bytes, struct error *error)
{
    *text = NULL;
    *bytes = 0;
    FILE *stream = text_stream(text, bytes);
    if (!stream)
        return error_out_of_memory(error, BUFSIZ, "the answer's text");
    enum status status = rowset_print(answer, ROWSET_CSV, 1, stream, error);
    if (fclose(stream) != 0 && status == STATUS_OK)
        status = error_out_of_memory(error, *bytes, "the answer's text");
    if (status != STATUS_OK) {
        free(*text);
        *text = NULL;
    }
    return status;
}

enum status answer_hash(const struct rowset *answer, char hash[17], struct error *error)
{
    char *text;
    size_t bytes;
    RETURN_IF_ERROR(answer_text(answer, &text, &bytes, error));
    snprintf(hash, 17, "%016" PRIx64, (uint64_t)XXH3_64bits(text, bytes));
    free(text);
    return STATUS_OK;
}

/* "q1.1" -> "FOLDER/q11.csv" */
static enum status answer_path(const char *folder, const char *query, char path[PATH_MAX],
                               struct error *error)
{
    int used = snprintf(path, PATH_MAX, "%s/", folder);
    for (; *query && used > 0 && used < PATH_MAX - 16; query++)
        if (*query != '.')
            path[used++] = *query;
    if (*query)
        return error_set(error, STATUS_BAD_INPUT, "the path %s is too long", folder);
    strcpy(path + used, ".csv");
    return STATUS_OK;
}

enum status answer_write(const struct rowset *answer, const char *folder, const char *query,
                         struct error *error)
{
    char path[PATH_MAX];
    char *text;
    size_t bytes;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return error_set_errno(error, errno, "cannot create the folder %s for the answers", folder);
    RETURN_IF_ERROR(answer_path(folder, query, path, error));
    RETURN_IF_ERROR(answer_text(answer, &text, &bytes, error));
    enum status status = file_replace(path, text, bytes, error);
    free(text);
    return status;
}
