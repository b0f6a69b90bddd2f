/* transfer.c: see transfer.h. */
#define _GNU_SOURCE
#include "lab/bench/transfer.h"

#include "storage/base/clock.h"
#include "storage/base/file.h"
#include "storage/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#define PIECE_BYTES (UINT64_C(4) << 20)
#define FILE_READS  3u /* at most: slow disks take seconds for each */

struct transferring {
    struct lab *lab;
    const struct encoded *encoded;
    int descriptor;
    uint8_t *bytes; /* what is read: all chunks, one after the other */
    cuda_address on_device;
    double *ms;
};

const char *transfer_folder(void)
{
    const char *const folder = getenv("TMPDIR");
    return folder && *folder ? folder : "/tmp";
}

/* ---- From a file ---- */

static enum status make_file(struct transferring *transfer, struct error *error)
{
    char *path;
    RETURN_IF_ERROR(path_format(&path, error, "%s/tessera-lab-XXXXXX", transfer_folder()));
    transfer->descriptor = mkostemp(path, O_CLOEXEC);
    const enum status status =
        transfer->descriptor < 0
            ? error_set_errno(error, errno, "cannot create a file in %s", transfer_folder())
            : STATUS_OK;
    if (status == STATUS_OK)
        unlink(path);
    free(path);
    return status;
}

static enum status write_file(const struct transferring *transfer, struct error *error)
{
    uint64_t at = 0;
    for (uint32_t c = 0; c < transfer->encoded->chunk_count; c++) {
        const struct chunk_view *const chunk = &transfer->encoded->chunks[c];
        RETURN_IF_ERROR(cancel_check(error));
        RETURN_IF_ERROR(
            file_write(transfer_folder(), transfer->descriptor, chunk->bytes, chunk->size, at, error));
        at += chunk->size;
    }
    return fsync(transfer->descriptor) == 0
               ? STATUS_OK
               : error_set_errno(error, errno, "cannot write to %s", transfer_folder());
}

static enum status read_piece(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct transferring *const transfer = context;
    const uint64_t first = item * PIECE_BYTES, left = transfer->encoded->bytes - first;
    const uint64_t end = first + (left < PIECE_BYTES ? left : PIECE_BYTES);
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    for (uint64_t at = first; at < end;) {
        const ssize_t got = pread(transfer->descriptor, transfer->bytes + at, end - at, (off_t)at);
        if (got <= 0 && errno != EINTR)
            return error_set_errno(error, got < 0 ? errno : EIO, "cannot read from %s", transfer_folder());
        at += got > 0 ? (uint64_t)got : 0;
    }
    return STATUS_OK;
}

static enum status read_file(struct transferring *transfer, double *ms, struct error *error)
{
    posix_fadvise(transfer->descriptor, 0, 0, POSIX_FADV_DONTNEED);
    const double begin = clock_ms();
    RETURN_IF_ERROR(parallel_for(transfer->lab->threads,
                                 (transfer->encoded->bytes + PIECE_BYTES - 1) / PIECE_BYTES, read_piece,
                                 transfer, error));
    *ms = clock_ms() - begin;
    return STATUS_OK;
}

static enum status check(const struct transferring *transfer, struct error *error)
{
    const uint8_t *at = transfer->bytes;
    for (uint32_t c = 0; c < transfer->encoded->chunk_count; c++) {
        const struct chunk_view *const chunk = &transfer->encoded->chunks[c];
        if (memcmp(at, chunk->bytes, chunk->size) != 0)
            return error_set(error, STATUS_CHECK_FAILED, "a file in %s has other bytes than were written",
                             transfer_folder());
        at += chunk->size;
    }
    return STATUS_OK;
}

static bool is_in_memory(int descriptor)
{
    struct statfs system;
    return fstatfs(descriptor, &system) == 0 &&
           (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC);
}

static enum status measure_file(struct transferring *transfer, struct transfer *result, struct error *error)
{
    const uint32_t reads = transfer->lab->repeat < FILE_READS ? transfer->lab->repeat : FILE_READS;
    double unmeasured;
    RETURN_IF_ERROR(make_file(transfer, error));
    RETURN_IF_ERROR(write_file(transfer, error));
    RETURN_IF_ERROR(read_file(transfer, &unmeasured, error)); /* this one also gets the memory's pages */
    RETURN_IF_ERROR(check(transfer, error));
    for (uint32_t i = 0; i < reads; i++)
        RETURN_IF_ERROR(read_file(transfer, &transfer->ms[i], error));
    result->file = speed_of(transfer->ms, reads);
    result->in_memory = is_in_memory(transfer->descriptor);
    return STATUS_OK;
}

/* ---- To the device ---- */

static enum status upload(struct transferring *transfer, double *ms, struct error *error)
{
    const double begin = clock_ms();
    RETURN_IF_ERROR(cuda_upload(transfer->lab->cuda, transfer->on_device, transfer->bytes,
                                transfer->encoded->bytes, error));
    *ms = clock_ms() - begin;
    return STATUS_OK;
}

static enum status measure_device(struct transferring *transfer, struct transfer *result, struct error *error)
{
    const uint32_t repeat = transfer->lab->repeat;
    double unmeasured;
    if (!transfer->lab->cuda)
        return STATUS_OK;
    RETURN_IF_ERROR(cuda_allocate(transfer->lab->cuda, transfer->encoded->bytes, "encoded chunks",
                                  &transfer->on_device, error));
    RETURN_IF_ERROR(upload(transfer, &unmeasured, error));
    for (uint32_t i = 0; i < repeat; i++)
        RETURN_IF_ERROR(upload(transfer, &transfer->ms[i], error));
    result->device = speed_of(transfer->ms, repeat);
    return STATUS_OK;
}

enum status transfer_measure(struct lab *lab, const struct encoded *encoded, struct transfer *result,
                             struct error *error)
{
    struct transferring transfer = {.lab = lab, .encoded = encoded, .descriptor = -1};
    *result = (struct transfer){0};
    enum status status = memory_take(&transfer.bytes, encoded->bytes, "encoded values", error);
    if (status == STATUS_OK)
        status = memory_take(&transfer.ms, lab->repeat * sizeof *transfer.ms, "a list of times", error);
    if (status == STATUS_OK)
        status = measure_file(&transfer, result, error);
    if (status == STATUS_OK)
        status = measure_device(&transfer, result, error);
    if (transfer.descriptor >= 0)
        close(transfer.descriptor);
    if (lab->cuda)
        cuda_free(lab->cuda, transfer.on_device);
    free(transfer.ms);
    free(transfer.bytes);
    return status;
}
