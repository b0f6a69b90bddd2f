/*
 * word.h: words compared without the case of ASCII's letters: keywords, names of tables and columns, units.
 *
 * strcasecmp asks the locale, which a program that embeds the library may have set, as the prompt does for the width of
 * characters: in Turkey the small letter of I is no i, and LIKE would be no keyword. A test reads the sources for it.
 */
#ifndef TESSERA_STORAGE_BASE_WORDS_WORD_H
#define TESSERA_STORAGE_BASE_WORDS_WORD_H

#include <stddef.h>

/* The small letter of one of ASCII; any other byte is itself. */
static inline unsigned char word_letter(char byte)
{
    return (unsigned char)(byte >= 'A' && byte <= 'Z' ? byte - 'A' + 'a' : byte);
}

/* As strncasecmp and strcasecmp: 0 if the words, or their first `bytes`, are the same. */
static inline int word_compare_bytes(const char *a, const char *b, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (word_letter(a[i]) != word_letter(b[i]) || !a[i])
            return word_letter(a[i]) - word_letter(b[i]);
    return 0;
}

static inline int word_compare(const char *a, const char *b)
{
    return word_compare_bytes(a, b, (size_t)-1);
}

#endif
