/* copy_file.c: see copy_file.h. The stream's bytes are compressed in pieces of 256 KiB, on the thread that writes them:
 * gzip by zlib, zstd with its default level. */
#define _GNU_SOURCE
#include "engine/library/change/copy_file.h"

#include "storage/base/disk/file_draft.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define PIECE_BYTES (256u << 10)

struct copy_file {
    struct file_draft draft;
    FILE *stream;
    enum copy_packing packing;
    z_stream gzip;
    ZSTD_CStream *zstd;
    int reason; /* why a write failed; 0: none did */
    char *path;
    unsigned char piece[PIECE_BYTES];
};

const char *copy_packing_ending(enum copy_packing packing)
{
    static const char *const endings[] = {[COPY_PLAIN] = "", [COPY_GZIP] = ".gz", [COPY_ZSTD] = ".zst"};
    return endings[packing];
}

FILE *copy_file_stream(const struct copy_file *file)
{
    return file->stream;
}

/* ---- Bytes ---- */

static bool put(struct copy_file *file, const void *bytes, size_t count)
{
    for (size_t done = 0; done < count && !file->reason;) {
        const ssize_t wrote = write(file->draft.descriptor, (const char *)bytes + done, count - done);
        if (wrote >= 0)
            done += (size_t)wrote;
        else if (errno != EINTR)
            file->reason = errno;
    }
    return !file->reason;
}

static bool put_gzip(struct copy_file *file, const void *bytes, size_t count, bool end)
{
    int said = Z_OK;
    file->gzip.next_in = (unsigned char *)bytes;
    file->gzip.avail_in = (uInt)count;
    do {
        file->gzip.next_out = file->piece;
        file->gzip.avail_out = PIECE_BYTES;
        said = deflate(&file->gzip, end ? Z_FINISH : Z_NO_FLUSH);
    } while (put(file, file->piece, PIECE_BYTES - file->gzip.avail_out) &&
             (end ? said == Z_OK : file->gzip.avail_out == 0));
    return !file->reason;
}

static bool put_zstd(struct copy_file *file, const void *bytes, size_t count, bool end)
{
    ZSTD_inBuffer in = {.src = bytes, .size = count};
    size_t left;
    do {
        ZSTD_outBuffer out = {.dst = file->piece, .size = PIECE_BYTES};
        left = ZSTD_compressStream2(file->zstd, &out, &in, end ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left))
            file->reason = ENOMEM;
        put(file, file->piece, out.pos);
    } while (!file->reason && (end ? left > 0 : in.pos < in.size));
    return !file->reason;
}

static bool put_packed(struct copy_file *file, const void *bytes, size_t count, bool end)
{
    switch (file->packing) {
    case COPY_GZIP:
        return put_gzip(file, bytes, count, end);
    case COPY_ZSTD:
        return put_zstd(file, bytes, count, end);
    case COPY_PLAIN:
        break;
    }
    return put(file, bytes, count);
}

/* The stream's writes; pieces are small, as zlib counts in 32 bits. */
static ssize_t write_piece(void *context, const char *bytes, size_t count)
{
    struct copy_file *const file = context;
    const size_t some = count < PIECE_BYTES ? count : PIECE_BYTES;
    if (!file->reason && put_packed(file, bytes, some, false))
        return (ssize_t)some;
    errno = file->reason;
    return 0;
}

/* ---- Files ---- */

static void free_file(struct copy_file *file)
{
    if (file->packing == COPY_GZIP)
        deflateEnd(&file->gzip);
    ZSTD_freeCStream(file->zstd);
    free(file->path);
    free(file);
}

static enum status begin(struct copy_file *file, enum copy_packing packing, const char *path,
                         struct error *error)
{
    const cookie_io_functions_t calls = {.write = write_piece};
    file->path = strdup(path);
    if (packing == COPY_GZIP &&
        deflateInit2(&file->gzip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK)
        file->packing = COPY_GZIP;
    if (packing == COPY_ZSTD && (file->zstd = ZSTD_createCStream()))
        file->packing = COPY_ZSTD;
    if (!file->path || file->packing != packing)
        return error_out_of_memory(error, sizeof *file, "a file to write");
    RETURN_IF_ERROR(file_draft_open(path, &file->draft, error));
    file->stream = fopencookie(file, "w", calls);
    if (file->stream)
        return STATUS_OK;
    file_draft_drop(&file->draft);
    return error_out_of_memory(error, sizeof *file, "a file to write");
}

enum status copy_file_open(const char *path, enum copy_packing packing, struct copy_file **out,
                           struct error *error)
{
    struct copy_file *const file = calloc(1, sizeof *file);
    if (!file)
        return error_out_of_memory(error, sizeof *file, "a file to write");
    const enum status status = begin(file, packing, path, error);
    if (status == STATUS_OK)
        *out = file;
    else
        free_file(file);
    return status;
}

enum status copy_file_close(struct copy_file *file, enum status status, struct error *error)
{
    const bool closed = fclose(file->stream) == 0;
    if (status == STATUS_OK && closed && file->packing != COPY_PLAIN)
        put_packed(file, NULL, 0, true);
    if (file->reason && (status == STATUS_OK || status == STATUS_MACHINE))
        status = error_set_errno(error, file->reason, "%s cannot be written", file->path);
    else if (status == STATUS_OK && !closed)
        status = error_out_of_memory(error, BUFSIZ, "a file to write");
    if (status == STATUS_OK)
        status = file_draft_keep(&file->draft, error);
    else
        file_draft_drop(&file->draft);
    free_file(file);
    return status;
}
