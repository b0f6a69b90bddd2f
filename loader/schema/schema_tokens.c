/* schema_tokens.c: tokens of a schema script, its errors and notes, and the text that is skipped (schema_parser.h). */
#include "loader/schema/schema_parser.h"

#include "storage/base/number/number_text.h"
#include "storage/base/words/word.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Errors and notes ---- */

enum status schema_complain(struct schema_parser *parser, const char *what)
{
    return error_set(&parser->error, STATUS_BAD_INPUT, "%s:%u:%u: %s", parser->path, parser->token.line,
                     parser->token.column, what);
}

enum status schema_complain_of(struct schema_parser *parser, const char *format)
{
    char text[512], word[64];
    snprintf(word, sizeof word, "%.*s", (int)parser->token.length, parser->token.text);
    snprintf(text, sizeof text, format, parser->token.kind == TOKEN_END ? "the end of the script" : word);
    return schema_complain(parser, text);
}

enum status schema_complain_at(struct schema_parser *parser, const struct schema_place *place,
                               const char *format)
{
    const struct schema_place now = schema_here(parser);
    schema_go_back(parser, place);
    const enum status status = schema_complain_of(parser, format);
    schema_go_back(parser, &now);
    return status;
}

enum status schema_error_keep(struct schema_parser *parser, enum status status)
{
    if (status != STATUS_BAD_INPUT)
        return status;
    const size_t used = strlen(parser->complaints);
    /* what does not fit is counted; the last line says how many there are */
    if (used + strlen(parser->error.text) + 40 < sizeof parser->complaints)
        snprintf(parser->complaints + used, sizeof parser->complaints - used, "%s%s", used ? "\n" : "",
                 parser->error.text);
    else if (used == 0)
        snprintf(parser->complaints, sizeof parser->complaints, "%.900s", parser->error.text);
    parser->complaint_count++;
    return STATUS_OK;
}

enum status schema_note(struct schema_parser *parser, uint32_t line, const char *format, ...)
{
    struct schema_script *const schema = parser->schema;
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    number_print_list(text, sizeof text, format, arguments);
    va_end(arguments);
    const size_t bytes = strlen(parser->path) + strlen(text) + 32;
    if (schema->note_count == SCHEMA_NOTES_MAX)
        return STATUS_OK;
    char *const note = malloc(bytes);
    if (!note)
        return error_out_of_memory(&parser->error, bytes, "a schema");
    snprintf(note, bytes, "%s:%u: %s", parser->path, line, text);
    schema->notes[schema->note_count++] = note;
    return STATUS_OK;
}

/* ---- Tokens ---- */

enum status schema_advance(struct schema_parser *parser)
{
    struct error inner = {0};
    parser->before = parser->tokens;
    const enum status status = sql_token_next(&parser->tokens, &parser->token, &inner);
    return status == STATUS_OK ? status
                               : error_set(&parser->error, status, "%s: %s", parser->path, inner.text);
}

bool schema_is(const struct schema_parser *parser, const char *word)
{
    return sql_token_is(&parser->token, word);
}

enum status schema_take(struct schema_parser *parser, const char *word, bool *taken)
{
    *taken = schema_is(parser, word);
    return *taken ? schema_advance(parser) : STATUS_OK;
}

enum status schema_expect(struct schema_parser *parser, const char *word)
{
    char format[96];
    if (schema_is(parser, word))
        return schema_advance(parser);
    snprintf(format, sizeof format, "'%%s' stands where %s should", word);
    return schema_complain_of(parser, format);
}

enum status schema_take_name(struct schema_parser *parser, const char *what, char name[NAME_BYTES])
{
    char format[96];
    char text[4 * NAME_BYTES];
    if (parser->token.kind != TOKEN_WORD && parser->token.kind != TOKEN_NAME) {
        snprintf(format, sizeof format, "'%%s' stands where %s should", what);
        return schema_complain_of(parser, format);
    }
    if (parser->token.length >= sizeof text)
        return schema_complain(parser, "the name is longer than 63 bytes");
    const size_t length = sql_token_text(&parser->token, text);
    if (length >= NAME_BYTES || !name_valid(text))
        return schema_complain_of(parser, "'%s' is no name that a table or column may have: " NAME_RULE);
    memcpy(name, text, length + 1);
    return schema_advance(parser);
}

