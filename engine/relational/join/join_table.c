/*
 * join_table.c: see join_table.h. The buckets are divided into parts, and the rows into blocks. Threads find the numbers'
 * range, and count how many rows of a block go to which part; then they write the rows' tags and numbers, part by part and
 * block by block; then each part is divided into its buckets by one thread, from a copy. All of this keeps the order of rows.
 * Rows that stand in the order of their places are entered as they stand.
 */
#include "engine/relational/join/join_table.h"

#include "storage/base/memory.h"
#include "storage/base/parallel.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_ROWS   (UINT64_C(1) << 16) /* a block is hashed by one thread; fewer rows are one part */
#define PARTS_BITS   6u
#define BUCKETS_BITS 6u /* at least */
#define PLACES_A_ROW 4u /* of JOIN_BY_PLACE at most */
#define SHIFT_MOST   4u /* of JOIN_BY_PLACE: a row is compared with the others of 16 numbers at most */

/* The table while it is made. */
struct table_parts {
    struct join_table *table;
    uint64_t rows, blocks;
    uint32_t parts;
    unsigned shift;      /* of a bucket's number, to its part's */
    int64_t *extrema;    /* of each block and key: least and greatest number */
    uint64_t *counts;    /* for each part and block its rows, then the place of the first of them */
    atomic_bool ordered; /* the rows stand in the order of their places */
};

static uint64_t block_end(const struct table_parts *all, uint64_t block)
{
    const uint64_t end = (block + 1) * BLOCK_ROWS;
    return end < all->rows ? end : all->rows;
}

static enum status measure_block(void *context, uint64_t block, unsigned thread, struct error *error)
{
    const struct table_parts *const all = context;
    const struct join_task *const task = all->table->task;
    (void)thread;
    (void)error;
    for (uint32_t k = 0; k < task->key_count; k++) {
        const struct rowset_column *const key = &task->right_keys[k];
        int64_t low = INT64_MAX, high = INT64_MIN;
        for (uint64_t row = block * BLOCK_ROWS; row < block_end(all, block); row++) {
            if (key->nulls && key->nulls[row])
                continue;
            low = key->values[row] < low ? key->values[row] : low;
            high = key->values[row] > high ? key->values[row] : high;
        }
        all->extrema[2 * (block * task->key_count + k)] = low;
        all->extrema[2 * (block * task->key_count + k) + 1] = high;
    }
    return STATUS_OK;
}

static uint64_t bucket_of(const struct table_parts *all, uint64_t row, uint64_t *place)
{
    *place = join_place(all->table, all->table->task->right_keys, row);
    return join_bucket(all->table, *place);
}

static enum status count_block(void *context, uint64_t block, unsigned thread, struct error *error)
{
    const struct table_parts *const all = context;
    const struct join_task *const task = all->table->task;
    uint64_t place;
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    for (uint64_t row = block * BLOCK_ROWS; row < block_end(all, block); row++)
        if (!join_has_null(task, task->right_keys, row))
            all->counts[(bucket_of(all, row, &place) >> all->shift) * all->blocks + block]++;
    return STATUS_OK;
}

static enum status order_block(void *context, uint64_t block, unsigned thread, struct error *error)
{
    const struct table_parts *const all = context;
    const struct join_task *const task = all->table->task;
    uint64_t place;
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    for (uint64_t row = block * BLOCK_ROWS; row < block_end(all, block); row++) {
        if (join_has_null(task, task->right_keys, row))
            continue;
        const uint64_t part = bucket_of(all, row, &place) >> all->shift;
        all->table->entries[all->counts[part * all->blocks + block]++] =
            (struct join_entry){join_tag(all->table, place), (uint32_t)row};
    }
    return STATUS_OK;
}

/* The bucket of an entry; its row's keys tell what its tag does not. */
static uint64_t bucket_of_entry(const struct table_parts *all, struct join_entry entry)
{
    uint64_t place = entry.tag;
    return all->table->lookup == JOIN_BY_HASH ? bucket_of(all, entry.row, &place)
                                              : join_bucket(all->table, place);
}

