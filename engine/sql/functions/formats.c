/* formats.c: values as text (functions.h). */
#include "engine/sql/functions/functions.h"

#include "engine/plan/value_text.h"
#include "engine/plan/value_write.h"
#include "storage/base/words/utf8.h"

#include <stdio.h>

static void write_format(struct string_buffer *out, struct string_value pattern, int64_t days,
                         int64_t microseconds);

/* The type is in numbers[0]: the kind, and the scale from bit 8 on. */
static void text_of(const struct string_call *call, const struct string_value *none,
                    struct string_result *result)
{
    const struct value_type type = {.kind = (enum value_kind)(call->numbers[0] & 255),
                                    .scale = (uint8_t)(call->numbers[0] >> 8)};
    char text[VALUE_WRITE_BYTES];
    (void)none;
    string_put(result->text, text, (uint64_t)(write_value(text, type, call->numbers[2]) - text));
}

/* strftime of dates, or of times that are so many units of numbers[1] microseconds. */
static void time_text(const struct string_call *call, const struct string_value *pattern,
                      struct string_result *result)
{
    const bool is_date = call->numbers[0] == VALUE_DATE;
    const int64_t time = is_date ? 0 : call->numbers[2] * call->numbers[1];
    const int64_t days = is_date ? call->numbers[2] : calendar_floor(time, CALENDAR_DAY_MICROSECONDS);
    write_format(result->text, *pattern, days, is_date ? 0 : time - days * CALENDAR_DAY_MICROSECONDS);
}

enum status bind_text(struct binder *binder, struct sql_position position, uint32_t *node)
{
    const struct value_type type = bind_node(binder, *node)->type;
    const struct text_call call = {.call = {.body = text_of,
                                            .type = {.kind = VALUE_STRING},
                                            .numbers = {type.kind | (int64_t)type.scale << 8},
                                            .total = true},
                                   .number_count = 1,
                                   .first_number = 2,
                                   .arguments = {*node}};
    char text[VALUE_WRITE_BYTES];
    if (type.kind == VALUE_STRING)
        return STATUS_OK;
    if (bind_is_null(binder, *node) || (type.kind == VALUE_DOUBLE && bind_may_be_constant(binder, *node)))
        return bind_null_string(binder, node);
    if (type.kind == VALUE_DOUBLE && expression_is_constant(binder->list, *node)) {
        const char *const end = write_double(text, bind_node(binder, *node)->constant);
        return expression_string_constant(binder->list, text, (uint32_t)(end - text), node, binder->error);
    }
    return bind_placed(binder, position, expression_text_call(binder->list, &call, node, binder->error));
}

static void character_of(const struct string_call *call, const struct string_value *none,
                         struct string_result *result)
{
    const int64_t code = call->numbers[2];
    char text[4];
    (void)none;
    result->null = code < 1 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000);
    if (!result->null)
        string_put(result->text, text, (uint64_t)utf8_write((uint32_t)code, text));
}

/* chr(n): the character of that code; NULL if there is none. */
enum status bind_chr(struct binder *binder, const struct bound_call *call, uint32_t *node)
{
    const struct text_call made = {.call = {.body = character_of, .type = {.kind = VALUE_STRING}},
                                   .number_count = 1,
                                   .first_number = 2,
                                   .arguments = {call->values[0]}};
    const struct expression code = *bind_node(binder, call->values[0]);
    if (bind_is_null(binder, call->values[0]))
        return bind_null_string(binder, node);
    if (code.type.kind != VALUE_INTEGER || code.type.scale)
        return bind_refuse(binder, call->ast->position, "%s takes a whole number, not %s", call->ast->name,
                           bind_kind_name(code.type.kind));
    if (code.low > code.high)
        return bind_null_string(binder, node);
    return bind_placed(binder, call->ast->position,
                       expression_text_call(binder->list, &made, node, binder->error));
}

/* ---- strftime ---- */

static void put_number(struct string_buffer *out, int64_t value, int digits)
{
    char text[24];
    const int length = snprintf(text, sizeof text, "%0*lld", digits, (long long)value);
    string_put(out, text, (uint64_t)length);
}

static const char *const month_names[] = {"January",   "February", "March",    "April",
                                          "May",       "June",     "July",     "August",
                                          "September", "October",  "November", "December"};
static const char *const day_names[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                        "Thursday", "Friday", "Saturday"};

static void write_day_field(struct string_buffer *out, char letter, int64_t days)
{
    const struct calendar_date date = calendar_date_of(days);
    const int64_t of_week = calendar_date_field(days, CALENDAR_DAY_OF_WEEK),
                  of_year = calendar_date_field(days, CALENDAR_DAY_OF_YEAR);
    switch (letter) {
    case 'Y':
        put_number(out, date.year, 4);
        break;
    case 'y':
        put_number(out, date.year - calendar_floor(date.year, 100) * 100, 2);
        break;
    case 'm':
        put_number(out, date.month, 2);
        break;
    case 'd':
        put_number(out, date.day, 2);
        break;
    case 'j':
        put_number(out, of_year, 3);
        break;
    case 'w':
        put_number(out, of_week, 1);
        break;
    case 'u':
        put_number(out, calendar_iso_day(days), 1);
        break;
    case 'G':
        put_number(out, calendar_date_field(days, CALENDAR_ISO_YEAR), 4);
        break;
    case 'V':
        put_number(out, calendar_date_field(days, CALENDAR_WEEK), 2);
        break;
    case 'U': /* weeks from the first Sunday on */
        put_number(out, (of_year + 6 - of_week) / 7, 2);
        break;
    case 'W': /* weeks from the first Monday on */
        put_number(out, (of_year + 6 - (of_week + 6) % 7) / 7, 2);
        break;
    case 'B':
    case 'b':
        string_put(out, month_names[date.month - 1], letter == 'b' ? 3 : strlen(month_names[date.month - 1]));
        break;
    case 'A':
    case 'a':
        string_put(out, day_names[of_week], letter == 'a' ? 3 : strlen(day_names[of_week]));
        break;
    default:
        break;
    }
}

