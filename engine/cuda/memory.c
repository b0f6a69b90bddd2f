/* memory.c: memory of a device and pinned memory, from pools, and copies (cuda.h). */
#include "engine/cuda/driver.h"

#include <inttypes.h>
#include <string.h>

enum { HOST_PORTABLE = 1 };

/* Of each stream: all that a statement uploads for itself, but for lists of millions of tiles. */
#define STAGING_BYTES (UINT64_C(1) << 20)

/* ---- Pools ---- */

/* States, lists and bitmaps of a statement are small, chunks of columns are not. A small piece that found no room costs one
 * allocation of the driver's for all that come after it. */
#define SMALL_BYTES  (UINT64_C(4) << 20)
#define CHUNK_BYTES  (UINT64_C(32) << 20)
#define DRIVER_BYTES (UINT64_C(2) << 20) /* the driver's own unit */

/* Pinned memory is taken from the host's, so large buffers, as those that decompress files, are not kept. */
#define PINNED_SMALL_BYTES (UINT64_C(1) << 20)
#define PINNED_CHUNK_BYTES (UINT64_C(4) << 20)
#define PINNED_UNIT_BYTES  (UINT64_C(1) << 16)
#define PINNED_KEPT_BYTES  (UINT64_C(16) << 20)

static const char no_description[] = "the description of a piece of memory";

static int take_memory(void *context, uint64_t bytes, uint64_t *address)
{
    const struct cuda_device *const device = context;
    return device->driver->memory_allocate(address, bytes);
}

static void give_memory(void *context, uint64_t address)
{
    const struct cuda_device *const device = context;
    device->driver->memory_free(address);
}

static int take_pinned(void *context, uint64_t bytes, uint64_t *address)
{
    const struct cuda_device *const device = context;
    void *memory = NULL;
    const int result = device->driver->host_allocate(&memory, bytes, HOST_PORTABLE);
    *address = (uintptr_t)memory;
    return result;
}

static void give_pinned(void *context, uint64_t address)
{
    const struct cuda_device *const device = context;
    device->driver->host_free((void *)(uintptr_t)address);
}

enum status cuda_pools_open(struct cuda_device *device, struct error *error)
{
    device->memory = pool_create(&(struct pool_source){.take = take_memory,
                                                       .give = give_memory,
                                                       .context = device,
                                                       .small_bytes = SMALL_BYTES,
                                                       .chunk_bytes = CHUNK_BYTES,
                                                       .unit_bytes = DRIVER_BYTES,
                                                       .kept_bytes = UINT64_MAX});
    device->pinned = pool_create(&(struct pool_source){.take = take_pinned,
                                                       .give = give_pinned,
                                                       .context = device,
                                                       .small_bytes = PINNED_SMALL_BYTES,
                                                       .chunk_bytes = PINNED_CHUNK_BYTES,
                                                       .unit_bytes = PINNED_UNIT_BYTES,
                                                       .kept_bytes = PINNED_KEPT_BYTES});
    return device->memory && device->pinned ? STATUS_OK : error_out_of_memory(error, 0, no_description);
}

void cuda_pools_close(struct cuda_device *device)
{
    pool_destroy(device->memory);
    pool_destroy(device->pinned);
}

/* ---- Memory ---- */

enum status cuda_memory(struct cuda *cuda, uint64_t *free_bytes, uint64_t *total_bytes, struct error *error)
{
    size_t unused = 0, total = 0;
    CALL(cuda, memory_info(&unused, &total), "asking for free memory", error);
    const struct pool_use use = pool_use(cuda->of->memory);
    *free_bytes = unused + (use.reserved - use.used);
    *total_bytes = total;
    return STATUS_OK;
}

uint64_t cuda_memory_used(const struct cuda *cuda)
{
    return pool_use(cuda->of->memory).used;
}

void cuda_memory_bound(struct cuda *cuda, uint64_t bytes)
{
    pool_bound(cuda->of->memory, bytes);
}

