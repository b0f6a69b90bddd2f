/* number_index.c: see number_index.h. */
#include "storage/base/number_index.h"

#include <stdlib.h>

#define FREE UINT64_MAX

static uint64_t entry_of(uint64_t hash, uint32_t number)
{
    return hash >> 32 << 32 | number;
}

/* The place depends only on the high bits of the hash, which entries keep: a table can grow without the
 * things. */
static uint32_t place_of(const struct number_index *index, uint64_t entry)
{
    return (uint32_t)(entry >> 32) & (index->capacity - 1);
}

uint32_t number_index_find(const struct number_index *index, uint64_t hash,
                           bool (*same)(const void *context, uint32_t number), const void *context)
{
    if (index->capacity == 0)
        return NUMBER_NONE;
    for (uint32_t at = place_of(index, hash); index->slots[at] != FREE; at = (at + 1) & (index->capacity - 1))
        if (index->slots[at] >> 32 == hash >> 32 && same(context, (uint32_t)index->slots[at]))
            return (uint32_t)index->slots[at];
    return NUMBER_NONE;
}

static void insert(struct number_index *index, uint64_t entry)
{
    uint32_t at = place_of(index, entry);
    while (index->slots[at] != FREE)
        at = (at + 1) & (index->capacity - 1);
    index->slots[at] = entry;
}

static enum status grow(struct number_index *index, struct error *error)
{
    const struct number_index old = *index;
    const uint32_t capacity = old.capacity ? 2 * old.capacity : 64;
    index->slots = malloc(capacity * sizeof *index->slots);
    if (!index->slots) {
        *index = old;
        return error_out_of_memory(error, capacity * sizeof *index->slots, "an index");
    }
    index->capacity = capacity;
    for (uint32_t at = 0; at < capacity; at++)
        index->slots[at] = FREE;
    for (uint32_t at = 0; at < old.capacity; at++)
        if (old.slots[at] != FREE)
            insert(index, old.slots[at]);
    free(old.slots);
    return STATUS_OK;
}

enum status number_index_add(struct number_index *index, uint64_t hash, uint32_t number, struct error *error)
{
    if (2 * (index->count + 1) > index->capacity)
        RETURN_IF_ERROR(grow(index, error));
    insert(index, entry_of(hash, number));
    index->count++;
    return STATUS_OK;
}

void number_index_free(struct number_index *index)
{
    free(index->slots);
    *index = (struct number_index){0};
}
