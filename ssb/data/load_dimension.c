/*
 * load_dimension.c: a dimension, whole in memory: ranges of rows by all threads, each with dictionaries of
 * its own for the string columns; then, column by column, the dictionaries are added together, sorted, and
 * the codes of every range follow. SF 1: 0.23 million rows of four tables; SF 100: 5 million.
 */
#include "ssb/data/load_tables.h"

#include "loader/table/dictionary_builder.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* Rows that a thread takes at a time: the dimensions of SF 1 give all threads something to do. */
#define RANGE_ROWS 4096u

struct dimension {
    const struct ssb_load *load;
    enum ssb_table table;
    const struct ssb_table_info *info;
    uint64_t rows, ranges;
    struct table_writer *writer;
    struct ssb_cursor **cursors;              /* one a thread */
    int64_t *keys;                            /* of the primary key */
    int32_t *columns[SSB_COLUMNS_MAX];        /* numbers, and codes of the thread that met the string */
    uint16_t *range_thread;                   /* which thread took each range */
    struct dictionary_builder **dictionaries; /* threads x column_count; NULL for numbers */
    atomic_uint_fast64_t done;
};

static struct dictionary_builder **dictionary_of(const struct dimension *dimension, unsigned thread,
                                                 uint32_t column)
{
    return &dimension->dictionaries[(size_t)thread * dimension->info->column_count + column];
}

/* ---- Rows ---- */

static enum status fill_range(void *context, uint64_t range, unsigned thread, struct error *error)
{
    struct dimension *dimension = context;
    const struct ssb_table_info *info = dimension->info;
    const uint64_t first = range * RANGE_ROWS;
    const uint64_t end = first + RANGE_ROWS < dimension->rows ? first + RANGE_ROWS : dimension->rows;
    RETURN_IF_ERROR(cancel_check(error));
    dimension->range_thread[range] = (uint16_t)thread;
    for (uint64_t r = first; r < end; r++) {
        struct ssb_values values;
        RETURN_IF_ERROR(dimension->load->source->methods->row(dimension->cursors[thread], r, &values, error));
        for (uint32_t c = 0; c < info->column_count; c++) {
            if (info->columns[c].number)
                dimension->columns[c][r] = (int32_t)values.numbers[c];
            else
                RETURN_IF_ERROR(dictionary_builder_add(*dictionary_of(dimension, thread, c),
                                                       values.strings[c], values.lengths[c],
                                                       &dimension->columns[c][r], error));
        }
        dimension->keys[r] = values.numbers[0];
    }
    uint64_t done = atomic_fetch_add(&dimension->done, end - first) + end - first;
    progress_report(dimension->load->progress, info->name, "rows", done, dimension->rows);
    return STATUS_OK;
}

/* ---- Columns ---- */

/* Replaces the codes that thread `thread` gave by those that `codes` and then `sorted` say. */
static void recode(const struct dimension *dimension, unsigned thread, int32_t *column, const int32_t *codes,
                   const int32_t *sorted)
{
    for (uint64_t range = 0; range < dimension->ranges; range++) {
        if (dimension->range_thread[range] != thread)
            continue;
        uint64_t first = range * RANGE_ROWS;
        uint64_t end = first + RANGE_ROWS < dimension->rows ? first + RANGE_ROWS : dimension->rows;
        for (uint64_t r = first; r < end; r++)
            column[r] = sorted[codes[column[r]]];
    }
}

/* Adds the threads' dictionaries of a column together and makes its codes those of the sorted whole. */
static enum status unite_dictionaries(const struct dimension *dimension, uint32_t column,
                                      struct dictionary_builder *whole, struct error *error)
{
    const unsigned threads = dimension->load->threads;
    int32_t **codes = calloc(threads, sizeof *codes);
    if (!codes)
        return error_out_of_memory(error, threads * sizeof *codes, "a dictionary");
    enum status status = STATUS_OK;
    for (unsigned t = 0; t < threads && status == STATUS_OK; t++) {
        struct dictionary_builder **part = dictionary_of(dimension, t, column);
        uint64_t bytes = ((uint64_t)dictionary_builder_count(*part) + 1) * sizeof **codes;
        codes[t] = malloc(bytes);
        status = codes[t] ? dictionary_builder_merge(whole, *part, codes[t], error)
                          : error_out_of_memory(error, bytes, "a dictionary");
        dictionary_builder_destroy(*part);
        *part = NULL;
    }
    struct dictionary dictionary;
    const int32_t *sorted;
    if (status == STATUS_OK)
        status = dictionary_builder_sort(whole, &dictionary, &sorted, error);
    if (status == STATUS_OK)
        status = table_writer_dictionary(dimension->writer, column, &dictionary, error);
    for (unsigned t = 0; t < threads; t++) {
        if (status == STATUS_OK)
            recode(dimension, t, dimension->columns[column], codes[t], sorted);
        free(codes[t]);
    }
    free(codes);
    return status;
}

