/*
 * engine/cuda/driver.h: the entry points of libcuda.so.1. Only the sources in engine/cuda include it.
 *
 * They are declared by hand from the driver's stable C ABI (CUDA 11.4 and later): results and devices are
 * ints, handles are pointers, device addresses are 64-bit numbers. Where the ABI has a second version of a
 * function, its _v2 symbol is used.
 */
#ifndef TESSERA_ENGINE_CUDA_DRIVER_H
#define TESSERA_ENGINE_CUDA_DRIVER_H

#include "engine/cuda/cuda.h"
#include "engine/cuda/pool.h"

#include <pthread.h>
#include <stdbool.h>

struct cuda_context;   /* CUcontext */
struct cuda_stream;    /* CUstream */
struct cuda_recording; /* CUgraph; struct cuda_graph is CUgraphExec */

enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_PEER_UNSUPPORTED = 217,
    CUDA_ERROR_PEERS_TOO_MANY = 711,
    CUDA_ERROR_PEER_ENABLED = 704
};

/* X(field of struct cuda_driver, symbol in the library, parameters) */
#define CUDA_DRIVER_FUNCTIONS(X)                                                                             \
    X(init, "cuInit", (unsigned flags))                                                                      \
    X(driver_version, "cuDriverGetVersion", (int *version))                                                  \
    X(error_name, "cuGetErrorName", (int result, const char **name))                                         \
    X(error_string, "cuGetErrorString", (int result, const char **text))                                     \
    X(device_count, "cuDeviceGetCount", (int *count))                                                        \
    X(device_get, "cuDeviceGet", (int *device, int ordinal))                                                 \
    X(device_name, "cuDeviceGetName", (char *name, int bytes, int device))                                   \
    X(device_memory, "cuDeviceTotalMem_v2", (size_t * bytes, int device))                                    \
    X(device_attribute, "cuDeviceGetAttribute", (int *value, int attribute, int device))                     \
    X(context_retain, "cuDevicePrimaryCtxRetain", (struct cuda_context * *context, int device))              \
    X(context_release, "cuDevicePrimaryCtxRelease_v2", (int device))                                         \
    X(context_set, "cuCtxSetCurrent", (struct cuda_context * context))                                       \
    X(context_limit, "cuCtxSetLimit", (int limit, size_t value))                                             \
    X(peer_possible, "cuDeviceCanAccessPeer", (int *possible, int device, int peer))                         \
    X(peer_enable, "cuCtxEnablePeerAccess", (struct cuda_context * peer, unsigned flags))                    \
    X(memory_info, "cuMemGetInfo_v2", (size_t * free_bytes, size_t * total_bytes))                           \
    X(memory_allocate, "cuMemAlloc_v2", (cuda_address * address, size_t bytes))                              \
    X(memory_free, "cuMemFree_v2", (cuda_address address))                                                   \
    X(host_allocate, "cuMemHostAlloc", (void **memory, size_t bytes, unsigned flags))                        \
    X(host_free, "cuMemFreeHost", (void *memory))                                                            \
    X(host_register, "cuMemHostRegister_v2", (void *memory, size_t bytes, unsigned flags))                   \
    X(host_unregister, "cuMemHostUnregister", (void *memory))                                                \
    X(host_address, "cuMemHostGetDevicePointer_v2", (cuda_address * address, void *memory, unsigned flags))  \
    X(copy_to_device, "cuMemcpyHtoDAsync_v2",                                                                \
      (cuda_address to, const void *from, size_t bytes, struct cuda_stream *stream))                         \
    X(copy_to_host, "cuMemcpyDtoHAsync_v2",                                                                  \
      (void *to, cuda_address from, size_t bytes, struct cuda_stream *stream))                               \
    X(copy_on_device, "cuMemcpyDtoDAsync_v2",                                                                \
      (cuda_address to, cuda_address from, size_t bytes, struct cuda_stream * stream))                       \
    X(set_bytes, "cuMemsetD8Async",                                                                          \
      (cuda_address address, unsigned char value, size_t count, struct cuda_stream *stream))                 \
    X(set_words, "cuMemsetD32Async",                                                                         \
      (cuda_address address, unsigned value, size_t count, struct cuda_stream *stream))                      \
    X(stream_create, "cuStreamCreate", (struct cuda_stream * *stream, unsigned flags))                       \
    X(stream_destroy, "cuStreamDestroy_v2", (struct cuda_stream * stream))                                   \
    X(stream_synchronize, "cuStreamSynchronize", (struct cuda_stream * stream))                              \
    X(context_synchronize, "cuCtxSynchronize", (void))                                                       \
    X(stream_wait, "cuStreamWaitEvent",                                                                      \
      (struct cuda_stream * stream, struct cuda_event * event, unsigned flags))                              \
    X(module_load, "cuModuleLoadData", (struct cuda_module * *module, const void *image))                    \
    X(module_unload, "cuModuleUnload", (struct cuda_module * module))                                        \
    X(module_function, "cuModuleGetFunction",                                                                \
      (struct cuda_function * *function, struct cuda_module * module, const char *name))                     \
    X(module_variable, "cuModuleGetGlobal_v2",                                                               \
      (cuda_address * address, size_t * bytes, struct cuda_module * module, const char *name))               \
    X(function_get, "cuFuncGetAttribute", (int *value, int attribute, struct cuda_function *function))       \
    X(function_set, "cuFuncSetAttribute", (struct cuda_function * function, int attribute, int value))       \
    X(function_blocks, "cuOccupancyMaxActiveBlocksPerMultiprocessor",                                        \
      (int *blocks, struct cuda_function *function, int threads, size_t dynamic_shared_bytes))               \
    X(launch, "cuLaunchKernel",                                                                              \
      (struct cuda_function * function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, \
       unsigned block_y, unsigned block_z, unsigned dynamic_shared_bytes, struct cuda_stream *stream,        \
       void **parameters, void **extra))                                                                     \
    X(event_create, "cuEventCreate", (struct cuda_event * *event, unsigned flags))                           \
    X(event_destroy, "cuEventDestroy_v2", (struct cuda_event * event))                                       \
    X(event_record, "cuEventRecord", (struct cuda_event * event, struct cuda_stream * stream))               \
    X(event_wait, "cuEventSynchronize", (struct cuda_event * event))                                         \
    X(event_elapsed, "cuEventElapsedTime",                                                                   \
      (float *milliseconds, struct cuda_event *from, struct cuda_event *to))                                 \
    X(capture_begin, "cuStreamBeginCapture_v2", (struct cuda_stream * stream, int mode))                     \
    X(capture_end, "cuStreamEndCapture", (struct cuda_stream * stream, struct cuda_recording * *recording))  \
    X(recording_destroy, "cuGraphDestroy", (struct cuda_recording * recording))                              \
    X(graph_create, "cuGraphInstantiateWithFlags",                                                           \
      (struct cuda_graph * *graph, struct cuda_recording * recording, unsigned long long flags))             \
    X(graph_launch, "cuGraphLaunch", (struct cuda_graph * graph, struct cuda_stream * stream))               \
    X(graph_destroy, "cuGraphExecDestroy", (struct cuda_graph * graph))

