/* disk_reads.c: see disk_reads.h. */
#define _GNU_SOURCE
#include "storage/base/disk/disk_reads.h"

#include "storage/base/clock.h"
#include "storage/base/disk/read_ahead.h"
#include "storage/base/number/number_text.h"

#include <stdio.h>
#include <sys/resource.h>

struct disk_reads disk_reads_now(void)
{
    struct rusage usage = {0};
    (void)getrusage(RUSAGE_SELF, &usage);
    return (struct disk_reads){.bytes =
                                   (uint64_t)usage.ru_inblock * 512, /* the system's unit, for any disk */
                               .ms = clock_ms(),
                               .reading_ms = read_ahead_ms()};
}

struct disk_reads disk_reads_since(const struct disk_reads *moment)
{
    struct disk_reads reads = disk_reads_now();
    reads.bytes -= moment->bytes;
    reads.ms -= moment->ms;
    reads.reading_ms -= moment->reading_ms;
    return reads.bytes < DISK_READS_LEAST ? (struct disk_reads){0} : reads;
}

void disk_reads_add(struct disk_reads *sum, const struct disk_reads *reads)
{
    sum->bytes += reads->bytes;
    sum->ms += reads->ms;
    sum->reading_ms += reads->reading_ms;
}

bool disk_reads_bound(const struct disk_reads *reads)
{
    return reads->bytes > 0 && reads->reading_ms >= DISK_BOUND_SHARE * reads->ms;
}

const char *disk_reads_text(const struct disk_reads *reads, char *text)
{
    const bool large = reads->bytes >= 10000000000;
    if (reads->bytes == 0)
        snprintf(text, DISK_READS_TEXT, "nothing from the disk");
    else
        number_print(text, DISK_READS_TEXT, "%.1f %s from the disk in %.3f s, %.2f GB/s%s",
                     (double)reads->bytes / (large ? 1e9 : 1e6), large ? "GB" : "MB", reads->ms / 1e3,
                     reads->ms > 0 ? (double)reads->bytes / reads->ms / 1e6 : 0.0,
                     disk_reads_bound(reads) ? ": bound by the disk" : "");
    return text;
}
