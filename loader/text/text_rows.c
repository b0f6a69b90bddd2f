/*
 * text_rows.c: see text_rows.h. The index has the ends of fields; this file makes fields of them, in about 2
 * ns each, or 10 ns in quotes.
 */
#include "loader/text/json_rows.h"

#include "storage/base/isa.h"
#include "storage/base/words/utf8.h"

#include <stdlib.h>
#include <string.h>

struct text_whole text_rows_whole(const char *text, size_t length, const struct text_shape *shape)
{
    if (shape->json)
        return json_rows_whole(text, length, (enum json_layout)shape->json);
    return ISA_CHOICE(text_scan_whole)(text, length, shape->delimiter, !shape->verbatim);
}

enum status text_rows_index(const char *text, size_t length, const struct text_shape *shape,
                            struct text_index *index, size_t *room, struct error *error)
{
    const size_t wanted = length + TEXT_INDEX_PADDING;
    if (*room < wanted) {
        text_index_free(index);
        *room = 0;
        index->ends = malloc(wanted * sizeof *index->ends);
        index->rows = malloc(wanted * sizeof *index->rows);
        if (!index->ends || !index->rows)
            return error_out_of_memory(error, 2 * wanted * sizeof *index->ends, "finding fields");
        *room = wanted;
    }
    ISA_CHOICE(text_scan_index)
    (text, length, shape->json ? '\n' : shape->delimiter, !shape->verbatim && !shape->json, index);
    if (shape->json > JSON_LAYOUT_LINES)
        json_rows_index(text, length, index);
    return STATUS_OK;
}

void text_index_free(struct text_index *index)
{
    free(index->ends);
    free(index->rows);
    *index = (struct text_index){0};
}

static uint64_t count_newlines(const char *at, const char *end)
{
    uint64_t count = 0;
    for (; (at = memchr(at, '\n', (size_t)(end - at))); at++)
        count++;
    return count;
}

/* Reads the quoted field from `at`, which is a quote, to `end`. Returns NULL, or the complaint. */
static const char *quoted_field(const char *at, const char *end, struct text_field *field, char **spare)
{
    char *to = *spare;
    const char *from = at + 1;
    *field = (struct text_field){from, 0};
    for (bool doubled = false;;) {
        const char *const quote = memchr(from, '"', (size_t)(end - from));
        if (!quote)
            return "has a quoted field that does not end";
        const size_t bytes = (size_t)(quote - from);
        const bool more = quote + 1 < end && quote[1] == '"';
        if (!more && !doubled) {
            field->length = (uint32_t)bytes;
            return quote + 1 == end ? NULL : "has text behind a closing quote";
        }
        memcpy(to, from, bytes);
        to += bytes;
        doubled = true;
        if (!more) {
            *field = (struct text_field){*spare, (uint32_t)(to - *spare)};
            *spare = to;
            return quote + 1 == end ? NULL : "has text behind a closing quote";
        }
        *to++ = '"';
        from = quote + 2;
    }
}

static inline struct text_field plain_field(const char *at, size_t length, const struct text_shape *shape)
{
    const bool null = shape->null_text
                          ? length == shape->null_length && memcmp(at, shape->null_text, length) == 0
                          : length == 0;
    return (struct text_field){at, null ? TEXT_NULL : (uint32_t)length};
}

struct text_row text_row_split(const char *text, const struct text_index *index, uint32_t row,
                               const struct text_shape *shape, const uint32_t *places, uint32_t room,
                               struct text_field *fields, char **spare)
{
    const uint32_t first = row ? index->rows[row - 1] + 1 : 0;
    const uint32_t *const ends = index->ends + first;
    const uint32_t count = index->rows[row] + 1 - first, kept = count < room ? count : room;
    struct text_row found = {.fields = count, .lines = 1};
    uint32_t begin = row ? index->ends[first - 1] + 1 : 0;
    for (uint32_t f = 0; f < count; f++) {
        uint32_t end = ends[f];
        if (f + 1 == count) {
            end -= end > begin && text[end - 1] == '\r';
            found.last_empty = end == begin;
        }
        struct text_field field;
        if (index->quotes && begin < end && text[begin] == '"') {
            const char *const complaint = quoted_field(text + begin, text + end, &field, spare);
            found.complaint = found.complaint ? found.complaint : complaint;
            found.lines += count_newlines(text + begin, text + end);
        } else {
            field = plain_field(text + begin, end - begin, shape);
        }
        const uint32_t place = f >= kept ? TEXT_SKIPPED : places ? places[f] : f;
        if (place != TEXT_SKIPPED)
            fields[place] = field;
        begin = ends[f] + 1;
    }
    return found;
}

void text_printable(const char *text, size_t length, char shown[TEXT_SHOWN_BYTES])
{
    const size_t most = TEXT_SHOWN_BYTES - 4, kept = length < most ? length : most - 3;
    char plain[TEXT_SHOWN_BYTES];
    memcpy(plain, text, kept);
    plain[kept] = '\0';
    error_text_escape(shown, TEXT_SHOWN_BYTES - 3, plain);
    if (length >= most)
        strcat(shown, "...");
}

const char text_no_utf8[] = "is no UTF-8: if it is Latin-1, tessera load --encoding latin1 reads it";