/* CUlaunchConfig, and the one CUlaunchAttribute that is used: programmatic stream serialization. */
struct cuda_launch_attribute {
    int id;
    char padding[4];
    union {
        char size[64];
        int allowed;
    } value;
};
struct cuda_launch_config {
    unsigned grid[3], block[3], dynamic_shared_bytes;
    struct cuda_stream *stream;
    struct cuda_launch_attribute *attributes;
    unsigned attribute_count;
};
#define CUDA_LAUNCH_PROGRAMMATIC 6

/* CUgraphExecUpdateResultInfo */
struct cuda_update_result {
    int result;
    void *node, *from;
};

struct cuda_driver {
#define CUDA_DRIVER_FIELD(field, symbol, parameters) int(*field) parameters;
    CUDA_DRIVER_FUNCTIONS(CUDA_DRIVER_FIELD)
#undef CUDA_DRIVER_FIELD
    /* cuLaunchKernelEx; NULL if the driver cannot record such launches in graphs (before CUDA 12.3). */
    int (*launch_with)(const struct cuda_launch_config *config, struct cuda_function *function,
                       void **parameters, void **extra);
    /* cuGraphExecUpdate_v2; NULL if the driver has none (before CUDA 12). */
    int (*graph_update)(struct cuda_graph *graph, struct cuda_recording *recording,
                        struct cuda_update_result *result);
};

