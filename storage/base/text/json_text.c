/* json_text.c: see json_text.h. A recursive descent; jansson's functions that make values own what they are given, and
 * return NULL or -1 only if memory is missing, because the text is checked before. */
#include "storage/base/text/json_text.h"

#include "storage/base/number/number_text.h"
#include "storage/base/words/utf8.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Doubles have 17 digits, integers 20. Others may write more. */
#define NUMBER_BYTES 128

struct reader {
    const char *next, *end;
    const char *wrong; /* NULL: nothing is wrong, or memory is missing */
    unsigned depth;
};

static json_t *fail(struct reader *reader, const char *what)
{
    if (!reader->wrong)
        reader->wrong = what;
    return NULL;
}

static void skip_blanks(struct reader *reader)
{
    while (reader->next < reader->end && *reader->next && strchr(" \t\r\n", *reader->next))
        reader->next++;
}

/* Takes this character, after blanks, if it is the next one. */
static bool take(struct reader *reader, char character)
{
    skip_blanks(reader);
    const bool is = reader->next < reader->end && *reader->next == character;
    reader->next += is;
    return is;
}

/* ---- Strings ---- */

/* The four digits of \uXXXX; UINT32_MAX if they are none. */
static uint32_t read_hexadecimal(struct reader *reader)
{
    uint32_t code = 0;
    for (int d = 0; d < 4; d++) {
        const char c = reader->next < reader->end ? *reader->next : '\0';
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (digit < 0)
            return UINT32_MAX;
        code = code << 4 | (uint32_t)digit;
        reader->next++;
    }
    return code;
}

/* The character of \uXXXX, or of the two that make one beyond U+FFFF; UINT32_MAX if it is none. */
static uint32_t read_escaped_code(struct reader *reader)
{
    const uint32_t code = read_hexadecimal(reader);
    if (code == UINT32_MAX || code == 0 || code < 0xd800 || code > 0xdfff)
        return code ? code : UINT32_MAX; /* names and words have no zero bytes */
    if (code > 0xdbff || reader->end - reader->next < 2 || memcmp(reader->next, "\\u", 2) != 0)
        return UINT32_MAX;
    reader->next += 2;
    const uint32_t low = read_hexadecimal(reader);
    return low < 0xdc00 || low > 0xdfff ? UINT32_MAX : 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
}

/* Takes what follows a backslash. Returns the bytes that it stands for, 0 if it is no escape. */
static size_t read_escape(struct reader *reader, char *out)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    const char letter = reader->next < reader->end ? *reader->next++ : '\0';
    const char *const known = letter ? strchr(letters, letter) : NULL;
    if (known) {
        *out = meanings[known - letters];
        return 1;
    }
    const uint32_t code = letter == 'u' ? read_escaped_code(reader) : UINT32_MAX;
    return code == UINT32_MAX ? 0 : utf8_write(code, out);
}

/* Takes a string after its first quotation mark. `text` has room for it: what it is never needs more bytes than how it
 * is written. False: it is wrong. */
static bool read_characters(struct reader *reader, char *text, size_t *length)
{
    *length = 0;
    while (reader->next < reader->end && *reader->next != '"') {
        uint32_t code;
        size_t bytes;
        if (*reader->next == '\\') {
            reader->next++;
            bytes = read_escape(reader, text + *length);
        } else {
            bytes = utf8_character(reader->next, (size_t)(reader->end - reader->next), &code);
            bytes = code < 0x20 ? 0 : bytes;
            memcpy(text + *length, reader->next, bytes);
            reader->next += bytes;
        }
        if (!bytes)
            return false;
        *length += bytes;
    }
    text[*length] = '\0';
    const bool ended = reader->next < reader->end;
    reader->next += ended;
    return ended;
}

/* The string that begins here, in memory of its own. */
static char *read_text(struct reader *reader, size_t *length)
{
    if (!take(reader, '"')) {
        fail(reader, "a string is expected");
        return NULL;
    }
    const char *end = reader->next; /* not after the string's end */
    while (end < reader->end && *end != '"')
        end += *end == '\\' && end + 1 < reader->end ? 2 : 1;
    char *const text = malloc((size_t)(end - reader->next) + 1);
    if (text && !read_characters(reader, text, length)) {
        fail(reader, "a string is wrong or has no end");
        free(text);
        return NULL;
    }
    return text;
}

static json_t *read_string(struct reader *reader)
{
    size_t length;
    char *const text = read_text(reader, &length);
    json_t *const string = text ? json_stringn_nocheck(text, length) : NULL;
    free(text);
    return string;
}

/* ---- Other values ---- */

static json_t *read_word(struct reader *reader)
{
    static const char *const words[] = {"true", "false", "null"};
    for (int w = 0; w < 3; w++) {
        const size_t length = strlen(words[w]);
        if ((size_t)(reader->end - reader->next) < length || memcmp(reader->next, words[w], length) != 0)
            continue;
        reader->next += length;
        return w == 2 ? json_null() : json_boolean(w == 0);
    }
    return fail(reader, "a value is expected");
}

