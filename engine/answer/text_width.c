/* text_width.c: measures text (text_width.h). Most texts are ASCII, and take one addition a byte. */
#include "engine/answer/text_width.h"

#include "storage/base/words/utf8.h"

#include <stdbool.h>
#include <stdint.h>

struct code_range {
    uint32_t first, last;
};

#include "engine/answer/text_width_ranges.h"

static bool is_in(const struct code_range *ranges, size_t count, uint32_t code)
{
    size_t low = 0;
    while (low < count) {
        const size_t middle = (low + count) / 2;
        if (code > ranges[middle].last)
            low = middle + 1;
        else
            count = middle;
        if (code >= ranges[middle].first && code <= ranges[middle].last)
            return true;
    }
    return false;
}

/* Reads a character of several bytes; *bytes gets their number, 1 if they are not UTF-8. */
static uint32_t read_character(const char *text, size_t left, size_t *bytes)
{
    uint32_t code;
    *bytes = utf8_character(text, left, &code);
    if (*bytes)
        return code;
    *bytes = 1;
    return '?';
}

static size_t width_of(uint32_t code)
{
    if (code < no_column[0].first) /* Latin letters */
        return 1;
    if (is_in(no_column, sizeof no_column / sizeof *no_column, code))
        return 0;
    return is_in(two_columns, sizeof two_columns / sizeof *two_columns, code) ? 2 : 1;
}

size_t text_width(const char *text, size_t bytes)
{
    size_t width = 0, length;
    for (size_t i = 0; i < bytes; i += length) {
        length = 1;
        width += (unsigned char)text[i] < 0x80 ? 1 : width_of(read_character(text + i, bytes - i, &length));
    }
    return width;
}
