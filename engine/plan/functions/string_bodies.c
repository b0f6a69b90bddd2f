/* string_bodies.c: the functions of strings (string_call.h), as DuckDB has them. */
#include "engine/plan/functions/string_call.h"

/* ---- Characters ---- */

uint32_t string_character_bytes(const char *text, const char *end)
{
    const unsigned char first = (unsigned char)*text;
    const uint32_t bytes = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    return (uint64_t)(end - text) < bytes ? (uint32_t)(end - text) : bytes;
}

int64_t string_character_count(struct string_value string)
{
    int64_t count = 0;
    for (uint32_t i = 0; i < string.length; i++)
        count += ((unsigned char)string.text[i] & 0xc0) != 0x80;
    return count;
}

uint32_t string_character_at(struct string_value string, int64_t number)
{
    uint32_t at = 0;
    for (; number > 0 && at < string.length; number--)
        at += string_character_bytes(string.text + at, string.text + string.length);
    return at;
}

/* The byte at which `what` is first in `string`, from byte `from` on; UINT32_MAX if it is not. */
static uint32_t find(struct string_value string, struct string_value what, uint32_t from)
{
    for (uint32_t at = from; string.length - at >= what.length; at++) {
        if (what.length == 0)
            return at;
        const char *const next = memchr(string.text + at, what.text[0], string.length - at - what.length + 1);
        if (!next)
            return UINT32_MAX;
        at = (uint32_t)(next - string.text);
        if (memcmp(next, what.text, what.length) == 0)
            return at;
    }
    return UINT32_MAX;
}

/* ---- Parts ---- */

void string_left(const struct string_call *call, const struct string_value *s, struct string_result *result)
{
    int64_t count = call->numbers[0];
    if (count < 0)
        count += string_character_count(s[0]);
    string_put(result->text, s[0].text, string_character_at(s[0], count));
}

void string_right(const struct string_call *call, const struct string_value *s, struct string_result *result)
{
    const int64_t count = call->numbers[0];
    const uint32_t begin =
        string_character_at(s[0], count < 0 ? -count : string_character_count(s[0]) - count);
    string_put(result->text, s[0].text + begin, s[0].length - begin);
}

void string_split_part(const struct string_call *call, const struct string_value *s,
                       struct string_result *result)
{
    int64_t part = call->numbers[0];
    uint32_t at = 0, found;
    if (s[1].length == 0) { /* nothing separates, so there is one part */
        if (part == 1 || part == -1)
            string_put(result->text, s[0].text, s[0].length);
        return;
    }
    if (part < 0) {
        part++;
        for (uint32_t from = 0; (found = find(s[0], s[1], from)) != UINT32_MAX; from = found + s[1].length)
            part++;
        part++; /* the number of parts is one more than that of separators */
    }
    while (part > 1 && (found = find(s[0], s[1], at)) != UINT32_MAX) {
        at = found + s[1].length;
        part--;
    }
    found = find(s[0], s[1], at);
    if (part == 1)
        string_put(result->text, s[0].text + at, (found == UINT32_MAX ? s[0].length : found) - at);
}

static bool is_among(const char *character, uint32_t bytes, struct string_value set)
{
    for (uint32_t at = 0; at < set.length;) {
        const uint32_t here = string_character_bytes(set.text + at, set.text + set.length);
        if (here == bytes && memcmp(set.text + at, character, bytes) == 0)
            return true;
        at += here;
    }
    return false;
}

void string_trim(const struct string_call *call, const struct string_value *s, struct string_result *result)
{
    const char *text = s[0].text, *end = s[0].text + s[0].length;
    while (call->numbers[0] & 1 && text < end) {
        const uint32_t bytes = string_character_bytes(text, end);
        if (!is_among(text, bytes, s[1]))
            break;
        text += bytes;
    }
    while (call->numbers[0] & 2 && text < end) {
        const char *last = end - 1;
        while (last > text && ((unsigned char)*last & 0xc0) == 0x80)
            last--;
        if (!is_among(last, (uint32_t)(end - last), s[1]))
            break;
        end = last;
    }
    string_put(result->text, text, (uint64_t)(end - text));
}

/* ---- Made strings ---- */

void string_concat(const struct string_call *call, const struct string_value *s, struct string_result *result)
{
    for (uint32_t i = 0; i < call->count; i++)
        string_put(result->text, s[i].text, s[i].length);
}

void string_replace(const struct string_call *call, const struct string_value *s,
                    struct string_result *result)
{
    uint32_t at = 0, found;
    (void)call;
    while (s[1].length && (found = find(s[0], s[1], at)) != UINT32_MAX) {
        string_put(result->text, s[0].text + at, found - at);
        string_put(result->text, s[2].text, s[2].length);
        at = found + s[1].length;
    }
    string_put(result->text, s[0].text + at, s[0].length - at);
}

void string_pad(const struct string_call *call, const struct string_value *s, struct string_result *result)
{
    const int64_t characters = string_character_count(s[0]), wanted = call->numbers[0];
    const uint32_t kept = string_character_at(s[0], wanted);
    if (call->numbers[1])
        string_put(result->text, s[0].text, kept);
    uint32_t at = 0;
    for (int64_t missing = wanted - characters; missing > 0 && s[1].length; missing--) {
        const uint32_t bytes = string_character_bytes(s[1].text + at, s[1].text + s[1].length);
        string_put(result->text, s[1].text + at, bytes);
        at = at + bytes == s[1].length ? 0 : at + bytes;
    }
    if (!call->numbers[1])
        string_put(result->text, s[0].text, kept);
}

