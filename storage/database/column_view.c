/* column_view.c: a column from a segment on; see writer_internal.h. */
#include "storage/database/writer_internal.h"

#include "storage/column/column_span.h"

static enum status view_files(const struct column_spans *files, uint32_t first, struct column_spans *view,
                              struct error *error)
{
    for (uint32_t i = 0; i < files->count; i++) {
        struct column_span span = files->list[i];
        if (span.first < first)
            continue;
        span.first -= first;
        RETURN_IF_ERROR(spans_add(view, &span, error));
    }
    return STATUS_OK;
}

void column_view_close(struct column_view *view)
{
    stored_dictionary_close(&view->dictionary);
    spans_free(&view->encoding.files);
    spans_free(&view->column.sides);
}

enum status column_view_open(const char *path, const struct column *whole, uint32_t first,
                             struct column_view *view, struct error *error)
{
    const struct encoding_info *const own = column_encoding(whole, whole->own);
    view->table = *whole->table;
    view->table.segment_rows += first;
    view->table.segment_count -= first;
    view->table.rows = 0;
    for (uint32_t s = 0; s < view->table.segment_count; s++)
        view->table.rows += view->table.segment_rows[s];
    view->column = *whole;
    view->column.table = &view->table;
    view->column.sides = (struct column_spans){0};
    view->encoding = (struct encoding_info){.codec = own->codec, .bytes = own->bytes};
    view->column.encodings = &view->encoding;
    view->column.encoding_count = 1;
    RETURN_IF_ERROR(view_files(&whole->sides, first, &view->column.sides, error));
    RETURN_IF_ERROR(view_files(&own->files, first, &view->encoding.files, error));
    if (!column_has_dictionary(&whole->schema))
        return STATUS_OK;
    stored_dictionary_begin(path, whole, &view->dictionary);
    view->column.stored_dictionary = &view->dictionary;
    return stored_dictionary_open(&view->dictionary, error);
}
