/*
 * nvrtc.h: CUDA C++ to machine code at run time, on machines with or without a GPU.
 *
 * NVIDIA's compiler library is opened on first use: the file that the environment variable TESSERA_NVRTC
 * names, or libnvrtc.so in the versions 13, 12 and 11.2 by the dynamic linker's own search, then in the
 * toolkit's usual folders ($CUDA_HOME, $CUDA_PATH, /usr/local/cuda). A compilation takes 0.1 to 2 seconds;
 * kernel_cache.h keeps what comes out. All functions may be called from several threads at once.
 */
#ifndef TESSERA_ENGINE_CUDA_NVRTC_H
#define TESSERA_ENGINE_CUDA_NVRTC_H

#include "engine/cuda/embedded.h"
#include "storage/base/status.h"

#include <stddef.h>

/* What to compile. Only `source` and `arch` are required. */
struct nvrtc_request {
    const char *name;   /* stands for a file name in the compiler's messages; NULL: "kernel.cu" */
    const char *source; /* CUDA C++ */

    /* What #include finds, by name, ended by an entry with a NULL name; NULL: embedded_files. No file system
     * is read. <stdint.h>, <stddef.h> (without offsetof) and <stdbool.h> are there without being listed. */
    const struct embedded_file *headers;

    const char *arch;           /* real architecture: "sm_75", "sm_90" */
    const char *const *options; /* further options ("-DQUERY=q11"), ended by NULL; NULL: none.
                                   C++17 is already chosen. */
};

/* Opens the library and gives its version (13, 0). STATUS_MACHINE, and a sentence that says where it was
 * looked for, if there is none. */
NODISCARD enum status nvrtc_version(int *major, int *minor, struct error *error);

/* The file that was opened, NULL before that. */
const char *nvrtc_path(void);

/* Compiles to a cubin of exactly that architecture, in *cubin (the caller's to free). If the source is wrong,
 * STATUS_BAD_INPUT with its first error in the sentence and everything the compiler said in *log (the
 * caller's to free, never NULL then; NULL in every other case). `log` may be NULL. */
NODISCARD enum status nvrtc_compile(const struct nvrtc_request *request, void **cubin, size_t *cubin_bytes,
                                    char **log, struct error *error);

#endif
