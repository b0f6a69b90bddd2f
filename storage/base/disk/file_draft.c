/* file_draft.c: see file_draft.h. */
#define _GNU_SOURCE
#include "storage/base/disk/file_draft.h"

#include "storage/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A draft that has just been kept or dropped had the lock of a file that is no longer at the path: then the next try
 * finds another one. */
#define LOCK_TRIES 10

/* `there`: the file that it replaces, whose permissions it gets before it has a byte; or NULL. */
static enum status open_partial(const char *path, const struct stat *there, struct file_draft *draft,
                                struct error *error)
{
    const char *const slash = strrchr(draft->path, '/');
    const int folder_bytes = slash ? (int)(slash - draft->path + 1) : 1;
    RETURN_IF_ERROR(path_format(&draft->folder, error, "%.*s", folder_bytes, slash ? draft->path : "."));
    RETURN_IF_ERROR(path_format(&draft->partial, error, "%s.partial", draft->path));
    struct error why = {0};
    enum status status = STATUS_OK;
    for (int i = 0; i < LOCK_TRIES && draft->descriptor < 0 && status == STATUS_OK; i++)
        status = file_lock(draft->partial, &draft->descriptor, &why);
    if (status != STATUS_OK)
        return error_set(error, status, "%.500s cannot be written: %.1000s", path, why.text);
    if (draft->descriptor < 0)
        return error_set(error, STATUS_BAD_INPUT, "%s is being written by somebody else", path);
    const int reason = file_truncate(draft->descriptor, 0);
    if (reason)
        return error_set_errno(error, reason, "%s cannot be written", path);
    return there && fchmod(draft->descriptor, there->st_mode & 0777) != 0
               ? error_set_errno(error, errno, "%s cannot be written", path)
               : STATUS_OK;
}

static enum status open_path(const char *path, struct file_draft *draft, struct error *error)
{
    struct stat there;
    if (stat(path, &there) != 0) { /* it is new, or cannot be opened */
        RETURN_IF_ERROR(path_format(&draft->path, error, "%s", path));
        return open_partial(path, NULL, draft, error);
    }
    if (S_ISDIR(there.st_mode))
        return error_set(error, STATUS_BAD_INPUT, "%s is a folder, not a file", path);
    if (S_ISREG(there.st_mode)) {
        draft->path = realpath(path, NULL);
        return draft->path ? open_partial(path, &there, draft, error)
                           : error_set_errno(error, errno, "%s cannot be written", path);
    }
    RETURN_IF_ERROR(path_format(&draft->path, error, "%s", path));
    draft->descriptor = file_descriptor(path, O_WRONLY, 0);
    return draft->descriptor >= 0 ? STATUS_OK : error_set_errno(error, errno, "%s cannot be written", path);
}

/* The descriptor of a standard stream that the path names, or -1: its file may be a regular one, but what was written to
 * it before must stay. */
static int standard_stream(const char *path)
{
    return strcmp(path, "/dev/stdout") == 0   ? STDOUT_FILENO
           : strcmp(path, "/dev/stderr") == 0 ? STDERR_FILENO
                                              : -1;
}

static enum status open_named(const char *path, struct file_draft *draft, struct error *error)
{
    const int stream = standard_stream(path);
    if (stream < 0)
        return open_path(path, draft, error);
    draft->descriptor = fcntl(stream, F_DUPFD_CLOEXEC, 0);
    return draft->descriptor >= 0 ? STATUS_OK : error_set_errno(error, errno, "%s cannot be written", path);
}

enum status file_draft_open(const char *path, struct file_draft *draft, struct error *error)
{
    *draft = (struct file_draft){.descriptor = -1};
    const enum status status = open_named(path, draft, error);
    if (status != STATUS_OK)
        file_draft_drop(draft);
    return status;
}

static enum status sync_folder(const struct file_draft *draft, struct error *error)
{
    struct error why = {0};
    return directory_sync(draft->folder, &why) == STATUS_OK
               ? STATUS_OK
               : error_set(
                     error, STATUS_NOT_DURABLE,
                     "%.500s was written, but it may not survive a power cut: %.1000s; do not repeat it, and "
                     "run `sync` or look at the disk",
                     draft->path, why.text);
}

static enum status keep(struct file_draft *draft, struct error *error)
{
    if (!draft->partial)
        return STATUS_OK;
    const int reason = file_sync(draft->descriptor);
    if (reason)
        return error_set_errno(error, reason, "cannot bring %s to disk", draft->path);
    if (rename(draft->partial, draft->path) != 0)
        return error_set_errno(error, errno, "%s cannot be written", draft->path);
    free(draft->partial);
    draft->partial = NULL;
    return sync_folder(draft, error);
}

enum status file_draft_keep(struct file_draft *draft, struct error *error)
{
    const enum status status = keep(draft, error);
    file_draft_drop(draft);
    return status;
}

void file_draft_drop(struct file_draft *draft)
{
    if (draft->partial && draft->descriptor >= 0)
        unlink(draft->partial); /* before the lock ends, so that it is not another one's */
    if (draft->descriptor >= 0)
        close(draft->descriptor);
    free(draft->partial);
    free(draft->folder);
    free(draft->path);
    *draft = (struct file_draft){.descriptor = -1};
}
