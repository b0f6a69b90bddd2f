/* sql_name.c: see sql_name.h. */
#include "storage/base/words/sql_name.h"

#include "storage/base/words/word.h"

#include <string.h>

static const char *const keywords[] = {
    "select", "distinct", "from", "where",  "group",   "by",        "having", "order",   "limit",   "offset",
    "join",   "inner",    "left", "outer",  "right",   "full",      "cross",  "natural", "on",      "using",
    "as",     "and",      "or",   "not",    "between", "in",        "like",   "is",      "case",    "when",
    "then",   "else",     "end",  "union",  "except",  "intersect", "asc",    "desc",    "with",    "window",
    "escape", "exists",   "glob", "regexp", "match",   "collate",   "nulls",  "null",    "qualify", "ilike"};
#define KEYWORDS (sizeof keywords / sizeof *keywords)

/* Words that begin something in a schema script, or an expression, before they could be a name. */
static const char *const others[] = {"primary", "foreign", "check", "unique", "constraint", "exclude",
                                     "key",     "index",   "table", "to",     "references", "default",
                                     "create",  "user",    "true",  "false"};

static bool is_one_of(const char *const *words, size_t count, const char *text, size_t length)
{
    for (size_t w = 0; w < count; w++)
        if (strlen(words[w]) == length && word_compare_bytes(words[w], text, length) == 0)
            return true;
    return false;
}

const char *sql_keyword(size_t index)
{
    return index < KEYWORDS ? keywords[index] : NULL;
}

bool sql_is_keyword(const char *text, size_t length)
{
    return is_one_of(keywords, KEYWORDS, text, length);
}

void sql_name_write(FILE *out, const char *name, bool quoted)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    const size_t length = strlen(name);
    quoted |= strspn(name, letters) != length || length == 0 || (*name >= '0' && *name <= '9') ||
              sql_is_keyword(name, length) || is_one_of(others, sizeof others / sizeof *others, name, length);
    if (!quoted) {
        fputs(name, out);
        return;
    }
    putc('"', out);
    for (; *name; name++) {
        if (*name == '"')
            putc('"', out);
        putc(*name, out);
    }
    putc('"', out);
}
