/*
 * time_text.c: times as text by formats of strftime and by PostgreSQL's patterns (to_char), and texts as times by those of
 * strptime (functions.h). A format is a constant of the statement. It is compiled when the statement is bound, to a string
 * of its own: a byte is itself, but FIELD_MARK begins four bytes
 *
 *     FIELD_MARK | enum time_field | flags | '0' + digits
 *
 * By it a time takes some 50 ns, once for each different one of a column where these are few (string_call.h).
 */
#include "engine/sql/functions/functions.h"

#include "storage/base/memory.h"
#include "storage/base/text/time_format.h"
#include "storage/base/words/word.h"

#include <stdio.h>
#include <stdlib.h>

#define FIELD_MARK  '\1'
#define FIELD_BYTES 4u

/* What stands at a place of a text. Those from FIELD_HOUR on are of the time of day. */
enum time_field {
    FIELD_ITSELF = 1, /* a byte that is FIELD_MARK */
    FIELD_YEAR,
    FIELD_YEAR_OF_ERA, /* the year 0 is 1 BC */
    FIELD_YEAR_COMMA,  /* 2,024 */
    FIELD_ERA,
    FIELD_CENTURY,
    FIELD_QUARTER,
    FIELD_MONTH,
    FIELD_MONTH_NAME,
    FIELD_MONTH_ROMAN,
    FIELD_DAY,
    FIELD_DAY_OF_YEAR,
    FIELD_DAY_OF_WEEK,  /* 0: Sunday */
    FIELD_DAY_FROM_ONE, /* 1: Sunday */
    FIELD_ISO_DAY,      /* 1: Monday */
    FIELD_WEEKDAY_NAME,
    FIELD_ISO_YEAR,
    FIELD_ISO_WEEK,
    FIELD_ISO_DAY_OF_YEAR,
    FIELD_SUNDAY_WEEK, /* weeks from the first Sunday on */
    FIELD_MONDAY_WEEK,
    FIELD_WEEK_OF_YEAR, /* from 1 January on, as the next one from the first of the month */
    FIELD_WEEK_OF_MONTH,
    FIELD_JULIAN_DAY,
    FIELD_HOUR,
    FIELD_HOUR_OF_TWELVE,
    FIELD_HALF, /* AM */
    FIELD_MINUTE,
    FIELD_SECOND,
    FIELD_SECOND_OF_DAY,
    FIELD_FRACTION /* its first digits */
};

enum field_flags {
    FIELD_FLAGS = 64, /* so that the byte can be shown */
    FIELD_UPPER = 1,  /* letters */
    FIELD_LOWER = 2,
    FIELD_PADDED = 4, /* names have nine characters */
    FIELD_SHORT = 8,  /* the first three letters */
    FIELD_LAST = 16,  /* only the last digits */
    FIELD_ORDINAL = 32
};

/* ---- Writing ---- */

static void put_number(struct string_buffer *out, int64_t value, int digits)
{
    char text[24];
    const int length = snprintf(text, sizeof text, "%0*lld", digits, (long long)value);
    string_put(out, text, (uint64_t)length);
}

/* Appends letters, which blanks follow up to `width`. */
static void put_name(struct string_buffer *out, const char *name, int width, unsigned flags)
{
    char text[16];
    int length = snprintf(text, sizeof text, "%-*.*s", flags & FIELD_PADDED ? width : 0,
                          flags & FIELD_SHORT ? 3 : 9, name);
    for (int i = 0; i < length; i++) {
        if (flags & FIELD_LOWER)
            text[i] = (char)word_letter(text[i]);
        else if (flags & FIELD_UPPER && text[i] >= 'a' && text[i] <= 'z')
            text[i] = (char)(text[i] - 'a' + 'A');
    }
    string_put(out, text, (uint64_t)length);
}

/* A time: a day, and microseconds since it began. */
struct time_of_day {
    int64_t days, microseconds;
};

