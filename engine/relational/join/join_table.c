/*
 * join_table.c: see join_table.h. The buckets are divided into parts, and the rows into blocks. Threads find the numbers'
 * range, and count how many rows of a block go to which part; then they write the rows' tags and numbers, part by part and
 * block by block; then each part is divided into its buckets by one thread, from a copy. All of this keeps the order of rows.
 * By ranks a part is some numbers that follow each other, whose ranks begin with the number of rows before the part. Rows that
 * stand in the order of their numbers are not written: a part of them is found by bisection.
 */
#include "engine/relational/join/join_table.h"

#include "storage/base/memory.h"
#include "storage/base/parallel.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_ROWS    (UINT64_C(1) << 16) /* a block is hashed by one thread; fewer rows are one part */
#define PARTS_BITS    6u
#define BUCKETS_BITS  6u  /* at least */
#define NUMBERS_A_ROW 64u /* JOIN_BY_RANK: at most, which are 16 bytes of marks */
#define NUMBERS_FEW   UINT64_C(4096)

/* The table while it is made. */
struct table_parts {
    struct join_table *table;
    uint64_t rows, blocks;
    uint32_t parts;
    unsigned shift;   /* of the number of a bucket, or of a word of marks, to its part's */
    int64_t *extrema; /* of each block and key: least and greatest number */
    uint64_t *counts; /* for each part and block its rows, then the place of the first of them */
    bool ordered;     /* the rows stand in the order of their numbers */
    atomic_bool disorder, repeated; /* JOIN_BY_RANK: rows do not, and a key has several rows */
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

/* The part of a row's place. */
static uint64_t part_of(const struct table_parts *all, uint64_t place)
{
    return (all->table->lookup == JOIN_BY_RANK ? place / 32 : join_bucket(all->table, place)) >> all->shift;
}

static enum status count_block(void *context, uint64_t block, unsigned thread, struct error *error)
{
    const struct table_parts *const all = context;
    const struct join_task *const task = all->table->task;
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    for (uint64_t row = block * BLOCK_ROWS; row < block_end(all, block); row++)
        if (!join_has_null(task, task->right_keys, row))
            all->counts[part_of(all, join_place(all->table, task->right_keys, row)) * all->blocks + block]++;
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
        const uint64_t place = join_place(all->table, task->right_keys, row);
        all->table->entries[all->counts[part_of(all, place) * all->blocks + block]++] =
            (struct join_entry){join_tag(all->table, place), (uint32_t)row};
    }
    return STATUS_OK;
}

/* The bucket of an entry; its row's keys tell what its tag does not. */
static uint64_t bucket_of_entry(const struct table_parts *all, struct join_entry entry)
{
    const struct join_table *const table = all->table;
    return join_bucket(table, table->lookup == JOIN_BY_HASH
                                  ? join_place(table, table->task->right_keys, entry.row)
                                  : entry.tag);
}

