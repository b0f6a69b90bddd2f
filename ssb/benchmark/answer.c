/* answer.c: see answer.h. */
#define _GNU_SOURCE
#include "ssb/benchmark/answer.h"

#include "storage/base/file.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define CELL_TEXT_BYTES 128

const char *answer_check_text(enum answer_check check)
{
    static const char *const texts[] = {"skipped", "ok", "wrong"};
    return texts[check];
}

static bool same_cell(const struct result_cell *a, const struct result_cell *b, bool is_string)
{
    if (a->null || b->null)
        return a->null == b->null;
    return is_string ? strcmp(a->string, b->string) == 0 : a->number == b->number;
}

static const char *cell_text(const struct result_cell *cell, bool is_string, char text[CELL_TEXT_BYTES])
{
    if (cell->null)
        snprintf(text, CELL_TEXT_BYTES, "NULL");
    else if (is_string)
        snprintf(text, CELL_TEXT_BYTES, "\"%s\"", cell->string);
    else
        snprintf(text, CELL_TEXT_BYTES, "%" PRId64, cell->number);
    return text;
}

static enum status compare_columns(const char *query, const char *judge, const struct result *expected,
                                   const struct result *got, struct error *error)
{
    if (expected->column_count != got->column_count)
        return error_set(error, STATUS_CHECK_FAILED,
                         "%s is wrong: %s answers %" PRIu32 " columns, got %" PRIu32, query, judge,
                         expected->column_count, got->column_count);
    for (uint32_t c = 0; c < expected->column_count; c++) {
        if (strcmp(expected->names[c], got->names[c]) != 0)
            return error_set(error, STATUS_CHECK_FAILED,
                             "%s is wrong: column %" PRIu32 " is %s for %s, got %s", query, c + 1,
                             expected->names[c], judge, got->names[c]);
        if (!expected->is_string[c] != !got->is_string[c])
            return error_set(error, STATUS_CHECK_FAILED, "%s is wrong: column %s is of %s for %s, got %s",
                             query, expected->names[c], expected->is_string[c] ? "strings" : "numbers", judge,
                             got->is_string[c] ? "strings" : "numbers");
    }
    return STATUS_OK;
}

enum status answer_compare(const char *query, const char *judge, const struct result *expected,
                           const struct result *got, struct error *error)
{
    RETURN_IF_ERROR(compare_columns(query, judge, expected, got, error));
    uint64_t rows = expected->rows < got->rows ? expected->rows : got->rows;
    for (uint64_t row = 0; row < rows; row++)
        for (uint32_t c = 0; c < expected->column_count; c++) {
            const struct result_cell *want = result_cell(expected, row, c), *have = result_cell(got, row, c);
            char want_text[CELL_TEXT_BYTES], have_text[CELL_TEXT_BYTES];
            if (!same_cell(want, have, expected->is_string[c]))
                return error_set(error, STATUS_CHECK_FAILED,
                                 "%s is wrong: row %" PRIu64 ", column %s: %s answers %s, got %s (%" PRIu64
                                 " and %" PRIu64 " rows)",
                                 query, row + 1, expected->names[c], judge,
                                 cell_text(want, expected->is_string[c], want_text),
                                 cell_text(have, expected->is_string[c], have_text), expected->rows,
                                 got->rows);
        }
    if (expected->rows != got->rows)
        return error_set(error, STATUS_CHECK_FAILED,
                         "%s is wrong: %s answers %" PRIu64 " rows, got %" PRIu64 " (the first %" PRIu64
                         " agree)",
                         query, judge, expected->rows, got->rows, rows);
    return STATUS_OK;
}

bool answer_is_empty(const struct result *answer)
{
    for (uint64_t i = 0; i < answer->rows * answer->column_count; i++)
        if (!answer->cells[i].null)
            return false;
    return true;
}

enum status answer_hash(const struct result *answer, char hash[17], struct error *error)
{
    char *text;
    size_t bytes;
    RETURN_IF_ERROR(result_csv(answer, &text, &bytes, error));
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

static enum status write_text(const char *path, const char *text, size_t bytes, struct error *error)
{
    char partial[PATH_MAX + 16];
    snprintf(partial, sizeof partial, "%s.partial", path);
    RETURN_IF_ERROR(file_write_whole(partial, text, bytes, error));
    if (rename(partial, path) == 0)
        return STATUS_OK;
    const int reason = errno;
    unlink(partial);
    return error_set_errno(error, reason, "cannot write %s", path);
}

enum status answer_write(const struct result *answer, const char *folder, const char *query,
                         struct error *error)
{
    char path[PATH_MAX];
    char *text;
    size_t bytes;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return error_set_errno(error, errno, "cannot create the folder %s for the answers", folder);
    RETURN_IF_ERROR(answer_path(folder, query, path, error));
    RETURN_IF_ERROR(result_csv(answer, &text, &bytes, error));
    enum status status = write_text(path, text, bytes, error);
    free(text);
    return status;
}
