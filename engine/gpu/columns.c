/* columns.c: see columns.h. The columns are a list of a few dozen entries. */
#include "engine/gpu/columns.h"

#include "engine/gpu/kernel_decoder.h"

#include "operators/dialect/bound.h"

#include <stdlib.h>
#include <string.h>

/* The alignment of pieces in an allocation. Every piece is followed by at least one more word, because
 * decoders may read one word beyond the end of a packed stream. */
#define PIECE_ALIGNMENT 256u

struct entry {
    struct cuda_column column; /* the first member, so that a pointer to it is one to the entry */
    struct entry *next;
    const struct column *key;
    enum codec_id codec;
    bool array;     /* the entry has a dimension's values, not chunks */
    uint32_t shift; /* of the array; else 0 */
    unsigned uses;
    cuda_address memory;
};

struct cuda_columns {
    struct cuda *cuda;
    struct entry *entries;
};

enum status cuda_columns_create(struct cuda *cuda, struct cuda_columns **columns, struct error *error)
{
    *columns = calloc(1, sizeof **columns);
    if (!*columns)
        return error_out_of_memory(error, sizeof **columns, "the list of uploaded columns");
    (*columns)->cuda = cuda;
    return STATUS_OK;
}

static void drop_unused(struct cuda_columns *columns)
{
    for (struct entry **link = &columns->entries; *link;) {
        struct entry *entry = *link;
        if (entry->uses) {
            link = &entry->next;
            continue;
        }
        *link = entry->next;
        cuda_free(columns->cuda, entry->memory);
        free(entry);
    }
}

void cuda_columns_destroy(struct cuda_columns *columns)
{
    if (!columns)
        return;
    for (struct entry *entry = columns->entries; entry; entry = entry->next)
        entry->uses = 0;
    drop_unused(columns);
    free(columns);
}

static struct entry *find(struct cuda_columns *columns, const struct column *key, enum codec_id codec,
                          bool array, uint32_t shift)
{
    for (struct entry *entry = columns->entries; entry; entry = entry->next)
        if (entry->key == key && entry->codec == codec && entry->array == array && entry->shift == shift)
            return entry;
    return NULL;
}

enum status cuda_columns_allocate(struct cuda_columns *columns, uint64_t bytes, const char *what,
                                  cuda_address *address, struct error *error)
{
    if (cuda_allocate(columns->cuda, bytes, what, address, NULL) == STATUS_OK)
        return STATUS_OK;
    drop_unused(columns);
    return cuda_allocate(columns->cuda, bytes, what, address, error);
}

/* Adds an entry with `bytes` of memory. */
static enum status add(struct cuda_columns *columns, const struct column *key, enum codec_id codec,
                       bool array, uint64_t bytes, struct entry **added, struct error *error)
{
    struct entry *entry = calloc(1, sizeof *entry);
    if (!entry)
        return error_out_of_memory(error, sizeof *entry, "an uploaded column");
    enum status status = cuda_columns_allocate(columns, bytes, key->schema.name, &entry->memory, error);
    if (status != STATUS_OK) {
        free(entry);
        return status;
    }
    entry->column.bytes = bytes;
    entry->key = key;
    entry->codec = codec;
    entry->array = array;
    entry->next = columns->entries;
    columns->entries = entry;
    *added = entry;
    return STATUS_OK;
}

static uint64_t piece_bytes(uint64_t bytes)
{
    return (bytes + PIECE_ALIGNMENT - 1) / PIECE_ALIGNMENT * PIECE_ALIGNMENT + PIECE_ALIGNMENT;
}

static uint64_t validity_bytes(const struct segment_data *segment)
{
    return segment->validity ? (uint64_t)segment->chunk.tiles * TILE_LANES * sizeof(uint32_t) : 0;
}

uint64_t cuda_chunks_bytes(const struct column_data *data)
{
    uint64_t bytes = piece_bytes(data->segment_count * sizeof(struct bound_chunk));
    for (uint32_t s = 0; s < data->segment_count; s++)
        bytes += piece_bytes(data->segments[s].chunk.size) + piece_bytes(validity_bytes(&data->segments[s]));
    return bytes;
}

