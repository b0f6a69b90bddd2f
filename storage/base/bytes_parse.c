/* bytes_parse.c: see bytes_parse.h. */
#include "storage/base/bytes_parse.h"

#include "storage/base/number/number_text.h"
#include "storage/base/words/word.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Gives the power of 1024 that a unit stands for; false for other texts. */
static bool unit_power(const char *unit, int *power)
{
    static const char letters[] = "kmgt";
    *power = 0;
    if (*unit == '\0' || word_compare(unit, "b") == 0)
        return true;
    const char *const letter = strchr(letters, word_letter(*unit));
    if (!letter)
        return false;
    *power = 1 + (int)(letter - letters);
    return unit[1] == '\0' || word_compare(unit + 1, "b") == 0 || word_compare(unit + 1, "ib") == 0;
}

enum status bytes_parse(const char *text, const char *what, uint64_t *bytes, struct error *error)
{
    char digits[64];
    int power;
    const size_t length = strspn(text, "0123456789.");
    snprintf(digits, sizeof digits, "%.*s", length < sizeof digits ? (int)length : 0, text);
    char *end;
    const double number = number_parse(digits, &end);
    if (end == digits || *end || !unit_power(text + length, &power) || !(ldexp(number, 10 * power) < 0x1p63))
        return error_set(error, STATUS_BAD_INPUT,
                         "%s: '%s' is no number of bytes; write one like 4G, 512M, 64K or 0", what, text);
    *bytes = (uint64_t)ldexp(number, 10 * power);
    return STATUS_OK;
}
