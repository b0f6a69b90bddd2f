/* text_header.c: finds, once a file, from its first rows: its delimiter, its header, and whether rows end
 * with a delimiter (text_source_internal.h). */
#include "loader/text/text_source_internal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool ends_with(const char *path, size_t length, const char *suffix)
{
    const size_t own = strlen(suffix);
    return length >= own && strncasecmp(path + length - own, suffix, own) == 0;
}

char text_delimiter_of_name(const char *path)
{
    size_t length = strlen(path);
    if (ends_with(path, length, ".gz"))
        length -= 3;
    else if (ends_with(path, length, ".zst"))
        length -= 4;
    return ends_with(path, length, ".csv")   ? ','
           : ends_with(path, length, ".tsv") ? '\t'
           : ends_with(path, length, ".tbl") ? '|'
                                             : 0;
}

/* The first row: its first columns + 1 fields, and memory for fields with doubled quotes. The caller frees
 * it. */
struct first_row {
    struct text_field *fields;
    char *spare;
    struct text_row row;
    bool there;
    size_t bytes;   /* to the end of its line, including empty lines before it */
    uint64_t lines; /* the lines in these bytes */
};

static void first_row_free(struct first_row *first)
{
    free(first->fields);
    free(first->spare);
}

static enum status first_row_find(struct text_source *source, const char *text, size_t length, char delimiter,
                                  struct first_row *first, struct error *error)
{
    struct text_shape shape = source->shape;
    const uint32_t room = shape.columns + 1;
    *first = (struct first_row){0};
    shape.delimiter = delimiter;
    RETURN_IF_ERROR(text_rows_index(text, length, &shape, &source->index, &source->index_room, error));
    first->fields = calloc(room, sizeof *first->fields);
    first->spare = malloc(length + 1);
    if (!first->fields || !first->spare) {
        first_row_free(first);
        return error_out_of_memory(error, length + room * sizeof *first->fields, "the first row");
    }
    for (uint32_t r = 0; r < source->index.row_count && !first->there; r++) {
        char *spare = first->spare;
        const size_t end = source->index.ends[source->index.rows[r]];
        first->row = text_row_split(text, &source->index, r, &shape, NULL, room, first->fields, &spare);
        first->there = !text_row_empty(&first->row) || shape.columns == 1;
        first->lines += first->row.lines;
        first->bytes = end < length ? end + 1 : length;
    }
    return STATUS_OK;
}

/* Finds the delimiter that cuts the first row into as many fields as there are columns; else the one that
 * occurs most often. */
enum status text_delimiter_of_line(struct text_source *source, const char *text, size_t length,
                                   char *delimiter, struct error *error)
{
    static const char candidates[] = {',', '\t', '|', ';'};
    uint32_t most = 0;
    *delimiter = ',';
    for (size_t c = 0; c < sizeof candidates; c++) {
        struct first_row first;
        RETURN_IF_ERROR(first_row_find(source, text, length, candidates[c], &first, error));
        const uint32_t columns = source->shape.columns;
        uint32_t fields = first.there ? first.row.fields : 0;
        first_row_free(&first);
        if (fields == columns || (fields == columns + 1 && first.row.last_empty))
            fields = columns > 1 ? UINT32_MAX : fields;
        if (fields > most) {
            most = fields;
            *delimiter = candidates[c];
        }
    }
    return STATUS_OK;
}

static uint32_t column_named(const struct text_source *source, const struct text_field *field)
{
    for (uint32_t c = 0; field->length != TEXT_NULL && c < source->shape.columns; c++)
        if (field->length == strlen(source->shape.names[c]) &&
            strncasecmp(source->shape.names[c], field->text, field->length) == 0)
            return c;
    return UINT32_MAX;
}

static enum status map(const struct text_source *source, const struct text_field *fields, uint32_t count,
                       uint64_t line, uint32_t *places, struct error *error)
{
    const char *const path = source->paths[source->path];
    const unsigned long long at = line;
    const uint32_t columns = source->shape.columns;
    for (uint32_t f = 0; f < count && f <= columns; f++) {
        const uint32_t column = column_named(source, &fields[f]);
        const int length = fields[f].length == TEXT_NULL ? 0
                           : fields[f].length > 200      ? 200
                                                         : (int)fields[f].length;
        if (column == UINT32_MAX)
            return error_set(error, STATUS_BAD_INPUT,
                             "%s:%llu: the header names '%.*s', which is no column of the table", path, at,
                             length, fields[f].text);
        for (uint32_t before = 0; before < f; before++)
            if (places[before] == column)
                return error_set(error, STATUS_BAD_INPUT, "%s:%llu: the header names '%s' twice", path, at,
                                 source->shape.names[column]);
        places[f] = column; /* f < columns: among columns + 1 names, one would be a duplicate */
    }
    for (uint32_t c = 0; c < columns; c++) {
        bool there = false;
        for (uint32_t f = 0; f < count; f++)
            there |= places[f] == c;
        if (!there)
            return error_set(
                error, STATUS_BAD_INPUT,
                "%s:%llu: the header lacks the column '%s'; every column must be there: give its "
                "values, or empty fields for NULL",
                path, at, source->shape.names[c]);
    }
    return STATUS_OK;
}

enum status text_header_read(struct text_source *source, const char *text, size_t length, uint32_t *places,
                             size_t *bytes, uint64_t *lines, struct error *error)
{
    const uint32_t columns = source->shape.columns;
    struct first_row first = {0};
    *bytes = 0;
    *lines = 0;
    for (uint32_t c = 0; c < columns; c++)
        places[c] = c;
    if (source->header == TEXT_HEADER_NO)
        return STATUS_OK;
    RETURN_IF_ERROR(first_row_find(source, text, length, source->shape.delimiter, &first, error));
    uint32_t count = first.there ? first.row.fields : 0, known = 0;
    count -= count > 1 && first.row.last_empty; /* the empty field after a trailing delimiter */
    for (uint32_t f = 0; f < count && f <= columns; f++)
        known += column_named(source, &first.fields[f]) != UINT32_MAX;
    enum status status = STATUS_OK;
    if (source->header == TEXT_HEADER_YES || (known == count && count > 0)) {
        *bytes = first.bytes;
        *lines = first.lines;
        if (first.there && first.row.complaint)
            status = error_set(error, STATUS_BAD_INPUT, "%s:1: the header %s", source->paths[source->path],
                               first.row.complaint);
        else
            status = map(source, first.fields, count, first.lines - first.row.lines + 1, places, error);
    }
    first_row_free(&first);
    return status;
}

enum status text_trailing_find(struct text_source *source, const char *text, size_t length, bool *known,
                               bool *trailing, struct error *error)
{
    struct first_row first;
    RETURN_IF_ERROR(first_row_find(source, text, length, source->shape.delimiter, &first, error));
    *known = first.there;
    *trailing = first.there && first.row.fields == source->shape.columns + 1 && first.row.last_empty;
    first_row_free(&first);
    return STATUS_OK;
}
