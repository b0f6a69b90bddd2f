/* text_header.c: finds, once a file, from its first rows: its delimiter, its header, and whether rows end
 * with a delimiter (text_source_internal.h). */
#include "loader/text/text_source_internal.h"

#include "storage/base/words/utf8.h"
#include "storage/base/words/word.h"

#include <stdlib.h>
#include <string.h>

static bool ends_with(const char *path, size_t length, const char *suffix)
{
    const size_t own = strlen(suffix);
    return length >= own && word_compare_bytes(path + length - own, suffix, own) == 0;
}

/* The length of a file's name without the ending of its compression. */
static size_t unpacked_length(const char *path)
{
    static const char *const endings[] = {".gz", ".zst", ".xz", ".bz2"};
    const size_t length = strlen(path);
    for (size_t e = 0; e < sizeof endings / sizeof *endings; e++)
        if (ends_with(path, length, endings[e]))
            return length - strlen(endings[e]);
    return length;
}

bool text_name_is_json(const char *path)
{
    const size_t length = unpacked_length(path);
    return ends_with(path, length, ".json") || ends_with(path, length, ".jsonl") ||
           ends_with(path, length, ".ndjson");
}

char text_delimiter_of_name(const char *path)
{
    const size_t length = unpacked_length(path);
    return ends_with(path, length, ".csv")   ? ','
           : ends_with(path, length, ".tsv") ? '\t'
           : ends_with(path, length, ".tbl") ? '|'
                                             : 0;
}

bool text_may_be_json(char given, const char *path)
{
    const char named = text_delimiter_of_name(path);
    return !given && (!named || named == ',');
}

/* The most fields of a row, also of those that are skipped. */
#define TEXT_FIELDS_MAX 16384u

/* The first row: its fields, and memory for fields with doubled quotes. The caller frees it. */
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
    const uint32_t room = TEXT_FIELDS_MAX;
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
        first->there = !text_row_empty(&first->row) || (shape.columns == 1 && !source->listed);
        first->lines += first->row.lines;
        first->bytes = end < length ? end + 1 : length;
    }
    return STATUS_OK;
}

/* Finds the delimiter that cuts the first row into as many fields as there are columns; else the one that
 * occurs most often. A comma that the file's name says is taken if it cuts the row, and no
 * other one gives as many fields as there are columns. */