static enum status write_column(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct dimension *dimension = context;
    const uint32_t column = (uint32_t)item;
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    if (!dimension->info->columns[column].number) {
        struct dictionary_builder *whole;
        RETURN_IF_ERROR(dictionary_builder_create(&whole, error));
        enum status status = unite_dictionaries(dimension, column, whole, error);
        dictionary_builder_destroy(whole);
        RETURN_IF_ERROR(status);
    }
    for (uint64_t first = 0; first < dimension->rows; first += SEGMENT_ROWS)
        RETURN_IF_ERROR(table_writer_segment(dimension->writer, column, (uint32_t)(first / SEGMENT_ROWS),
                                             dimension->columns[column] + first, NULL, error));
    free(dimension->columns[column]);
    dimension->columns[column] = NULL;
    return STATUS_OK;
}

/* ---- The table ---- */

static enum status allocate(struct dimension *dimension, struct error *error)
{
    const uint32_t columns = dimension->info->column_count;
    const unsigned threads = dimension->load->threads;
    dimension->keys = malloc(dimension->rows * sizeof *dimension->keys);
    dimension->range_thread = malloc(dimension->ranges * sizeof *dimension->range_thread);
    dimension->dictionaries = calloc((size_t)threads * columns, sizeof(struct dictionary_builder *));
    bool complete = dimension->keys && dimension->range_thread && dimension->dictionaries;
    for (uint32_t c = 0; c < columns; c++) {
        dimension->columns[c] = malloc(dimension->rows * sizeof(int32_t));
        complete &= dimension->columns[c] != NULL;
    }
    if (!complete)
        return error_out_of_memory(error, dimension->rows * (8 + 4 * (uint64_t)columns),
                                   dimension->info->name);
    for (unsigned t = 0; t < threads; t++)
        for (uint32_t c = 0; c < columns; c++)
            if (!dimension->info->columns[c].number)
                RETURN_IF_ERROR(dictionary_builder_create(dictionary_of(dimension, t, c), error));
    return ssb_load_cursors_open(dimension->load, dimension->table, &dimension->cursors, error);
}

static void release(struct dimension *dimension)
{
    ssb_load_cursors_close(dimension->load, dimension->cursors);
    for (uint32_t c = 0; c < dimension->info->column_count; c++) {
        for (unsigned t = 0; t < dimension->load->threads && dimension->dictionaries; t++)
            dictionary_builder_destroy(*dictionary_of(dimension, t, c));
        free(dimension->columns[c]);
    }
    free(dimension->dictionaries);
    free(dimension->range_thread);
    free(dimension->keys);
}

/* A row of a file is a line. */
static void place_of(const void *path, uint64_t row, char text[KEY_PLACE_BYTES])
{
    if (path)
        snprintf(text, KEY_PLACE_BYTES, "%s:%llu", (const char *)path, (unsigned long long)row + 1);
    else
        snprintf(text, KEY_PLACE_BYTES, "row %llu", (unsigned long long)row + 1);
}

enum status ssb_load_dimension(struct ssb_load *load, enum ssb_table table, struct error *error)
{
    struct dimension dimension = {.load = load, .table = table, .info = ssb_table_info(table)};
    const struct ssb_table_info *info = dimension.info;
    dimension.rows = load->source->rows[table];
    dimension.ranges = (dimension.rows + RANGE_ROWS - 1) / RANGE_ROWS;
    RETURN_IF_ERROR(ssb_load_table_begin(load, table, &dimension.writer, error));
    enum status status = allocate(&dimension, error);
    if (status == STATUS_OK)
        status = parallel_for(load->threads, dimension.ranges, fill_range, &dimension, error);
    const struct key_owner owner = {.table = info->name,
                                    .column = info->columns[0].name,
                                    .place = place_of,
                                    .context = load->source->methods->path(load->source, table)};
    if (status == STATUS_OK)
        status = key_index_create(dimension.keys, dimension.rows, &owner, &load->indices[table], error);
    if (status == STATUS_OK)
        status = parallel_for(load->threads, info->column_count, write_column, &dimension, error);
    release(&dimension);
    return status;
}
