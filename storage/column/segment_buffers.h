/*
 * segment_buffers.h: large buffers that are used again. A load encodes each segment of each column in one or two buffers
 * of up to 150 MB. The system clears the pages of every new one, which takes as long as encoding it; so a change of a
 * database keeps its buffers until it ends.
 */
#ifndef TESSERA_STORAGE_COLUMN_SEGMENT_BUFFERS_H
#define TESSERA_STORAGE_COLUMN_SEGMENT_BUFFERS_H

#include "storage/base/status.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Allocates memory for the values or the bytes of a segment, aligned to at least 128 bytes; free() it. NULL,
 * with the error's sentence, if it fails. */
void *segment_buffer(size_t bytes, const char *what, struct error *error);

struct segment_buffers {
    pthread_mutex_t lock;
    uint32_t count, room;
    struct kept_buffer {
        void *memory;
        size_t bytes;
        bool taken;
    } * kept;
};

void segment_buffers_open(struct segment_buffers *buffers);
void segment_buffers_close(struct segment_buffers *buffers);

/* As segment_buffer; any thread may call. There are never more buffers than were taken at the same time. `buffers` may
 * be NULL: then nothing is kept. segment_buffers_give takes a buffer back, or NULL. */
void *segment_buffers_take(struct segment_buffers *buffers, size_t bytes, const char *what,
                           struct error *error);
void segment_buffers_give(struct segment_buffers *buffers, void *memory);

#endif
