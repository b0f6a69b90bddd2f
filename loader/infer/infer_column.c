/* infer_column.c: what the values of a column are (infer_internal.h). */
#include "loader/infer/infer_internal.h"

#include "loader/text/text_value_internal.h"
#include "storage/base/calendar_text.h"
#include "storage/base/memory.h"
#include "storage/base/words/word.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* ---- Kinds ---- */

static inline struct number_shape shape_of(const struct text_field *field, const struct text_reading *reading)
{
    char plain[TEXT_NUMBER_BYTES];
    const char *at = field->text, *end = at + field->length;
    struct number_shape shape = {0};
    uint32_t zeros = 0, length;
    if (text_has_marks(reading)) {
        if (!text_unmark(reading, field->text, field->length, plain, &length))
            return shape;
        at = plain;
        end = plain + length;
    }
    at += at < end && (*at == '-' || *at == '+');
    const char *const first = at;
    for (; at < end && is_digit(*at); at++)
        shape.whole++;
    shape.zeros_in_front = shape.whole > 1 && *first == '0';
    shape.point = at < end && *at == '.';
    if (shape.point)
        for (at++; at < end && is_digit(*at); at++) {
            shape.scale++;
            zeros = *at == '0' ? zeros + 1 : 0; /* at the end, which a column need not have */
        }
    shape.number = shape.whole + shape.scale > 0;
    if (shape.scale == zeros)
        shape.scale = 0; /* 12.00 is a whole number */
    if (shape.number && at < end && (*at == 'e' || *at == 'E')) {
        at++;
        at += at < end && (*at == '-' || *at == '+');
        shape.exponent = at < end;
        while (at < end && is_digit(*at))
            at++;
    }
    shape.number = shape.number && at == end;
    return shape;
}

struct number_shape infer_number_shape(const struct text_field *field, const struct text_reading *reading)
{
    return shape_of(field, reading);
}

static bool is_word(const struct text_field *field, const char *const *words)
{
    while (*words &&
           (field->length != strlen(*words) || word_compare_bytes(*words, field->text, field->length) != 0))
        words++;
    return *words;
}

static const char *const truths[] = {"true", "false", "t", "f", "yes", "no", NULL};
static const char *const no_numbers[] = {"nan",      "inf",       "-inf", "+inf",
                                         "infinity", "-infinity", NULL}; /* doubles */

void infer_column_widen(struct infer_column *column, int64_t value)
{
    column->least = column->has_range && column->least < value ? column->least : value;
    column->greatest = column->has_range && column->greatest > value ? column->greatest : value;
    column->has_range = true;
}

/* The kinds that a value of the forms has that options give. */
static uint32_t formed_kinds(struct infer_column *column, const struct text_field *field,
                             const struct text_reading *reading)
{
    const char *const at = field->text, *const end = at + field->length;
    const struct time_format *const formats[] = {reading->date_format, reading->timestamp_format};
    uint32_t kinds = 0;
    for (int f = 0; f < 2; f++) {
        int64_t value;
        if (!formats[f] || time_format_parse(formats[f], at, end, true, &value) ||
            (f == 0 && value % CALENDAR_DAY_MICROSECONDS))
            continue;
        infer_column_widen(column, value);
        column->offsets |= f == 1 && time_format_has_zone(formats[f]);
        kinds |= f == 0 ? KIND_DATE : KIND_TIME;
    }
    return kinds;
}

/* The kinds that a value without such a form has. */
static uint32_t plain_kinds(struct infer_column *column, const struct text_field *field,
                            const struct text_reading *reading)
{
    const struct column_schema whole = {.type = TYPE_INT64}, real = {.type = TYPE_DOUBLE};
    const char *at = field->text, *const end = at + field->length;
    int64_t value;
    const struct number_shape shape = shape_of(field, reading);
    column->plain = shape;
    if (shape.number) {
        column->zeros_in_front |= shape.zeros_in_front;
        column->whole = column->whole > shape.whole ? column->whole : shape.whole;
        column->scale = column->scale > shape.scale ? column->scale : shape.scale;
        if (shape.exponent) /* not 1e400 */
            return text_value(reading, &real, field->text, field->length, &value) ? 0 : KIND_FLOAT;
        if (shape.scale == 0 && !text_value(reading, &whole, field->text, field->length, &value)) {
            infer_column_widen(column, value);
            return KIND_INT | KIND_DECIMAL | KIND_FLOAT;
        }
        return KIND_DECIMAL | KIND_FLOAT;
    }
    if (field->length >= 10 && calendar_parse_date(&at, end, &value) == NULL) {
        if (at == end) {
            infer_column_widen(column, value * CALENDAR_DAY_MICROSECONDS);
            column->no_offsets = true;
            return KIND_DATE | KIND_TIME;
        }
        const char *const complaint = calendar_parse_time(field->text, end, true, &value);
        int64_t exact;
        column->nanoseconds |= !complaint && calendar_parse_time(field->text, end, false, &exact) != NULL;
        if (!complaint) {
            infer_column_widen(column, value);
            column->offsets |= calendar_has_offset(field->text, end);
            column->no_offsets |= !calendar_has_offset(field->text, end);
        }
        return complaint ? 0 : KIND_TIME;
    }
    return is_word(field, truths) ? KIND_BOOL : is_word(field, no_numbers) ? KIND_FLOAT : 0;
}