static int64_t number_of_day(enum time_field field, int64_t days)
{
    const struct calendar_date date = calendar_date_of(days);
    const int64_t of_week = calendar_date_field(days, CALENDAR_DAY_OF_WEEK),
                  of_year = calendar_date_field(days, CALENDAR_DAY_OF_YEAR),
                  year_of_era = date.year > 0 ? date.year : 1 - date.year;
    switch (field) {
    case FIELD_YEAR:
        return date.year;
    case FIELD_YEAR_OF_ERA:
    case FIELD_YEAR_COMMA:
        return year_of_era;
    case FIELD_CENTURY:
        return date.year > 0 ? (date.year + 99) / 100 : -(year_of_era + 99) / 100;
    case FIELD_QUARTER:
        return (date.month + 2) / 3;
    case FIELD_MONTH:
        return date.month;
    case FIELD_DAY:
        return date.day;
    case FIELD_DAY_OF_YEAR:
        return of_year;
    case FIELD_DAY_OF_WEEK:
        return of_week;
    case FIELD_DAY_FROM_ONE:
        return of_week + 1;
    case FIELD_ISO_DAY:
        return calendar_iso_day(days);
    case FIELD_ISO_YEAR:
        return calendar_date_field(days, CALENDAR_ISO_YEAR);
    case FIELD_ISO_WEEK:
        return calendar_date_field(days, CALENDAR_WEEK);
    case FIELD_ISO_DAY_OF_YEAR:
        return calendar_date_field(days, CALENDAR_WEEK) * 7 - 7 + calendar_iso_day(days);
    case FIELD_SUNDAY_WEEK:
        return (of_year + 6 - of_week) / 7;
    case FIELD_MONDAY_WEEK:
        return (of_year + 6 - (of_week + 6) % 7) / 7;
    case FIELD_WEEK_OF_YEAR:
        return (of_year + 6) / 7;
    case FIELD_WEEK_OF_MONTH:
        return (date.day + 6) / 7;
    default: /* FIELD_JULIAN_DAY */
        return days + 2440588;
    }
}

static int64_t number_of_time(enum time_field field, int64_t microseconds, int digits)
{
    const int64_t second = microseconds / 1000000, hour = second / 3600;
    switch (field) {
    case FIELD_HOUR:
        return hour;
    case FIELD_HOUR_OF_TWELVE:
        return (hour + 11) % 12 + 1;
    case FIELD_MINUTE:
        return second / 60 % 60;
    case FIELD_SECOND:
        return second % 60;
    case FIELD_SECOND_OF_DAY:
        return second;
    default: /* FIELD_FRACTION */
        return microseconds % 1000000 / power_of_ten((unsigned)(6 - digits));
    }
}

static void put_ordinal(struct string_buffer *out, int64_t number, unsigned flags)
{
    static const char *const endings[] = {"th", "st", "nd", "rd"};
    const int64_t last = number % 10;
    put_name(out, endings[number / 10 % 10 == 1 || last > 3 ? 0 : last], 0, flags);
}

static void put_number_field(struct string_buffer *out, enum time_field field, unsigned flags, int digits,
                             const struct time_of_day *time)
{
    int64_t number = field < FIELD_HOUR ? number_of_day(field, time->days)
                                        : number_of_time(field, time->microseconds, digits);
    if (flags & FIELD_LAST)
        number -= calendar_floor(number, power_of_ten((unsigned)digits)) * power_of_ten((unsigned)digits);
    if (field == FIELD_YEAR_COMMA) {
        put_number(out, number / 1000, 0);
        string_put(out, ",", 1);
        put_number(out, number % 1000, 3);
    } else {
        put_number(out, number, flags & FIELD_PADDED ? digits : 0);
    }
    if (flags & FIELD_ORDINAL)
        put_ordinal(out, number < 0 ? -number : number, flags);
}

