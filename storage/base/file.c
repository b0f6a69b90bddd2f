/* file.c: see file.h. */
#define _GNU_SOURCE
#include "storage/base/file.h"

#include "storage/base/execution/execution.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Without these flags, opening a FIFO waits for its other end, and opening a terminal makes it ours. */
#define NEVER_WAIT (O_NONBLOCK | O_NOCTTY)

/* ---- Calls that signals interrupt ---- */

int file_descriptor(const char *path, int flags, mode_t mode)
{
    int descriptor;
    do
        descriptor = open(path, flags | O_CLOEXEC, mode);
    while (descriptor < 0 && errno == EINTR);
    return descriptor;
}

FILE *file_stream(const char *path, const char *mode)
{
    FILE *stream;
    do
        stream = fopen(path, mode);
    while (!stream && errno == EINTR);
    return stream;
}

int file_flock(int descriptor, int operation)
{
    while (flock(descriptor, operation) != 0)
        if (errno != EINTR)
            return errno;
    return 0;
}

int file_sync(int descriptor)
{
    if (execution_transient())
        return 0;
    while (fsync(descriptor) != 0)
        if (errno != EINTR)
            return errno;
    return 0;
}

int file_truncate(int descriptor, uint64_t size)
{
    while (ftruncate(descriptor, (off_t)size) != 0)
        if (errno != EINTR)
            return errno;
    return 0;
}

int file_get(int descriptor, void *bytes, uint64_t size, uint64_t offset, uint64_t *got)
{
    *got = 0;
    while (*got < size) {
        const ssize_t now = pread(descriptor, (char *)bytes + *got, size - *got, (off_t)(offset + *got));
        if (now < 0 && errno == EINTR)
            continue;
        if (now < 0)
            return errno;
        if (now == 0)
            break;
        *got += (uint64_t)now;
    }
    return 0;
}

