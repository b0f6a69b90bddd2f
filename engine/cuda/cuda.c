/*
 * cuda.c: see cuda.h. Each function is a thin call of the driver with a sentence for its failure: devices,
 * streams, modules, launches, events and graphs. engine/cuda/driver.c binds the driver; engine/cuda/memory.c has
 * memory and copies; engine/cuda/upload.c has the uploads.
 *
 * Every call makes the context current first (20 ns), so threads need no set-up.
 */
#include "engine/cuda/driver.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* The second-level cache fetches single values of survivors in sectors of 32 bytes, not in pairs of them: queries took 3 to
 * 14 % less time on an H200. The limit is that of the process, which other users of the GPU in it share. */
#define L2_FETCH_BYTES 32u

enum {
    STREAM_NON_BLOCKING = 1,
    CUDA_LIMIT_L2_FETCH = 5,
    EVENT_DEFAULT = 0,
    CAPTURE_THREAD_LOCAL = 1, /* calls of other threads do not disturb the recording */
};

/* CUdevice_attribute */
enum {
    DEVICE_CLOCK_KHZ = 13,
    DEVICE_MULTIPROCESSORS = 16,
    DEVICE_COMPUTE_MODE = 20,
    DEVICE_MEMORY_CLOCK_KHZ = 36,
    DEVICE_MEMORY_BUS_BITS = 37,
    DEVICE_L2_BYTES = 38,
    DEVICE_THREADS_PER_MULTIPROCESSOR = 39,
    DEVICE_COMPUTE_MAJOR = 75,
    DEVICE_COMPUTE_MINOR = 76,
    DEVICE_SHARED_PER_MULTIPROCESSOR = 81,
    DEVICE_SHARED_PER_BLOCK_OPTIN = 97,
};

/* CUcomputemode */
enum { COMPUTE_MODE_DEFAULT = 0 };

/* CUfunction_attribute */
enum {
    FUNCTION_THREADS_PER_BLOCK = 0,
    FUNCTION_SHARED_BYTES = 1,
    FUNCTION_LOCAL_BYTES = 3,
    FUNCTION_REGISTERS = 4,
    FUNCTION_DYNAMIC_SHARED_MAXIMUM = 8,
};

/* ---- Devices ---- */

enum status cuda_count(unsigned *devices, struct error *error)
{
    const struct cuda_driver *driver;
    *devices = 0;
    RETURN_IF_ERROR(cuda_driver_open(&driver, error));
    int count = 0;
    if (driver->device_count(&count) != CUDA_SUCCESS || count <= 0)
        return error_set(error, STATUS_MACHINE,
                         "no GPU can be used: NVIDIA's driver runs but shows no device (is "
                         "CUDA_VISIBLE_DEVICES set to nothing?); use --device cpu");
    *devices = (unsigned)count;
    return STATUS_OK;
}

enum status cuda_name(unsigned ordinal, char *name, size_t bytes, struct error *error)
{
    const struct cuda_driver *driver;
    unsigned devices;
    int device;
    RETURN_IF_ERROR(cuda_count(&devices, error));
    RETURN_IF_ERROR(cuda_driver_open(&driver, error));
    if (ordinal < devices && driver->device_get(&device, (int)ordinal) == CUDA_SUCCESS &&
        driver->device_name(name, (int)bytes, device) == CUDA_SUCCESS)
        return STATUS_OK;
    return error_set(error, STATUS_MACHINE, "GPU %u does not tell its name; see `tessera devices`", ordinal);
}

static uint64_t attribute(const struct cuda_device *device, int which)
{
    int value = 0;
    if (device->driver->device_attribute(&value, which, device->device) != CUDA_SUCCESS || value < 0)
        return 0;
    return (uint64_t)value;
}

