/* spool.c: see spool.h. */
#define _GNU_SOURCE
#include "storage/base/execution/spool.h"

#include "storage/base/execution/execution.h"
#include "storage/base/execution/memory_account.h"
#include "storage/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ADVICE "make room there, or name another folder (--spill, or the environment's TMPDIR)"

/* Of file systems that make no files without names: one with a name, which is removed at once. */
static int open_and_remove(const char *folder)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/tessera-XXXXXX", folder) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    const int descriptor = mkostemp(path, O_CLOEXEC);
    if (descriptor >= 0)
        unlink(path);
    return descriptor;
}

enum status spool_open(struct spool *spool, const char *why, struct error *error)
{
    const char *const folder = execution_spill();
    atomic_init(&spool->end, 0);
    snprintf(spool->folder, sizeof spool->folder, "%s", folder);
    spool->descriptor = file_descriptor(folder, O_TMPFILE | O_RDWR, 0600);
    if (spool->descriptor < 0 && (errno == EOPNOTSUPP || errno == EISDIR))
        spool->descriptor = open_and_remove(folder);
    return spool->descriptor >= 0
               ? STATUS_OK
               : error_set_errno(error, errno, "cannot make a file in %s, which %s needs; " ADVICE, folder,
                                 why);
}

void spool_close(struct spool *spool)
{
    if (spool->descriptor >= 0)
        close(spool->descriptor);
    spool->descriptor = -1;
}

static enum status no_room(const struct spool *spool, int reason, uint64_t bytes, const char *why,
                           struct error *error)
{
    return error_set_errno(error, reason, "%s needs %" PRIu64 " bytes in %s meanwhile; " ADVICE, why, bytes,
                           spool->folder);
}

enum status spool_reserve(const struct spool *spool, uint64_t bytes, const char *why, struct error *error)
{
    while (bytes && fallocate(spool->descriptor, 0, 0, (off_t)bytes) != 0) {
        if (errno == EOPNOTSUPP) /* then a full disk is noticed later */
            return STATUS_OK;
        if (errno != EINTR)
            return no_room(spool, errno, bytes, why, error);
        RETURN_IF_ERROR(cancel_check(error));
    }
    return STATUS_OK;
}

enum status spool_map(const struct spool *spool, uint64_t at, uint64_t bytes, const char *why, void *mapped,
                      struct error *error)
{
    int reason;
    while ((reason = posix_fallocate(spool->descriptor, (off_t)at, (off_t)bytes)) == EINTR)
        RETURN_IF_ERROR(cancel_check(error));
    if (reason)
        return no_room(spool, reason, bytes, why, error);
    void *const memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, spool->descriptor, (off_t)at);
    if (memory == MAP_FAILED)
        return error_set_errno(error, errno, "cannot map %" PRIu64 " bytes of a file in %s, which %s needs",
                               bytes, spool->folder, why);
    memcpy(mapped, &memory, sizeof memory);
    return STATUS_OK;
}

void spool_unmap(const struct spool *spool, uint64_t at, uint64_t bytes, void *mapped)
{
    munmap(mapped, bytes);
    /* what was not written yet never is; a file system that has no holes keeps the room until the file is closed */
    (void)!fallocate(spool->descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)bytes);
}

enum status spool_append(struct spool *spool, const void *bytes, uint64_t size, uint64_t *at,
                         struct error *error)
{
    *at = atomic_fetch_add(&spool->end, size);
    return spool_put(spool, *at, bytes, size, error);
}

enum status spool_put(const struct spool *spool, uint64_t at, const void *bytes, uint64_t size,
                      struct error *error)
{
    struct memory_account *const account = execution_memory();
    const int reason = file_put(spool->descriptor, bytes, size, at);
    if (reason)
        return error_set_errno(error, reason, "cannot keep rows in a file in %s meanwhile; " ADVICE,
                               spool->folder);
    if (account)
        atomic_fetch_add(&account->spilled, size);
    return STATUS_OK;
}

enum status spool_get(const struct spool *spool, uint64_t at, void *bytes, uint64_t size, struct error *error)
{
    uint64_t got;
    const int reason = file_get(spool->descriptor, bytes, size, at, &got);
    return reason || got < size
               ? error_set_errno(error, reason ? reason : EIO,
                                 "cannot read rows that were kept in a file in %s", spool->folder)
               : STATUS_OK;
}
