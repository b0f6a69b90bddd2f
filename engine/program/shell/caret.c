/*
 * caret.c: shows where in a statement an error is: the line, and a caret under the place (sql_shell.h).
 *
 *     line 1, column 8: there is no column d_yer; did you mean d_year?
 *       select d_yer from date
 *              ^
 *
 * A line that is longer than SHOWN columns is cut on both sides of the place.
 */
#include "engine/answer/text_width.h"
#include "engine/program/sql_shell.h"

#include <stdio.h>
#include <string.h>

#define SHOWN  100u /* bytes of a line that are shown, */
#define BEFORE 60u  /* and of them before the place at most */

static bool inside_character(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* The place in the statement at `at`, whose lines and columns count from 1; NULL if it has no such place. *begin is the
 * begin of its line, as far as the statement has it. */
static const char *find_place(const char *at, size_t length, unsigned line, unsigned column,
                              const char **begin)
{
    const char *const end = at + length;
    *begin = at;
    for (unsigned l = 1; l < line; l++) {
        const char *const newline = memchr(*begin, '\n', (size_t)(end - *begin));
        if (!newline)
            return NULL;
        *begin = newline + 1;
    }
    const char *const place = *begin + (column - 1);
    if (place > end || memchr(*begin, '\n', (size_t)(place - *begin)))
        return NULL;
    return place;
}

/* Writes bytes with blanks for tabs and other control characters. */
static void write_bytes(char **out, const char *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        *(*out)++ = (unsigned char)from[i] < ' ' || from[i] == 0x7f ? ' ' : from[i];
}

void sql_shell_caret(struct error *error, const char *text, const char *at, size_t length)
{
    unsigned line, column;
    const char *begin;
    char shown[SHOWN + 8], *out = shown;
    const size_t used = strlen(error->text);
    if (sscanf(error->text, "line %u, column %u", &line, &column) != 2 || line == 0 || column == 0)
        return;
    const char *place = find_place(at, length, line, column, &begin);
    if (!place)
        return;
    while (place == at + length && place > at &&
           strchr(" \t\r\n", place[-1])) /* what ends too early, ends there */
        place = at + --length;
    while (begin > place || (begin > text && begin[-1] != '\n'))
        begin--;
    const char *const newline = memchr(place, '\n', (size_t)(at + length - place));
    const char *end = newline ? newline : at + length, *first = begin;
    if (place - first > (ptrdiff_t)BEFORE)
        first = place - BEFORE;
    while (first < place && inside_character(*first))
        first++;
    if (end - first > (ptrdiff_t)SHOWN)
        end = first + SHOWN;
    while (end > place && end < at + length && inside_character(*end))
        end--;
    write_bytes(&out, first, (size_t)(end - first));
    while (out > shown && (out[-1] == ' ' || out[-1] == ';') && out - shown > place - first)
        out--;
    *out = '\0';
    const char *const before = first > begin ? "..." : "";
    const int width = (int)(strlen(before) + text_width(shown, (size_t)(place - first)));
    snprintf(error->text + used, sizeof error->text - used, "\n  %s%s\n  %*s^", before, shown, width, "");
}
