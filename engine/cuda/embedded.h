/*
 * embedded.h: the kernel sources inside the program.
 *
 * GPU kernels are compiled at run time (nvrtc.h), so their text travels in the library: operators/ and
 * ssb/queries/, with every header of the tree that these include, about 50 files and 300 KB. The tables are
 * written at build time by cmake/embed.cmake.
 */
#ifndef TESSERA_ENGINE_CUDA_EMBEDDED_H
#define TESSERA_ENGINE_CUDA_EMBEDDED_H

/* One file: `name` is its include path ("operators/dialect/tile.h"), `text` is all of it, ended by a zero byte. */
struct embedded_file {
    const char *name;
    const char *text;
};

/* In order of their names; ends with an entry whose name is NULL. */
extern const struct embedded_file embedded_files[];

/* The text of the file with this include path; NULL if it is not in the program. */
const char *embedded_find(const char *name);

#endif
