/* text_file.h: reads the bytes of one file, or of standard input. The file may be compressed by gzip, zstd, xz
 * or bzip2, which its first bytes tell. */
#ifndef TESSERA_LOADER_TEXT_TEXT_FILE_H
#define TESSERA_LOADER_TEXT_TEXT_FILE_H

#include "storage/base/status.h"

#include <stddef.h>
#include <stdint.h>

struct text_file;

/* Checks that the file exists, is not a folder and may be read. It reads no bytes, because a pipe gives its
 * bytes only once. *bytes gets its size, or TEXT_FILE_SIZE_UNKNOWN if it is not a regular file. */
#define TEXT_FILE_SIZE_UNKNOWN UINT64_MAX
NODISCARD enum status text_file_check(const char *path, uint64_t *bytes, struct error *error);

/* Opens a file; path "-" is standard input. The path must outlive the file. If the work is cancelled, waiting
 * for a pipe or for its first writer ends with STATUS_INTERRUPTED. */
NODISCARD enum status text_file_open(const char *path, struct text_file **file, struct error *error);
void text_file_close(struct text_file *file);

/* Reads `bytes` bytes into `out`, fewer only at the end; *got gets their number. STATUS_BAD_INPUT, naming the
 * file, if a compressed file is damaged or truncated. */
NODISCARD enum status text_file_read(struct text_file *file, char *out, size_t bytes, size_t *got,
                                     struct error *error);

/* Reads a whole file of at most `most` bytes into memory; the caller frees *text, which is NULL after a failure. STATUS_BAD_INPUT
 * if it has more. */
NODISCARD enum status text_file_whole(const char *path, size_t most, char **text, size_t *length,
                                      struct error *error);

/* The bytes read so far from the file as it is stored. */
uint64_t text_file_done(const struct text_file *file);

#endif
