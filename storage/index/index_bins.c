/* index_bins.c: see index_bins.h. */
#include "storage/index/index_bins.h"

#include "storage/base/hash_table.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"
#include "storage/base/sort/sort.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static uint32_t tile_rows(const struct chunk_view *chunk, uint32_t tile)
{
    const uint32_t left = chunk->rows - tile * TILE_ROWS;
    return left < TILE_ROWS ? left : TILE_ROWS;
}

static const uint32_t *tile_validity(const struct segment_data *segment, uint32_t tile)
{
    return segment->validity ? segment->validity + (size_t)tile * TILE_LANES : NULL;
}

/* ---- Different values ---- */

struct distinct_work {
    const struct column_data *data;
    atomic_bool over; /* there are more than INDEX_BINS_MAX */
    pthread_mutex_t lock;
    struct hash_words all; /* protected by the lock */
};

/* Adds the values of a segment. */
static enum status take_values(struct distinct_work *work, const struct segment_data *segment,
                               struct hash_words *set, struct chunk_reader *reader, struct error *error)
{
    const struct chunk_view *const chunk = &segment->chunk;
    for (uint32_t tile = 0; tile < chunk->tiles && !atomic_load_explicit(&work->over, memory_order_relaxed);
         tile++) {
        const void *values;
        const uint32_t rows = tile_rows(chunk, tile), *const validity = tile_validity(segment, tile);
        bool any = false;
        int64_t last = 0;
        RETURN_IF_ERROR(chunk_reader_tile(reader, chunk, tile, &values, error));
        for (uint32_t r = 0; r < rows && set->table.count <= INDEX_BINS_MAX; r++) {
            const int64_t value = row_value(values, chunk->value_bytes, r);
            if ((any && value == last) || (validity && !tile_row_valid(validity, r)))
                continue;
            RETURN_IF_ERROR(hash_words_add(set, (uint64_t)value, error));
            last = value;
            any = true;
        }
        if (set->table.count > INDEX_BINS_MAX)
            atomic_store(&work->over, true);
    }
    return STATUS_OK;
}

static enum status distinct_segment(void *context, uint64_t item, unsigned thread, struct error *error)
{
    (void)thread;
    struct distinct_work *const work = context;
    struct chunk_reader reader = {0};
    struct hash_words set = {0};
    RETURN_IF_ERROR(cancel_check(error));
    enum status status = take_values(work, &work->data->segments[item], &set, &reader, error);
    pthread_mutex_lock(&work->lock);
    for (uint64_t v = 0; status == STATUS_OK && v < set.table.count; v++)
        status = hash_words_add(&work->all, set.words[v], error);
    if (work->all.table.count > INDEX_BINS_MAX)
        atomic_store(&work->over, true);
    pthread_mutex_unlock(&work->lock);
    chunk_reader_close(&reader);
    hash_words_free(&set);
    return status;
}

/* The column's different values, or *over if they are too many. */
static enum status choose_values(const struct column_data *data, unsigned threads, int64_t *bounds,
                                 uint32_t *count, bool *over, struct error *error)
{
    struct distinct_work work = {.data = data, .lock = PTHREAD_MUTEX_INITIALIZER};
    const enum status status = parallel_for(threads, data->segment_count, distinct_segment, &work, error);
    *over = atomic_load(&work.over);
    *count = status == STATUS_OK && !*over ? (uint32_t)work.all.table.count : 0;
    if (*count)
        memcpy(bounds, work.all.words, *count * sizeof *bounds);
    sort_integers(bounds, *count);
    hash_words_free(&work.all);
    return status;
}

/* ---- Bins of equal width ---- */

/* `part` of `parts` of a range, without overflow: a range may have 2^64 values. */
static uint64_t share(uint64_t last, uint32_t part, uint32_t parts)
{
    const uint64_t whole = last / parts, rest = last % parts + 1; /* last + 1 values */
    return whole * part + rest * part / parts;
}

static uint32_t choose_width(const struct column_statistics *statistics, uint32_t wanted, int64_t *bounds)
{
    const uint64_t last = (uint64_t)statistics->max - (uint64_t)statistics->min;
    uint32_t count = 0;
    for (uint32_t b = 0; b < wanted; b++) {
        const int64_t bound = (int64_t)((uint64_t)statistics->min + share(last, b, wanted));
        if (count == 0 || bound > bounds[count - 1])
            bounds[count++] = bound;
    }
    return count;
}

/* ---- Bins of equal depth ---- */

#define SAMPLE_ROWS (1u << 20) /* of 4096 bins, each then has 256 rows of the sample: 6 % error */

struct sample_work {
    const struct column_data *data;
    const uint64_t *first; /* each segment's first row */
    uint64_t stride;       /* the sample has the rows that are multiples of it */
    int64_t *values;       /* of row r: r / stride */
    bool *there;
};

