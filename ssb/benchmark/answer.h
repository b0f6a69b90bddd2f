/*
 * answer.h: compares, hashes and writes the answers of the benchmark.
 *
 * Called once per query and codec, on answers of at most a few thousand rows.
 */
#ifndef TESSERA_SSB_BENCHMARK_ANSWER_H
#define TESSERA_SSB_BENCHMARK_ANSWER_H

#include "engine/answer/rowset.h"

enum answer_check { ANSWER_SKIPPED, ANSWER_OK, ANSWER_WRONG };

/* "skipped", "ok", "wrong". */
const char *answer_check_text(enum answer_check check);

/* Compares names, order and every cell. If the answers differ: STATUS_CHECK_FAILED, and the message names the
 * query, the row (from 1), the column, the value of `judge` ("SQLite" or a codec) and the value in `got`. */
NODISCARD enum status answer_compare(const char *query, const char *judge, const struct rowset *expected,
                                     const struct rowset *got, struct error *error);

/* True if the answer has no rows or only NULLs: a query that finds nothing answers so. */
bool answer_is_empty(const struct rowset *answer);

/* Gives the answer as CSV (rowset_print), which the caller frees. *bytes does not count the closing zero. */
NODISCARD enum status answer_text(const struct rowset *answer, char **text, size_t *bytes,
                                  struct error *error);

/* Gives the XXH3-64 of the answer's text as 16 lower-case hexadecimal digits. */
NODISCARD enum status answer_hash(const struct rowset *answer, char hash[17], struct error *error);

/* Writes the answer's text to FOLDER/q11.csv for query "q1.1": under a temporary name, which is renamed when
 * complete. The folder is created if it is missing; its parent must exist. */
NODISCARD enum status answer_write(const struct rowset *answer, const char *folder, const char *query,
                                   struct error *error);

#endif
