/* kept_arrays.c: see kept_arrays.h. The list begins with what was used last. */
#include "storage/database/kept_arrays.h"

#include "storage/base/execution/memory_account.h"
#include "storage/base/memory.h"
#include "storage/database/database_internal.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static _Atomic uint64_t numbers;

struct array_key array_key_of(const struct kept_array *through, const struct column *column,
                              enum array_kind kind)
{
    struct array_key key = {.kind = kind};
    uint32_t length = 0;
    while (through && length < ARRAY_PATH_MAX && through->key.path[length]) {
        key.path[length] = through->key.path[length];
        length++;
    }
    if (length == ARRAY_PATH_MAX || (through && length == 0))
        return (struct array_key){.kind = kind};
    key.path[length] = column;
    return key;
}

static bool same_key(const struct array_key *a, const struct array_key *b)
{
    return a->path[0] && a->kind == b->kind && memcmp(a->path, b->path, sizeof a->path) == 0;
}

static void array_free(struct kept_array *array)
{
    free(array->values);
    free(array->valid);
    free(array);
}

/* Finds an array and makes it the first of the list. The lock is held. */
static struct kept_array *find(struct kept_arrays *arrays, const struct array_key *key)
{
    struct kept_array **at = &arrays->first, *found;
    while (*at && !same_key(&(*at)->key, key))
        at = &(*at)->next;
    found = *at;
    if (found) {
        *at = found->next;
        found->next = arrays->first;
        arrays->first = found;
        arrays->unused -= found->uses++ ? 0 : found->bytes;
    }
    return found;
}

const struct kept_array *kept_array_find(struct database *database, const struct array_key *key)
{
    pthread_mutex_lock(&database->lock);
    const struct kept_array *const found = find(&database->arrays, key);
    pthread_mutex_unlock(&database->lock);
    return found;
}

enum status kept_array_add(struct database *database, const struct kept_array *made,
                           const struct kept_array **kept, struct error *error)
{
    struct kept_arrays *const arrays = &database->arrays;
    struct kept_array *array;
    *kept = NULL;
    const enum status status = memory_take(&array, sizeof *array, "an array", error);
    if (status != STATUS_OK) {
        free(made->values);
        free(made->valid);
        return status;
    }
    *array = *made;
    array->uses = 1;
    array->number = atomic_fetch_add(&numbers, 1) + 1;
    pthread_mutex_lock(&database->lock);
    *kept = find(arrays, &made->key);
    if (!*kept) {
        *kept = array;
        array->next = arrays->first;
        arrays->first = array;
        arrays->all += array->bytes;
        array = NULL;
    }
    pthread_mutex_unlock(&database->lock);
    if (array)
        array_free(array);
    return STATUS_OK;
}

/* Takes the arrays that nobody uses and that leave out of the list, and gives them as a list. The lock is held. */
static struct kept_array *take_old(struct kept_arrays *arrays)
{
    struct kept_array *old = NULL;
    while (arrays->unused > arrays->most) {
        struct kept_array **last = NULL;
        for (struct kept_array **at = &arrays->first; *at; at = &(*at)->next)
            last = (*at)->uses ? last : at;
        struct kept_array *const array = *last;
        *last = array->next;
        arrays->unused -= array->bytes;
        arrays->all -= array->bytes;
        array->next = old;
        old = array;
    }
    return old;
}

void kept_array_release(struct database *database, const struct kept_array *kept)
{
    struct kept_array *const array = (struct kept_array *)kept, *old;
    if (!array)
        return;
    struct kept_arrays *const arrays = &database->arrays;
    pthread_mutex_lock(&database->lock);
    if (!arrays->most)
        arrays->most = memory_available("") / KEPT_ARRAYS_SHARE + 1;
    if (--array->uses == 0)
        arrays->unused += array->bytes;
    old = take_old(arrays);
    pthread_mutex_unlock(&database->lock);
    for (struct kept_array *next; old; old = next) {
        next = old->next;
        array_free(old);
    }
}

struct kept_arrays_bytes kept_arrays_bytes(struct database *database)
{
    pthread_mutex_lock(&database->lock);
    const struct kept_arrays_bytes bytes = {database->arrays.all, database->arrays.unused};
    pthread_mutex_unlock(&database->lock);
    return bytes;
}

void kept_arrays_free(struct database *database)
{
    for (struct kept_array *array = database->arrays.first, *next; array; array = next) {
        next = array->next;
        array_free(array);
    }
}
