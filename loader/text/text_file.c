/*
 * text_file.c: see text_file.h. zlib, zstd, liblzma and libbz2 get the file in pieces of 256 KiB. Plain files are read into
 * the caller's memory.
 */
#include "loader/text/text_file.h"

#include "storage/base/file.h"
#include "storage/base/parallel.h"

#include <bzlib.h>
#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#define INPUT_BYTES (256u << 10)

enum text_file_kind { FILE_PLAIN, FILE_GZIP, FILE_ZSTD, FILE_XZ, FILE_BZIP2 };

struct text_file {
    const char *path;
    int descriptor;
    bool waits; /* a pipe or a terminal: a read may have to wait for bytes */
    bool ended;
    enum text_file_kind kind;
    uint64_t done;
    z_stream gzip;
    ZSTD_DStream *zstd;
    lzma_stream xz;
    bz_stream bzip2;
    bool frame_open; /* inside a compressed stream */
    size_t input_at, input_bytes;
    char input[INPUT_BYTES]; /* bytes read and not yet used, also the first bytes of a plain file */
};

/* While a pipe has no bytes, the reader looks this often whether the load was cancelled, because another
 * thread may have received the signal. */
#define WAIT_MILLISECONDS 50

/* Waits for bytes or for the end. A FIFO that nobody has opened for writing yet is not at its end, so this
 * waits for its first writer, too. Regular files never wait. */
static enum status wait_for_bytes(const struct text_file *file, struct error *error)
{
    struct pollfd ready = {.fd = file->descriptor, .events = POLLIN};
    for (int found = 0; file->waits && found <= 0; found = poll(&ready, 1, WAIT_MILLISECONDS))
        RETURN_IF_ERROR(cancel_check(error));
    return STATUS_OK;
}

/* Reads up to `bytes` bytes; *got is 0 only at the end. */
static enum status read_some(struct text_file *file, char *out, size_t bytes, size_t *got,
                             struct error *error)
{
    ssize_t read_now;
    *got = 0;
    if (file->ended)
        return STATUS_OK;
    do {
        RETURN_IF_ERROR(wait_for_bytes(file, error));
        read_now = read(file->descriptor, out, bytes);
    } while (read_now < 0 && (errno == EINTR || errno == EAGAIN));
    if (read_now < 0)
        return error_set_errno(error, errno, "%s: cannot be read", file->path);
    *got = (size_t)read_now;
    file->ended = read_now == 0;
    file->done += *got;
    return STATUS_OK;
}

static enum status fill(struct text_file *file, struct error *error)
{
    file->input_at = 0;
    return read_some(file, file->input, INPUT_BYTES, &file->input_bytes, error);
}

/* The most bytes that tell what a file is. A pipe may give them one by one. */
#define MAGIC_BYTES 10u

static enum status fill_magic(struct text_file *file, struct error *error)
{
    for (size_t got = 1; got && file->input_bytes < MAGIC_BYTES; file->input_bytes += got)
        RETURN_IF_ERROR(
            read_some(file, file->input + file->input_bytes, INPUT_BYTES - file->input_bytes, &got, error));
    return STATUS_OK;
}

/* The dictionary of `xz -9` takes 65 MiB; what asks for more than this is no file of xz's. */
#define XZ_MEMORY (1ull << 30)

