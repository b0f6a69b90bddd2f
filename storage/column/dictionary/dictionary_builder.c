/* dictionary_builder.c: see dictionary_builder.h. Strings are stored one after the other. A hash table of
 * codes with open addressing, at most half full, finds them by their xxHash, of which a slot keeps 32 bits. */
#define _GNU_SOURCE
#include "storage/column/dictionary/dictionary_builder.h"
#include "storage/base/memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define FREE_SLOT (-1)
#define NEAR      4096u /* so many strings are in the second-level cache anyway */

struct slot {
    int32_t code;
    uint32_t tag; /* the hash's high bits */
};

struct dictionary_builder {
    char *bytes;
    uint64_t bytes_used, bytes_room;
    uint64_t *starts; /* count + 1 */
    uint32_t count, room;
    struct slot *slots;
    uint64_t mask;
    bool is_sorted;
    int32_t *sorted; /* the sorted code of each early code */
};

enum status dictionary_builder_create(struct dictionary_builder **out, struct error *error)
{
    struct dictionary_builder *builder = calloc(1, sizeof *builder);
    *out = builder;
    if (!builder)
        return error_out_of_memory(error, sizeof *builder, "a dictionary");
    return STATUS_OK;
}

void dictionary_builder_destroy(struct dictionary_builder *builder)
{
    if (!builder)
        return;
    free(builder->bytes);
    free(builder->starts);
    free(builder->slots);
    free(builder->sorted);
    free(builder);
}

uint32_t dictionary_builder_count(const struct dictionary_builder *builder)
{
    return builder->count;
}

const char *dictionary_builder_string(const struct dictionary_builder *builder, int32_t code,
                                      uint32_t *length)
{
    *length = (uint32_t)(builder->starts[code + 1] - builder->starts[code]);
    return builder->bytes + builder->starts[code];
}

static bool code_is(const struct dictionary_builder *builder, int32_t code, const char *string,
                    uint32_t length)
{
    uint64_t start = builder->starts[code];
    return builder->starts[code + 1] - start == length && memcmp(builder->bytes + start, string, length) == 0;
}

/* The slot of the string, or the free slot where it belongs. */
static struct slot *slot_of(const struct dictionary_builder *builder, uint64_t hash, const char *string,
                            uint32_t length)
{
    const uint32_t tag = (uint32_t)(hash >> 32);
    uint64_t at = hash & builder->mask;
    for (struct slot *slot = &builder->slots[at]; slot->code != FREE_SLOT;
         slot = &builder->slots[at = (at + 1) & builder->mask])
        if (slot->tag == tag && code_is(builder, slot->code, string, length))
            break;
    return &builder->slots[at];
}

void dictionary_builder_prefetch(const struct dictionary_builder *builder, const char *const *strings,
                                 const uint32_t *lengths, uint32_t count)
{
    const struct slot *slots[DICTIONARY_PREFETCH];
    if (builder->count < NEAR)
        return;
    for (uint32_t i = 0; i < count; i++) {
        slots[i] = &builder->slots[XXH3_64bits(strings[i], lengths[i]) & builder->mask];
        __builtin_prefetch(slots[i]);
    }
    for (uint32_t i = 0; i < count; i++)
        if (slots[i]->code != FREE_SLOT)
            __builtin_prefetch(&builder->starts[slots[i]->code]);
    for (uint32_t i = 0; i < count; i++)
        if (slots[i]->code != FREE_SLOT)
            __builtin_prefetch(builder->bytes + builder->starts[slots[i]->code]);
}

int32_t dictionary_builder_find(const struct dictionary_builder *builder, const char *string, uint32_t length)
{
    return builder->count ? slot_of(builder, XXH3_64bits(string, length), string, length)->code : FREE_SLOT;
}

static uint32_t batch(uint32_t left)
{
    return left < DICTIONARY_PREFETCH ? left : DICTIONARY_PREFETCH;
}

/* Enters all strings into a new table of `slots` slots. */
static enum status build_slots(struct dictionary_builder *builder, uint64_t slots, struct error *error)
{
    struct slot *table;
    RETURN_IF_ERROR(memory_take(&table, slots * sizeof *table, "a dictionary", error));
    memset(table, 0xff, slots * sizeof *table);
    free(builder->slots);
    builder->slots = table;
    builder->mask = slots - 1;
    for (uint32_t first = 0; first < builder->count; first += DICTIONARY_PREFETCH) {
        uint64_t hashes[DICTIONARY_PREFETCH];
        const uint32_t count = batch(builder->count - first);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t length;
            const char *const string = dictionary_builder_string(builder, (int32_t)(first + i), &length);
            hashes[i] = XXH3_64bits(string, length);
            __builtin_prefetch(&table[hashes[i] & builder->mask], 1);
        }
        for (uint32_t i = 0; i < count; i++) {
            uint64_t at = hashes[i] & builder->mask;
            while (table[at].code != FREE_SLOT)
                at = (at + 1) & builder->mask;
            table[at] = (struct slot){(int32_t)(first + i), (uint32_t)(hashes[i] >> 32)};
        }
    }
    return STATUS_OK;
}

