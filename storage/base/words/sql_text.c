/* sql_text.c: see sql_text.h. */
#include "storage/base/words/sql_text.h"

void sql_text_write(FILE *out, const char *text)
{
    putc('\'', out);
    for (; *text; text++) {
        if (*text == '\'')
            putc('\'', out);
        putc(*text, out);
    }
    putc('\'', out);
}
