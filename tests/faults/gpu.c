/*
 * gpu.c: the calls of a GPU's driver that inject.c makes fail. The program opens the driver itself and asks dlsym() for its
 * functions (engine/cuda/driver.c), and gets those of this file (look_up.h), which call the driver's unless they must fail. The
 * driver may be the one of tests/emulator.
 *
 * A call that wants memory fails with the driver's code for that. Others fail as after a kernel that crashed, with a code that
 * a driver gives for all later calls, too (FAULTS_FOREVER).
 */
#include "tests/faults/gpu.h"

#include "tests/faults/look_up.h"

#include <stddef.h>
#include <stdint.h>

enum { OUT_OF_MEMORY = 2, LAUNCH_FAILED = 719 };

/* X(function, wants memory, parameters, arguments) */
#define DRIVER_FUNCTIONS(X)                                                                             \
    X(cuMemAlloc_v2, true, (uint64_t * address, size_t bytes), (address, bytes))                        \
    X(cuMemHostAlloc, true, (void **memory, size_t bytes, unsigned flags), (memory, bytes, flags))      \
    X(cuMemHostRegister_v2, true, (void *memory, size_t bytes, unsigned flags), (memory, bytes, flags)) \
    X(cuStreamCreate, true, (void **stream, unsigned flags), (stream, flags))                           \
    X(cuEventCreate, true, (void **event, unsigned flags), (event, flags))                              \
    X(cuModuleLoadData, true, (void **module, const void *image), (module, image))                      \
    X(cuGraphInstantiateWithFlags, true, (void **graph, void *recording, unsigned long long flags),     \
      (graph, recording, flags))                                                                        \
    X(cuMemcpyHtoDAsync_v2, false, (uint64_t to, const void *from, size_t bytes, void *stream),         \
      (to, from, bytes, stream))                                                                        \
    X(cuMemcpyDtoHAsync_v2, false, (void *to, uint64_t from, size_t bytes, void *stream),               \
      (to, from, bytes, stream))                                                                        \
    X(cuMemcpyDtoDAsync_v2, false, (uint64_t to, uint64_t from, size_t bytes, void *stream),            \
      (to, from, bytes, stream))                                                                        \
    X(cuMemsetD8Async, false, (uint64_t address, unsigned char value, size_t count, void *stream),      \
      (address, value, count, stream))                                                                  \
    X(cuMemsetD32Async, false, (uint64_t address, unsigned value, size_t count, void *stream),          \
      (address, value, count, stream))                                                                  \
    X(cuStreamSynchronize, false, (void *stream), (stream))                                             \
    X(cuCtxSynchronize, false, (void), ())                                                              \
    X(cuEventRecord, false, (void *event, void *stream), (event, stream))                               \
    X(cuEventSynchronize, false, (void *event), (event))                                                \
    X(cuStreamBeginCapture_v2, false, (void *stream, int mode), (stream, mode))                         \
    X(cuStreamEndCapture, false, (void *stream, void **recording), (stream, recording))                 \
    X(cuGraphLaunch, false, (void *graph, void *stream), (graph, stream))                               \
    X(cuLaunchKernel, false,                                                                            \
      (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,             \
       unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream, void **parameters,      \
       void **extra),                                                                                   \
      (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, parameters,   \
       extra))                                                                                          \
    X(cuLaunchKernelEx, false, (const void *config, void *function, void **parameters, void **extra),   \
      (config, function, parameters, extra))

#define DEFINE(function, memory, parameters, arguments)      \
    static int(*_Atomic next_##function) parameters;         \
    static int own_##function parameters                     \
    {                                                        \
        if (faults_gpu(memory))                              \
            return (memory) ? OUT_OF_MEMORY : LAUNCH_FAILED; \
        return next_##function arguments;                    \
    }
DRIVER_FUNCTIONS(DEFINE)

const struct looked_up faults_gpu_calls[] = {
#define LIST(function, memory, parameters, arguments) {#function, own_##function, &next_##function},
    DRIVER_FUNCTIONS(LIST){NULL, NULL, NULL}};