static enum status upload_chunks(struct cuda *cuda, const struct column_data *data, cuda_address address,
                                 struct bound_chunk *chunks, struct error *error)
{
    cuda_address next = address + piece_bytes(data->segment_count * sizeof *chunks);
    for (uint32_t s = 0; s < data->segment_count; s++) {
        const struct segment_data *segment = &data->segments[s];
        const struct chunk_view *chunk = &segment->chunk;
        chunks[s] = (struct bound_chunk){.directory = next + (uint64_t)(chunk->directory - chunk->bytes),
                                         .data = next + (uint64_t)(chunk->data - chunk->bytes),
                                         .auxiliary = next + (uint64_t)(chunk->auxiliary - chunk->bytes),
                                         .detail = kernel_decoder_detail(chunk)};
        RETURN_IF_ERROR(cuda_upload(cuda, next, chunk->bytes, chunk->size, error));
        next += piece_bytes(chunk->size);
        if (!segment->validity)
            continue;
        chunks[s].validity = next;
        RETURN_IF_ERROR(cuda_upload(cuda, next, segment->validity, validity_bytes(segment), error));
        next += piece_bytes(validity_bytes(segment));
    }
    return cuda_upload(cuda, address, chunks, data->segment_count * sizeof *chunks, error);
}

enum status cuda_chunks_upload(struct cuda *cuda, const struct column_data *data, cuda_address address,
                               struct error *error)
{
    struct bound_chunk *chunks = calloc(data->segment_count ? data->segment_count : 1, sizeof *chunks);
    if (!chunks)
        return error_out_of_memory(error, data->segment_count * sizeof *chunks, "a list of chunks");
    const enum status status = upload_chunks(cuda, data, address, chunks, error);
    free(chunks);
    return status;
}

enum status cuda_columns_chunks(struct cuda_columns *columns, const struct column_data *data,
                                const struct cuda_column **column, struct error *error)
{
    struct entry *entry = find(columns, data->column, data->codec->id, false, 0);
    if (!entry) {
        RETURN_IF_ERROR(
            add(columns, data->column, data->codec->id, false, cuda_chunks_bytes(data), &entry, error));
        const enum status status = cuda_chunks_upload(columns->cuda, data, entry->memory, error);
        if (status != STATUS_OK) {
            drop_unused(columns);
            return status;
        }
        entry->column.address = entry->memory;
    }
    entry->uses++;
    *column = &entry->column;
    return STATUS_OK;
}

static enum status upload_values(struct cuda *cuda, const struct plan_array *array, cuda_address values,
                                 cuda_address valid, struct error *error)
{
    RETURN_IF_ERROR(cuda_upload(cuda, values, array->values, array->rows * array->value_bytes, error));
    return array->valid
               ? cuda_upload(cuda, valid, array->valid, (array->rows + 31) / 32 * sizeof(uint32_t), error)
               : STATUS_OK;
}

enum status cuda_columns_array(struct cuda_columns *columns, const struct plan_array *array,
                               const struct cuda_column **column, struct error *error)
{
    struct entry *entry = find(columns, array->column, CODEC_NONE, true, array->shift);
    if (!entry) {
        const uint64_t values = piece_bytes(array->rows * array->value_bytes),
                       valid = array->valid ? piece_bytes((array->rows + 31) / 32 * sizeof(uint32_t)) : 0;
        RETURN_IF_ERROR(add(columns, array->column, CODEC_NONE, true, values + valid, &entry, error));
        entry->shift = array->shift;
        const enum status status =
            upload_values(columns->cuda, array, entry->memory, entry->memory + values, error);
        if (status != STATUS_OK) {
            drop_unused(columns);
            return status;
        }
        entry->column.address = entry->memory;
        entry->column.valid = array->valid ? entry->memory + values : 0;
    }
    entry->uses++;
    *column = &entry->column;
    return STATUS_OK;
}

void cuda_columns_release(const struct cuda_column *column)
{
    if (column)
        ((struct entry *)(uintptr_t)column)->uses--;
}
