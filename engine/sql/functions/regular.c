/* regular.c: see regular.h. */
#define _GNU_SOURCE /* newlocale, REG_STARTEND */
#include "engine/sql/functions/regular.h"

#include "storage/base/parallel.h"

#include <locale.h>
#include <regex.h>
#include <stdlib.h>

/* Groups of a pattern, with those that (?:...) becomes. */
#define GROUPS_MAX 100u

/* A compiled expression serves one thread at a time, so each thread has its own. Where pattern and string are ASCII,
 * characters are bytes, which takes far less time. */
struct regular_thread {
    bool has_ascii, has_wide;
    regex_t ascii, wide;
};

struct regular {
    char *text; /* as POSIX has it */
    int flags;
    bool is_ascii; /* the pattern is */
    locale_t utf8; /* 0: the system has none, and characters are bytes */
    locale_t bytes;
    uint32_t group_count;
    uint8_t groups[GROUPS_MAX];  /* the compiled group of each group that is written as (...) */
    struct string_needle needle; /* text that all matches have, or of length 0 */
    struct regular_thread *threads[PARALLEL_THREADS_MAX]; /* made when they are first used */
};

/* ---- Rewriting ---- */

/* Writes what a letter after a backslash stands for; false if that has no meaning. */
static bool put_class(struct string_buffer *out, char letter, bool in_brackets)
{
    static const char *const classes[][3] = {{"d", "0-9", "[0-9]"},
                                             {"D", NULL, "[^0-9]"},
                                             {"w", "[:alnum:]_", "[[:alnum:]_]"},
                                             {"W", NULL, "[^[:alnum:]_]"},
                                             {"s", "[:space:]", "[[:space:]]"},
                                             {"S", NULL, "[^[:space:]]"},
                                             {"n", "\n", "\n"},
                                             {"t", "\t", "\t"},
                                             {"b", NULL, "\\b"},
                                             {"B", NULL, "\\B"}};
    for (size_t c = 0; c < sizeof classes / sizeof *classes; c++)
        if (classes[c][0][0] == letter) {
            const char *const text = classes[c][in_brackets ? 1 : 2];
            if (text)
                string_put(out, text, strlen(text));
            return text;
        }
    if ((letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
        (letter >= '0' && letter <= '9'))
        return false;
    if (!in_brackets)
        string_put(out, "\\", 1);
    string_put(out, &letter, 1);
    return true;
}

/* Rewrites [...] from `at`; returns the byte after it, or NULL if it cannot be. In POSIX a backslash is a
 * character there, and ] and - are themselves only at the ends: so \] is moved to the beginning and \- to the
 * end. */
static const char *put_brackets(struct string_buffer *out, const char *at, const char *end)
{
    const bool negated = at + 1 < end && at[1] == '^';
    const char *const first = at + 1 + negated;
    bool closes = false, minus = false;
    const char *c = first;
    for (; c < end && (*c != ']' || c == first); c++)
        if (*c == '\\' && c + 1 < end) {
            c++;
            closes |= *c == ']';
            minus |= *c == '-';
        } else if (*c == '[' && c + 1 < end && c[1] == ':') {
            const char *const close = strstr(c, ":]");
            if (!close)
                return NULL;
            c = close + 1;
        }
    if (c >= end)
        return NULL;
    string_put(out, "[^", 1u + negated);
    if (closes)
        string_put(out, "]", 1);
    for (const char *b = first; b < c; b++)
        if (*b == '\\') {
            b++;
            if (*b != ']' && *b != '-' && !put_class(out, *b, true))
                return NULL;
        } else if (*b == '[' && b + 1 < end && b[1] == ':') {
            const char *const close = strstr(b, ":]") + 2;
            string_put(out, b, (uint64_t)(close - b));
            b = close - 1;
        } else {
            string_put(out, b, 1);
        }
    if (minus)
        string_put(out, "-", 1);
    string_put(out, "]", 1);
    return c + 1;
}

/* Rewrites a pattern, which a zero byte ends, to POSIX. Returns what it has that POSIX lacks, or NULL. */
static const char *rewrite(struct regular *regular, const char *pattern, const char *end,
                           struct string_buffer *out)
{
    uint32_t compiled = 0;
    for (const char *at = pattern; at < end;) {
        if (*at == '\\') {
            if (at + 1 == end || !put_class(out, at[1], false))
                return "a backslash before a letter or digit that has no meaning here";
            at += 2;
        } else if (*at == '[') {
            at = put_brackets(out, at, end);
            if (!at)
                return "a bracket [...] that is not closed or holds a class that it cannot";
        } else if (*at == '(') {
            const bool plain = at + 2 >= end || at[1] != '?';
            if (!plain && at[2] != ':')
                return "(?...), which looks around or sets options; only (?:...) and (?i) at the beginning "
                       "are "
                       "supported";
            if (++compiled == GROUPS_MAX)
                return "too many groups";
            if (plain)
                regular->groups[++regular->group_count] = (uint8_t)compiled;
            string_put(out, "(", 1);
            at += plain ? 1 : 3;
        } else if (strchr("*+?}", *at) && at + 1 < end && at[1] == '?') {
            return "a lazy repetition (*?); write [^x]* instead of .*? before x";
        } else {
            string_put(out, at++, 1);
        }
    }
    return NULL;
}

/* ---- Text that all matches have ---- */

/* The end of a group or bracket that begins at `at`; NULL if it has none. */
static const char *skip_nested(const char *at, const char *end)
{
    uint32_t depth = 0;
    for (; at < end; at++)
        if (*at == '\\') {
            at++;
        } else if (*at == '[') {
            at += at + 1 < end && at[1] == '^' ? 2 : 1;
            at += at < end && *at == ']';
            while (at < end && *at != ']') /* classes such as [:alpha:] end with ] too */
                at += *at == '[' && at + 1 < end && at[1] == ':' && strstr(at, ":]")
                          ? strstr(at, ":]") + 2 - at
                          : 1;
            if (depth == 0)
                return at < end ? at + 1 : NULL;
        } else if (*at == '(') {
            depth++;
        } else if (*at == ')' && --depth == 0) {
            return at + 1;
        }
    return NULL;
}

/* Finds the longest text that is outside of groups and brackets and is not repeated, in a pattern without alternatives
 * there. Gives its place in the pattern, which has been rewritten to POSIX; or length 0. */
static struct string_value literal_of(const char *pattern)
{
    const char *const end = pattern + strlen(pattern), *begin = pattern;
    struct string_value best = {pattern, 0};
    for (const char *at = pattern; begin && at <= end;) {
        const bool plain = at < end && !strchr("\\[](){}*+?.^$|", *at);
        if (plain && !(at + 1 < end && strchr("*+?{", at[1]))) {
            at++;
            continue;
        }
        const char *stop = at; /* a repeated character may have several bytes */
        while (plain && stop > begin && ((unsigned char)*stop & 0xc0) == 0x80)
            stop--;
        if ((uint32_t)(stop - begin) > best.length)
            best = (struct string_value){begin, (uint32_t)(stop - begin)};
        if (at < end && *at == '|')
            return (struct string_value){pattern, 0};
        if (at < end && (*at == '[' || *at == '('))
            at = skip_nested(at, end);
        else if (at < end && *at == '{' && strchr(at, '}'))
            at = strchr(at, '}') + 1;
        else
            at += at < end && *at == '\\' ? 2 : 1;
        begin = at;
        if (!at)
            return (struct string_value){pattern, 0};
    }
    return best;
}

/* ---- Compiling ---- */

/* Gives the compiled expression for bytes or for characters of UTF-8. 0, or regcomp's error. */
static int compile(const struct regular *regular, bool ascii, regex_t *out)
{
    const locale_t locale = ascii ? regular->bytes : regular->utf8;
    const locale_t before = locale ? uselocale(locale) : (locale_t)0;
    const int result = regcomp(out, regular->text, regular->flags);
    if (locale)
        uselocale(before);
    return result;
}

/* The thread's expression for a string; NULL if there is no memory. */
static const regex_t *compiled_for(struct regular *regular, unsigned thread, bool ascii)
{
    struct regular_thread *own = regular->threads[thread];
    if (!own)
        own = regular->threads[thread] = calloc(1, sizeof *own);
    if (!own)
        return NULL;
    bool *const has = ascii ? &own->has_ascii : &own->has_wide;
    regex_t *const expression = ascii ? &own->ascii : &own->wide;
    *has = *has || compile(regular, ascii, expression) == 0;
    return *has ? expression : NULL;
}

/* Compiles the expression for the first thread, which shows whether it can be. */
static enum status compile_first(struct regular *regular, const char *pattern, const char *lacks,
                                 struct error *error)
{
    char reason[200] = "";
    int result = 0;
    if (!lacks) {
        regular->utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
        regular->bytes = newlocale(LC_CTYPE_MASK, "C", (locale_t)0);
        regular->threads[0] = calloc(1, sizeof *regular->threads[0]);
        result = regular->threads[0] && regular->bytes ? compile(regular, false, &regular->threads[0]->wide)
                                                       : REG_ESPACE;
        if (result && regular->threads[0])
            regerror(result, &regular->threads[0]->wide, reason, sizeof reason);
        lacks = result ? reason : NULL;
    }
    if (lacks)
        return error_set(error, STATUS_BAD_INPUT, "the regular expression '%.200s' has %s", pattern,
                         *lacks ? lacks : "no room in memory");
    regular->threads[0]->has_wide = true;
    return STATUS_OK;
}

enum status regular_create(const char *pattern, uint32_t length, bool ignore_case, struct regular **out,
                           struct error *error)
{
    struct regular *regular = calloc(1, sizeof *regular);
    struct string_buffer text = {0};
    char *const copy = strndup(pattern, length);
    if (!regular || !copy) {
        free(regular);
        free(copy);
        return error_out_of_memory(error, length, "a regular expression");
    }
    const bool option = strncmp(copy, "(?i)", 4) == 0;
    const char *const lacks = rewrite(regular, copy + (option ? 4 : 0), copy + strlen(copy), &text);
    string_put(&text, "", 1);
    regular->text = text.bytes;
    regular->flags = REG_EXTENDED | (option || ignore_case ? REG_ICASE : 0);
    regular->is_ascii = string_is_ascii((struct string_value){copy, (uint32_t)strlen(copy)});
    enum status status = text.failed ? error_out_of_memory(error, length, "a regular expression")
                                     : compile_first(regular, copy, lacks, error);
    const struct string_value literal = status == STATUS_OK && !(regular->flags & REG_ICASE)
                                            ? literal_of(regular->text)
                                            : (struct string_value){"", 0};
    regular->needle = string_needle(literal);
    if (status == STATUS_OK)
        *out = regular;
    else
        regular_free(regular);
    free(copy);
    return status;
}

void regular_free(struct regular *regular)
{
    for (unsigned t = 0; t < PARALLEL_THREADS_MAX; t++) {
        struct regular_thread *const own = regular->threads[t];
        if (own && own->has_ascii)
            regfree(&own->ascii);
        if (own && own->has_wide)
            regfree(&own->wide);
        free(own);
    }
    if (regular->utf8)
        freelocale(regular->utf8);
    if (regular->bytes)
        freelocale(regular->bytes);
    free(regular->text);
    free(regular);
}

/* ---- Matching ---- */

/* Finds the first match from byte `from` on, and `count` of its parts, of which parts[0] is the whole; 0: only whether
 * there is one. `parts` has one at least. */
static bool match(struct regular *regular, unsigned thread, struct string_value string, uint32_t from,
                  size_t count, regmatch_t *parts)
{
    if (regular->needle.text.length && string_find(string, &regular->needle, from) == UINT32_MAX)
        return false;
    const bool ascii = regular->is_ascii && string_is_ascii(string);
    const regex_t *const expression = compiled_for(regular, thread, ascii);
    const locale_t locale = ascii ? regular->bytes : regular->utf8;
    const locale_t before = locale ? uselocale(locale) : (locale_t)0;
    parts[0].rm_so = (regoff_t)from;
    parts[0].rm_eo = (regoff_t)string.length;
    /* REG_STARTEND gives the end, but tools that check memory look for a zero byte, so the text gets one. */
    char small[256], *const copy = string.length < sizeof small ? small : malloc((size_t)string.length + 1);
    if (copy && string.length)
        memcpy(copy, string.text, string.length);
    if (copy)
        copy[string.length] = '\0';
    const int result = copy && expression
                           ? regexec(expression, copy, count, parts, REG_STARTEND | (from ? REG_NOTBOL : 0))
                           : REG_ESPACE;
    if (copy != small)
        free(copy);
    if (locale)
        uselocale(before);
    return result == 0;
}

bool regular_matches(struct regular *regular, unsigned thread, struct string_value string)
{
    regmatch_t part[1];
    return match(regular, thread, string, 0, 0, part);
}

static struct string_value group_of(const struct regular *regular, struct string_value string,
                                    const regmatch_t *parts, uint32_t group)
{
    const struct string_value none = {"", 0};
    if (group > regular->group_count)
        return none;
    const regmatch_t part = parts[group ? regular->groups[group] : 0];
    return part.rm_so < 0
               ? none
               : (struct string_value){string.text + part.rm_so, (uint32_t)(part.rm_eo - part.rm_so)};
}

struct string_value regular_extract(struct regular *regular, unsigned thread, struct string_value string,
                                    uint32_t group)
{
    const struct string_value none = {"", 0};
    regmatch_t parts[GROUPS_MAX];
    if (group > regular->group_count)
        return none;
    const size_t count = 1 + (group ? (size_t)regular->groups[group] : 0);
    return match(regular, thread, string, 0, count, parts) ? group_of(regular, string, parts, group) : none;
}

/* The parts of a match that \0 to \9 in the text name, with those before them. */
static size_t parts_named(const struct regular *regular, struct string_value by)
{
    size_t count = 1;
    for (uint32_t i = 0; i + 1 < by.length; i++)
        if (by.text[i] == '\\' && by.text[i + 1] >= '0' && by.text[i + 1] <= '9') {
            const uint32_t group = (uint32_t)(by.text[++i] - '0');
            const size_t part = group <= regular->group_count ? regular->groups[group] : 0u;
            count = part + 1 > count ? part + 1 : count;
        }
    return count;
}

void regular_replace(struct regular *regular, unsigned thread, struct string_value string,
                     struct string_value by, bool all, struct string_buffer *out)
{
    const size_t count = parts_named(regular, by);
    regmatch_t parts[GROUPS_MAX];
    uint32_t at = 0;
    while (at <= string.length && match(regular, thread, string, at, count, parts)) {
        const uint32_t begin = (uint32_t)parts[0].rm_so, end = (uint32_t)parts[0].rm_eo;
        string_put(out, string.text + at, begin - at);
        for (uint32_t i = 0; i < by.length; i++)
            if (by.text[i] == '\\' && i + 1 < by.length && by.text[i + 1] >= '0' && by.text[i + 1] <= '9') {
                const struct string_value part =
                    group_of(regular, string, parts, (uint32_t)(by.text[++i] - '0'));
                string_put(out, part.text, part.length);
            } else {
                string_put(out, by.text + i, 1);
            }
        at = end;
        if (begin == end && at < string.length) { /* nothing matched here: take a character */
            const uint32_t bytes = string_character_bytes(string.text + at, string.text + string.length);
            string_put(out, string.text + at, bytes);
            at += bytes;
        } else if (begin == end) {
            at++;
        }
        if (!all)
            break;
    }
    if (at < string.length)
        string_put(out, string.text + at, string.length - at);
}
