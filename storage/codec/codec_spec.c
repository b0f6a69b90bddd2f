/* codec_spec.c: see codec_spec.h. */
#include "storage/codec/codec_spec.h"

#include <stdio.h>
#include <string.h>

#define PART_BYTES 160

/* Copies the next part of *spec, without its comma, to `part`; false at the end. A part that is longer than
 * any names is cut, and then matches no name. */
static bool part_next(const char **spec, char part[PART_BYTES])
{
    if (!*spec)
        return false;
    size_t length = strcspn(*spec, ",");
    snprintf(part, PART_BYTES, "%.*s", (int)(length < PART_BYTES ? length : PART_BYTES - 1), *spec);
    *spec = (*spec)[length] == ',' ? *spec + length + 1 : NULL;
    return true;
}

enum status codec_spec_find(const char *spec, const char *column, struct codec_choice *choice,
                            enum codec_spec_part *found, struct error *error)
{
    char part[PART_BYTES];
    struct codec_choice choices[3] = {{0}}; /* by codec_spec_part */
    while (part_next(&spec, part)) {
        char *equals = strchr(part, '=');
        struct codec_choice parsed;
        if (part[0] == '\0' || equals == part)
            return error_set(error, STATUS_BAD_INPUT,
                             "'%s' in the list of codecs is neither CODEC nor COLUMN=CODEC", part);
        RETURN_IF_ERROR(codec_choice_parse(equals ? equals + 1 : part, &parsed, error));
        if (equals)
            *equals = '\0';
        if (equals && strcmp(part, column) != 0)
            continue;
        struct codec_choice *place = &choices[equals ? CODEC_SPEC_COLUMN : CODEC_SPEC_ALL];
        if (place->name)
            return error_set(error, STATUS_BAD_INPUT,
                             "the list of codecs names %s twice, %s and %s; keep one",
                             equals ? column : "the codec of all columns", place->name, parsed.name);
        *place = parsed;
    }
    *found = choices[CODEC_SPEC_COLUMN].name ? CODEC_SPEC_COLUMN
             : choices[CODEC_SPEC_ALL].name  ? CODEC_SPEC_ALL
                                             : CODEC_SPEC_NOTHING;
    *choice = choices[*found];
    return STATUS_OK;
}

bool codec_spec_column(const char *spec, uint32_t index, char *name, size_t bytes)
{
    char part[PART_BYTES];
    while (part_next(&spec, part)) {
        char *equals = strchr(part, '=');
        if (!equals || equals == part || index-- > 0)
            continue;
        *equals = '\0';
        snprintf(name, bytes, "%s", part);
        return true;
    }
    return false;
}
