/*
 * chunks.c: encoded chunks of columns in a GPU's memory (columns.h).
 *
 * A column's kept chunks are one allocation, and it is made anew when more of them are kept. What does not fit the budget
 * stays in the host's memory. Kept chunks give way only to a column that saved more in the runs before this one: so
 * statements that take turns do not upload each other's columns again and again, and a statement that is repeated has
 * its columns kept from its third run on.
 */
#include "engine/gpu/memory/columns_internal.h"

#include "engine/gpu/kernel_decoder.h"
#include "storage/base/file_map.h"
#include "storage/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is left free for the driver's own needs: kernels, local memory, printf. */
#define RESERVE_BYTES (UINT64_C(512) << 20)

/* What is left of a score after a run. */
#define SCORE_DECAY 0.7

static uint64_t validity_bytes(const struct segment_data *segment)
{
    return segment->validity ? (uint64_t)segment->chunk.tiles * TILE_LANES * sizeof(uint32_t) : 0;
}

uint64_t cuda_chunk_bytes(const struct segment_data *segment)
{
    return piece_bytes(segment->chunk.size) + (segment->validity ? piece_bytes(validity_bytes(segment)) : 0);
}

uint32_t cuda_chunk_pieces(const struct segment_data *segment, struct cuda_piece pieces[2])
{
    pieces[0] = (struct cuda_piece){.from = segment->chunk.bytes, .bytes = segment->chunk.size};
    pieces[1] = (struct cuda_piece){.from = segment->validity,
                                    .bytes = validity_bytes(segment),
                                    .offset = piece_bytes(segment->chunk.size)};
    return segment->validity ? 2 : 1;
}

struct bound_chunk cuda_chunk_bind(const struct segment_data *segment, cuda_address chunk,
                                   cuda_address validity)
{
    const struct chunk_view *view = &segment->chunk;
    return (struct bound_chunk){.directory = chunk + (uint64_t)(view->directory - view->bytes),
                                .data = chunk + (uint64_t)(view->data - view->bytes),
                                .auxiliary = chunk + (uint64_t)(view->auxiliary - view->bytes),
                                .validity = segment->validity ? validity : 0,
                                .detail = kernel_decoder_detail(view)};
}

uint64_t cuda_wish_bytes(const struct cuda_wish *wish, uint32_t segment)
{
    return wish->cut_bytes ? wish->cut_bytes[segment] : cuda_chunk_bytes(&wish->data->segments[segment]);
}

static enum status upload_chunk(struct cuda *cuda, const struct segment_data *segment, cuda_address to,
                                struct error *error)
{
    struct cuda_piece pieces[2];
    const uint32_t count = cuda_chunk_pieces(segment, pieces);
    for (uint32_t p = 0; p < count; p++)
        RETURN_IF_ERROR(cuda_upload(cuda, to + pieces[p].offset, pieces[p].from, pieces[p].bytes, error));
    return STATUS_OK;
}

static enum status upload_wish(struct cuda *cuda, const struct cuda_wish *wish, uint32_t segment,
                               cuda_address to, struct error *error)
{
    const struct segment_data *data = &wish->data->segments[segment];
    struct cuda_piece *pieces;
    uint32_t count;
    if (!wish->ranges)
        return upload_chunk(cuda, data, to, error);
    RETURN_IF_ERROR(cuda_cut_pieces(data, wish->ranges, segment, &pieces, &count, error));
    const enum status status = cuda_upload_pieces(cuda, to, pieces, count, NULL, error);
    free(pieces);
    return status;
}

/* ---- Memory of the caller's ---- */

uint64_t cuda_chunks_bytes(const struct column_data *data)
{
    uint64_t bytes = piece_bytes(data->segment_count * sizeof(struct bound_chunk));
    for (uint32_t s = 0; s < data->segment_count; s++)
        bytes += cuda_chunk_bytes(&data->segments[s]);
    return bytes;
}

