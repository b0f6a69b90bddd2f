/*
 * embedded.h: the kernel sources inside the program.
 *
 * GPU kernels are compiled at run time (nvrtc.h), so the library contains their text: operators/ and
 * ssb/queries/, with every header of the tree that these include (about 50 files, 300 KB).
 * cmake/embed.cmake writes the tables at build time.
 */
#ifndef TESSERA_ENGINE_CUDA_EMBEDDED_H
#define TESSERA_ENGINE_CUDA_EMBEDDED_H

/* One file: `name` is its include path ("operators/dialect/tile.h"), `text` its whole text, ended by a zero
 * byte. */
struct embedded_file {
    const char *name;
    const char *text;
};

/* Sorted by name; ends with an entry whose name is NULL. */
extern const struct embedded_file embedded_files[];

#endif
