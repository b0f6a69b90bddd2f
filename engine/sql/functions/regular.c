/* regular.c: see regular.h. */
#define _GNU_SOURCE /* memmem */
#include "engine/sql/functions/regular.h"

#include "storage/base/execution/execution.h"
#include "storage/base/hash.h"
#include "storage/base/memory.h"
#include "storage/base/words/utf8.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Bytes of a pattern that an error shows. */
#define SHOWN_BYTES 100u

/* Places for what searches need, and how many of them a thread tries: two threads seldom share one. */
#define ROOMS       256u
#define ROOMS_TRIED 4u

/* What a search needs for itself, made when it is first used. */
struct regular_room {
    pcre2_match_data *data;
    pcre2_code *
        damaged; /* for strings that are no UTF-8; without machine code, of which PCRE2's 10.42 is wrong for them */
};

struct regular {
    char *pattern; /* for errors, with a zero byte at its end */
    uint32_t length, options, groups;
    pcre2_code *code;            /* for strings of UTF-8 */
    struct string_needle needle; /* text that all matches have, or of length 0 */
    pcre2_match_context *limits;
    struct regular_room
        *_Atomic rooms[ROOMS]; /* that no search has; a thread's is at its place or after it */
};

/* ---- Text that all matches have ---- */

/* Looking for it takes half the time of looking for a match. What is not understood here is skipped by giving none. */

/* The end of what begins with the backslash at `at`: of a class, a place or a character, not of what has arguments. */
static const char *skip_escape(const char *at, const char *end)
{
    const char letter = at + 1 < end ? at[1] : '0';
    const bool special =
        (letter >= '0' && letter <= '9') || ((letter | 0x20) >= 'a' && (letter | 0x20) <= 'z');
    return special && !strchr("dDwWsSbBhHvVRAzZntrfea", letter) ? NULL : at + 2;
}

/* The end of the bracket [...] at `at`. */
static const char *skip_bracket(const char *at, const char *end)
{
    at += at + 1 < end && at[1] == '^' ? 2 : 1;
    at += at < end && *at == ']';
    while (at && at < end && *at != ']')
        if (*at == '\\')
            at = skip_escape(at, end);
        else
            at = *at == '[' ? NULL : at + 1; /* [:alpha:] */
    return at && at < end ? at + 1 : NULL;
}

/* The end of the group at `at`. Those that set options or call others, and comments, are not understood. */
static const char *skip_group(const char *at, const char *end)
{
    uint32_t depth = 0;
    while (at && at < end)
        if (*at == '\\') {
            at = skip_escape(at, end);
        } else if (*at == '[') {
            at = skip_bracket(at, end);
        } else if (*at == '(') {
            const char *const next = at + 1;
            depth++;
            at = next < end &&
                         (*next == '*' || (*next == '?' && (next + 1 == end || !strchr(":=!<>", next[1]))))
                     ? NULL
                     : next;
        } else if (*at++ == ')' && --depth == 0) {
            return at;
        }
    return NULL;
}

/* The end of the repetition {n}, {n,} or {n,m} at `at`. */
static const char *skip_repetition(const char *at, const char *end)
{
    const char *const digits = ++at;
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    if (at == digits)
        return NULL;
    at += at < end && *at == ',';
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at < end && *at == '}' ? at + 1 : NULL;
}

/* The end of what stands at `at` and is no letter; NULL if it is an alternative, or not understood. */
static const char *skip_special(const char *at, const char *end)
{
    switch (*at) {
    case '|':
        return NULL;
    case '\\':
        return skip_escape(at, end);
    case '[':
        return skip_bracket(at, end);
    case '(':
        return skip_group(at, end);
    case '{':
        return skip_repetition(at, end);
    default:
        return at + 1;
    }
}

/* The longest text outside of groups and brackets that is not repeated, in a pattern without alternatives there; or of
 * length 0. */