enum status cuda_chunks_upload(struct cuda *cuda, const struct column_data *data, cuda_address address,
                               struct error *error)
{
    const uint64_t list_bytes = data->segment_count * sizeof(struct bound_chunk);
    struct bound_chunk *chunks;
    RETURN_IF_ERROR(memory_zeros(&chunks, list_bytes + 1, "a list of chunks", error));
    cuda_address next = address + piece_bytes(list_bytes);
    enum status status = STATUS_OK;
    for (uint32_t s = 0; status == STATUS_OK && s < data->segment_count; s++) {
        const struct segment_data *segment = &data->segments[s];
        chunks[s] = cuda_chunk_bind(segment, next, next + piece_bytes(segment->chunk.size));
        status = upload_chunk(cuda, segment, next, error);
        next += cuda_chunk_bytes(segment);
    }
    status = AND_THEN(status, cuda_upload(cuda, address, chunks, list_bytes, error));
    free(chunks);
    return status;
}

/* ---- Chunks that are kept ---- */

uint64_t cuda_columns_epoch(const struct cuda_columns *columns)
{
    return columns->epoch;
}

/* The column's entry of cuts with these ranges; NULL: there is none. */
static struct entry *find_cuts(struct cuda_columns *columns, const struct column_data *data,
                               const struct cuda_ranges *ranges)
{
    for (struct entry *entry = columns->entries; entry; entry = entry->next)
        if (entry->ranges && entry->key == data->column && entry->codec == data->codec->id &&
            cuda_ranges_equal(entry->ranges, entry->range_count, ranges->list, ranges->count))
            return entry;
    return NULL;
}

static enum status add_entry(struct cuda_columns *columns, const struct column_data *data,
                             const struct cuda_ranges *ranges, struct entry **entry, struct error *error)
{
    uint64_t *segments;
    struct cuda_range *list = NULL;
    RETURN_IF_ERROR(
        memory_take(&segments, (data->segment_count + 1ull) * sizeof *segments, "a list of chunks", error));
    enum status status =
        ranges ? memory_take(&list, ranges->count * sizeof *list, "a list of chunks", error) : STATUS_OK;
    status =
        AND_THEN(status, columns_add(columns, data->column, data->codec->id, ENTRY_CHUNKS, 0, entry, error));
    if (status != STATUS_OK) {
        free(segments);
        free(list);
        return status;
    }
    if (ranges)
        memcpy(list, ranges->list, ranges->count * sizeof *list);
    (*entry)->ranges = list;
    (*entry)->range_count = ranges ? ranges->count : 0;
    (*entry)->column.count = data->segment_count;
    (*entry)->column.segments = (*entry)->segments = segments;
    for (uint32_t s = 0; s < data->segment_count; s++)
        segments[s] = CHUNK_ELSEWHERE;
    return STATUS_OK;
}

/* Finds or makes an entry, which at first keeps nothing. */
static enum status open_entry(struct cuda_columns *columns, const struct column_data *data,
                              const struct cuda_ranges *ranges, const struct cuda_column **column,
                              struct error *error)
{
    struct entry *entry = ranges ? find_cuts(columns, data, ranges)
                                 : columns_find(columns, data->column, data->codec->id, ENTRY_CHUNKS);
    if (!entry)
        RETURN_IF_ERROR(add_entry(columns, data, ranges, &entry, error));
    entry->wishes++;
    *column = &entry->column;
    return STATUS_OK;
}

static struct entry *entry_of(const struct cuda_column *column)
{
    return (struct entry *)(uintptr_t)column;
}

static void close_entry(struct cuda_columns *columns, const struct cuda_column *column)
{
    struct entry *entry = entry_of(column);
    if (entry && --entry->wishes == 0 && entry->ranges && !entry->memory)
        columns_drop(columns, entry);
}

static enum status open_whole(struct cuda_columns *columns, struct cuda_wish *wish,
                              const struct device_share *share, struct error *error)
{
    uint64_t bytes = 0;
    RETURN_IF_ERROR(open_entry(columns, wish->data, NULL, &wish->whole, error));
    wish->column = wish->whole;
    for (uint32_t i = 0; i < share->count; i++)
        bytes += cuda_chunk_bytes(&wish->data->segments[share->segments[i]]);
    struct entry *const entry = entry_of(wish->whole);
    entry->whole_bytes = entry->whole_bytes < bytes ? bytes : entry->whole_bytes;
    return STATUS_OK;
}