static void read_properties(struct cuda_device *device)
{
    struct cuda_properties *p = &device->properties;
    size_t bytes = 0;
    int version = 0;
    if (device->driver->device_name(p->name, sizeof p->name, device->device) != CUDA_SUCCESS)
        snprintf(p->name, sizeof p->name, "unnamed GPU");
    if (device->driver->device_memory(&bytes, device->device) == CUDA_SUCCESS)
        p->memory_bytes = bytes;
    if (device->driver->driver_version(&version) == CUDA_SUCCESS) {
        p->driver_major = version / 1000;
        p->driver_minor = version % 1000 / 10;
    }
    p->compute_major = (int)attribute(device, DEVICE_COMPUTE_MAJOR);
    p->compute_minor = (int)attribute(device, DEVICE_COMPUTE_MINOR);
    snprintf(p->arch, sizeof p->arch, "sm_%u%u", (unsigned)p->compute_major % 100,
             (unsigned)p->compute_minor % 10);
    p->multiprocessors = (unsigned)attribute(device, DEVICE_MULTIPROCESSORS);
    p->threads_per_multiprocessor = (unsigned)attribute(device, DEVICE_THREADS_PER_MULTIPROCESSOR);
    p->l2_bytes = attribute(device, DEVICE_L2_BYTES);
    p->shared_per_block_bytes = attribute(device, DEVICE_SHARED_PER_BLOCK_OPTIN);
    p->shared_per_multiprocessor_bytes = attribute(device, DEVICE_SHARED_PER_MULTIPROCESSOR);
    p->clock_khz = (unsigned)attribute(device, DEVICE_CLOCK_KHZ);
    p->memory_clock_khz = (unsigned)attribute(device, DEVICE_MEMORY_CLOCK_KHZ);
    p->memory_bus_bits = (unsigned)attribute(device, DEVICE_MEMORY_BUS_BITS);
}

/* ---- Opening ---- */

static void close_stream(struct cuda *cuda)
{
    if (cuda->stream) {
        cuda->of->driver->stream_synchronize(cuda->stream);
        cuda->of->driver->stream_destroy(cuda->stream);
    }
    if (cuda->staging)
        pool_give(cuda->of->pinned, (uintptr_t)cuda->staging);
    free(cuda);
}

static enum status new_stream(struct cuda_device *device, struct cuda **result, struct error *error)
{
    *result = calloc(1, sizeof **result);
    if (!*result)
        return error_out_of_memory(error, sizeof **result, "a GPU's stream");
    (*result)->of = device;
    return STATUS_OK;
}

/* The context is current. */
static enum status open_stream(struct cuda *cuda, struct error *error)
{
    return cuda_result(cuda, cuda->of->driver->stream_create(&cuda->stream, STREAM_NON_BLOCKING),
                       "making a stream", error);
}

static enum status add_stream(struct cuda_device *device, struct cuda **result, struct error *error)
{
    RETURN_IF_ERROR(new_stream(device, result, error));
    enum status status = cuda_enter(*result, error);
    status = AND_THEN(status, open_stream(*result, error));
    if (status != STATUS_OK) {
        close_stream(*result);
        *result = NULL;
    }
    return status;
}

enum status cuda_attach(struct cuda *cuda, struct cuda **own, struct error *error)
{
    struct cuda_device *const device = cuda->of;
    pthread_mutex_lock(&device->streams_lock);
    *own = device->idle;
    if (*own)
        device->idle = (*own)->next;
    pthread_mutex_unlock(&device->streams_lock);
    return *own ? STATUS_OK : add_stream(device, own, error);
}

void cuda_detach(struct cuda *own)
{
    if (!own)
        return;
    struct cuda_device *const device = own->of;
    if (cuda_enter(own, NULL) == STATUS_OK) /* who takes it next begins with nothing queued */
        device->driver->stream_synchronize(own->stream);
    own->staged = 0;
    pthread_mutex_lock(&device->streams_lock);
    own->next = device->idle;
    device->idle = own;
    pthread_mutex_unlock(&device->streams_lock);
}

