/* column_index.c: see column_index.h. */
#include "storage/column/column_index.h"

#include "storage/column/column_span.h"

#include <stdlib.h>
#include <string.h>

const char *index_format_name(enum index_format format)
{
    static const char *const names[INDEX_FORMAT_COUNT] = {
        [0] = "none", [INDEX_WAH64] = "wah64", [INDEX_WAH32] = "wah32", [INDEX_FLAT] = "flat"};
    return names[format];
}

const char *index_bins_name(enum index_bins bins)
{
    static const char *const names[INDEX_BINS_COUNT] = {[INDEX_AUTO] = "auto",
                                                        [INDEX_VALUES] = "values",
                                                        [INDEX_WIDTH] = "equal-width",
                                                        [INDEX_DEPTH] = "equal-depth"};
    return names[bins];
}

enum status index_wish_bins(const char *text, struct index_wish *wish, struct error *error)
{
    char *end;
    const bool digit = *text >= '0' && *text <= '9';
    const unsigned long long count = digit ? strtoull(text, &end, 10) : 0;
    wish->count = 0;
    wish->bins = strcmp(text, "values") == 0 ? INDEX_VALUES : INDEX_AUTO;
    if (wish->bins == INDEX_VALUES || strcmp(text, "auto") == 0)
        return STATUS_OK;
    if (count == 0 || count > INDEX_BINS_MAX || (*end && strcmp(end, ":width") != 0))
        return error_set(error, STATUS_BAD_INPUT,
                         "--bins '%s' is not auto, values, N or N:width, with 1 to %u bins", text,
                         INDEX_BINS_MAX);
    wish->bins = *end ? INDEX_WIDTH : INDEX_DEPTH;
    wish->count = (uint32_t)count;
    return STATUS_OK;
}

enum status index_wish_format(const char *text, struct index_wish *wish, struct error *error)
{
    for (int format = INDEX_WAH64; format < INDEX_FORMAT_COUNT; format++)
        if (strcmp(text, index_format_name((enum index_format)format)) == 0) {
            wish->format = (enum index_format)format;
            return STATUS_OK;
        }
    return error_set(error, STATUS_BAD_INPUT, "--format '%s' is not wah64, wah32 or flat", text);
}

void column_index_free(const struct column_index *index)
{
    if (index) {
        free((void *)index->bounds);
        spans_free((struct column_spans *)&index->files);
    }
    free((void *)index);
}
