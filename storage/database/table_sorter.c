/* table_sorter.c: stores a table's rows sorted by one column, or by levels (levels/table_levels.c); see table_writer_sort_by
 * in writer.h.
 *
 * Segments come in any order from any thread, before the place of any value is known. They are kept as plain
 * arrays, column after column, in a file without a name (spool.h), which disappears also in
 * a crash. Then the key column is read and sorted once (sort_rows.h). Each column is read, put into that
 * order and written segment by segment, as many columns at a time as threads and memory allow. */
#define _GNU_SOURCE
#include "storage/database/writer_internal.h"

#include "storage/base/execution/memory_account.h"
#include "storage/base/execution/spillable.h"
#include "storage/base/execution/spool.h"
#include "storage/base/memory.h"
#include "storage/base/sort/sort_rows.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The buffers that writing a segment needs in addition to the column: its values in order, the values without
 * NULLs, and two encoded segments while a chooser tries its candidates. Each has up to 66 MB for 4-byte
 * values, and twice that for 8-byte values. */
#define SEGMENT_BUFFERS 4u

/* The places of the rows, and while they are sorted a part and the list of a thread (sort_rows.h). */
#define ORDER_BYTES 16u

#define COLUMN_NONE UINT32_MAX

enum kept { KEPT_NOT, KEPT_VALUES, KEPT_NULLS /* values and validity */ };

struct table_sorter {
    uint32_t column; /* the key; COLUMN_NONE: rows are laid out by levels */
    struct spool spool;
    uint8_t *kept;          /* enum kept of each segment of column 0, then of column 1, ... */
    uint64_t *values_start; /* each column's place in the file */
    uint64_t *validity_start;
    uint64_t bytes; /* of the file */
    bool done;
};

/* ---- Room ---- */

static uint64_t column_bytes(const struct table *table, uint32_t column)
{
    return table->rows * table->columns[column].value_bytes + table->rows / 8 + sizeof(uint64_t);
}

static uint64_t segment_bytes(const struct table *table, uint32_t column)
{
    const uint64_t rows = table->rows < SEGMENT_ROWS ? table->rows : SEGMENT_ROWS;
    return SEGMENT_BUFFERS * rows * table->columns[column].value_bytes;
}

/* The memory that is needed, of which `sorting` is what finding the order takes. */
static uint64_t memory_needed(const struct table *table, uint64_t sorting)
{
    uint64_t writing = 0;
    for (uint32_t c = 0; c < table->column_count; c++) {
        const uint64_t bytes =
            table->rows * sizeof(uint32_t) + column_bytes(table, c) + segment_bytes(table, c);
        writing = bytes > writing ? bytes : writing;
    }
    return sorting > writing ? sorting : writing;
}

uint64_t table_sorter_level_bytes(const struct table *table)
{
    uint64_t most = 0, codes = 0;
    for (uint32_t c = 0; c < table->column_count; c++) {
        most = column_bytes(table, c) > most ? column_bytes(table, c) : most;
        codes += table->rows * sizeof(uint16_t);
    }
    return memory_needed(table, codes + most + table->rows * LEVEL_ROW_BYTES);
}

static enum status check_memory(const struct table *table, uint32_t column, struct error *error)
{
    const uint64_t needed = memory_needed(table, table->rows * ORDER_BYTES + column_bytes(table, column)),
                   available = memory_available("");
    if (needed <= available)
        return STATUS_OK;
    return error_set(error, STATUS_MACHINE,
                     "sorting table %s by %s needs %" PRIu64 " bytes of memory and %" PRIu64
                     " are available; free memory, or load it unsorted",
                     table->name, table->columns[column].schema.name, needed, available);
}

/* ---- The file ---- */

