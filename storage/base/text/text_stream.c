/* text_stream.c: see text_stream.h. */
#define _GNU_SOURCE /* fopencookie */
#include "storage/base/text/text_stream.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct text_cookie {
    char *text;
    size_t used, room; /* of room one byte is for the zero at the end */
    bool failed;
    char **result;
    size_t *result_bytes;
};

static ssize_t write_text(void *context, const char *bytes, size_t size)
{
    struct text_cookie *const cookie = context;
    if (cookie->used + size + 1 > cookie->room) {
        const size_t room = 2 * (cookie->used + size + 1);
        char *const grown = realloc(cookie->text, room);
        cookie->failed |= !grown;
        cookie->text = grown ? grown : cookie->text;
        cookie->room = grown ? room : cookie->room;
    }
    if (cookie->failed)
        return 0;
    memcpy(cookie->text + cookie->used, bytes, size);
    cookie->used += size;
    return (ssize_t)size;
}

static int close_text(void *context)
{
    struct text_cookie *const cookie = context;
    if (!cookie->text) /* nothing was written */
        cookie->text = malloc(1);
    const bool whole = cookie->text && !cookie->failed;
    if (whole) {
        cookie->text[cookie->used] = '\0';
    } else {
        free(cookie->text);
        cookie->text = NULL;
    }
    *cookie->result = cookie->text;
    *cookie->result_bytes = whole ? cookie->used : 0;
    free(cookie);
    return whole ? 0 : -1;
}

FILE *text_stream(char **text, size_t *bytes)
{
    struct text_cookie *const cookie = calloc(1, sizeof *cookie);
    *text = NULL;
    *bytes = 0;
    if (!cookie)
        return NULL;
    cookie->result = text;
    cookie->result_bytes = bytes;
    FILE *const stream =
        fopencookie(cookie, "w", (cookie_io_functions_t){.write = write_text, .close = close_text});
    if (!stream)
        free(cookie);
    return stream;
}
