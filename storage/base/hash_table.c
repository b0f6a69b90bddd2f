/* hash_table.c: see hash_table.h. */
#include "storage/base/hash_table.h"

#include "storage/base/execution/spillable.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_SLOTS 64u

static enum status take(enum hash_table_memory memory, uint64_t **slots, uint64_t bytes, const char *what,
                        struct error *error)
{
    switch (memory) {
    case HASH_TABLE_WORK:
        return spillable_work(slots, bytes, what, error);
    case HASH_TABLE_ROWS:
        return spillable_rows(slots, bytes, what, error);
    case HASH_TABLE_HEAP:
        break;
    }
    return memory_take(slots, bytes, what, error);
}

static void drop(const struct hash_table *table)
{
    if (table->memory == HASH_TABLE_HEAP)
        free(table->slots);
    else
        spillable_free(table->slots);
}

static void insert(struct hash_table *table, uint64_t entry)
{
    uint64_t at = hash_table_place(table, entry);
    while (table->slots[at] != HASH_TABLE_FREE)
        at = (at + 1) & (table->capacity - 1);
    table->slots[at] = entry;
}

enum status hash_table_reserve(struct hash_table *table, uint64_t more, const char *what, struct error *error)
{
    const struct hash_table old = *table;
    uint64_t capacity = old.capacity ? old.capacity : LEAST_SLOTS;
    while (capacity / 2 < old.count + more && capacity <= 2 * HASH_TABLE_MOST)
        capacity *= 2;
    if (capacity == old.capacity)
        return STATUS_OK;
    if (capacity > 2 * HASH_TABLE_MOST)
        return error_set(error, STATUS_MACHINE, "%s has more than %llu entries, too many for one table", what,
                         (unsigned long long)HASH_TABLE_MOST);
    uint64_t *slots;
    RETURN_IF_ERROR(take(old.memory, &slots, capacity * sizeof *slots, what, error));
    table->slots = slots;
    table->capacity = capacity;
    memset(table->slots, 0xff, capacity * sizeof *table->slots);
    for (uint64_t at = 0; at < old.capacity; at++)
        if (old.slots[at] != HASH_TABLE_FREE)
            insert(table, old.slots[at]);
    drop(&old);
    return STATUS_OK;
}

enum status hash_table_add(struct hash_table *table, uint64_t hash, uint32_t number, struct error *error)
{
    RETURN_IF_ERROR(hash_table_reserve(table, 1, "an index", error));
    insert(table, hash >> 32 << 32 | number);
    table->count++;
    return STATUS_OK;
}

void hash_table_renumber(struct hash_table *table, const int32_t *numbers)
{
    for (uint64_t at = 0; at < table->capacity; at++)
        if (table->slots[at] != HASH_TABLE_FREE)
            table->slots[at] = table->slots[at] >> 32 << 32 | (uint32_t)numbers[(uint32_t)table->slots[at]];
}

void hash_table_clear(struct hash_table *table)
{
    if (table->count)
        memset(table->slots, 0xff, table->capacity * sizeof *table->slots);
    table->count = 0;
}

void hash_table_free(struct hash_table *table)
{
    drop(table);
    *table = (struct hash_table){.memory = table->memory};
}

/* ---- Words ---- */

enum status hash_words_add(struct hash_words *set, uint64_t word, struct error *error)
{
    const uint64_t count = set->table.count;
    RETURN_IF_ERROR(hash_table_reserve(&set->table, 1, "values", error));
    if (count == set->room) {
        RETURN_IF_ERROR(memory_grow(&set->words, (2 * count + 64) * sizeof *set->words, "values", error));
        set->room = 2 * count + 64;
    }
    set->words[count] = word; /* the next one, if it is new */
    const struct hash_words_sought sought = {set->words, word};
    (void)hash_table_put(&set->table, hash_mix(word), (uint32_t)count, hash_words_same, &sought);
    return STATUS_OK;
}

void hash_words_free(struct hash_words *set)
{
    hash_table_free(&set->table);
    free(set->words);
    *set = (struct hash_words){0};
}
