/* text_value_internal.h: what text_value.c and text_number.c share. */
#ifndef TESSERA_LOADER_TEXT_TEXT_VALUE_INTERNAL_H
#define TESSERA_LOADER_TEXT_TEXT_VALUE_INTERNAL_H

#include "loader/text/text_source.h"
#include "storage/database/database.h"

/* Reads a number for an INT, BIGINT or DECIMAL in any form that is allowed; as text_value_as. */
const char *text_number(const struct column_schema *column, const char *text, uint32_t length,
                        const struct text_reading *reading, int64_t *value);

/* "has more than N decimals" */
const char *text_too_many_decimals(uint32_t scale);

#endif