void string_repeat(const struct string_call *call, const struct string_value *s, struct string_result *result)
{
    for (int64_t i = 0; i < call->numbers[0] && !result->text->failed; i++)
        string_put(result->text, s[0].text, s[0].length);
}

void string_reverse(const struct string_call *call, const struct string_value *s,
                    struct string_result *result)
{
    const char *end = s[0].text + s[0].length;
    (void)call;
    while (end > s[0].text) {
        const char *last = end - 1;
        while (last > s[0].text && ((unsigned char)*last & 0xc0) == 0x80)
            last--;
        string_put(result->text, last, (uint64_t)(end - last));
        end = last;
    }
}

/* ---- Upper and lower case ---- */

/* Ranges of characters from `first` to `last`, of which every `step`-th becomes another by adding `change`. */
struct case_range {
    uint32_t first, last, step;
    int32_t change;
};
#include "engine/plan/functions/case_table.h"

static uint32_t change_of(const struct case_range *ranges, size_t count, uint32_t character)
{
    size_t low = 0;
    for (size_t left = count; left > 1; left -= left / 2)
        if (ranges[low + left / 2].first <= character)
            low += left / 2;
    const struct case_range *range = &ranges[low];
    if (character < range->first || character > range->last || (character - range->first) % range->step)
        return character;
    return character + (uint32_t)range->change;
}

uint32_t case_upper(uint32_t character)
{
    if (character < 0x80)
        return character - (character >= 'a' && character <= 'z' ? 'a' - 'A' : 0);
    return change_of(upper_ranges, sizeof upper_ranges / sizeof *upper_ranges, character);
}

uint32_t case_lower(uint32_t character)
{
    if (character < 0x80)
        return character + (character >= 'A' && character <= 'Z' ? 'a' - 'A' : 0);
    return change_of(lower_ranges, sizeof lower_ranges / sizeof *lower_ranges, character);
}

/* The character that `bytes` bytes of UTF-8 encode; UINT32_MAX if they encode none. */
static uint32_t decode(const char *text, uint32_t bytes)
{
    static const unsigned char marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
    uint32_t character = (unsigned char)text[0];
    if (bytes == 1)
        return character < 0x80 ? character : UINT32_MAX;
    character ^= marks[bytes];
    for (uint32_t i = 1; i < bytes; i++) {
        if (((unsigned char)text[i] & 0xc0) != 0x80)
            return UINT32_MAX;
        character = character << 6 | ((unsigned char)text[i] & 0x3f);
    }
    return character;
}

static uint32_t encode(uint32_t character, char *text)
{
    const uint32_t bytes = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    static const unsigned char marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (uint32_t i = bytes - 1; i > 0; i--, character >>= 6)
        text[i] = (char)(0x80 | (character & 0x3f));
    text[0] = (char)(marks[bytes] | character);
    return bytes;
}

static void change_case(struct string_value string, uint32_t (*change)(uint32_t),
                        struct string_result *result)
{
    for (uint32_t at = 0; at < string.length;) {
        char changed[4];
        const uint32_t bytes = string_character_bytes(string.text + at, string.text + string.length);
        const uint32_t character = decode(string.text + at, bytes);
        if (character == UINT32_MAX)
            string_put(result->text, string.text + at, bytes);
        else
            string_put(result->text, changed, encode(change(character), changed));
        at += bytes;
    }
}

void string_upper(const struct string_call *call, const struct string_value *s, struct string_result *result)
{
    (void)call;
    change_case(s[0], case_upper, result);
}

void string_lower(const struct string_call *call, const struct string_value *s, struct string_result *result)
{
    (void)call;
    change_case(s[0], case_lower, result);
}

/* ---- Numbers and truth values ---- */

void string_bytes(const struct string_call *call, const struct string_value *s, struct string_result *result)
{
    (void)call;
    result->number = s[0].length;
}

void string_position(const struct string_call *call, const struct string_value *s,
                     struct string_result *result)
{
    const uint32_t found = find(s[0], s[1], 0);
    (void)call;
    result->number =
        found == UINT32_MAX ? 0 : 1 + string_character_count((struct string_value){s[0].text, found});
}

void string_starts_with(const struct string_call *call, const struct string_value *s,
                        struct string_result *result)
{
    (void)call;
    result->number = s[0].length >= s[1].length && memcmp(s[0].text, s[1].text, s[1].length) == 0;
}

void string_ends_with(const struct string_call *call, const struct string_value *s,
                      struct string_result *result)
{
    (void)call;
    result->number = s[0].length >= s[1].length &&
                     memcmp(s[0].text + s[0].length - s[1].length, s[1].text, s[1].length) == 0;
}

void string_contains(const struct string_call *call, const struct string_value *s,
                     struct string_result *result)
{
    (void)call;
    result->number = find(s[0], s[1], 0) != UINT32_MAX;
}

/* ---- LIKE ---- */

static bool same_character(const char *a, uint32_t a_bytes, const char *b, uint32_t b_bytes,
                           enum like_case letters)
{
    if (a_bytes == b_bytes && memcmp(a, b, a_bytes) == 0)
        return true;
    if (letters == LIKE_CASE_MATTERS || (letters == LIKE_IGNORES_ASCII && (a_bytes > 1 || b_bytes > 1)))
        return false;
    const uint32_t x = decode(a, a_bytes), y = decode(b, b_bytes);
    return x != UINT32_MAX && y != UINT32_MAX && case_lower(x) == case_lower(y);
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

void string_like(const struct string_call *call, const struct string_value *s, struct string_result *result)
{
    result->number = like(s[0].text, s[0].text + s[0].length, call->context);
}
