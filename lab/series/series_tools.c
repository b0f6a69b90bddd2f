/* series_tools.c: see series_tools.h. */
#include "lab/series/series_tools.h"

#include "storage/base/clock.h"
#include "storage/base/memory.h"

#include <bzlib.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define GZIP_WINDOW  (15 + 16) /* the greatest window, with gzip's header */
#define GZIP_MEMORY  8         /* zlib's default */
#define BZIP2_BLOCK  9         /* of 100 kB, as `bzip2` has unless told otherwise */
#define SMALL_MEMORY 0         /* of BZ2_bzBuffToBuffDecompress: no */
#define STATE_BYTES  7600000u  /* of bzip2, which takes most */

/* Works on `bytes` bytes; *out_bytes is the room and becomes what was written. STATUS_MACHINE: there is no memory;
 * STATUS_CHECK_FAILED: anything else. */
typedef enum status tool_work(const void *in, uint32_t bytes, void *out, uint32_t *out_bytes);

static enum status gzip_status(int code)
{
    return code == Z_OK || code == Z_STREAM_END ? STATUS_OK
           : code == Z_MEM_ERROR                ? STATUS_MACHINE
                                                : STATUS_CHECK_FAILED;
}

static enum status bzip2_status(int code)
{
    return code == BZ_OK ? STATUS_OK : code == BZ_MEM_ERROR ? STATUS_MACHINE : STATUS_CHECK_FAILED;
}

static enum status gzip_compress(const void *in, uint32_t bytes, void *out, uint32_t *out_bytes)
{
    z_stream stream = {
        .next_in = (Bytef *)(uintptr_t)in, .avail_in = bytes, .next_out = out, .avail_out = *out_bytes};
    RETURN_IF_ERROR(gzip_status(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW,
                                             GZIP_MEMORY, Z_DEFAULT_STRATEGY)));
    const int end = deflate(&stream, Z_FINISH);
    *out_bytes = (uint32_t)stream.total_out;
    deflateEnd(&stream);
    return end == Z_OK ? STATUS_CHECK_FAILED : gzip_status(end);
}

static enum status gzip_restore(const void *in, uint32_t bytes, void *out, uint32_t *out_bytes)
{
    z_stream stream = {
        .next_in = (Bytef *)(uintptr_t)in, .avail_in = bytes, .next_out = out, .avail_out = *out_bytes};
    RETURN_IF_ERROR(gzip_status(inflateInit2(&stream, GZIP_WINDOW)));
    const int end = inflate(&stream, Z_FINISH);
    *out_bytes = (uint32_t)stream.total_out;
    inflateEnd(&stream);
    return end == Z_OK ? STATUS_CHECK_FAILED : gzip_status(end);
}

static enum status bzip2_compress(const void *in, uint32_t bytes, void *out, uint32_t *out_bytes)
{
    return bzip2_status(
        BZ2_bzBuffToBuffCompress(out, out_bytes, (char *)(uintptr_t)in, bytes, BZIP2_BLOCK, 0, 0));
}

static enum status bzip2_restore(const void *in, uint32_t bytes, void *out, uint32_t *out_bytes)
{
    return bzip2_status(
        BZ2_bzBuffToBuffDecompress(out, out_bytes, (char *)(uintptr_t)in, bytes, SMALL_MEMORY, 0));
}

static const struct tool {
    const char *name;
    tool_work *compress, *restore;
} tools[SERIES_TOOLS] = {{"gzip", gzip_compress, gzip_restore}, {"bzip2", bzip2_compress, bzip2_restore}};

struct job {
    const struct tool *tool;
    const void *data;
    uint32_t bytes, packed_bytes;
    void *packed, *restored;
    double *ms;
};

/* More than either library needs at most: bzip2's is 1 % and 600 bytes. */
static uint64_t packed_room(uint64_t bytes)
{
    return bytes + bytes / 64 + 1024;
}

static enum status failed(enum status status, const struct job *job, const char *what, struct error *error)
{
    return status == STATUS_MACHINE ? error_out_of_memory(error, STATE_BYTES, job->tool->name)
                                    : error_set(error, status, "%s %s", job->tool->name, what);
}

static enum status restore(struct job *job, double *ms, struct error *error)
{
    uint32_t bytes = job->bytes;
    RETURN_IF_ERROR(cancel_check(error));
    const double begin = clock_ms();
    const enum status status = job->tool->restore(job->packed, job->packed_bytes, job->restored, &bytes);
    *ms = clock_ms() - begin;
    if (status != STATUS_OK)
        return failed(status, job, "does not decompress what it compressed", error);
    if (bytes != job->bytes || memcmp(job->restored, job->data, bytes) != 0)
        return failed(STATUS_CHECK_FAILED, job, "gives other bytes back", error);
    return STATUS_OK;
}

static enum status measure(struct job *job, uint32_t repeat, struct series_tool_result *result,
                           struct error *error)
{
    double unmeasured;
    const double begin = clock_ms();
    const enum status status = job->tool->compress(job->data, job->bytes, job->packed, &job->packed_bytes);
    if (status != STATUS_OK)
        return failed(status, job, "does not compress a time series", error);
    result->compress_ms = clock_ms() - begin;
    result->bytes = job->packed_bytes;
    RETURN_IF_ERROR(restore(job, &unmeasured, error));
    for (uint32_t i = 0; i < repeat; i++)
        RETURN_IF_ERROR(restore(job, &job->ms[i], error));
    result->restore = speed_of(job->ms, repeat);
    return STATUS_OK;
}

enum status series_tool_measure(struct lab *lab, enum series_tool tool, const void *data, uint64_t bytes,
                                struct series_tool_result *result, struct error *error)
{
    struct job job = {.tool = &tools[tool],
                      .data = data,
                      .bytes = (uint32_t)bytes,
                      .packed_bytes = (uint32_t)packed_room(bytes)};
    *result = (struct series_tool_result){0};
    enum status status = memory_take(&job.packed, packed_room(bytes), "a compressed time series", error);
    if (status == STATUS_OK)
        status = memory_take(&job.restored, bytes, "a time series", error);
    if (status == STATUS_OK)
        status = memory_take(&job.ms, lab->repeat * sizeof *job.ms, "a list of times", error);
    if (status == STATUS_OK)
        status = measure(&job, lab->repeat, result, error);
    free(job.ms);
    free(job.restored);
    free(job.packed);
    return status;
}
