/* segment_buffers.c: see segment_buffers.h. */
#define _GNU_SOURCE
#include "storage/column/segment_buffers.h"

#include "storage/base/memory.h"
#include "storage/codec/chunk.h"

#include <stdlib.h>
#include <sys/mman.h>

/* Smaller buffers come from malloc's own lists. */
#define KEPT_FROM ((size_t)1 << 20)

/* In a new buffer of 64 MiB, the page faults of pages of 4 KiB take twice as long as the encoding (1.3 ns a
 * value). So large buffers use pages of 2 MiB if the system has them. */
#define LARGE_PAGE ((size_t)1 << 21)

void *segment_buffer(size_t bytes, const char *what, struct error *error)
{
    bool large = bytes >= LARGE_PAGE;
    size_t alignment = large ? LARGE_PAGE : CHUNK_ALIGNMENT;
    size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    void *memory = aligned_alloc(alignment, rounded);
    if (!memory)
        error_out_of_memory(error, bytes, what);
    else if (large)
        (void)madvise(memory, rounded, MADV_HUGEPAGE); /* may fail; then pages are small */
    return memory;
}

void segment_buffers_open(struct segment_buffers *buffers)
{
    *buffers = (struct segment_buffers){.count = 0};
    pthread_mutex_init(&buffers->lock, NULL);
}

void segment_buffers_close(struct segment_buffers *buffers)
{
    for (uint32_t b = 0; b < buffers->count; b++)
        free(buffers->kept[b].memory);
    free(buffers->kept);
    pthread_mutex_destroy(&buffers->lock);
}

/* The smallest free buffer of at least `bytes`; else any free one, whose memory is then replaced; else a new place. NULL
 * without memory. */
static struct kept_buffer *find(struct segment_buffers *buffers, size_t bytes)
{
    struct kept_buffer *best = NULL;
    for (uint32_t b = 0; b < buffers->count; b++) {
        struct kept_buffer *const kept = &buffers->kept[b];
        if (kept->taken)
            continue;
        const bool fits = kept->bytes >= bytes, best_fits = best && best->bytes >= bytes;
        if (!best || (fits && (!best_fits || kept->bytes < best->bytes)))
            best = kept;
    }
    if (best)
        return best;
    if (buffers->count == buffers->room) {
        const uint32_t room = 2 * buffers->room + 8;
        if (memory_grow(&buffers->kept, room * sizeof *buffers->kept, "buffers", NULL) != STATUS_OK)
            return NULL;
        buffers->room = room;
    }
    buffers->kept[buffers->count] = (struct kept_buffer){.memory = NULL};
    return &buffers->kept[buffers->count++];
}

void *segment_buffers_take(struct segment_buffers *buffers, size_t bytes, const char *what,
                           struct error *error)
{
    if (!buffers || bytes < KEPT_FROM)
        return segment_buffer(bytes, what, error);
    pthread_mutex_lock(&buffers->lock);
    struct kept_buffer *const kept = find(buffers, bytes);
    void *memory = kept ? kept->memory : NULL;
    if (kept && kept->bytes < bytes) {
        free(kept->memory);
        memory = segment_buffer(bytes, what, error);
        kept->memory = memory;
        kept->bytes = memory ? bytes : 0;
    }
    if (kept)
        kept->taken = memory != NULL;
    else
        error_out_of_memory(error, bytes, what);
    pthread_mutex_unlock(&buffers->lock);
    return memory;
}

void segment_buffers_give(struct segment_buffers *buffers, void *memory)
{
    bool kept = false;
    if (buffers && memory) {
        pthread_mutex_lock(&buffers->lock);
        for (uint32_t b = 0; b < buffers->count && !kept; b++) {
            kept = buffers->kept[b].memory == memory;
            buffers->kept[b].taken &= !kept;
        }
        pthread_mutex_unlock(&buffers->lock);
    }
    if (!kept)
        free(memory);
}