static void close_device(struct cuda_device *device)
{
    if (device->has_opener)
        pthread_join(device->opener, NULL);
    if (device->context && device->driver->context_set(device->context) == CUDA_SUCCESS) {
        close_stream(device->first);
        for (struct cuda *idle = device->idle, *next; idle; idle = next) {
            next = idle->next;
            close_stream(idle);
        }
        cuda_upload_close(device);
        cuda_pools_close(device);
        device->driver->context_set(NULL);
    } else {
        free(device->first);
        cuda_pools_close(device);
    }
    if (device->context)
        device->driver->context_release(device->device);
    pthread_mutex_destroy(&device->streams_lock);
    pthread_mutex_destroy(&device->upload_lock);
    pthread_mutex_destroy(&device->open_lock);
    pthread_cond_destroy(&device->open_end);
    free(device);
}

static enum status open_context(struct cuda_device *device, struct error *error)
{
    const struct cuda *const cuda = device->first;
    RETURN_IF_ERROR(cuda_result(cuda, device->driver->context_retain(&device->context, device->device),
                                "opening it", error));
    RETURN_IF_ERROR(
        cuda_result(cuda, device->driver->context_set(device->context), "using its context", error));
    /* a hint: a driver that refuses it is slower and not wrong */
    (void)device->driver->context_limit(CUDA_LIMIT_L2_FETCH, L2_FETCH_BYTES);
    return open_stream(device->first, error);
}

static void *opener(void *argument)
{
    struct cuda_device *const device = argument;
    struct error why = {0};
    const enum status status = open_context(device, &why);
    pthread_mutex_lock(&device->open_lock);
    device->open_error = why;
    device->open_error.status = status;
    atomic_store(&device->opened, true);
    pthread_cond_broadcast(&device->open_end);
    pthread_mutex_unlock(&device->open_lock);
    return NULL;
}

/* Makes the context on a thread, if there can be one. A process that is alone on the GPU, or may not use it, is told now. */
static enum status begin_opening(struct cuda_device *device, struct error *error)
{
    const bool shared = attribute(device, DEVICE_COMPUTE_MODE) == COMPUTE_MODE_DEFAULT;
    device->has_opener = shared && pthread_create(&device->opener, NULL, opener, device) == 0;
    if (device->has_opener)
        return STATUS_OK;
    opener(device);
    return cuda_wait_until_open(device->first, error);
}

static enum status open_device(struct cuda_device *device, unsigned ordinal, struct error *error)
{
    pthread_mutex_init(&device->streams_lock, NULL);
    pthread_mutex_init(&device->upload_lock, NULL);
    pthread_mutex_init(&device->open_lock, NULL);
    pthread_cond_init(&device->open_end, NULL);
    device->properties.ordinal = ordinal;
    RETURN_IF_ERROR(cuda_driver_open(&device->driver, error));
    RETURN_IF_ERROR(new_stream(device, &device->first, error));
    RETURN_IF_ERROR(cuda_result(device->first, device->driver->device_get(&device->device, (int)ordinal),
                                "opening it", error));
    read_properties(device);
    RETURN_IF_ERROR(cuda_pools_open(device, error));
    return begin_opening(device, error);
}

enum status cuda_open(unsigned ordinal, struct cuda **result, struct error *error)
{
    *result = NULL;
    unsigned devices = 0;
    RETURN_IF_ERROR(cuda_count(&devices, error));
    if (ordinal >= devices)
        return error_set(error, STATUS_MACHINE,
                         "there is no GPU %u: this machine shows %u, numbered from 0; see `tessera devices`",
                         ordinal, devices);
    struct cuda_device *device = calloc(1, sizeof *device);
    if (!device)
        return error_out_of_memory(error, sizeof *device, "a GPU");
    const enum status status = open_device(device, ordinal, error);
    if (status == STATUS_OK)
        *result = device->first;
    else
        close_device(device);
    return status;
}

void cuda_close(struct cuda *cuda)
{
    if (cuda)
        close_device(cuda->of);
}

const struct cuda_properties *cuda_properties(const struct cuda *cuda)
{
    return &cuda->of->properties;
}

/* ---- Streams ---- */

