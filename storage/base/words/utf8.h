/* utf8.h: the characters of UTF-8 (RFC 3629). */
#ifndef TESSERA_STORAGE_BASE_WORDS_UTF8_H
#define TESSERA_STORAGE_BASE_WORDS_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The bytes of the character at `text`, of which `left` (at least 1) can be read; *code gets its number. 0 if it is none:
 * cut, longer than needed, a surrogate, or beyond U+10FFFF. */
static inline size_t utf8_character(const char *text, size_t left, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char first = (unsigned char)*text;
    const size_t bytes = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    *code = first;
    if (bytes == 1)
        return 1;
    if (bytes == 0 || first > 0xf4 || bytes > left)
        return 0;
    *code = first & (0x7fu >> bytes);
    for (size_t i = 1; i < bytes; i++) {
        if (((unsigned char)text[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | ((unsigned char)text[i] & 0x3f);
    }
    return *code < least[bytes] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000) ? 0 : bytes;
}

/* Writes the character of that number, at most 0x1fffff, and returns its bytes, at most 4. */
static inline size_t utf8_write(uint32_t code, char *text)
{
    static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    const size_t bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t b = bytes - 1; b > 0; b--, code >>= 6)
        text[b] = (char)(0x80 | (code & 0x3f));
    text[0] = (char)(first[bytes] | code);
    return bytes;
}

/* Whether the bytes are characters. Eight bytes of ASCII take about 1 ns. */
static inline bool utf8_is_valid(const char *text, size_t length)
{
    const char *at = text, *const end = text + length;
    while (at < end) {
        uint64_t eight;
        uint32_t code;
        if (end - at >= 8 && (memcpy(&eight, at, 8), (eight & 0x8080808080808080ull) == 0)) {
            at += 8;
            continue;
        }
        const size_t bytes = utf8_character(at, (size_t)(end - at), &code);
        if (bytes == 0)
            return false;
        at += bytes;
    }
    return true;
}

#endif