static struct string_value literal_of(const char *pattern, uint32_t length)
{
    const char *const end = pattern + length, *begin = pattern;
    struct string_value best = {pattern, 0};
    for (const char *at = pattern;;) {
        const bool plain = at < end && *at && !strchr("\\[](){}*+?.^$|", *at);
        if (plain && !(at + 1 < end && at[1] && strchr("*+?{", at[1]))) {
            at++;
            continue;
        }
        const char *stop = at; /* a repeated character may have several bytes */
        while (plain && stop > begin && ((unsigned char)*stop & 0xc0) == 0x80)
            stop--;
        if ((uint32_t)(stop - begin) > best.length)
            best = (struct string_value){begin, (uint32_t)(stop - begin)};
        if (at == end)
            return best;
        at = begin = plain ? at + 1 : skip_special(at, end);
        if (!at)
            return (struct string_value){pattern, 0};
    }
}

/* ---- Compiling ---- */

/* The bytes of the pattern that an error shows: whole characters. */
static int shown(const struct regular *regular)
{
    uint32_t bytes = regular->length < SHOWN_BYTES ? regular->length : SHOWN_BYTES;
    while (bytes > 0 && bytes < regular->length && ((unsigned char)regular->pattern[bytes] & 0xc0) == 0x80)
        bytes--;
    return (int)bytes;
}

static enum status refuse_pattern(const struct regular *regular, int code, size_t at, struct error *error)
{
    PCRE2_UCHAR reason[256] = "";
    if (code == PCRE2_ERROR_HEAP_FAILED || code == PCRE2_ERROR_NOMEMORY)
        return error_out_of_memory(error, regular->length, "a regular expression");
    if (code == PCRE2_ERROR_PATTERN_TOO_LARGE)
        return error_set(
            error, STATUS_BAD_INPUT,
            "the regular expression '%.*s' is too large when its repetitions {n,m} are written out; "
            "lower their numbers",
            shown(regular), regular->pattern);
    pcre2_get_error_message(code, reason, sizeof reason);
    return error_set(error, STATUS_BAD_INPUT, "the regular expression '%.*s' is wrong at byte %zu: %s",
                     shown(regular), regular->pattern, at + 1, (const char *)reason);
}

/* Whether the pattern looks ahead by (?=...), or by (*pla:...). PCRE2 10.42 looks for the character that must come first
 * and for that which must come last, and takes one in (?=...) for both: with (?=b)a?b it finds nothing in "ab". */
static bool looks_ahead(const char *pattern, uint32_t length)
{
    return memmem(pattern, length, "(?=", 3) || memmem(pattern, length, "(*", 2);
}

/* Compiles the pattern with the regular's options and more of them. */
static enum status compile_with(const struct regular *regular, uint32_t more, pcre2_code **compiled,
                                struct error *error)
{
    pcre2_compile_context *const context = pcre2_compile_context_create(NULL);
    PCRE2_SIZE at = 0;
    int code = PCRE2_ERROR_NOMEMORY;
    if (context) {
        pcre2_set_newline(context, PCRE2_NEWLINE_LF); /* libraries are built with different ones */
        pcre2_set_parens_nest_limit(context, REGULAR_NESTING_MAX);
        *compiled = pcre2_compile((PCRE2_SPTR)regular->pattern, regular->length, regular->options | more,
                                  &code, &at, context);
        pcre2_compile_context_free(context);
    }
    return *compiled ? STATUS_OK : refuse_pattern(regular, code, at, error);
}

/* A missing compiler of machine code, or memory that may not be executed, makes matching slower and changes no answer. */
static enum status compile(struct regular *regular, struct error *error)
{
    RETURN_IF_ERROR(compile_with(regular, 0, &regular->code, error));
    pcre2_pattern_info(regular->code, PCRE2_INFO_CAPTURECOUNT, &regular->groups);
    pcre2_jit_compile(regular->code, PCRE2_JIT_COMPLETE);
    regular->limits = pcre2_match_context_create(NULL);
    if (!regular->limits)
        return refuse_pattern(regular, PCRE2_ERROR_NOMEMORY, 0, error);
    pcre2_set_match_limit(regular->limits, REGULAR_STEPS_MAX);
    pcre2_set_depth_limit(regular->limits, REGULAR_STEPS_MAX);
    pcre2_set_heap_limit(regular->limits, REGULAR_HEAP_KIB);
    return STATUS_OK;
}