bool cuda_peer_exists(unsigned ordinal, unsigned peer)
{
    const struct cuda_driver *driver;
    unsigned devices;
    int device, other, can = 0;
    return cuda_count(&devices, NULL) == STATUS_OK && ordinal < devices && peer < devices &&
           cuda_driver_open(&driver, NULL) == STATUS_OK &&
           driver->device_get(&device, (int)ordinal) == CUDA_SUCCESS &&
           driver->device_get(&other, (int)peer) == CUDA_SUCCESS &&
           driver->peer_possible(&can, device, other) == CUDA_SUCCESS && can;
}

enum status cuda_peer_open(struct cuda *cuda, const struct cuda *peer, bool *possible, struct error *error)
{
    int can = 0;
    *possible = false;
    RETURN_IF_ERROR(cuda_wait_until_open(peer, error));
    CALL(cuda, peer_possible(&can, cuda->of->device, peer->of->device), "asking for access to another GPU",
         error);
    if (!can)
        return STATUS_OK;
    const int result = cuda->of->driver->peer_enable(peer->of->context, 0);
    if (result == CUDA_ERROR_PEER_UNSUPPORTED || result == CUDA_ERROR_PEERS_TOO_MANY)
        return STATUS_OK;
    if (result != CUDA_ERROR_PEER_ENABLED)
        RETURN_IF_ERROR(cuda_result(cuda, result, "opening another GPU's memory", error));
    *possible = true;
    return STATUS_OK;
}

enum status cuda_stream_create(struct cuda *cuda, struct cuda_stream **stream, struct error *error)
{
    *stream = NULL;
    CALL(cuda, stream_create(stream, STREAM_NON_BLOCKING), "making a stream", error);
    return STATUS_OK;
}

void cuda_stream_destroy(struct cuda *cuda, struct cuda_stream *stream)
{
    if (!stream || cuda_enter(cuda, NULL) != STATUS_OK)
        return;
    cuda->of->driver->stream_synchronize(stream);
    cuda->of->driver->stream_destroy(stream);
}

static struct cuda_stream *stream_or_main(const struct cuda *cuda, struct cuda_stream *stream)
{
    return stream ? stream : cuda->stream;
}

enum status cuda_stream_copy(struct cuda *cuda, struct cuda_stream *stream, cuda_address to, const void *from,
                             uint64_t bytes, struct error *error)
{
    if (bytes)
        CALL(cuda, copy_to_device(to, from, bytes, stream_or_main(cuda, stream)), "copying to the device",
             error);
    return STATUS_OK;
}

enum status cuda_stream_record(struct cuda *cuda, struct cuda_stream *stream, struct cuda_event *event,
                               struct error *error)
{
    CALL(cuda, event_record(event, stream_or_main(cuda, stream)), "recording an event", error);
    return STATUS_OK;
}

enum status cuda_stream_wait(struct cuda *cuda, struct cuda_stream *stream, struct cuda_event *event,
                             struct error *error)
{
    CALL(cuda, stream_wait(stream_or_main(cuda, stream), event, 0), "waiting for an event", error);
    return STATUS_OK;
}

/* ---- Kernels ---- */

enum status cuda_module_load(struct cuda *cuda, const void *cubin, struct cuda_module **module,
                             struct error *error)
{
    *module = NULL;
    CALL(cuda, module_load(module, cubin), "loading a compiled kernel", error);
    return STATUS_OK;
}

void cuda_module_unload(struct cuda *cuda, struct cuda_module *module)
{
    if (module && cuda_enter(cuda, NULL) == STATUS_OK)
        cuda->of->driver->module_unload(module);
}

enum status cuda_module_function(struct cuda *cuda, struct cuda_module *module, const char *name,
                                 struct cuda_function **function, struct error *error)
{
    char purpose[256];
    snprintf(purpose, sizeof purpose, "finding kernel '%s' in its module", name);
    *function = NULL;
    CALL(cuda, module_function(function, module, name), purpose, error);
    return STATUS_OK;
}