static enum status open_file(struct table_sorter *sorter, const struct table *table, struct error *error)
{
    char why[128];
    for (uint32_t c = 0; c < table->column_count; c++) {
        sorter->values_start[c] = sorter->bytes;
        sorter->bytes += table->rows * table->columns[c].value_bytes;
        sorter->validity_start[c] = sorter->bytes;
        if (table->columns[c].schema.nullable)
            sorter->bytes += (table->rows + 63) / 64 * sizeof(uint64_t);
    }
    snprintf(why, sizeof why, "sorting table %.64s", table->name);
    RETURN_IF_ERROR(spool_open(&sorter->spool, why, error));
    return spool_reserve(&sorter->spool, sorter->bytes, why, error);
}

/* ---- Taking segments ---- */

static uint8_t *kept_of(const struct table_writer *table, uint32_t column, uint32_t segment)
{
    return &table->sorter->kept[(uint64_t)column * table->table.segment_count + segment];
}

static enum status sorter_open(struct table_writer *table, uint32_t column, struct error *error)
{
    const struct table *described = &table->table;
    struct table_sorter *sorter;
    RETURN_IF_ERROR(table_append_anew(table, error));
    RETURN_IF_ERROR(memory_zeros(&sorter, sizeof *sorter, "sorting a table", error));
    *sorter = (struct table_sorter){.column = column, .spool = {.descriptor = -1}};
    table->sorter = sorter; /* now table_writer_free frees it */
    const uint64_t chunks = (uint64_t)described->column_count * described->segment_count;
    sorter->kept = calloc(chunks + 1, 1);
    sorter->values_start = calloc(described->column_count, sizeof(uint64_t));
    sorter->validity_start = calloc(described->column_count, sizeof(uint64_t));
    if (!sorter->kept || !sorter->values_start || !sorter->validity_start)
        return error_out_of_memory(error, chunks, "sorting a table");
    return open_file(sorter, described, error);
}

enum status table_writer_sort_by(struct table_writer *table, uint32_t column, struct error *error)
{
    const struct table *described = &table->table;
    RETURN_IF_ERROR(table_writer_column(table, column, error));
    if (described->rows > SORT_ROWS_MAX)
        return error_set(error, STATUS_BAD_INPUT,
                         "table %s has %" PRIu64
                         " rows, and %u are the most that are sorted; load it unsorted",
                         described->name, described->rows, SORT_ROWS_MAX);
    if (table->sorter)
        return error_set(error, STATUS_BAD_INPUT, "table %s is to be sorted twice; sort it by one column",
                         described->name);
    RETURN_IF_ERROR(check_memory(described, column, error));
    return sorter_open(table, column, error);
}

enum status table_sorter_open(struct table_writer *table, struct error *error)
{
    return sorter_open(table, COLUMN_NONE, error);
}
enum status table_sorter_take(struct table_writer *table, uint32_t column, uint32_t segment,
                              const void *values, const uint64_t *validity, struct error *error)
{
    struct table_sorter *sorter = table->sorter;
    const struct column *described = &table->table.columns[column];
    const uint64_t first = (uint64_t)segment * SEGMENT_ROWS, rows = table->table.segment_rows[segment];
    RETURN_IF_ERROR(spool_put(&sorter->spool, sorter->values_start[column] + first * described->value_bytes,
                              values, rows * described->value_bytes, error));
    if (validity)
        RETURN_IF_ERROR(spool_put(&sorter->spool, sorter->validity_start[column] + first / 8, validity,
                                  (rows + 63) / 64 * sizeof *validity, error));
    *kept_of(table, column, segment) = validity ? KEPT_NULLS : KEPT_VALUES;
    return STATUS_OK;
}

bool table_sorter_done(const struct table_sorter *sorter)
{
    return sorter->done;
}

void table_sorter_free(struct table_sorter *sorter)
{
    if (!sorter)
        return;
    spool_close(&sorter->spool);
    free(sorter->kept);
    free(sorter->values_start);
    free(sorter->validity_start);
    free(sorter);
}

/* ---- Sorting ---- */

void whole_column_free(struct whole_column *whole)
{
    free(whole->values);
    free(whole->validity);
}