/* Whether a number is written as JSON wants it: digits without zeros in front, a fraction, an exponent. */
static bool is_number(const char *text)
{
    static const char digits[] = "0123456789";
    text += *text == '-';
    size_t length = strspn(text, digits);
    if (length == 0 || (*text == '0' && length > 1))
        return false;
    text += length;
    if (*text == '.') {
        length = strspn(++text, digits);
        text += length;
        if (length == 0)
            return false;
    }
    if (*text == 'e' || *text == 'E') {
        text += text[1] == '+' || text[1] == '-' ? 2 : 1;
        length = strspn(text, digits);
        text += length;
        if (length == 0)
            return false;
    }
    return *text == '\0';
}

static json_t *read_number(struct reader *reader)
{
    char text[NUMBER_BYTES];
    const char *const begin = reader->next;
    while (reader->next < reader->end && *reader->next && strchr("+-.eE0123456789", *reader->next))
        reader->next++;
    const size_t length = (size_t)(reader->next - begin);
    if (length >= sizeof text)
        return fail(reader, "a number is too long");
    memcpy(text, begin, length);
    text[length] = '\0';
    char *end;
    if (!is_number(text))
        return fail(reader, "a number is wrong");
    if (strpbrk(text, ".eE")) {
        const double value = number_parse(text, &end);
        return isfinite(value) ? json_real(value) : fail(reader, "a number is too large");
    }
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    return errno ? fail(reader, "an integer has more than 64 bits") : json_integer(value);
}

static json_t *read_value(struct reader *reader);

/* Takes the rest of an array, an item at a time. False: it is wrong, or memory is missing. */
static bool read_items(struct reader *reader, json_t *array)
{
    if (take(reader, ']'))
        return true;
    do {
        if (json_array_append_new(array, read_value(reader)) != 0)
            return false;
    } while (take(reader, ','));
    return take(reader, ']') || fail(reader, "',' or ']' is expected");
}

static bool read_members(struct reader *reader, json_t *object)
{
    if (take(reader, '}'))
        return true;
    do {
        size_t length;
        bool added = false;
        char *const name = read_text(reader, &length);
        if (name && !take(reader, ':'))
            fail(reader, "':' is expected");
        else if (name && json_object_get(object, name))
            fail(reader, "an object has two members of one name");
        else if (name)
            added = json_object_set_new_nocheck(object, name, read_value(reader)) == 0;
        free(name);
        if (!added)
            return false;
    } while (take(reader, ','));
    return take(reader, '}') || fail(reader, "',' or '}' is expected");
}

static json_t *read_container(struct reader *reader, bool is_array)
{
    if (reader->depth >= JSON_DEPTH_MAX)
        return fail(reader, "too many objects are inside each other");
    json_t *const value = is_array ? json_array() : json_object();
    reader->depth++;
    const bool whole = value && (is_array ? read_items(reader, value) : read_members(reader, value));
    reader->depth--;
    if (whole)
        return value;
    json_decref(value);
    return NULL;
}

static json_t *read_value(struct reader *reader)
{
    skip_blanks(reader);
    const char next = reader->next < reader->end ? *reader->next : '\0';
    if (next == '{' || next == '[') {
        reader->next++;
        return read_container(reader, next == '[');
    }
    if (next == '"')
        return read_string(reader);
    return next == '-' || (next >= '0' && next <= '9') ? read_number(reader) : read_word(reader);
}

enum status json_read(const char *text, size_t size, struct json_t **root, struct json_fault *fault,
                      struct error *error)
{
    struct reader reader = {.next = text, .end = text + size};
    *root = read_value(&reader);
    skip_blanks(&reader);
    if (*root && reader.next < reader.end)
        fail(&reader, "something follows the value");
    if (*root && !reader.wrong)
        return STATUS_OK;
    json_decref(*root);
    *root = NULL;
    if (!reader.wrong)
        return error_out_of_memory(error, size, "a text of JSON");
    *fault = (struct json_fault){.line = 1, .what = reader.wrong};
    for (const char *at = text; at < reader.next; at++)
        fault->line += *at == '\n';
    return error_set(error, STATUS_BAD_INPUT, "line %u: %s", fault->line, fault->what);
}

json_t *json_whole(json_t *value, int failed)
{
    if (!failed)
        return value;
    json_decref(value);
    return NULL;
}

/* Into memory whose size was asked first: then printing allocates nothing for the text. */
char *json_print(const struct json_t *root, size_t flags)
{
    const size_t length = json_dumpb(root, NULL, 0, flags);
    char *const text = length ? malloc(length + 1) : NULL;
    if (!text || json_dumpb(root, text, length, flags) != length) {
        free(text);
        return NULL;
    }
    text[length] = '\0';
    return text;
}

enum status json_write(const struct json_t *root, size_t flags, FILE *out, struct error *error)
{
    char *const text = json_print(root, flags);
    if (!text)
        return error_out_of_memory(error, BUFSIZ, "the answer as JSON");
    fputs(text, out);
    fputc('\n', out);
    free(text);
    return STATUS_OK;
}
