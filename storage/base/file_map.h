/*
 * file_map.h: maps files for reading, and finds the file of a faulting address.
 *
 * If a mapped file becomes shorter, or its disk fails, the next access raises SIGBUS. A program may catch
 * this signal and name the file. The library installs no handler, because signals belong to the process.
 */
#ifndef TESSERA_STORAGE_BASE_FILE_MAP_H
#define TESSERA_STORAGE_BASE_FILE_MAP_H

#include "storage/base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct file_mapping; /* the entry of a map in the list that file_map_path searches */

struct file_map {
    const uint8_t *bytes; /* NULL: not mapped */
    uint64_t size;
    struct file_mapping *mapping;
};

/* Maps `size` bytes, at least 1, of the open file, read-only. `path` must outlive the map; the descriptor
 * need not. */
NODISCARD enum status file_map_open(const char *path, int descriptor, uint64_t size, struct file_map *map,
                                    struct error *error);
/* A zero-initialised map is legal. */
void file_map_close(struct file_map *map);

/* Gives the path of the file that is mapped at this address, or NULL. Async-signal-safe. */
const char *file_map_path(const void *address);

/* Gives the beginning and the size of the map that has this address; NULL: there is none. */
const uint8_t *file_map_find(const void *address, uint64_t *size);

/* True if both addresses are the same place of one file, which may be mapped twice: whoever has a copy of what is at one of
 * them has that of the other, if files that are mapped are never written. A mapped file keeps its number (inode), also
 * after it was removed, so another file cannot be taken for it. */
bool file_map_same(const void *a, const void *b);

#endif
