/* clustering.c: see clustering.h. */
#include "storage/database/clustering/clustering.h"

#include "storage/base/memory.h"
#include "storage/database/clustering/cells.h"

#include <stdlib.h>
#include <string.h>

/* Leading bits of values, if nobody says how many. */
#define VALUE_BITS 4u

/* ---- Which terms ---- */

const struct table_levels *clustering_levels(const struct table_writer *table, uint32_t column)
{
    const char *const name = table->table.columns[column].schema.references_table;
    const struct table *const referenced =
        *name && strcmp(name, table->table.name) != 0 ? database_writer_find(table->database, name) : NULL;
    return referenced ? referenced->levels : NULL;
}

static uint32_t bits_of(uint64_t last)
{
    return last ? 64 - (uint32_t)__builtin_clzll(last) : 0;
}

/* The bits of the codes of some levels. */
static uint32_t level_bits(const struct table_levels *levels, uint32_t depth)
{
    return bits_of((levels->positions - 1) >> levels_shift(levels, depth));
}

static uint32_t term_bits(const struct table_writer *table, const struct cluster_term *term)
{
    const struct table_levels *const levels = clustering_levels(table, term->column);
    const uint32_t nulls = table->table.columns[term->column].schema.nullable;
    return (levels ? level_bits(levels, term->number) : term->number) + nulls;
}

uint32_t clustering_bits(const struct table_writer *table, const struct clustering *clustering)
{
    uint32_t bits = 0;
    for (uint32_t t = 0; t < clustering->count; t++)
        bits += term_bits(table, &clustering->terms[t]);
    return bits;
}

static enum status check_terms(const struct table_writer *table, struct clustering *clustering,
                               struct error *error)
{
    for (uint32_t t = 0; t < clustering->count; t++) {
        struct cluster_term *const term = &clustering->terms[t];
        const struct column *const column = &table->table.columns[term->column];
        const struct table_levels *const levels = clustering_levels(table, term->column);
        const uint32_t most = levels ? levels->count : CELL_BITS_MAX;
        if (term->number == 0)
            term->number = levels ? 1 : VALUE_BITS;
        if (term->number > most)
            return error_set(error, STATUS_BAD_INPUT, "--cluster-by %s:%u: %s has %u %s%s",
                             column->schema.name, term->number,
                             levels ? column->schema.references_table : "a cell", most,
                             levels ? "level" : "bits at most", levels && most != 1 ? "s" : "");
        for (uint32_t before = 0; before < t; before++)
            if (clustering->terms[before].column == term->column)
                return error_set(error, STATUS_BAD_INPUT, "--cluster-by: column %s is named twice",
                                 column->schema.name);
    }
    if (clustering_bits(table, clustering) > CELL_BITS_MAX)
        return error_set(error, STATUS_BAD_INPUT,
                         "--cluster-by: cells of these columns have %u bits, and %u are the most; name fewer "
                         "columns, or fewer levels or bits of them (COLUMN:N)",
                         clustering_bits(table, clustering), CELL_BITS_MAX);
    return STATUS_OK;
}

enum status table_writer_cluster(struct table_writer *table, const struct clustering *wish,
                                 struct error *error)
{
    struct clustering *const clustering = &table->table.clustering;
    *clustering = (struct clustering){0};
    if (!wish)
        return STATUS_OK;
    if (table->sorter)
        return error_set(error, STATUS_BAD_INPUT,
                         "table %s is to be sorted and clustered; give --sort-by or --cluster-by",
                         table->table.name);
    *clustering = *wish;
    return wish->count ? check_terms(table, clustering, error)
                       : clustering_choose(table, NULL, clustering, error);
}

enum status table_writer_cluster_for(struct table_writer *table, const struct cluster_workload *workload,
                                     struct error *error)
{
    RETURN_IF_ERROR(table_writer_cluster(table, NULL, error));
    return clustering_choose(table, workload, &table->table.clustering, error);
}

const struct clustering *table_writer_clustering(const struct table_writer *table)
{
    return &table->table.clustering;
}

/* ---- A segment ---- */