static enum status begin(struct text_file *file, struct error *error)
{
    static const unsigned char gzip[] = {0x1f, 0x8b}, zstd[] = {0x28, 0xb5, 0x2f, 0xfd},
                               xz[] = {0xfd, '7', 'z', 'X', 'Z', 0};
    RETURN_IF_ERROR(fill_magic(file, error));
    if (file->input_bytes >= 2 && memcmp(file->input, gzip, 2) == 0) {
        file->kind = FILE_GZIP;
        if (inflateInit2(&file->gzip, 15 + 16) != Z_OK)
            return error_out_of_memory(error, sizeof file->gzip, "unpacking gzip");
    } else if (file->input_bytes >= 4 && memcmp(file->input, zstd, 4) == 0) {
        file->kind = FILE_ZSTD;
        file->zstd = ZSTD_createDStream();
        if (!file->zstd)
            return error_out_of_memory(error, 1 << 20, "unpacking zstd");
    } else if (file->input_bytes >= sizeof xz && memcmp(file->input, xz, sizeof xz) == 0) {
        file->kind = FILE_XZ;
        if (lzma_stream_decoder(&file->xz, XZ_MEMORY, LZMA_CONCATENATED) != LZMA_OK)
            return error_out_of_memory(error, 1 << 20, "unpacking xz");
    } else if (file->input_bytes >= MAGIC_BYTES && memcmp(file->input, "BZh", 3) == 0 &&
               file->input[3] >= '1' && file->input[3] <= '9' && memcmp(file->input + 4, "1AY&SY", 6) == 0) {
        file->kind = FILE_BZIP2;
        if (BZ2_bzDecompressInit(&file->bzip2, 0, 0) != BZ_OK)
            return error_out_of_memory(error, 4 << 20, "unpacking bzip2");
    }
    file->frame_open = file->kind != FILE_PLAIN;
    return STATUS_OK;
}

static const char *shown_path(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

enum status text_file_check(const char *path, uint64_t *bytes, struct error *error)
{
    const bool is_input = strcmp(path, "-") == 0;
    struct stat info;
    *bytes = TEXT_FILE_SIZE_UNKNOWN;
    if (is_input ? fstat(STDIN_FILENO, &info) != 0 : stat(path, &info) != 0 || access(path, R_OK) != 0)
        return error_set_errno(error, errno, "%s: cannot be opened", shown_path(path));
    if (S_ISDIR(info.st_mode))
        return error_set(error, STATUS_BAD_INPUT, "%s: is a folder; name its files", shown_path(path));
    if (S_ISREG(info.st_mode))
        *bytes = (uint64_t)info.st_size;
    return STATUS_OK;
}

enum status text_file_open(const char *path, struct text_file **out, struct error *error)
{
    struct text_file *file = calloc(1, sizeof *file);
    *out = NULL;
    if (!file)
        return error_out_of_memory(error, sizeof *file, "a file");
    file->path = shown_path(path);
    struct stat info;
    /* Without O_NONBLOCK, opening a FIFO waits for its first writer. wait_for_bytes waits and can be
     * cancelled. */
    file->descriptor =
        strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : file_descriptor(path, O_RDONLY | O_NONBLOCK, 0);
    enum status status = STATUS_OK;
    if (file->descriptor < 0 || fstat(file->descriptor, &info) != 0)
        status = error_set_errno(error, errno, "%s: cannot be opened", file->path);
    else
        file->waits = !S_ISREG(info.st_mode);
    status = AND_THEN(status, begin(file, error));
    if (status == STATUS_OK)
        *out = file;
    else
        text_file_close(file);
    return status;
}

void text_file_close(struct text_file *file)
{
    if (!file)
        return;
    if (file->kind == FILE_GZIP)
        inflateEnd(&file->gzip);
    ZSTD_freeDStream(file->zstd);
    lzma_end(&file->xz);
    if (file->kind == FILE_BZIP2 && file->bzip2.state)
        BZ2_bzDecompressEnd(&file->bzip2);
    if (file->descriptor >= 0)
        close(file->descriptor);
    free(file);
}

uint64_t text_file_done(const struct text_file *file)
{
    return file->done;
}

static enum status read_plain(struct text_file *file, char *out, size_t bytes, size_t *got,
                              struct error *error)
{
    const size_t held = file->input_bytes - file->input_at;
    *got = held < bytes ? held : bytes;
    memcpy(out, file->input + file->input_at, *got);
    file->input_at += *got;
    for (size_t more = 1; *got < bytes && more; *got += more)
        RETURN_IF_ERROR(read_some(file, out + *got, bytes - *got, &more, error));
    return STATUS_OK;
}

/* One step of decompression: uses input, gives output. */
static enum status inflate_some(struct text_file *file, char *out, size_t bytes, size_t *got,
                                struct error *error)
{
    if (!file->frame_open) { /* after a gzip member come another one, or zeros as padding */
        while (file->input_at < file->input_bytes && file->input[file->input_at] == 0)
            file->input_at++;
        if (file->input_at == file->input_bytes)
            return STATUS_OK;
        inflateReset(&file->gzip);
        file->frame_open = true;
    }
    file->gzip.next_in = (Bytef *)file->input + file->input_at;
    file->gzip.avail_in = (uInt)(file->input_bytes - file->input_at);
    file->gzip.next_out = (Bytef *)out;
    file->gzip.avail_out = bytes > UINT32_MAX ? UINT32_MAX : (uInt)bytes;
    const uInt room = file->gzip.avail_out;
    const int result = inflate(&file->gzip, Z_NO_FLUSH);
    file->input_at = file->input_bytes - file->gzip.avail_in;
    *got = room - file->gzip.avail_out;
    file->frame_open = result != Z_STREAM_END;
    if (result == Z_MEM_ERROR)
        return error_out_of_memory(error, 1 << 15, "unpacking gzip");
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
        return error_set(error, STATUS_BAD_INPUT, "%s: the gzip data is damaged (%s); fetch the file again",
                         file->path, file->gzip.msg ? file->gzip.msg : "no reason given");
    return STATUS_OK;
}

static enum status unzstd_some(struct text_file *file, char *out, size_t bytes, size_t *got,
                               struct error *error)
{
    ZSTD_inBuffer in = {file->input, file->input_bytes, file->input_at};
    ZSTD_outBuffer to = {out, bytes, 0};
    const size_t result = ZSTD_decompressStream(file->zstd, &to, &in);
    file->input_at = in.pos;
    *got = to.pos;
    file->frame_open = result != 0;
    if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation)
        return error_out_of_memory(error, 1 << 20, "unpacking zstd");
    if (ZSTD_isError(result))
        return error_set(error, STATUS_BAD_INPUT, "%s: the zstd data is damaged (%s); fetch the file again",
                         file->path, ZSTD_getErrorName(result));
    return STATUS_OK;
}