static enum status sample_tile(const struct sample_work *work, const struct segment_data *segment,
                               uint64_t first, uint32_t tile, struct chunk_reader *reader,
                               struct error *error)
{
    const uint32_t rows = tile_rows(&segment->chunk, tile), *const validity = tile_validity(segment, tile);
    uint64_t row = (first + work->stride - 1) / work->stride * work->stride;
    const void *values;
    if (row >= first + rows)
        return STATUS_OK;
    RETURN_IF_ERROR(chunk_reader_tile(reader, &segment->chunk, tile, &values, error));
    for (; row < first + rows; row += work->stride) {
        const uint32_t r = (uint32_t)(row - first);
        if (validity && !tile_row_valid(validity, r))
            continue;
        work->values[row / work->stride] = row_value(values, segment->chunk.value_bytes, r);
        work->there[row / work->stride] = true;
    }
    return STATUS_OK;
}

static enum status sample_segment(void *context, uint64_t item, unsigned thread, struct error *error)
{
    (void)thread;
    const struct sample_work *const work = context;
    const struct segment_data *const segment = &work->data->segments[item];
    struct chunk_reader reader = {0};
    enum status status = cancel_check(error);
    for (uint32_t tile = 0; tile < segment->chunk.tiles && status == STATUS_OK; tile++)
        status =
            sample_tile(work, segment, work->first[item] + (uint64_t)tile * TILE_ROWS, tile, &reader, error);
    chunk_reader_close(&reader);
    return status;
}

/* Bins begin at the sample's quantiles. A value that is several of them has a bin of its own, in their place; so there
 * may be fewer bins. */
static uint32_t take_quantiles(const int64_t *sample, uint64_t rows, uint32_t wanted,
                               const struct column_statistics *statistics, int64_t *bounds)
{
    uint32_t count = 1;
    bool frequent = false; /* the last bound */
    bounds[0] = statistics->min;
    for (uint32_t b = 1; b <= wanted && rows; b++) {
        const int64_t last = bounds[count - 1],
                      bound = b < wanted ? sample[rows * b / wanted] : statistics->max;
        const bool more = bound > last;
        if (more && frequent)
            bounds[count++] = last + 1;
        if (more && b < wanted && bound > bounds[count - 1])
            bounds[count++] = bound;
        frequent = !more;
    }
    return count;
}

static enum status choose_depth(const struct column_data *data, unsigned threads, uint32_t wanted,
                                int64_t *bounds, uint32_t *count, struct error *error)
{
    const struct table *const table = data->column->table;
    const uint64_t stride = table->rows / SAMPLE_ROWS + 1, room = table->rows / stride + 1;
    uint64_t *first = NULL, row = 0, taken = 0;
    struct sample_work work = {.data = data, .stride = stride};
    enum status status =
        memory_zeros(&first, ((uint64_t)data->segment_count + 1) * sizeof *first, "an index's sample", error);
    status =
        AND_THEN(status, memory_zeros(&work.values, room * sizeof *work.values, "an index's sample", error));
    status = AND_THEN(status, memory_zeros(&work.there, room, "an index's sample", error));
    for (uint32_t s = 0; s < data->segment_count && status == STATUS_OK; s++) {
        first[s] = row;
        row += table->segment_rows[s];
    }
    work.first = first;
    status = AND_THEN(status, parallel_for(threads, data->segment_count, sample_segment, &work, error));
    if (status == STATUS_OK) {
        for (uint64_t i = 0; i < room; i++)
            if (work.there[i])
                work.values[taken++] = work.values[i];
        sort_integers(work.values, taken);
        *count = take_quantiles(work.values, taken, wanted, &data->column->statistics, bounds);
    }
    free(first);
    free(work.values);
    free(work.there);
    return status;
}

/* ---- All ---- */

static enum status too_many(const struct column *column, struct error *error)
{
    return error_set(
        error, STATUS_BAD_INPUT,
        "column %s.%s has more than %u different values, too many for a bit vector each; give its index "
        "bins: `tessera index drop`, if it has one, and `tessera index create --bins 256`",
        column->table->name, column->schema.name, INDEX_BINS_MAX);
}

static enum status choose(const struct column_data *data, unsigned threads, struct column_index *index,
                          int64_t *bounds, struct error *error)
{
    const struct index_wish *const wish = &index->wish;
    bool over = false;
    if (wish->bins == INDEX_WIDTH) {
        index->bin_count = choose_width(&data->column->statistics, wish->count, bounds);
        return STATUS_OK;
    }
    if (wish->bins == INDEX_DEPTH)
        return choose_depth(data, threads, wish->count, bounds, &index->bin_count, error);
    RETURN_IF_ERROR(choose_values(data, threads, bounds, &index->bin_count, &over, error));
    index->exact = !over;
    if (!over)
        return STATUS_OK;
    if (wish->bins == INDEX_VALUES)
        return too_many(data->column, error);
    return choose_depth(data, threads, INDEX_BINS_OWN, bounds, &index->bin_count, error);
}