static void put_field(struct string_buffer *out, const char *mark, const struct time_of_day *time)
{
    static const char *const romans[] = {"I",   "II",   "III", "IV", "V",  "VI",
                                         "VII", "VIII", "IX",  "X",  "XI", "XII"};
    const enum time_field field = (enum time_field)mark[1];
    const unsigned flags = (unsigned)mark[2] - FIELD_FLAGS;
    const int digits = mark[3] - '0';
    switch (field) {
    case FIELD_ITSELF:
        string_put(out, mark, 1);
        break;
    case FIELD_MONTH_NAME:
        put_name(out, time_months[calendar_date_of(time->days).month - 1], 9, flags);
        break;
    case FIELD_MONTH_ROMAN:
        put_name(out, romans[calendar_date_of(time->days).month - 1], 4, flags);
        break;
    case FIELD_WEEKDAY_NAME:
        put_name(out, time_weekdays[calendar_date_field(time->days, CALENDAR_DAY_OF_WEEK)], 9, flags);
        break;
    case FIELD_HALF:
    case FIELD_ERA: { /* digits: with points */
        const bool first =
            field == FIELD_HALF ? time->microseconds < 43200000000 : calendar_date_of(time->days).year <= 0;
        put_name(out,
                 field == FIELD_HALF ? digits  ? first ? "A.M." : "P.M."
                                       : first ? "AM"
                                               : "PM"
                 : digits            ? first ? "B.C." : "A.D."
                 : first             ? "BC"
                                     : "AD",
                 0, flags);
        break;
    }
    default:
        put_number_field(out, field, flags, digits, time);
        break;
    }
}

static void put_time(struct string_buffer *out, struct string_value format, const struct time_of_day *time)
{
    for (uint32_t i = 0, begin = 0; i <= format.length; i++) {
        if (i < format.length && format.text[i] != FIELD_MARK)
            continue;
        string_put(out, format.text + begin, i - begin);
        if (i < format.length)
            put_field(out, format.text + i, time);
        i += FIELD_BYTES - 1;
        begin = i + 1;
    }
}

/* The text of dates, or of times that are so many units of numbers[1] microseconds. */
static void time_text(const struct string_call *call, const struct string_value *format,
                      struct string_result *result)
{
    struct time_of_day time = {.days = call->numbers[2]};
    if (call->numbers[0] != VALUE_DATE) {
        const int64_t whole = call->numbers[2] * call->numbers[1];
        time.days = calendar_floor(whole, CALENDAR_DAY_MICROSECONDS);
        time.microseconds = whole - time.days * CALENDAR_DAY_MICROSECONDS;
    }
    put_time(result->text, *format, &time);
}

/* ---- Formats ---- */

/* A format that is being compiled. */
struct compiled {
    struct string_buffer text;
    int64_t unit; /* the longest time, in microseconds, within which all texts are equal */
    bool zoned;   /* its times are with time zone */
    bool asks_zone;
};

static void add_field(struct compiled *format, enum time_field field, unsigned flags, int digits)
{
    const char mark[FIELD_BYTES] = {FIELD_MARK, (char)field, (char)(FIELD_FLAGS + flags),
                                    (char)('0' + digits)};
    int64_t unit = 1;
    if (field < FIELD_HOUR)
        unit = CALENDAR_DAY_MICROSECONDS;
    else if (field <= FIELD_HALF)
        unit = 3600000000;
    else if (field <= FIELD_SECOND_OF_DAY)
        unit = field == FIELD_MINUTE ? 60000000 : 1000000;
    format->unit = unit < format->unit ? unit : format->unit;
    string_put(&format->text, mark, sizeof mark);
}

/* Text that stands for itself: a character, or a part of one. */
static void add_text(struct compiled *format, const char *text, uint64_t length)
{
    if (*text == FIELD_MARK)
        add_field(format, FIELD_ITSELF, 0, 0);
    else
        string_put(&format->text, text, length);
}

