/* json_scan.c: see json_scan.h. */
#include "storage/base/text/json_scan.h"

#include "storage/base/words/utf8.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

static const char no_value[] = "has no value where one should be",
                  open_string[] = "has a string that does not end",
                  bad_string[] = "has a line end or another control character in a string",
                  bad_escape[] = "has an escape that JSON does not know", bad_number[] = "has a wrong number",
                  no_name[] = "has no name in quotes where a member begins",
                  no_colon[] = "has no colon behind the name of a member",
                  no_comma[] = "has neither a comma nor a closing bracket behind a value",
                  too_deep[] = "has more than 500 brackets inside each other";

static inline bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static inline const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && (unsigned char)*at <= ' ' && is_blank(*at))
        at++;
    return at;
}

const char *json_scan_blanks(const char *at, const char *end)
{
    return skip_blanks(at, end);
}

#if defined(__SSE2__)
#define PIECE 16
/* Bit i: byte i of sixteen is a quote, a backslash or a control character. */
static inline uint32_t stops_of(const char *at)
{
    const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
    const __m128i controls = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(' ' - 1)), bytes);
    return (uint32_t)_mm_movemask_epi8(_mm_or_si128(
        _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))),
        controls));
}
#endif

/* The first quote, backslash or control character. */
static inline const char *string_stop(const char *at, const char *end)
{
#if defined(__SSE2__)
    for (; end - at >= PIECE; at += PIECE) {
        const uint32_t stops = stops_of(at);
        if (stops)
            return at + __builtin_ctz(stops);
    }
#endif
    while (at < end && *at != '"' && *at != '\\' && (unsigned char)*at >= ' ')
        at++;
    return at;
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'f');
}

/* Reads a string; *at is behind its first quote. */
static const char *scan_string(const char **at, const char *end, struct json_scanned *value)
{
    const char *stop = *at;
    *value = (struct json_scanned){.kind = JSON_SCAN_STRING, .text = *at};
    for (;;) {
        stop = string_stop(stop, end);
        if (stop == end || *stop != '\\') {
            *at = stop;
            if (stop == end)
                return open_string;
            if (*stop != '"')
                return bad_string;
            value->length = (uint32_t)(stop - value->text);
            ++*at;
            return NULL;
        }
        value->escaped = true;
        *at = stop;
        if (end - stop < 2)
            return open_string;
        if (stop[1] == 'u') {
            for (int digit = 2; digit < 6; digit++)
                if (end - stop <= digit || !is_hex(stop[digit]))
                    return bad_escape;
            stop += 6;
        } else if (strchr("\"\\/bfnrt", stop[1]) && stop[1]) {
            stop += 2;
        } else {
            return bad_escape;
        }
    }
}

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && (unsigned char)(*at - '0') < 10)
        at++;
    return at;
}

static const char *scan_number(const char **at, const char *end)
{
    const char *digits = *at + (**at == '-'), *stop = skip_digits(digits, end);
    bool right = stop > digits && (*digits != '0' || stop == digits + 1);
    if (right && stop < end && *stop == '.') {
        digits = stop + 1;
        stop = skip_digits(digits, end);
        right = stop > digits;
    }
    if (right && stop < end && (*stop | 32) == 'e') {
        digits = stop + 1;
        digits += digits < end && (*digits == '+' || *digits == '-');
        stop = skip_digits(digits, end);
        right = stop > digits;
    }
    if (right)
        *at = stop;
    return right ? NULL : bad_number;
}

static const char *scan_word(const char **at, const char *end, const char *word)
{
    const size_t length = strlen(word);
    if ((size_t)(end - *at) < length || memcmp(*at, word, length) != 0)
        return no_value;
    *at += length;
    return NULL;
}

/* Reads ':' behind a member's name. */
static const char *scan_colon(const char **at, const char *end)
{
    *at = skip_blanks(*at, end);
    if (*at == end || **at != ':')
        return no_colon;
    ++*at;
    return NULL;
}

/* Reads the name of a member, and the colon. */
static const char *scan_name(const char **at, const char *end, struct json_scanned *name)
{
    if (*at == end || **at != '"')
        return no_name;
    ++*at;
    const char *const complaint = scan_string(at, end, name);
    return complaint ? complaint : scan_colon(at, end);
}

static const char *scan(const char **at, const char *end, uint32_t depth, struct json_scanned *value);

