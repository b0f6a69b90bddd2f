/* json_rows.c: see json_rows.h. */
#include "loader/text/json_rows.h"

#include "storage/base/isa.h"
#include "storage/base/text/json_scan.h"
#include "storage/base/words/word.h"

#include <stdio.h>
#include <string.h>

/* ---- Where rows end ---- */

enum json_layout json_layout_find(const char *text, size_t length, bool whole, bool *known, size_t *bytes)
{
    const char *const end = text + length, *at = json_scan_blanks(text, end);
    struct json_scanned object;
    *bytes = 0;
    *known = true;
    if (at == end || *at == '[') {
        *known = whole || at < end;
        *bytes = at < end ? (size_t)(at - text) + 1 : 0;
        return at < end ? JSON_LAYOUT_LIST : JSON_LAYOUT_LINES;
    }
    const char *const newline = memchr(at, '\n', (size_t)(end - at)), *const stop = newline ? newline : end;
    *known = newline || whole;
    const char *const complaint = json_scan_value(&at, stop, &object);
    at = complaint ? at : json_scan_blanks(at, stop);
    if (!complaint && at < stop && *at == '{')
        return JSON_LAYOUT_OBJECTS; /* another one on the line */
    return complaint && at == stop && newline ? JSON_LAYOUT_OBJECTS : JSON_LAYOUT_LINES;
}

static uint64_t newlines_between(const char *at, const char *end)
{
    uint64_t count = 0;
    for (; (at = memchr(at, '\n', (size_t)(end - at))); at++)
        count++;
    return count;
}

struct text_whole json_rows_whole(const char *text, size_t length, enum json_layout layout)
{
    if (layout == JSON_LAYOUT_LINES)
        return ISA_CHOICE(text_scan_whole)(text, length, '\n', false);
    struct text_brackets state = {.depth = 0};
    struct text_whole whole = {0};
    (void)ISA_CHOICE(text_scan_brackets)(text, length, &state, NULL, &whole.bytes);
    whole.lines = newlines_between(text, text + whole.bytes);
    whole.all = whole.lines + newlines_between(text + whole.bytes, text + length);
    whole.open_quote = state.depth > 0 || state.inside;
    return whole;
}

void json_rows_index(const char *text, size_t length, struct text_index *index)
{
    struct text_brackets state = {.depth = 0};
    size_t last;
    uint32_t rows = ISA_CHOICE(text_scan_brackets)(text, length, &state, index->ends, &last);
    const char *const end = text + length, *at = text + last;
    while (at < end && strchr(" \t\r\n,]", *at) && *at)
        at++;
    if (at < end)
        index->ends[rows++] = (uint32_t)length;
    for (uint32_t r = 0; r < rows; r++)
        index->rows[r] = r;
    index->end_count = index->row_count = rows;
}

/* ---- Members ---- */

static uint32_t column_named(const struct json_reader *reader, const char *name, uint32_t length)
{
    for (uint32_t c = 0; c < reader->shape->columns; c++)
        if (reader->lengths[c] == length && word_compare_bytes(reader->shape->names[c], name, length) == 0)
            return c;
    return TEXT_SKIPPED;
}

/* The column of member number `m` of the object. */
static uint32_t column_of(struct json_reader *reader, uint32_t m, const struct json_scanned *name)
{
    struct json_guess *const guess = m < JSON_GUESSES ? &reader->guesses[m] : NULL;
    if (guess && m < reader->guessed && guess->length == name->length &&
        memcmp(guess->name, name->text, name->length) == 0)
        return guess->column;
    uint32_t column = TEXT_SKIPPED;
    if (!name->escaped) {
        column = column_named(reader, name->text, name->length);
    } else if (name->length < 512) {
        char plain[512];
        uint32_t length;
        if (json_scan_unescape(name->text, name->length, plain, &length))
            column = column_named(reader, plain, length);
    }
    if (guess && m <= reader->guessed) {
        *guess = (struct json_guess){name->text, name->length, column};
        reader->guessed = m + 1 > reader->guessed ? m + 1 : reader->guessed;
    }
    return column;
}

static bool take_value(const struct json_scanned *value, struct text_field *field, char **spare)
{
    *field = (struct text_field){value->text, value->kind == JSON_SCAN_NULL ? TEXT_NULL : value->length};
    if (!value->escaped)
        return true;
    field->text = *spare;
    const bool right = json_scan_unescape(value->text, value->length, *spare, &field->length);
    *spare += right ? field->length : 0;
    return right;
}

static const char *complain(const char *complaint, const char *row, const char *at, const char *end,
                            char sentence[TEXT_COMPLAINT_BYTES])
{
    char shown[TEXT_SHOWN_BYTES];
    const char *const line_end = memchr(at, '\n', (size_t)(end - at));
    text_printable(at, (size_t)((line_end ? line_end : end) - at), shown);
    snprintf(sentence, TEXT_COMPLAINT_BYTES, "is no JSON: it %s, at byte %zu%s%s%s", complaint,
             (size_t)(at - row) + 1, *shown ? ": '" : "", shown, *shown ? "'" : "");
    return sentence;
}

const char *json_row_read(struct json_reader *reader, const char **at, const char *end,
                          struct text_field *fields, char **spare, char sentence[TEXT_COMPLAINT_BYTES])
{
    const char *const row = *at;
    struct json_scan_items items = {row + 1, end, '}', false};
    const uint32_t columns = reader->shape->columns;
    const char *bad = NULL;
    reader->row++;
    for (uint32_t c = 0; c < columns; c++)
        fields[c] = (struct text_field){"", TEXT_NULL};
    if (row == end || *row != '{')
        return complain("has no object where one should be", row, row, end, sentence);
    for (uint32_t m = 0;; m++) {
        struct json_scanned name, value;
        bool more;
        const char *const complaint = json_scan_next(&items, &name, &value, &more);
        if (complaint)
            return complain(complaint, row, items.at, end, sentence);
        if (!more)
            break;
        const uint32_t column = column_of(reader, m, &name);
        if (column == TEXT_SKIPPED)
            continue;
        const bool twice = reader->seen[column] == reader->row;
        reader->seen[column] = reader->row;
        if (twice || !take_value(&value, &fields[column], spare)) {
            snprintf(
                sentence, TEXT_COMPLAINT_BYTES,
                twice
                    ? "has the member '%s' twice"
                    : "has a character in the member '%s' that no text can have: \\u0000, or half of a pair",
                reader->shape->names[column]);
            bad = sentence;
        }
    }
    *at = items.at;
    return bad;
}