/* The letters of strftime: themselves, or the field. */
static const struct {
    char letter;
    const char *stands_for;
    enum time_field field;
    unsigned flags;
    int digits;
} letters[] = {{'F', "%Y-%m-%d", 0, 0, 0},
               {'T', "%H:%M:%S", 0, 0, 0},
               {'R', "%H:%M", 0, 0, 0},
               {'%', "%", 0, 0, 0},
               {'Y', NULL, FIELD_YEAR, FIELD_PADDED, 4},
               {'y', NULL, FIELD_YEAR, FIELD_PADDED | FIELD_LAST, 2},
               {'m', NULL, FIELD_MONTH, FIELD_PADDED, 2},
               {'d', NULL, FIELD_DAY, FIELD_PADDED, 2},
               {'j', NULL, FIELD_DAY_OF_YEAR, FIELD_PADDED, 3},
               {'w', NULL, FIELD_DAY_OF_WEEK, FIELD_PADDED, 1},
               {'u', NULL, FIELD_ISO_DAY, FIELD_PADDED, 1},
               {'G', NULL, FIELD_ISO_YEAR, FIELD_PADDED, 4},
               {'V', NULL, FIELD_ISO_WEEK, FIELD_PADDED, 2},
               {'U', NULL, FIELD_SUNDAY_WEEK, FIELD_PADDED, 2},
               {'W', NULL, FIELD_MONDAY_WEEK, FIELD_PADDED, 2},
               {'B', NULL, FIELD_MONTH_NAME, 0, 0},
               {'b', NULL, FIELD_MONTH_NAME, FIELD_SHORT, 0},
               {'A', NULL, FIELD_WEEKDAY_NAME, 0, 0},
               {'a', NULL, FIELD_WEEKDAY_NAME, FIELD_SHORT, 0},
               {'H', NULL, FIELD_HOUR, FIELD_PADDED, 2},
               {'I', NULL, FIELD_HOUR_OF_TWELVE, FIELD_PADDED, 2},
               {'p', NULL, FIELD_HALF, 0, 0},
               {'M', NULL, FIELD_MINUTE, FIELD_PADDED, 2},
               {'S', NULL, FIELD_SECOND, FIELD_PADDED, 2},
               {'g', NULL, FIELD_FRACTION, FIELD_PADDED, 3},
               {'f', NULL, FIELD_FRACTION, FIELD_PADDED, 6}};

/* Compiles a format of strftime; false if it has a letter that is not known. */
static bool compile_letters(struct compiled *format, const char *text, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++) {
        size_t l = 0;
        if (text[i] != '%') {
            add_text(format, text + i, 1);
            continue;
        }
        i++;
        while (l < sizeof letters / sizeof *letters && (i == length || letters[l].letter != text[i]))
            l++;
        if (l == sizeof letters / sizeof *letters)
            return false;
        if (text[i] == '%')
            string_put(&format->text, "%", 1);
        else if (!letters[l].stands_for)
            add_field(format, letters[l].field, letters[l].flags, letters[l].digits);
        else if (!compile_letters(format, letters[l].stands_for, (uint32_t)strlen(letters[l].stands_for)))
            return false;
    }
    return true;
}

/* PostgreSQL's patterns, of which the longest that fits is taken; each may be written in small letters, too. */
static const struct {
    const char *name;
    enum time_field field;
    unsigned flags;
    int digits;
} patterns[] = {{"A.D.", FIELD_ERA, 0, 1},
                {"A.M.", FIELD_HALF, 0, 1},
                {"AD", FIELD_ERA, 0, 0},
                {"AM", FIELD_HALF, 0, 0},
                {"B.C.", FIELD_ERA, 0, 1},
                {"BC", FIELD_ERA, 0, 0},
                {"CC", FIELD_CENTURY, 0, 2},
                {"DAY", FIELD_WEEKDAY_NAME, FIELD_UPPER, 0},
                {"Day", FIELD_WEEKDAY_NAME, 0, 0},
                {"DDD", FIELD_DAY_OF_YEAR, 0, 3},
                {"DD", FIELD_DAY, 0, 2},
                {"DY", FIELD_WEEKDAY_NAME, FIELD_UPPER | FIELD_SHORT, 0},
                {"Dy", FIELD_WEEKDAY_NAME, FIELD_SHORT, 0},
                {"D", FIELD_DAY_FROM_ONE, 0, 1},
                {"FF1", FIELD_FRACTION, 0, 1},
                {"FF2", FIELD_FRACTION, 0, 2},
                {"FF3", FIELD_FRACTION, 0, 3},
                {"FF4", FIELD_FRACTION, 0, 4},
                {"FF5", FIELD_FRACTION, 0, 5},
                {"FF6", FIELD_FRACTION, 0, 6},
                {"HH24", FIELD_HOUR, 0, 2},
                {"HH12", FIELD_HOUR_OF_TWELVE, 0, 2},
                {"HH", FIELD_HOUR_OF_TWELVE, 0, 2},
                {"IDDD", FIELD_ISO_DAY_OF_YEAR, 0, 3},
                {"ID", FIELD_ISO_DAY, 0, 1},
                {"IW", FIELD_ISO_WEEK, 0, 2},
                {"IYYY", FIELD_ISO_YEAR, 0, 4},
                {"IYY", FIELD_ISO_YEAR, FIELD_LAST, 3},
                {"IY", FIELD_ISO_YEAR, FIELD_LAST, 2},
                {"I", FIELD_ISO_YEAR, FIELD_LAST, 1},
                {"J", FIELD_JULIAN_DAY, 0, 1},
                {"MI", FIELD_MINUTE, 0, 2},
                {"MM", FIELD_MONTH, 0, 2},
                {"MONTH", FIELD_MONTH_NAME, FIELD_UPPER, 0},
                {"Month", FIELD_MONTH_NAME, 0, 0},
                {"MON", FIELD_MONTH_NAME, FIELD_UPPER | FIELD_SHORT, 0},
                {"Mon", FIELD_MONTH_NAME, FIELD_SHORT, 0},
                {"MS", FIELD_FRACTION, 0, 3},
                {"P.M.", FIELD_HALF, 0, 1},
                {"PM", FIELD_HALF, 0, 0},
                {"Q", FIELD_QUARTER, 0, 1},
                {"RM", FIELD_MONTH_ROMAN, 0, 0},
                {"SSSSS", FIELD_SECOND_OF_DAY, 0, 1},
                {"SSSS", FIELD_SECOND_OF_DAY, 0, 1},
                {"SS", FIELD_SECOND, 0, 2},
                {"US", FIELD_FRACTION, 0, 6},
                {"WW", FIELD_WEEK_OF_YEAR, 0, 2},
                {"W", FIELD_WEEK_OF_MONTH, 0, 1},
                {"Y,YYY", FIELD_YEAR_COMMA, 0, 0},
                {"YYYY", FIELD_YEAR_OF_ERA, 0, 4},
                {"YYY", FIELD_YEAR_OF_ERA, FIELD_LAST, 3},
                {"YY", FIELD_YEAR_OF_ERA, FIELD_LAST, 2},
                {"Y", FIELD_YEAR_OF_ERA, FIELD_LAST, 1}};