static uint32_t kinds_of(struct infer_column *column, const struct text_field *field,
                         const struct text_reading *reading)
{
    const uint32_t formed =
        (reading->date_format ? KIND_DATE : 0) | (reading->timestamp_format ? KIND_TIME : 0);
    const uint32_t kinds = formed ? formed_kinds(column, field, reading) : 0;
    return kinds ? kinds : plain_kinds(column, field, reading) & ~formed;
}

bool infer_is_value(const struct text_field *field, const struct text_reading *reading)
{
    struct infer_column column = {0};
    return field->length != TEXT_NULL && (kinds_of(&column, field, reading) & ~(uint32_t)KIND_BOOL) != 0;
}

static void keep_odd(struct infer_column *column, const struct text_field *field)
{
    const uint32_t most = SHOWN_BYTES - 1, length = field->length < most ? field->length : most;
    uint32_t kept = length;
    while (kept < field->length && kept > 0 && ((unsigned char)field->text[kept] & 0xc0) == 0x80)
        kept--; /* whole characters */
    for (uint32_t i = 0; i < kept; i++)
        column->not_number[i] = (unsigned char)field->text[i] < ' ' ? '?' : field->text[i];
    column->not_number[kept] = '\0';
}

/* Whether all values so far have a form in common. */
static bool has_form(const struct infer_column *column)
{
    bool alive = column->time_forms != 0;
    for (uint32_t f = 0; f < INFER_NUMBER_FORMS; f++)
        alive |= !column->number_forms[f].dead;
    return alive;
}

enum status infer_column_add(struct infer_column *column, const struct infer_forms *forms,
                             const struct text_field *field, struct error *error)
{
    if (field->length == TEXT_NULL) {
        column->nulls++;
        return STATUS_OK;
    }
    column->plain.number = false;
    const uint32_t kinds = column->kinds ? kinds_of(column, field, &column->reading) : 0;
    if (column->kinds && !(column->kinds & kinds) && column->values)
        keep_odd(column, field);
    column->kinds &= kinds;
    if (has_form(column))
        infer_forms_add(column, forms, field);
    return infer_column_count(column, field, error);
}

/* Counts a value, by the hash of its text. */
static enum status count_word(struct infer_column *column, uint64_t word, struct error *error)
{
    const uint64_t had = column->distinct.table.count;
    if (column->uncounted)
        return STATUS_OK;
    RETURN_IF_ERROR(hash_words_add(&column->distinct, word, error));
    column->duplicates |= column->distinct.table.count == had;
    if (column->distinct.table.count > (column->duplicates ? DISTINCT_MAX : UNIQUE_MAX)) {
        column->uncounted = true;
        hash_words_free(&column->distinct);
    }
    return STATUS_OK;
}

enum status infer_column_count_word(struct infer_column *column, uint64_t word, struct error *error)
{
    column->values++;
    if (column->uncounted)
        return STATUS_OK;
    uint64_t *const waiting = &column->waiting[column->counted % INFER_WAITING];
    if (column->counted++ >= INFER_WAITING)
        RETURN_IF_ERROR(count_word(column, *waiting, error));
    *waiting = word;
    if (column->distinct.table.capacity)
        hash_table_prefetch(&column->distinct.table, hash_mix(*waiting));
    return STATUS_OK;
}

enum status infer_column_count(struct infer_column *column, const struct text_field *field,
                               struct error *error)
{
    column->longest = column->longest > field->length ? column->longest : field->length;
    return infer_column_count_word(column, column->uncounted ? 0 : XXH3_64bits(field->text, field->length),
                                   error);
}

enum status infer_column_finish(struct infer_column *column, struct error *error)
{
    for (uint64_t v = column->counted > INFER_WAITING ? column->counted - INFER_WAITING : 0;
         v < column->counted; v++)
        RETURN_IF_ERROR(count_word(column, column->waiting[v % INFER_WAITING], error));
    return STATUS_OK;
}

void infer_column_type(const struct infer_column *column, char type[32])
{
    const uint32_t kinds = column->values || column->declared ? column->kinds : 0;
    const bool fits = column->whole + column->scale <= 18;
    struct infer_form form;
    if (infer_form_find(column, &form)) {
        snprintf(type, 32, "%s", form.type);
        return;
    }
    if (column->zeros_in_front && (kinds & KIND_INT))
        snprintf(type, 32, "TEXT");
    else if (kinds & KIND_INT)
        snprintf(type, 32, column->least < INT32_MIN || column->greatest > INT32_MAX ? "BIGINT" : "INT");
    else if ((kinds & KIND_DECIMAL) && (fits || !(kinds & KIND_FLOAT)))
        snprintf(type, 32, "DECIMAL(%u,%u)",
                 column->precision                    ? (column->precision < 18 ? column->precision : 18)
                 : column->whole + column->scale < 9  ? 9
                 : column->whole + column->scale < 16 ? 16
                                                      : 18,
                 column->scale < 18 ? column->scale : 18);
    else if (kinds & KIND_FLOAT)
        snprintf(type, 32, "DOUBLE");
    else if (kinds & KIND_DATE)
        snprintf(type, 32, "DATE");
    else if (kinds & KIND_TIME)
        snprintf(type, 32, column->offsets && !column->no_offsets ? ZONED_TYPE : "TIMESTAMP");
    else
        snprintf(type, 32, (kinds & KIND_BOOL) ? "BOOLEAN" : "TEXT");
}
