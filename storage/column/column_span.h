/*
 * column_span.h: the files of a column. One change writes a file of consecutive segments, and an append leaves the files of
 * older segments as they are; so an encoding is a list of spans, and so are the side files, which have what does not depend on
 * the encoding (column_file.h). Spans follow each other from segment 0 on. A table without segments has one of no segments.
 */
#ifndef TESSERA_STORAGE_COLUMN_COLUMN_SPAN_H
#define TESSERA_STORAGE_COLUMN_COLUMN_SPAN_H

#include "storage/column/column.h"
#include "storage/column/column_file.h"

/* Makes a list of copies. Free it with spans_free. */
NODISCARD enum status spans_make(const struct column_span *list, uint32_t count, struct column_spans *spans,
                                 struct error *error);
/* Adds one span. */
NODISCARD enum status spans_add(struct column_spans *spans, const struct column_span *span,
                                struct error *error);
void spans_free(struct column_spans *spans);
bool spans_equal(const struct column_spans *a, const struct column_spans *b);

/* The span that has the segment. */
uint32_t spans_find(const struct column_spans *spans, uint32_t segment);
/* The span of that generation, or NULL. */
const struct column_span *spans_of(const struct column_spans *spans, uint64_t generation);
uint64_t spans_bytes(const struct column_spans *spans);

/* The rows of a span's segments. */
uint64_t span_rows(const struct table *table, const struct column_span *span);

/* Opens the column's file of that span: in that codec, or its side file (CODEC_NONE). A dictionary is read by
 * dictionary/stored_dictionary.h. */
NODISCARD enum status span_open(const char *directory, const struct column *column, enum codec_id codec,
                                const struct column_span *span, struct column_file **file,
                                struct error *error);

#endif
