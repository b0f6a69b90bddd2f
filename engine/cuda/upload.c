/*
 * upload.c: copies pageable memory to the device at nearly the speed of pinned memory.
 *
 * The workload is column chunks of 1 to 100 MB in mapped files, whose pages may still be on disk. One core
 * copies about 10 GB/s, but PCIe 5 carries 55. So up to 12 threads take pieces of 2 MiB. Each thread has two
 * pinned buffers and its own stream: it fills one buffer while the other is copied. Pinned memory is at most
 * 48 MiB a device: uploads of several streams take turns, because one alone fills the bus.
 */
#include "engine/cuda/driver.h"

#include "storage/base/disk/read_ahead.h"
#include "storage/base/parallel.h"

#include <string.h>

enum { STREAM_NON_BLOCKING = 1, EVENT_DISABLE_TIMING = 2, HOST_PORTABLE = 1 };

/* Up to this size, a pageable copy by the driver takes less time than starting threads and waiting for
 * them. */
#define UPLOAD_DIRECT_BYTES (1u << 20)

static enum status lane_open(struct cuda *cuda, struct cuda_upload_lane *lane, struct error *error)
{
    const struct cuda_driver *driver = cuda->of->driver;
    RETURN_IF_ERROR(cuda_result(cuda, driver->stream_create(&lane->stream, STREAM_NON_BLOCKING),
                                "making a stream for uploads", error));
    for (int i = 0; i < 2; i++) {
        RETURN_IF_ERROR(cuda_result(cuda,
                                    driver->host_allocate(&lane->buffer[i], UPLOAD_BYTES, HOST_PORTABLE),
                                    "pinning 2 MiB of host memory for uploads", error));
        RETURN_IF_ERROR(cuda_result(cuda, driver->event_create(&lane->copied[i], EVENT_DISABLE_TIMING),
                                    "making an event for uploads", error));
    }
    return cuda_result(cuda, driver->event_create(&lane->done, EVENT_DISABLE_TIMING),
                       "making an event for uploads", error);
}

static void lane_close(const struct cuda_device *device, struct cuda_upload_lane *lane)
{
    const struct cuda_driver *driver = device->driver;
    for (int i = 0; i < 2; i++) {
        if (lane->copied[i])
            driver->event_destroy(lane->copied[i]);
        if (lane->buffer[i])
            driver->host_free(lane->buffer[i]);
    }
    if (lane->done)
        driver->event_destroy(lane->done);
    if (lane->stream)
        driver->stream_destroy(lane->stream);
    *lane = (struct cuda_upload_lane){0};
}

void cuda_upload_close(struct cuda_device *device)
{
    for (unsigned i = 0; i < UPLOAD_THREADS; i++)
        lane_close(device, &device->lanes[i]);
    device->lane_count = 0;
}

struct upload {
    struct cuda *cuda;
    cuda_address to;
    const struct cuda_piece *pieces;
    uint32_t count;
    uint64_t bytes;
    struct read_ahead *reader; /* of a single piece */
};

/* Copies bytes start .. start + bytes - 1 of the pieces. */
static void gather(const struct upload *upload, uint64_t start, uint64_t bytes, char *to)
{
    uint32_t first = 0;
    for (uint32_t end = upload->count; end - first > 1;) {
        const uint32_t middle = first + (end - first) / 2;
        if (upload->pieces[middle].offset <= start)
            first = middle;
        else
            end = middle;
    }
    for (const struct cuda_piece *piece = &upload->pieces[first]; bytes > 0; piece++) {
        const uint64_t from = start - piece->offset, left = piece->bytes - from,
                       here = left < bytes ? left : bytes;
        memcpy(to, (const char *)piece->from + from, here);
        to += here;
        start += here;
        bytes -= here;
    }
}

static enum status upload_piece(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct upload *upload = context;
    struct cuda *cuda = upload->cuda;
    const struct cuda_driver *driver = cuda->of->driver;
    struct cuda_upload_lane *lane = &cuda->of->lanes[thread];
    RETURN_IF_ERROR(cancel_check(error));
    RETURN_IF_ERROR(cuda_enter(cuda, error));
    unsigned b = lane->next;
    lane->next = 1 - b;
    uint64_t start = item * UPLOAD_BYTES;
    read_ahead_reach_byte(upload->reader, start);
    uint64_t bytes = upload->bytes - start < UPLOAD_BYTES ? upload->bytes - start : UPLOAD_BYTES;
    RETURN_IF_ERROR(cuda_result(cuda, driver->event_wait(lane->copied[b]), "waiting for an upload", error));
    gather(upload, start, bytes, lane->buffer[b]);
    RETURN_IF_ERROR(
        cuda_result(cuda, driver->copy_to_device(upload->to + start, lane->buffer[b], bytes, lane->stream),
                    "uploading", error));
    return cuda_result(cuda, driver->event_record(lane->copied[b], lane->stream), "uploading", error);
}

