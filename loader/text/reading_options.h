/*
 * reading_options.h: how values of single columns, or of all, are written in files: --thousands, --decimal-mark,
 * --currency, --percent, --date-format and --timestamp-format, each as VALUE, COLUMN=VALUE or TABLE.COLUMN=VALUE.
 */
#ifndef TESSERA_LOADER_TEXT_READING_OPTIONS_H
#define TESSERA_LOADER_TEXT_READING_OPTIONS_H

#include "loader/text/text_source.h"

enum reading_field {
    READING_THOUSANDS,
    READING_DECIMAL_MARK,
    READING_CURRENCY,
    READING_PERCENT,
    READING_DATE_FORMAT,
    READING_TIMESTAMP_FORMAT
};

/* One option as it was given. Its text must outlive it. */
struct reading_option {
    enum reading_field field;
    const char *text;          /* "price=€" */
    size_t column_length;      /* of COLUMN or TABLE.COLUMN, with which it begins; 0: all columns */
    struct text_reading says;  /* only the field is set */
    struct time_format format; /* of dates and times */
};

/* The option's name, "--thousands". */
const char *reading_option_name(enum reading_field field);

NODISCARD enum status reading_option_read(enum reading_field field, const char *text,
                                          struct reading_option *option, struct error *error);

/* Whether the option is about this column, or about all. */
bool reading_option_is_of(const struct reading_option *option, const char *table, const char *column);

/* How values of the column are read: as `options` say for all columns, and then for this one. */
struct text_reading reading_of(const struct text_options *options, const char *table, const char *column);

/* STATUS_BAD_INPUT if one character would have two meanings in the numbers of a column. */
NODISCARD enum status reading_check(const struct text_reading *reading, struct error *error);

#endif
