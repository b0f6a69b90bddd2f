/*
 * regular.h: regular expressions by the C library's extended ones (POSIX), in characters of UTF-8.
 *
 * What other engines' users write and POSIX lacks is rewritten: \d \D \w \s in and outside of brackets, (?:...),
 * and (?i) at the beginning. Lazy repetition (*?), looking around and backreferences are refused.
 */
#ifndef TESSERA_ENGINE_SQL_FUNCTIONS_REGULAR_H
#define TESSERA_ENGINE_SQL_FUNCTIONS_REGULAR_H

#include "engine/plan/functions/string_call.h"

struct regular;

NODISCARD enum status regular_create(const char *pattern, uint32_t length, bool ignore_case,
                                     struct regular **regular, struct error *error);
void regular_free(struct regular *regular);

/* Each thread (0 .. PARALLEL_THREADS_MAX - 1) compiles the expression for itself, when it first uses it. Strings are
 * matched in 50 ns if they lack a text that all matches have, else in 200 ns to 2 us. */

/* True if a part of the string matches. */
bool regular_matches(struct regular *regular, unsigned thread, struct string_value string);
/* The part of the first match that group `group` is (0: all of it); empty if there is none. */
struct string_value regular_extract(struct regular *regular, unsigned thread, struct string_value string,
                                    uint32_t group);
/* Appends the string with its first match (or all) replaced; \1 to \9 in `by` are groups, \0 is the match. */
void regular_replace(struct regular *regular, unsigned thread, struct string_value string,
                     struct string_value by, bool all, struct string_buffer *out);

#endif
