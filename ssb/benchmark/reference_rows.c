/*
 * reference_rows.c: reads the raw rows that the reference is loaded from.
 *
 * Generated rows come from the generator in batches. .tbl files are read by a reader of its own, not by the
 * loader's: a wrong answer could pass only if both were wrong in the same way. Called from one thread at a
 * time. It reads more than a million lines a second, which is faster than SQLite's inserts.
 */
#define _GNU_SOURCE
#include "ssb/benchmark/reference_internal.h"
#include "storage/base/file.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reference_rows {
    const struct reference_source *source;
    const struct reference_table *table;
    struct ssb_generator *generator; /* NULL: .tbl files */
    uint64_t row;                    /* the number of rows given so far */
    FILE *file;
    char *path;
    char *line;
    size_t line_bytes;
};

enum status reference_rows_open(const struct reference_source *source, unsigned threads,
                                struct reference_rows **out, struct error *error)
{
    struct reference_rows *rows = calloc(1, sizeof *rows);
    if (!rows)
        return error_out_of_memory(error, sizeof *rows, "the reference's rows");
    rows->source = source;
    if (!source->from) {
        enum status status = ssb_generator_create(&source->options, threads, &rows->generator, error);
        if (status != STATUS_OK) {
            free(rows);
            return status;
        }
    }
    *out = rows;
    return STATUS_OK;
}

static void close_file(struct reference_rows *rows)
{
    if (rows->file)
        fclose(rows->file);
    free(rows->path);
    rows->file = NULL;
    rows->path = NULL;
}

void reference_rows_close(struct reference_rows *rows)
{
    if (!rows)
        return;
    close_file(rows);
    ssb_generator_destroy(rows->generator);
    free(rows->line);
    free(rows);
}

enum status reference_rows_begin(struct reference_rows *rows, const struct reference_table *table,
                                 struct error *error)
{
    close_file(rows);
    rows->table = table;
    rows->row = 0;
    if (rows->generator)
        return STATUS_OK;
    const char *name = ssb_table_info(table->table)->name;
    if (asprintf(&rows->path, "%s/%s.tbl", rows->source->from, name) < 0) {
        rows->path = NULL;
        return error_out_of_memory(error, PATH_MAX, "a file name");
    }
    rows->file = file_stream(rows->path, "r");
    if (!rows->file)
        return error_set_errno(error, errno,
                               "cannot read %s, from which the database was loaded and SQLite must be too "
                               "(put the file back, or use --verify plain)",
                               rows->path);
    return STATUS_OK;
}

/* Reads the next line of the .tbl file and cuts it into fields in place; *end is true after the last line. */
static enum status next_line(struct reference_rows *rows, char **fields, bool *end, struct error *error)
{
    const struct ssb_table_info *info = ssb_table_info(rows->table->table);
    errno = 0;
    ssize_t bytes = getline(&rows->line, &rows->line_bytes, rows->file);
    *end = bytes < 0;
    if (bytes < 0) {
        if (ferror(rows->file))
            return error_set_errno(error, errno, "cannot read %s", rows->path);
        return STATUS_OK;
    }
    rows->row++;
    char *at = rows->line, *line_end = rows->line + bytes;
    if (line_end > at && line_end[-1] == '\n')
        *--line_end = 0;
    if (line_end > at && line_end[-1] == '\r')
        *--line_end = 0;
    for (uint32_t c = 0; c < info->column_count; c++) {
        char *bar = at <= line_end ? memchr(at, '|', (size_t)(line_end - at)) : NULL;
        if (!bar && c + 1 == info->column_count && at < line_end)
            bar = line_end; /* a file may have no bar after the last field */
        if (!bar)
            return error_set(error, STATUS_BAD_INPUT,
                             "%s, line %" PRIu64 ": %" PRIu32 " fields where %s has %" PRIu32, rows->path,
                             rows->row, c, info->name, info->column_count);
        *bar = 0;
        fields[c] = at;
        at = bar + 1;
    }
    return STATUS_OK;
}

static enum status field_number(const struct reference_rows *rows, uint32_t column, const char *field,
                                int32_t *number, struct error *error)
{
    char *behind;
    errno = 0;
    long value = strtol(field, &behind, 10);
    if (behind == field || *behind || errno || value < INT32_MIN || value > INT32_MAX)
        return error_set(error, STATUS_BAD_INPUT,
                         "%s, line %" PRIu64 ", %s: \"%s\" is not a number of 32 bits", rows->path, rows->row,
                         ssb_table_info(rows->table->table)->columns[column].name, field);
    *number = (int32_t)value;
    return STATUS_OK;
}

static enum status row_from_line(struct reference_rows *rows, struct ssb_row *row, bool *end,
                                 struct error *error)
{
    char *fields[SSB_COLUMNS_MAX];
    const struct ssb_table_info *info = ssb_table_info(rows->table->table);
    RETURN_IF_ERROR(next_line(rows, fields, end, error));
    for (uint32_t i = 0; !*end && i < rows->table->column_count; i++) {
        uint32_t column = rows->table->columns[i];
        if (info->columns[column].number) {
            int32_t number;
            RETURN_IF_ERROR(field_number(rows, column, fields[column], &number, error));
            row->numbers[column] = number;
        } else if (strlen(fields[column]) >= SSB_STRING_BYTES) {
            return error_set(error, STATUS_BAD_INPUT,
                             "%s, line %" PRIu64 ", %s: \"%s\" is longer than %d characters", rows->path,
                             rows->row, info->columns[column].name, fields[column], SSB_STRING_BYTES - 1);
        } else {
            strcpy(row->strings[column], fields[column]);
        }
    }
    return STATUS_OK;
}

enum status reference_rows_next(struct reference_rows *rows, struct ssb_row *row, bool *end,
                                struct error *error)
{
    if (!rows->generator)
        return row_from_line(rows, row, end, error);
    *end = rows->row == ssb_rows(rows->generator, rows->table->table);
    if (!*end)
        ssb_generate_row(rows->generator, rows->table->table, rows->row++, row);
    return STATUS_OK;
}

static enum status batch_from_lines(struct reference_rows *rows, int32_t *const *columns, uint32_t *count,
                                    struct error *error)
{
    char *fields[SSB_COLUMNS_MAX];
    for (*count = 0; *count < REFERENCE_BATCH_ROWS; (*count)++) {
        bool end;
        RETURN_IF_ERROR(next_line(rows, fields, &end, error));
        if (end)
            break;
        for (uint32_t i = 0; i < rows->table->column_count; i++) {
            uint32_t column = rows->table->columns[i];
            RETURN_IF_ERROR(field_number(rows, column, fields[column], &columns[i][*count], error));
        }
    }
    return STATUS_OK;
}

enum status reference_rows_batch(struct reference_rows *rows, int32_t *const *columns, uint32_t *count,
                                 struct error *error)
{
    if (!rows->generator)
        return batch_from_lines(rows, columns, count, error);
    uint64_t left = ssb_rows(rows->generator, SSB_LINEORDER) - rows->row;
    *count = left < REFERENCE_BATCH_ROWS ? (uint32_t)left : REFERENCE_BATCH_ROWS;
    if (*count == 0)
        return STATUS_OK;
    void *wanted[SSB_COLUMNS_MAX] = {NULL};
    for (uint32_t i = 0; i < rows->table->column_count; i++)
        wanted[rows->table->columns[i]] = columns[i];
    ssb_generate_lineorder(rows->generator, rows->row, *count, wanted);
    rows->row += *count;
    return STATUS_OK;
}
