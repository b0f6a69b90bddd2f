/* group_stream.c: see group_stream.h. A vector takes about 2 ns a row, a third of what a table that fits the cache
 * takes. */
#include "engine/cpu/stream/group_stream.h"

#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_LEAST     (UINT64_C(1) << 14)
#define BLOCK_MOST      (UINT64_C(1) << 23)
#define STRETCHES_LEAST 64u

/* ---- Runs ---- */

void group_runs_find(uint32_t count, const uint64_t (*numbers)[VECTOR_ROWS], uint32_t words,
                     struct group_runs *runs)
{
    uint8_t begins[VECTOR_ROWS];
    uint32_t found = 1;
    for (uint32_t i = 1; i < count; i++)
        begins[i] = numbers[0][i] != numbers[0][i - 1];
    for (uint32_t word = 1; word < words; word++)
        for (uint32_t i = 1; i < count; i++)
            begins[i] |= numbers[word][i] != numbers[word][i - 1];
    runs->first[0] = runs->run_of[0] = 0;
    for (uint32_t i = 1; i < count; i++) { /* a place that is not the next run's is written again */
        runs->first[found] = (uint16_t)i;
        found += begins[i];
        runs->run_of[i] = (uint16_t)(found - 1);
    }
    runs->count = found;
}

/* ---- Complete groups ---- */

static enum status add_block(struct group_stream *stream, struct error *error)
{
    const uint32_t stride = stream->layout->stride;
    RETURN_IF_ERROR(group_blocks_add(&stream->blocks, BLOCK_LEAST, BLOCK_MOST, error));
    struct group_block *const block = stream->blocks.newest;
    const uint64_t room = (block->bytes - block->used) / sizeof(uint64_t);
    stream->next = block->words;
    stream->end = block->words + room / stride * stride;
    stream->cut = true;
    return STATUS_OK;
}

static enum status begin_stretch(struct group_stream *stream, struct error *error)
{
    if (stream->stretch_count == stream->stretch_room) {
        const uint64_t room = stream->stretch_room ? 2 * stream->stretch_room : STRETCHES_LEAST;
        RETURN_IF_ERROR(memory_grow(&stream->stretches, room * sizeof *stream->stretches, "groups", error));
        stream->stretch_room = room;
    }
    stream->stretches[stream->stretch_count++] = (struct stream_stretch){.entries = stream->next};
    stream->cut = false;
    return STATUS_OK;
}

static enum status keep(struct group_stream *stream, const uint64_t *entries, uint64_t count,
                        struct error *error)
{
    const uint32_t stride = stream->layout->stride;
    stream->ended += count;
    while (count) {
        if (stream->next == stream->end)
            RETURN_IF_ERROR(add_block(stream, error));
        if (stream->cut)
            RETURN_IF_ERROR(begin_stretch(stream, error));
        const uint64_t room = (uint64_t)(stream->end - stream->next) / stride,
                       here = count < room ? count : room;
        memcpy(stream->next, entries, here * stride * sizeof *entries);
        stream->stretches[stream->stretch_count - 1].count += here;
        stream->next += here * stride;
        entries += here * stride;
        count -= here;
    }
    return STATUS_OK;
}

/* ---- The stream ---- */

enum status group_stream_open(struct group_stream *stream, const struct group_layout *layout,
                              struct error *error)
{
    *stream = (struct group_stream){.layout = layout};
    return memory_take(&stream->entries,
                       (VECTOR_ROWS + UINT64_C(1)) * layout->stride * sizeof *stream->entries, "groups",
                       error);
}

void group_stream_clear(struct group_stream *stream)
{
    group_blocks_free(&stream->blocks);
    stream->next = stream->end = NULL;
    stream->stretch_count = stream->ended = 0;
    stream->open = false;
}

void group_stream_free(struct group_stream *stream)
{
    group_stream_clear(stream);
    free(stream->stretches);
    free(stream->entries);
    *stream = (struct group_stream){0};
}

static bool ascends(const int32_t *keys, uint32_t count)
{
    int32_t descends = 0;
    for (uint32_t i = 1; i < count; i++)
        descends |= keys[i] < keys[i - 1];
    return !descends;
}

enum status group_stream_end(struct group_stream *stream, struct group_hash *hash, struct error *error)
{
    if (!stream->open)
        return STATUS_OK;
    stream->open = false;
    stream->cut = true;
    return group_hash_put(hash, 1, stream->entries, error);
}

static bool is_open_group(const struct group_stream *stream, const uint64_t (*numbers)[VECTOR_ROWS])
{
    bool same = stream->open;
    for (uint32_t word = 0; same && word < stream->layout->words; word++)
        same = stream->entries[word] == numbers[word][0];
    return same;
}

enum status group_stream_find(struct group_stream *stream, struct group_hash *hash, uint32_t count,
                              const uint64_t (*numbers)[VECTOR_ROWS], const int32_t *keys,
                              struct group_runs *runs, uint64_t *index, bool *taken, struct error *error)
{
    const struct group_layout *const layout = stream->layout;
    const uint32_t stride = layout->stride, words = layout->words;
    *taken = ascends(keys, count);
    if (!*taken || (stream->open && keys[0] < stream->key))
        RETURN_IF_ERROR(group_stream_end(stream, hash, error));
    if (!*taken)
        return STATUS_OK;
    const bool goes_on = is_open_group(stream, numbers);
    const uint32_t before = stream->before = stream->open && !goes_on;
    group_runs_find(count, numbers, words, runs);
    for (uint32_t run = goes_on; run < runs->count; run++) {
        uint64_t *const entry = stream->entries + (run + before) * (uint64_t)stride;
        for (uint32_t word = 0; word < words; word++)
            entry[word] = numbers[word][runs->first[run]];
        group_layout_clear(layout, entry, words, stride);
    }
    for (uint32_t i = 0; i < count; i++)
        index[i] = (runs->run_of[i] + before) * (uint64_t)stride;
    if (!stream->open) { /* the first group has no key before it that is known */
        stream->alone = false;
        stream->key = keys[0];
    }
    stream->open = true;
    return STATUS_OK;
}

/* Puts groups away, which are entries begin .. end - 1. */
static enum status put(struct group_stream *stream, struct group_hash *hash, uint32_t begin, uint32_t end,
                       bool complete, struct error *error)
{
    const uint64_t *const entries = stream->entries + begin * (uint64_t)stream->layout->stride;
    if (begin == end)
        return STATUS_OK;
    if (!complete)
        return group_hash_put(hash, end - begin, entries, error);
    if (stream->delivery)
        return group_delivery_add(stream->delivery, stream->layout, entries, end - begin, error);
    return keep(stream, entries, end - begin, error);
}

enum status group_stream_added(struct group_stream *stream, struct group_hash *hash,
                               const struct group_runs *runs, const int32_t *keys, struct error *error)
{
    const uint64_t stride = stream->layout->stride;
    const uint32_t last = stream->before + runs->count - 1;
    uint32_t begin = 0;
    bool complete = true; /* entries begin .. entry - 1 are */
    for (uint32_t entry = 0; entry < last; entry++) {
        const int32_t next = keys[runs->first[entry + 1 - stream->before]];
        const bool greater = stream->key < next;
        if ((stream->alone && greater) != complete) {
            RETURN_IF_ERROR(put(stream, hash, begin, entry, complete, error));
            begin = entry;
            complete = !complete;
        }
        stream->alone = greater;
        stream->key = next;
    }
    RETURN_IF_ERROR(put(stream, hash, begin, last, complete, error));
    memmove(stream->entries, stream->entries + last * stride, stride * sizeof *stream->entries);
    return STATUS_OK;
}