/* The first of a part's rows that stand in the order of their numbers. */
static uint64_t bisect(const struct table_parts *all, uint64_t part)
{
    uint64_t first = 0, end = all->rows;
    while (first < end) {
        const uint64_t middle = first + (end - first) / 2;
        if (part_of(all, join_place(all->table, all->table->task->right_keys, middle)) < part)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/* The first of a part's entries: after order_block a count is the end of its rows. */
static uint64_t part_begin(const struct table_parts *all, uint64_t part)
{
    return all->ordered ? bisect(all, part) : part ? all->counts[part * all->blocks - 1] : 0;
}

static uint64_t part_end_bucket(const struct table_parts *all, uint64_t part)
{
    const uint64_t after = (part + 1) << all->shift;
    return after < all->table->buckets ? after : all->table->buckets;
}

static enum status divide_part(void *context, uint64_t part, unsigned thread, struct error *error)
{
    const struct table_parts *const all = context;
    struct join_table *const table = all->table;
    const uint64_t first = part_begin(all, part), end = part_begin(all, part + 1),
                   begin_bucket = part << all->shift, end_bucket = part_end_bucket(all, part);
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
    if (numbers <= NUMBERS_FEW || numbers <= NUMBERS_A_ROW * task->right_rows) {
        table->lookup = JOIN_BY_RANK;
        table->buckets = (numbers - 1) / 32 + 1;
    }
    return STATUS_OK;
}

/* Writes the entries of all rows, part by part. */
static enum status deal_rows(struct table_parts *all, struct error *error)
{
    const unsigned threads = all->table->task->threads;
    struct join_table *const table = all->table;
    uint64_t place = 0;
    RETURN_IF_ERROR(
        spillable_work(&table->entries, (all->rows + 1) * sizeof *table->entries, "a join", error));
    RETURN_IF_ERROR(parallel_for(threads, all->blocks, count_block, all, error));
    for (uint64_t i = 0; i < all->parts * all->blocks; i++) {
        const uint64_t count = all->counts[i];
        all->counts[i] = place;
        place += count;
    }
    return parallel_for(threads, all->blocks, order_block, all, error);
}

static enum status fill_buckets(struct table_parts *all, struct error *error)
{
    struct join_table *const table = all->table;
    RETURN_IF_ERROR(spillable_work(&table->ends, table->buckets * sizeof *table->ends, "a join", error));
    if (!all->rows)
        memset(table->ends, 0, table->buckets * sizeof *table->ends);
    RETURN_IF_ERROR(deal_rows(all, error));
    return parallel_for(table->task->threads, all->rows ? all->parts : 0, divide_part, all, error);
}

/* ---- Ranks ---- */

/* Finds whether the rows of a block, and the first one after it, are in the order of their numbers, and have some. */
static enum status check_block(void *context, uint64_t block, unsigned thread, struct error *error)
{
    struct table_parts *const all = context;
    const struct rowset_column *const keys = all->table->task->right_keys;
    const uint64_t end = block_end(all, block), last = end < all->rows ? end : all->rows - 1;
    uint64_t before = 0;
    bool ordered = !atomic_load_explicit(&all->disorder, memory_order_relaxed);
    (void)thread;
    for (uint64_t row = block * BLOCK_ROWS; row <= last && ordered; row++) {
        const uint64_t place = join_place(all->table, keys, row);
        ordered = place >= before && place != JOIN_NOWHERE;
        before = place;
    }
    if (!ordered)
        atomic_store_explicit(&all->disorder, true, memory_order_relaxed);
    return cancel_check(error);
}

static struct join_entry entry_at(const struct table_parts *all, uint64_t i)
{
    const struct join_table *const table = all->table;
    return all->ordered
               ? (struct join_entry){(uint32_t)join_place(table, table->task->right_keys, i), (uint32_t)i}
               : table->entries[i];
}

/* Marks a part's keys, and finds whether one has several rows. */
static enum status mark_part(void *context, uint64_t part, unsigned thread, struct error *error)
{
    struct table_parts *const all = context;
    uint64_t *const marks = all->table->marks;
    const uint64_t first = part_begin(all, part), end = part_begin(all, part + 1),
                   begin_word = part << all->shift, end_word = part_end_bucket(all, part);
    uint64_t repeated = 0;
    (void)thread;
    memset(marks + begin_word, 0, (end_word - begin_word) * sizeof *marks);
    for (uint64_t i = first; i < end; i++) {
        const uint32_t number = entry_at(all, i).tag;
        const uint64_t bit = UINT64_C(1) << number % 32;
        repeated |= marks[number / 32] & bit;
        marks[number / 32] |= bit;
    }
    (void)number_ranks_sum(marks + begin_word, end_word - begin_word, first);
    if (repeated)
        atomic_store_explicit(&all->repeated, true, memory_order_relaxed);
    return cancel_check(error);
}

static uint32_t rank_of(const struct join_table *table, uint32_t number)
{
    return number_ranks_of(table->marks[number / 32], number);
}

/* Counts the rows of each of a part's keys, and makes the counts the begins of the keys. */
static void count_rows(const struct table_parts *all, uint64_t first, uint64_t end)
{
    const struct join_table *const table = all->table;
    uint64_t begin = first;
    memset(table->ends + first, 0, (end - first) * sizeof *table->ends);
    for (uint64_t i = first; i < end; i++)
        table->ends[rank_of(table, table->entries[i].tag)]++;
    for (uint64_t rank = first; rank < end; rank++) {
        const uint32_t count = table->ends[rank];
        table->ends[rank] = (uint32_t)begin;
        begin += count;
    }
}

/* Places a part's rows in the order of their ranks. The last rank is that of a key, or is none and ends where the part does: it
 * is where the next part's first key begins. */
static enum status place_part(void *context, uint64_t part, unsigned thread, struct error *error)
{
    const struct table_parts *const all = context;
    const struct join_table *const table = all->table;
    const uint64_t first = part_begin(all, part), end = part_begin(all, part + 1);
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    if (table->ends && !all->ordered)
        count_rows(all, first, end);
    for (uint64_t i = first; i < end; i++) {
        const struct join_entry entry = entry_at(all, i);
        const uint32_t rank = rank_of(table, entry.tag);
        if (all->ordered)
            table->ends[rank] = (uint32_t)(i + 1);
        else
            table->rows[table->ends ? table->ends[rank]++ : rank] = entry.row;
    }
    if (all->ordered && first < end)
        table->ends[end - 1] = (uint32_t)end;
    return STATUS_OK;
}

static enum status fill_ranks(struct table_parts *all, struct error *error)
{
    struct join_table *const table = all->table;
    const unsigned threads = table->task->threads;
    RETURN_IF_ERROR(spillable_work(&table->marks, table->buckets * sizeof *table->marks, "a join", error));
    RETURN_IF_ERROR(parallel_for(threads, all->blocks, check_block, all, error));
    all->ordered = !atomic_load(&all->disorder);
    if (!all->ordered)
        RETURN_IF_ERROR(deal_rows(all, error));
    RETURN_IF_ERROR(parallel_for(threads, all->parts, mark_part, all, error));
    const bool repeated = atomic_load(&all->repeated);
    if (repeated)
        RETURN_IF_ERROR(spillable_work(&table->ends, (all->rows + 1) * sizeof *table->ends, "a join", error));
    if (!all->ordered)
        RETURN_IF_ERROR(spillable_work(&table->rows, (all->rows + 1) * sizeof *table->rows, "a join", error));
    if (repeated || !all->ordered)
        RETURN_IF_ERROR(parallel_for(threads, all->parts, place_part, all, error));
    spillable_free(table->entries);
    table->entries = NULL;
    return STATUS_OK;
}

/* Divides the buckets into parts. */
static enum status make_parts(struct table_parts *all, struct error *error)
{
    unsigned bits = 0;
    while ((all->table->buckets - 1) >> bits)
        bits++;
    all->shift = all->rows > BLOCK_ROWS && bits > PARTS_BITS ? bits - PARTS_BITS : bits;
    all->parts = (uint32_t)(((all->table->buckets - 1) >> all->shift) + 1);
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
    enum status status = choose_lookup(&all, error);
    status = AND_THEN(status, make_parts(&all, error));
    if (status == STATUS_OK)
        status = table->lookup == JOIN_BY_RANK ? fill_ranks(&all, error) : fill_buckets(&all, error);
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
    spillable_free(table->marks);
    spillable_free(table->rows);
    *table = (struct join_table){0};
}
