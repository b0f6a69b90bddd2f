/*
 * kernel_cache.h: keeps compiled kernels on disk between runs.
 *
 * Each cubin is one file in the folder that TESSERA_KERNEL_CACHE names (empty: no cache), else in
 * $XDG_CACHE_HOME/tessera/kernels, else in ~/.cache/tessera/kernels. The file's name is the XXH3-128 hash of
 * everything that the machine code depends on: source, headers, architecture, options and NVRTC's version. An
 * entry is written under a temporary name and renamed, so several programs may share the folder. A damaged
 * entry is compiled again and replaced. If the folder cannot be written, runs are slower but still answer. An
 * entry has about 20 to 100 KB. Deleting the folder is always safe.
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

/* Gets the compiled request from the cache, or compiles it with NVRTC and keeps it. NVRTC must be installed
 * in both cases, because its version is part of the key. Errors and *log are those of nvrtc_compile. The
 * caller frees the binary with kernel_binary_free. */
NODISCARD enum status kernel_cache_get(const struct nvrtc_request *request, struct kernel_binary *binary,
                                       char **log, struct error *error);

/* True if the request is in the cache, and then it is read; else nothing is compiled. */
NODISCARD enum status kernel_cache_find(const struct nvrtc_request *request, struct kernel_binary *binary,
                                        bool *found, struct error *error);

/* Frees the cubin and clears *binary; a zeroed binary is legal. */
void kernel_binary_free(struct kernel_binary *binary);

#endif
