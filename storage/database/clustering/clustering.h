/*
 * clustering.h: which terms make the cells of a table (cells.h), and a segment that is written by them.
 *
 * A term looks at a column of the table: a foreign key whose table has levels gives the codes of its first levels, any other
 * column leading bits of its values, of which each segment has its own least and greatest. So segments are clustered by
 * themselves, nothing is sorted as a whole, and an append needs no old rows.
 */
#ifndef TESSERA_STORAGE_DATABASE_CLUSTERING_CLUSTERING_H
#define TESSERA_STORAGE_DATABASE_CLUSTERING_CLUSTERING_H

#include "storage/database/writer_internal.h"

/* The levels of the table that a foreign key references; NULL: there are none, or it is no foreign key. */
const struct table_levels *clustering_levels(const struct table_writer *table, uint32_t column);

/* The bits of a row's cell; they are at most CELL_BITS_MAX in a clustering that can be used. */
uint32_t clustering_bits(const struct table_writer *table, const struct clustering *clustering);

/* Chooses the terms (clustering_choose.c). `workload` NULL: nobody knows what will be asked. */
NODISCARD enum status clustering_choose(const struct table_writer *table,
                                        const struct cluster_workload *workload, struct clustering *terms,
                                        struct error *error);

/* The values of a term's column in the segments of a table that are made of old rows. */
struct old_values {
    uint32_t column;
    void **values; /* of each segment; NULL: it stays */
    uint64_t **validity;
};
NODISCARD enum status clustering_collect(struct table_writer *table, uint32_t segment, const void *values,
                                         const uint64_t *validity, struct error *error);

/* Finds the cells of all segments that are made of old rows (compact.c), before any of them is written. The columns' old rows
 * can be asked for again after it. It takes the memory of the columns that make the cells, and 4 bytes a row. */
NODISCARD enum status clustering_old(struct table_writer *table, unsigned threads, struct error *error);

void cell_places_free(struct table_writer *table);

/* Whether the places of the segment's rows are known: then clustering_write writes it, in the order of its cells. */
bool clustering_places(const struct table_writer *table, uint32_t segment);
NODISCARD enum status clustering_write(struct table_writer *table, uint32_t column, uint32_t segment,
                                       const void *values, const uint64_t *validity, struct error *error);

#endif
