/* columnar_streams.c: see columnar_streams.h. */
#include "loader/columnar/columnar_streams.h"

#include "storage/base/huge_pages.h"
#include "storage/base/memory.h"

#include <stdlib.h>

void columnar_stream_free(struct columnar_stream *stream)
{
    free(stream->raw);
    free(stream->out);
    free(stream->jobs);
    *stream = (struct columnar_stream){0};
}

void columnar_streams_free(struct columnar_streams *streams)
{
    for (uint32_t s = 0; s < COLUMNAR_STREAMS; s++)
        columnar_stream_free(&streams->streams[s]);
}

static enum status reserve(uint8_t **memory, uint64_t *room, uint64_t bytes, struct error *error)
{
    const uint64_t wanted = bytes + bytes / 4; /* the next stream may be a little longer */
    if (bytes <= *room && *memory)
        return STATUS_OK;
    free(*memory);
    *memory = NULL;
    *room = 0;
    RETURN_IF_ERROR(memory_take(memory, wanted + COLUMNAR_SPARE_BYTES, "a column of a file", error));
    huge_pages_prefer(*memory, wanted);
    *room = wanted;
    return STATUS_OK;
}

enum status columnar_stream_reserve_raw(struct columnar_stream *stream, uint64_t bytes, struct error *error)
{
    return reserve(&stream->raw, &stream->raw_room, bytes, error);
}

enum status columnar_stream_reserve_out(struct columnar_stream *stream, uint64_t bytes, struct error *error)
{
    return reserve(&stream->out, &stream->out_room, bytes, error);
}

enum status columnar_stream_add_job(struct columnar_stream *stream, const struct byte_job *job,
                                    struct error *error)
{
    if (stream->job_count == stream->job_room) {
        const uint32_t room = 2 * stream->job_room + 64;
        RETURN_IF_ERROR(memory_grow(&stream->jobs, room * sizeof *stream->jobs, "chunks", error));
        stream->job_room = room;
    }
    stream->jobs[stream->job_count++] = *job;
    return STATUS_OK;
}

enum status columnar_streams_run(const struct byte_decoder *decoder, struct columnar_streams *streams,
                                 struct error *error)
{
    for (uint32_t s = 0; s < COLUMNAR_STREAMS; s++)
        if (streams->streams[s].job_count)
            RETURN_IF_ERROR(
                decoder->decode(decoder, streams->streams[s].jobs, streams->streams[s].job_count, error));
    return STATUS_OK;
}
