/*
 * time_format.h: dates and times in a form that strptime's letters describe, "%d.%m.%y %H:%M". A format is compiled once
 * and parses some ten million texts a second. For loaders and statements; names of months are English.
 *
 * %Y four digits of a year; %y two: 69 to 99 are 1969 to 1999, 00 to 68 are 2000 to 2068. %m, %d, %H, %M, %S one digit or
 * two, also as %-m; %e a day that a blank may precede; %j the day of the year. %b, %B or %h the name of a month, whole or
 * three letters, in any case; %a or %A one of a weekday, which is read over. %I and %p hours of 12 with AM or PM. %f the
 * digits of a second's fraction, one to nine. %z Z or an offset from UTC, which is subtracted; %Z the words UTC, GMT or Z. %F,
 * %T, %R and %D are %Y-%m-%d, %H:%M:%S, %H:%M and %m/%d/%y. %% is itself. A blank stands for any number of blanks, also
 * none; every other character for itself. A month or day that the format lacks is the first.
 */
#ifndef TESSERA_STORAGE_BASE_TEXT_TIME_FORMAT_H
#define TESSERA_STORAGE_BASE_TEXT_TIME_FORMAT_H

#include "storage/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIME_FORMAT_PARTS 64u

struct time_format {
    uint32_t count;
    struct time_part {
        char letter; /* of strptime; 0: the byte `same`, ' ': blanks */
        char same;
    } parts[TIME_FORMAT_PARTS];
    char complaint[96]; /* about a text that is not of this form */
};

/* The names of months, and of weekdays from Sunday on. */
extern const char *const time_months[12], *const time_weekdays[7];

/* STATUS_BAD_INPUT for letters that are none of these, a format without a year, and one that is too long. */
NODISCARD enum status time_format_compile(const char *text, size_t length, struct time_format *format,
                                          struct error *error);

/* Whether texts tell their offset from UTC: %z or %Z. */
bool time_format_has_zone(const struct time_format *format);

/* Reads the whole text, as microseconds since 1970-01-01. `cut`: digits after microseconds are cut; else they must be 0.
 * Returns NULL, or the complaint, which lives as long as the format. */
const char *time_format_parse(const struct time_format *format, const char *at, const char *end, bool cut,
                              int64_t *microseconds);

#endif
