/* time_format.c: see time_format.h. */
#include "storage/base/text/time_format.h"

#include "storage/base/calendar_text.h"
#include "storage/base/words/word.h"

#include <stdio.h>
#include <string.h>

/* ---- Formats ---- */

/* The letters that stand for others. */
static const char *letters_of(char letter)
{
    switch (letter) {
    case 'F':
        return "Y-m-d";
    case 'T':
        return "H:M:S";
    case 'R':
        return "H:M";
    case 'D':
        return "m/d/y";
    default:
        return NULL;
    }
}

static bool has(const struct time_format *format, const char *letters)
{
    for (uint32_t p = 0; p < format->count; p++)
        if (format->parts[p].letter && strchr(letters, format->parts[p].letter))
            return true;
    return false;
}

static bool part_add(struct time_format *format, char letter, char same)
{
    if (format->count == TIME_FORMAT_PARTS)
        return false;
    format->parts[format->count++] = (struct time_part){letter, same};
    return true;
}

/* Adds what a letter stands for; false if there is no room. */
static bool letter_add(struct time_format *format, char letter)
{
    const char *const letters = letters_of(letter);
    bool room = true;
    if (!letters)
        return part_add(format, letter, 0);
    for (const char *at = letters; *at && room; at++)
        room = strchr("-:/", *at) ? part_add(format, 0, *at) : part_add(format, *at, 0);
    return room;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

enum status time_format_compile(const char *text, size_t length, struct time_format *format,
                                struct error *error)
{
    const int shown = length < 60 ? (int)length : 60;
    *format = (struct time_format){0};
    bool room = true;
    for (size_t i = 0; i < length && room; i++) {
        if (text[i] != '%') {
            room = part_add(format, is_blank(text[i]) ? ' ' : 0, text[i]);
            continue;
        }
        i += i + 2 < length && text[i + 1] == '-'; /* %-d is %d */
        const char letter = ++i < length ? text[i] : 0;
        if (letter == '%')
            room = part_add(format, 0, '%');
        else if (letter && strchr("YymdeHIMSfjbBhaApzZFTRD", letter))
            room = letter_add(format, letter);
        else
            return error_set(
                error, STATUS_BAD_INPUT,
                "the format '%.*s' has %%%.1s, which is none of %%Y %%y %%m %%b %%d %%e %%j %%H %%I "
                "%%p %%M %%S %%f %%z %%Z %%a %%F %%T %%R %%D",
                shown, text, letter ? &text[i] : "");
    }
    if (!room)
        return error_set(error, STATUS_BAD_INPUT, "the format '%.*s...' is longer than %u parts", shown, text,
                         TIME_FORMAT_PARTS);
    if (!has(format, "Yy"))
        return error_set(error, STATUS_BAD_INPUT, "the format '%.*s' has no year: %%Y or %%y", shown, text);
    if (has(format, "I") != has(format, "p"))
        return error_set(error, STATUS_BAD_INPUT,
                         "the format '%.*s' has one of %%I and %%p: hours of 12 need both", shown, text);
    snprintf(format->complaint, sizeof format->complaint, "is not of the form %.*s", shown, text);
    return STATUS_OK;
}

bool time_format_has_zone(const struct time_format *format)
{
    return has(format, "zZ");
}

/* ---- Texts ---- */

const char *const time_months[12] = {"January", "February", "March",     "April",   "May",      "June",
                                     "July",    "August",   "September", "October", "November", "December"};
const char *const time_weekdays[7] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                      "Thursday", "Friday", "Saturday"};

/* Reads one of the names, whole or its first three letters; returns its number from 1, or -1. */
static int32_t name_read(const char **at, const char *end, const char *const *names, int32_t count)
{
    const size_t left = (size_t)(end - *at);
    for (int32_t n = 0; n < count; n++) {
        const size_t length = strlen(names[n]);
        if (left < 3 || word_compare_bytes(*at, names[n], 3) != 0)
            continue;
        *at += left >= length && word_compare_bytes(*at, names[n], length) == 0 ? length : 3;
        return n + 1;
    }
    return -1;
}

/* What the parts of a text say. */
struct moment {
    int32_t year, month, day, day_of_year, hour, minute, second, microsecond, offset;
    bool afternoon, twelve; /* twelve: the hours are of 12 */
    bool finer;             /* there are digits after microseconds that are not 0 */
};

static bool in_range(int32_t number, int32_t least, int32_t most)
{
    return number >= least && number <= most;
}

static bool fraction_read(const char **at, const char *end, struct moment *moment)
{
    int32_t place = 100000;
    const char *const begin = *at;
    moment->microsecond = 0;
    for (; *at < end && *at - begin < 9 && (unsigned char)(**at - '0') < 10; ++*at, place /= 10) {
        moment->microsecond += (**at - '0') * place;
        moment->finer |= place == 0 && **at != '0';
    }
    return *at > begin;
}

