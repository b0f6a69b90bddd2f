/*
 * nvrtc.h: compiles CUDA C++ to machine code at run time, on machines with or without a GPU.
 *
 * NVIDIA's compiler library is opened on first use. If the environment variable TESSERA_NVRTC names a file,
 * that file is opened. Otherwise libnvrtc.so in versions 13, 12 and 11.2 is searched by the dynamic linker
 * and then in the toolkit's usual folders ($CUDA_HOME, $CUDA_PATH, /usr/local/cuda). A compilation takes 0.1
 * to 2 seconds; kernel_cache.h keeps the results. All functions may be called from several threads at once.
 */
#ifndef TESSERA_ENGINE_CUDA_NVRTC_H
#define TESSERA_ENGINE_CUDA_NVRTC_H

#include "engine/cuda/embedded.h"
#include "storage/base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* What to compile. Only `source` and `arch` are required. */
struct nvrtc_request {
    const char *name;   /* the file name in the compiler's messages; NULL: "kernel.cu" */
    const char *source; /* CUDA C++ */

    /* The files that #include can find, by name; the list ends with an entry whose name is NULL. NULL: the
     * embedded_files. The file system is read only if an option names a folder (cccl.h). <stdint.h>, <stddef.h> (without
     * offsetof) and <stdbool.h> need not be listed. */
    const struct embedded_file *headers;

    const char *arch; /* real architecture: "sm_75", "sm_90"; or "compute_90": the result is PTX */

    /* Further options ("-DQUERY=q11"), ended by NULL; NULL: none. C++17 is always chosen. */
    const char *const *options;

    /* NULL, or the compilation stops with an error soon after this becomes true, from NVRTC 12.8 on. */
    const _Atomic bool *cancel;
};

/* Opens the library and gives its version (13, 0). If it is not found, returns STATUS_MACHINE with a sentence
 * that says where it was searched. */
NODISCARD enum status nvrtc_version(int *major, int *minor, struct error *error);

/* The file that was opened; NULL before that. */
const char *nvrtc_path(void);

/* What TESSERA_NVRTC_OPTIONS says, "" if it is not set: options for all that is compiled from now on, between spaces, after
 * those of the requests ("-lineinfo -DTILE_RACECHECK"). */
const char *nvrtc_user_options(void);

/* True if the library compiles for `arch` ("sm_120"): each version knows the GPUs of its time, and drops old ones. A
 * variant ("sm_90a") is not looked up: true. False where there is no library. */
bool nvrtc_knows(const char *arch);

/* Compiles the source to a cubin of exactly that architecture, or PTX; the caller frees *cubin. If the source does
 * not compile, returns STATUS_BAD_INPUT with the first error in the sentence; *log then holds all messages of
 * the compiler, is not NULL, and is freed by the caller. In every other case *log is NULL. `log` may be
 * NULL. */
NODISCARD enum status nvrtc_compile(const struct nvrtc_request *request, void **cubin, size_t *cubin_bytes,
                                    char **log, struct error *error);

#endif
