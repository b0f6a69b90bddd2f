/* sql_token.c: see sql_token.h. */
#include "storage/base/sql_token.h"

#include "storage/base/words/word.h"

#include <string.h>

void sql_tokens_begin(struct sql_tokens *tokens, const char *text, size_t length)
{
    const bool mark = length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0; /* of the byte order */
    *tokens = (struct sql_tokens){.text = text, .length = length, .at = mark ? 3 : 0, .line = 1, .column = 1};
}

static char peek(const struct sql_tokens *tokens, size_t ahead)
{
    return tokens->at + ahead < tokens->length ? tokens->text[tokens->at + ahead] : '\0';
}

void sql_tokens_move(struct sql_tokens *tokens, size_t bytes)
{
    for (; bytes > 0 && tokens->at < tokens->length; bytes--) {
        const bool newline = tokens->text[tokens->at++] == '\n';
        tokens->line += newline;
        tokens->column = newline ? 1 : tokens->column + 1;
    }
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '$' ||
           (unsigned char)c >= 0x80;
}

static enum status complain(const struct sql_tokens *tokens, struct error *error, const char *what)
{
    return error_set(error, STATUS_BAD_INPUT, "line %u, column %u: %s", tokens->line, tokens->column, what);
}

static enum status skip_spaces(struct sql_tokens *tokens, struct error *error)
{
    for (;;) {
        if (tokens->at < tokens->length && is_space(peek(tokens, 0))) {
            sql_tokens_move(tokens, 1);
        } else if (peek(tokens, 0) == '-' && peek(tokens, 1) == '-') {
            while (tokens->at < tokens->length && peek(tokens, 0) != '\n')
                sql_tokens_move(tokens, 1);
        } else if (peek(tokens, 0) == '/' && peek(tokens, 1) == '*') {
            const struct sql_tokens begin = *tokens;
            sql_tokens_move(tokens, 2);
            while (tokens->at < tokens->length && !(peek(tokens, 0) == '*' && peek(tokens, 1) == '/'))
                sql_tokens_move(tokens, 1);
            if (tokens->at == tokens->length)
                return complain(&begin, error, "the comment that begins here does not end");
            sql_tokens_move(tokens, 2);
        } else {
            return STATUS_OK;
        }
    }
}

/* The bytes of a quoted text with its quotes; 0 if it does not end. */
static size_t quoted_bytes(const struct sql_tokens *tokens, char end)
{
    for (size_t i = 1; tokens->at + i < tokens->length; i++) {
        if (peek(tokens, i) != end)
            continue;
        if (peek(tokens, i + 1) != end || end == ']')
            return i + 1;
        i++;
    }
    return 0;
}

static size_t number_bytes(const struct sql_tokens *tokens)
{
    size_t i = 0;
    while (is_digit(peek(tokens, i)))
        i++;
    if (peek(tokens, i) == '.')
        i++;
    while (is_digit(peek(tokens, i)))
        i++;
    if (peek(tokens, i) == 'e' || peek(tokens, i) == 'E') {
        const size_t sign = peek(tokens, i + 1) == '+' || peek(tokens, i + 1) == '-';
        if (is_digit(peek(tokens, i + 1 + sign)))
            for (i += 1 + sign; is_digit(peek(tokens, i));)
                i++;
    }
    return i;
}

static size_t symbol_bytes(const struct sql_tokens *tokens)
{
    static const char *const two[] = {
        "<=", ">=", "<>", "!=", "||", "==", "::", "~*", "!~", "//", "<<", ">>", "->"};
    if (peek(tokens, 0) == '!' && peek(tokens, 1) == '~' && peek(tokens, 2) == '*')
        return 3;
    if (peek(tokens, 0) == '-' && peek(tokens, 1) == '>' && peek(tokens, 2) == '>')
        return 3;
    for (size_t i = 0; i < sizeof two / sizeof *two; i++)
        if (peek(tokens, 0) == two[i][0] && peek(tokens, 1) == two[i][1])
            return 2;
    return peek(tokens, 0) && strchr("(),.;*+-/%=<>?~&|]", peek(tokens, 0)) ? 1 : 0;
}

enum status sql_token_next(struct sql_tokens *tokens, struct sql_token *token, struct error *error)
{
    RETURN_IF_ERROR(skip_spaces(tokens, error));
    *token =
        (struct sql_token){.text = tokens->text + tokens->at, .line = tokens->line, .column = tokens->column};
    if (tokens->at == tokens->length)
        return STATUS_OK;
    const char first = peek(tokens, 0);
    size_t bytes = 0;
    if (first == '\'' || first == '"' || first == '`' || first == '[') {
        token->kind = first == '\'' ? TOKEN_STRING : TOKEN_NAME;
        bytes = quoted_bytes(tokens, first == '[' ? ']' : first);
        if (bytes == 0)
            return complain(tokens, error, "the quote that begins here does not end");
    } else if (is_digit(first) || (first == '.' && is_digit(peek(tokens, 1)))) {
        token->kind = TOKEN_NUMBER;
        bytes = number_bytes(tokens);
        if (is_word(peek(tokens, bytes)))
            return complain(tokens, error, "a number goes over into a name; put a space between them");
    } else if (is_word(first)) {
        token->kind = TOKEN_WORD;
        while (is_word(peek(tokens, bytes)))
            bytes++;
    } else {
        token->kind = TOKEN_SYMBOL;
        bytes = symbol_bytes(tokens);
        if (bytes == 0)
            return error_set(error, STATUS_BAD_INPUT,
                             "line %u, column %u: the character '%c' (byte 0x%02x) has no meaning here",
                             tokens->line, tokens->column, first >= ' ' && first < 127 ? first : '?',
                             (unsigned char)first);
    }
    token->length = (uint32_t)bytes;
    sql_tokens_move(tokens, bytes);
    return STATUS_OK;
}

bool sql_token_is(const struct sql_token *token, const char *word)
{
    return (token->kind == TOKEN_WORD || token->kind == TOKEN_SYMBOL) && strlen(word) == token->length &&
           word_compare_bytes(token->text, word, token->length) == 0;
}

size_t sql_token_text(const struct sql_token *token, char *out)
{
    size_t length = 0;
    if (token->kind != TOKEN_STRING && token->kind != TOKEN_NAME) {
        memcpy(out, token->text, token->length);
        out[token->length] = '\0';
        return token->length;
    }
    const char quote = token->text[token->length - 1];
    for (uint32_t i = 1; i + 1 < token->length; i++) {
        out[length++] = token->text[i];
        i += token->text[i] == quote && quote != ']';
    }
    out[length] = '\0';
    return length;
}