enum status cuda_columns_open(struct cuda_columns *columns, struct cuda_wish *wishes, uint32_t count,
                              const struct device_share *share, struct error *error)
{
    enum status status = STATUS_OK;
    cuda_columns_lock(columns);
    for (uint32_t w = 0; w < count; w++)
        status = AND_THEN(status, open_whole(columns, &wishes[w], share, error));
    cuda_columns_unlock(columns);
    return status;
}

void cuda_columns_close(struct cuda_columns *columns, struct cuda_wish *wishes, uint32_t count)
{
    cuda_columns_lock(columns);
    for (uint32_t w = 0; w < count; w++) {
        struct cuda_wish *wish = &wishes[w];
        if (wish->column != wish->whole)
            close_entry(columns, wish->column);
        close_entry(columns, wish->whole);
        free(wish->cut_bytes);
        *wish = (struct cuda_wish){0};
    }
    cuda_columns_unlock(columns);
}

bool cuda_columns_are_many(struct cuda_columns *columns)
{
    const uint64_t memory = cuda_properties(columns->cuda)->memory_bytes,
                   most = memory > RESERVE_BYTES ? memory - RESERVE_BYTES : 0;
    uint64_t bytes = 0;
    cuda_columns_lock(columns);
    for (struct entry *entry = columns->entries; entry; entry = entry->next)
        bytes += entry->whole_bytes;
    cuda_columns_unlock(columns);
    return bytes > most || bytes > columns->budget;
}

static enum status cut(struct cuda_columns *columns, struct cuda_wish *wish, const struct cuda_ranges *ranges,
                       struct error *error)
{
    const struct column_data *data = wish->data;
    if (!cuda_cut_can(data))
        return STATUS_OK;
    RETURN_IF_ERROR(memory_take(&wish->cut_bytes, (data->segment_count + 1ull) * sizeof *wish->cut_bytes,
                                "a list of chunks", error));
    wish->ranges = ranges;
    for (uint32_t s = 0; s < data->segment_count; s++)
        wish->cut_bytes[s] = cuda_cut_bytes(&data->segments[s], ranges, s);
    return open_entry(columns, data, ranges, &wish->column, error);
}

enum status cuda_columns_cut(struct cuda_columns *columns, struct cuda_wish *wishes, uint32_t count,
                             const struct cuda_ranges *ranges, struct error *error)
{
    enum status status = STATUS_OK;
    cuda_columns_lock(columns);
    for (uint32_t w = 0; w < count; w++)
        status = AND_THEN(status, cut(columns, &wishes[w], ranges, error));
    cuda_columns_unlock(columns);
    return status;
}

void cuda_columns_use(struct cuda_columns *columns, const struct cuda_wish *wishes, uint32_t count)
{
    for (struct entry *entry = columns->entries; entry; entry = entry->next) {
        entry->running = false;
        entry->score *= SCORE_DECAY;
    }
    for (uint32_t w = 0; w < count; w++) {
        struct entry *entry = entry_of(wishes[w].column);
        entry->running = true;
        entry->score += wishes[w].saves;
    }
}

void cuda_columns_hold(struct cuda_columns *columns, const struct cuda_wish *wishes, uint32_t count)
{
    cuda_columns_lock(columns);
    for (uint32_t w = 0; w < count; w++)
        entry_of(wishes[w].column)->holders++;
    cuda_columns_unlock(columns);
}

void cuda_columns_let_go(struct cuda_columns *columns, const struct cuda_wish *wishes, uint32_t count)
{
    cuda_columns_lock(columns);
    for (uint32_t w = 0; w < count; w++)
        entry_of(wishes[w].column)->holders--;
    columns->ended++;
    cuda_columns_unlock(columns);
}

/* What the column saved in earlier runs. */
static double saved(const struct cuda_wish *wish)
{
    return entry_of(wish->column)->score - wish->saves;
}

