/*
 * gpu.c: the calls of a GPU's driver that inject.c makes fail. The program opens the driver itself and asks dlsym() for its
 * functions (engine/cuda/driver.c); so dlsym() is here, and gives its own ones, which call the driver's unless they must
 * fail. The driver may be the one of tests/emulator.
 *
 * A call that wants memory fails with the driver's code for that. Others fail as after a kernel that crashed, with a code that
 * a driver gives for all later calls, too (FAULTS_FOREVER).
 */
#define _GNU_SOURCE
#include "tests/faults/gpu.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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
    static int(*next_##function) parameters;                 \
    static int own_##function parameters                     \
    {                                                        \
        if (faults_gpu(memory))                              \
            return (memory) ? OUT_OF_MEMORY : LAUNCH_FAILED; \
        return next_##function arguments;                    \
    }
DRIVER_FUNCTIONS(DEFINE)

static const struct {
    const char *name;
    void *own, *next; /* addresses of pointers to functions */
} functions[] = {
#define LIST(function, memory, parameters, arguments) \
    {#function, &(int(*[1]) parameters){own_##function}, &next_##function},
    DRIVER_FUNCTIONS(LIST)};

/* A tail call where dlsym itself is asked for: RTLD_NEXT means the library after the caller's. */
void *dlsym(void *restrict library, const char *restrict name)
{
    static void *(*_Atomic next)(void *restrict, const char *restrict);
    if (!next) {
        void *const found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34"), *const older =
                                                                          found ? found
                                                                                : dlvsym(RTLD_NEXT, "dlsym",
                                                                                         "GLIBC_2.2.5");
        void *(*function)(void *restrict, const char *restrict);
        memcpy(&function, &older, sizeof function);
        next = function;
    }
    if (strncmp(name, "cu", 2) != 0)
        return next(library, name);
    void *found = next(library, name);
    for (size_t f = 0; found && f < sizeof functions / sizeof *functions; f++)
        if (strcmp(functions[f].name, name) == 0) {
            memcpy(functions[f].next, &found, sizeof found);
            memcpy(&found, functions[f].own, sizeof found);
            break;
        }
    return found;
}