enum status regular_create(const char *pattern, uint32_t length, bool ignore_case, struct regular **out,
                           struct error *error)
{
    struct regular *regular;
    if (length > REGULAR_PATTERN_MAX)
        return error_set(error, STATUS_BAD_INPUT,
                         "a regular expression of %u bytes is longer than %u, the most that is read", length,
                         REGULAR_PATTERN_MAX);
    RETURN_IF_ERROR(memory_zeros(&regular, sizeof *regular, "a regular expression", error));
    enum status status = memory_take(&regular->pattern, (size_t)length + 1, "a regular expression", error);
    if (status == STATUS_OK) {
        memcpy(regular->pattern, pattern, length);
        regular->pattern[length] = '\0';
        regular->length = length;
        regular->options = PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C |
                           (ignore_case ? PCRE2_CASELESS : 0) |
                           (looks_ahead(pattern, length) ? PCRE2_NO_START_OPTIMIZE : 0);
        status = compile(regular, error);
    }
    if (status == STATUS_OK && !ignore_case)
        regular->needle = string_needle(literal_of(regular->pattern, length));
    if (status == STATUS_OK)
        *out = regular;
    else
        regular_free(regular);
    return status;
}

static void free_room(struct regular_room *room)
{
    if (!room)
        return;
    pcre2_match_data_free(room->data);
    pcre2_code_free(room->damaged);
    free(room);
}

void regular_free(struct regular *regular)
{
    if (!regular)
        return;
    for (unsigned r = 0; r < ROOMS; r++)
        free_room(regular->rooms[r]);
    pcre2_match_context_free(regular->limits);
    pcre2_code_free(regular->code);
    free(regular->pattern);
    free(regular);
}

/* ---- Matching ---- */

static enum status refuse_match(const struct regular *regular, int code, struct string_value string,
                                struct error *error)
{
    PCRE2_UCHAR reason[256] = "";
    switch (code) {
    case PCRE2_ERROR_NOMEMORY:
        return error_out_of_memory(error, string.length, "matching a regular expression");
    case PCRE2_ERROR_MATCHLIMIT:
    case PCRE2_ERROR_DEPTHLIMIT:
        return error_set(
            error, STATUS_BAD_INPUT,
            "the regular expression '%.*s' takes more than %u steps in a string of %u bytes; write "
            "it so that its repetitions cannot divide the same text in several ways",
            shown(regular), regular->pattern, REGULAR_STEPS_MAX, string.length);
    case PCRE2_ERROR_HEAPLIMIT:
        return error_set(
            error, STATUS_BAD_INPUT,
            "the regular expression '%.*s' needs more than %u MiB in a string of %u bytes; repeat "
            "characters, as [ab]*, where it repeats groups, as (a|b)*",
            shown(regular), regular->pattern, REGULAR_HEAP_KIB / 1024, string.length);
    default:
        pcre2_get_error_message(code, reason, sizeof reason);
        return error_set(error, STATUS_BAD_INPUT,
                         "the regular expression '%.*s' cannot be matched with a string of %u bytes: %s",
                         shown(regular), regular->pattern, string.length, (const char *)reason);
    }
}

/* A string in which matches are looked for, one after the other. */
struct search {
    struct regular *regular;
    struct regular_room *room; /* NULL before the first match; close_search gives it back */
    struct string_value string;
    const pcre2_code *code; /* for the string */
    uint32_t options;       /* of the match */
    /* Begin and end of the match and of each group, or PCRE2_UNSET; NULL: there is no match. */
    const PCRE2_SIZE *parts;
};

/* A thread finds the room again that it has had, without waiting for others. */
static unsigned own_place(void)
{
    static _Thread_local char own;
    return (unsigned)(hash_mix((uintptr_t)&own) % ROOMS);
}

