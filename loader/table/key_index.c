/* key_index.c: see key_index.h. */
#include "loader/table/key_index.h"
#include "storage/base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A direct array is used if it has at most 4 places a row, so that it is not larger than the hash table would
 * be, or at most a quarter of a million places (1 MB, which fits a core's cache: all dates of a century). */
#define DIRECT_PLACES_PER_ROW 4u
#define DIRECT_PLACES_ALWAYS  (1u << 18)

#define NO_ROW (-1)

struct slot {
    int64_t key;
    int32_t row; /* NO_ROW: the slot is free */
};

struct key_index {
    int64_t low;     /* direct array: the row is rows[key - low] */
    uint64_t places; /* length of rows; 0: the hash table is used */
    int32_t *rows;
    struct slot *slots;
    uint64_t mask;  /* slots - 1 */
    unsigned shift; /* the slot is the hash's upper bits */
};

/* Fibonacci hashing: the upper bits of key * 2^64 / phi spread both consecutive and strided keys. */
static uint64_t slot_of(const struct key_index *index, int64_t key)
{
    return ((uint64_t)key * UINT64_C(0x9e3779b97f4a7c15)) >> index->shift;
}

static int32_t find_direct(const struct key_index *index, int64_t key)
{
    uint64_t place = (uint64_t)key - (uint64_t)index->low;
    return place < index->places ? index->rows[place] : NO_ROW;
}

static int32_t find_hashed(const struct key_index *index, int64_t key)
{
    for (uint64_t at = slot_of(index, key);; at = (at + 1) & index->mask)
        if (index->slots[at].row == NO_ROW || index->slots[at].key == key)
            return index->slots[at].row;
}

int32_t key_index_find(const struct key_index *index, int64_t key)
{
    return index->places ? find_direct(index, key) : find_hashed(index, key);
}

bool key_index_key(const struct key_index *index, int32_t row, int64_t *key)
{
    for (uint64_t place = 0; place < index->places; place++)
        if (index->rows[place] == row) {
            *key = (int64_t)((uint64_t)index->low + place);
            return true;
        }
    for (uint64_t at = 0; index->slots && at <= index->mask; at++)
        if (index->slots[at].row == row) {
            *key = index->slots[at].key;
            return true;
        }
    return false;
}

uint64_t key_index_resolve(const struct key_index *index, int32_t *keys, uint64_t count)
{
    uint64_t missing = 0;
    if (index->places)
        for (uint64_t i = 0; i < count; i++) {
            keys[i] = find_direct(index, keys[i]);
            missing += keys[i] < 0;
        }
    else
        for (uint64_t i = 0; i < count; i++) {
            keys[i] = find_hashed(index, keys[i]);
            missing += keys[i] < 0;
        }
    return missing;
}

/* Enters the key; returns the row that already has it, or NO_ROW. */
static int32_t enter(struct key_index *index, int64_t key, int32_t row)
{
    if (index->places) {
        int32_t *place = &index->rows[(uint64_t)key - (uint64_t)index->low];
        int32_t before = *place;
        if (before == NO_ROW)
            *place = row;
        return before;
    }
    uint64_t at = slot_of(index, key);
    for (; index->slots[at].row != NO_ROW; at = (at + 1) & index->mask)
        if (index->slots[at].key == key)
            return index->slots[at].row;
    index->slots[at] = (struct slot){.key = key, .row = row};
    return NO_ROW;
}

static enum status allocate(struct key_index *index, const int64_t *keys, uint64_t rows, struct error *error)
{
    int64_t low = INT64_MAX, high = INT64_MIN;
    for (uint64_t i = 0; i < rows; i++) {
        low = keys[i] < low ? keys[i] : low;
        high = keys[i] > high ? keys[i] : high;
    }
    uint64_t span = rows ? (uint64_t)high - (uint64_t)low : 0;
    if (span < DIRECT_PLACES_ALWAYS || span < DIRECT_PLACES_PER_ROW * rows) {
        index->low = low;
        index->places = span + 1;
        RETURN_IF_ERROR(
            memory_take(&index->rows, index->places * sizeof *index->rows, "an index of keys", error));
        memset(index->rows, 0xff, index->places * sizeof *index->rows);
        return STATUS_OK;
    }
    uint64_t slots = 1024;
    while (slots < 2 * rows)
        slots *= 2;
    index->mask = slots - 1;
    index->shift = (unsigned)__builtin_clzll(slots) + 1;
    RETURN_IF_ERROR(memory_take(&index->slots, slots * sizeof *index->slots, "an index of keys", error));
    for (uint64_t i = 0; i < slots; i++)
        index->slots[i].row = NO_ROW;
    return STATUS_OK;
}

static void place_of(const struct key_owner *owner, uint64_t row, char text[KEY_PLACE_BYTES])
{
    if (owner->place)
        owner->place(owner->context, row, text);
    else
        snprintf(text, KEY_PLACE_BYTES, "row %" PRIu64, row + 1);
}

enum status key_twice(const struct key_owner *owner, const char *key, uint64_t first, uint64_t second,
                      struct error *error)
{
    char here[KEY_PLACE_BYTES], there[KEY_PLACE_BYTES];
    place_of(owner, second, here);
    place_of(owner, first, there);
    return error_set(error, STATUS_BAD_INPUT,
                     "%s: table %s, column %s: the %s%s%.200s%s is that of %s already; a %s must be that of "
                     "one row, so remove or %s one of them",
                     here, owner->table, owner->column, owner->unique ? "value" : "key",
                     owner->positions ? "" : " '", owner->positions ? "" : key, owner->positions ? "" : "'",
                     there, owner->unique ? "UNIQUE value" : "primary key",
                     owner->unique ? "change" : "renumber");
}

enum status key_index_create(const int64_t *keys, const int64_t *live, uint64_t old_rows, uint64_t rows,
                             const struct key_owner *owner, struct key_index **out, struct error *error)
{
    *out = NULL;
    if (rows > INT32_MAX)
        return error_set(error, STATUS_BAD_INPUT,
                         "table %s has %" PRIu64 " rows; one that has a primary key may have %d",
                         owner->table, rows, INT32_MAX);
    struct key_index *index;
    RETURN_IF_ERROR(memory_zeros(&index, sizeof *index, "an index of keys", error));
    enum status status = allocate(index, keys, rows, error);
    for (uint64_t i = 0; i < rows && status == STATUS_OK; i++) {
        if (live && i < old_rows && !live[i])
            continue;
        const int32_t before = enter(index, keys[i], (int32_t)i);
        char key[32];
        if (before == NO_ROW)
            continue;
        snprintf(key, sizeof key, "%" PRId64, keys[i]);
        status = key_twice(owner, key, (uint64_t)before, i, error);
    }
    if (status != STATUS_OK) {
        key_index_destroy(index);
        return status;
    }
    *out = index;
    return STATUS_OK;
}

void key_index_renumber(struct key_index *index, const int32_t *numbers)
{
    for (uint64_t p = 0; p < index->places; p++)
        index->rows[p] = index->rows[p] == NO_ROW ? NO_ROW : numbers[index->rows[p]];
    for (uint64_t s = 0; index->slots && s <= index->mask; s++)
        index->slots[s].row = index->slots[s].row == NO_ROW ? NO_ROW : numbers[index->slots[s].row];
}

void key_index_destroy(struct key_index *index)
{
    if (!index)
        return;
    free(index->rows);
    free(index->slots);
    free(index);
}
