/* reading_options.c: see reading_options.h. */
#include "loader/text/reading_options.h"

#include "storage/base/words/utf8.h"
#include "storage/base/words/word.h"

#include <string.h>

const char *reading_option_name(enum reading_field field)
{
    static const char *const names[] = {"--thousands", "--decimal-mark", "--currency",
                                        "--percent",   "--date-format",  "--timestamp-format"};
    return names[field];
}

static enum status read_mark(const char *value, const struct reading_option *option, char *mark,
                             struct error *error)
{
    if (strlen(value) != 1 || !strchr(",.' _", *value))
        return error_set(error, STATUS_BAD_INPUT, "%s '%s' is none of , . ' _ and a blank",
                         reading_option_name(option->field), value);
    *mark = *value;
    return STATUS_OK;
}

/* A sign is €, $, EUR, kr. or the like: no character that numbers have. */
static enum status read_currency(const char *value, struct text_reading *says, struct error *error)
{
    const size_t length = strlen(value);
    if (length == 0 || length >= sizeof says->currency || strpbrk(value, "0123456789+-%\"") ||
        strchr(",.' _", value[0]) || !utf8_is_valid(value, length))
        return error_set(
            error, STATUS_BAD_INPUT,
            "--currency '%s' is no sign of a currency: $, €, EUR, kr. or what else stands before or "
            "behind amounts, up to %zu bytes",
            value, sizeof says->currency - 1);
    memcpy(says->currency, value, length + 1);
    return STATUS_OK;
}

static enum status read_percent(const char *value, struct text_reading *says, struct error *error)
{
    if (word_compare(value, "points") != 0 && word_compare(value, "fraction") != 0)
        return error_set(
            error, STATUS_BAD_INPUT,
            "--percent '%s' is neither points, where 12.5 %% is 12.5, nor fraction, where it is 0.125",
            value);
    says->percent = word_compare(value, "points") == 0 ? TEXT_PERCENT_POINTS : TEXT_PERCENT_FRACTION;
    return STATUS_OK;
}

/* The length of COLUMN in COLUMN=VALUE; 0 if there is none. A format's letters come before an = of its own. */
static size_t column_length(const char *text)
{
    const size_t length = strcspn(text, "=%");
    return text[length] == '=' ? length : 0;
}

enum status reading_option_read(enum reading_field field, const char *text, struct reading_option *option,
                                struct error *error)
{
    const size_t column = column_length(text);
    const char *const value = text + column + (column > 0);
    *option = (struct reading_option){.field = field, .text = text, .column_length = column};
    switch (field) {
    case READING_THOUSANDS:
        return read_mark(value, option, &option->says.thousands, error);
    case READING_DECIMAL_MARK:
        return read_mark(value, option, &option->says.decimal_mark, error);
    case READING_CURRENCY:
        return read_currency(value, &option->says, error);
    case READING_PERCENT:
        return read_percent(value, &option->says, error);
    case READING_DATE_FORMAT:
    case READING_TIMESTAMP_FORMAT:
        return time_format_compile(value, strlen(value), &option->format, error);
    }
    return STATUS_OK;
}

static bool is_word(const char *text, size_t length, const char *word)
{
    return length == strlen(word) && word_compare_bytes(text, word, length) == 0;
}

bool reading_option_is_of(const struct reading_option *option, const char *table, const char *column)
{
    const char *const text = option->text;
    const size_t length = option->column_length, own = strlen(table);
    return length == 0 || is_word(text, length, column) ||
           (length > own && text[own] == '.' && is_word(text, own, table) &&
            is_word(text + own + 1, length - own - 1, column));
}

static void apply(const struct reading_option *option, struct text_reading *reading)
{
    switch (option->field) {
    case READING_THOUSANDS:
        reading->thousands = option->says.thousands;
        break;
    case READING_DECIMAL_MARK:
        reading->decimal_mark = option->says.decimal_mark;
        break;
    case READING_CURRENCY:
        memcpy(reading->currency, option->says.currency, sizeof reading->currency);
        break;
    case READING_PERCENT:
        reading->percent = option->says.percent;
        break;
    case READING_DATE_FORMAT:
        reading->date_format = &option->format;
        break;
    case READING_TIMESTAMP_FORMAT:
        reading->timestamp_format = &option->format;
        break;
    }
}

struct text_reading reading_of(const struct text_options *options, const char *table, const char *column)
{
    struct text_reading reading = options->reading;
    for (int single = 0; single < 2; single++)
        for (uint32_t o = 0; o < options->reading_count; o++) {
            const struct reading_option *const option = &options->readings[o];
            if ((option->column_length > 0) == single && reading_option_is_of(option, table, column))
                apply(option, &reading);
        }
    if (reading.thousands == '.' && !reading.decimal_mark) /* a point between thousands means a comma */
        reading.decimal_mark = ',';
    return reading;
}

enum status reading_check(const struct text_reading *reading, struct error *error)
{
    if (reading->thousands && reading->thousands == (reading->decimal_mark ? reading->decimal_mark : '.'))
        return error_set(error, STATUS_BAD_INPUT,
                         "--thousands and --decimal-mark are the same character; which is it?");
    return STATUS_OK;
}
