/* text_encoding.c: see text_encoding.h: encodings, their names and tables. text_decoder.c reads files in them. */
#include "loader/text/text_encoding.h"

#include "storage/base/words/word.h"

#include <errno.h>
#include <iconv.h>
#include <stdio.h>
#include <string.h>

#define NO_ICONV ((iconv_t)-1)

/* Opens a conversion by the name as it is given, or else without hyphens, underscores and blanks: latin-1 is LATIN1. */
static iconv_t conversion_open(const char *name, char known[64])
{
    size_t length = 0;
    errno = EINVAL;
    if (!name[0] || strchr(name, '/') || strlen(name) >= 64)
        return NO_ICONV;
    snprintf(known, 64, "%s", name);
    const iconv_t conversion = iconv_open("UTF-8", known);
    if (conversion != NO_ICONV || errno != EINVAL)
        return conversion;
    for (const char *at = name; *at; at++)
        if (!strchr("-_ ", *at))
            known[length++] = *at;
    known[length] = '\0';
    return length ? iconv_open("UTF-8", known) : NO_ICONV;
}

void text_encoding_mark(unsigned char byte, char *to)
{
    static const char digits[] = "0123456789ABCDEF";
    to[0] = (char)TEXT_ENCODING_MARK;
    to[1] = digits[byte >> 4];
    to[2] = digits[byte & 15];
}

/* Converts each byte by itself. The encoding has a table if each is a character or none, and none is the beginning of
 * one; marks are written for those that are none. */
static void table_make(struct text_encoding *encoding, iconv_t conversion)
{
    encoding->by_table = true;
    for (unsigned byte = 0; byte < 256; byte++) {
        char in[1] = {(char)byte}, out[16];
        char *from = in, *to = out;
        size_t left = 1, room = sizeof out;
        iconv(conversion, NULL, NULL, NULL, NULL);
        const bool converted = iconv(conversion, &from, &left, &to, &room) != (size_t)-1;
        const size_t length = sizeof out - room;
        const bool incomplete = !converted && errno == EINVAL;
        const bool same = converted && length == 1 && (unsigned char)out[0] == byte;
        text_encoding_mark((unsigned char)byte, encoding->utf8[byte]);
        encoding->length[byte] = TEXT_ENCODING_GROWTH;
        if (incomplete || (byte < 128 && !same) ||
            (converted && (length == 0 || length > TEXT_ENCODING_GROWTH || (byte >= 128 && length < 2))))
            encoding->by_table = false;
        else if (converted) {
            memcpy(encoding->utf8[byte], out, length);
            encoding->length[byte] = (uint8_t)length;
        }
    }
}

/* The bytes of a unit: what a second A takes more than the first, before which there may be a byte order mark. 0 after a
 * failure. */
static uint8_t unit_of(const char *known)
{
    const iconv_t conversion = iconv_open(known, "UTF-8");
    size_t lengths[2] = {0, 1};
    for (size_t count = 1; count <= 2 && conversion != NO_ICONV; count++) {
        char in[2] = {'A', 'A'}, out[32];
        char *from = in, *to = out;
        size_t left = count, room = sizeof out;
        iconv(conversion, NULL, NULL, NULL, NULL);
        iconv(conversion, &from, &left, &to, &room);
        lengths[count - 1] = sizeof out - room;
    }
    if (conversion == NO_ICONV)
        return 0;
    iconv_close(conversion);
    const size_t unit = lengths[1] - lengths[0];
    return unit == 2 || unit == 4 ? (uint8_t)unit : 1;
}

enum status text_encoding_find(const char *name, struct text_encoding *encoding, bool *found,
                               struct error *error)
{
    *encoding = (struct text_encoding){0};
    *found = false;
    if (word_compare(name, "utf-8") == 0 || word_compare(name, "utf8") == 0)
        return STATUS_OK;
    const iconv_t conversion = conversion_open(name, encoding->name);
    if (conversion == NO_ICONV && errno != EINVAL)
        return error_set_errno(error, errno, "%s cannot be converted", name);
    if (conversion == NO_ICONV)
        return error_set(error, STATUS_BAD_INPUT,
                         "--encoding '%s' is not known; latin1, windows-1252, utf-16 and others are, which "
                         "`iconv -l` lists",
                         name);
    table_make(encoding, conversion);
    iconv_close(conversion);
    encoding->unit = unit_of(encoding->name);
    if (encoding->unit == 0)
        return error_set_errno(error, errno, "%s cannot be converted", name);
    *found = true;
    return STATUS_OK;
}

size_t text_encoding_apply(const struct text_encoding *encoding, const char *text, size_t length, char *to)
{
    const char *const begin = to;
    for (size_t at = 0; at < length;) {
        uint64_t word;
        if (at + sizeof word <= length) {
            memcpy(&word, text + at, sizeof word);
            if ((word & 0x8080808080808080ull) == 0) {
                memcpy(to, &word, sizeof word);
                to += sizeof word;
                at += sizeof word;
                continue;
            }
        }
        for (size_t end = length - at < sizeof word ? length : at + sizeof word; at < end; at++) {
            const unsigned char byte = (unsigned char)text[at];
            memcpy(to, encoding->utf8[byte], 4);
            to += encoding->length[byte];
        }
    }
    return (size_t)(to - begin);
}

size_t text_encoding_before(const struct text_encoding *encoding, const char *text, size_t length)
{
    size_t at = 0;
    for (size_t made = 0; made < length; at++)
        made += encoding->length[(unsigned char)text[at]];
    return at;
}
