/* text_marks.c: numbers as people write them: marks between thousands and before decimals, signs of currencies, percents.
 * They become plain numbers in text, which the other files read, so that decimals stay exact. Some 20 ns a number. */
#include "loader/text/text_value_internal.h"

#include <string.h>

/* The bytes of a blank at `at`: also of one that does not break lines, or is narrow; 0: none is there. */
static uint32_t blank_length(const char *at, const char *end)
{
    const size_t left = (size_t)(end - at);
    if (left >= 1 && (*at == ' ' || *at == '\t'))
        return 1;
    if (left >= 2 && memcmp(at, "\xc2\xa0", 2) == 0)
        return 2;
    return left >= 3 && (memcmp(at, "\xe2\x80\xaf", 3) == 0 || memcmp(at, "\xe2\x80\x89", 3) == 0) ? 3 : 0;
}

static const char *blanks_skip(const char *at, const char *end)
{
    for (uint32_t length; (length = blank_length(at, end)); at += length)
        ;
    return at;
}

/* The end without the blanks before it. */
static const char *blanks_drop(const char *begin, const char *end)
{
    for (uint32_t length = 1; length <= 3;) {
        const bool blank = end - begin >= (ptrdiff_t)length && blank_length(end - length, end) == length;
        end -= blank ? length : 0;
        length = blank ? 1 : length + 1;
    }
    return end;
}

/* The bytes of a mark between thousands at `at`: ' may be typeset, a blank may be one that does not break lines. */
static uint32_t thousands_length(const struct text_reading *reading, const char *at, const char *end)
{
    if (reading->thousands == ' ')
        return blank_length(at, end);
    if (*at == reading->thousands && reading->thousands)
        return 1;
    return reading->thousands == '\'' && end - at >= 3 && memcmp(at, "\xe2\x80\x99", 3) == 0 ? 3 : 0;
}

/* Writes the digits from `at` after the *count bytes that there are. */
static bool unmark_digits(const struct text_reading *reading, const char *at, const char *end,
                          char plain[TEXT_NUMBER_BYTES], uint32_t *count)
{
    const char point = reading->decimal_mark ? reading->decimal_mark : '.';
    uint32_t group = 0;
    bool marked = false, whole = true;
    while (at < end) {
        const uint32_t mark = whole ? thousands_length(reading, at, end) : 0;
        if (mark) {
            if (group == 0 || group > 3 || (marked && group != 3))
                return false;
            marked = true;
            group = 0;
            at += mark;
            continue;
        }
        if (*count == TEXT_NUMBER_BYTES || (*at == '.' && point != '.'))
            return false;
        if (is_digit(*at))
            group++;
        else if (marked && whole && group != 3)
            return false;
        whole &= is_digit(*at) || *count == 0; /* a sign comes first */
        plain[(*count)++] = *at == point ? '.' : *at;
        at++;
    }
    return !(marked && whole && group != 3);
}

/* A number between signs. */
struct signs {
    const char *at, *end;
    char sign; /* + or -, or 0 */
    bool currency, percent;
};

static bool skip_currency(const struct text_reading *reading, struct signs *signs, bool front)
{
    const size_t length = strlen(reading->currency);
    const char *const at = front ? signs->at : signs->end - length;
    if (!length || signs->currency || (size_t)(signs->end - signs->at) < length ||
        memcmp(at, reading->currency, length) != 0)
        return false;
    signs->currency = true;
    signs->at += front ? length : 0;
    signs->end -= front ? 0 : length;
    return true;
}

/* Finds what stands around the digits: a sign, the currency once, a percent sign. */
static struct signs find_signs(const struct text_reading *reading, const char *text, uint32_t length)
{
    struct signs signs = {.at = text, .end = text + length};
    for (bool more = true; more;) {
        signs.at = blanks_skip(signs.at, signs.end);
        const bool sign = !signs.sign && signs.at < signs.end && (*signs.at == '-' || *signs.at == '+');
        if (sign)
            signs.sign = *signs.at++;
        more = sign || skip_currency(reading, &signs, true);
    }
    for (bool more = true; more;) {
        signs.end = blanks_drop(signs.at, signs.end);
        const bool percent =
            reading->percent && !signs.percent && signs.at < signs.end && signs.end[-1] == '%';
        signs.percent |= percent;
        signs.end -= percent;
        more = percent || skip_currency(reading, &signs, false);
    }
    return signs;
}

/* Moves the point of a plain number two digits to the left. */
static bool hundredth(char plain[TEXT_NUMBER_BYTES], uint32_t *length)
{
    const uint32_t begin = *length && (plain[0] == '-' || plain[0] == '+');
    uint32_t point = begin;
    while (point < *length && is_digit(plain[point]))
        point++;
    const uint32_t zeros = point - begin < 2 ? 2 - (point - begin) : 0;
    if (*length + 3 > TEXT_NUMBER_BYTES || *length == begin || (point < *length && plain[point] != '.') ||
        (point == begin && *length == begin + 1))
        return false;
    for (uint32_t i = point; i < *length; i++)
        if (plain[i] == 'e' || plain[i] == 'E')
            return false;
    memmove(plain + begin + zeros, plain + begin, *length - begin);
    memset(plain + begin, '0', zeros);
    point += zeros;
    *length += zeros;
    *length += point == *length;
    memmove(plain + point - 1, plain + point - 2, 2);
    plain[point - 2] = '.';
    return true;
}

bool text_unmark(const struct text_reading *reading, const char *text, uint32_t length,
                 char plain[TEXT_NUMBER_BYTES], uint32_t *plain_length)
{
    uint32_t count = 0;
    if (!reading->currency[0] && !reading->percent) {
        const bool right = unmark_digits(reading, text, text + length, plain, &count);
        *plain_length = count;
        return right;
    }
    const struct signs signs = find_signs(reading, text, length);
    if (signs.sign)
        plain[count++] = signs.sign;
    const bool again = signs.at < signs.end && (*signs.at == '-' || *signs.at == '+');
    if (again || !unmark_digits(reading, signs.at, signs.end, plain, &count))
        return false;
    *plain_length = count;
    return !signs.percent || reading->percent == TEXT_PERCENT_POINTS || hundredth(plain, plain_length);
}
