/*
 * fuzz_tape.h: random texts as lists of choices. Every choice is a number of `tape`, where 0 is the simplest, so that a
 * text can be made smaller by clearing and dropping numbers and making it again. A text may have a part that is another
 * one for each of two engines: \1 ours \2 theirs \3 (tape_text).
 */
#ifndef TESSERA_TESTS_FUZZ_FUZZ_TAPE_H
#define TESSERA_TESTS_FUZZ_FUZZ_TAPE_H

#include "tests/fuzz/fuzz_random.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define TAPE_MAX        4096u
#define TAPE_TEXT_BYTES ((size_t)1 << 22)

/* ---- Choices ---- */

/* Choices after tape_length are new, or 0 of a tape that is read. */
static uint32_t tape[TAPE_MAX], tape_at, tape_length;
static bool tape_is_read;

static uint32_t choose(uint32_t bound)
{
    if (tape_at >= TAPE_MAX)
        return 0;
    const uint32_t value = tape_at < tape_length ? tape[tape_at] % bound : tape_is_read ? 0 : below(bound);
    tape[tape_at++] = value;
    return value;
}

static bool likely(uint32_t percent)
{
    return choose(100) >= 100 - percent;
}

/* ---- Texts ---- */

static char tape_texts[TAPE_TEXT_BYTES];
static size_t tape_text_used;

__attribute__((format(printf, 1, 2))) static const char *form(const char *format, ...)
{
    char *const text = tape_texts + tape_text_used;
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text, TAPE_TEXT_BYTES - tape_text_used, format, arguments);
    va_end(arguments);
    if (length < 0 || tape_text_used + (size_t)length >= TAPE_TEXT_BYTES) {
        fputs("a statement is longer than TAPE_TEXT_BYTES\n", stderr);
        abort();
    }
    tape_text_used += (size_t)length + 1;
    return text;
}

static const char *either(const char *ours, const char *theirs)
{
    return form("\1%s\2%s\3", ours, theirs);
}

/* The text of ours or SQLite's; the caller frees it. */
static char *tape_text(const char *text, bool ours)
{
    char *const out = malloc(strlen(text) + 1), *end = out;
    uint32_t depth = 0, hidden = 0; /* the depth from which nothing is wanted */
    for (; *text; text++) {
        if (*text == 1 && ++depth && !hidden && !ours)
            hidden = depth;
        else if (*text == 2 && (!hidden || hidden == depth))
            hidden = ours ? depth : 0;
        else if (*text == 3 && depth-- == hidden)
            hidden = 0;
        else if (*text > 3 && !hidden)
            *end++ = *text;
    }
    *end = 0;
    return out;
}

#endif
