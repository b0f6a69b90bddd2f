/*
 * file.h: opening, writing and locking the files that Tessera keeps for itself: a database's, caches,
 * answers.
 *
 * Their folders may contain anything, by accident or on purpose. A file to read must be a regular file,
 * because a FIFO would make the reader wait. A file to write is new, or a regular file itself: a symbolic
 * link is replaced or refused, never followed, so that nothing outside the folder is overwritten. (A path
 * that the user names for output may be a link, as for every program.)
 */
#ifndef TESSERA_STORAGE_BASE_FILE_H
#define TESSERA_STORAGE_BASE_FILE_H

#include "storage/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* Formats a path; the caller frees it. */
NODISCARD enum status path_format(char **path, struct error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The system's calls, repeated while a signal interrupts them (EINTR): whether work ends is asked of cancel_check, not of
 * signals. All files of the column store, and those that are loaded, are reached through these. */

/* open() with O_CLOEXEC; -1: errno says why. file_stream is fopen(). */
int file_descriptor(const char *path, int flags, mode_t mode);
FILE *file_stream(const char *path, const char *mode);

/* These return 0 or an errno value, for callers with a sentence of their own. file_flock is flock(), file_sync is fsync(), but
 * nothing in a transient execution, file_truncate is ftruncate(). file_get reads at `offset` up to `size` bytes; *got is less
 * at the file's end only. file_put writes all bytes. */
int file_flock(int descriptor, int operation);
int file_sync(int descriptor);
int file_truncate(int descriptor, uint64_t size);
int file_get(int descriptor, void *bytes, uint64_t size, uint64_t offset, uint64_t *got);
int file_put(int descriptor, const void *bytes, uint64_t size, uint64_t offset);

/* Opens a file for reading; links are followed. *size gets its bytes. STATUS_BAD_INPUT, saying what it is,
 * unless it is a regular file. *missing (may be NULL) is set if there is no file, so that the caller can say
 * more. */
NODISCARD enum status file_open(const char *path, int *descriptor, uint64_t *size, bool *missing,
                                struct error *error);

/* file_create makes a new, empty file that replaces any file of that name. file_open_again opens such a file
 * for writing. */
NODISCARD enum status file_create(const char *path, int *descriptor, struct error *error);
NODISCARD enum status file_open_again(const char *path, int *descriptor, struct error *error);

/* *found: whether anything stands at the path, also a link that leads nowhere. Only ENOENT says that nothing does;
 * whoever creates or removes files by the answer must not take another failure for it. */
NODISCARD enum status file_found(const char *path, bool *found, struct error *error);

/* Writes all bytes at `offset`. */
NODISCARD enum status file_write(const char *path, int descriptor, const void *bytes, uint64_t size,
                                 uint64_t offset, struct error *error);

/* Writes a new file of these bytes, which is on disk when the call returns; a failure removes it. The caller
 * renames it to the name that readers know. */
NODISCARD enum status file_write_whole(const char *path, const void *bytes, uint64_t size,
                                       struct error *error);

/* The same with a temporary name, PATH.partial, that is renamed: readers find the old file or the whole new one. */
NODISCARD enum status file_replace(const char *path, const void *bytes, uint64_t size, struct error *error);

/* Opens the file for reading and writing, creates it if it is missing, and takes its lock (flock) without
 * waiting. *descriptor is -1 if another process has the lock, or has just renamed or removed the file.
 * close() releases the lock. */
NODISCARD enum status file_lock(const char *path, int *descriptor, struct error *error);

/* Whether the path still names the open file. */
NODISCARD enum status file_is_at(const char *path, int descriptor, bool *is_there, struct error *error);

/* Waits until a directory's names are on disk. */
NODISCARD enum status directory_sync(const char *path, struct error *error);

#endif