enum status cuda_module_variable(struct cuda *cuda, struct cuda_module *module, const char *name,
                                 cuda_address *address, uint64_t *bytes, struct error *error)
{
    char purpose[256];
    size_t size = 0;
    snprintf(purpose, sizeof purpose, "finding variable '%s' in its module", name);
    *address = 0;
    CALL(cuda, module_variable(address, &size, module, name), purpose, error);
    if (bytes)
        *bytes = size;
    return STATUS_OK;
}

enum status cuda_function_properties(struct cuda *cuda, struct cuda_function *function,
                                     struct cuda_function_properties *properties, struct error *error)
{
    const char *purpose = "asking for a kernel's registers";
    int registers = 0, local = 0, shared = 0, threads = 0;
    CALL(cuda, function_get(&registers, FUNCTION_REGISTERS, function), purpose, error);
    CALL(cuda, function_get(&local, FUNCTION_LOCAL_BYTES, function), purpose, error);
    CALL(cuda, function_get(&shared, FUNCTION_SHARED_BYTES, function), purpose, error);
    CALL(cuda, function_get(&threads, FUNCTION_THREADS_PER_BLOCK, function), purpose, error);
    *properties = (struct cuda_function_properties){.registers = (unsigned)registers,
                                                    .local_bytes = (unsigned)local,
                                                    .static_shared_bytes = (unsigned)shared,
                                                    .threads_per_block = (unsigned)threads};
    return STATUS_OK;
}

enum status cuda_function_allow_shared(struct cuda *cuda, struct cuda_function *function, uint64_t bytes,
                                       struct error *error)
{
    if (bytes > cuda->of->properties.shared_per_block_bytes)
        return error_set(error, STATUS_MACHINE,
                         "GPU %u (%s): a kernel needs %" PRIu64
                         " bytes of shared memory a block, the device has %" PRIu64,
                         cuda->of->properties.ordinal, cuda->of->properties.name, bytes,
                         cuda->of->properties.shared_per_block_bytes);
    CALL(cuda, function_set(function, FUNCTION_DYNAMIC_SHARED_MAXIMUM, (int)bytes),
         "allowing a kernel more shared memory", error);
    return STATUS_OK;
}

enum status cuda_function_blocks(struct cuda *cuda, struct cuda_function *function,
                                 unsigned threads_per_block, uint64_t dynamic_shared_bytes,
                                 unsigned *blocks_per_multiprocessor, struct error *error)
{
    int blocks = 0;
    CALL(cuda, function_blocks(&blocks, function, (int)threads_per_block, dynamic_shared_bytes),
         "asking how many blocks of a kernel fit", error);
    *blocks_per_multiprocessor = (unsigned)blocks;
    return STATUS_OK;
}

enum status cuda_stream_launch(struct cuda *cuda, struct cuda_stream *stream, struct cuda_function *function,
                               unsigned blocks, unsigned threads, uint64_t dynamic_shared_bytes,
                               void **parameters, struct error *error)
{
    CALL(cuda,
         launch(function, blocks, 1, 1, threads, 1, 1, (unsigned)dynamic_shared_bytes,
                stream_or_main(cuda, stream), parameters, NULL),
         "launching a kernel", error);
    return STATUS_OK;
}

enum status cuda_launch(struct cuda *cuda, struct cuda_function *function, unsigned blocks, unsigned threads,
                        uint64_t dynamic_shared_bytes, void **parameters, struct error *error)
{
    return cuda_stream_launch(cuda, NULL, function, blocks, threads, dynamic_shared_bytes, parameters, error);
}

enum status cuda_launch_early(struct cuda *cuda, struct cuda_function *function, unsigned blocks,
                              unsigned threads, uint64_t dynamic_shared_bytes, void **parameters,
                              struct error *error)
{
    RETURN_IF_ERROR(cuda_enter(cuda, error)); /* before its stream is used */
    struct cuda_launch_attribute early = {.id = CUDA_LAUNCH_PROGRAMMATIC, .value.allowed = 1};
    const struct cuda_launch_config config = {.grid = {blocks, 1, 1},
                                              .block = {threads, 1, 1},
                                              .dynamic_shared_bytes = (unsigned)dynamic_shared_bytes,
                                              .stream = cuda->stream,
                                              .attributes = &early,
                                              .attribute_count = 1};
    if (!cuda->of->driver->launch_with || cuda->of->properties.compute_major < 9)
        return cuda_launch(cuda, function, blocks, threads, dynamic_shared_bytes, parameters, error);
    CALL(cuda, launch_with(&config, function, parameters, NULL), "launching a kernel", error);
    return STATUS_OK;
}

