/* file_map.c: see file_map.h.
 *
 * A signal handler may read the list at any moment, so entries are never freed. A closed entry has size 0 and
 * is used again. */
#include "storage/base/file_map.h"

#include "storage/base/huge_pages.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

struct file_mapping {
    const char *path;
    _Atomic uintptr_t begin;
    _Atomic uint64_t size; /* 0: closed */
    dev_t device;
    ino_t number;
    struct file_mapping *next;   /* the entry that was made before this one */
    struct file_mapping *unused; /* the next closed entry */
};

_Static_assert(ATOMIC_POINTER_LOCK_FREE == 2 && ATOMIC_LLONG_LOCK_FREE == 2,
               "a handler cannot wait for locks");

static struct file_mapping *_Atomic mappings;
static struct file_mapping *unused;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held to change the two lists */

static struct file_mapping *mapping_take(void)
{
    struct file_mapping *mapping = unused;
    if (mapping) {
        unused = mapping->unused;
    } else if ((mapping = calloc(1, sizeof *mapping)) != NULL) {
        mapping->next = atomic_load(&mappings);
        atomic_store(&mappings, mapping);
    }
    return mapping;
}

enum status file_map_open(const char *path, int descriptor, uint64_t size, struct file_map *map,
                          struct error *error)
{
    struct stat file;
    *map = (struct file_map){0};
    if (fstat(descriptor, &file) != 0)
        return error_set_errno(error, errno, "cannot look at %s", path);
    void *bytes = mmap(NULL, size, PROT_READ, MAP_SHARED, descriptor, 0);
    if (bytes == MAP_FAILED)
        return error_set_errno(error, errno, "cannot map %s", path);
    huge_pages_prefer(bytes,
                      size); /* then files are read in folios of 2 MiB, where the file system has them */
    pthread_mutex_lock(&lock);
    struct file_mapping *mapping = mapping_take();
    if (mapping) {
        mapping->path = path;
        mapping->device = file.st_dev;
        mapping->number = file.st_ino;
        atomic_store(&mapping->begin, (uintptr_t)bytes);
        atomic_store(&mapping->size, size);
    }
    pthread_mutex_unlock(&lock);
    if (!mapping) {
        munmap(bytes, size);
        return error_out_of_memory(error, sizeof *mapping, "a mapped file");
    }
    *map = (struct file_map){.bytes = bytes, .size = size, .mapping = mapping};
    return STATUS_OK;
}

void file_map_close(struct file_map *map)
{
    if (!map->bytes)
        return;
    pthread_mutex_lock(&lock);
    atomic_store(&map->mapping->size, 0);
    map->mapping->unused = unused;
    unused = map->mapping;
    pthread_mutex_unlock(&lock);
    munmap((void *)map->bytes, map->size);
    *map = (struct file_map){0};
}

static struct file_mapping *find(const void *address)
{
    const uintptr_t at = (uintptr_t)address;
    struct file_mapping *mapping = atomic_load(&mappings);
    while (mapping && at - atomic_load(&mapping->begin) >= atomic_load(&mapping->size))
        mapping = mapping->next;
    return mapping;
}

const char *file_map_path(const void *address)
{
    const struct file_mapping *mapping = find(address);
    return mapping ? mapping->path : NULL;
}

const uint8_t *file_map_find(const void *address, uint64_t *size)
{
    const struct file_mapping *mapping = find(address);
    *size = mapping ? atomic_load(&mapping->size) : 0;
    return mapping ? (const uint8_t *)atomic_load(&mapping->begin) : NULL;
}

bool file_map_same(const void *a, const void *b)
{
    const struct file_mapping *const x = find(a), *const y = find(b);
    return x && y && x->device == y->device && x->number == y->number &&
           (uintptr_t)a - atomic_load(&x->begin) == (uintptr_t)b - atomic_load(&y->begin);
}