/* After order_block a count is the end of its rows. */
static enum status divide_part(void *context, uint64_t part, unsigned thread, struct error *error)
{
    const struct table_parts *const all = context;
    struct join_table *const table = all->table;
    const uint64_t first = part ? all->counts[part * all->blocks - 1] : 0,
                   end = all->counts[(part + 1) * all->blocks - 1], begin_bucket = part << all->shift,
                   after = (part + 1) << all->shift,
                   end_bucket = after < table->buckets ? after : table->buckets;
    struct join_entry *copy;
    uint64_t place = first;
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    RETURN_IF_ERROR(spillable_work(&copy, (end - first + 1) * sizeof *copy, "a join", error));
    memcpy(copy, table->entries + first, (end - first) * sizeof *copy);
    memset(table->ends + begin_bucket, 0, (end_bucket - begin_bucket) * sizeof *table->ends);
    for (uint64_t i = 0; i < end - first; i++)
        table->ends[bucket_of_entry(all, copy[i])]++;
    for (uint64_t b = begin_bucket; b < end_bucket; b++) {
        const uint32_t count = table->ends[b];
        table->ends[b] = (uint32_t)place;
        place += count;
    }
    for (uint64_t i = 0; i < end - first; i++) /* the begin of a bucket becomes its end */
        table->entries[table->ends[bucket_of_entry(all, copy[i])]++] = copy[i];
    spillable_free(copy);
    return STATUS_OK;
}

/* The range of each key. */
static void find_ranges(const struct table_parts *all)
{
    const uint32_t keys = all->table->task->key_count;
    for (uint32_t k = 0; k < keys; k++) {
        int64_t low = INT64_MAX, high = INT64_MIN;
        for (uint64_t b = 0; b < all->blocks; b++) {
            const int64_t *const block = &all->extrema[2 * (b * keys + k)];
            low = block[0] < low ? block[0] : low;
            high = block[1] > high ? block[1] : high;
        }
        all->table->ranges[k].low = (uint64_t)low;
        all->table->ranges[k].span = low <= high ? (uint64_t)high - (uint64_t)low : 0;
    }
}

/* Numbers the combinations: keys with many numbers are the first by which rows that stand in order are ordered. False: there
 * are 2^32 or more. */
static bool number_keys(const struct table_parts *all, uint64_t *count)
{
    const uint32_t keys = all->table->task->key_count;
    struct join_range *const ranges = all->table->ranges;
    *count = 1;
    for (uint32_t done = 0; done < keys; done++) {
        struct join_range *next = NULL;
        for (uint32_t k = 0; k < keys; k++)
            if (!ranges[k].stride && (!next || ranges[k].span < next->span))
                next = &ranges[k];
        if (next->span >= (UINT64_C(1) << 32) / *count)
            return false;
        next->stride = *count;
        *count *= next->span + 1;
    }
    return true;
}

