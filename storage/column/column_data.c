/* column_data.c: see column_data.h.
 *
 * Each segment is checked by one item: first its checksum (XXH3, at the speed of memory), then the codec's
 * verifier, by which no start, width or count leads out of the chunk. So decoding needs no checks. */
#include "storage/column/column_data.h"

#include "storage/base/disk/read_ahead.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"
#include "storage/column/column_span.h"
#include "storage/column/statistics.h"

#include <stdlib.h>
#include <string.h>

struct open_column {
    struct column_data data;              /* the caller's part; the first member */
    const struct encoding_info *encoding; /* while segments are checked, as are the next two */
    struct read_ahead *reader;            /* of the largest file of chunks */
    const struct column_file *ahead;      /* that file */
    struct column_file **chunks, **sides; /* of encoding->files and of column->sides */
    uint32_t chunk_files, side_files;
    struct segment_data *segments;
    void *memory; /* what the segments point into if there are no files */
};

static enum status part_missing(const struct column_file *file, uint32_t segment, const char *what,
                                struct error *error)
{
    return error_set(error, STATUS_BAD_INPUT,
                     "%s: segment %u: the %s is missing or of the wrong size; load the table again",
                     file->path, segment, what);
}

static enum status make_bounds(struct segment_data *segment, struct error *error)
{
    struct tile_bounds *bounds;
    const uint64_t groups = (segment->chunk.tiles + BOUNDS_TILES - 1) / BOUNDS_TILES;
    RETURN_IF_ERROR(memory_take(&bounds, (1 + groups) * sizeof *bounds, "tile statistics", error));
    statistics_bounds(segment->tile_min_max, segment->chunk.tiles, bounds);
    segment->bounds = bounds;
    return STATUS_OK;
}

static enum status open_side(const struct open_column *open, uint32_t segment, uint32_t rows,
                             struct segment_data *out, struct error *error)
{
    const struct column_spans *const spans = &open->data.column->sides;
    const uint32_t span = spans_find(spans, segment), place = segment - spans->list[span].first;
    const struct column_file *const side = open->sides[span];
    uint64_t tiles = (rows + TILE_ROWS - 1) / TILE_ROWS;
    const struct column_part *min_max = column_file_part(side, PART_TILE_MIN_MAX, place);
    const struct column_part *validity = column_file_part(side, PART_VALIDITY, place);
    if (!min_max || min_max->rows != rows || min_max->bytes != tiles * 2 * sizeof(int64_t))
        return part_missing(side, segment, "tile statistics", error);
    if (validity && (validity->rows != rows || validity->bytes != tiles * TILE_LANES * sizeof(uint32_t) ||
                     !open->data.column->schema.nullable))
        return part_missing(side, segment, "validity", error);
    RETURN_IF_ERROR(column_file_part_check(side, min_max, error));
    out->tile_min_max = (const int64_t *)(side->map.bytes + min_max->offset);
    if (validity) {
        RETURN_IF_ERROR(column_file_part_check(side, validity, error));
        out->validity = (const uint32_t *)(side->map.bytes + validity->offset);
    }
    return make_bounds(out, error);
}

static enum status open_segment(void *context, uint64_t item, unsigned thread, struct error *error)
{
    (void)thread;
    struct open_column *open = context;
    const struct column *column = open->data.column;
    uint32_t segment = (uint32_t)item, rows = column->table->segment_rows[segment];
    struct segment_data *out = &open->segments[segment];
    RETURN_IF_ERROR(cancel_check(error));
    const uint32_t span = spans_find(&open->encoding->files, segment);
    const struct column_file *const chunks = open->chunks[span];
    const struct column_part *part =
        column_file_part(chunks, PART_CHUNK, segment - open->encoding->files.list[span].first);
    if (!part || part->rows != rows)
        return part_missing(chunks, segment, "chunk", error);
    if (chunks == open->ahead)
        read_ahead_reach_byte(open->reader, part->offset);
    RETURN_IF_ERROR(column_file_part_check(chunks, part, error));
    struct error reason = {0};
    enum status status = chunk_open(chunks->map.bytes + part->offset, part->bytes, &out->chunk, &reason);
    if (status != STATUS_OK)
        return error_set(error, status, "%s: segment %u: %s; load the table again", chunks->path, segment,
                         reason.text);
    out->chunk.file = chunks->path;
    out->chunk.segment = segment;
    if (out->chunk.codec->id != open->data.codec->id || out->chunk.rows != rows ||
        out->chunk.value_bytes != column->value_bytes)
        return part_missing(chunks, segment, "chunk of this codec", error);
    return open_side(open, segment, rows, out, error);
}

