/* codec_spec.c: see codec_spec.h. */
#include "storage/codec_spec.h"

#include <stdio.h>
#include <string.h>

/* The next part of *spec, without its comma, into `part`; false at the end. */
static bool part_next(const char **spec, char *part, size_t bytes)
{
    if (!*spec)
        return false;
    size_t length = strcspn(*spec, ",");
    snprintf(part, bytes, "%.*s", (int)(length < bytes ? length : bytes - 1), *spec);
    *spec = (*spec)[length] == ',' ? *spec + length + 1 : NULL;
    return true;
}

enum status codec_spec_find(const char *spec, const char *column, struct codec_choice *choice, bool *chosen,
                            struct error *error)
{
    char part[160];
    *chosen = false;
    while (part_next(&spec, part, sizeof part)) {
        char *name = strchr(part, '=');
        struct codec_choice parsed;
        if (name)
            *name = '\0';
        RETURN_IF_ERROR(codec_choice_parse(name ? name + 1 : part, &parsed, error));
        if (name && strcmp(part, column) != 0)
            continue;
        *choice = parsed;
        *chosen = true;
    }
    return STATUS_OK;
}

bool codec_spec_column(const char *spec, uint32_t index, char *name, size_t bytes)
{
    char part[160];
    while (part_next(&spec, part, sizeof part)) {
        char *equals = strchr(part, '=');
        if (!equals || index-- > 0)
            continue;
        *equals = '\0';
        snprintf(name, bytes, "%s", part);
        return true;
    }
    return false;
}
