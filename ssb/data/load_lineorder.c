/*
 * load_lineorder.c: the fact table, one segment at a time. Threads first fill ranges of the segment's 17
 * arrays and replace the foreign keys in them by row positions, then encode and write a column each. A
 * segment is 1.1 GB of arrays; a range (65536 rows, 4.5 MB) is looked up while the cache still has it. If the
 * table is to be sorted, the writer keeps the segments until the last one is there.
 */
#include "ssb/data/load_tables.h"

#include "ssb/data/schema.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct lineorder {
    const struct ssb_load *load;
    const struct ssb_table_info *info;
    struct table_writer *writer;
    struct ssb_cursor **cursors; /* one a thread */
    int64_t *orderkeys;          /* SSB_RANGE_ROWS a thread; NULL if the column is int64 itself */
    void *columns[SSB_COLUMNS_MAX];
    uint64_t *validity[SSB_COLUMNS_MAX]; /* of the foreign keys if they may be NULL */
    atomic_bool has_nulls[SSB_COLUMNS_MAX];
    uint64_t rows;      /* of the table */
    uint64_t first_row; /* of the segment at hand */
    uint32_t segment_rows;
    atomic_uint_fast64_t done; /* rows filled and rows written, each counted half */
};

static uint64_t rows_max(uint64_t rows, uint64_t limit)
{
    return rows < limit ? rows : limit;
}

/* ---- Filling ---- */

/* The sentence for a key that names no row. Its array holds the position -1 by now, so the row is made again.
 */
static enum status dangling_key(const struct lineorder *lineorder, struct ssb_cursor *cursor, uint32_t column,
                                uint64_t row, struct error *error)
{
    const struct ssb_source *source = lineorder->load->source;
    const struct ssb_table_info *dimension = ssb_table_info(ssb_referenced_table(column));
    int32_t key;
    void *columns[SSB_COLUMNS_MAX] = {NULL};
    columns[column] = &key;
    RETURN_IF_ERROR(source->methods->lineorder(cursor, row, 1, columns, error));
    char place[SSB_PLACE_BYTES];
    source->methods->place(source, SSB_LINEORDER, row, place);
    return error_set(
        error, STATUS_BAD_INPUT,
        "%s: table lineorder, column %s: no row of table %s has %s %" PRId32
        "; correct the rows, or load with --dangling null to store such keys as NULL, which no join finds",
        place, lineorder->info->columns[column].name, dimension->name, dimension->columns[0].name, key);
}

/* Turns the keys of a range into row positions; where NULL is allowed, missing ones into 0 with their bit
 * off. */
static enum status resolve(struct lineorder *lineorder, struct ssb_cursor *cursor, uint32_t column,
                           uint64_t first, uint64_t rows, struct error *error)
{
    int32_t *keys = (int32_t *)lineorder->columns[column] + first;
    const struct key_index *index = lineorder->load->indices[ssb_referenced_table(column)];
    if (key_index_resolve(index, keys, rows) == 0)
        return STATUS_OK;
    for (uint64_t r = 0; r < rows; r++) {
        if (keys[r] >= 0)
            continue;
        if (!lineorder->load->dangling_null)
            return dangling_key(lineorder, cursor, column, lineorder->first_row + first + r, error);
        keys[r] = 0;
        lineorder->validity[column][(first + r) / 64] &= ~(UINT64_C(1) << ((first + r) % 64));
    }
    atomic_store(&lineorder->has_nulls[column], true);
    return STATUS_OK;
}

static void advance(struct lineorder *lineorder, uint64_t rows)
{
    uint64_t done = atomic_fetch_add(&lineorder->done, rows) + rows;
    progress_report(lineorder->load->progress, lineorder->info->name, "rows", done / 2, lineorder->rows);
}

static enum status fill_range(void *context, uint64_t range, unsigned thread, struct error *error)
{
    struct lineorder *lineorder = context;
    struct ssb_cursor *cursor = lineorder->cursors[thread];
    const uint64_t first = range * SSB_RANGE_ROWS;
    const uint64_t rows = rows_max(lineorder->segment_rows - first, SSB_RANGE_ROWS);
    RETURN_IF_ERROR(cancel_check(error));
    void *columns[SSB_COLUMNS_MAX];
    for (uint32_t c = 0; c < LO_COLUMNS; c++)
        columns[c] = (int32_t *)lineorder->columns[c] + first;
    int64_t *orderkeys = lineorder->orderkeys ? lineorder->orderkeys + (size_t)thread * SSB_RANGE_ROWS
                                              : (int64_t *)lineorder->columns[LO_ORDERKEY] + first;
    columns[LO_ORDERKEY] = orderkeys;
    RETURN_IF_ERROR(lineorder->load->source->methods->lineorder(cursor, lineorder->first_row + first, rows,
                                                                columns, error));
    if (lineorder->orderkeys)
        for (uint64_t r = 0; r < rows; r++)
            ((int32_t *)lineorder->columns[LO_ORDERKEY])[first + r] = (int32_t)orderkeys[r];
    for (uint32_t c = 0; c < LO_COLUMNS; c++)
        if (ssb_referenced_table(c) != SSB_TABLES)
            RETURN_IF_ERROR(resolve(lineorder, cursor, c, first, rows, error));
    advance(lineorder, rows);
    return STATUS_OK;
}

