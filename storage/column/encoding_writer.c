/* encoding_writer.c: see encoding_writer.h. */
#define _GNU_SOURCE
#include "storage/column/encoding_writer.h"

#include "storage/column/column_path.h"

#include <stdlib.h>
#include <string.h>

static enum status create_file(struct encoding_writer *writer, enum codec_id codec, struct error *error)
{
    char *path = NULL;
    RETURN_IF_ERROR(
        column_path(writer->directory, writer->column, codec, writer->identity.generation, &path, error));
    writer->identity.codec = codec;
    enum status status = column_file_create(path, &writer->identity, &writer->file, error);
    free(path);
    return status;
}

void encoding_writer_open(struct encoding_writer *writer, const char *directory, const struct column *column,
                          const struct codec_choice *choice, const struct column_span *span,
                          struct segment_buffers *buffers)
{
    *writer = (struct encoding_writer){
        .directory = directory,
        .column = column,
        .choice = *choice,
        .buffers = buffers,
        .first = span->first,
        .identity = column_identity(column, choice->codec ? choice->codec->id : codec_baseline()->id, span)};
    writer->choice.probed = column->schema.references_table[0] != '\0';
    pthread_mutex_init(&writer->lock, NULL);
}

#define ENCODED "an encoded segment"

static enum status cannot_hold(const struct encoding_writer *writer, const char *name, uint32_t segment,
                               struct error *error)
{
    return error_set(
        error, STATUS_BAD_INPUT,
        "codec %s cannot hold the values of %s.%s, segment %u; choose another for this column (--codec)",
        name, writer->identity.table, writer->identity.column, segment);
}

/* Chooses the codec by the first segment and creates the file. Called under the lock, for which the other
 * segments wait. */
static enum status begin(struct encoding_writer *writer, uint32_t segment, const void *values, uint32_t rows,
                         uint8_t **bytes, size_t *size, struct error *error)
{
    if (writer->choice.codec && !codec_holds(writer->choice.codec, writer->identity.value_bytes))
        return cannot_hold(writer, writer->choice.name, segment, error);
    if (writer->choice.codec)
        return create_file(writer, writer->choice.codec->id, error);
    const struct codec_input input = column_codec_input(writer->column, values, rows);
    size_t bound = codec_choice_bound(&writer->choice, rows, writer->identity.value_bytes);
    uint8_t *scratch = segment_buffers_take(writer->buffers, bound, ENCODED, error);
    *bytes = scratch ? segment_buffers_take(writer->buffers, bound, ENCODED, error) : NULL;
    if (*bytes)
        *size = codec_choose(&writer->choice, &input, *bytes, scratch);
    segment_buffers_give(writer->buffers, scratch);
    if (!*bytes)
        return STATUS_MACHINE;
    if (*size == 0)
        return cannot_hold(writer, writer->choice.name, segment, error);
    struct chunk_header header;
    memcpy(&header, *bytes, sizeof header);
    return create_file(writer, (enum codec_id)header.codec, error);
}

static enum status encode(const struct encoding_writer *writer, uint32_t segment, const void *values,
                          uint32_t rows, uint8_t **bytes, size_t *size, struct error *error)
{
    const struct codec *codec = codec_by_id(writer->identity.codec);
    const struct codec_input input = column_codec_input(writer->column, values, rows);
    *bytes = segment_buffers_take(writer->buffers, codec->bound(rows, writer->identity.value_bytes), ENCODED,
                                  error);
    if (!*bytes)
        return STATUS_MACHINE;
    *size = codec->encode(&input, *bytes);
    return *size ? STATUS_OK : cannot_hold(writer, codec->name, segment, error);
}

enum status encoding_writer_segment(struct encoding_writer *writer, uint32_t segment, const void *values,
                                    uint32_t rows, struct error *error)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    enum status status = STATUS_OK;
    pthread_mutex_lock(&writer->lock);
    if (!writer->file)
        status = begin(writer, segment, values, rows, &bytes, &size, error);
    pthread_mutex_unlock(&writer->lock);
    if (status == STATUS_OK && !bytes)
        status = encode(writer, segment, values, rows, &bytes, &size, error);
    status = AND_THEN(
        status, column_file_add(writer->file, PART_CHUNK, segment - writer->first, rows, bytes, size, error));
    segment_buffers_give(writer->buffers, bytes);
    if (status == STATUS_OK) {
        pthread_mutex_lock(&writer->lock);
        writer->bytes += size;
        pthread_mutex_unlock(&writer->lock);
    }
    return status;
}

enum status encoding_writer_finish(struct encoding_writer *writer, struct error *error)
{
    if (!writer->file) /* there was no segment; a chooser takes the baseline */
        RETURN_IF_ERROR(create_file(writer, writer->identity.codec, error));
    return column_file_finish(writer->file, error);
}

void encoding_writer_close(struct encoding_writer *writer)
{
    column_file_writer_free(writer->file);
    pthread_mutex_destroy(&writer->lock);
}
