/* parse_typo.c: what a word that cannot stand where it does may have been meant to be: "did you mean FROM?". */
#include "engine/sql/parse_internal.h"
#include "storage/base/words/near_word.h"
#include "storage/base/words/sql_name.h"
#include "storage/base/words/word.h"

#include <string.h>

#define WORD_BYTES 32u

/* The word of so many bytes as a text; "" if it is longer than keywords are. */
static const char *copy_word(const char *from, size_t bytes, char word[WORD_BYTES])
{
    bytes = bytes < WORD_BYTES ? bytes : 0;
    memcpy(word, from, bytes);
    word[bytes] = '\0';
    return word;
}

static bool is_letter(char byte)
{
    return word_letter(byte) >= 'a' && word_letter(byte) <= 'z';
}

/* The keyword that a word of at least three letters is mistyped of, in small letters; NULL: none. */
static const char *keyword_near(const char *word)
{
    struct near_word near = near_word_begin(word);
    if (strlen(word) < 3 || sql_is_keyword(word, strlen(word)))
        return NULL;
    for (size_t k = 0; sql_keyword(k); k++)
        near_word_try(&near, sql_keyword(k));
    return near.is_part ? NULL : near.nearest;
}

static const char *statement_near(const char *word)
{
    static const char *const begins[] = {"select", "with",      "values", "from",    "explain",
                                         "pivot",  "summarize", "copy",   "insert",  "delete",
                                         "create", "drop",      "show",   "describe"};
    struct near_word near = near_word_begin(word);
    for (size_t b = 0; b < sizeof begins / sizeof *begins; b++)
        near_word_try(&near, begins[b]);
    return near.nearest;
}

/* The letters that end at `end`, of a text that begins at `begin`. */
static size_t letters_before(const char *begin, const char *end)
{
    size_t letters = 0;
    while (end - letters > begin && is_letter(end[-(ptrdiff_t)letters - 1]))
        letters++;
    return letters;
}

/* "FROM" for "from", as messages name keywords. */
static const char *capitals(const char *keyword, char word[WORD_BYTES])
{
    copy_word(keyword, strlen(keyword), word);
    for (char *c = word; *c; c++)
        *c -= *c >= 'a' && *c <= 'z' ? 'a' - 'A' : 0;
    return word;
}

enum status parse_refuse_word(const struct parser *parser, bool first)
{
    const int length = (int)parser->token.length;
    const char *const text = parser->token.text;
    char word[WORD_BYTES], before[WORD_BYTES], meant[WORD_BYTES];
    copy_word(text, parser->token.kind == TOKEN_WORD ? parser->token.length : 0, word);
    const char *const statement = first ? statement_near(word) : NULL;
    if (statement && strcmp(statement, word) != 0)
        return parse_refuse(parser, "no statement begins with '%.*s'; did you mean %s?", length, text,
                            capitals(statement, meant));
    if (first)
        return parse_refuse(
            parser,
            "no statement begins with '%.*s'; queries begin with SELECT, WITH, FROM or VALUES, "
            "others with EXPLAIN, SUMMARIZE, PIVOT, COPY, INSERT, DELETE, CREATE, DROP or SHOW",
            length, text);
    const size_t letters = letters_before(parser->tokens.text, parser->before_end);
    copy_word(parser->before_end - letters, letters, before);
    const char *const earlier = keyword_near(before), *const own = keyword_near(word);
    if (letters && *text == '(')
        return parse_refuse(parser, "'(' is not expected here; is a comma missing before '%s'?", before);
    if (earlier)
        return parse_refuse(parser, "'%.*s' is not expected here; did you mean %s for '%s' before it?",
                            length, text, capitals(earlier, meant), before);
    if (own)
        return parse_refuse(parser, "'%.*s' is not expected here; did you mean %s?", length, text,
                            capitals(own, meant));
    return parse_refuse(parser, "'%.*s' is not expected here", length, text);
}
