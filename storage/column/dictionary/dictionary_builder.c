/* dictionary_builder.c: see dictionary_builder.h. Strings are stored one after the other; a hash table finds their codes by
 * their xxHash. */
#include "storage/column/dictionary/dictionary_builder.h"
#include "storage/base/hash_table.h"
#include "storage/base/memory.h"
#include "storage/base/sort/sort_strings.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define NEAR 4096u /* so many strings are in the second-level cache anyway */

struct dictionary_builder {
    char *bytes;
    uint64_t bytes_used, bytes_room;
    uint64_t *starts; /* count + 1 */
    uint32_t count, room;
    struct hash_table codes;
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
    hash_table_free(&builder->codes);
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

struct sought {
    const struct dictionary_builder *builder;
    const char *string;
    uint32_t length;
};

static bool code_is(const void *context, uint32_t code)
{
    const struct sought *const sought = context;
    const uint64_t *const start = &sought->builder->starts[code];
    return start[1] - start[0] == sought->length &&
           memcmp(sought->builder->bytes + start[0], sought->string, sought->length) == 0;
}

void dictionary_builder_prefetch(const struct dictionary_builder *builder, const char *const *strings,
                                 const uint32_t *lengths, uint32_t count)
{
    uint32_t codes[DICTIONARY_PREFETCH];
    uint64_t hashes[DICTIONARY_PREFETCH];
    if (builder->count < NEAR)
        return;
    for (uint32_t i = 0; i < count; i++) {
        hashes[i] = XXH3_64bits(strings[i], lengths[i]);
        hash_table_prefetch(&builder->codes, hashes[i]);
    }
    for (uint32_t i = 0; i < count; i++)
        if ((codes[i] = hash_table_guess(&builder->codes, hashes[i])) != HASH_TABLE_NONE)
            __builtin_prefetch(&builder->starts[codes[i]]);
    for (uint32_t i = 0; i < count; i++)
        if (codes[i] != HASH_TABLE_NONE)
            __builtin_prefetch(builder->bytes + builder->starts[codes[i]]);
}

static int32_t find(const struct dictionary_builder *builder, uint64_t hash, const char *string,
                    uint32_t length)
{
    const struct sought sought = {builder, string, length};
    return (int32_t)hash_table_find(&builder->codes, hash, code_is, &sought);
}

int32_t dictionary_builder_find(const struct dictionary_builder *builder, const char *string, uint32_t length)
{
    return find(builder, XXH3_64bits(string, length), string, length);
}

static uint32_t batch(uint32_t left)
{
    return left < DICTIONARY_PREFETCH ? left : DICTIONARY_PREFETCH;
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
    *code = find(builder, hash, string, length);
    if (*code >= 0)
        return STATUS_OK;
    RETURN_IF_ERROR(reserve(builder, length, error));
    RETURN_IF_ERROR(hash_table_reserve(&builder->codes, 1, "a dictionary", error));
    RETURN_IF_ERROR(hash_table_add(&builder->codes, hash, builder->count, error));
    memcpy(builder->bytes + builder->bytes_used, string, length);
    builder->bytes_used += length;
    *code = (int32_t)builder->count;
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

/* Replaces bytes and starts by the sorted ones, and fills `sorted`. */
static void rearrange(struct dictionary_builder *builder, const struct piece *pieces, char *bytes,
                      uint64_t *starts)
{
    starts[0] = 0;
    for (uint32_t i = 0; i < builder->count; i++) {
        uint64_t start = builder->starts[pieces[i].number],
                 length = builder->starts[pieces[i].number + 1] - start;
        memcpy(bytes + starts[i], builder->bytes + start, length);
        starts[i + 1] = starts[i] + length;
        builder->sorted[pieces[i].number] = (int32_t)i;
    }
    free(builder->bytes);
    free(builder->starts);
    builder->bytes = bytes;
    builder->starts = starts;
    hash_table_renumber(&builder->codes, builder->sorted);
    builder->is_sorted = true;
}

enum status dictionary_builder_sort(struct dictionary_builder *builder, struct dictionary *dictionary,
                                    const int32_t **sorted, struct error *error)
{
    if (!builder->is_sorted) {
        const uint64_t count = builder->count;
        struct piece *pieces;
        char *bytes = NULL;
        uint64_t *starts = NULL;
        RETURN_IF_ERROR(memory_take(&pieces, (count + 1) * sizeof *pieces, "sorting a dictionary", error));
        for (uint32_t i = 0; i < count; i++) {
            pieces[i].text = dictionary_builder_string(builder, (int32_t)i, &pieces[i].length);
            pieces[i].number = i;
        }
        enum status status = pieces_sort(pieces, count, 1, error);
        status =
            AND_THEN(status, memory_take(&bytes, builder->bytes_used + 1, "sorting a dictionary", error));
        status = AND_THEN(status,
                          memory_take(&starts, (count + 1) * sizeof *starts, "sorting a dictionary", error));
        status = AND_THEN(status, memory_take(&builder->sorted, (count + 1) * sizeof *builder->sorted,
                                              "sorting a dictionary", error));
        if (status == STATUS_OK)
            rearrange(builder, pieces, bytes, starts);
        free(pieces);
        if (status != STATUS_OK) {
            free(bytes);
            free(starts);
            return status;
        }
    }
    *dictionary =
        (struct dictionary){.count = builder->count, .starts = builder->starts, .bytes = builder->bytes};
    *sorted = builder->sorted;
    return STATUS_OK;
}
