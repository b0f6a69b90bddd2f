/* string_bodies.c: the functions of strings (string_body.h), as DuckDB has them. */
#include "engine/function/string_body.h"

#include <stdlib.h>

/* ---- Text ---- */

void string_put(struct string_buffer *buffer, const char *text, uint64_t length)
{
    if (buffer->failed || length == 0)
        return;
    if (length > buffer->capacity - buffer->used) {
        const uint64_t capacity = 2 * (buffer->used + length) + 4096;
        char *const grown = realloc(buffer->bytes, capacity);
        buffer->failed = !grown;
        if (!grown)
            return;
        buffer->bytes = grown;
        buffer->capacity = capacity;
    }
    memcpy(buffer->bytes + buffer->used, text, length);
    buffer->used += length;
}

/* ---- Characters ---- */

uint32_t string_character_bytes(const char *text, const char *end)
{
    const unsigned char first = (unsigned char)*text;
    const uint32_t bytes = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    return (uint64_t)(end - text) < bytes ? (uint32_t)(end - text) : bytes;
}

static uint64_t eight_bytes(const char *text)
{
    uint64_t bytes;
    memcpy(&bytes, text, sizeof bytes);
    return bytes;
}

int64_t string_character_count(struct string_value string)
{
    int64_t count = 0;
    uint32_t i = 0;
    for (; i + 8 <= string.length; i += 8) { /* the bytes 10...... go on with a character */
        const uint64_t bytes = eight_bytes(string.text + i);
        const uint64_t within = bytes >> 7 & ~(bytes >> 6) & UINT64_C(0x0101010101010101);
        count += 8 - (int64_t)(within * UINT64_C(0x0101010101010101) >> 56);
    }
    for (; i < string.length; i++)
        count += ((unsigned char)string.text[i] & 0xc0) != 0x80;
    return count;
}

bool string_is_ascii(struct string_value string)
{
    uint64_t all = 0;
    uint32_t i = 0;
    for (; i + 8 <= string.length; i += 8)
        all |= eight_bytes(string.text + i);
    for (; i < string.length; i++)
        all |= (unsigned char)string.text[i];
    return (all & UINT64_C(0x8080808080808080)) == 0;
}

uint32_t string_character_at(struct string_value string, int64_t number)
{
    uint32_t at = 0;
    const int64_t bytes = number < string.length ? number : string.length;
    if (number <= 0 || string_is_ascii((struct string_value){string.text, (uint32_t)bytes}))
        return number <= 0 ? 0 : (uint32_t)bytes;
    for (; number > 0 && at < string.length; number--)
        at += string_character_bytes(string.text + at, string.text + string.length);
    return at;
}

/* How common a byte is in addresses, names and text: 0 is rare. */
static const unsigned char common[256] = {
    [' '] = 40, ['e'] = 39, ['t'] = 38, ['a'] = 37, ['o'] = 36, ['i'] = 35, ['/'] = 34, ['n'] = 33,
    ['s'] = 32, ['r'] = 31, ['.'] = 30, ['c'] = 29, ['h'] = 28, ['l'] = 27, ['d'] = 26, ['m'] = 25,
    ['p'] = 24, ['u'] = 23, ['0'] = 22, ['1'] = 21, ['2'] = 20, ['w'] = 19, ['g'] = 18, ['-'] = 17,
    [':'] = 16, ['3'] = 15, ['5'] = 14, ['4'] = 13, ['f'] = 12, ['b'] = 11, ['y'] = 10, ['6'] = 9,
    ['8'] = 8,  ['9'] = 7,  ['7'] = 6,  ['v'] = 5,  ['k'] = 4,  ['_'] = 3,  ['='] = 2,  ['&'] = 1};

struct string_needle string_needle(struct string_value text)
{
    struct string_needle needle = {.text = text};
    for (uint32_t i = 1; i < text.length; i++)
        if (common[(unsigned char)text.text[i]] < common[(unsigned char)text.text[needle.rarest]])
            needle.rarest = i;
    return needle;
}

uint32_t string_find(struct string_value string, const struct string_needle *needle, uint32_t from)
{
    const struct string_value what = needle->text;
    if (what.length == 0)
        return from;
    while (string.length - from >= what.length) {
        const char *const begin = string.text + from + needle->rarest;
        const char *const next =
            memchr(begin, what.text[needle->rarest], string.length - from - what.length + 1);
        if (!next)
            break;
        from += (uint32_t)(next - begin);
        if (memcmp(string.text + from, what.text, what.length) == 0)
            return from;
        from++;
    }
    return UINT32_MAX;
}

