/*
 * file.h: opening, writing and locking the files that Tessera keeps for itself: a database's, caches, answers.
 *
 * Their folders may hold anything, by accident or on purpose. What is read must be a regular file: a FIFO would be
 * waited for. What is written is a new file, or one that is a regular file itself: a symbolic link is replaced or
 * refused, never followed, so that nothing outside the folder is emptied. (A path that the user names for output is the
 * user's: those follow links, as every program's do.)
 */
#ifndef TESSERA_STORAGE_BASE_FILE_H
#define TESSERA_STORAGE_BASE_FILE_H

#include "storage/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A path, to be freed. */
NODISCARD enum status path_format(char **path, struct error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* For reading, through links. *size: its bytes. Anything but a regular file: STATUS_BAD_INPUT with what it is. *missing
 * (which may be NULL) tells that there is none, for a caller with more to say. */
NODISCARD enum status file_open(const char *path, int *descriptor, uint64_t *size, bool *missing,
                                struct error *error);

/* A new, empty file in place of what has that name. The second opens one that was created so again, for writing. */
NODISCARD enum status file_create(const char *path, int *descriptor, struct error *error);
NODISCARD enum status file_open_again(const char *path, int *descriptor, struct error *error);

/* All bytes, at that place. */
NODISCARD enum status file_write(const char *path, int descriptor, const void *bytes, uint64_t size,
                                 uint64_t offset, struct error *error);

/* A new file of these bytes, on disk when it returns; after a failure there is none. Rename it to the name that readers
 * know. */
NODISCARD enum status file_write_whole(const char *path, const void *bytes, uint64_t size,
                                       struct error *error);

/* Opens the file for reading and writing, which it creates if there is none, and takes its lock (flock) without
 * waiting. *descriptor is -1 if another process has the lock, or has just renamed or removed the file. close() lets
 * go. */
NODISCARD enum status file_lock(const char *path, int *descriptor, struct error *error);

/* Whether the path still leads to the file that is open. */
bool file_is_at(const char *path, int descriptor);

/* Brings a directory's names to disk. */
NODISCARD enum status directory_sync(const char *path, struct error *error);

#endif
