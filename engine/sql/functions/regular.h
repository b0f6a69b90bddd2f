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

/* True if a part of the string matches. */
bool regular_matches(const struct regular *regular, struct string_value string);
/* The part of the first match that group `group` is (0: all of it); empty if there is none. */
struct string_value regular_extract(const struct regular *regular, struct string_value string,
                                    uint32_t group);
/* Appends the string with its first match (or all) replaced; \1 to \9 in `by` are groups, \0 is the match. */
void regular_replace(const struct regular *regular, struct string_value string, struct string_value by,
                     bool all, struct string_buffer *out);

#endif
