/* orc_streams.c: see orc_streams.h. */
#include "loader/orc/orc_streams.h"

#include "storage/base/huge_pages.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* A footer may become this long by decompressing; a file of a million stripes has about 40 MB. */
#define METADATA_BYTES_MAX (256u << 20)

void orc_stream_bytes_free(struct orc_stream_bytes *stream)
{
    free(stream->raw);
    free(stream->out);
    free(stream->jobs);
    *stream = (struct orc_stream_bytes){0};
}

void orc_streams_free(struct orc_streams *streams)
{
    for (uint32_t k = 0; k < ORC_VALUE_STREAMS; k++)
        orc_stream_bytes_free(&streams->kinds[k]);
}

enum status orc_column_layout_find(const struct orc_place *place, const struct orc_stripe_footer *footer,
                                   uint32_t column, struct orc_column_layout *layout, struct error *error)
{
    *layout = (struct orc_column_layout){.encoding = footer->encodings[column]};
    for (uint32_t s = 0; s < footer->stream_count; s++) {
        const struct orc_stream *const stream = &footer->streams[s];
        if (stream->column != column || stream->kind >= ORC_VALUE_STREAMS || stream->bytes == 0)
            continue;
        if (layout->streams[stream->kind].bytes)
            return orc_damaged(error, place, "it has two streams %s", orc_stream_name(stream->kind));
        layout->streams[stream->kind] = *stream;
    }
    return STATUS_OK;
}

/* Makes room without keeping what was there. */
static enum status reserve(uint8_t **memory, uint64_t *room, uint64_t bytes, struct error *error)
{
    const uint64_t wanted = bytes + bytes / 4; /* the next stream may be a little longer */
    if (bytes <= *room && *memory)
        return STATUS_OK;
    free(*memory);
    *memory = NULL;
    *room = 0;
    RETURN_IF_ERROR(memory_take(memory, wanted + ORC_TEXT_SPARE, "a stream of an ORC file", error));
    huge_pages_prefer(*memory, wanted);
    *room = wanted;
    return STATUS_OK;
}

static enum status add_job(struct orc_stream_bytes *stream, const struct byte_job *job, struct error *error)
{
    if (stream->job_count == stream->job_room) {
        const uint32_t room = 2 * stream->job_room + 64;
        RETURN_IF_ERROR(memory_grow(&stream->jobs, room * sizeof *stream->jobs, "chunks", error));
        stream->job_room = room;
    }
    stream->jobs[stream->job_count++] = *job;
    return STATUS_OK;
}

/* Cuts a compressed stream into jobs. A chunk's output begins where those before it end if they are as long as they may
 * be; that is so except for the last one, as writers write. */
static enum status cut(const struct orc_place *place, const struct orc_stream *where, uint64_t most,
                       struct orc_stream_bytes *stream, struct error *error)
{
    const uint32_t block = place->file->block_bytes;
    const char *const name = orc_stream_name(where->kind);
    uint64_t room = 0;
    stream->job_count = 0;
    for (uint64_t at = 0; at < where->bytes;) {
        const uint8_t *const header = stream->raw + at;
        const uint64_t left = where->bytes - at;
        if (left < 3)
            return orc_damaged(error, place, "its stream %s ends within a chunk's header", name);
        const uint32_t word = header[0] | (uint32_t)header[1] << 8 | (uint32_t)header[2] << 16;
        const uint32_t bytes = word >> 1;
        if (bytes > left - 3 || (word & 1 && bytes > block))
            return orc_damaged(error, place, "its stream %s has a chunk of %u bytes where %llu are left",
                               name, bytes, (unsigned long long)left - 3);
        const struct byte_job job = {.scheme = word & 1 ? BYTE_STORED : orc_file_scheme(place->file),
                                     .in = header + 3,
                                     .in_bytes = bytes,
                                     .out_room = word & 1 ? bytes : block};
        room += job.out_room;
        RETURN_IF_ERROR(add_job(stream, &job, error));
        at += 3 + bytes;
    }
    if (room > most) {
        char text[ORC_PLACE_BYTES];
        orc_place_text(place, text);
        return error_set(error, STATUS_MACHINE,
                         "%s: its stream %s may take %llu MB of memory when it is decompressed, and --memory "
                         "allows %llu; give more",
                         text, name, (unsigned long long)(room >> 20) + 1, (unsigned long long)(most >> 20));
    }
    RETURN_IF_ERROR(reserve(&stream->out, &stream->out_room, room, error));
    room = 0;
    for (uint32_t j = 0; j < stream->job_count; room += stream->jobs[j++].out_room)
        stream->jobs[j].out = stream->out + room;
    return STATUS_OK;
}