/* Passes over the rest of an object or array. */
static const char *pass_items(const char **at, const char *end, char close, uint32_t depth)
{
    struct json_scanned inner;
    const char *complaint = NULL;
    *at = skip_blanks(*at, end);
    if (*at < end && **at == close) {
        ++*at;
        return NULL;
    }
    while (!complaint) {
        *at = skip_blanks(*at, end);
        if (close == '}')
            complaint = scan_name(at, end, &inner);
        if (!complaint)
            complaint = scan(at, end, depth, &inner);
        if (complaint)
            break;
        *at = skip_blanks(*at, end);
        if (*at == end || (**at != ',' && **at != close))
            return no_comma;
        if (*(*at)++ == close)
            return NULL;
    }
    return complaint;
}

static const char *scan(const char **at, const char *end, uint32_t depth, struct json_scanned *value)
{
    *at = skip_blanks(*at, end);
    *value = (struct json_scanned){.text = *at};
    const char *complaint = no_value;
    if (*at == end)
        return complaint;
    switch (**at) {
    case '"':
        ++*at;
        return scan_string(at, end, value);
    case '{':
    case '[':
        if (depth == JSON_SCAN_DEPTH)
            return too_deep;
        value->kind = **at == '{' ? JSON_SCAN_OBJECT : JSON_SCAN_ARRAY;
        ++*at;
        complaint = pass_items(at, end, value->kind == JSON_SCAN_OBJECT ? '}' : ']', depth + 1);
        break;
    case 't':
    case 'f':
        value->kind = JSON_SCAN_TRUTH;
        complaint = scan_word(at, end, **at == 't' ? "true" : "false");
        break;
    case 'n':
        value->kind = JSON_SCAN_NULL;
        complaint = scan_word(at, end, "null");
        break;
    default:
        value->kind = JSON_SCAN_NUMBER;
        if (**at == '-' || (unsigned char)(**at - '0') < 10)
            complaint = scan_number(at, end);
        break;
    }
    value->length = (uint32_t)(*at - value->text);
    return complaint;
}

const char *json_scan_value(const char **at, const char *end, struct json_scanned *value)
{
    return scan(at, end, 0, value);
}

const char *json_scan_text(const char *text, uint32_t length, struct json_scanned *value)
{
    const char *at = text, *const end = text + length;
    const char *const complaint = scan(&at, end, 0, value);
    if (complaint)
        return complaint;
    return skip_blanks(at, end) == end ? NULL : "goes on behind its value";
}

const char *json_scan_item(struct json_scan_items *items, struct json_scanned *name, bool *more)
{
    items->at = skip_blanks(items->at, items->end);
    *more = items->at == items->end || *items->at != items->close;
    if (!*more) {
        items->at++;
        return NULL;
    }
    if (items->begun && (items->at == items->end || *items->at != ','))
        return no_comma;
    items->at = skip_blanks(items->at + items->begun, items->end);
    items->begun = true;
    return items->close == '}' ? scan_name(&items->at, items->end, name) : NULL;
}

const char *json_scan_next(struct json_scan_items *items, struct json_scanned *name,
                           struct json_scanned *value, bool *more)
{
    const char *const complaint = json_scan_item(items, name, more);
    return complaint || !*more ? complaint : scan(&items->at, items->end, 1, value);
}

/* ---- Escapes ---- */

static uint32_t hex_of(const char *at)
{
    uint32_t code = 0;
    for (int digit = 0; digit < 4; digit++)
        code = code << 4 | (uint32_t)(at[digit] <= '9' ? at[digit] - '0' : (at[digit] | 32) - 'a' + 10);
    return code;
}

/* Reads uXXXX, and a second one if it is half of a pair; 0 if it is no character of a text. */
static uint32_t character_of(const char **at, const char *end)
{
    uint32_t code = hex_of(*at + 1);
    *at += 5;
    if (code >= 0xd800 && code < 0xdc00 && end - *at >= 6 && (*at)[0] == '\\' && (*at)[1] == 'u') {
        const uint32_t low = hex_of(*at + 2);
        if (low < 0xdc00 || low >= 0xe000)
            return 0;
        *at += 6;
        return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    return code >= 0xd800 && code < 0xe000 ? 0 : code;
}

bool json_scan_unescape(const char *text, uint32_t length, char *out, uint32_t *written)
{
    static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
    const char *at = text, *const end = text + length;
    char *const begin = out;
    while (at < end) {
        if (*at != '\\') {
            *out++ = *at++;
            continue;
        }
        at++;
        if (*at == 'u') {
            const uint32_t character = character_of(&at, end);
            if (character == 0)
                return false;
            out += utf8_write(character, out);
            continue;
        }
        const char *const letter = strchr(from, *at);
        *out++ = letter ? to[letter - from] : *at;
        at++;
    }
    *written = (uint32_t)(out - begin);
    return true;
}