/* The bytes of the memory that a column needs with the segments that it has and those of `share`; 0: it has them all. */
static uint64_t bytes_with(const struct cuda_wish *wish, const struct device_share *share)
{
    const struct column_data *data = wish->data;
    uint64_t bytes = 0;
    bool more = false;
    uint32_t next = 0;
    for (uint32_t s = 0; s < data->segment_count; s++) {
        while (next < share->count && share->segments[next] < s)
            next++;
        const bool wished = next < share->count && share->segments[next] == s,
                   kept = wish->column->segments[s] != CHUNK_ELSEWHERE;
        more |= wished && !kept;
        bytes += wished || kept ? cuda_wish_bytes(wish, s) : 0;
    }
    return more ? bytes : 0;
}

/* The bytes that more chunks may take. */
static enum status find_room(struct cuda_columns *columns, uint64_t *room, struct error *error)
{
    uint64_t unused, total;
    RETURN_IF_ERROR(cuda_memory(columns->cuda, &unused, &total, error));
    *room = unused > RESERVE_BYTES ? unused - RESERVE_BYTES : 0;
    const uint64_t used = cuda_memory_used(columns->cuda),
                   left = columns->budget > used ? columns->budget - used : 0;
    *room = left < *room ? left : *room;
    return STATUS_OK;
}

/* Makes room for `bytes` by what saves less than `most` and is not in use; says what there is. If that would not be
 * enough, nothing goes. */
static enum status make_room(struct cuda_columns *columns, uint64_t bytes, double most, uint64_t *room,
                             struct error *error)
{
    uint64_t could = 0;
    RETURN_IF_ERROR(find_room(columns, room, error));
    while (*room < bytes && columns_evict_tenant(columns))
        RETURN_IF_ERROR(find_room(columns, room, error));
    for (struct entry *entry = columns->entries; entry; entry = entry->next)
        if (entry_is_idle(entry) && !entry->running && entry->score < most)
            could += entry->column.bytes;
    for (struct entry *least;
         *room < bytes && *room + could >= bytes && (least = columns_least(columns, most)) != NULL;) {
        could -= least->column.bytes;
        columns_drop(columns, least);
        RETURN_IF_ERROR(find_room(columns, room, error));
    }
    return STATUS_OK;
}

/* Puts chunks one behind the other to `memory`: those that are at `old` already, or 0, are copied from there. */
static enum status place_chunks(struct cuda_columns *columns, const struct cuda_wish *wish,
                                const bool *wished, cuda_address old, struct error *error)
{
    struct entry *entry = entry_of(wish->column);
    uint64_t offset = 0;
    for (uint32_t s = 0; s < wish->data->segment_count; s++) {
        const uint64_t bytes = wished[s] ? cuda_wish_bytes(wish, s) : 0;
        if (bytes && old && entry->segments[s] != CHUNK_ELSEWHERE)
            RETURN_IF_ERROR(cuda_copy_on_device(columns->cuda, entry->memory + offset,
                                                old + entry->segments[s], bytes, error));
        else if (bytes)
            RETURN_IF_ERROR(upload_wish(columns->cuda, wish, s, entry->memory + offset, error));
        entry->segments[s] = bytes ? offset : CHUNK_ELSEWHERE;
        offset += bytes;
    }
    return old ? cuda_synchronize(columns->cuda, error) : STATUS_OK;
}

/* Keeps the chunks of `share` beside those that are kept; `bytes` is their sum. If the GPU has no room after all, none
 * of the column are. What other runs hold stays as it is. */