/* Chooses how rows find their buckets, and how many there are. */
static enum status choose_lookup(struct table_parts *all, struct error *error)
{
    struct join_table *const table = all->table;
    const struct join_task *const task = table->task;
    unsigned bits = BUCKETS_BITS;
    uint64_t numbers;
    while ((UINT64_C(1) << bits) < task->right_rows)
        bits++;
    table->buckets = UINT64_C(1) << bits;
    for (uint32_t k = 0; k < task->key_count; k++)
        if (task->nulls_match[k])
            return STATUS_OK;
    RETURN_IF_ERROR(memory_zeros(&table->ranges, task->key_count * sizeof *table->ranges, "a join", error));
    RETURN_IF_ERROR(memory_zeros(
        &all->extrema, (2 * all->blocks * task->key_count + 1) * sizeof *all->extrema, "a join", error));
    RETURN_IF_ERROR(parallel_for(task->threads, all->blocks, measure_block, all, error));
    find_ranges(all);
    if (!number_keys(all, &numbers))
        return STATUS_OK;
    table->lookup = JOIN_BY_NUMBER;
    while (table->shift < SHIFT_MOST && (numbers - 1) >> table->shift >= PLACES_A_ROW * (table->buckets / 2))
        table->shift++; /* rows are more than half of the buckets */
    if ((numbers - 1) >> table->shift < PLACES_A_ROW * (table->buckets / 2)) {
        table->lookup = JOIN_BY_PLACE;
        table->buckets = ((numbers - 1) >> table->shift) + 1;
    }
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

/* ---- Rows in order ---- */

/* Finds whether the rows of a block, and the first one after it, are in the order of their places. */
static enum status check_block(void *context, uint64_t block, unsigned thread, struct error *error)
{
    struct table_parts *const all = context;
    const struct rowset_column *const keys = all->table->task->right_keys;
    const uint64_t end = block_end(all, block), last = end < all->rows ? end : all->rows - 1;
    uint64_t before = 0;
    bool ordered = atomic_load_explicit(&all->ordered, memory_order_relaxed);
    (void)thread;
    for (uint64_t row = block * BLOCK_ROWS; row <= last && ordered; row++) {
        const uint64_t place = join_place(all->table, keys, row);
        ordered = place >= before && place != JOIN_NOWHERE;
        before = place;
    }
    if (!ordered)
        atomic_store_explicit(&all->ordered, false, memory_order_relaxed);
    return cancel_check(error);
}

/* The rows are the entries as they stand. A row that is the last of its bucket ends it, and the empty ones after it. */
static enum status enter_block(void *context, uint64_t block, unsigned thread, struct error *error)
{
    const struct table_parts *const all = context;
    struct join_table *const table = all->table;
    const struct rowset_column *const keys = table->task->right_keys;
    const uint64_t end = block_end(all, block);
    uint64_t place = join_place(table, keys, block * BLOCK_ROWS);
    (void)thread;
    for (uint64_t bucket = 0; block == 0 && bucket < join_bucket(table, place); bucket++)
        table->ends[bucket] = 0;
    for (uint64_t row = block * BLOCK_ROWS; row < end; row++) {
        const uint64_t next = row + 1 < all->rows ? join_place(table, keys, row + 1) : 0,
                       after = row + 1 < all->rows ? join_bucket(table, next) : table->buckets;
        table->entries[row] = (struct join_entry){join_tag(table, place), (uint32_t)row};
        for (uint64_t bucket = join_bucket(table, place); bucket < after; bucket++)
            table->ends[bucket] = (uint32_t)(row + 1);
        place = next;
    }
    return cancel_check(error);
}

/* Fills the table if rows stand in the order of their places, as those of groups and of loaded keys do; else *filled
 * is false. */
static enum status fill_in_order(struct table_parts *all, bool *filled, struct error *error)
{
    const unsigned threads = all->table->task->threads;
    atomic_init(&all->ordered, all->table->lookup == JOIN_BY_PLACE);
    if (all->table->lookup == JOIN_BY_PLACE)
        RETURN_IF_ERROR(parallel_for(threads, all->blocks, check_block, all, error));
    *filled = atomic_load(&all->ordered);
    return *filled ? parallel_for(threads, all->blocks, enter_block, all, error) : STATUS_OK;
}

/* Takes the table's memory. */
static enum status make_room(struct table_parts *all, struct error *error)
{
    struct join_table *const table = all->table;
    unsigned bits = 0;
    while ((table->buckets - 1) >> bits)
        bits++;
    all->shift = all->rows > BLOCK_ROWS && bits > PARTS_BITS ? bits - PARTS_BITS : bits;
    all->parts = (uint32_t)(((table->buckets - 1) >> all->shift) + 1);
    RETURN_IF_ERROR(spillable_work(&table->ends, table->buckets * sizeof *table->ends, "a join", error));
    RETURN_IF_ERROR(
        spillable_work(&table->entries, (all->rows + 1) * sizeof *table->entries, "a join", error));
    return memory_zeros(&all->counts, (all->parts * all->blocks + 1) * sizeof *all->counts, "a join", error);
}

enum status join_table_create(const struct join_task *task, struct join_table *table, struct error *error)
{
    struct table_parts all = {
        .table = table, .rows = task->right_rows, .blocks = (task->right_rows + BLOCK_ROWS - 1) / BLOCK_ROWS};
    *table = (struct join_table){.task = task};
    if (task->right_rows > UINT32_MAX)
        return error_set(error, STATUS_MACHINE, "the smaller side of a join has 2^32 rows or more: %llu",
                         (unsigned long long)task->right_rows);
    bool filled = false;
    enum status status = choose_lookup(&all, error);
    status = AND_THEN(status, make_room(&all, error));
    if (status == STATUS_OK && all.blocks)
        status = fill_in_order(&all, &filled, error);
    else if (status == STATUS_OK)
        memset(table->ends, 0, table->buckets * sizeof *table->ends);
    if (status == STATUS_OK && all.blocks && !filled)
        status = fill(&all, error);
    free(all.extrema);
    free(all.counts);
    if (status != STATUS_OK)
        join_table_free(table);
    return status;
}

void join_table_free(struct join_table *table)
{
    free(table->ranges);
    spillable_free(table->ends);
    spillable_free(table->entries);
    *table = (struct join_table){0};
}
