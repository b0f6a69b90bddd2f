/*
 * ahead.h: kernels that depend on no statement, compiled when Tessera is built (cmake/compile_ahead.c), where NVRTC was found
 * then: machine code for each architecture that it knows of the list in CMakeLists.txt, and PTX for those after it, which the
 * driver compiles. The program holds them compressed by Zstandard.
 */
#ifndef TESSERA_ENGINE_CUDA_AHEAD_H
#define TESSERA_ENGINE_CUDA_AHEAD_H

#include "storage/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ahead_kernel {
    const char *name, *arch; /* "general_hash"; "sm_90", or "compute_120" for PTX */
    size_t place, bytes;     /* in ahead_bytes, compressed */
    size_t image_bytes;
};

/* What the build has written. The list ends with an entry whose name is NULL. */
extern const struct ahead_kernel ahead_kernels[];
extern const uint8_t ahead_bytes[];

/* Whether there is code of the kernel for a GPU of this architecture ("sm_90"). */
bool ahead_has(const char *name, const char *arch);

/* Gives the code of a kernel that ahead_has, which the caller frees: what cuda_module_load takes. */
NODISCARD enum status ahead_get(const char *name, const char *arch, void **image, size_t *bytes,
                                struct error *error);

#endif
