/* copy_file.h: a file that is written through a stream, plain or compressed, and that readers find whole or not at all
 * (storage/base/disk/file_draft.h). */
#ifndef TESSERA_ENGINE_LIBRARY_CHANGE_COPY_FILE_H
#define TESSERA_ENGINE_LIBRARY_CHANGE_COPY_FILE_H

#include "storage/base/status.h"

#include <stdio.h>

enum copy_packing { COPY_PLAIN, COPY_GZIP, COPY_ZSTD };

/* ".gz", ".zst"; of COPY_PLAIN "". */
const char *copy_packing_ending(enum copy_packing packing);

struct copy_file;

NODISCARD enum status copy_file_open(const char *path, enum copy_packing packing, struct copy_file **file,
                                     struct error *error);
/* One thread at a time writes to it. */
FILE *copy_file_stream(const struct copy_file *file);
/* Ends the file and frees it. `status` is that of what was written: the file is kept if it is STATUS_OK, else dropped. A
 * failed write has a sentence with the file's name. */
NODISCARD enum status copy_file_close(struct copy_file *file, enum status status, struct error *error);

#endif
