/*
 * disk_reads.h: counts the bytes that came from the disk during a step, for example a query's scan, and the time
 * that the step took. A step whose pages are all in memory reads nothing.
 *
 * The system counts for the whole process. So steps that run at the same time count each other's bytes.
 */
#ifndef TESSERA_STORAGE_BASE_DISK_DISK_READS_H
#define TESSERA_STORAGE_BASE_DISK_DISK_READS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct disk_reads {
    uint64_t bytes;
    double ms;         /* the time of the steps that read */
    double reading_ms; /* of it, the time in which a reader (read_ahead.h) had something to read */
};

/* A moment. Takes about a microsecond. */
struct disk_reads disk_reads_now(void);

/* What was read since a moment; all 0 if that is less than DISK_READS_LEAST bytes, which is what a program reads
 * beside its data. */
#define DISK_READS_LEAST (1u << 20)
struct disk_reads disk_reads_since(const struct disk_reads *moment);

/* Adds the reads of another step to `sum`. */
void disk_reads_add(struct disk_reads *sum, const struct disk_reads *reads);

/* True if the disk was busy for most of the time (DISK_BOUND_SHARE), so that a faster disk would shorten it. */
#define DISK_BOUND_SHARE 0.8
bool disk_reads_bound(const struct disk_reads *reads);

/* Writes "375.6 MB from the disk in 0.213 s, 1.76 GB/s: bound by the disk", without the last part if it was not, or
 * "nothing from the disk", to `text` of at least DISK_READS_TEXT bytes. Returns `text`. */
#define DISK_READS_TEXT 96
const char *disk_reads_text(const struct disk_reads *reads, char *text);

#endif