static enum status stream_read(const struct orc_place *place, int descriptor, const struct orc_stream *where,
                               uint64_t most, struct orc_stream_bytes *stream, struct error *error)
{
    stream->bytes = NULL;
    stream->count = 0;
    stream->job_count = 0;
    if (where->bytes == 0)
        return STATUS_OK;
    RETURN_IF_ERROR(reserve(&stream->raw, &stream->raw_room, where->bytes, error));
    RETURN_IF_ERROR(orc_file_bytes(place->file, descriptor, where->offset, where->bytes, stream->raw, error));
    if (place->file->compression != ORC_NONE)
        return cut(place, where, most, stream, error);
    stream->bytes = stream->raw;
    stream->count = where->bytes;
    return STATUS_OK;
}

static enum status stream_finish(const struct orc_place *place, enum orc_stream_kind kind,
                                 struct orc_stream_bytes *stream, struct error *error)
{
    uint64_t at = 0;
    if (stream->job_count == 0)
        return STATUS_OK;
    for (uint32_t j = 0; j < stream->job_count; j++) {
        const struct byte_job *const job = &stream->jobs[j];
        if (job->bad)
            return orc_damaged(error, place, "chunk %u of its stream %s is no %s of at most %u bytes", j + 1,
                               orc_stream_name(kind), orc_compression_name(place->file->compression),
                               place->file->block_bytes);
        if (job->out != stream->out + at)
            memmove(stream->out + at, job->out, job->out_bytes);
        at += job->out_bytes;
    }
    stream->bytes = stream->out;
    stream->count = at;
    return STATUS_OK;
}

enum status orc_streams_read(const struct orc_place *place, int descriptor,
                             const struct orc_column_layout *layout, uint64_t most,
                             struct orc_streams *streams, struct error *error)
{
    for (uint32_t k = 0; k < ORC_VALUE_STREAMS; k++)
        RETURN_IF_ERROR(stream_read(place, descriptor, &layout->streams[k], most, &streams->kinds[k], error));
    return STATUS_OK;
}

enum status orc_streams_run(const struct byte_decoder *decoder, struct orc_streams *streams,
                            struct error *error)
{
    for (uint32_t k = 0; k < ORC_VALUE_STREAMS; k++)
        RETURN_IF_ERROR(decoder->decode(decoder, streams->kinds[k].jobs, streams->kinds[k].job_count, error));
    return STATUS_OK;
}

enum status orc_streams_finish(const struct orc_place *place, struct orc_streams *streams,
                               struct error *error)
{
    for (uint32_t k = 0; k < ORC_VALUE_STREAMS; k++)
        RETURN_IF_ERROR(stream_finish(place, (enum orc_stream_kind)k, &streams->kinds[k], error));
    return STATUS_OK;
}

enum status orc_metadata_read(const struct orc_place *place, int descriptor, uint64_t offset, uint64_t bytes,
                              struct orc_stream_bytes *stream, struct error *error)
{
    const struct orc_stream where = {.kind = ORC_DATA, .offset = offset, .bytes = bytes};
    if (bytes > METADATA_BYTES_MAX)
        return orc_damaged(error, place, "its footer has %llu bytes", (unsigned long long)bytes);
    RETURN_IF_ERROR(stream_read(place, descriptor, &where, METADATA_BYTES_MAX, stream, error));
    RETURN_IF_ERROR(byte_decoder_host.decode(&byte_decoder_host, stream->jobs, stream->job_count, error));
    return stream_finish(place, ORC_DATA, stream, error);
}
