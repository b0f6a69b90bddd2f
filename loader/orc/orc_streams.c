/* orc_streams.c: see orc_streams.h. */
#include "loader/orc/orc_streams.h"

#include <string.h>

/* A footer may become this long by decompressing; a file of a million stripes has about 40 MB. */
#define METADATA_BYTES_MAX (256u << 20)

enum status orc_column_layout_find(const struct columnar_place *place, const struct orc_stripe_footer *footer,
                                   uint32_t column, struct orc_column_layout *layout, struct error *error)
{
    *layout = (struct orc_column_layout){.encoding = footer->encodings[column]};
    for (uint32_t s = 0; s < footer->stream_count; s++) {
        const struct orc_stream *const stream = &footer->streams[s];
        if (stream->column != column || stream->kind >= ORC_VALUE_STREAMS || stream->bytes == 0)
            continue;
        if (layout->streams[stream->kind].bytes)
            return columnar_damaged(error, place, "it has two streams %s", orc_stream_name(stream->kind));
        layout->streams[stream->kind] = *stream;
    }
    return STATUS_OK;
}

/* Cuts a compressed stream into jobs. A chunk's output begins where those before it end if they are as long as they may
 * be; that is so except for the last one, as writers write. */
static enum status cut(const struct columnar_place *place, const struct orc_stream *where, uint64_t most,
                       struct columnar_stream *stream, struct error *error)
{
    const uint32_t block = orc_file_of(place->file)->block_bytes;
    const char *const name = orc_stream_name(where->kind);
    uint64_t room = 0;
    stream->job_count = 0;
    for (uint64_t at = 0; at < where->bytes;) {
        const uint8_t *const header = stream->raw + at;
        const uint64_t left = where->bytes - at;
        if (left < 3)
            return columnar_damaged(error, place, "its stream %s ends within a chunk's header", name);
        const uint32_t word = header[0] | (uint32_t)header[1] << 8 | (uint32_t)header[2] << 16;
        const uint32_t bytes = word >> 1;
        if (bytes > left - 3 || (word & 1 && bytes > block))
            return columnar_damaged(error, place, "its stream %s has a chunk of %u bytes where %llu are left",
                                    name, bytes, (unsigned long long)left - 3);
        const struct byte_job job = {.scheme =
                                         word & 1 ? BYTE_STORED : orc_file_scheme(orc_file_of(place->file)),
                                     .in = header + 3,
                                     .in_bytes = bytes,
                                     .out_room = word & 1 ? bytes : block};
        room += job.out_room;
        RETURN_IF_ERROR(columnar_stream_add_job(stream, &job, error));
        at += 3 + bytes;
    }
    if (room > most) {
        char what[64];
        snprintf(what, sizeof what, "decompressing its stream %s may take", name);
        return columnar_too_large(error, place, what, room, most);
    }
    RETURN_IF_ERROR(columnar_stream_reserve_out(stream, room, error));
    room = 0;
    for (uint32_t j = 0; j < stream->job_count; room += stream->jobs[j++].out_room)
        stream->jobs[j].out = stream->out + room;
    return STATUS_OK;
}

static enum status stream_read(const struct columnar_place *place, int descriptor,
                               const struct orc_stream *where, uint64_t most, struct columnar_stream *stream,
                               struct error *error)
{
    stream->bytes = NULL;
    stream->count = 0;
    stream->job_count = 0;
    if (where->bytes == 0)
        return STATUS_OK;
    RETURN_IF_ERROR(columnar_stream_reserve_raw(stream, where->bytes, error));
    RETURN_IF_ERROR(
        columnar_file_bytes(place->file, descriptor, where->offset, where->bytes, stream->raw, error));
    if (orc_file_of(place->file)->compression != ORC_NONE)
        return cut(place, where, most, stream, error);
    stream->bytes = stream->raw;
    stream->count = where->bytes;
    return STATUS_OK;
}

static enum status stream_finish(const struct columnar_place *place, enum orc_stream_kind kind,
                                 struct columnar_stream *stream, struct error *error)
{
    uint64_t at = 0;
    if (stream->job_count == 0)
        return STATUS_OK;
    for (uint32_t j = 0; j < stream->job_count; j++) {
        const struct byte_job *const job = &stream->jobs[j];
        if (job->bad)
            return columnar_damaged(error, place, "chunk %u of its stream %s is no %s of at most %u bytes",
                                    j + 1, orc_stream_name(kind),
                                    orc_compression_name(orc_file_of(place->file)->compression),
                                    orc_file_of(place->file)->block_bytes);
        if (job->out != stream->out + at)
            memmove(stream->out + at, job->out, job->out_bytes);
        at += job->out_bytes;
    }
    stream->bytes = stream->out;
    stream->count = at;
    return STATUS_OK;
}

enum status orc_streams_read(const struct columnar_place *place, int descriptor,
                             const struct orc_column_layout *layout, uint64_t most,
                             struct columnar_streams *streams, struct error *error)
{
    for (uint32_t k = 0; k < ORC_VALUE_STREAMS; k++)
        RETURN_IF_ERROR(
            stream_read(place, descriptor, &layout->streams[k], most, &streams->streams[k], error));
    return STATUS_OK;
}

enum status orc_streams_finish(const struct columnar_place *place, struct columnar_streams *streams,
                               struct error *error)
{
    for (uint32_t k = 0; k < ORC_VALUE_STREAMS; k++)
        RETURN_IF_ERROR(stream_finish(place, (enum orc_stream_kind)k, &streams->streams[k], error));
    return STATUS_OK;
}

enum status orc_metadata_read(const struct columnar_place *place, int descriptor, uint64_t offset,
                              uint64_t bytes, struct columnar_stream *stream, struct error *error)
{
    const struct orc_stream where = {.kind = ORC_DATA, .offset = offset, .bytes = bytes};
    if (bytes > METADATA_BYTES_MAX)
        return columnar_damaged(error, place, "its footer has %llu bytes", (unsigned long long)bytes);
    RETURN_IF_ERROR(stream_read(place, descriptor, &where, METADATA_BYTES_MAX, stream, error));
    RETURN_IF_ERROR(byte_decoder_host.decode(&byte_decoder_host, stream->jobs, stream->job_count, error));
    return stream_finish(place, ORC_DATA, stream, error);
}
