/*
 * file_map.h: files that are read by mapping them, and which one a faulting address belongs to.
 *
 * A mapped file that somebody cuts short, or whose disk fails, ends its reader with SIGBUS at the next access. A program
 * may catch that signal and name the file; the library installs no handler, because signals are the process's.
 */
#ifndef TESSERA_STORAGE_BASE_FILE_MAP_H
#define TESSERA_STORAGE_BASE_FILE_MAP_H

#include "storage/base/status.h"

#include <stdint.h>

struct file_mapping; /* its entry in the list that file_map_path looks through */

struct file_map {
    const uint8_t *bytes; /* NULL: not mapped */
    uint64_t size;
    struct file_mapping *mapping;
};

/* Maps `size` (above 0) bytes of the open file, read-only. `path` outlives the map; the descriptor need not. */
NODISCARD enum status file_map_open(const char *path, int descriptor, uint64_t size, struct file_map *map,
                                    struct error *error);
/* A map that is zero is legal. */
void file_map_close(struct file_map *map);

/* The path of the file that is mapped at this address, or NULL. Async-signal-safe. */
const char *file_map_path(const void *address);

#endif
