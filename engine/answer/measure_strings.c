/* measure_strings.c: string_agg (regrouped.h). */
#include "engine/answer/regrouped.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

static uint64_t joined_length(const struct strings_joined *strings, const struct measure_entry *entries,
                              uint64_t count)
{
    uint64_t bytes = 0;
    uint32_t length;
    for (uint64_t e = 0; e < count; e++) {
        (void)dictionary_string(strings->dictionary, entries[e].value, &length);
        bytes += (strings->distinct ? 1 : entries[e].rows) * (length + (uint64_t)strings->separator_length);
    }
    return bytes;
}

static char *put(char *at, const char *text, uint64_t length)
{
    if (length)
        memcpy(at, text, length);
    return at + length;
}

enum status measure_text_make(const struct strings_joined *strings, const struct measure_entry *entries,
                              uint64_t count, struct memory_charge *charge, struct measure_text **out,
                              struct error *error)
{
    struct measure_text *text;
    const uint64_t bytes = joined_length(strings, entries, count);
    RETURN_IF_ERROR(memory_charge_add(charge, 2 * (sizeof *text + bytes), /* the dictionary gets them, too */
                                      "a text of string_agg", error));
    RETURN_IF_ERROR(memory_take(&text, sizeof *text + bytes, "the strings of string_agg", error));
    char *at = text->bytes;
    for (uint64_t e = 0; e < count; e++) {
        uint32_t length;
        const char *const string = dictionary_string(strings->dictionary, entries[e].value, &length);
        for (uint64_t row = 0; row < (strings->distinct ? 1 : entries[e].rows); row++) {
            if (e || row)
                at = put(at, strings->separator, strings->separator_length);
            at = put(at, string, length);
        }
    }
    text->length = (uint64_t)(at - text->bytes);
    *out = text;
    return STATUS_OK;
}

void measure_texts_free(struct measure_column *column)
{
    for (uint64_t group = 0; group < column->measured; group++)
        if (!column->nulls[group])
            free((void *)(intptr_t)column->values[group]);
    column->texts = false;
}

static const struct measure_text *text_of(int64_t value)
{
    return (const struct measure_text *)(intptr_t)value;
}

enum status measure_texts_finish(struct measure_column *column, struct error *error)
{
    uint64_t *starts, bytes = 0;
    char *at;
    for (uint64_t group = 0; group < column->measured; group++)
        bytes += column->nulls[group] ? 0 : text_of(column->values[group])->length;
    column->strings = column->measured <= UINT32_MAX
                          ? dictionary_new((uint32_t)column->measured, bytes, &starts, &at)
                          : NULL;
    if (!column->strings)
        return error_out_of_memory(error, bytes, "the strings of string_agg");
    starts[0] = 0;
    for (uint64_t group = 0; group < column->measured; group++) {
        const struct measure_text *const text = column->nulls[group] ? NULL : text_of(column->values[group]);
        at = text ? put(at, text->bytes, text->length) : at;
        starts[group + 1] = starts[group] + (text ? text->length : 0);
    }
    measure_texts_free(column);
    for (uint64_t group = 0; group < column->measured; group++)
        column->values[group] = (int64_t)group;
    return STATUS_OK;
}
