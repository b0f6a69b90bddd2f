/*
 * pin.c: pins mapped column files, which copies and kernels of all devices then read over the bus.
 *
 * The list has one entry for each pinned range, a few dozen. Registered pages cannot leave the host's memory, so
 * their sum is limited. Measured on an H200: copies from a pinned file in the page cache 55 GB/s, kernels that
 * read whole lines of 128 bytes from it 51.4, single sectors of 32 bytes 22; pinning 20 to 30 GB/s.
 */
#include "engine/cuda/driver.h"

#include "storage/base/disk/read_ahead.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* The most that is pinned, of the machine's memory. */
#define PIN_SHARE 0.75

enum {
    REGISTER_PORTABLE = 1,
    REGISTER_DEVICE_MAP = 2,
    REGISTER_READ_ONLY = 8,
};

struct pinned {
    uintptr_t begin;
    uint64_t bytes;
    cuda_address address; /* the same for all devices: they share one address space with the host */
    unsigned uses;
    struct pinned *next;
};

static struct pinned *all;
static uint64_t total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct pinned **find(const void *memory)
{
    struct pinned **link = &all;
    while (*link && (uintptr_t)memory - (*link)->begin >= (*link)->bytes)
        link = &(*link)->next;
    return link;
}

static enum status add(struct cuda *cuda, uintptr_t begin, uint64_t bytes, struct error *error)
{
    const double most = PIN_SHARE * (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if ((double)(total + bytes) > most)
        return error_set(
            error, STATUS_MACHINE,
            "%llu bytes are not pinned, because with them more than %.0f of the machine's memory would be",
            (unsigned long long)bytes, most);
    struct pinned *added = calloc(1, sizeof *added);
    if (!added)
        return error_out_of_memory(error, sizeof *added, "a pinned range");
    enum status status = cuda_enter(cuda, error);
    if (status == STATUS_OK) {
        struct read_ahead *const reader = read_ahead_bytes((void *)begin, bytes, bytes); /* all of it stays */
        status = cuda_result(
            cuda,
            cuda->of->driver->host_register((void *)begin, bytes,
                                            REGISTER_PORTABLE | REGISTER_DEVICE_MAP | REGISTER_READ_ONLY),
            "pinning a mapped file", error);
        read_ahead_stop(reader);
    }
    if (status == STATUS_OK) {
        status = cuda_result(cuda, cuda->of->driver->host_address(&added->address, (void *)begin, 0),
                             "finding a pinned file", error);
        if (status != STATUS_OK)
            cuda->of->driver->host_unregister((void *)begin);
    }
    if (status != STATUS_OK) {
        free(added);
        return status;
    }
    added->begin = begin;
    added->bytes = bytes;
    added->next = all;
    all = added;
    total += bytes;
    return STATUS_OK;
}

enum status cuda_pin(struct cuda *cuda, const void *memory, uint64_t bytes, cuda_address *address,
                     struct error *error)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)memory / page * page,
                    end = ((uintptr_t)memory + bytes + page - 1) / page * page;
    enum status status = STATUS_OK;
    pthread_mutex_lock(&lock);
    if (!*find(memory))
        status = add(cuda, begin, end - begin, error);
    struct pinned *found = *find(memory);
    if (status == STATUS_OK && (uintptr_t)memory + bytes > found->begin + found->bytes)
        status = error_set(error, STATUS_MACHINE, "a part of this memory is pinned already");
    if (status == STATUS_OK) {
        found->uses++;
        *address = found->address + ((uintptr_t)memory - found->begin);
    }
    pthread_mutex_unlock(&lock);
    return status;
}

void cuda_unpin(struct cuda *cuda, const void *memory)
{
    pthread_mutex_lock(&lock);
    struct pinned **link = find(memory), *found = *link;
    if (found && --found->uses == 0) {
        if (cuda_enter(cuda, NULL) == STATUS_OK)
            cuda->of->driver->host_unregister((void *)found->begin);
        total -= found->bytes;
        *link = found->next;
        free(found);
    }
    pthread_mutex_unlock(&lock);
}
