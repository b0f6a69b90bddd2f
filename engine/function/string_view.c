/* string_view.c: see string_view.h. */
#include "engine/function/string_view.h"

#include "storage/base/execution/spillable.h"
#include "storage/base/memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* A writer's buffers double from the first size to the second, so that few strings take little memory, and buffers are
 * few: 1 GB of strings has 64. */
#define BUFFER_LEAST (UINT64_C(1) << 12)
#define BUFFER_MOST  (UINT64_C(1) << 24)

/* The lists of buffers' beginnings double; old ones stay until the end, because other threads may read them. */
#define LISTS_MAX  32u
#define LIST_FIRST 8u

struct string_buffers {
    atomic_uint references;
    pthread_mutex_t lock; /* of all below, but for buffers that have been given out */
    uint32_t count;
    char **lists[LISTS_MAX]; /* lists[l] has LIST_FIRST << l of them; buffers are spillable */
};

static char **place_of(const struct string_buffers *buffers, uint32_t buffer)
{
    const uint32_t scaled = buffer / LIST_FIRST + 1, list = 31 - (uint32_t)__builtin_clz(scaled);
    return buffers->lists[list] + (buffer - LIST_FIRST * ((1u << list) - 1));
}

enum status string_buffers_new(struct string_buffers **buffers, struct error *error)
{
    RETURN_IF_ERROR(memory_zeros(buffers, sizeof **buffers, "strings", error));
    if (pthread_mutex_init(&(*buffers)->lock, NULL) != 0) {
        free(*buffers);
        *buffers = NULL;
        return error_out_of_memory(error, sizeof **buffers, "strings");
    }
    atomic_init(&(*buffers)->references, 1);
    return STATUS_OK;
}

struct string_buffers *string_buffers_share(struct string_buffers *buffers)
{
    if (buffers)
        atomic_fetch_add(&buffers->references, 1);
    return buffers;
}

void string_buffers_release(struct string_buffers *buffers)
{
    if (!buffers || atomic_fetch_sub(&buffers->references, 1) > 1)
        return;
    for (uint32_t b = 0; b < buffers->count; b++)
        spillable_free(*place_of(buffers, b));
    for (uint32_t l = 0; l < LISTS_MAX; l++)
        free(buffers->lists[l]);
    pthread_mutex_destroy(&buffers->lock);
    free(buffers);
}

void string_buffers_hand_over(struct string_buffers *buffers)
{
    for (uint32_t b = 0; buffers && b < buffers->count; b++)
        spillable_hand_over(*place_of(buffers, b));
}

const char *string_buffers_bytes(const struct string_buffers *buffers, uint32_t buffer)
{
    return *place_of(buffers, buffer);
}

static enum status add_buffer(struct string_buffers *buffers, uint64_t bytes, uint32_t *number, char **made,
                              struct error *error)
{
    const uint32_t list = 31 - (uint32_t)__builtin_clz(buffers->count / LIST_FIRST + 1);
    if (!buffers->lists[list])
        RETURN_IF_ERROR(memory_take(&buffers->lists[list],
                                    ((size_t)LIST_FIRST << list) * sizeof *buffers->lists[list], "strings",
                                    error));
    RETURN_IF_ERROR(spillable_rows(made, bytes, "strings", error));
    *number = buffers->count++;
    *place_of(buffers, *number) = *made;
    return STATUS_OK;
}

/* After a failure the writer has what it had: other rows put strings before somebody asks for the failure. */
static enum status next_buffer(struct string_writer *writer, uint64_t length, struct error *error)
{
    uint64_t room = writer->room ? 2 * writer->room : BUFFER_LEAST;
    char *made;
    room = room > BUFFER_MOST ? BUFFER_MOST : room;
    room = room < length ? length : room;
    pthread_mutex_lock(&writer->to->lock);
    const enum status status = add_buffer(writer->to, room, &writer->buffer, &made, error);
    pthread_mutex_unlock(&writer->to->lock);
    RETURN_IF_ERROR(status);
    writer->bytes = made;
    writer->room = room;
    writer->used = 0;
    return STATUS_OK;
}

enum status string_writer_put(struct string_writer *writer, struct string_value string,
                              struct string_view *view, struct error *error)
{
    *view = (struct string_view){.length = string.length};
    if (string.length <= STRING_VIEW_INLINE) {
        memcpy(view->bytes, string.text, string.length);
        return STATUS_OK;
    }
    if (writer->room - writer->used < string.length)
        RETURN_IF_ERROR(next_buffer(writer, string.length, error));
    memcpy(view->prefix, string.text, sizeof view->prefix);
    view->buffer = writer->buffer;
    view->offset =
        (uint32_t)writer->used; /* fits: only a string of its own makes a buffer longer than BUFFER_MOST */
    memcpy(writer->bytes + writer->used, string.text, string.length);
    writer->used += string.length;
    return STATUS_OK;
}

void string_writer_rewind(struct string_writer *writer)
{
    struct string_buffers *const buffers = writer->to;
    writer->used = 0;
    if (buffers->count < 2)
        return;
    for (uint32_t b = 0; b + 1 < buffers->count; b++)
        spillable_free(*place_of(buffers, b));
    *place_of(buffers, 0) = writer->bytes;
    buffers->count = 1;
    writer->buffer = 0;
}