static enum status extend(struct cuda_columns *columns, const struct cuda_wish *wish,
                          const struct device_share *share, uint64_t bytes, struct error *error)
{
    struct entry *entry = entry_of(wish->column);
    const struct column_data *data = wish->data;
    bool *wished;
    if (entry->holders)
        return STATUS_OK;
    RETURN_IF_ERROR(memory_zeros(&wished, data->segment_count + 1ull, "a list of chunks", error));
    for (uint32_t s = 0; s < data->segment_count; s++)
        wished[s] = entry->segments[s] != CHUNK_ELSEWHERE;
    for (uint32_t i = 0; i < share->count; i++)
        wished[share->segments[i]] = true;
    const uint64_t used = cuda_memory_used(columns->cuda);
    const bool both = used <= columns->budget && bytes <= columns->budget - used;
    cuda_address old = entry->memory, memory = 0;
    enum status status = STATUS_OK;
    if (old && (!both ||
                cuda_allocate(columns->cuda, bytes, data->column->schema.name, &memory, NULL) != STATUS_OK)) {
        columns_drop(columns, entry);
        old = 0;
    }
    if (memory ||
        cuda_allocate(columns->cuda, bytes, data->column->schema.name, &memory, NULL) == STATUS_OK) {
        entry->memory = entry->column.address = memory;
        entry->column.bytes = bytes;
        columns->epoch++;
        status = place_chunks(columns, wish, wished, old, error);
        cuda_free(columns->cuda, old);
        if (status != STATUS_OK)
            columns_drop(columns, entry);
    }
    free(wished);
    return status;
}

/* Keeps as many of the segments, from the first on, as there is room for. */
static enum status extend_in_part(struct cuda_columns *columns, const struct cuda_wish *wish,
                                  const struct device_share *needed, uint64_t room, struct error *error)
{
    struct device_share part = {.segments = needed->segments};
    uint64_t bytes = 0;
    room += wish->column->bytes;
    for (struct device_share more = part; more.count++ < needed->count;) {
        const uint64_t with = bytes_with(wish, &more);
        if (with > room)
            break;
        if (with) {
            part = more;
            bytes = with;
        }
    }
    return bytes ? extend(columns, wish, &part, bytes, error) : STATUS_OK;
}

/* The wishes by what they save, most first. */
static void order(const struct cuda_wish *wishes, uint32_t count, uint32_t *ranks)
{
    for (uint32_t w = 0; w < count; w++) {
        uint32_t at = w;
        for (; at > 0 && wishes[ranks[at - 1]].saves < wishes[w].saves; at--)
            ranks[at] = ranks[at - 1];
        ranks[at] = w;
    }
}

enum status cuda_columns_keep_some(struct cuda_columns *columns, const struct cuda_wish *wishes,
                                   uint32_t count, const struct device_share *needed, struct error *error)
{
    uint32_t ranks[CUDA_WISHES_MAX];
    order(wishes, count, ranks);
    for (uint32_t i = 0; i < count; i++) {
        const struct cuda_wish *wish = &wishes[ranks[i]];
        const uint64_t bytes = bytes_with(wish, needed), more = bytes - wish->column->bytes;
        uint64_t room;
        if (!bytes)
            continue;
        RETURN_IF_ERROR(make_room(columns, more, saved(wish), &room, error));
        if (room >= more)
            RETURN_IF_ERROR(extend(columns, wish, needed, bytes, error));
        else
            RETURN_IF_ERROR(extend_in_part(columns, wish, needed, room, error));
    }
    return STATUS_OK;
}

/* Makes room for all chunks of `share`; *all: there is. *held: another run holds a column that must grow. */
static enum status find_all(struct cuda_columns *columns, const struct cuda_wish *wishes, uint32_t count,
                            const struct device_share *share, uint64_t scratch, bool *all, bool *held,
                            struct error *error)
{
    uint64_t more = 0, room;
    *held = false;
    double least = INFINITY;
    for (uint32_t w = 0; w < count; w++) {
        const uint64_t bytes = bytes_with(&wishes[w], share);
        more += bytes ? bytes - wishes[w].column->bytes : 0;
        least = bytes && saved(&wishes[w]) < least ? saved(&wishes[w]) : least;
        *held |= bytes && entry_of(wishes[w].column)->holders;
    }
    *all = more + scratch == 0;
    if (*all) /* the driver takes 20 microseconds to say how much room there is */
        return STATUS_OK;
    RETURN_IF_ERROR(make_room(columns, more + scratch, least, &room, error));
    *all = room >= more + scratch;
    return STATUS_OK;
}