/* Skips a word in capital or in small letters. */
static bool skip_word(const char **at, const char *end, const char *word, bool *small)
{
    const size_t length = strlen(word);
    *small = false;
    if ((size_t)(end - *at) < length)
        return false;
    if (memcmp(*at, word, length) != 0) {
        for (size_t i = 0; i < length; i++)
            if ((*at)[i] != (char)word_letter(word[i]))
                return false;
        *small = true;
    }
    *at += length;
    return true;
}

/* Those that tell the zone of a time: with UTC's clock, or of a time without one. */
static const struct {
    const char *name, *utc, *none;
} zone_patterns[] = {{"OF", "+00", "+00"}, {"TZH", "+00", "+00"}, {"TZM", "00", "00"}, {"TZ", "UTC", ""}};

static bool compile_zone(struct compiled *format, const char **at, const char *end)
{
    bool small;
    for (size_t p = 0; p < sizeof zone_patterns / sizeof *zone_patterns; p++) {
        if (!skip_word(at, end, zone_patterns[p].name, &small))
            continue;
        const char *const text = format->zoned ? zone_patterns[p].utc : zone_patterns[p].none;
        put_name(&format->text, text, 0, small ? FIELD_LOWER : 0);
        format->asks_zone = true;
        return true;
    }
    return false;
}

/* Compiles a pattern at *at, with FM before it and TH after it; false if none is there. */
static bool compile_pattern(struct compiled *format, const char **at, const char *end)
{
    bool small;
    const bool filled = !skip_word(at, end, "FM", &small) && !skip_word(at, end, "TM", &small);
    if (skip_word(at, end, "FX", &small) || compile_zone(format, at, end)) /* FX is of to_timestamp */
        return true;
    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
        unsigned flags =
            patterns[p].flags | (filled && !(patterns[p].flags & FIELD_SHORT) ? FIELD_PADDED : 0);
        if (!skip_word(at, end, patterns[p].name, &small))
            continue;
        flags = small ? (flags & ~(unsigned)FIELD_UPPER) | FIELD_LOWER : flags;
        if (skip_word(at, end, "TH", &small))
            flags = (flags & ~(unsigned)(FIELD_UPPER | FIELD_LOWER)) | FIELD_ORDINAL |
                    (small ? FIELD_LOWER : FIELD_UPPER);
        add_field(format, patterns[p].field, flags, patterns[p].digits);
        return true;
    }
    return !filled;
}