enum status cuda_synchronize(struct cuda *cuda, struct error *error)
{
    CALL(cuda, stream_synchronize(cuda->stream), "running what was queued", error);
    cuda->staged = 0;
    return STATUS_OK;
}

void cuda_wait_for_all(struct cuda *cuda)
{
    if (cuda_enter(cuda, NULL) == STATUS_OK)
        cuda->of->driver->context_synchronize();
}

enum status cuda_share(struct cuda *cuda, void **stream, struct error *error)
{
    RETURN_IF_ERROR(cuda_enter(cuda, error));
    *stream = cuda->stream;
    return STATUS_OK;
}

/* ---- Time ---- */

enum status cuda_event_create(struct cuda *cuda, struct cuda_event **event, struct error *error)
{
    *event = NULL;
    CALL(cuda, event_create(event, EVENT_DEFAULT), "making an event", error);
    return STATUS_OK;
}

void cuda_event_destroy(struct cuda *cuda, struct cuda_event *event)
{
    if (event && cuda_enter(cuda, NULL) == STATUS_OK)
        cuda->of->driver->event_destroy(event);
}

enum status cuda_event_record(struct cuda *cuda, struct cuda_event *event, struct error *error)
{
    CALL(cuda, event_record(event, cuda->stream), "recording an event", error);
    return STATUS_OK;
}

enum status cuda_event_wait(struct cuda *cuda, struct cuda_event *event, struct error *error)
{
    CALL(cuda, event_wait(event), "running what was queued", error);
    return STATUS_OK;
}

enum status cuda_event_elapsed(struct cuda *cuda, struct cuda_event *from, struct cuda_event *to,
                               double *milliseconds, struct error *error)
{
    float elapsed = 0;
    CALL(cuda, event_elapsed(&elapsed, from, to), "taking the time between events", error);
    *milliseconds = (double)elapsed;
    return STATUS_OK;
}

/* ---- Graphs ---- */

enum status cuda_capture_begin(struct cuda *cuda, struct error *error)
{
    CALL(cuda, capture_begin(cuda->stream, CAPTURE_THREAD_LOCAL), "beginning to record a graph", error);
    return STATUS_OK;
}

/* Makes an earlier graph the same as the recording, which takes a tenth of the time of making one. False if it has other
 * nodes. */
static bool update_graph(const struct cuda *cuda, struct cuda_graph *graph, struct cuda_recording *recording)
{
    struct cuda_update_result result;
    return graph && cuda->of->driver->graph_update &&
           cuda->of->driver->graph_update(graph, recording, &result) == CUDA_SUCCESS;
}

enum status cuda_capture_end(struct cuda *cuda, struct cuda_graph **graph, struct error *error)
{
    struct cuda_recording *recording = NULL;
    CALL(cuda, capture_end(cuda->stream, &recording), "recording a graph", error);
    enum status status = STATUS_OK;
    if (!update_graph(cuda, *graph, recording)) {
        cuda_graph_destroy(cuda, *graph);
        *graph = NULL;
        status = cuda_result(cuda, cuda->of->driver->graph_create(graph, recording, 0),
                             "making a graph of a recording", error);
    }
    cuda->of->driver->recording_destroy(recording);
    return status;
}

enum status cuda_graph_launch(struct cuda *cuda, struct cuda_graph *graph, struct error *error)
{
    CALL(cuda, graph_launch(graph, cuda->stream), "launching a graph", error);
    return STATUS_OK;
}

void cuda_graph_destroy(struct cuda *cuda, struct cuda_graph *graph)
{
    if (graph && cuda_enter(cuda, NULL) == STATUS_OK)
        cuda->of->driver->graph_destroy(graph);
}
