/*
 * join_table.c: see join_table.h. The buckets are divided into parts, and the rows into blocks. Threads count how many rows
 * of a block go to which part; then they write the rows' hashes and numbers, part by part and block by block; then each part
 * is divided into its buckets by one thread. All of this keeps the order of rows.
 */
#include "engine/relational/join/join_table.h"

#include "storage/base/memory.h"
#include "storage/base/parallel.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_ROWS   (UINT64_C(1) << 16) /* a block is hashed by one thread; fewer rows are one part */
#define PARTS_MOST   64u
#define PARTS_BITS   6u
#define BUCKETS_BITS 6u /* at least */

/* The table while it is made. */
struct table_parts {
    struct join_table *table;
    uint64_t rows, blocks;
    uint32_t parts;
    unsigned shift;           /* of a bucket's number, to its part's */
    uint64_t *counts;         /* for each part and block its rows, then the place of the first of them */
    struct join_entry *order; /* entries by parts */
};

static uint32_t part_of(const struct table_parts *all, uint64_t hash)
{
    return (uint32_t)((hash & all->table->mask) >> all->shift);
}

static uint64_t block_end(const struct table_parts *all, uint64_t block)
{
    const uint64_t end = (block + 1) * BLOCK_ROWS;
    return end < all->rows ? end : all->rows;
}

static enum status count_block(void *context, uint64_t block, unsigned thread, struct error *error)
{
    const struct table_parts *const all = context;
    const struct join_task *const task = all->table->task;
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    for (uint64_t row = block * BLOCK_ROWS; row < block_end(all, block); row++)
        if (!join_has_null(task, task->right_keys, row))
            all->counts[part_of(all, join_hash(task, task->right_keys, row)) * all->blocks + block]++;
    return STATUS_OK;
}

static enum status order_block(void *context, uint64_t block, unsigned thread, struct error *error)
{
    const struct table_parts *const all = context;
    const struct join_task *const task = all->table->task;
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    for (uint64_t row = block * BLOCK_ROWS; row < block_end(all, block); row++) {
        if (join_has_null(task, task->right_keys, row))
            continue;
        const uint64_t hash = join_hash(task, task->right_keys, row);
        all->order[all->counts[part_of(all, hash) * all->blocks + block]++] = (struct join_entry){hash, row};
    }
    return STATUS_OK;
}

/* After order_block a count is the end of its rows. */
static enum status divide_part(void *context, uint64_t part, unsigned thread, struct error *error)
{
    const struct table_parts *const all = context;
    struct join_table *const table = all->table;
    const uint64_t first = part ? all->counts[part * all->blocks - 1] : 0,
                   end = all->counts[(part + 1) * all->blocks - 1], buckets = (table->mask + 1) / all->parts;
    uint64_t *const ends = table->ends + part * buckets, place = first;
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    for (uint64_t i = first; i < end; i++)
        table->ends[all->order[i].hash & table->mask]++;
    for (uint64_t b = 0; b < buckets; b++) {
        const uint64_t count = ends[b];
        ends[b] = place;
        place += count;
    }
    for (uint64_t i = first; i < end; i++) /* the begin of a bucket becomes its end */
        table->entries[table->ends[all->order[i].hash & table->mask]++] = all->order[i];
    return STATUS_OK;
}

static enum status fill(struct table_parts *all, struct error *error)
{
    const unsigned threads = all->table->task->threads;
    uint64_t place = 0;
    RETURN_IF_ERROR(parallel_for(threads, all->blocks, count_block, all, error));
    for (uint64_t i = 0; i < all->parts * all->blocks; i++) {
        const uint64_t count = all->counts[i];
        all->counts[i] = place;
        place += count;
    }
    RETURN_IF_ERROR(parallel_for(threads, all->blocks, order_block, all, error));
    return parallel_for(threads, all->parts, divide_part, all, error);
}

enum status join_table_create(const struct join_task *task, struct join_table *table, struct error *error)
{
    struct table_parts all = {.table = table,
                              .rows = task->right_rows,
                              .blocks = (task->right_rows + BLOCK_ROWS - 1) / BLOCK_ROWS,
                              .parts = task->right_rows > BLOCK_ROWS ? PARTS_MOST : 1};
    unsigned bits = BUCKETS_BITS;
    while ((UINT64_C(1) << bits) < task->right_rows)
        bits++;
    const uint64_t buckets = UINT64_C(1) << bits;
    all.shift = all.parts > 1 ? bits - PARTS_BITS : bits;
    *table = (struct join_table){
        .task = task, .mask = buckets - 1, .exact = task->key_count == 1 && !task->nulls_match[0]};
    const uint64_t bytes = (task->right_rows + 1) * sizeof *table->entries;
    enum status status = spillable_work(&table->ends, buckets * sizeof *table->ends, "a join", error);
    if (status == STATUS_OK)
        status = spillable_work(&table->entries, bytes, "a join", error);
    if (status == STATUS_OK)
        status = spillable_work(&all.order, bytes, "a join", error);
    if (status == STATUS_OK)
        status =
            memory_zeros(&all.counts, (all.parts * all.blocks + 1) * sizeof *all.counts, "a join", error);
    if (status == STATUS_OK)
        memset(table->ends, 0, buckets * sizeof *table->ends);
    if (status == STATUS_OK && all.blocks)
        status = fill(&all, error);
    spillable_free(all.order);
    free(all.counts);
    if (status != STATUS_OK)
        join_table_free(table);
    return status;
}

void join_table_free(struct join_table *table)
{
    spillable_free(table->ends);
    spillable_free(table->entries);
    *table = (struct join_table){0};
}