static uint32_t span_bits(const struct cluster_values *values, uint32_t value_bytes, uint32_t rows,
                          int64_t *least)
{
    int64_t greatest = INT64_MIN;
    *least = INT64_MAX;
    for (uint32_t row = 0; row < rows; row++) {
        const int64_t value = row_value(values->values, value_bytes, row);
        const bool counts = !values->validity || row_valid(values->validity, row);
        *least = counts && value < *least ? value : *least;
        greatest = counts && value > greatest ? value : greatest;
    }
    if (*least <= greatest)
        return bits_of((uint64_t)greatest - (uint64_t)*least);
    *least = 0;
    return 0;
}

/* What the codes of a term are in a segment, which have at most so many bits. Since the term was chosen, the levels may have got
 * more bits, or may be others: then it looks at fewer of them. */
static void describe_term(const struct table_writer *table, const struct cluster_term *term,
                          const struct cluster_values *values, uint32_t rows, uint32_t most,
                          struct cell_term *cell)
{
    const struct table_levels *const levels = clustering_levels(table, term->column);
    const uint32_t value_bytes = table->table.columns[term->column].value_bytes,
                   nulls = values->validity != NULL;
    uint32_t number = term->number;
    *cell = (struct cell_term){
        .values = values->values, .validity = values->validity, .value_bytes = value_bytes};
    most -= most < nulls ? most : nulls;
    if (levels) {
        number = number < levels->count ? number : levels->count;
        while (level_bits(levels, number) > most)
            number--;
        cell->shift = levels_shift(levels, number);
        cell->bits = level_bits(levels, number) + nulls;
        return;
    }
    const uint32_t span = span_bits(values, value_bytes, rows, &cell->least);
    number = number < most ? number : most;
    number = number < span ? number : span;
    cell->shift = span - number;
    cell->bits = number + nulls;
}

static enum status find_cells(struct table_writer *table, uint32_t segment,
                              const struct cluster_values *values, unsigned threads, struct error *error)
{
    const struct clustering *const clustering = &table->table.clustering;
    const uint32_t rows = table->table.segment_rows[segment];
    struct cell_places *const places = &table->cells;
    struct cell_term terms[CLUSTER_TERMS_MAX];
    uint32_t count = 0, used = 0, cells;
    if (!places->rows) {
        const uint32_t segments = table->table.segment_count;
        RETURN_IF_ERROR(memory_zeros(&places->rows, segments * sizeof *places->rows, "cells", error));
        places->count = segments;
    }
    places->rows[segment] = segment_buffers_take(&table->database->buffers,
                                                 ((size_t)rows + 1) * sizeof **places->rows, "cells", error);
    if (!places->rows[segment])
        return STATUS_MACHINE;
    for (uint32_t t = 0; t < clustering->count; t++) {
        describe_term(table, &clustering->terms[t], &values[t], rows, CELL_BITS_MAX - used, &terms[count]);
        if (used + terms[count].bits > CELL_BITS_MAX || terms[count].shift >= 64)
            continue; /* there is no room for NULL alone, or nothing tells the values apart */
        used += terms[count++].bits;
    }
    return cells_place(terms, count, rows, threads, places->rows[segment], &cells, error);
}

static void forget(struct table_writer *table, uint32_t segment)
{
    segment_buffers_give(&table->database->buffers, table->cells.rows[segment]);
    table->cells.rows[segment] = NULL;
}

enum status table_writer_cells(struct table_writer *table, uint32_t segment,
                               const struct cluster_values *values, unsigned threads, struct error *error)
{
    if (table->cells.rows && table->cells.last != segment)
        forget(table, table->cells.last);
    table->cells.last = segment;
    return find_cells(table, segment, values, threads, error);
}

void cell_places_free(struct table_writer *table)
{
    for (uint32_t s = 0; s < table->cells.count; s++)
        forget(table, s);
    free(table->cells.rows);
    table->cells = (struct cell_places){0};
}

bool clustering_places(const struct table_writer *table, uint32_t segment)
{
    return segment < table->cells.count && table->cells.rows[segment];
}

