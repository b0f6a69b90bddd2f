/*
 * string_like.c: LIKE and ILIKE (string_body.h).
 *
 * A pattern without _ is parts of text with any text between them. They are found one after the other, each by its
 * rarest byte (string_find). Case is ignored by comparing the text and the parts in lower case. A pattern with _ is
 * matched character by character, as is one that is computed, because it may be another one for each string.
 */
#include "engine/function/string_body.h"
#include "storage/base/memory.h"

#include <stdlib.h>

static bool same_character(const char *a, uint32_t a_bytes, const char *b, uint32_t b_bytes,
                           enum like_case letters)
{
    if (a_bytes == b_bytes && memcmp(a, b, a_bytes) == 0)
        return true;
    return letters != LIKE_CASE_MATTERS && (letters == LIKE_IGNORES_CASE || (a_bytes == 1 && b_bytes == 1)) &&
           string_same_letter(a, a_bytes, b, b_bytes);
}

/* Matches a pattern. After a mismatch it goes back to the last %, so its time is at most the product of both
 * lengths. */
static bool like(const char *text, const char *text_end, const struct like_pattern *of)
{
    const char *pattern = of->text, *const pattern_end = of->text + of->length;
    const char *retry_text = NULL, *retry_pattern = NULL;
    for (;;) {
        if (pattern < pattern_end && *pattern == '%' && of->escape != '%') {
            retry_pattern = ++pattern;
            retry_text = text;
            continue;
        }
        if (pattern == pattern_end && text == text_end)
            return true;
        bool matches = false;
        const char *next = pattern;
        uint32_t taken = 1;
        if (pattern < pattern_end && text < text_end) {
            const bool escaped = of->escape && *pattern == of->escape;
            if (escaped && ++next == pattern_end)
                return false;
            taken = string_character_bytes(text, text_end);
            const uint32_t bytes = string_character_bytes(next, pattern_end);
            matches = (!escaped && *next == '_') || same_character(text, taken, next, bytes, of->letters);
            next += bytes;
        }
        if (matches) {
            text += taken;
            pattern = next;
            continue;
        }
        if (!retry_pattern || retry_text >= text_end)
            return false;
        retry_text += string_character_bytes(retry_text, text_end);
        text = retry_text;
        pattern = retry_pattern;
    }
}

/* ---- Parts ---- */

struct like_part {
    struct string_value text;
    struct string_needle needle;
};

struct like_matcher {
    struct like_pattern pattern; /* its text is the matcher's own */
    bool by_parts;
    bool open_begin, open_end; /* any text may be before the first part, or after the last one */
    uint32_t part_count;
    struct like_part *parts;
    struct string_buffer text; /* of all parts */
};

static void fold(enum like_case letters, struct string_value string, struct string_buffer *out)
{
    if (letters == LIKE_IGNORES_CASE)
        string_put_lower(string, out);
    else
        string_put_ascii_lower(string, out);
}

/* Takes the parts of the pattern, whose text the buffer gets; false if it must be matched by characters. */
static bool take_parts(struct like_matcher *matcher)
{
    const struct like_pattern *of = &matcher->pattern;
    bool open = false;
    matcher->open_begin = of->length && of->text[0] == '%' && of->escape != '%';
    for (uint32_t at = 0; at < of->length; at++) {
        const bool escaped = of->escape && of->text[at] == of->escape;
        if (escaped && ++at == of->length)
            return false;
        if (!escaped && of->text[at] == '_')
            return false;
        if (!escaped && of->text[at] == '%') {
            open = true;
            continue;
        }
        if (open || matcher->part_count == 0)
            matcher->parts[matcher->part_count++].text = (struct string_value){of->text, 0};
        open = false;
        string_put(&matcher->text, &of->text[at], 1);
        matcher->parts[matcher->part_count - 1].text.length++;
    }
    matcher->open_end = open;
    return !matcher->text.failed;
}

/* Puts the parts into the case that they are compared in. */
static bool fold_parts(struct like_matcher *matcher)
{
    struct string_buffer folded = {0};
    uint64_t from = 0;
    uint64_t *const starts = malloc((matcher->part_count + 1) * sizeof *starts);
    for (uint32_t p = 0; starts && p < matcher->part_count; p++) {
        struct like_part *part = &matcher->parts[p];
        const struct string_value text = {matcher->text.bytes + from, part->text.length};
        from += text.length;
        starts[p] = folded.used;
        if (matcher->pattern.letters == LIKE_CASE_MATTERS)
            string_put(&folded, text.text, text.length);
        else
            fold(matcher->pattern.letters, text, &folded);
        part->text.length = (uint32_t)(folded.used - starts[p]);
    }
    for (uint32_t p = 0; starts && !folded.failed && p < matcher->part_count; p++) {
        matcher->parts[p].text.text = folded.bytes + starts[p];
        matcher->parts[p].needle = string_needle(matcher->parts[p].text);
    }
    free(matcher->text.bytes);
    matcher->text = folded;
    const bool made = starts && !folded.failed;
    free(starts);
    return made;
}