enum status cuda_allocate(struct cuda *cuda, uint64_t bytes, const char *what, cuda_address *address,
                          struct error *error)
{
    *address = 0;
    RETURN_IF_ERROR(cuda_enter(cuda, error));
    const int result = pool_take(cuda->of->memory, bytes, address);
    if (result == CUDA_ERROR_OUT_OF_MEMORY) {
        uint64_t unused = 0, total = 0;
        RETURN_IF_ERROR(cuda_memory(cuda, &unused, &total, error));
        return error_set(error, STATUS_MACHINE,
                         "GPU %u (%s) is out of memory: %s needs %" PRIu64 " bytes, %" PRIu64 " of %" PRIu64
                         " are free; use a smaller database, a codec that compresses better or --device cpu",
                         cuda->of->properties.ordinal, cuda->of->properties.name, what, bytes, unused, total);
    }
    if (result == POOL_NO_MEMORY)
        return error_out_of_memory(error, sizeof(struct pool_use), no_description);
    return cuda_result(cuda, result, what, error);
}

void cuda_free(struct cuda *cuda, cuda_address address)
{
    if (address && cuda_synchronize(cuda, NULL) == STATUS_OK)
        pool_give(cuda->of->memory, address);
}

enum status cuda_pinned_allocate(struct cuda *cuda, size_t bytes, void **memory, struct error *error)
{
    uint64_t address = 0;
    *memory = NULL;
    RETURN_IF_ERROR(cuda_enter(cuda, error));
    const int result = pool_take(cuda->of->pinned, bytes, &address);
    *memory = (void *)(uintptr_t)address;
    if (result == CUDA_ERROR_OUT_OF_MEMORY || result == POOL_NO_MEMORY)
        return error_out_of_memory(error, bytes, "pinned host memory");
    return cuda_result(cuda, result, "pinning host memory", error);
}

void cuda_pinned_free(struct cuda *cuda, void *memory)
{
    if (memory && cuda_enter(cuda, NULL) == STATUS_OK)
        pool_give(cuda->of->pinned, (uintptr_t)memory);
}

/* ---- Copies ---- */

enum status cuda_copy_to_device(struct cuda *cuda, cuda_address to, const void *from, uint64_t bytes,
                                struct error *error)
{
    if (bytes)
        CALL(cuda, copy_to_device(to, from, bytes, cuda->stream), "copying to the device", error);
    return STATUS_OK;
}

/* The next bytes of the staging memory are free; if the last of them are taken, the copies from it are waited for. */
static enum status stage(struct cuda *cuda, uint64_t bytes, uint8_t **to, struct error *error)
{
    void *memory;
    if (!cuda->staging) {
        RETURN_IF_ERROR(cuda_pinned_allocate(cuda, STAGING_BYTES, &memory, error));
        cuda->staging = memory;
    }
    if (cuda->staged + bytes > STAGING_BYTES)
        RETURN_IF_ERROR(cuda_synchronize(cuda, error));
    *to = cuda->staging + cuda->staged;
    cuda->staged += bytes;
    return STATUS_OK;
}

enum status cuda_send(struct cuda *cuda, cuda_address to, const void *from, uint64_t bytes,
                      struct error *error)
{
    uint8_t *staged;
    if (bytes > STAGING_BYTES)
        return cuda_upload(cuda, to, from, bytes, error);
    if (bytes == 0)
        return STATUS_OK;
    RETURN_IF_ERROR(stage(cuda, bytes, &staged, error));
    memcpy(staged, from, bytes);
    return cuda_copy_to_device(cuda, to, staged, bytes, error);
}

enum status cuda_copy_to_host(struct cuda *cuda, void *to, cuda_address from, uint64_t bytes,
                              struct error *error)
{
    if (bytes)
        CALL(cuda, copy_to_host(to, from, bytes, cuda->stream), "copying from the device", error);
    return STATUS_OK;
}

enum status cuda_copy_on_device(struct cuda *cuda, cuda_address to, cuda_address from, uint64_t bytes,
                                struct error *error)
{
    if (bytes)
        CALL(cuda, copy_on_device(to, from, bytes, cuda->stream), "copying on the device", error);
    return STATUS_OK;
}

enum status cuda_set_bytes(struct cuda *cuda, cuda_address address, uint8_t value, uint64_t bytes,
                           struct error *error)
{
    if (bytes)
        CALL(cuda, set_bytes(address, value, bytes, cuda->stream), "setting memory", error);
    return STATUS_OK;
}

enum status cuda_set_words(struct cuda *cuda, cuda_address address, uint32_t value, uint64_t words,
                           struct error *error)
{
    if (words)
        CALL(cuda, set_words(address, value, words, cuda->stream), "setting memory", error);
    return STATUS_OK;
}
