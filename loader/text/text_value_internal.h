/* text_value_internal.h: what text_value.c, text_number.c and text_marks.c share. */
#ifndef TESSERA_LOADER_TEXT_TEXT_VALUE_INTERNAL_H
#define TESSERA_LOADER_TEXT_TEXT_VALUE_INTERNAL_H

#include "loader/text/text_source.h"
#include "storage/database/database.h"

#include <string.h>

static inline bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

/* Reads a number for an INT, BIGINT or DECIMAL in any form that is allowed; as text_value, but without marks. */
const char *text_number(const struct column_schema *column, const char *text, uint32_t length, bool round,
                        int64_t *value);

/* Whether numbers may have more than digits, a point, a sign and an exponent. */
static inline bool text_has_marks(const struct text_reading *reading)
{
    _Static_assert(offsetof(struct text_reading, currency) == 3, "the fields are looked at together");
    uint32_t any;
    memcpy(&any, reading, sizeof any);
    return any != 0;
}

/* Writes a number without its marks between thousands, and with a point; currency and percent sign are read over. False if
 * the marks are not where they belong: after a first mark all groups before the decimal mark have three digits. */
#define TEXT_NUMBER_BYTES \
    1100u /* no double needs more digits than this, but zeros before and after them may */
bool text_unmark(const struct text_reading *reading, const char *text, uint32_t length,
                 char plain[TEXT_NUMBER_BYTES], uint32_t *plain_length);

/* "has more than N decimals" */
const char *text_too_many_decimals(uint32_t scale);

#endif
