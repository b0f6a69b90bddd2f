/*
 * sql_name.h: names as SQL is written: which words are keywords, and how a name is written so that it is read again, in
 * statements as in schema scripts.
 */
#ifndef TESSERA_STORAGE_BASE_WORDS_SQL_NAME_H
#define TESSERA_STORAGE_BASE_WORDS_SQL_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The words that begin clauses or join them, one after the other, in lower case; NULL at the end. They are names only if
 * they are quoted. */
const char *sql_keyword(size_t index);
/* True for one of them, in any case of letters. */
bool sql_is_keyword(const char *text, size_t length);

/* Writes a name of any length, in double quotes if `quoted`, or if it is no plain word or begins something else in a
 * statement or a script. */
void sql_name_write(FILE *out, const char *name, bool quoted);

#endif
