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

static char *put(char *at, const char *text, uint32_t length)
{
    if (length)
        memcpy(at, text, length);
    return at + length;
}

enum status measure_text_make(const struct strings_joined *strings, const struct measure_entry *entries,
                              uint64_t count, struct measure_text **out, struct error *error)
{
    struct measure_text *text;
    const uint64_t bytes = joined_length(strings, entries, count);
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

static int compare_texts(const struct measure_text *a, const struct measure_text *b)
{
    const int order = memcmp(a->bytes, b->bytes, a->length < b->length ? a->length : b->length);
    return order ? order : (a->length > b->length) - (a->length < b->length);
}

static int compare_values(const void *left, const void *right)
{
    return compare_texts(text_of(*(const int64_t *)left), text_of(*(const int64_t *)right));
}

static int compare_with(const void *key, const void *element)
{
    return compare_texts(key, text_of(*(const int64_t *)element));
}

/* Sorts the texts and leaves each once; returns their number. */
static uint64_t sort_texts(const struct measure_column *column, int64_t *texts, uint64_t *bytes)
{
    uint64_t all = 0, count = 0;
    for (uint64_t group = 0; group < column->measured; group++)
        if (!column->nulls[group])
            texts[all++] = column->values[group];
    if (all)
        qsort(texts, all, sizeof *texts, compare_values);
    for (uint64_t t = 0; t < all; t++)
        if (count == 0 || compare_texts(text_of(texts[count - 1]), text_of(texts[t])) != 0) {
            *bytes += text_of(texts[t])->length;
            texts[count++] = texts[t];
        }
    return count;
}

/* Gives the groups their codes and frees the texts. */
static void take_codes(struct measure_column *column, const int64_t *texts, uint64_t count, int64_t *codes)
{
    for (uint64_t group = 0; group < column->measured; group++) {
        if (column->nulls[group])
            continue;
        const int64_t *const at =
            bsearch(text_of(column->values[group]), texts, count, sizeof *texts, compare_with);
        codes[group] = at ? at - texts : 0;
    }
    measure_texts_free(column);
    for (uint64_t group = 0; group < column->measured; group++)
        column->values[group] = column->nulls[group] ? 0 : codes[group];
}

enum status measure_texts_finish(struct measure_column *column, struct error *error)
{
    int64_t *texts;
    uint64_t *starts, bytes = 0;
    char *at;
    RETURN_IF_ERROR(memory_take(&texts, (2 * column->measured + 1) * sizeof *texts, "strings", error));
    const uint64_t count = sort_texts(column, texts, &bytes);
    column->strings = count <= UINT32_MAX ? rowset_dictionary((uint32_t)count, bytes, &starts, &at) : NULL;
    if (!column->strings) {
        free(texts);
        return error_out_of_memory(error, bytes, "the strings of string_agg");
    }
    const char *const begin = at;
    for (uint64_t t = 0; t < count; t++) {
        starts[t] = (uint64_t)(at - begin);
        memcpy(at, text_of(texts[t])->bytes, text_of(texts[t])->length);
        at += text_of(texts[t])->length;
    }
    starts[count] = (uint64_t)(at - begin);
    take_codes(column, texts, count, texts + column->measured);
    free(texts);
    return STATUS_OK;
}
