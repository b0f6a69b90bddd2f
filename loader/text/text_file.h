/* text_file.h: the bytes of one file, plain or compressed (gzip, zstd: told by its first bytes), or of standard
 * input. */
#ifndef TESSERA_LOADER_TEXT_TEXT_FILE_H
#define TESSERA_LOADER_TEXT_TEXT_FILE_H

#include "storage/base/status.h"

#include <stddef.h>
#include <stdint.h>

struct text_file;

/* Whether the file is there, is no folder and may be read, without reading of it (a pipe's bytes come once), and its size,
 * TEXT_FILE_SIZE_UNKNOWN for what is no regular file. */
#define TEXT_FILE_SIZE_UNKNOWN UINT64_MAX
NODISCARD enum status text_file_check(const char *path, uint64_t *bytes, struct error *error);

/* path "-": standard input. The path is kept by reference. Waiting for a pipe, for its first writer, too, ends when the
 * work is cancelled (STATUS_INTERRUPTED). */
NODISCARD enum status text_file_open(const char *path, struct text_file **file, struct error *error);
void text_file_close(struct text_file *file);

/* Fills `bytes` bytes of `out`, fewer only at the end; *got says how many. A damaged or truncated compressed
 * file: STATUS_BAD_INPUT naming it. */
NODISCARD enum status text_file_read(struct text_file *file, char *out, size_t bytes, size_t *got,
                                     struct error *error);

/* Bytes of the file itself that were read. */
uint64_t text_file_done(const struct text_file *file);

#endif