enum status index_bins_choose(const struct column_data *data, unsigned threads, struct column_index *index,
                              struct error *error)
{
    int64_t *bounds;
    RETURN_IF_ERROR(memory_zeros(&bounds, INDEX_BINS_MAX * sizeof *bounds, "an index's bins", error));
    index->bounds = bounds;
    index->bin_count = 0;
    index->exact = false;
    const struct column *const column = data->column;
    if (column->statistics.min > column->statistics.max)
        return STATUS_OK;
    RETURN_IF_ERROR(choose(data, threads, index, bounds, error));
    if (bounds[0] == column->statistics.min && bounds[index->bin_count - 1] <= column->statistics.max)
        return STATUS_OK;
    return error_set(error, STATUS_CHECK_FAILED,
                     "column %s.%s has values outside of its statistics; load the table again",
                     column->table->name, column->schema.name);
}

/* Whether each of some ascending values is a bound. */
static bool are_bounds(const struct column_index *index, const int64_t *values, uint32_t count)
{
    uint32_t b = 0, found = 0;
    for (; found < count && b < index->bin_count; b++)
        found += index->bounds[b] == values[found];
    return found == count;
}

enum status index_bins_extend(const struct column_data *data, unsigned threads, struct column_index *index,
                              struct error *error)
{
    const int64_t least = data->column->statistics.min;
    int64_t *const bounds = (int64_t *)index->bounds, *values;
    uint32_t count;
    bool over = false;
    if (index->exact) {
        RETURN_IF_ERROR(memory_take(&values, INDEX_BINS_MAX * sizeof *values, "an index's bins", error));
        const enum status status = choose_values(data, threads, values, &count, &over, error);
        index->exact = !over && status == STATUS_OK && are_bounds(index, values, count);
        free(values);
        RETURN_IF_ERROR(status);
    }
    bounds[0] = least < bounds[0] ? least : bounds[0];
    return STATUS_OK;
}

/* ---- Looking up ---- */

/* 8 MiB of bins, which the last cache holds. */
#define LOOKUP_VALUES_MAX (1u << 22)

static uint32_t search(const struct column_index *index, int64_t value)
{
    uint32_t low = 0, high = index->bin_count;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (index->bounds[middle] <= value)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static uint32_t search_exact(const struct column_index *index, int64_t value)
{
    const uint32_t bin = search(index, value);
    return index->exact && index->bounds[bin] != value ? INDEX_NO_BIN : bin;
}

enum status index_lookup_make(const struct column *column, const struct column_index *index,
                              struct index_lookup *lookup, struct error *error)
{
    const struct column_statistics *const statistics = &column->statistics;
    *lookup = (struct index_lookup){.index = index, .least = statistics->min, .greatest = statistics->max};
    lookup->nulls = statistics->nulls ? index->bin_count : INDEX_NO_BIN;
    const uint64_t last = (uint64_t)statistics->max - (uint64_t)statistics->min;
    if (index->bin_count == 0 || last >= LOOKUP_VALUES_MAX)
        return STATUS_OK;
    RETURN_IF_ERROR(memory_take(&lookup->bins, (last + 1) * sizeof *lookup->bins, "an index's bins", error));
    for (uint64_t v = 0; v <= last; v++)
        lookup->bins[v] = (uint16_t)search_exact(index, statistics->min + (int64_t)v);
    return STATUS_OK;
}

void index_lookup_free(struct index_lookup *lookup)
{
    free(lookup->bins);
    *lookup = (struct index_lookup){0};
}

uint32_t index_lookup_bin(const struct index_lookup *lookup, int64_t value)
{
    if (lookup->index->bin_count == 0 || value < lookup->least || value > lookup->greatest)
        return INDEX_NO_BIN;
    if (!lookup->bins)
        return search_exact(lookup->index, value);
    const uint16_t bin = lookup->bins[value - lookup->least];
    return bin == UINT16_MAX ? INDEX_NO_BIN : bin;
}

enum status index_lookup_tile(const struct index_lookup *lookup, const struct segment_data *segment,
                              uint32_t tile, struct chunk_reader *reader, uint32_t *codes, uint32_t *rows,
                              struct error *error)
{
    const struct chunk_view *const chunk = &segment->chunk;
    const uint32_t *const validity = tile_validity(segment, tile);
    const void *values;
    bool all = true;
    *rows = tile_rows(chunk, tile);
    RETURN_IF_ERROR(chunk_reader_tile(reader, chunk, tile, &values, error));
    for (uint32_t r = 0; r < *rows; r++) {
        codes[r] = validity && !tile_row_valid(validity, r)
                       ? lookup->nulls
                       : index_lookup_bin(lookup, row_value(values, chunk->value_bytes, r));
        all &= codes[r] != INDEX_NO_BIN;
    }
    if (all)
        return STATUS_OK;
    return error_set(error, STATUS_CHECK_FAILED,
                     "%s: segment %u, tile %u: a value is in no bin of the index: it is not within the "
                     "column's statistics; load the table again",
                     chunk->file, chunk->segment, tile);
}
