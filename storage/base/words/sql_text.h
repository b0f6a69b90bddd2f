/* sql_text.h: a text as SQL is written, so that it is read again. */
#ifndef TESSERA_STORAGE_BASE_WORDS_SQL_TEXT_H
#define TESSERA_STORAGE_BASE_WORDS_SQL_TEXT_H

#include <stdio.h>

/* Writes the text in single quotes, and each of its own twice. */
void sql_text_write(FILE *out, const char *text);

#endif
