/* column_span.c: see column_span.h. */
#include "storage/column/column_span.h"

#include "storage/base/memory.h"
#include "storage/column/column_path.h"

#include <stdlib.h>
#include <string.h>

enum status spans_make(const struct column_span *list, uint32_t count, struct column_spans *spans,
                       struct error *error)
{
    *spans = (struct column_spans){0};
    RETURN_IF_ERROR(memory_take(&spans->list, count * sizeof *list, "a column's files", error));
    memcpy(spans->list, list, count * sizeof *list);
    spans->count = count;
    return STATUS_OK;
}

enum status spans_add(struct column_spans *spans, const struct column_span *span, struct error *error)
{
    RETURN_IF_ERROR(
        memory_grow(&spans->list, (spans->count + UINT64_C(1)) * sizeof *span, "a column's files", error));
    spans->list[spans->count++] = *span;
    return STATUS_OK;
}

void spans_free(struct column_spans *spans)
{
    free(spans->list);
    *spans = (struct column_spans){0};
}

bool spans_equal(const struct column_spans *a, const struct column_spans *b)
{
    bool equal = a->count == b->count;
    for (uint32_t i = 0; equal && i < a->count; i++)
        equal = a->list[i].generation == b->list[i].generation && a->list[i].count == b->list[i].count;
    return equal;
}

uint32_t spans_find(const struct column_spans *spans, uint32_t segment)
{
    uint32_t low = 0, high = spans->count;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (spans->list[middle].first <= segment)
            low = middle;
        else
            high = middle;
    }
    return low;
}

const struct column_span *spans_of(const struct column_spans *spans, uint64_t generation)
{
    for (uint32_t i = 0; i < spans->count; i++)
        if (spans->list[i].generation == generation)
            return &spans->list[i];
    return NULL;
}

uint64_t spans_bytes(const struct column_spans *spans)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < spans->count; i++)
        bytes += spans->list[i].bytes;
    return bytes;
}

uint64_t span_rows(const struct table *table, const struct column_span *span)
{
    uint64_t rows = 0;
    for (uint32_t s = 0; s < span->count; s++)
        rows += table->segment_rows[span->first + s];
    return rows;
}

enum status span_open(const char *directory, const struct column *column, enum codec_id codec,
                      const struct column_span *span, struct column_file **file, struct error *error)
{
    const struct column_file_identity identity = column_identity(column, codec, span);
    char *path = NULL;
    *file = NULL;
    RETURN_IF_ERROR(column_path(directory, column, codec, span->generation, &path, error));
    enum status status = column_file_open(path, &identity, file, error);
    free(path);
    return status;
}