/* Without input, says liblzma whether the file may end here. */
static enum status unxz_some(struct text_file *file, char *out, size_t bytes, size_t *got,
                             struct error *error)
{
    file->xz.next_in = (const uint8_t *)file->input + file->input_at;
    file->xz.avail_in = file->input_bytes - file->input_at;
    file->xz.next_out = (uint8_t *)out;
    file->xz.avail_out = bytes;
    const lzma_ret result = lzma_code(&file->xz, file->input_bytes ? LZMA_RUN : LZMA_FINISH);
    file->input_at = file->input_bytes - file->xz.avail_in;
    *got = bytes - file->xz.avail_out;
    file->frame_open = result != LZMA_STREAM_END;
    if (result == LZMA_MEM_ERROR)
        return error_out_of_memory(error, 1 << 20, "unpacking xz");
    if (result == LZMA_MEMLIMIT_ERROR)
        return error_set(error, STATUS_BAD_INPUT,
                         "%s: the xz data asks for more than 1 GiB of memory; compress it anew", file->path);
    if (result != LZMA_OK && result != LZMA_STREAM_END &&
        (result != LZMA_BUF_ERROR || file->input_bytes == 0))
        return result == LZMA_BUF_ERROR
                   ? STATUS_OK /* it is cut short, which the caller says */
                   : error_set(error, STATUS_BAD_INPUT,
                               "%s: the xz data is damaged (fault %d of liblzma); fetch the file again",
                               file->path, (int)result);
    return STATUS_OK;
}

