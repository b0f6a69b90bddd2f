/*
 * sql_token.h: splits SQL text into tokens, for schema scripts (loader/table/schema_script.h) and for
 * statements (engine/sql/ast.h).
 *
 * Tokens point into the text; nothing is copied. Comments (two dashes to the end of the line, and C's) and
 * white space between tokens are skipped. A keyword is a word; the parser decides what it means. UTF-8 in
 * strings and quoted names is not changed.
 */
#ifndef TESSERA_STORAGE_BASE_SQL_TOKEN_H
#define TESSERA_STORAGE_BASE_SQL_TOKEN_H

#include "storage/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sql_token_kind {
    TOKEN_END,
    TOKEN_WORD,   /* a name or keyword without quotes */
    TOKEN_NAME,   /* "a name", [a name] or `a name`, with its quotes */
    TOKEN_NUMBER, /* 12, 12.5, .5, 1e3 */
    TOKEN_STRING, /* 'text', with its quotes */
    TOKEN_SYMBOL  /* one of ( ) , . ; * + - / % = < > <= >= <> != || ? ] */
};

struct sql_token {
    enum sql_token_kind kind;
    const char *text;
    uint32_t length;
    uint32_t line, column; /* where it begins, from 1; columns count bytes */
};

/* The reader of a text. It begins with `at` 0, line 1 and column 1. */
struct sql_tokens {
    const char *text;
    size_t length, at;
    uint32_t line, column;
};

/* A byte order mark, as editors write it, is skipped. */
void sql_tokens_begin(struct sql_tokens *tokens, const char *text, size_t length);

/* Moves on by some bytes, or to the end of the text. */
void sql_tokens_move(struct sql_tokens *tokens, size_t bytes);

/* Reads the next token. STATUS_BAD_INPUT, "line L, column C: ...", for a string, name or comment that does
 * not end, and for a byte that begins no token. */
NODISCARD enum status sql_token_next(struct sql_tokens *tokens, struct sql_token *token, struct error *error);

/* Whether the token is this symbol or keyword. `word` is in upper case; the token may have any case. */
bool sql_token_is(const struct sql_token *token, const char *word);

/* Copies the token's text to `out` (token->length + 1 bytes), zero-terminated, and returns its length. A
 * TOKEN_STRING or TOKEN_NAME loses its quotes, and doubled quotes become single. */
size_t sql_token_text(const struct sql_token *token, char *out);

#endif
