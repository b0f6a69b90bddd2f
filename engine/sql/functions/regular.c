/* regular.c: see regular.h. */
#define _GNU_SOURCE /* newlocale, REG_STARTEND */
#include "engine/sql/functions/regular.h"

#include <locale.h>
#include <regex.h>
#include <stdlib.h>

/* Groups of a pattern, with those that (?:...) becomes. */
#define GROUPS_MAX 100u

struct regular {
    regex_t compiled;
    locale_t utf8; /* 0: the system has none, and characters are bytes */
    uint32_t group_count;
    uint8_t groups[GROUPS_MAX]; /* the compiled group of each group that is written as (...) */
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
    string_put(out, "", 1);
    return NULL;
}

/* ---- Matching ---- */

enum status regular_create(const char *pattern, uint32_t length, bool ignore_case, struct regular **out,
                           struct error *error)
{
    struct regular *regular = calloc(1, sizeof *regular);
    struct string_buffer text = {0};
    char *const copy = strndup(pattern, length), reason[200] = "";
    if (!regular || !copy) {
        free(regular);
        free(copy);
        return error_out_of_memory(error, length, "a regular expression");
    }
    const bool option = strncmp(copy, "(?i)", 4) == 0;
    const char *lacks = rewrite(regular, copy + (option ? 4 : 0), copy + strlen(copy), &text);
    int result = text.failed ? REG_ESPACE : 0;
    if (!lacks && !result) {
        regular->utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
        const locale_t before = regular->utf8 ? uselocale(regular->utf8) : (locale_t)0;
        result =
            regcomp(&regular->compiled, text.bytes, REG_EXTENDED | (option || ignore_case ? REG_ICASE : 0));
        if (regular->utf8)
            uselocale(before);
        if (result) {
            regerror(result, &regular->compiled, reason, sizeof reason);
            lacks = reason;
        }
    }
    if (lacks && !result)
        result = REG_BADPAT;
    enum status status = STATUS_OK;
    if (result)
        status = error_set(error, STATUS_BAD_INPUT, "the regular expression '%.200s' has %s", copy,
                           lacks ? lacks : "no room in memory");
    if (status == STATUS_OK) {
        *out = regular;
    } else {
        if (regular->utf8)
            freelocale(regular->utf8);
        free(regular);
    }
    free(copy);
    free(text.bytes);
    return status;
}

void regular_free(struct regular *regular)
{
    regfree(&regular->compiled);
    if (regular->utf8)
        freelocale(regular->utf8);
    free(regular);
}

/* Finds the first match from byte `from` on. */
static bool match(const struct regular *regular, struct string_value string, uint32_t from, size_t count,
                  regmatch_t *parts)
{
    const locale_t before = regular->utf8 ? uselocale(regular->utf8) : (locale_t)0;
    parts[0].rm_so = (regoff_t)from;
    parts[0].rm_eo = (regoff_t)string.length;
    /* REG_STARTEND gives the end, but tools that check memory look for a zero byte, so the text gets one. */
    char small[256], *const copy = string.length < sizeof small ? small : malloc((size_t)string.length + 1);
    if (copy && string.length)
        memcpy(copy, string.text, string.length);
    if (copy)
        copy[string.length] = '\0';
    const int result =
        copy ? regexec(&regular->compiled, copy, count, parts, REG_STARTEND | (from ? REG_NOTBOL : 0))
             : REG_ESPACE;
    if (copy != small)
        free(copy);
    if (regular->utf8)
        uselocale(before);
    return result == 0;
}

bool regular_matches(const struct regular *regular, struct string_value string)
{
    regmatch_t part[1];
    return match(regular, string, 0, 1, part);
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

struct string_value regular_extract(const struct regular *regular, struct string_value string, uint32_t group)
{
    regmatch_t parts[GROUPS_MAX];
    return match(regular, string, 0, GROUPS_MAX, parts) ? group_of(regular, string, parts, group)
                                                        : (struct string_value){"", 0};
}

void regular_replace(const struct regular *regular, struct string_value string, struct string_value by,
                     bool all, struct string_buffer *out)
{
    regmatch_t parts[GROUPS_MAX];
    uint32_t at = 0;
    while (at <= string.length && match(regular, string, at, GROUPS_MAX, parts)) {
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