/* Makes room for one more string of `length` bytes. */
static enum status reserve(struct dictionary_builder *builder, uint32_t length, struct error *error)
{
    if (builder->count == INT32_MAX)
        return error_set(error, STATUS_BAD_INPUT,
                         "more than %d different strings in one column; a dictionary holds no more",
                         INT32_MAX);
    if (builder->count == builder->room) {
        uint64_t room = builder->room ? 2 * (uint64_t)builder->room : 256;
        room = room > INT32_MAX ? INT32_MAX : room;
        RETURN_IF_ERROR(
            memory_grow(&builder->starts, (room + 1) * sizeof *builder->starts, "a dictionary", error));
        builder->starts[0] = 0;
        builder->room = (uint32_t)room;
        RETURN_IF_ERROR(build_slots(builder, room < INT32_MAX ? 2 * room : UINT64_C(1) << 32, error));
    }
    if (builder->bytes_used + length > builder->bytes_room || !builder->bytes) {
        uint64_t bytes_room = 2 * builder->bytes_room + length + 4096;
        RETURN_IF_ERROR(memory_grow(&builder->bytes, bytes_room, "a dictionary's strings", error));
        builder->bytes_room = bytes_room;
    }
    return STATUS_OK;
}

enum status dictionary_builder_add(struct dictionary_builder *builder, const char *string, uint32_t length,
                                   int32_t *code, struct error *error)
{
    const uint64_t hash = XXH3_64bits(string, length);
    *code = builder->count ? slot_of(builder, hash, string, length)->code : FREE_SLOT;
    if (*code != FREE_SLOT)
        return STATUS_OK;
    RETURN_IF_ERROR(reserve(builder, length, error));
    memcpy(builder->bytes + builder->bytes_used, string, length);
    builder->bytes_used += length;
    *code = (int32_t)builder->count;
    *slot_of(builder, hash, string, length) = (struct slot){*code, (uint32_t)(hash >> 32)};
    builder->starts[++builder->count] = builder->bytes_used;
    return STATUS_OK;
}

enum status dictionary_builder_merge(struct dictionary_builder *builder,
                                     const struct dictionary_builder *from, int32_t *codes,
                                     struct error *error)
{
    for (uint32_t first = 0; first < from->count; first += DICTIONARY_PREFETCH) {
        const char *strings[DICTIONARY_PREFETCH];
        uint32_t lengths[DICTIONARY_PREFETCH];
        const uint32_t count = batch(from->count - first);
        for (uint32_t i = 0; i < count; i++)
            strings[i] = dictionary_builder_string(from, (int32_t)(first + i), &lengths[i]);
        dictionary_builder_prefetch(builder, strings, lengths, count);
        for (uint32_t i = 0; i < count; i++)
            RETURN_IF_ERROR(
                dictionary_builder_add(builder, strings[i], lengths[i], &codes[first + i], error));
    }
    return STATUS_OK;
}

/* What the sort compares: the string's first 8 bytes as one number, which nearly always decide, and its
 * code. */
struct sort_key {
    uint64_t prefix;
    uint32_t code;
};

static int compare_keys(const void *a, const void *b, void *context)
{
    const struct sort_key *x = a, *y = b;
    if (x->prefix != y->prefix)
        return x->prefix < y->prefix ? -1 : 1;
    const struct dictionary_builder *builder = context;
    uint64_t x_length = builder->starts[x->code + 1] - builder->starts[x->code];
    uint64_t y_length = builder->starts[y->code + 1] - builder->starts[y->code];
    int order = memcmp(builder->bytes + builder->starts[x->code], builder->bytes + builder->starts[y->code],
                       x_length < y_length ? x_length : y_length);
    return order ? order : (x_length > y_length) - (x_length < y_length);
}

static uint64_t prefix_of(const char *string, uint64_t length)
{
    uint64_t prefix = 0;
    for (uint64_t i = 0; i < 8; i++)
        prefix = prefix << 8 | (i < length ? (unsigned char)string[i] : 0);
    return prefix;
}

/* Replaces bytes and starts by the sorted ones, and fills `sorted`. */
static void rearrange(struct dictionary_builder *builder, const struct sort_key *keys, char *bytes,
                      uint64_t *starts)
{
    starts[0] = 0;
    for (uint32_t i = 0; i < builder->count; i++) {
        uint64_t start = builder->starts[keys[i].code], length = builder->starts[keys[i].code + 1] - start;
        memcpy(bytes + starts[i], builder->bytes + start, length);
        starts[i + 1] = starts[i] + length;
        builder->sorted[keys[i].code] = (int32_t)i;
    }
    free(builder->bytes);
    free(builder->starts);
    builder->bytes = bytes;
    builder->starts = starts;
    for (uint64_t at = 0; builder->count && at <= builder->mask; at++)
        if (builder->slots[at].code != FREE_SLOT)
            builder->slots[at].code = builder->sorted[builder->slots[at].code];
    builder->is_sorted = true;
}

enum status dictionary_builder_sort(struct dictionary_builder *builder, struct dictionary *dictionary,
                                    const int32_t **sorted, struct error *error)
{
    if (!builder->is_sorted) {
        uint64_t count = builder->count;
        struct sort_key *keys = malloc((count + 1) * sizeof *keys);
        char *bytes = malloc(builder->bytes_used + 1);
        uint64_t *starts = malloc((count + 1) * sizeof *starts);
        builder->sorted = malloc((count + 1) * sizeof *builder->sorted);
        if (!keys || !bytes || !starts || !builder->sorted) {
            free(keys);
            free(bytes);
            free(starts);
            return error_out_of_memory(error, count * (sizeof *keys + sizeof *starts) + builder->bytes_used,
                                       "sorting a dictionary");
        }
        for (uint32_t i = 0; i < count; i++) {
            uint64_t start = builder->starts[i];
            keys[i].prefix = prefix_of(builder->bytes + start, builder->starts[i + 1] - start);
            keys[i].code = i;
        }
        qsort_r(keys, count, sizeof *keys, compare_keys, builder);
        rearrange(builder, keys, bytes, starts);
        free(keys);
    }
    *dictionary =
        (struct dictionary){.count = builder->count, .starts = builder->starts, .bytes = builder->bytes};
    *sorted = builder->sorted;
    return STATUS_OK;
}
