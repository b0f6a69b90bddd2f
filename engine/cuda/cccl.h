/*
 * cccl.h: finds CUB's headers (NVIDIA's CCCL) for kernels that are compiled at run time with them.
 *
 * The folder is searched once, on first use: the one that the environment variable TESSERA_CCCL names, then include/cccl and include of
 * $CUDA_HOME, $CUDA_PATH and /usr/local/cuda. It has cub/, thrust/ and cuda/. The toolkit brings it, and so do PyPI's nvidia-cuda-cccl and
 * Debian's libcub-dev. All functions may be called from several threads at once.
 */
#ifndef TESSERA_ENGINE_CUDA_CCCL_H
#define TESSERA_ENGINE_CUDA_CCCL_H

#include "storage/base/status.h"

/* The options of an nvrtc_request whose source includes CUB's headers, ended by NULL; they live as long as the process. They name CUB's
 * version, too, so that another version is another entry of the cache of kernels. Without the headers returns STATUS_MACHINE with a
 * sentence that says where they were searched; where a folder cannot be read, why (error_set_errno). */
NODISCARD enum status cccl_options(const char *const **options, struct error *error);

#endif
