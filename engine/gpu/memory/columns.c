/* columns.c: see columns.h. The columns are a list of a few dozen entries. */
#include "engine/gpu/memory/columns_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum status cuda_columns_create(struct cuda *cuda, uint64_t budget, struct cuda_columns **columns,
                                struct error *error)
{
    *columns = calloc(1, sizeof **columns);
    if (!*columns)
        return error_out_of_memory(error, sizeof **columns, "the list of uploaded columns");
    (*columns)->cuda = cuda;
    (*columns)->budget = budget;
    (*columns)->epoch = 1;
    return STATUS_OK;
}

/* ---- Entries ---- */

static void unpin(struct cuda_columns *columns, struct entry *entry)
{
    for (uint32_t piece = 0; entry->pins && piece < 2 * entry->column.count; piece++)
        if (entry->pins[piece])
            cuda_unpin(columns->cuda, entry->pins[piece]);
    free(entry->pins);
    free(entry->host);
}

static void free_entry(struct cuda_columns *columns, struct entry *entry)
{
    cuda_free(columns->cuda, entry->memory);
    unpin(columns, entry);
    free(entry->segments);
    free(entry);
}

void cuda_columns_destroy(struct cuda_columns *columns)
{
    if (!columns)
        return;
    while (columns->entries) {
        struct entry *entry = columns->entries;
        columns->entries = entry->next;
        free_entry(columns, entry);
    }
    free(columns);
}

struct entry *columns_find(struct cuda_columns *columns, const struct column *key, enum codec_id codec,
                           enum entry_kind kind, uint32_t shift)
{
    for (struct entry *entry = columns->entries; entry; entry = entry->next)
        if (entry->key == key && entry->codec == codec && entry->kind == kind && entry->shift == shift)
            return entry;
    return NULL;
}

void columns_drop(struct cuda_columns *columns, struct entry *entry)
{
    columns->kept -= entry->column.bytes;
    if (entry->kind == ENTRY_CHUNKS) {
        cuda_free(columns->cuda, entry->memory);
        for (uint32_t s = 0; s < entry->column.count; s++)
            entry->segments[s] = CHUNK_ELSEWHERE;
        entry->memory = entry->column.address = entry->column.bytes = 0;
        columns->epoch++;
        return;
    }
    struct entry **link = &columns->entries;
    while (*link != entry)
        link = &(*link)->next;
    *link = entry->next;
    free_entry(columns, entry);
}

struct entry *columns_least(struct cuda_columns *columns, double most)
{
    struct entry *least = NULL;
    for (struct entry *entry = columns->entries; entry; entry = entry->next)
        if (entry->memory && !entry->uses && !entry->running && entry->score < most) {
            most = entry->score;
            least = entry;
        }
    return least;
}

/* ---- Memory ---- */

/* What makes room first is what no statement uses, and then the chunks of the statement itself: it reads them from the
 * host's memory instead. */
enum status cuda_columns_allocate(struct cuda_columns *columns, uint64_t bytes, const char *what,
                                  cuda_address *address, struct error *error)
{
    struct entry *least;
    while (cuda_allocate(columns->cuda, bytes, what, address, NULL) != STATUS_OK) {
        least = columns_least(columns, INFINITY);
        for (struct entry *entry = columns->entries; !least && entry; entry = entry->next)
            if (entry->kind == ENTRY_CHUNKS && entry->memory)
                least = entry;
        if (!least)
            return cuda_allocate(columns->cuda, bytes, what, address, error);
        columns_drop(columns, least);
    }
    return STATUS_OK;
}

enum status columns_add(struct cuda_columns *columns, const struct column *key, enum codec_id codec,
                        enum entry_kind kind, uint64_t bytes, struct entry **added, struct error *error)
{
    struct entry *entry = calloc(1, sizeof *entry);
    char what[NAME_BYTES + 16];
    if (!entry)
        return error_out_of_memory(error, sizeof *entry, "an uploaded column");
    snprintf(what, sizeof what, "%s%s", kind == ENTRY_VECTORS ? "the index of " : "", key->schema.name);
    enum status status =
        bytes ? cuda_columns_allocate(columns, bytes, what, &entry->memory, error) : STATUS_OK;
    if (status != STATUS_OK) {
        free(entry);
        return status;
    }
    columns->kept += entry->column.bytes = bytes;
    entry->key = key;
    entry->codec = codec;
    entry->kind = kind;
    entry->next = columns->entries;
    columns->entries = entry;
    *added = entry;
    return STATUS_OK;
}

/* ---- Arrays ---- */

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
    struct entry *entry = columns_find(columns, array->column, CODEC_NONE, ENTRY_ARRAY, array->shift);
    if (!entry) {
        const uint64_t values = piece_bytes(array->rows * array->value_bytes),
                       valid = array->valid ? piece_bytes((array->rows + 31) / 32 * sizeof(uint32_t)) : 0;
        RETURN_IF_ERROR(
            columns_add(columns, array->column, CODEC_NONE, ENTRY_ARRAY, values + valid, &entry, error));
        entry->shift = array->shift;
        const enum status status =
            upload_values(columns->cuda, array, entry->memory, entry->memory + values, error);
        if (status != STATUS_OK) {
            columns_drop(columns, entry);
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