static void write_time_field(struct string_buffer *out, char letter, int64_t microseconds)
{
    const int64_t seconds = microseconds / 1000000, hour = seconds / 3600;
    switch (letter) {
    case 'H':
        put_number(out, hour, 2);
        break;
    case 'I':
        put_number(out, (hour + 11) % 12 + 1, 2);
        break;
    case 'p':
        string_put(out, hour < 12 ? "AM" : "PM", 2);
        break;
    case 'M':
        put_number(out, seconds / 60 % 60, 2);
        break;
    case 'S':
        put_number(out, seconds % 60, 2);
        break;
    default:
        break;
    }
}

#define DAY_LETTERS "YymdjwuGVUWBbAa"

static void write_format(struct string_buffer *out, struct string_value pattern, int64_t days,
                         int64_t microseconds)
{
    static const struct string_value whole_date = {"%Y-%m-%d", 8}, whole_time = {"%H:%M:%S", 8},
                                     minutes = {"%H:%M", 5};
    for (uint32_t i = 0; i < pattern.length; i++) {
        const char *const c = pattern.text + i;
        if (*c != '%') {
            string_put(out, c, 1);
            continue;
        }
        const char letter = c[1]; /* format_unit has found one */
        i++;
        if (letter == '%')
            string_put(out, c, 1);
        else if (letter == 'F')
            write_format(out, whole_date, days, microseconds);
        else if (letter == 'T' || letter == 'R')
            write_format(out, letter == 'T' ? whole_time : minutes, days, microseconds);
        else if (strchr(DAY_LETTERS, letter))
            write_day_field(out, letter, days);
        else
            write_time_field(out, letter, microseconds);
    }
}

/* The longest time, in microseconds, within which all texts of a format are equal; 0 if a letter is unknown. */
static int64_t format_unit(struct string_value pattern)
{
    int64_t unit = CALENDAR_DAY_MICROSECONDS;
    for (uint32_t i = 0; i < pattern.length; i++) {
        if (pattern.text[i] != '%')
            continue;
        const char letter = ++i < pattern.length ? pattern.text[i] : '\0';
        if (!letter || !strchr(DAY_LETTERS "%FTRHIpMS", letter))
            return 0;
        const int64_t here = strchr("TS", letter)    ? 1000000
                             : strchr("RM", letter)  ? 60000000
                             : strchr("HIp", letter) ? 3600000000
                                                     : CALENDAR_DAY_MICROSECONDS;
        unit = here < unit ? here : unit;
    }
    return unit;
}

/* strftime(time, format), or with both the other way round, as SQLite has them. */
enum status bind_strftime(struct binder *binder, const struct bound_call *call, uint32_t *node)
{
    const struct sql_position position = call->ast->position;
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
        return bind_refuse(binder, position, "%s takes a constant format, such as '%%Y-%%m'",
                           call->ast->name);
    RETURN_IF_ERROR(bind_date_of_string(binder, &time));
    const enum value_kind kind = bind_kind(binder, time);
    if (bind_is_untyped(binder, time))
        return bind_null_string(binder, node);
    if (kind != VALUE_DATE && kind != VALUE_TIMESTAMP)
        return bind_refuse(binder, position, "%s takes a date or timestamp, not %s", call->ast->name,
                           bind_kind_name(kind));
    const int64_t unit = format_unit(pattern);
    if (unit == 0)
        return bind_refuse(
            binder, position,
            "the format '%.*s' has a letter that is not known; there are %%Y %%y %%m %%d %%B %%b "
            "%%A %%a %%j %%w %%u %%G %%V %%U %%W %%F %%H %%I %%p %%M %%S %%T %%R and %%%%",
            (int)pattern.length, pattern.text);
    struct text_call made = {.call = {.body = time_text,
                                      .type = {.kind = VALUE_STRING},
                                      .numbers = {VALUE_DATE, unit},
                                      .count = 1,
                                      .total = true},
                             .number_count = 1,
                             .first_number = 2};
    if (kind == VALUE_TIMESTAMP && unit == CALENDAR_DAY_MICROSECONDS) {
        RETURN_IF_ERROR(
            bind_apply(binder, position, EXPRESSION_TO_DATE, time, EXPRESSION_NONE, EXPRESSION_NONE, &time));
    } else if (kind == VALUE_TIMESTAMP) {
        made.call.numbers[0] = VALUE_TIMESTAMP;
        RETURN_IF_ERROR(bind_time_units(binder, position, unit, &time));
    }
    made.arguments[1] = time;
    RETURN_IF_ERROR(expression_string_constant(binder->list, pattern.text, pattern.length, made.arguments,
                                               binder->error));
    return bind_placed(binder, position, expression_text_call(binder->list, &made, node, binder->error));
}
