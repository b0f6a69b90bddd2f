/*
 * text_rows.c: see text_rows.h. A block without a quote, which is nearly every one, is looked through by memrchr
 * and counted by a loop that the compiler makes vectors of; splitting goes byte by byte, 1 to 2 cycles each.
 */
#define _GNU_SOURCE
#include "loader/text_rows.h"

#include <string.h>

static uint64_t count_lines(const char *text, size_t length)
{
    uint64_t lines = 0;
    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n';
    return lines;
}

/* Behind the closing quote of the field that begins at `at`; NULL if it does not end. */
static const char *close_quote(const char *at, const char *limit)
{
    for (at++;; at += 2) {
        at = memchr(at, '"', (size_t)(limit - at));
        if (!at)
            return NULL;
        if (at + 1 == limit || at[1] != '"')
            return at + 1;
    }
}

size_t text_rows_whole(const char *text, size_t length, char delimiter, bool last, uint64_t *lines,
                       bool *open_quote)
{
    const char *const limit = text + length;
    const char *whole = text;
    *open_quote = false;
    if (!memchr(text, '"', length)) {
        const char *newline = memrchr(text, '\n', length);
        whole = last ? limit : newline ? newline + 1 : text;
    } else {
        bool field_begins = true;
        const char *at = text;
        while (at < limit) {
            if (field_begins && *at == '"') {
                const char *behind = close_quote(at, limit);
                *open_quote = !behind;
                if (!behind)
                    break;
                at = behind;
                field_begins = false;
                continue;
            }
            field_begins = *at == delimiter || *at == '\n';
            whole = *at == '\n' ? at + 1 : whole;
            at++;
        }
        if (last && !*open_quote)
            whole = limit;
    }
    *lines = count_lines(text, (size_t)(whole - text));
    return (size_t)(whole - text);
}

static const char *take_quoted(const char *at, const char *limit, struct text_field *field, char **spare,
                               const char **behind)
{
    const char *const closed = close_quote(at, limit);
    if (!closed) {
        *behind = limit;
        return "a quoted field does not end";
    }
    *behind = closed;
    const char *from = at + 1, *const end = closed - 1;
    if (!memchr(from, '"', (size_t)(end - from))) {
        *field = (struct text_field){from, (uint32_t)(end - from)};
        return NULL;
    }
    char *to = *spare;
    for (; from < end; from++) {
        *to++ = *from;
        from += *from == '"';
    }
    *field = (struct text_field){*spare, (uint32_t)(to - *spare)};
    *spare = to;
    return NULL;
}

uint32_t text_row_split(const char *text, const char *limit, const struct text_shape *shape,
                        struct text_field *fields, uint32_t room, const char **end, char **spare,
                        uint64_t *lines, const char **fault)
{
    const char delimiter = shape->delimiter;
    const char *at = text;
    uint32_t count = 0;
    *fault = NULL;
    *lines = 0;
    for (;;) {
        struct text_field field = {at, 0};
        if (at < limit && *at == '"') {
            const char *behind;
            const char *const complaint = take_quoted(at, limit, &field, spare, &behind);
            *fault = *fault ? *fault : complaint;
            *lines += count_lines(at, (size_t)(behind - at));
            at = behind;
            if (at < limit && *at == '\r' && at + 1 < limit && at[1] == '\n')
                at++;
            if (at < limit && *at != delimiter && *at != '\n') {
                *fault = *fault ? *fault : "has text behind a closing quote";
                while (at < limit && *at != delimiter && *at != '\n')
                    at++;
            }
        } else {
            while (at < limit && *at != delimiter && *at != '\n')
                at++;
            field.length = (uint32_t)(at - field.text);
            if (field.length && (at == limit || *at == '\n') && at[-1] == '\r')
                field.length--;
            const bool null = shape->null_text ? field.length == shape->null_length &&
                                                     memcmp(field.text, shape->null_text, field.length) == 0
                                               : field.length == 0;
            field.length = null ? TEXT_NULL : field.length;
        }
        if (count < room)
            fields[count] = field;
        count++;
        if (at == limit || *at == '\n')
            break;
        at++; /* the delimiter */
    }
    if (at < limit) {
        at++;
        (*lines)++;
    }
    *end = at;
    if (shape->trailing && count == shape->columns + 1 && at - 1 >= text) {
        const char *last = at[-1] == '\n' ? at - 2 : at - 1; /* before the line end */
        last -= last >= text && *last == '\r';
        count -= last >= text && *last == delimiter;
    }
    return count;
}

bool text_is_utf8(const char *text, size_t length)
{
    const unsigned char *at = (const unsigned char *)text, *const end = at + length;
    unsigned char all = 0, least = 0xff;
    for (size_t i = 0; i < length; i++) {
        all |= at[i];
        least = at[i] < least ? at[i] : least;
    }
    if (least == 0 && length)
        return false;
    if (all < 0x80)
        return true;
    while (at < end) {
        const unsigned char first = *at++;
        if (first < 0x80)
            continue;
        const unsigned more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
        if (first < 0xc2 || first > 0xf4 || (size_t)(end - at) < more)
            return false;
        if ((first == 0xe0 && *at < 0xa0) || (first == 0xed && *at > 0x9f) || (first == 0xf0 && *at < 0x90) ||
            (first == 0xf4 && *at > 0x8f))
            return false; /* too long, a surrogate, or beyond U+10FFFF */
        for (unsigned i = 0; i < more; i++)
            if ((*at++ & 0xc0) != 0x80)
                return false;
    }
    return true;
}
