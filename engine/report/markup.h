/* markup.h: text in HTML and SVG. Both are written as XML, so that any parser of either reads them. */
#ifndef TESSERA_ENGINE_REPORT_MARKUP_H
#define TESSERA_ENGINE_REPORT_MARKUP_H

#include <stdio.h>

/* Writes a text, inside an element or a quoted attribute, so that it means itself: markup is escaped, and what
 * XML cannot hold (bytes that are not UTF-8, control characters) becomes U+FFFD. NULL is the empty text. */
void markup_text(FILE *file, const char *text);
/* The same of so many bytes of a text, which has no zero among them. */
void markup_bytes(FILE *file, const char *text, size_t bytes);

#endif
