/*
 * infer_forms.c: whether a column of text has numbers or dates in a form that an option of a load reads: decimal commas, commas
 * between thousands, days before months (infer_internal.h).
 *
 * A form is proposed only if all values have it and no other form reads them all. 1,234 may be either number, and 01/02/2024
 * either day: if a column has only such values, it stays text.
 */
#include "loader/infer/infer_internal.h"

#include "loader/text/text_value_internal.h"
#include "storage/base/calendar.h"

#include <stdio.h>
#include <string.h>

/* Between day and month there is nothing else that these could be: years have four digits, unless there is a time. */
static const char *const time_forms[INFER_TIME_FORMS] = {
    "%d.%m.%Y",       "%d/%m/%Y",       "%m/%d/%Y",
    "%d-%m-%Y",       "%m-%d-%Y",       "%Y/%m/%d",
    "%d.%m.%Y %H:%M", "%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M",
    "%Y/%m/%d %H:%M", "%d.%m.%y %H:%M", "%d.%m.%Y %T",
    "%d/%m/%Y %T",    "%m/%d/%Y %T",    "%Y/%m/%d %T",
    "%d.%m.%y %T",    "%d/%b/%Y:%T %z", "%m/%d/%Y %I:%M:%S %p"};

static const struct text_reading number_readings[INFER_NUMBER_FORMS] = {
    {.thousands = '.', .decimal_mark = ','}, {.thousands = ','}};

enum status infer_forms_compile(struct infer_forms *forms, struct error *error)
{
    for (uint32_t f = 0; f < INFER_TIME_FORMS; f++)
        RETURN_IF_ERROR(time_format_compile(time_forms[f], strlen(time_forms[f]), &forms->times[f], error));
    return STATUS_OK;
}

static uint32_t time_forms_of(const struct infer_forms *forms, const struct text_field *field, uint32_t asked)
{
    uint32_t found = 0;
    if (field->length < 8 || field->length > 32)
        return 0;
    for (uint32_t f = 0; f < INFER_TIME_FORMS; f++) {
        int64_t value;
        if (asked >> f & 1 &&
            !time_format_parse(&forms->times[f], field->text, field->text + field->length, false, &value))
            found |= 1u << f;
    }
    return found;
}

static void number_form_add(struct infer_number_form *form, const struct number_shape *shape)
{
    form->dead |= !shape->number || shape->exponent || shape->zeros_in_front;
    form->whole = form->whole > shape->whole ? form->whole : shape->whole;
    form->scale = form->scale > shape->scale ? form->scale : shape->scale;
}

void infer_forms_add(struct infer_column *column, const struct infer_forms *forms,
                     const struct text_field *field)
{
    const struct number_shape *const plain = &column->plain;
    column->points |= plain->number ? plain->point : memchr(field->text, '.', field->length) != NULL;
    if (column->time_forms)
        column->time_forms &= plain->number ? 0 : time_forms_of(forms, field, column->time_forms);
    for (uint32_t f = 0; f < INFER_NUMBER_FORMS; f++) {
        struct infer_number_form *const form = &column->number_forms[f];
        if (form->dead)
            continue;
        if (plain->number && (number_readings[f].decimal_mark == 0 || !plain->point)) {
            number_form_add(form, plain); /* it has none of the form's marks */
            continue;
        }
        const struct number_shape shape = infer_number_shape(field, &number_readings[f]);
        number_form_add(form, &shape);
    }
}

/* The option and the type of the number form that is the only one; false if there is none, or both are. */
static bool number_form_find(const struct infer_column *column, struct infer_form *found)
{
    const struct infer_number_form *const forms = column->number_forms;
    if (forms[0].dead == forms[1].dead || column->zeros_in_front)
        return false;
    const uint32_t f = forms[0].dead;
    const uint32_t whole = forms[f].whole, scale = forms[f].scale;
    if (whole + scale > 18)
        return false;
    found->option = f == 0 && !column->points ? "--decimal-mark" : "--thousands";
    found->value = f == 0 && column->points ? "." : ",";
    if (scale)
        snprintf(found->type, sizeof found->type, "DECIMAL(%u,%u)",
                 whole + scale < 9    ? 9
                 : whole + scale < 16 ? 16
                                      : 18,
                 scale);
    else
        snprintf(found->type, sizeof found->type, whole < 10 ? "INT" : "BIGINT");
    return true;
}

bool infer_form_find(const struct infer_column *column, struct infer_form *found)
{
    const uint32_t times = column->time_forms;
    *found = (struct infer_form){0};
    if (!column->values || column->kinds || column->declared || strpbrk(column->name, "=%'"))
        return false; /* an option cannot name such a column */
    if (times == 0)
        return number_form_find(column, found);
    if (times & (times - 1))
        return false;
    const uint32_t f = (uint32_t)__builtin_ctz(times);
    const bool has_time = strchr(time_forms[f], 'T') || strchr(time_forms[f], ':');
    found->option = has_time ? "--timestamp-format" : "--date-format";
    found->value = time_forms[f];
    snprintf(found->type, sizeof found->type, "%s",
             strchr(time_forms[f], 'z') ? ZONED_TYPE
             : has_time                 ? "TIMESTAMP"
                                        : "DATE");
    return true;
}
