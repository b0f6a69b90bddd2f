/*
 * follow.c: what a GPU keeps of a database after a change of it (columns.h). A change writes new files beside those that
 * there are, so most segments of the new state are files of the old one, which may be mapped again at another place.
 */
#include "engine/gpu/memory/columns_internal.h"

#include "storage/base/file_map.h"
#include "storage/base/memory.h"
#include "storage/database/database.h"

#include <stdlib.h>
#include <string.h>

static bool same_place(const void *a, const void *b)
{
    return (!a && !b) || (a && b && file_map_same(a, b));
}

static bool same_segment(const struct segment_data *a, const struct segment_data *b)
{
    return a->chunk.size == b->chunk.size && same_place(a->chunk.bytes, b->chunk.bytes) &&
           same_place(a->validity, b->validity);
}

static const struct column *find_column(const struct database *database, const struct column *like)
{
    const struct table *table;
    if (database_table(database, like->table->name, &table, NULL) != STATUS_OK)
        return NULL;
    for (uint32_t c = 0; c < table->column_count; c++)
        if (strcmp(table->columns[c].schema.name, like->schema.name) == 0)
            return &table->columns[c];
    return NULL;
}

/* The entry becomes that of `to`; false: nothing of it can be kept. */
static bool follow_column(struct cuda_columns *columns, struct entry *entry, const struct column_data *from,
                          const struct column_data *to)
{
    uint64_t *segments;
    bool any = false;
    if (memory_take(&segments, (to->segment_count + 1ull) * sizeof *segments, "a list of chunks", NULL) !=
        STATUS_OK)
        return false;
    for (uint32_t s = 0; s < to->segment_count; s++) {
        const bool kept = s < from->segment_count && entry->segments[s] != CHUNK_ELSEWHERE &&
                          same_segment(&from->segments[s], &to->segments[s]);
        segments[s] = kept ? entry->segments[s] : CHUNK_ELSEWHERE;
        any |= kept;
    }
    columns_unpin(columns, entry); /* the old mappings */
    free(entry->segments);
    entry->column.segments = entry->segments = segments;
    entry->column.count = to->segment_count;
    entry->key = to->column;
    return any;
}

/* False: the entry is freed. */
static bool follow_entry(struct cuda_columns *columns, struct entry *entry, struct database *from,
                         struct database *to, unsigned threads)
{
    struct column_data *old, *now;
    const struct column *const column =
        entry->kind == ENTRY_CHUNKS && entry->memory && !entry->ranges ? find_column(to, entry->key) : NULL;
    return column && column_data_open(from, entry->key, entry->codec, threads, &old, NULL) == STATUS_OK &&
           column_data_open(to, column, entry->codec, threads, &now, NULL) == STATUS_OK &&
           follow_column(columns, entry, old, now);
}

void cuda_columns_follow(struct cuda_columns *columns, struct database *from, struct database *to,
                         unsigned threads)
{
    cuda_columns_lock(columns);
    for (struct entry **link = &columns->entries; *link;) {
        struct entry *const entry = *link;
        if (follow_entry(columns, entry, from, to, threads)) {
            link = &entry->next;
            continue;
        }
        *link = entry->next;
        columns_free(columns, entry);
    }
    columns->epoch++;
    cuda_columns_unlock(columns);
}