/* Compiles PostgreSQL's patterns. Text in "" is itself, as is what is no pattern. */
static void compile_patterns(struct compiled *format, const char *text, uint32_t length)
{
    const char *const end = text + length;
    bool quoted = false;
    for (const char *at = text; at < end;) {
        if (!quoted && compile_pattern(format, &at, end))
            continue;
        if (*at == '"') {
            quoted = !quoted;
            at++;
            continue;
        }
        if (*at == '\\' && at + 1 < end &&
            (quoted || at[1] == '"')) /* \" is a quote, and in quotes \ quotes any */
            at++;
        add_text(format, at, string_character_bytes(at, end));
        at += string_character_bytes(at, end);
    }
}

/* ---- strftime and to_char ---- */

/* Takes a value as a date or timestamp; *time is EXPRESSION_NONE if it is NULL. */
static enum status time_of(struct binder *binder, const struct bound_call *call, uint32_t *time)
{
    RETURN_IF_ERROR(bind_date_of_string(binder, time));
    const enum value_kind kind = bind_kind(binder, *time);
    if (bind_is_untyped(binder, *time)) {
        *time = EXPRESSION_NONE;
        return STATUS_OK;
    }
    if (kind != VALUE_DATE && kind != VALUE_TIMESTAMP)
        return bind_refuse(binder, call->ast->position, "%s takes a date or timestamp, not %s",
                           call->ast->name, bind_kind_name(kind));
    return bind_local(binder, call->ast->position, time);
}

/* Adds the text of a time in a compiled format, whose memory it frees. */
static enum status bind_format(struct binder *binder, const struct bound_call *call, struct compiled *format,
                               uint32_t time, uint32_t *node)
{
    const struct sql_position position = call->ast->position;
    struct text_call made = {.call = {.body = time_text,
                                      .type = {.kind = VALUE_STRING},
                                      .numbers = {VALUE_DATE, format->unit},
                                      .count = 1,
                                      .total = true},
                             .number_count = 1,
                             .first_number = 2};
    const enum status status =
        format->text.failed
            ? error_out_of_memory(binder->error, format->text.used, "a format")
            : expression_string_constant(binder->list, format->text.used ? format->text.bytes : "",
                                         (uint32_t)format->text.used, made.arguments, binder->error);
    free(format->text.bytes);
    RETURN_IF_ERROR(status);
    if (bind_kind(binder, time) == VALUE_TIMESTAMP && format->unit == CALENDAR_DAY_MICROSECONDS) {
        RETURN_IF_ERROR(
            bind_apply(binder, position, EXPRESSION_TO_DATE, time, EXPRESSION_NONE, EXPRESSION_NONE, &time));
    } else if (bind_kind(binder, time) == VALUE_TIMESTAMP) {
        made.call.numbers[0] = VALUE_TIMESTAMP;
        RETURN_IF_ERROR(bind_time_units(binder, position, format->unit, &time));
    }
    made.arguments[1] = time;
    return bind_placed(binder, position, expression_text_call(binder->list, &made, node, binder->error));
}

/* strftime(time, format), or with both the other way round, as SQLite has them. */
enum status bind_strftime(struct binder *binder, const struct bound_call *call, uint32_t *node)
{
    struct compiled format = {.unit = CALENDAR_DAY_MICROSECONDS};
    uint32_t time = call->values[0], length;
    struct string_value pattern;
    pattern.text = bind_string_of(binder, call->values[1], &pattern.length);
    if (!pattern.text || bind_kind(binder, time) == VALUE_STRING) { /* a time may be a constant string, too */
        int64_t value;
        const char *const other = bind_string_of(binder, time, &length);
        if (other && !bind_timestamp_parse(other, length, &value)) {
            pattern = (struct string_value){other, length};
            time = call->values[1];
        }
    }
    if (!pattern.text)
        return bind_refuse(binder, call->ast->position, "%s takes a constant format, such as '%%Y-%%m'",
                           call->ast->name);
    RETURN_IF_ERROR(time_of(binder, call, &time));
    if (time == EXPRESSION_NONE)
        return bind_null_string(binder, node);
    if (!compile_letters(&format, pattern.text, pattern.length)) {
        free(format.text.bytes);
        return bind_refuse(
            binder, call->ast->position,
            "the format '%.*s' has a letter that is not known; there are %%Y %%y %%m %%d %%B %%b "
            "%%A %%a %%j %%w %%u %%G %%V %%U %%W %%F %%H %%I %%p %%M %%S %%f %%g %%T %%R and %%%%",
            (int)pattern.length, pattern.text);
    }
    return bind_format(binder, call, &format, time, node);
}

