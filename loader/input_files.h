/*
 * input_files.h: the files that the words of a command line name: a file, a pattern as the shell has, because a shell
 * does not expand one that stands after TABLE=, or a folder, which is all files in it.
 */
#ifndef TESSERA_LOADER_INPUT_FILES_H
#define TESSERA_LOADER_INPUT_FILES_H

#include "storage/base/status.h"

#include <glob.h>
#include <stdint.h>

#define INPUT_FILES_MAX 65536u
#define INPUT_GLOBS_MAX 256u

/* Zero-initialised is empty. */
struct input_files {
    const char *paths[INPUT_FILES_MAX];
    uint32_t count;
    uint32_t glob_count, owned_count;
    glob_t globs[INPUT_GLOBS_MAX];
    char **owned; /* paths of folders' files */
};

/* Adds the files of a word, which must outlive them, in the order of their names. Of a folder, names that begin with .
 * or _ do not count, as those that programs leave beside their files do (_SUCCESS, ._x). STATUS_BAD_INPUT if a pattern
 * or a folder has no file, or a folder has another one in it. */
NODISCARD enum status input_files_add(struct input_files *files, char *word, struct error *error);

void input_files_free(struct input_files *files);

#endif