/* Opens the lanes that an upload of this size uses, and gives their number. */
static enum status open_lanes(struct cuda *cuda, uint64_t bytes, unsigned *threads, struct error *error)
{
    const uint64_t pieces = (bytes + UPLOAD_BYTES - 1) / UPLOAD_BYTES;
    *threads = parallel_threads_available();
    if (*threads > UPLOAD_THREADS)
        *threads = UPLOAD_THREADS;
    if (*threads > pieces)
        *threads = (unsigned)pieces;
    for (; cuda->of->lane_count < *threads; cuda->of->lane_count++) {
        struct cuda_upload_lane *lane = &cuda->of->lanes[cuda->of->lane_count];
        const enum status status = lane_open(cuda, lane, error);
        if (status != STATUS_OK) {
            lane_close(cuda->of, lane);
            return status;
        }
    }
    return STATUS_OK;
}

static enum status upload_pieces(struct upload *upload, unsigned threads, struct error *error)
{
    if (upload->count == 1)
        upload->reader = read_ahead_bytes(upload->pieces->from, upload->bytes, READ_AHEAD_BYTES);
    const enum status status =
        parallel_for(threads, (upload->bytes + UPLOAD_BYTES - 1) / UPLOAD_BYTES, upload_piece, upload, error);
    read_ahead_stop(upload->reader);
    return status;
}

/* Waits for the lanes; after a failure too, because no copy may be running when the caller frees the target. */
static enum status finish_lanes(struct cuda *cuda, unsigned threads, enum status status, struct error *error)
{
    for (unsigned i = 0; i < threads; i++) {
        const enum status ended =
            cuda_result(cuda, cuda->of->driver->stream_synchronize(cuda->of->lanes[i].stream),
                        "finishing an upload", status == STATUS_OK ? error : NULL);
        status = AND_THEN(status, ended);
    }
    return status;
}

/* The lanes are the caller's until it returns. */
static enum status upload_now(struct upload *upload, struct error *error)
{
    struct cuda *const cuda = upload->cuda;
    unsigned threads;
    RETURN_IF_ERROR(open_lanes(cuda, upload->bytes, &threads, error));
    return finish_lanes(cuda, threads, upload_pieces(upload, threads, error), error);
}

static enum status upload_after(struct upload *upload, struct cuda_event *after, struct error *error)
{
    struct cuda *const cuda = upload->cuda;
    unsigned threads;
    RETURN_IF_ERROR(open_lanes(cuda, upload->bytes, &threads, error));
    for (unsigned i = 0; i < threads; i++)
        RETURN_IF_ERROR(cuda_stream_wait(cuda, cuda->of->lanes[i].stream, after, error));
    enum status status = upload_pieces(upload, threads, error);
    if (status != STATUS_OK)
        return finish_lanes(cuda, threads, status, error);
    for (unsigned i = 0; i < threads; i++) {
        RETURN_IF_ERROR(cuda_stream_record(cuda, cuda->of->lanes[i].stream, cuda->of->lanes[i].done, error));
        RETURN_IF_ERROR(cuda_stream_wait(cuda, NULL, cuda->of->lanes[i].done, error));
    }
    return STATUS_OK;
}

enum status cuda_upload_pieces(struct cuda *cuda, cuda_address to, const struct cuda_piece *pieces,
                               uint32_t count, struct cuda_event *after, struct error *error)
{
    struct upload upload = {.cuda = cuda, .to = to, .pieces = pieces, .count = count};
    for (uint32_t p = 0; p < count; p++)
        upload.bytes += pieces[p].bytes;
    if (!after)
        RETURN_IF_ERROR(cuda_synchronize(cuda, error)); /* queued work may still read the target */
    if (!after && count == 1 && upload.bytes <= UPLOAD_DIRECT_BYTES) {
        RETURN_IF_ERROR(cuda_copy_to_device(cuda, to, pieces->from, upload.bytes, error));
        return cuda_synchronize(cuda, error);
    }
    pthread_mutex_lock(&cuda->of->upload_lock);
    const enum status status = after ? upload_after(&upload, after, error) : upload_now(&upload, error);
    pthread_mutex_unlock(&cuda->of->upload_lock);
    return status;
}

enum status cuda_upload(struct cuda *cuda, cuda_address to, const void *from, uint64_t bytes,
                        struct error *error)
{
    return cuda_upload_pieces(cuda, to, &(struct cuda_piece){.from = from, .bytes = bytes}, 1, NULL, error);
}

enum status cuda_upload_after(struct cuda *cuda, cuda_address to, const void *from, uint64_t bytes,
                              struct cuda_event *after, struct error *error)
{
    return cuda_upload_pieces(cuda, to, &(struct cuda_piece){.from = from, .bytes = bytes}, 1, after, error);
}
