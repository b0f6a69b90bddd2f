/*
 * sql_token.h: SQL text in words: for schema scripts (loader/table/schema_script.h) and for statements (engine/sql/ast.h).
 *
 * Tokens point into the text, nothing is copied. Comments (two dashes to the end of the line, and C's) and white space lie between tokens.
 * Keywords are words: what a word means is the parser's business. UTF-8 in strings and quoted names is passed
 * on as it is.
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
    TOKEN_NAME,   /* "a name", [a name] or `a name`: text with its quotes */
    TOKEN_NUMBER, /* 12, 12.5, .5, 1e3 */
    TOKEN_STRING, /* 'text', with its quotes */
    TOKEN_SYMBOL  /* one of ( ) , . ; * + - / % = < > <= >= <> != || ? */
};

struct sql_token {
    enum sql_token_kind kind;
    const char *text;
    uint32_t length;
    uint32_t line, column; /* where it begins, from 1; columns count bytes */
};

/* Zero `at`, line 1 and column 1 at the beginning. */
struct sql_tokens {
    const char *text;
    size_t length, at;
    uint32_t line, column;
};

void sql_tokens_begin(struct sql_tokens *tokens, const char *text, size_t length);

/* The next token. A string, name or comment that does not end, or a byte that begins no token:
 * STATUS_BAD_INPUT, "line L, column C: ...". */
NODISCARD enum status sql_token_next(struct sql_tokens *tokens, struct sql_token *token, struct error *error);

/* The token is this keyword (in upper case here, any case there) or symbol. */
bool sql_token_is(const struct sql_token *token, const char *word);

/* The text of a TOKEN_STRING or TOKEN_NAME without its quotes, doubled ones made single, or of any other token
 * as it is: into `out` of token->length + 1 bytes, zero-terminated; returns its length. */
size_t sql_token_text(const struct sql_token *token, char *out);

#endif