/* Queries are compiled for one number of bits and of planes. */
static enum status check_planes(const struct open_column *open, struct error *error)
{
    const struct codec *codec = open->data.codec;
    const struct chunk_view *first = &open->segments[0].chunk;
    for (uint32_t s = 1; codec->planes && s < open->data.segment_count; s++) {
        const struct chunk_view *chunk = &open->segments[s].chunk;
        if (chunk->width_high != first->width_high || codec->planes(chunk) != codec->planes(first))
            return error_set(
                error, STATUS_BAD_INPUT,
                "%s: segment %u keeps %u of %u bits apart, segment 0 %u of %u; load the table again",
                chunk->file, s, codec->planes(chunk), chunk->width_high, codec->planes(first),
                first->width_high);
    }
    return STATUS_OK;
}

static enum status open_spans(const struct open_column *open, const char *directory, enum codec_id codec,
                              const struct column_spans *spans, struct column_file ***files,
                              struct error *error)
{
    RETURN_IF_ERROR(memory_zeros(files, spans->count * sizeof **files, "a column's files", error));
    for (uint32_t i = 0; i < spans->count; i++)
        RETURN_IF_ERROR(span_open(directory, open->data.column, codec, &spans->list[i], &(*files)[i], error));
    return STATUS_OK;
}

static enum status open_files(struct open_column *open, const char *directory, struct error *error)
{
    const struct encoding_info *const encoding = open->encoding;
    open->chunk_files = encoding->files.count;
    open->side_files = open->data.column->sides.count;
    RETURN_IF_ERROR(open_spans(open, directory, encoding->codec, &encoding->files, &open->chunks, error));
    return open_spans(open, directory, CODEC_NONE, &open->data.column->sides, &open->sides, error);
}

static enum status open_segments(struct open_column *open, unsigned threads, struct error *error)
{
    for (uint32_t i = 0; i < open->chunk_files; i++)
        if (!open->ahead || open->chunks[i]->map.size > open->ahead->map.size)
            open->ahead = open->chunks[i];
    open->reader = read_ahead_bytes(open->ahead->map.bytes, open->ahead->map.size, READ_AHEAD_BYTES);
    const enum status status = parallel_for(threads, open->data.segment_count, open_segment, open, error);
    read_ahead_stop(open->reader);
    return status;
}

static void close_files(struct column_file **files, uint32_t count)
{
    for (uint32_t i = 0; files && i < count; i++)
        column_file_close(files[i]);
    free(files);
}

static void free_column(struct open_column *open)
{
    close_files(open->chunks, open->chunk_files);
    close_files(open->sides, open->side_files);
    for (uint32_t s = 0; s < open->data.segment_count; s++)
        free((struct tile_bounds *)open->segments[s].bounds);
    free(open->segments);
    free(open->memory);
    free(open);
}

enum status column_data_wrap(const struct column *column, struct segment_data *segments, void *memory,
                             uint64_t bytes, struct column_data **data, struct error *error)
{
    struct open_column *open = calloc(1, sizeof *open);
    if (!open) {
        free(segments);
        free(memory);
        return error_out_of_memory(error, sizeof *open, "a column");
    }
    open->data.column = column;
    open->data.codec = codec_by_id(column->own);
    open->data.segment_count = column->table->segment_count;
    open->data.segments = open->segments = segments;
    open->data.bytes = bytes;
    open->data.positions_checked = true;
    open->memory = memory;
    *data = &open->data;
    return STATUS_OK;
}

enum status column_data_read(const char *directory, const struct column *column, enum codec_id codec,
                             unsigned threads, struct column_data **data, struct error *error)
{
    const struct encoding_info *encoding = column_encoding(column, codec);
    *data = NULL;
    if (!encoding) {
        const struct codec *wanted = codec_by_id(codec);
        return error_set(
            error, STATUS_BAD_INPUT,
            "column %s.%s of %s is not stored with codec %s; encode it first (`tessera ssb run --codec`)",
            column->table->name, column->schema.name, directory, wanted ? wanted->name : "?");
    }
    struct open_column *open = calloc(1, sizeof *open);
    if (open)
        open->segments = calloc(column->table->segment_count + 1, sizeof *open->segments);
    if (!open || !open->segments) {
        free(open);
        return error_out_of_memory(error, column->table->segment_count * sizeof *open->segments, "a column");
    }
    open->data.column = column;
    open->data.codec = codec_by_id(codec);
    open->data.segment_count = column->table->segment_count;
    open->data.segments = open->segments;
    open->data.bytes = encoding->bytes;
    open->encoding = encoding;
    enum status status = open_files(open, directory, error);
    status = AND_THEN(status, open_segments(open, threads, error));
    status = AND_THEN(status, check_planes(open, error));
    if (status == STATUS_OK)
        *data = &open->data;
    else
        free_column(open);
    return status;
}

void column_data_free(struct column_data *data)
{
    if (data)
        free_column((struct open_column *)data); /* data is its first member */
}
