/*
 * text_double.c: floating-point numbers from text (text_source.h): an optional sign, digits with an optional point and an
 * optional exponent, or inf, infinity or nan in any case. The value is the double nearest to the decimal. Up to 18
 * digits without an exponent take some 10 ns; other texts are left to strtod.
 */
#include "loader/text/text_value_internal.h"

#include "storage/base/decimal.h"
#include "storage/base/double_key.h"
#include "storage/base/number/number_text.h"
#include "storage/base/words/word.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char no_number[] = "is no number";

static const char *word(const char *at, const char *end, bool minus, int64_t *value)
{
    const size_t length = (size_t)(end - at);
    const bool infinite = (length == 3 && word_compare_bytes(at, "inf", 3) == 0) ||
                          (length == 8 && word_compare_bytes(at, "infinity", 8) == 0);
    if (!infinite && !(length == 3 && word_compare_bytes(at, "nan", 3) == 0))
        return no_number;
    *value = !infinite ? DOUBLE_KEY_NAN : minus ? DOUBLE_KEY_MINUS_INFINITY : DOUBLE_KEY_INFINITY;
    return NULL;
}

/* True if the text from `at` is a number as this file's head says, without its sign. */
static bool is_number(const char *at, const char *end)
{
    size_t digits = 0;
    for (; at < end && is_digit(*at); at++)
        digits++;
    if (at < end && *at == '.')
        for (at++; at < end && is_digit(*at); at++)
            digits++;
    if (digits == 0)
        return false;
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        at += at < end && (*at == '-' || *at == '+');
        if (at == end)
            return false;
        while (at < end && is_digit(*at))
            at++;
    }
    return at == end;
}

static const char *any_number(const char *at, const char *end, bool minus, int64_t *value)
{
    char copy[TEXT_NUMBER_BYTES];
    const size_t length = (size_t)(end - at);
    if (!is_number(at, end))
        return no_number;
    if (length >= sizeof copy)
        return "has more than 1099 characters";
    memcpy(copy, at, length);
    copy[length] = '\0';
    const double number = number_parse(copy, NULL);
    if (isinf(number))
        return text_out_of_range;
    *value = double_key_of(minus ? -number : number);
    return NULL;
}

const char *text_double(const char *text, uint32_t length, int64_t *value)
{
    const char *at = text, *const end = text + length;
    const bool minus = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    const char *const begin = at;
    uint64_t number = 0;
    unsigned digits = 0, behind = 0;
    bool point = false;
    for (; at < end && digits <= 18; at++) {
        if (*at == '.' && !point) {
            point = true;
            continue;
        }
        if (!is_digit(*at))
            break;
        number = number * 10 + (uint64_t)(*at - '0');
        digits++;
        behind += point;
    }
    if (at == end && digits > 0 && digits <= 18) {
        const double magnitude = decimal_to_double((int64_t)number, behind);
        *value = double_key_of(minus ? -magnitude : magnitude);
        return NULL;
    }
    if (begin < end && !is_digit(*begin) && *begin != '.')
        return word(begin, end, minus, value);
    return any_number(begin, end, minus, value);
}

const char *text_decimal_double(__int128 number, int scale, int64_t *value)
{
    if (number == (int64_t)number && number > INT64_MIN && scale <= 18) {
        *value = double_key_of(decimal_to_double((int64_t)number, (unsigned)scale));
        return NULL;
    }
    char text[64];
    char *at = text + sizeof text;
    unsigned __int128 left = number < 0 ? 0 - (unsigned __int128)number : (unsigned __int128)number;
    char exponent[8];
    const int length = snprintf(exponent, sizeof exponent, "e-%d", scale);
    at -= length;
    memcpy(at, exponent, (size_t)length);
    do {
        *--at = (char)('0' + (int)(left % 10));
        left /= 10;
    } while (left);
    if (number < 0)
        *--at = '-';
    return text_double(at, (uint32_t)(text + sizeof text - at), value);
}
