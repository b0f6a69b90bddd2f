/* dictionary_builder.c: see dictionary_builder.h. Strings are stored one after the other. A hash table of
 * codes with open addressing, at most half full, finds them by their xxHash. */
#define _GNU_SOURCE
#include "loader/table/dictionary_builder.h"
#include "storage/base/memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define FREE_SLOT (-1)

struct dictionary_builder {
    char *bytes;
    uint64_t bytes_used, bytes_room;
    uint64_t *starts; /* count + 1 */
    uint32_t count, room;
    int32_t *slots; /* codes */
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
static uint64_t slot_of(const struct dictionary_builder *builder, const char *string, uint32_t length)
{
    uint64_t at = XXH3_64bits(string, length) & builder->mask;
    while (builder->slots[at] != FREE_SLOT && !code_is(builder, builder->slots[at], string, length))
        at = (at + 1) & builder->mask;
    return at;
}

int32_t dictionary_builder_find(const struct dictionary_builder *builder, const char *string, uint32_t length)
{
    return builder->count ? builder->slots[slot_of(builder, string, length)] : FREE_SLOT;
}

/* Enters all strings into a new table of `slots` slots. */
static enum status build_slots(struct dictionary_builder *builder, uint64_t slots, struct error *error)
{
    int32_t *table;
    RETURN_IF_ERROR(memory_take(&table, slots * sizeof *table, "a dictionary", error));
    memset(table, 0xff, slots * sizeof *table);
    free(builder->slots);
    builder->slots = table;
    builder->mask = slots - 1;
    for (uint32_t code = 0; code < builder->count; code++) {
        const char *string = builder->bytes + builder->starts[code];
        uint32_t length = (uint32_t)(builder->starts[code + 1] - builder->starts[code]);
        table[slot_of(builder, string, length)] = (int32_t)code;
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
    *code = dictionary_builder_find(builder, string, length);
    if (*code != FREE_SLOT)
        return STATUS_OK;
    RETURN_IF_ERROR(reserve(builder, length, error));
    memcpy(builder->bytes + builder->bytes_used, string, length);
    builder->bytes_used += length;
    *code = (int32_t)builder->count;
    builder->slots[slot_of(builder, string, length)] = *code;
    builder->starts[++builder->count] = builder->bytes_used;
    return STATUS_OK;
}

enum status dictionary_builder_merge(struct dictionary_builder *builder,
                                     const struct dictionary_builder *from, int32_t *codes,
                                     struct error *error)
{
    for (uint32_t code = 0; code < from->count; code++) {
        uint64_t start = from->starts[code];
        RETURN_IF_ERROR(dictionary_builder_add(
            builder, from->bytes + start, (uint32_t)(from->starts[code + 1] - start), &codes[code], error));
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
        if (builder->slots[at] != FREE_SLOT)
            builder->slots[at] = builder->sorted[builder->slots[at]];
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
