/* markup.c: see markup.h. */
#include "engine/report/markup.h"

#include "storage/base/words/utf8.h"

#include <stdbool.h>

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* The bytes of the character at `text`; 0: it is none that XML may hold. */
static size_t character_bytes(const char *text)
{
    uint32_t code;
    const size_t bytes = utf8_character(text, 4, &code); /* the text's end is in no character */
    const bool control = code < 0x20 && code != '\t' && code != '\n' && code != '\r';
    return control || code == 0xfffe || code == 0xffff ? 0 : bytes;
}

void markup_text(FILE *file, const char *text)
{
    while (text && *text) {
        const size_t bytes = character_bytes(text);
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
    }
}