int file_put(int descriptor, const void *bytes, uint64_t size, uint64_t offset)
{
    const char *from = bytes;
    while (size > 0) {
        const ssize_t written = pwrite(descriptor, from, size, (off_t)offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? errno : ENOSPC;
        from += written;
        size -= (uint64_t)written;
        offset += (uint64_t)written;
    }
    return 0;
}

/* ---- Paths ---- */

enum status path_format(char **path, struct error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(path, format, arguments);
    va_end(arguments);
    if (length >= 0)
        return STATUS_OK;
    *path = NULL;
    return error_out_of_memory(error, strlen(format), "a path");
}

/* ---- Opening ---- */

static enum status no_file(const char *path, mode_t mode, struct error *error)
{
    const char *what = S_ISDIR(mode)    ? "a directory"
                       : S_ISFIFO(mode) ? "a FIFO"
                       : S_ISLNK(mode)  ? "a symbolic link"
                       : S_ISSOCK(mode) ? "a socket"
                                        : "a device";
    return error_set(error, STATUS_BAD_INPUT, "%s: this is no file, it is %s; put the file back or remove it",
                     path, what);
}

/* Closes the descriptor, with an error, unless it is a regular file. */
static enum status check_regular(const char *path, int *descriptor, uint64_t *size, struct error *error)
{
    struct stat stat;
    enum status status = STATUS_OK;
    if (fstat(*descriptor, &stat) != 0)
        status = error_set_errno(error, errno, "cannot read %s", path);
    else if (!S_ISREG(stat.st_mode))
        status = no_file(path, stat.st_mode, error);
    else
        *size = (uint64_t)stat.st_size;
    if (status != STATUS_OK) {
        close(*descriptor);
        *descriptor = -1;
    }
    return status;
}

enum status file_open(const char *path, int *descriptor, uint64_t *size, bool *missing, struct error *error)
{
    *descriptor = file_descriptor(path, O_RDONLY | NEVER_WAIT, 0);
    if (missing)
        *missing = *descriptor < 0 && errno == ENOENT;
    return *descriptor < 0 ? error_set_errno(error, errno, "cannot open %s", path)
                           : check_regular(path, descriptor, size, error);
}

enum status file_create(const char *path, int *descriptor, struct error *error)
{
    unlink(path); /* if this fails, open fails, too */
    *descriptor = file_descriptor(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
    return *descriptor < 0 ? error_set_errno(error, errno, "cannot create %s", path) : STATUS_OK;
}

/* Opens without following a link. The system returns ELOOP for a link, and ENXIO for a FIFO without a
 * reader. */
static enum status open_own(const char *path, int flags, int *descriptor, struct error *error)
{
    struct stat stat;
    uint64_t size;
    *descriptor = file_descriptor(path, flags | O_NOFOLLOW | NEVER_WAIT, 0666);
    if (*descriptor >= 0)
        return check_regular(path, descriptor, &size, error);
    const int reason = errno;
    if (lstat(path, &stat) == 0 && !S_ISREG(stat.st_mode))
        return no_file(path, stat.st_mode, error);
    return error_set_errno(error, reason, "cannot open %s", path);
}

enum status file_found(const char *path, bool *found, struct error *error)
{
    struct stat stat;
    *found = lstat(path, &stat) == 0;
    return *found || errno == ENOENT ? STATUS_OK : error_set_errno(error, errno, "cannot look at %s", path);
}

enum status file_open_again(const char *path, int *descriptor, struct error *error)
{
    return open_own(path, O_WRONLY, descriptor, error);
}

enum status file_is_at(const char *path, int descriptor, bool *is_there, struct error *error)
{
    struct stat opened, there;
    *is_there = false;
    if (fstat(descriptor, &opened) != 0)
        return error_set_errno(error, errno, "cannot read %s", path);
    if (stat(path, &there) != 0)
        return errno == ENOENT ? STATUS_OK : error_set_errno(error, errno, "cannot read %s", path);
    *is_there = opened.st_ino == there.st_ino && opened.st_dev == there.st_dev;
    return STATUS_OK;
}

enum status file_lock(const char *path, int *descriptor, struct error *error)
{
    RETURN_IF_ERROR(open_own(path, O_RDWR | O_CREAT, descriptor, error));
    const int reason = file_flock(*descriptor, LOCK_EX | LOCK_NB);
    bool mine = false;
    enum status status = STATUS_OK;
    if (reason == 0)
        status = file_is_at(path, *descriptor, &mine, error);
    else if (reason != EWOULDBLOCK)
        status = error_set_errno(error, reason, "cannot lock %s", path);
    if (mine)
        return STATUS_OK;
    close(*descriptor);
    *descriptor = -1;
    return status;
}

/* ---- Writing ---- */

enum status file_write(const char *path, int descriptor, const void *bytes, uint64_t size, uint64_t offset,
                       struct error *error)
{
    const int reason = file_put(descriptor, bytes, size, offset);
    return reason
               ? error_set_errno(error, reason,
                                 "cannot write %s (nothing was changed; make room on the disk and try again)",
                                 path)
               : STATUS_OK;
}

enum status file_write_whole(const char *path, const void *bytes, uint64_t size, struct error *error)
{
    int descriptor;
    RETURN_IF_ERROR(file_create(path, &descriptor, error));
    enum status status = file_write(path, descriptor, bytes, size, 0, error);
    const int reason = status == STATUS_OK ? file_sync(descriptor) : 0;
    if (reason)
        status = error_set_errno(error, reason, "cannot bring %s to disk", path);
    close(descriptor);
    if (status != STATUS_OK)
        unlink(path);
    return status;
}

enum status file_replace(const char *path, const void *bytes, uint64_t size, struct error *error)
{
    char *partial;
    RETURN_IF_ERROR(path_format(&partial, error, "%s.partial", path));
    enum status status = file_write_whole(partial, bytes, size, error);
    if (status == STATUS_OK && rename(partial, path) != 0) {
        status = error_set_errno(error, errno, "cannot write %s", path);
        unlink(partial);
    }
    free(partial);
    return status;
}

enum status directory_sync(const char *path, struct error *error)
{
    if (execution_transient())
        return STATUS_OK;
    int descriptor = file_descriptor(path, O_RDONLY | O_DIRECTORY, 0);
    if (descriptor < 0)
        return error_set_errno(error, errno, "cannot open directory %s", path);
    const int reason = file_sync(descriptor);
    close(descriptor);
    return reason ? error_set_errno(error, reason, "cannot bring directory %s to disk", path) : STATUS_OK;
}
