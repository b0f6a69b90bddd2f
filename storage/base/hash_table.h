/*
 * hash_table.h: the hash table of the host: it finds the number of a thing (a row, a string, a group, a node).
 *
 * The things themselves belong to the caller, who says whether a number is that of the thing in question. Open addressing,
 * at most half full, 16 to 32 bytes a thing. A slot keeps half of the hash, so that nearly no other thing is looked at, and a
 * table grows without the things. Finding is inlined with the caller's comparison; it takes 3 ns and a cache miss. Keys that
 * are words are kept by struct hash_words.
 *
 * A zero-initialised table is empty and on the heap; hash_table_free empties it. With `memory` it asks the account of the
 * statement (execution/spillable.h), which may refuse: STATUS_MACHINE, and the table is as it was.
 */
#ifndef TESSERA_STORAGE_BASE_HASH_TABLE_H
#define TESSERA_STORAGE_BASE_HASH_TABLE_H

#include "storage/base/hash.h"
#include "storage/base/status.h"

#include <stdbool.h>
#include <stddef.h>

enum hash_table_memory {
    HASH_TABLE_HEAP,
    HASH_TABLE_WORK, /* spillable_work: what an operator works with */
    HASH_TABLE_ROWS  /* spillable_rows: in a file, if the account refuses */
};

struct hash_table {
    uint64_t count, capacity; /* the capacity is a power of two, or 0 */
    uint64_t *slots;          /* the high 32 bits of the hash, then the number; HASH_TABLE_FREE */
    enum hash_table_memory memory;
};

#define HASH_TABLE_NONE UINT32_MAX
#define HASH_TABLE_FREE UINT64_MAX
#define HASH_TABLE_MOST \
    (UINT64_C(1) << 31) /* things: their places are halves of hashes, and every second one is free */

/* True if the number is that of the thing in question, which `context` says. */
typedef bool hash_table_same(const void *context, uint32_t number);

/* Makes room for `more` things. `what` is part of an error's sentence: "a table of rows". */
NODISCARD enum status hash_table_reserve(struct hash_table *table, uint64_t more, const char *what,
                                         struct error *error);

/* Adds a number, less than HASH_TABLE_NONE; several numbers may have the same hash. */
NODISCARD enum status hash_table_add(struct hash_table *table, uint64_t hash, uint32_t number,
                                     struct error *error);

/* Number n becomes numbers[n]. */
void hash_table_renumber(struct hash_table *table, const int32_t *numbers);

void hash_table_clear(struct hash_table *table); /* keeps its memory */
void hash_table_free(struct hash_table *table);

/* ---- Finding ---- */

static inline uint64_t hash_table_place(const struct hash_table *table, uint64_t hash)
{
    return hash >> 32 & (table->capacity - 1);
}

/* The number that is probably the thing's, so that its memory can be prefetched; or HASH_TABLE_NONE. */
static inline uint32_t hash_table_guess(const struct hash_table *table, uint64_t hash)
{
    return (uint32_t)table->slots[hash_table_place(table, hash)];
}

static inline void hash_table_prefetch(const struct hash_table *table, uint64_t hash)
{
    __builtin_prefetch(&table->slots[hash_table_place(table, hash)]);
}

/* The slot of the thing, or the free one where it belongs, of a table that is not empty. */
static inline __attribute__((always_inline)) uint64_t *
hash_table_slot(const struct hash_table *table, uint64_t hash, hash_table_same *same, const void *context)
{
    uint64_t at = hash_table_place(table, hash);
    while (table->slots[at] != HASH_TABLE_FREE &&
           !(table->slots[at] >> 32 == hash >> 32 && same(context, (uint32_t)table->slots[at])))
        at = (at + 1) & (table->capacity - 1);
    return &table->slots[at];
}

/* The number that was added with this hash and for which `same` is true, or HASH_TABLE_NONE. */
static inline __attribute__((always_inline)) uint32_t
hash_table_find(const struct hash_table *table, uint64_t hash, hash_table_same *same, const void *context)
{
    return table->count ? (uint32_t)*hash_table_slot(table, hash, same, context) : HASH_TABLE_NONE;
}

/* The same, but adds `number` if there is none. There must be room. */
static inline __attribute__((always_inline)) uint32_t hash_table_put(struct hash_table *table, uint64_t hash,
                                                                     uint32_t number, hash_table_same *same,
                                                                     const void *context)
{
    uint64_t *const slot = hash_table_slot(table, hash, same, context);
    const uint32_t found = (uint32_t)*slot;
    if (*slot != HASH_TABLE_FREE)
        return found;
    *slot = hash >> 32 << 32 | number;
    table->count++;
    return HASH_TABLE_NONE;
}

/* ---- Words ---- */

/* Different words, numbered in the order in which they were added: word n is words[n]. Valid if zero-initialised. */
struct hash_words {
    struct hash_table table;
    uint64_t *words;
    uint64_t room;
};

struct hash_words_sought {
    const uint64_t *words;
    uint64_t word;
};

static inline bool hash_words_same(const void *context, uint32_t number)
{
    const struct hash_words_sought *const sought = context;
    return sought->words[number] == sought->word;
}

/* The word's number, or HASH_TABLE_NONE. */
static inline uint32_t hash_words_find(const struct hash_words *set, uint64_t word)
{
    const struct hash_words_sought sought = {set->words, word};
    return hash_table_find(&set->table, hash_mix(word), hash_words_same, &sought);
}

/* Adds a word, unless the set has it. */
NODISCARD enum status hash_words_add(struct hash_words *set, uint64_t word, struct error *error);
void hash_words_free(struct hash_words *set);

#endif