enum status like_matcher_create(const struct like_pattern *pattern, struct like_matcher **out,
                                struct error *error)
{
    struct like_matcher *matcher;
    RETURN_IF_ERROR(memory_zeros(&matcher, sizeof *matcher, "a pattern", error));
    char *text = NULL;
    enum status status =
        memory_zeros(&matcher->parts, (pattern->length + 1) * sizeof *matcher->parts, "a pattern", error);
    if (status == STATUS_OK)
        status = memory_take(&text, pattern->length + 1, "a pattern", error);
    matcher->pattern = *pattern;
    matcher->pattern.text = text;
    if (status != STATUS_OK) {
        like_matcher_free(matcher);
        return status;
    }
    memcpy(text, pattern->text, pattern->length);
    matcher->by_parts = take_parts(matcher) && fold_parts(matcher);
    *out = matcher;
    return STATUS_OK;
}

void like_matcher_free(struct like_matcher *matcher)
{
    free((char *)matcher->pattern.text);
    free(matcher->parts);
    free(matcher->text.bytes);
    free(matcher);
}

static bool begins_with(struct string_value string, struct string_value with)
{
    return string.length >= with.length && memcmp(string.text, with.text, with.length) == 0;
}

/* Finds the parts, each at its first place after the part before; the last one at the end, if it must be there. */
static bool match_parts(const struct like_matcher *matcher, struct string_value string)
{
    uint32_t first = 0, count = matcher->part_count;
    if (count == 0)
        return matcher->open_begin || string.length == 0;
    if (!matcher->open_begin) {
        const struct string_value begin = matcher->parts[0].text;
        if (!begins_with(string, begin) ||
            (count == 1 && !matcher->open_end && string.length != begin.length))
            return false;
        string.text += begin.length;
        string.length -= begin.length;
        first = 1;
    }
    if (first < count && !matcher->open_end) {
        const struct string_value end = matcher->parts[--count].text;
        if (string.length < end.length ||
            memcmp(string.text + string.length - end.length, end.text, end.length) != 0)
            return false;
        string.length -= end.length;
    }
    for (uint32_t p = first; p < count; p++) {
        const uint32_t found = string_find(string, &matcher->parts[p].needle, 0);
        if (found == UINT32_MAX)
            return false;
        const uint32_t taken = found + matcher->parts[p].text.length;
        string.text += taken;
        string.length -= taken;
    }
    return true;
}

bool like_matches(const struct like_matcher *matcher, struct string_value string,
                  struct string_buffer *scratch)
{
    const struct like_pattern *const pattern = &matcher->pattern;
    if (!matcher->by_parts)
        return like(string.text, string.text + string.length, pattern);
    if (pattern->letters == LIKE_CASE_MATTERS)
        return match_parts(matcher, string);
    const uint64_t start = scratch->used;
    fold(pattern->letters, string, scratch);
    if (scratch->failed)
        return false;
    const uint64_t length = scratch->used - start;
    scratch->used = start;
    return match_parts(matcher,
                       (struct string_value){length ? scratch->bytes + start : "", (uint32_t)length});
}

void string_like(const struct string_call *call, const struct string_value *s, struct string_result *result)
{
    result->number = like_matches(call->context, s[0], result->text);
}

void string_like_computed(const struct string_call *call, const struct string_value *s,
                          struct string_result *result)
{
    struct like_pattern pattern = {
        .text = s[1].text, .length = s[1].length, .letters = (enum like_case)call->numbers[0]};
    if (call->count > 2 && s[2].length > 1) {
        result->status =
            error_set(result->error, STATUS_BAD_INPUT, "ESCAPE takes one character of ASCII, not '%.*s'",
                      (int)s[2].length, s[2].text);
        return;
    }
    if (call->count > 2 && s[2].length)
        pattern.escape = *s[2].text;
    result->number = like(s[0].text, s[0].text + s[0].length, &pattern);
}
