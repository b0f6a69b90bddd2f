/*
 * answer.h: is an answer right, what is its hash, and where is it written.
 *
 * Once per query and codec, on answers of at most a few thousand rows.
 */
#ifndef TESSERA_SSB_BENCHMARK_ANSWER_H
#define TESSERA_SSB_BENCHMARK_ANSWER_H

#include "engine/answer/rowset.h"

enum answer_check { ANSWER_SKIPPED, ANSWER_OK, ANSWER_WRONG };

/* "skipped", "ok", "wrong". */
const char *answer_check_text(enum answer_check check);

/* Compares names, order and every cell. Answers that differ: STATUS_CHECK_FAILED, and the sentence says
 * query, row (1-based), column, what `judge` ("SQLite", a codec) answered and what was got. */
NODISCARD enum status answer_compare(const char *query, const char *judge, const struct rowset *expected,
                                     const struct rowset *got, struct error *error);

/* No rows, or nothing but NULLs: what a query answers that finds nothing. */
bool answer_is_empty(const struct rowset *answer);

/* The answer as CSV (rowset_print), owned by the caller (free). *bytes does not count the closing zero. */
NODISCARD enum status answer_text(const struct rowset *answer, char **text, size_t *bytes,
                                  struct error *error);

/* XXH3-64 of the answer's text as 16 lower-case hexadecimal digits. */
NODISCARD enum status answer_hash(const struct rowset *answer, char hash[17], struct error *error);

/* Writes the answer's text to FOLDER/q11.csv for query "q1.1" (a temporary name, renamed when complete); the
 * folder is created if it is missing, its parent must exist. */
NODISCARD enum status answer_write(const struct rowset *answer, const char *folder, const char *query,
                                   struct error *error);

#endif