/* to_char(time, patterns) */
enum status bind_to_char(struct binder *binder, const struct bound_call *call, uint32_t *node)
{
    struct compiled format = {.unit = CALENDAR_DAY_MICROSECONDS};
    uint32_t time = call->values[0], length;
    const char *const text = bind_string_of(binder, call->values[1], &length);
    if (bind_is_untyped(binder, call->values[1]))
        return bind_null_string(binder, node);
    if (!text)
        return bind_refuse(binder, call->ast->position, "%s takes constant patterns, such as 'YYYY-MM'",
                           call->ast->name);
    format.zoned = bind_is_zoned(binder, time);
    RETURN_IF_ERROR(time_of(binder, call, &time));
    if (time == EXPRESSION_NONE)
        return bind_null_string(binder, node);
    compile_patterns(&format, text, length);
    if (format.asks_zone && format.zoned && binder->zone) {
        free(format.text.bytes);
        return bind_refuse(binder, call->ast->position,
                           "to_char knows OF, TZ, TZH and TZM only where the statement's time zone is UTC");
    }
    return bind_format(binder, call, &format, time, node);
}

/* ---- strptime ---- */

/* The context is a struct time_format; numbers[0]: a text of another form is NULL. */
static void text_time(const struct string_call *call, const struct string_value *strings,
                      struct string_result *result)
{
    const char *at = strings[0].text, *end = at + strings[0].length;
    while (at < end && *at == ' ')
        at++;
    while (end > at && end[-1] == ' ')
        end--;
    const char *const complaint = time_format_parse(call->context, at, end, false, &result->number);
    result->null = complaint;
    if (complaint && !call->numbers[0])
        result->status =
            error_set(result->error, STATUS_BAD_INPUT, "'%.*s' %s; try_strptime gives NULL for such strings",
                      (int)(strings[0].length < 60 ? strings[0].length : 60), strings[0].text, complaint);
}

/* strptime(text, format) and try_strptime. */
enum status bind_strptime(struct binder *binder, const struct bound_call *call, uint32_t *node)
{
    const struct sql_position position = call->ast->position;
    struct value_type type = {.kind = VALUE_TIMESTAMP};
    struct time_format *compiled;
    uint32_t length;
    const char *const text = bind_string_of(binder, call->values[1], &length);
    if (bind_is_null(binder, call->values[0]) || bind_is_null(binder, call->values[1]) ||
        bind_may_be_constant(binder, call->values[1])) /* the format is not known where types alone are */
        return expression_null(binder->list, type, node, binder->error);
    if (!text)
        return bind_refuse(binder, position, "%s takes a constant format, such as '%%d.%%m.%%Y'",
                           call->ast->name);
    if (bind_kind(binder, call->values[0]) != VALUE_STRING)
        return bind_refuse(binder, position, "%s takes a string, not %s", call->ast->name,
                           bind_kind_name(bind_kind(binder, call->values[0])));
    RETURN_IF_ERROR(memory_take(&compiled, sizeof *compiled, "a format", binder->error));
    const enum status status = time_format_compile(text, length, compiled, binder->error);
    if (status != STATUS_OK) {
        free(compiled);
        return bind_placed(binder, position, status);
    }
    type.zoned = time_format_has_zone(compiled);
    const struct string_call made = {.body = text_time,
                                     .type = type,
                                     .numbers = {call->function->argument},
                                     .count = 1,
                                     .fails = !call->function->argument,
                                     .wide = true,
                                     .bounded = true,
                                     .low = BIND_TIME_LEAST,
                                     .high = BIND_TIME_MOST,
                                     .context = compiled,
                                     .release = free};
    return bind_placed(binder, position,
                       expression_string_call(binder->list, &made, call->values, node, binder->error));
}
