/* markup.c: see markup.h. */
#include "engine/report/markup.h"

#include <stdint.h>

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* The bytes of the character at `text`; 0: it is none that XML may hold. */
static int character_bytes(const char *text)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char first = (unsigned char)*text;
    const int bytes = first < 0x80                    ? 1
                      : first >= 0xc2 && first < 0xe0 ? 2
                      : first >= 0xe0 && first < 0xf0 ? 3
                      : first >= 0xf0 && first < 0xf5 ? 4
                                                      : 0;
    if (bytes == 1)
        return first >= 0x20 || first == '\t' || first == '\n' || first == '\r';
    uint32_t code = bytes ? first & (0x7fu >> bytes) : 0;
    for (int i = 1; i < bytes; i++) {
        if (((unsigned char)text[i] & 0xc0) != 0x80) /* the end of the text, too */
            return 0;
        code = code << 6 | ((unsigned char)text[i] & 0x3f);
    }
    const int surrogate = code >= 0xd800 && code < 0xe000, none = code == 0xfffe || code == 0xffff;
    return code < least[bytes] || code > 0x10ffff || surrogate || none ? 0 : bytes;
}

void markup_text(FILE *file, const char *text)
{
    while (text && *text) {
        const int bytes = character_bytes(text);
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
            fwrite(text, 1, (size_t)bytes, file);
        text += bytes ? bytes : 1;
    }
}