enum status text_delimiter_of_line(struct text_source *source, const char *text, size_t length, bool comma,
                                   char *delimiter, struct error *error)
{
    static const char candidates[] = {',', '\t', '|', ';'};
    uint32_t most = 0;
    *delimiter = ',';
    for (size_t c = 0; c < sizeof candidates; c++) {
        struct first_row first;
        RETURN_IF_ERROR(first_row_find(source, text, length, candidates[c], &first, error));
        const uint32_t columns = source->listed ? source->listed_count : source->shape.columns;
        uint32_t fields = first.there ? first.row.fields : 0;
        first_row_free(&first);
        if (fields == columns || (fields == columns + 1 && first.row.last_empty))
            fields = columns > 1 ? UINT32_MAX : fields;
        else if (comma && c == 0 && fields > 1)
            fields = UINT32_MAX - 1;
        if (fields > most) {
            most = fields;
            *delimiter = candidates[c];
        }
    }
    return STATUS_OK;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

struct text_field text_field_trim(const struct text_field *field)
{
    struct text_field own = *field;
    if (own.length == TEXT_NULL)
        return (struct text_field){"", 0};
    for (; own.length && is_blank(own.text[0]); own.text++)
        own.length--;
    while (own.length && is_blank(own.text[own.length - 1]))
        own.length--;
    return own;
}

static uint32_t column_named(const struct text_source *source, const struct text_field *field)
{
    const struct text_field own = text_field_trim(field);
    for (uint32_t c = 0; c < source->shape.columns; c++)
        if (own.length == strlen(source->shape.names[c]) &&
            word_compare_bytes(source->shape.names[c], own.text, own.length) == 0)
            return c;
    return TEXT_SKIPPED;
}

/* Gives each field of a header its place. `twice`: the first column that two fields name, or UINT32_MAX. */
struct header_names {
    uint32_t known, covered; /* fields that name columns; columns that are named */
    uint32_t twice;
};

static struct header_names names_find(const struct text_source *source, const struct text_field *fields,
                                      uint32_t count, uint32_t *places)
{
    struct header_names names = {.twice = UINT32_MAX};
    for (uint32_t f = 0; f < count; f++) {
        places[f] = column_named(source, &fields[f]);
        names.known += places[f] != TEXT_SKIPPED;
        bool again = false;
        for (uint32_t before = 0; before < f && !again && places[f] != TEXT_SKIPPED; before++)
            again = places[before] == places[f];
        names.covered += places[f] != TEXT_SKIPPED && !again;
        names.twice = again && names.twice == UINT32_MAX ? places[f] : names.twice;
    }
    return names;
}

/* Complains about columns that no field of a header names, or several. */
static enum status check_names(const struct text_source *source, const struct header_names *names,
                               const uint32_t *places, uint32_t count, uint64_t line, struct error *error)
{
    const char *const path = source->paths[source->path];
    if (names->twice != UINT32_MAX)
        return error_set(error, STATUS_BAD_INPUT,
                         "%s:%llu: the header names '%s' twice; say what the fields are by --columns "
                         "TABLE=COLUMN,COLUMN... (- for one to skip)",
                         path, (unsigned long long)line, source->shape.names[names->twice]);
    for (uint32_t c = 0; c < source->shape.columns; c++) {
        bool there = false;
        for (uint32_t f = 0; f < count; f++)
            there |= places[f] == c;
        if (!there)
            return error_set(error, STATUS_BAD_INPUT,
                             "%s:%llu: the header lacks the column '%s'; every column must be there: give "
                             "its values, or empty fields for NULL",
                             path, (unsigned long long)line, source->shape.names[c]);
    }
    return STATUS_OK;
}

/* Whether the fields are the names in options->columns. */
static bool names_listed(const struct text_source *source, const uint32_t *places, uint32_t count)
{
    bool same = count == source->listed_count;
    for (uint32_t f = 0; same && f < count; f++)
        same = source->listed[f] == TEXT_SKIPPED || source->listed[f] == places[f];
    return same;
}

static enum status places_take(struct text_source *source, uint32_t count, uint32_t **places,
                               struct error *error)
{
    *places = malloc((count + (size_t)1) * sizeof **places);
    source->shape.fields = count;
    return *places ? STATUS_OK : error_out_of_memory(error, count * sizeof **places, "a header");
}

/* The places of a file's fields without a header's help. */
static enum status places_default(struct text_source *source, uint32_t **places, struct error *error)
{
    const uint32_t count = source->listed ? source->listed_count : source->shape.columns;
    RETURN_IF_ERROR(places_take(source, count, places, error));
    for (uint32_t f = 0; f < count; f++)
        (*places)[f] = source->listed ? source->listed[f] : f;
    return STATUS_OK;
}

enum status text_header_read(struct text_source *source, const char *text, size_t length, uint32_t **places,
                             size_t *bytes, uint64_t *lines, struct error *error)
{
    struct first_row first = {0};
    *bytes = 0;
    *lines = 0;
    if (source->header == TEXT_HEADER_NO)
        return places_default(source, places, error);
    RETURN_IF_ERROR(first_row_find(source, text, length, source->shape.delimiter, &first, error));
    uint32_t count = first.there ? first.row.fields : 0;
    count -= count > 1 && first.row.last_empty; /* the empty field after a trailing delimiter */
    count = count < TEXT_FIELDS_MAX ? count : TEXT_FIELDS_MAX;
    enum status status = places_take(source, count, places, error);
    if (status == STATUS_OK) {
        const struct header_names names = names_find(source, first.fields, count, *places);
        const bool named = (names.known == count && count > 0) || names.covered == source->shape.columns ||
                           (source->listed && names.known && names_listed(source, *places, count));
        const bool header = source->header == TEXT_HEADER_YES || named;
        *bytes = header ? first.bytes : 0;
        *lines = header ? first.lines : 0;
        if (header && !utf8_is_valid(text, first.bytes) && source->file && text_decoder_name(source->file)[0])
            status =
                error_set(error, STATUS_BAD_INPUT, "%s:1: the header has bytes that are no character of %s",
                          source->paths[source->path], text_decoder_name(source->file));
        else if (header && !utf8_is_valid(text, first.bytes))
            status = error_set(error, STATUS_BAD_INPUT, "%s:1: the header %s", source->paths[source->path],
                               text_no_utf8);
        else if (header && first.there && first.row.complaint)
            status = error_set(error, STATUS_BAD_INPUT, "%s:1: the header %s", source->paths[source->path],
                               first.row.complaint);
        else if (header && !source->listed)
            status = check_names(source, &names, *places, count, first.lines - first.row.lines + 1, error);
        if (status == STATUS_OK && (!header || source->listed)) {
            free(*places);
            status = places_default(source, places, error);
        }
    }
    first_row_free(&first);
    return status;
}

enum status text_columns_read(struct text_source *source, const char *list, struct error *error)
{
    uint32_t found = 0;
    source->listed = malloc((strlen(list) + 1) * sizeof *source->listed);
    if (!source->listed)
        return error_out_of_memory(error, strlen(list) * sizeof *source->listed, "a list of columns");
    for (const char *at = list;; at++) {
        const struct text_field name = {.text = at, .length = (uint32_t)strcspn(at, ",")};
        const uint32_t place = column_named(source, &name);
        for (uint32_t f = 0; f < source->listed_count; f++)
            if (place != TEXT_SKIPPED && source->listed[f] == place)
                return error_set(error, STATUS_BAD_INPUT, "--columns %s names '%s' twice", list,
                                 source->shape.names[place]);
        found += place != TEXT_SKIPPED;
        source->listed[source->listed_count++] = place;
        at += name.length;
        if (!*at)
            break;
    }
    for (uint32_t c = 0; found < source->shape.columns && c < source->shape.columns; c++) {
        bool there = false;
        for (uint32_t f = 0; f < source->listed_count; f++)
            there |= source->listed[f] == c;
        if (!there)
            return error_set(error, STATUS_BAD_INPUT, "--columns %s lacks the table's column '%s'", list,
                             source->shape.names[c]);
    }
    return STATUS_OK;
}

enum status text_trailing_find(struct text_source *source, const char *text, size_t length, bool *known,
                               bool *trailing, struct error *error)
{
    struct first_row first;
    RETURN_IF_ERROR(first_row_find(source, text, length, source->shape.delimiter, &first, error));
    *known = first.there;
    *trailing = first.there && first.row.fields == source->shape.fields + 1 && first.row.last_empty;
    first_row_free(&first);
    return STATUS_OK;
}
