/*
 * string_view.h: strings that are computed while a statement runs, as views of 16 bytes (the "German strings" of
 * Neumann and Freitag, CIDR 2020):
 *
 *     bytes 0-3    the length
 *     bytes 4-15   up to 12 bytes: the string, then zeros
 *                  longer: its first 4 bytes, the number of a buffer, the offset in that buffer
 *
 * There are no pointers in a view, so it may be copied from column to column together with a reference to the buffers,
 * which are counted: the last column that has them frees them. They are charged to the account of the statement.
 */
#ifndef TESSERA_ENGINE_FUNCTION_STRING_VIEW_H
#define TESSERA_ENGINE_FUNCTION_STRING_VIEW_H

#include "engine/function/string_body.h"

#define STRING_VIEW_INLINE 12u

struct string_view {
    uint32_t length;
    union {
        char bytes[STRING_VIEW_INLINE];
        struct {
            char prefix[4];
            uint32_t buffer, offset;
        };
    };
};

struct string_buffers;

/* Makes buffers, of which there are none yet, with one reference. */
NODISCARD enum status string_buffers_new(struct string_buffers **buffers, struct error *error);
struct string_buffers *string_buffers_share(struct string_buffers *buffers);
/* Gives one reference back; NULL is legal. */
void string_buffers_release(struct string_buffers *buffers);
/* The strings are the program's from now on: they count no more in the account of their statement. */
void string_buffers_hand_over(struct string_buffers *buffers);
/* The beginning of a buffer. */
const char *string_buffers_bytes(const struct string_buffers *buffers, uint32_t buffer);

/* The string of a view. It is good as long as the view and the buffers are. */
static inline struct string_value string_of_view(const struct string_buffers *buffers,
                                                 const struct string_view *view)
{
    return (struct string_value){view->length <= STRING_VIEW_INLINE
                                     ? view->bytes
                                     : string_buffers_bytes(buffers, view->buffer) + view->offset,
                                 view->length};
}

/* Where one thread puts strings. Zero-initialised but for `to`; what it has belongs to the buffers. */
struct string_writer {
    struct string_buffers *to;
    char *bytes; /* of the buffer that is being filled */
    uint32_t buffer;
    uint64_t used, room;
};

/* Copies a string into the writer's buffer, and gives its view. */
NODISCARD enum status string_writer_put(struct string_writer *writer, struct string_value string,
                                        struct string_view *view, struct error *error);
/* Forgets all strings of the buffers, whose only writer this is; the last buffer stays, to be filled again. */
void string_writer_rewind(struct string_writer *writer);

#endif
