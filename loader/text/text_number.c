/* text_number.c: numbers that text_value.c does not read at once: with an exponent, with zeros after the point where a
 * whole number is wanted, with more decimals than the column has. Called for few fields: some 30 ns. */
#include "loader/text/text_value_internal.h"

#include "storage/base/decimal.h"

#include <string.h>

#define DIGITS_KEPT 40u /* two more than an int128 holds; further ones only say whether the rest is 0 */

struct digits {
    bool minus, sticky; /* sticky: a digit that is not kept is not 0 */
    uint32_t count;     /* kept, without zeros in front */
    int64_t exponent;   /* of the last digit kept */
    char kept[DIGITS_KEPT];
};

static void add_digit(struct digits *digits, char digit, bool behind)
{
    digits->exponent -= behind;
    if (digits->count == 0 && digit == '0')
        return;
    if (digits->count < DIGITS_KEPT) {
        digits->kept[digits->count++] = digit;
    } else {
        digits->sticky |= digit != '0';
        digits->exponent++;
    }
}

static bool read_exponent(const char **at, const char *end, struct digits *digits)
{
    int64_t exponent = 0;
    if (*at == end || (**at != 'e' && **at != 'E'))
        return true;
    ++*at;
    const bool minus = *at < end && **at == '-';
    *at += *at < end && (**at == '-' || **at == '+');
    if (*at == end)
        return false;
    for (; *at < end && is_digit(**at); ++*at)
        exponent = exponent < 100000 ? exponent * 10 + (**at - '0') : exponent;
    digits->exponent += minus ? -exponent : exponent;
    return true;
}

static bool read_digits(const char *at, const char *end, struct digits *digits)
{
    uint32_t count = 0;
    digits->minus = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    for (; at < end && is_digit(*at); at++, count++)
        add_digit(digits, *at, false);
    if (at < end && *at == '.')
        for (at++; at < end && is_digit(*at); at++, count++)
            add_digit(digits, *at, true);
    return count && read_exponent(&at, end, digits) && at == end;
}

const char *text_number(const struct column_schema *column, const char *text, uint32_t length, bool round,
                        int64_t *value)
{
    const bool whole = column->type != TYPE_DECIMAL;
    struct digits digits = {0};
    if (!read_digits(text, text + length, &digits))
        return whole ? "is no whole number" : "is no number";
    const int64_t shift = digits.exponent + (whole ? 0 : column->scale);
    /* the digits that are kept of the value, and those that are cut from its end */
    const int64_t cut = shift >= 0                           ? 0
                        : -shift < (int64_t)digits.count + 1 ? -shift
                                                             : (int64_t)digits.count + 1;
    const int64_t left = (int64_t)digits.count - cut;
    unsigned __int128 number = 0;
    bool rest = digits.sticky && digits.count > 0;
    if (left + (shift > 0 ? shift : 0) > 20 && digits.count)
        return text_out_of_range;
    for (int64_t d = 0; d < left; d++)
        number = number * 10 + (unsigned)(digits.kept[d] - '0');
    for (int64_t s = 0; s < shift && digits.count; s++)
        number *= 10;
    for (int64_t d = left < 0 ? 0 : left; d < (int64_t)digits.count; d++)
        rest |= digits.kept[d] != '0';
    if (rest && !round)
        return whole ? "is no whole number" : text_too_many_decimals(column->scale);
    if (cut && left >= 0 && left < (int64_t)digits.count &&
        digits.kept[left] >= '5') /* half goes away from 0 */
        number++;
    const uint64_t most = column->type == TYPE_INT32   ? (uint64_t)INT32_MAX + digits.minus
                          : column->type == TYPE_INT64 ? (uint64_t)INT64_MAX + digits.minus
                                                       : (uint64_t)power_of_ten(column->precision) - 1;
    if (number > most)
        return text_out_of_range;
    *value = digits.minus ? (int64_t)(0 - (uint64_t)number) : (int64_t)number;
    return NULL;
}