static struct regular_room *take_room(struct regular *regular)
{
    const unsigned place = own_place();
    struct regular_room *room = NULL;
    for (unsigned i = 0; !room && i < ROOMS_TRIED; i++)
        room = atomic_exchange(&regular->rooms[(place + i) % ROOMS], NULL);
    return room ? room : calloc(1, sizeof *room);
}

static void close_search(const struct search *search)
{
    const unsigned place = own_place();
    struct regular_room *room = search->room;
    for (unsigned i = 0; room && i < ROOMS_TRIED; i++) {
        struct regular_room *none = NULL;
        if (atomic_compare_exchange_strong(&search->regular->rooms[(place + i) % ROOMS], &none, room))
            room = NULL;
    }
    free_room(room);
}

/* Takes a room, and chooses the code: strings that are UTF-8, as all that are loaded, take the fast one. */
static enum status begin_search(struct search *search, struct error *error)
{
    struct regular *const regular = search->regular;
    struct regular_room *const room = search->room = take_room(regular);
    if (room && !room->data)
        room->data = pcre2_match_data_create_from_pattern(regular->code, NULL);
    if (!room || !room->data)
        return error_out_of_memory(error, search->string.length, "matching a regular expression");
    if (utf8_is_valid(search->string.text, search->string.length)) {
        search->code = regular->code;
        search->options = PCRE2_NO_UTF_CHECK;
        return STATUS_OK;
    }
    if (!room->damaged)
        RETURN_IF_ERROR(compile_with(regular, PCRE2_MATCH_INVALID_UTF, &room->damaged, error));
    search->code = room->damaged;
    return STATUS_OK;
}

/* Finds the first match from byte `from` on. The parts are good until the next match. */
static enum status match(struct search *search, uint32_t from, struct error *error)
{
    const struct regular *const regular = search->regular;
    const struct string_value string = search->string;
    const PCRE2_SPTR text = (PCRE2_SPTR)string.text;
    search->parts = NULL;
    if (regular->needle.text.length && string_find(string, &regular->needle, from) == UINT32_MAX)
        return STATUS_OK;
    if (!search->room)
        RETURN_IF_ERROR(begin_search(search, error));
    RETURN_IF_ERROR(cancel_check(error)); /* a match may take 0.1 s */
    pcre2_match_data *const data = search->room->data;
    int code = pcre2_match(search->code, text, string.length, from, search->options, data, regular->limits);
    if (code == PCRE2_ERROR_JIT_STACKLIMIT) /* machine code has 32 KiB; the interpreter has its heap */
        code = pcre2_match(search->code, text, string.length, from, search->options | PCRE2_NO_JIT, data,
                           regular->limits);
    if (code == PCRE2_ERROR_NOMATCH)
        return STATUS_OK;
    if (code < 0)
        return refuse_match(regular, code, string, error);
    const PCRE2_SIZE *const parts = pcre2_get_ovector_pointer(data);
    if (parts[0] < from || parts[1] < parts[0]) /* by \K within (?=...), which PCRE2 allowed until 10.37 */
        return error_set(error, STATUS_BAD_INPUT,
                         "the regular expression '%.*s' has \\K where a match would end before it begins",
                         shown(regular), regular->pattern);
    search->parts = parts;
    return STATUS_OK;
}

enum status regular_matches(struct regular *regular, struct string_value string, bool *matches,
                            struct error *error)
{
    struct search search = {.regular = regular, .string = string};
    const enum status status = match(&search, 0, error);
    *matches = search.parts;
    close_search(&search);
    return status;
}

/* What group `group` is of the match; empty if it took no part. */
static struct string_value group_of(const struct search *search, uint32_t group)
{
    const PCRE2_SIZE *const part = search->parts + 2 * (size_t)group;
    if (group > search->regular->groups || part[0] == PCRE2_UNSET)
        return (struct string_value){"", 0};
    return (struct string_value){search->string.text + part[0], (uint32_t)(part[1] - part[0])};
}

