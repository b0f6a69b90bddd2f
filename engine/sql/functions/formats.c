/* formats.c: values as text (functions.h). Text is a code of a dictionary, so values that are not constants
 * need a table of all numbers between the least and the greatest value. */
#include "engine/sql/functions/functions.h"

#include "engine/plan/value_text.h"
#include "engine/plan/value_write.h"
#include "storage/base/words/utf8.h"

#include <stdio.h>

/* The most values of such a table. */
#define TEXTS_MAX (INT64_C(1) << 20)

/* What a table of texts is made of. */
struct text_format {
    struct value_type type;
    struct string_value pattern; /* of strftime; its text is NULL for others */
    int64_t unit;                /* the values of a timestamp are so many microseconds */
};

static void write_format(struct string_buffer *out, struct string_value pattern, int64_t days,
                         int64_t microseconds);

static void text_of(const struct string_call *call, const struct string_value *none,
                    struct string_result *result)
{
    const struct text_format *format = call->context;
    const int64_t value = call->numbers[2];
    char text[VALUE_WRITE_BYTES];
    (void)none;
    if (!format->pattern.text) {
        string_put(result->text, text, (uint64_t)(write_value(text, format->type, value) - text));
        return;
    }
    const bool is_date = format->type.kind == VALUE_DATE;
    const int64_t time = is_date ? 0 : value * format->unit;
    const int64_t days = is_date ? value : calendar_floor(time, CALENDAR_DAY_MICROSECONDS);
    write_format(result->text, format->pattern, days, is_date ? 0 : time - days * CALENDAR_DAY_MICROSECONDS);
}

/* Rows in memory have the texts of their own values alone (engine/relational/texts.c). */
static void tell_many(const struct binder *binder)
{
    if (binder->many_texts)
        *binder->many_texts = true;
    if (binder->no_star)
        *binder->no_star = true;
}

/* Adds the node of the texts of a value, whose numbers are those of `child`. */
static enum status texts(struct binder *binder, struct sql_position position, struct text_format *format,
                         uint32_t child, uint32_t *node)
{
    const struct string_call call = {
        .body = text_of, .type = {.kind = VALUE_STRING}, .count = 0, .context = format};
    int64_t low = bind_node(binder, child)->low, high = bind_node(binder, child)->high;
    if (bind_is_null(binder, child) || low > high)
        low = high = 0;
    const bool many = (__int128)high - low >= TEXTS_MAX || low == INT64_MIN;
    if (many && !format->pattern.text)
        tell_many(binder);
    if (many)
        return bind_refuse(
            binder, position,
            "%s becomes text here, and has %.0f possible values, more than %d; output it as it "
            "is, or make it coarser (round, date_trunc, CAST to DATE) first",
            bind_kind_name(format->type.kind), (double)high - (double)low + 1, (int)TEXTS_MAX);
    return bind_placed(binder, position,
                       expression_number_texts(binder->list, &call, child, low, high, node, binder->error));
}

/* Doubles have no range of whole numbers, so only constants become text. */
static enum status text_of_double(struct binder *binder, struct sql_position position, uint32_t *node)
{
    char text[VALUE_WRITE_BYTES];
    if (bind_is_null(binder, *node) || bind_may_be_constant(binder, *node))
        return bind_null_string(binder, node);
    if (!expression_is_constant(binder->list, *node)) {
        tell_many(binder);
        return bind_refuse(binder, position,
                           "a floating-point number cannot become text here; output it as it is, or CAST it "
                           "to DECIMAL(p,s) with few digits first");
    }
    const char *const end = write_double(text, bind_node(binder, *node)->constant);
    return expression_string_constant(binder->list, text, (uint32_t)(end - text), node, binder->error);
}

enum status bind_text(struct binder *binder, struct sql_position position, uint32_t *node)
{
    const struct value_type type = bind_node(binder, *node)->type;
    struct text_format format = {.type = type};
    if (type.kind == VALUE_STRING)
        return STATUS_OK;
    if (type.kind == VALUE_DOUBLE)
        return text_of_double(binder, position, node);
    return texts(binder, position, &format, *node, node);
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
    const struct string_call made = {.body = character_of, .type = {.kind = VALUE_STRING}};
    const struct expression code = *bind_node(binder, call->values[0]);
    if (bind_is_null(binder, call->values[0]))
        return bind_null_string(binder, node);
    if (code.type.kind != VALUE_INTEGER || code.type.scale)
        return bind_refuse(binder, call->ast->position, "%s takes a whole number, not %s", call->ast->name,
                           bind_kind_name(code.type.kind));
    if ((__int128)code.high - code.low > 0x10ffff || code.low == INT64_MIN)
        return bind_refuse(
            binder, call->ast->position,
            "%s takes the number of a character, and here has %.0f possible values; write %s(x "
            "%% 1114112)",
            call->ast->name, (double)code.high - (double)code.low + 1, call->ast->name);
    if (code.low > code.high)
        return bind_null_string(binder, node);
    return bind_placed(binder, call->ast->position,
                       expression_number_texts(binder->list, &made, call->values[0], code.low, code.high,
                                               node, binder->error));
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
    struct text_format made = {.type = {.kind = kind}, .pattern = pattern, .unit = format_unit(pattern)};
    if (made.unit == 0)
        return bind_refuse(
            binder, position,
            "the format '%.*s' has a letter that is not known; there are %%Y %%y %%m %%d %%B %%b "
            "%%A %%a %%j %%w %%u %%G %%V %%U %%W %%F %%H %%I %%p %%M %%S %%T %%R and %%%%",
            (int)pattern.length, pattern.text);
    if (kind == VALUE_DATE)
        return texts(binder, position, &made, time, node);
    if (made.unit == CALENDAR_DAY_MICROSECONDS) {
        made.type.kind = VALUE_DATE;
        RETURN_IF_ERROR(
            bind_apply(binder, position, EXPRESSION_TO_DATE, time, EXPRESSION_NONE, EXPRESSION_NONE, &time));
        return texts(binder, position, &made, time, node);
    }
    RETURN_IF_ERROR(bind_time_units(binder, position, made.unit, &time));
    return texts(binder, position, &made, time, node);
}