enum status schema_take_qualified(struct schema_parser *parser, const char *what, char name[NAME_BYTES])
{
    bool more = true;
    while (more) {
        RETURN_IF_ERROR(schema_take_name(parser, what, name));
        RETURN_IF_ERROR(schema_take(parser, ".", &more));
    }
    return STATUS_OK;
}

/* ---- Text that is skipped ---- */

static char at(const struct sql_tokens *tokens, size_t ahead)
{
    return tokens->at + ahead < tokens->length ? tokens->text[tokens->at + ahead] : '\0';
}

static bool is_word_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (unsigned char)c >= 0x80;
}

/* Moves past the next occurrence of `end`, or to the end of the text. */
static void move_past(struct sql_tokens *tokens, const char *end, size_t length)
{
    while (tokens->at < tokens->length &&
           (tokens->length - tokens->at < length || memcmp(tokens->text + tokens->at, end, length) != 0))
        sql_tokens_move(tokens, 1);
    sql_tokens_move(tokens, length);
}

/* Skips a quoted text. A backslash escapes a quote only in PostgreSQL's E'...'. Doubled quotes are two quoted texts. */
static void skip_quoted(struct sql_tokens *tokens, bool escapes)
{
    const char quote = at(tokens, 0);
    sql_tokens_move(tokens, 1);
    while (tokens->at < tokens->length && at(tokens, 0) != quote)
        sql_tokens_move(tokens, escapes && at(tokens, 0) == '\\' ? 2 : 1);
    sql_tokens_move(tokens, 1);
}

/* The bytes of PostgreSQL's $tag$ here, or 0. */
static size_t dollar_tag(const struct sql_tokens *tokens)
{
    size_t i = 1;
    while (is_word_byte(at(tokens, i)))
        i++;
    return at(tokens, 0) == '$' && at(tokens, i) == '$' ? i + 1 : 0;
}

/* Skips a comment, a quoted text, or one other byte. */
static void skip_piece(struct sql_tokens *tokens, bool after_e)
{
    const char c = at(tokens, 0);
    const size_t tag = dollar_tag(tokens);
    if (c == '-' && at(tokens, 1) == '-') {
        move_past(tokens, "\n", 1);
    } else if (c == '/' && at(tokens, 1) == '*') {
        sql_tokens_move(tokens, 2);
        move_past(tokens, "*/", 2);
    } else if (c == '\'' || c == '"' || c == '`') {
        skip_quoted(tokens, after_e && c == '\'');
    } else if (tag) {
        const char *const text = tokens->text + tokens->at;
        sql_tokens_move(tokens, tag);
        move_past(tokens, text, tag);
    } else {
        sql_tokens_move(tokens, 1);
    }
}

static size_t word_bytes(const struct sql_tokens *tokens)
{
    size_t length = 0;
    while (is_word_byte(at(tokens, length)))
        length++;
    return length;
}

static bool is_listed(const struct sql_tokens *tokens, size_t length, const char *const *words)
{
    for (; words && *words; words++)
        if (strlen(*words) == length && word_compare_bytes(*words, tokens->text + tokens->at, length) == 0)
            return true;
    return false;
}

void schema_text_skip(struct sql_tokens *tokens, const char *stops, const char *const *words)
{
    uint32_t depth = 0;
    bool after_e = false, begun = false;
    while (tokens->at < tokens->length) {
        const char c = at(tokens, 0);
        const size_t length = word_bytes(tokens);
        if (depth == 0 && c && strchr(stops, c))
            return;
        if (length) {
            if (depth == 0 && begun && is_listed(tokens, length, words))
                return;
            begun = true;
            after_e = length == 1 && (c == 'e' || c == 'E');
            sql_tokens_move(tokens, length);
            continue;
        }
        depth += c == '(' || c == '[';
        depth -= (c == ')' || c == ']') && depth > 0;
        begun |= strchr(" \t\r\n", c) == NULL;
        skip_piece(tokens, after_e);
        after_e = false;
    }
}

enum status schema_skip_to(struct schema_parser *parser, const char *stops, const char *const *words)
{
    schema_text_skip(&parser->tokens, stops, words);
    return schema_advance(parser);
}

enum status schema_skip_brackets(struct schema_parser *parser)
{
    schema_text_skip(&parser->tokens, ")", NULL);
    RETURN_IF_ERROR(schema_advance(parser));
    return schema_expect(parser, ")");
}
