/*
 * read_ahead.h: reads mapped files before a scan needs them, so that the disk and the processors work at the
 * same time.
 *
 * A scan of mapped pages waits at each page that is not in memory, and then the disk waits for the scan. A
 * reader works on the scan's steps in their order, on threads of its own, some 64 MiB before the scan.
 * Pages of a step are populated (MADV_POPULATE_READ), in folios of 2 MiB where the file system has them
 * (file_map.c asks for these). docs/decisions.md has the rates. Nothing is started if pages are in memory, which
 * takes half a microsecond for each 16 MiB to find out.
 *
 * Reading ahead is optional: where it cannot work, the scan reads the pages itself. So nothing here fails.
 */
#ifndef TESSERA_STORAGE_BASE_DISK_READ_AHEAD_H
#define TESSERA_STORAGE_BASE_DISK_READ_AHEAD_H

#include <stdbool.h>
#include <stdint.h>

/* The bytes of a step: enough to keep a disk busy, and read within milliseconds, so that stopping is quick. */
#define READ_AHEAD_STEP_BYTES (2u << 20)
/* The bytes that are read before a scan needs them. */
#define READ_AHEAD_BYTES (64u << 20)

struct read_ahead;

/* Calls `visit` for all bytes of a step: of mapped files, or of other memory, which costs a little time; or, if `few`, for
 * those of some parts of a step that has many, because it is asked whether they are in memory. It is called on any thread. */
typedef void read_ahead_visit(void *result, const void *bytes, uint64_t size);
typedef void read_ahead_step(const void *context, uint64_t step, bool few, read_ahead_visit *visit,
                             void *result);

/* Starts to read `steps` steps, at most `ahead` of them (at least 1) before the scan reaches them. NULL if all
 * their pages are in memory, or if no thread could be started. `context` must outlive the reader. */
struct read_ahead *read_ahead_start(uint64_t steps, uint64_t ahead, read_ahead_step *step,
                                    const void *context);

/* The same for a scan from the beginning of `bytes`, which are `size` long, at most `ahead` bytes before it. Step i is
 * READ_AHEAD_STEP_BYTES from byte i * READ_AHEAD_STEP_BYTES on. Such scans are rare and long, so a reader is also started
 * if the system does not tell this user what is in memory. */
struct read_ahead *read_ahead_bytes(const void *bytes, uint64_t size, uint64_t ahead);

/* The scan begins this step, so the steps before it need not be read any more. Scans on several threads may
 * call it in any order. NULL is legal. */
void read_ahead_reach(struct read_ahead *reader, uint64_t step);
/* The same for a reader of `bytes`, at an offset. */
void read_ahead_reach_byte(struct read_ahead *reader, uint64_t offset);

/* Stops and frees the reader, when the scan has ended anywhere. Waits for the steps that are being read. NULL
 * is legal. */
void read_ahead_stop(struct read_ahead *reader);

/* The milliseconds, of all readers of the process that have been, in which a step was being read. */
double read_ahead_ms(void);

#endif