/* The byte at which `what` is first in `string`, from byte `from` on; UINT32_MAX if it is not. */
static uint32_t find(struct string_value string, struct string_value what, uint32_t from)
{
    const struct string_needle needle = string_needle(what);
    return string_find(string, &needle, from);
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

/* substr as in SQLite: `first` counts from 1, or from the end if it is negative; 0 is the place before the
 * first character. A negative count takes the characters before `first`. */
static void substr(const char **text, uint32_t *length, int64_t first, int64_t count)
{
    if (first < 0) {
        first += string_character_count((struct string_value){*text, *length});
        if (first < 0) {
            if (count >= 0)
                count = count + first < 0 ? 0 : count + first;
            first = 0;
        }
    } else if (first > 0) {
        first--;
    } else if (count > 0) {
        count--;
    }
    if (count < 0) {
        count = -count;
        if (count > first)
            count = first;
        first -= count;
    }
    const uint32_t begin = string_character_at((struct string_value){*text, *length}, first);
    *text += begin;
    *length = string_character_at((struct string_value){*text, *length - begin}, count);
}

void string_substr(const struct string_call *call, const struct string_value *strings,
                   struct string_result *result)
{
    struct string_value part = strings[0];
    substr(&part.text, &part.length, call->numbers[0], call->numbers[1]);
    string_put(result->text, part.text, part.length);
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

void string_order(const struct string_call *call, const struct string_value *s, struct string_result *result)
{
    const uint32_t shorter = s[0].length < s[1].length ? s[0].length : s[1].length;
    const int order = memcmp(s[0].text, s[1].text, shorter);
    (void)call;
    result->number =
        order ? (order > 0) - (order < 0) : (s[0].length > s[1].length) - (s[0].length < s[1].length);
}

static int order_of(struct string_value a, struct string_value b)
{
    const int order = memcmp(a.text, b.text, a.length < b.length ? a.length : b.length);
    return order ? order : (a.length > b.length) - (a.length < b.length);
}

void string_is_among(const struct string_call *call, const struct string_value *s,
                     struct string_result *result)
{
    const struct string_list *const list = call->context;
    uint32_t first = 0;
    for (uint32_t left = list->count; left > 1; left -= left / 2)
        first += order_of(list->strings[first + left / 2], s[0]) <= 0 ? left / 2 : 0;
    result->number = list->count > 0 && order_of(list->strings[first], s[0]) == 0;
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
#include "engine/function/case_table.h"
#include "storage/base/words/utf8.h"
#include "storage/base/text/json_scan.h"

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

bool string_same_letter(const char *a, uint32_t a_bytes, const char *b, uint32_t b_bytes)
{
    const uint32_t x = decode(a, a_bytes), y = decode(b, b_bytes);
    return x != UINT32_MAX && y != UINT32_MAX && case_lower(x) == case_lower(y);
}

/* Copies the string with ASCII letters from `first` on changed to the other case. */
static void put_ascii(struct string_value string, char first, struct string_buffer *out)
{
    const uint64_t start = out->used;
    string_put(out, string.text, string.length);
    for (uint32_t i = 0; !out->failed && i < string.length; i++) {
        char *const at = &out->bytes[start + i];
        *at = (char)(*at ^ ((unsigned char)(*at - first) < 26 ? 'a' - 'A' : 0));
    }
}

void string_put_ascii_lower(struct string_value string, struct string_buffer *out)
{
    put_ascii(string, 'A', out);
}

static void change_case(struct string_value string, bool lower, struct string_buffer *out)
{
    if (string_is_ascii(string)) {
        put_ascii(string, lower ? 'A' : 'a', out);
        return;
    }
    for (uint32_t at = 0; at < string.length;) {
        char changed[4];
        const uint32_t bytes = string_character_bytes(string.text + at, string.text + string.length);
        const uint32_t character = decode(string.text + at, bytes);
        if (character == UINT32_MAX)
            string_put(out, string.text + at, bytes);
        else
            string_put(out, changed,
                       (uint32_t)utf8_write(lower ? case_lower(character) : case_upper(character), changed));
        at += bytes;
    }
}

void string_put_lower(struct string_value string, struct string_buffer *out)
{
    change_case(string, true, out);
}

void string_upper(const struct string_call *call, const struct string_value *s, struct string_result *result)
{
    (void)call;
    change_case(s[0], false, result->text);
}

void string_lower(const struct string_call *call, const struct string_value *s, struct string_result *result)
{
    (void)call;
    change_case(s[0], true, result->text);
}

/* Letters and digits of ASCII, and all other characters beyond it, are in words. */
static bool is_in_word(unsigned char first)
{
    return first >= 0x80 || (first >= '0' && first <= '9') ||
           ((first | 0x20) >= 'a' && (first | 0x20) <= 'z');
}

void string_initcap(const struct string_call *call, const struct string_value *s,
                    struct string_result *result)
{
    bool within = false;
    (void)call;
    for (uint32_t at = 0; at < s[0].length;) {
        const uint32_t bytes = string_character_bytes(s[0].text + at, s[0].text + s[0].length);
        change_case((struct string_value){s[0].text + at, bytes}, within, result->text);
        within = is_in_word((unsigned char)s[0].text[at]);
        at += bytes;
    }
}

void string_translate(const struct string_call *call, const struct string_value *s,
                      struct string_result *result)
{
    (void)call;
    for (uint32_t at = 0; at < s[0].length;) {
        const uint32_t bytes = string_character_bytes(s[0].text + at, s[0].text + s[0].length);
        const uint32_t found = find(s[1], (struct string_value){s[0].text + at, bytes}, 0);
        if (found == UINT32_MAX) {
            string_put(result->text, s[0].text + at, bytes);
        } else {
            const int64_t place = string_character_count((struct string_value){s[1].text, found});
            const uint32_t to = string_character_at(s[2], place);
            if (to < s[2].length)
                string_put(result->text, s[2].text + to,
                           string_character_bytes(s[2].text + to, s[2].text + s[2].length));
        }
        at += bytes;
    }
}

/* ---- Numbers and truth values ---- */

void string_first_code(const struct string_call *call, const struct string_value *s,
                       struct string_result *result)
{
    const uint32_t code =
        s[0].length ? decode(s[0].text, string_character_bytes(s[0].text, s[0].text + s[0].length)) : 0;
    result->number = s[0].length == 0     ? call->numbers[0]
                     : code == UINT32_MAX ? (unsigned char)s[0].text[0]
                                          : (int64_t)code;
}

/* The characters of a string, by their first bytes; NULL if there is no memory. */
static uint32_t *places(struct string_value s, uint32_t *count)
{
    uint32_t *const starts = malloc((s.length + 1ull) * sizeof *starts);
    *count = 0;
    for (uint32_t at = 0; starts && at < s.length;
         at += string_character_bytes(s.text + at, s.text + s.length))
        starts[(*count)++] = at;
    if (starts)
        starts[*count] = s.length;
    return starts;
}

static bool same(struct string_value a, const uint32_t *a_places, uint32_t i, struct string_value b,
                 const uint32_t *b_places, uint32_t j)
{
    const uint32_t bytes = a_places[i + 1] - a_places[i];
    return bytes == b_places[j + 1] - b_places[j] &&
           memcmp(a.text + a_places[i], b.text + b_places[j], bytes) == 0;
}

/* Levenshtein's distance, a row of the table after the other. */
void string_distance(const struct string_call *call, const struct string_value *s,
                     struct string_result *result)
{
    uint32_t m, n;
    uint32_t *const a = places(s[0], &m), *const b = places(s[1], &n);
    uint32_t *const row = malloc((s[1].length + 1ull) * sizeof *row);
    (void)call;
    if (!a || !b || !row)
        result->status = error_out_of_memory(result->error, s[1].length, "the distance of strings");
    for (uint32_t j = 0; result->status == STATUS_OK && j <= n; j++)
        row[j] = j;
    for (uint32_t i = 0; result->status == STATUS_OK && i < m; i++) {
        uint32_t before = row[0];
        row[0] = i + 1;
        for (uint32_t j = 0; j < n; j++) {
            const uint32_t changed = before + !same(s[0], a, i, s[1], b, j);
            const uint32_t grown = (row[j] < row[j + 1] ? row[j] : row[j + 1]) + 1;
            before = row[j + 1];
            row[j + 1] = changed < grown ? changed : grown;
        }
    }
    if (result->status == STATUS_OK)
        result->number = row[n];
    free(a);
    free(b);
    free(row);
}

void string_bytes(const struct string_call *call, const struct string_value *s, struct string_result *result)
{
    (void)call;
    result->number = s[0].length;
}

void string_characters(const struct string_call *call, const struct string_value *s,
                       struct string_result *result)
{
    (void)call;
    result->number = string_character_count(s[0]);
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

void string_json_valid(const struct string_call *call, const struct string_value *strings,
                       struct string_result *result)
{
    struct json_scanned value;
    (void)call;
    result->number = !json_scan_text(strings[0].text, strings[0].length, &value);
}