enum status clustering_write(struct table_writer *table, uint32_t column, uint32_t segment,
                             const void *values, const uint64_t *validity, struct error *error)
{
    const uint32_t *const places = table->cells.rows[segment];
    const uint32_t bytes = table->table.columns[column].value_bytes,
                   rows = table->table.segment_rows[segment];
    uint64_t *bits = NULL;
    void *const moved = segment_buffers_take(&table->database->buffers, (size_t)rows * bytes + 1,
                                             "a clustered segment", error);
    enum status status = moved ? STATUS_OK : STATUS_MACHINE;
    if (status == STATUS_OK && validity)
        status = memory_take(&bits, ((size_t)rows + 63) / 64 * sizeof *bits, "a clustered segment", error);
    if (status == STATUS_OK) {
        cells_scatter(places, rows, bytes, values, moved);
        if (validity)
            cells_scatter_bits(places, rows, validity, bits);
        status = segment_write(table, column, segment, moved, bits, error);
    }
    segment_buffers_give(&table->database->buffers, moved);
    free(bits);
    return status;
}

/* ---- Old rows ---- */

enum status clustering_collect(struct table_writer *table, uint32_t segment, const void *values,
                               const uint64_t *validity, struct error *error)
{
    struct old_values *const to = table->cells.collected;
    const size_t rows = table->table.segment_rows[segment],
                 bytes = rows * table->table.columns[to->column].value_bytes,
                 words = (rows + 63) / 64 * sizeof *validity;
    RETURN_IF_ERROR(memory_take(&to->values[segment], bytes + 1, "the cells of a column", error));
    memcpy(to->values[segment], values, bytes);
    if (!validity)
        return STATUS_OK;
    RETURN_IF_ERROR(memory_take(&to->validity[segment], words, "the cells of a column", error));
    memcpy(to->validity[segment], validity, words);
    return STATUS_OK;
}

/* Lets the column's old rows come by, as if they were written. */
static enum status collect_column(struct table_writer *table, struct old_values *to, struct error *error)
{
    table->cells.collected = to;
    const enum status status = table_append_old(table, to->column, error);
    table->cells.collected = NULL;
    table->appended[to->column].taken = false;
    return status;
}

static enum status find_all(struct table_writer *table, const struct old_values *old, unsigned threads,
                            struct error *error)
{
    for (uint32_t s = table->kept; s < table->table.segment_count; s++) {
        struct cluster_values values[CLUSTER_TERMS_MAX];
        for (uint32_t t = 0; t < table->table.clustering.count; t++)
            values[t] = (struct cluster_values){.values = old[t].values[s], .validity = old[t].validity[s]};
        RETURN_IF_ERROR(cancel_check(error));
        RETURN_IF_ERROR(find_cells(table, s, values, threads, error));
    }
    return STATUS_OK;
}

enum status clustering_old(struct table_writer *table, unsigned threads, struct error *error)
{
    const struct clustering *const clustering = &table->table.clustering;
    const uint32_t segments = table->table.segment_count;
    struct old_values old[CLUSTER_TERMS_MAX] = {{0}};
    enum status status = STATUS_OK;
    for (uint32_t t = 0; status == STATUS_OK && t < clustering->count; t++) {
        old[t].column = clustering->terms[t].column;
        status = memory_zeros(&old[t].values, (segments + 1ull) * sizeof *old[t].values, "the cells", error);
        status = AND_THEN(status, memory_zeros(&old[t].validity, (segments + 1ull) * sizeof *old[t].validity,
                                               "the cells", error));
        status = AND_THEN(status, collect_column(table, &old[t], error));
    }
    if (status == STATUS_OK && clustering->count)
        status = find_all(table, old, threads, error);
    for (uint32_t t = 0; t < CLUSTER_TERMS_MAX; t++) {
        for (uint32_t s = 0; s < segments; s++) {
            free(old[t].values ? old[t].values[s] : NULL);
            free(old[t].validity ? old[t].validity[s] : NULL);
        }
        free(old[t].values);
        free(old[t].validity);
    }
    return status;
}