enum status regular_extract(struct regular *regular, struct string_value string, uint32_t group,
                            struct string_value *part, struct error *error)
{
    struct search search = {.regular = regular, .string = string};
    const enum status status = match(&search, 0, error);
    *part = search.parts ? group_of(&search, group) : (struct string_value){"", 0};
    close_search(&search);
    return status;
}

/* Appends `by` with the groups that it names. */
static void put_replacement(const struct search *search, struct string_value by, struct string_buffer *out)
{
    for (uint32_t i = 0; i < by.length; i++)
        if (by.text[i] == '\\' && i + 1 < by.length && by.text[i + 1] >= '0' && by.text[i + 1] <= '9') {
            const struct string_value part = group_of(search, (uint32_t)(by.text[++i] - '0'));
            string_put(out, part.text, part.length);
        } else {
            string_put(out, by.text + i, 1);
        }
}

enum status regular_replace(struct regular *regular, struct string_value string, struct string_value by,
                            bool all, struct string_buffer *out, struct error *error)
{
    struct search search = {.regular = regular, .string = string};
    uint32_t at = 0, last_end = UINT32_MAX, from = 0;
    enum status status = STATUS_OK;
    for (bool more = true; more && from <= string.length;) {
        status = match(&search, from, error);
        if (status != STATUS_OK || !search.parts)
            break;
        const uint32_t begin = (uint32_t)search.parts[0], end = (uint32_t)search.parts[1];
        string_put(out, string.text + at, begin - at);
        if (begin < end || begin != last_end) {
            put_replacement(&search, by, out);
            more = all;
        }
        at = from = last_end = end;
        if (begin == end) /* go on after a character, which is put with what comes before the next match */
            from += end < string.length
                        ? string_character_bytes(string.text + end, string.text + string.length)
                        : 1;
    }
    string_put(out, string.text + at, string.length - at);
    close_search(&search);
    return status;
}

/* ---- Patterns that are computed ---- */

/* Of a thread and a pattern one place, which may be another's, too. */
#define PATTERNS 1024u

struct regular_patterns {
    struct regular *constant;
    bool ignore_case;
    struct regular *_Atomic kept[PATTERNS]; /* that no thread uses */
};

enum status regular_patterns_create(const struct string_value *constant, bool ignore_case,
                                    struct regular_patterns **out, struct error *error)
{
    struct regular_patterns *patterns;
    RETURN_IF_ERROR(memory_zeros(&patterns, sizeof *patterns, "a regular expression", error));
    patterns->ignore_case = ignore_case;
    const enum status status =
        constant ? regular_create(constant->text, constant->length, ignore_case, &patterns->constant, error)
                 : STATUS_OK;
    if (status == STATUS_OK)
        *out = patterns;
    else
        regular_patterns_free(patterns);
    return status;
}

void regular_patterns_free(struct regular_patterns *patterns)
{
    if (!patterns)
        return;
    regular_free(patterns->constant);
    for (unsigned p = 0; p < PATTERNS; p++)
        regular_free(patterns->kept[p]);
    free(patterns);
}

static struct regular *_Atomic *place_of(struct regular_patterns *patterns, const char *pattern,
                                         uint32_t length)
{
    return &patterns->kept[XXH3_64bits_withSeed(pattern, length, own_place()) % PATTERNS];
}

enum status regular_patterns_take(struct regular_patterns *patterns, struct string_value pattern,
                                  struct regular **regular, struct error *error)
{
    *regular = patterns->constant;
    if (*regular)
        return STATUS_OK;
    struct regular *const kept = atomic_exchange(place_of(patterns, pattern.text, pattern.length), NULL);
    if (kept && kept->length == pattern.length && memcmp(kept->pattern, pattern.text, pattern.length) == 0) {
        *regular = kept;
        return STATUS_OK;
    }
    regular_free(kept);
    return regular_create(pattern.text, pattern.length, patterns->ignore_case, regular, error);
}

void regular_patterns_give(struct regular_patterns *patterns, struct regular *regular)
{
    if (regular != patterns->constant)
        regular_free(atomic_exchange(place_of(patterns, regular->pattern, regular->length), regular));
}
