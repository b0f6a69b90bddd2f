/* memory.c: see memory.h. */
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

static enum status put(void *pointer, void *memory, uint64_t bytes, const char *what, struct error *error)
{
    memcpy(pointer, &memory, sizeof memory);
    return memory ? STATUS_OK : error_out_of_memory(error, bytes, what);
}

enum status memory_take(void *pointer, uint64_t bytes, const char *what, struct error *error)
{
    return put(pointer, malloc(bytes + !bytes), bytes, what, error);
}

enum status memory_zeros(void *pointer, uint64_t bytes, const char *what, struct error *error)
{
    return put(pointer, calloc(bytes + !bytes, 1), bytes, what, error);
}

enum status memory_grow(void *pointer, uint64_t bytes, const char *what, struct error *error)
{
    void *old;
    memcpy(&old, pointer, sizeof old);
    void *const grown = realloc(old, bytes + !bytes);
    return grown ? put(pointer, grown, bytes, what, error) : error_out_of_memory(error, bytes, what);
}