static enum status read_validity(const struct table_writer *table, uint32_t column,
                                 struct whole_column *whole, struct error *error)
{
    const uint64_t bytes = (table->table.rows + 63) / 64 * sizeof *whole->validity;
    RETURN_IF_ERROR(memory_take(&whole->validity, bytes, "the NULLs of a column to sort", error));
    memset(whole->validity, 0xff, bytes);
    for (uint32_t s = 0; s < table->table.segment_count; s++) {
        const uint64_t first = (uint64_t)s * SEGMENT_ROWS / 64;
        if (*kept_of(table, column, s) == KEPT_NULLS)
            RETURN_IF_ERROR(spool_get(
                &table->sorter->spool, table->sorter->validity_start[column] + first * sizeof(uint64_t),
                whole->validity + first,
                ((uint64_t)table->table.segment_rows[s] + 63) / 64 * sizeof(uint64_t), error));
    }
    return STATUS_OK;
}

enum status table_sorter_read(const struct table_writer *table, uint32_t column, struct whole_column *whole,
                              struct error *error)
{
    const uint64_t bytes = table->table.rows * table->table.columns[column].value_bytes;
    *whole = (struct whole_column){.values = segment_buffer(bytes, "a column to sort", error)};
    if (!whole->values)
        return STATUS_MACHINE;
    RETURN_IF_ERROR(
        spool_get(&table->sorter->spool, table->sorter->values_start[column], whole->values, bytes, error));
    for (uint32_t s = 0; s < table->table.segment_count; s++)
        if (*kept_of(table, column, s) == KEPT_NULLS)
            return read_validity(table, column, whole, error);
    return STATUS_OK;
}

/* The rows with NULLs first, then by value, then by row. */
static enum status find_order(struct table_writer *table, unsigned threads, uint32_t **order,
                              struct error *error)
{
    const struct table_sorter *sorter = table->sorter;
    const uint64_t rows = table->table.rows;
    struct whole_column whole;
    uint64_t *places = NULL;
    enum status status = table_sorter_read(table, sorter->column, &whole, error);
    if (status == STATUS_OK) {
        const bool narrow = table->table.columns[sorter->column].value_bytes == 4;
        const struct sort_term term = {.values = narrow ? NULL : whole.values,
                                       .narrow = narrow ? whole.values : NULL,
                                       .validity = whole.validity,
                                       .nulls_first = true};
        status = sort_rows_make(&term, 1, rows, rows, NULL, NULL, threads, &places, error);
    }
    whole_column_free(&whole);
    status = AND_THEN(status, memory_take(order, (rows + 1) * sizeof **order, "sorting rows", error));
    for (uint64_t i = 0; status == STATUS_OK && i < rows; i++)
        (*order)[i] = (uint32_t)places[i];
    spillable_free(places);
    return status;
}

struct rewriting {
    struct table_writer *table;
    const uint32_t *order;
    struct progress *progress;
    atomic_uint_fast64_t done; /* segments of columns */
    uint64_t total;
};

/* Puts the values and validity of `rows` rows in order; true if any row is NULL. */
static bool gather(const struct whole_column *whole, uint32_t value_bytes, const uint32_t *order,
                   uint32_t rows, void *values, uint64_t *validity)
{
    bool nulls = false;
    if (value_bytes == 4)
        for (uint32_t r = 0; r < rows; r++)
            ((int32_t *)values)[r] = ((const int32_t *)whole->values)[order[r]];
    else
        for (uint32_t r = 0; r < rows; r++)
            ((int64_t *)values)[r] = ((const int64_t *)whole->values)[order[r]];
    if (!whole->validity)
        return false;
    memset(validity, 0, ((size_t)rows + 63) / 64 * sizeof *validity);
    for (uint32_t r = 0; r < rows; r++) {
        const uint64_t valid = row_valid(whole->validity, order[r]);
        validity[r / 64] |= valid << r % 64;
        nulls |= !valid;
    }
    return nulls;
}

