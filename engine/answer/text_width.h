/* text_width.h: how many columns of a terminal a text takes. */
#ifndef TESSERA_ENGINE_ANSWER_TEXT_WIDTH_H
#define TESSERA_ENGINE_ANSWER_TEXT_WIDTH_H

#include <stddef.h>

/* The columns of `bytes` bytes of UTF-8, in any locale: 1 a character; 2 for those of East Asia and for emoji; 0 for marks
 * that combine with the character before. A byte that is not UTF-8 takes one. */
size_t text_width(const char *text, size_t bytes);

#endif