/* Reads Z or +HH[[:]MM[[:]SS]]. */
static bool offset_read(const char **at, const char *end, int32_t *seconds)
{
    *seconds = 0;
    if (calendar_skip(at, end, 'Z') || calendar_skip(at, end, 'z'))
        return true;
    const bool minus = *at < end && **at == '-';
    if (!calendar_skip(at, end, '-') && !calendar_skip(at, end, '+'))
        return false;
    for (int32_t unit = 3600, most = 15; unit; unit /= 60, most = 59) {
        const char *next = *at;
        if (unit < 3600)
            (void)calendar_skip(&next, end, ':');
        const int32_t number = calendar_digits(&next, end, 2);
        if (number < 0 && unit < 3600)
            break;
        if (!in_range(number, 0, most))
            return false;
        *seconds += number * unit;
        *at = next;
    }
    *seconds = minus ? -*seconds : *seconds;
    return true;
}

static bool zone_read(const char **at, const char *end)
{
    static const char *const zones[] = {"UTC", "GMT", "Z"};
    for (size_t z = 0; z < sizeof zones / sizeof *zones; z++) {
        const size_t length = strlen(zones[z]);
        if ((size_t)(end - *at) >= length && word_compare_bytes(*at, zones[z], length) == 0) {
            *at += length;
            return true;
        }
    }
    return false;
}

static bool half_read(const char **at, const char *end, struct moment *moment)
{
    if (end - *at < 2 || (word_letter((*at)[0]) != 'a' && word_letter((*at)[0]) != 'p') ||
        word_letter((*at)[1]) != 'm')
        return false;
    moment->afternoon = word_letter((*at)[0]) == 'p';
    *at += 2;
    return true;
}

static bool part_read(char letter, const char **at, const char *end, struct moment *moment)
{
    switch (letter) {
    case 'Y':
        return (moment->year = calendar_digits(at, end, 4)) >= 0;
    case 'y':
        if ((moment->year = calendar_digits(at, end, 2)) < 0)
            return false;
        moment->year += moment->year >= 69 ? 1900 : 2000;
        return true;
    case 'm':
        return in_range(moment->month = calendar_part(at, end), 1, 12);
    case 'b':
    case 'B':
    case 'h':
        return (moment->month = name_read(at, end, time_months, 12)) > 0;
    case 'a':
    case 'A':
        return name_read(at, end, time_weekdays, 7) > 0;
    case 'e':
        (void)calendar_skip(at, end, ' ');
        return in_range(moment->day = calendar_part(at, end), 1, 31);
    case 'd':
        return in_range(moment->day = calendar_part(at, end), 1, 31);
    case 'j':
        moment->day_of_year = 0;
        for (const char *const begin = *at; *at < end && *at - begin < 3 && (unsigned char)(**at - '0') < 10;
             ++*at)
            moment->day_of_year = moment->day_of_year * 10 + (**at - '0');
        return in_range(moment->day_of_year, 1, 366);
    case 'H':
        return in_range(moment->hour = calendar_part(at, end), 0, 24);
    case 'I':
        moment->twelve = true;
        return in_range(moment->hour = calendar_part(at, end), 1, 12);
    case 'p':
        return half_read(at, end, moment);
    case 'M':
        return in_range(moment->minute = calendar_part(at, end), 0, 59);
    case 'S':
        return in_range(moment->second = calendar_part(at, end), 0, 59);
    case 'f':
        return fraction_read(at, end, moment);
    case 'z':
        return offset_read(at, end, &moment->offset);
    case 'Z':
        return zone_read(at, end);
    default:
        return false;
    }
}

/* The moment as microseconds, or a complaint. */
static const char *moment_value(const struct moment *moment, const char *complaint, int64_t *value)
{
    int64_t days = calendar_days(moment->year, moment->month, moment->day);
    if (moment->day > 28 && moment->day > calendar_month_days(moment->year, moment->month))
        return "is a day that no calendar has";
    if (moment->day_of_year) {
        days = calendar_days(moment->year, 1, 1) + moment->day_of_year - 1;
        if (days >= calendar_days(moment->year + 1, 1, 1))
            return "is a day that no calendar has";
    }
    const int32_t hour = moment->twelve ? moment->hour % 12 + 12 * moment->afternoon : moment->hour;
    if (hour == 24 && (moment->minute || moment->second || moment->microsecond)) /* 24:00 is the day's end */
        return complaint;
    *value = days * CALENDAR_DAY_MICROSECONDS +
             ((hour * 60ll + moment->minute) * 60 + moment->second - moment->offset) * 1000000 +
             moment->microsecond;
    return moment->offset && (*value < calendar_days(0, 1, 1) * CALENDAR_DAY_MICROSECONDS ||
                              *value >= calendar_days(10000, 1, 1) * CALENDAR_DAY_MICROSECONDS)
               ? "is not in the years 0000 to 9999 of UTC"
               : NULL;
}

const char *time_format_parse(const struct time_format *format, const char *at, const char *end, bool cut,
                              int64_t *microseconds)
{
    struct moment moment = {.month = 1, .day = 1};
    for (uint32_t p = 0; p < format->count; p++) {
        const struct time_part part = format->parts[p];
        if (part.letter == ' ')
            while (at < end && is_blank(*at))
                at++;
        else if (part.letter ? !part_read(part.letter, &at, end, &moment)
                             : !calendar_skip(&at, end, part.same))
            return format->complaint;
    }
    if (at != end)
        return format->complaint;
    if (moment.finer && !cut)
        return CALENDAR_NANOSECONDS;
    return moment_value(&moment, format->complaint, microseconds);
}