/* Up to UPLOAD_THREADS threads fill staging buffers; each has two buffers of UPLOAD_BYTES and its own
 * stream. */
#define UPLOAD_THREADS 12u
#define UPLOAD_BYTES   (2u << 20)

struct cuda_upload_lane {
    struct cuda_stream *stream;
    void *buffer[2];
    struct cuda_event *copied[2]; /* reached when the buffer's last copy is done */
    struct cuda_event *done;      /* reached when all copies of cuda_upload_after are */
    unsigned next;                /* the buffer to fill next */
};

/* What all streams of a device share. */
struct cuda_device {
    const struct cuda_driver *driver;
    int device;
    struct cuda_context *context; /* the device's primary context */
    struct cuda_properties properties;
    struct pool *memory, *pinned; /* pool.h */

    /* A thread makes the context and the first stream. */
    pthread_t opener;
    bool has_opener;
    _Atomic bool opened; /* then all above and below may be used, or open_error says why not */
    pthread_mutex_t open_lock;
    pthread_cond_t open_end;
    struct error open_error;
    struct cuda *first; /* what cuda_open gave */

    pthread_mutex_t streams_lock;
    struct cuda *idle; /* streams that cuda_attach may give */

    pthread_mutex_t upload_lock;                   /* of the lanes */
    struct cuda_upload_lane lanes[UPLOAD_THREADS]; /* opened when cuda_upload first needs them */
    unsigned lane_count;
};

struct cuda {
    struct cuda_device *of;
    struct cuda_stream *stream;
    uint8_t *staging;  /* pinned, of STAGING_BYTES; NULL until cuda_send first needs it */
    uint64_t staged;   /* bytes of it that copies on the stream may still read */
    struct cuda *next; /* in the list of idle ones */
};

/* Makes the context current, calls the driver, and returns from the function that uses it on an error. */
#define CALL(cuda, call, purpose, error)                                              \
    do {                                                                              \
        RETURN_IF_ERROR(cuda_enter(cuda, error));                                     \
        RETURN_IF_ERROR(cuda_result(cuda, (cuda)->of->driver->call, purpose, error)); \
    } while (0)

/* Makes and destroys the pools of a device. */
NODISCARD enum status cuda_pools_open(struct cuda_device *device, struct error *error);
void cuda_pools_close(struct cuda_device *device);

/* Gives the driver, opened and initialised once per process; STATUS_MACHINE with the reason if that fails. */
NODISCARD enum status cuda_driver_open(const struct cuda_driver **driver, struct error *error);

/* Turns a driver call's result into a status: STATUS_OK for CUDA_SUCCESS, else STATUS_MACHINE with a sentence
 * in which `purpose` follows "GPU 0 (NVIDIA H200): ". */
NODISCARD enum status cuda_result(const struct cuda *cuda, int result, const char *purpose,
                                  struct error *error);

/* Makes the device's context current for the calling thread. */
NODISCARD enum status cuda_enter(const struct cuda *cuda, struct error *error);

/* Frees the staging buffers of the lanes, and their streams. */
void cuda_upload_close(struct cuda_device *device);

#endif
