/* spool.c: see spool.h. */
#define _GNU_SOURCE
#include "storage/base/spool.h"
#include "storage/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum status spool_open(struct spool *spool, const char *directory, const char *why, struct error *error)
{
    atomic_init(&spool->end, 0);
    spool->descriptor = file_descriptor(directory, O_TMPFILE | O_RDWR, 0600);
    return spool->descriptor >= 0
               ? STATUS_OK
               : error_set_errno(error, errno, "cannot make a file without a name in %s, which %s needs",
                                 directory, why);
}

void spool_close(struct spool *spool)
{
    if (spool->descriptor >= 0)
        close(spool->descriptor);
    spool->descriptor = -1;
}

enum status spool_put(const struct spool *spool, uint64_t at, const void *bytes, uint64_t size,
                      struct error *error)
{
    const int reason = file_put(spool->descriptor, bytes, size, at);
    return reason ? error_set_errno(error, reason,
                                    "cannot keep rows in a file meanwhile (make room on the database's disk)")
                  : STATUS_OK;
}

enum status spool_get(const struct spool *spool, uint64_t at, void *bytes, uint64_t size, struct error *error)
{
    uint64_t got;
    const int reason = file_get(spool->descriptor, bytes, size, at, &got);
    return reason || got < size
               ? error_set_errno(error, reason ? reason : EIO, "cannot read rows that were kept in a file")
               : STATUS_OK;
}

uint64_t memory_available(void)
{
    uint64_t kilobytes = UINT64_MAX / 1024;
    char line[128];
    FILE *file = file_stream("/proc/meminfo", "re");
    if (!file)
        return UINT64_MAX;
    while (fgets(line, sizeof line, file) && sscanf(line, "MemAvailable: %" SCNu64 " kB", &kilobytes) != 1)
        ;
    fclose(file);
    return kilobytes * 1024;
}
