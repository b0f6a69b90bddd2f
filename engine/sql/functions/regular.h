/*
 * regular.h: regular expressions by PCRE2, in characters of UTF-8.
 *
 * What is matched, and how it differs from other engines, is in docs/sql.md. The first alternative that matches is
 * taken, as in Perl and DuckDB, not the longest.
 *
 * A pattern and a match have limits (below), because some patterns take time that is exponential in the string's
 * length. Reaching one is STATUS_BAD_INPUT; memory that the machine does not have is STATUS_MACHINE. Neither is ever
 * "no match".
 */
#ifndef TESSERA_ENGINE_SQL_FUNCTIONS_REGULAR_H
#define TESSERA_ENGINE_SQL_FUNCTIONS_REGULAR_H

#include "engine/function/string_body.h"

/* Bytes of a pattern. PCRE2 also refuses what takes more than 64 KiB when its repetitions are written out. */
#define REGULAR_PATTERN_MAX 65536u
/* Parentheses within parentheses. */
#define REGULAR_NESTING_MAX 250u
/* Steps back that are taken from one place of a string: some 0.1 s. */
#define REGULAR_STEPS_MAX 10000000u
/* What a thread may remember of the ways back, in KiB. */
#define REGULAR_HEAP_KIB 65536u

struct regular;

NODISCARD enum status regular_create(const char *pattern, uint32_t length, bool ignore_case,
                                     struct regular **regular, struct error *error);
/* NULL is legal. */
void regular_free(struct regular *regular);

/* Any number of threads may match at once. A string of an address's
 * length takes 20 to 50 ns. Bytes that are no UTF-8 match nothing, not even `.` and [^x]. */

/* *matches: a part of the string matches. */
NODISCARD enum status regular_matches(struct regular *regular, struct string_value string, bool *matches,
                                      struct error *error);
/* *part: what group `group` (0: all) is of the first match; empty if there is none. */
NODISCARD enum status regular_extract(struct regular *regular, struct string_value string, uint32_t group,
                                      struct string_value *part, struct error *error);
/* Appends the string with its first match (or all) replaced; \1 to \9 in `by` are groups, \0 is the match. An empty match
 * right after a match is none. */
NODISCARD enum status regular_replace(struct regular *regular, struct string_value string,
                                      struct string_value by, bool all, struct string_buffer *out,
                                      struct error *error);

/* ---- Patterns that are computed ---- */

/* The expression of a function: a constant, or those that were used last. Any number of threads may use it. */
struct regular_patterns;

/* `constant` NULL: the pattern is computed. */
NODISCARD enum status regular_patterns_create(const struct string_value *constant, bool ignore_case,
                                              struct regular_patterns **patterns, struct error *error);
/* NULL is legal. */
void regular_patterns_free(struct regular_patterns *patterns);
/* Gives the constant, or compiles the pattern (10 us and more) if this thread has not used it lately. */
NODISCARD enum status regular_patterns_take(struct regular_patterns *patterns, struct string_value pattern,
                                            struct regular **regular, struct error *error);
/* What was taken is given back. */
void regular_patterns_give(struct regular_patterns *patterns, struct regular *regular);

#endif