/* ---- Writing ---- */

static enum status write_column(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct lineorder *lineorder = context;
    const uint32_t column = (uint32_t)item;
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    RETURN_IF_ERROR(table_writer_segment(
        lineorder->writer, column, (uint32_t)(lineorder->first_row / SEGMENT_ROWS),
        lineorder->columns[column],
        atomic_load(&lineorder->has_nulls[column]) ? lineorder->validity[column] : NULL, error));
    /* equal shares that add up to the segment's rows */
    advance(lineorder, (uint64_t)lineorder->segment_rows * (column + 1) / LO_COLUMNS -
                           (uint64_t)lineorder->segment_rows * column / LO_COLUMNS);
    return STATUS_OK;
}

static enum status load_segment(struct lineorder *lineorder, struct error *error)
{
    const unsigned threads = lineorder->load->threads;
    lineorder->segment_rows = (uint32_t)rows_max(lineorder->rows - lineorder->first_row, SEGMENT_ROWS);
    for (uint32_t c = 0; c < LO_COLUMNS; c++)
        if (lineorder->validity[c]) {
            memset(lineorder->validity[c], 0xff,
                   ((size_t)lineorder->segment_rows + 63) / 64 * sizeof(uint64_t));
            atomic_store(&lineorder->has_nulls[c], false);
        }
    uint64_t ranges = ((uint64_t)lineorder->segment_rows + SSB_RANGE_ROWS - 1) / SSB_RANGE_ROWS;
    RETURN_IF_ERROR(parallel_for(threads, ranges, fill_range, lineorder, error));
    return parallel_for(threads, LO_COLUMNS, write_column, lineorder, error);
}

/* ---- The table ---- */

static enum status allocate(struct lineorder *lineorder, struct error *error)
{
    const struct ssb_load *load = lineorder->load;
    const uint64_t rows = rows_max(lineorder->rows, SEGMENT_ROWS);
    const bool wide = load->source->largest_orderkey > INT32_MAX;
    uint64_t bytes = 0;
    bool complete = true;
    for (uint32_t c = 0; c < LO_COLUMNS; c++) {
        uint64_t size = rows * (c == LO_ORDERKEY && wide ? sizeof(int64_t) : sizeof(int32_t));
        lineorder->columns[c] = malloc(size);
        complete &= lineorder->columns[c] != NULL;
        bytes += size;
        if (!load->dangling_null || ssb_referenced_table(c) == SSB_TABLES)
            continue;
        lineorder->validity[c] = malloc((rows + 63) / 64 * sizeof(uint64_t));
        complete &= lineorder->validity[c] != NULL;
    }
    if (!wide) {
        lineorder->orderkeys = malloc((size_t)load->threads * SSB_RANGE_ROWS * sizeof(int64_t));
        complete &= lineorder->orderkeys != NULL;
    }
    if (!complete)
        return error_out_of_memory(error, bytes, "a segment of lineorder");
    return ssb_load_cursors_open(load, SSB_LINEORDER, &lineorder->cursors, error);
}

static void release(struct lineorder *lineorder)
{
    ssb_load_cursors_close(lineorder->load, lineorder->cursors);
    for (uint32_t c = 0; c < LO_COLUMNS; c++) {
        free(lineorder->columns[c]);
        free(lineorder->validity[c]);
    }
    free(lineorder->orderkeys);
}

enum status ssb_load_lineorder(struct ssb_load *load, struct error *error)
{
    struct lineorder lineorder = {
        .load = load, .info = ssb_table_info(SSB_LINEORDER), .rows = load->source->rows[SSB_LINEORDER]};
    RETURN_IF_ERROR(ssb_load_table_begin(load, SSB_LINEORDER, &lineorder.writer, error));
    for (uint32_t c = 0; c < LO_COLUMNS; c++)
        if (!lineorder.info->columns[c].number)
            RETURN_IF_ERROR(
                table_writer_dictionary(lineorder.writer, c, &load->source->dictionaries[c], error));
    if (load->sort_by)
        RETURN_IF_ERROR(table_writer_sort_by(lineorder.writer, *load->sort_by, error));
    enum status status = allocate(&lineorder, error);
    for (; lineorder.first_row < lineorder.rows && status == STATUS_OK; lineorder.first_row += SEGMENT_ROWS)
        status = load_segment(&lineorder, error);
    release(&lineorder);
    if (status == STATUS_OK && load->sort_by)
        status = table_writer_sort(lineorder.writer, load->threads, load->progress, error);
    return status;
}
