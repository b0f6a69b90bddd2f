/*
 * arrow_export_internal.h: the interface between the sources of batches (arrow_sources.c) and their export
 * (arrow_export.c).
 */
#ifndef TESSERA_ENGINE_LIBRARY_ARROW_EXPORT_INTERNAL_H
#define TESSERA_ENGINE_LIBRARY_ARROW_EXPORT_INTERNAL_H

#include "engine/library/arrow_export.h"

/* One column of a batch. */
struct export_values {
    const int64_t *values;
    const uint8_t *nulls;                /* or NULL */
    const struct rowset_column *strings; /* not NULL: strings, from its row `first` on; instead of values */
    uint64_t first;
    const char *const *texts; /* not NULL: zero-terminated strings, instead of values */
};

/* Makes a batch's arrays of the columns' first `rows` values; false if memory is out, and nothing is to be released. */
NODISCARD bool export_batch_make(const struct value_type *types, const struct export_values *columns,
                                 uint32_t count, int64_t rows, struct ArrowArray *batch);

/* A stream's private_data: what all kinds of sources have. */
struct export_stream {
    uint32_t count;
    const char **names;
    struct value_type *types;
    struct export_values *batch; /* what `next` fills */
    uint64_t rows, done;
    /* Makes batch[] point at rows done .. done + count - 1. */
    enum status (*next)(struct export_stream *stream, uint32_t count, struct error *error);
    void (*close)(struct export_stream *stream);
    struct error error;
};

/* Allocates a source's struct of `bytes`, which begins with an export_stream; everything but names, types and
 * batch is 0. Releasing the stream frees it. */
NODISCARD enum status export_stream_make(size_t bytes, uint32_t count, struct export_stream **out,
                                         struct error *error);
void export_stream_give(struct export_stream *from, struct ArrowArrayStream *stream);
void export_stream_release(struct ArrowArrayStream *stream);

#endif
