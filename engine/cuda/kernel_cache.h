/*
 * kernel_cache.h: compiled kernels, kept on disk between runs.
 *
 * One file per cubin in the folder that TESSERA_KERNEL_CACHE names (empty: no cache), else
 * $XDG_CACHE_HOME/tessera/kernels, else ~/.cache/tessera/kernels. The name is the XXH3-128 hash of everything
 * that the machine code depends on: source, headers, architecture, options, NVRTC's version. Entries are
 * written under a temporary name and renamed, so programs may share the folder; a damaged entry is compiled
 * again and replaced. A folder that cannot be written costs time, never an answer. An entry is about 20 to
 * 100 KB; deleting the folder is always safe.
 *
 *     entry:  "TSRAKRN1" | XXH3-64 of the cubin | bytes of the cubin (u64) | cubin      little-endian
 */
#ifndef TESSERA_ENGINE_CUDA_KERNEL_CACHE_H
#define TESSERA_ENGINE_CUDA_KERNEL_CACHE_H

#include "engine/cuda/nvrtc.h"
#include "storage/base/status.h"

#include <stdbool.h>
#include <stddef.h>

struct kernel_binary {
    void *cubin;
    size_t cubin_bytes;
    bool from_cache;
    double compile_ms; /* 0 if it came from the cache */
};

/* The request compiled, from the cache or by NVRTC (which must be there either way: its version is part of
 * the key). Errors and *log as in nvrtc_compile. Free with kernel_binary_free. */
NODISCARD enum status kernel_cache_get(const struct nvrtc_request *request, struct kernel_binary *binary,
                                       char **log, struct error *error);

/* Frees the cubin and clears *binary; a zeroed binary is legal. */
void kernel_binary_free(struct kernel_binary *binary);

#endif