static enum status unbzip2_some(struct text_file *file, char *out, size_t bytes, size_t *got,
                                struct error *error)
{
    if (!file->frame_open) { /* after a stream comes another one, as pbzip2 writes */
        BZ2_bzDecompressEnd(&file->bzip2);
        file->bzip2 = (bz_stream){0};
        if (BZ2_bzDecompressInit(&file->bzip2, 0, 0) != BZ_OK)
            return error_out_of_memory(error, 4 << 20, "unpacking bzip2");
        file->frame_open = true;
    }
    file->bzip2.next_in = file->input + file->input_at;
    file->bzip2.avail_in = (unsigned)(file->input_bytes - file->input_at);
    file->bzip2.next_out = out;
    file->bzip2.avail_out = bytes > UINT32_MAX ? UINT32_MAX : (unsigned)bytes;
    const unsigned room = file->bzip2.avail_out;
    const int result = BZ2_bzDecompress(&file->bzip2);
    file->input_at = file->input_bytes - file->bzip2.avail_in;
    *got = room - file->bzip2.avail_out;
    file->frame_open = result != BZ_STREAM_END;
    if (result == BZ_MEM_ERROR)
        return error_out_of_memory(error, 4 << 20, "unpacking bzip2");
    if (result != BZ_OK && result != BZ_STREAM_END)
        return error_set(error, STATUS_BAD_INPUT,
                         "%s: the bzip2 data is damaged (fault %d of libbz2); fetch the file again",
                         file->path, result);
    return STATUS_OK;
}

static enum status unpack_some(struct text_file *file, char *out, size_t bytes, size_t *got,
                               struct error *error)
{
    switch (file->kind) {
    case FILE_GZIP:
        return inflate_some(file, out, bytes, got, error);
    case FILE_ZSTD:
        return unzstd_some(file, out, bytes, got, error);
    case FILE_XZ:
        return unxz_some(file, out, bytes, got, error);
    default:
        return unbzip2_some(file, out, bytes, got, error);
    }
}

enum status text_file_read(struct text_file *file, char *out, size_t bytes, size_t *got, struct error *error)
{
    if (file->kind == FILE_PLAIN)
        return read_plain(file, out, bytes, got, error);
    *got = 0;
    while (*got < bytes) {
        size_t more = 0;
        if (file->input_at == file->input_bytes) {
            RETURN_IF_ERROR(fill(file, error));
            if (file->input_bytes == 0) {
                /* several streams of xz end only with the file; its last bytes may come now */
                if (file->kind == FILE_XZ && file->frame_open)
                    RETURN_IF_ERROR(unxz_some(file, out + *got, bytes - *got, &more, error));
                *got += more;
                if (more)
                    continue;
                if (file->frame_open)
                    return error_set(error, STATUS_BAD_INPUT,
                                     "%s: the compressed data ends in the middle; fetch the file again",
                                     file->path);
                return STATUS_OK;
            }
        }
        RETURN_IF_ERROR(unpack_some(file, out + *got, bytes - *got, &more, error));
        *got += more;
    }
    return STATUS_OK;
}

enum status text_file_whole(const char *path, size_t most, char **text, size_t *length, struct error *error)
{
    struct text_file *file;
    size_t room = 1 << 16, got = 1;
    *text = NULL;
    *length = 0;
    RETURN_IF_ERROR(text_file_open(path, &file, error));
    char *all = malloc(room);
    enum status status = all ? STATUS_OK : error_out_of_memory(error, room, path);
    while (status == STATUS_OK && got && *length <= most) {
        status = text_file_read(file, all + *length, room - *length, &got, error);
        *length += got;
        char *const grown = *length == room ? realloc(all, room *= 2) : all;
        if (!grown)
            status = error_out_of_memory(error, room, path);
        all = grown ? grown : all;
    }
    text_file_close(file);
    if (status == STATUS_OK && *length > most)
        status = error_set(error, STATUS_BAD_INPUT,
                           "%s: has over %zu MiB; a script of statements is expected", path, most >> 20);
    if (status == STATUS_OK)
        *text = all;
    else
        free(all);
    return status;
}