static enum status rewrite_segments(struct rewriting *rewriting, uint32_t column,
                                    const struct whole_column *whole, void *values, uint64_t *validity,
                                    struct error *error)
{
    struct table_writer *table = rewriting->table;
    for (uint32_t s = 0; s < table->table.segment_count; s++) {
        RETURN_IF_ERROR(cancel_check(error));
        const bool nulls = gather(whole, table->table.columns[column].value_bytes,
                                  rewriting->order + (uint64_t)s * SEGMENT_ROWS, table->table.segment_rows[s],
                                  values, validity);
        RETURN_IF_ERROR(segment_write(table, column, s, values, nulls ? validity : NULL, error));
        progress_report(rewriting->progress, "sorting", "chunks", atomic_fetch_add(&rewriting->done, 1) + 1,
                        rewriting->total);
    }
    return STATUS_OK;
}

static enum status rewrite_column(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct rewriting *rewriting = context;
    const struct table *table = &rewriting->table->table;
    const uint32_t column = (uint32_t)item;
    const uint64_t rows = table->rows < SEGMENT_ROWS ? table->rows : SEGMENT_ROWS;
    struct whole_column whole;
    (void)thread;
    enum status status = table_sorter_read(rewriting->table, column, &whole, error);
    void *values = NULL;
    uint64_t *validity = malloc((rows + 63) / 64 * sizeof *validity);
    if (status == STATUS_OK && !validity)
        status = error_out_of_memory(error, rows / 8, "a sorted segment");
    if (status == STATUS_OK) {
        values = segment_buffer(rows * table->columns[column].value_bytes, "a sorted segment", error);
        status =
            values ? rewrite_segments(rewriting, column, &whole, values, validity, error) : STATUS_MACHINE;
    }
    free(validity);
    free(values);
    whole_column_free(&whole);
    return status;
}

unsigned table_sorter_threads(const struct table *table, unsigned threads)
{
    uint64_t most = 1;
    for (uint32_t c = 0; c < table->column_count; c++) {
        const uint64_t bytes = column_bytes(table, c) + segment_bytes(table, c);
        most = bytes > most ? bytes : most;
    }
    const uint64_t room = memory_available("") / 2 / most;
    threads = threads ? threads : parallel_threads_available();
    return room < 1 ? 1 : room < threads ? (unsigned)room : threads;
}

enum status table_writer_sort(struct table_writer *table, unsigned threads, struct progress *progress,
                              struct error *error)
{
    const struct table *described = &table->table;
    if (!table->sorter || table->sorter->done)
        return error_set(error, STATUS_BAD_INPUT, "table %s: %s", described->name,
                         table->sorter ? "it was sorted twice; sort it once"
                                       : "nobody said what to sort it by (table_writer_sort_by)");
    RETURN_IF_ERROR(table_append_live(table, error));
    for (uint32_t c = 0; c < described->column_count; c++)
        for (uint32_t s = 0; s < described->segment_count; s++)
            if (*kept_of(table, c, s) == KEPT_NOT)
                return error_set(error, STATUS_BAD_INPUT,
                                 "table %s: column %s: segment %u of %u was not written; nothing was changed",
                                 described->name, described->columns[c].schema.name, s,
                                 described->segment_count);
    if (described->rows > 0) {
        uint32_t *order = NULL;
        RETURN_IF_ERROR((table->sorter->column == COLUMN_NONE ? table_levels_order
                                                              : find_order)(table, threads, &order, error));
        struct rewriting rewriting = {.table = table,
                                      .order = order,
                                      .progress = progress,
                                      .total = (uint64_t)described->column_count * described->segment_count};
        enum status status = parallel_for(table_sorter_threads(described, threads), described->column_count,
                                          rewrite_column, &rewriting, error);
        free(order);
        RETURN_IF_ERROR(status);
    }
    table->sorter->done = true;
    return STATUS_OK;
}