bool cuda_columns_may_keep(const struct cuda_columns *columns, const struct cuda_wish *wishes, uint32_t count,
                           const struct device_share *share, uint64_t scratch)
{
    uint64_t bytes = scratch;
    for (uint32_t w = 0; w < count; w++) {
        const uint64_t with = bytes_with(&wishes[w], share);
        bytes += with ? with : wishes[w].column->bytes;
    }
    return bytes <= columns->budget;
}

enum status cuda_columns_keep(struct cuda_columns *columns, const struct cuda_wish *wishes, uint32_t count,
                              const struct device_share *share, uint64_t scratch, bool *all,
                              struct error *error)
{
    bool held;
    RETURN_IF_ERROR(find_all(columns, wishes, count, share, scratch, all, &held, error));
    while (*all && held) {
        columns_wait(columns);
        RETURN_IF_ERROR(find_all(columns, wishes, count, share, scratch, all, &held, error));
    }
    for (uint32_t w = 0; *all && w < count; w++) {
        const uint64_t bytes = bytes_with(&wishes[w], share);
        if (bytes)
            RETURN_IF_ERROR(extend(columns, &wishes[w], share, bytes, error));
        *all = bytes_with(&wishes[w], share) == 0;
    }
    return STATUS_OK;
}

/* ---- Chunks in the host's memory ---- */

static enum status pin(struct cuda *cuda, struct entry *entry, uint32_t at, const struct cuda_piece *piece,
                       struct error *error)
{
    uint64_t bytes;
    cuda_address address;
    const uint8_t *begin = file_map_find(piece->from, &bytes);
    if (!begin)
        return error_set(error, STATUS_MACHINE, "the column is no mapped file");
    RETURN_IF_ERROR(cuda_pin(cuda, begin, bytes, &address, error));
    entry->pins[at] = begin;
    entry->host[at] = address + (uint64_t)((const uint8_t *)piece->from - begin);
    return STATUS_OK;
}

bool cuda_columns_pinned(const struct cuda_wish *wish, cuda_address *address, uint64_t *bytes)
{
    const struct entry *entry = entry_of(wish->whole);
    for (uint32_t s = 0; entry->host && s < wish->data->segment_count; s++)
        if (entry->host[2 * s]) {
            const uint8_t *begin = file_map_find(wish->data->segments[s].chunk.bytes, bytes);
            *address = entry->host[2 * s] - (uint64_t)(wish->data->segments[s].chunk.bytes - begin);
            return true;
        }
    return false;
}

static enum status pin_chunk(struct cuda_columns *columns, const struct cuda_wish *wish, uint32_t segment,
                             cuda_address *chunk, cuda_address *validity, struct error *error)
{
    struct entry *entry = entry_of(wish->whole);
    struct cuda_piece pieces[2];
    const uint32_t count = cuda_chunk_pieces(&wish->data->segments[segment], pieces);
    if (!entry->pins)
        RETURN_IF_ERROR(memory_zeros(&entry->pins,
                                     (2ull * wish->data->segment_count + 1) * sizeof *entry->pins,
                                     "a list of pinned chunks", error));
    if (!entry->host)
        RETURN_IF_ERROR(memory_zeros(&entry->host,
                                     (2ull * wish->data->segment_count + 1) * sizeof *entry->host,
                                     "a list of pinned chunks", error));
    for (uint32_t p = 0; p < count; p++)
        if (!entry->pins[2 * segment + p])
            RETURN_IF_ERROR(pin(columns->cuda, entry, 2 * segment + p, &pieces[p], error));
    *chunk = entry->host[2 * segment];
    *validity = entry->host[2 * segment + 1];
    return STATUS_OK;
}

enum status cuda_columns_pin(struct cuda_columns *columns, const struct cuda_wish *wish, uint32_t segment,
                             cuda_address *chunk, cuda_address *validity, struct error *error)
{
    cuda_columns_lock(columns);
    const enum status status = pin_chunk(columns, wish, segment, chunk, validity, error);
    cuda_columns_unlock(columns);
    return status;
}
