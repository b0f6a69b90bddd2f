/* markup.c: see markup.h. */
#include "engine/report/markup.h"

#include "storage/base/words/utf8.h"

#include <stdbool.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* The bytes of the character at `text`, of which `left` can be read; 0: it is none that XML may hold. */
static size_t character_bytes(const char *text, size_t left)
{
    uint32_t code;
    const size_t bytes = utf8_character(text, left, &code);
    const bool control = code < 0x20 && code != '\t' && code != '\n' && code != '\r';
    return control || code == 0xfffe || code == 0xffff ? 0 : bytes;
}

void markup_bytes(FILE *file, const char *text, size_t left)
{
    while (left > 0) {
        const size_t bytes = character_bytes(text, left);
        if (bytes == 0)
            fputs(REPLACEMENT, file);
        else if (*text == '&')
            fputs("&amp;", file);
        else if (*text == '<')
            fputs("&lt;", file);
        else if (*text == '>')
            fputs("&gt;", file);
        else if (*text == '"')
            fputs("&quot;", file);
        else
            fwrite(text, 1, bytes, file);
        text += bytes ? bytes : 1;
        left -= bytes ? bytes : 1;
    }
}

void markup_text(FILE *file, const char *text)
{
    if (text)
        markup_bytes(file, text, strlen(text));
}
