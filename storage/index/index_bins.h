/*
 * index_bins.h: the bins of a bitmap index: how they are chosen from a column's values, and which bin a value has.
 *
 * Bins are chosen once a column: exact for one bin a value and for equal width, from a sample of a million rows for
 * equal depth. Then every row's value is looked up, a tile at a time. Appended values come to the bins that there are: the
 * outer ones have those beyond, and a bin of one value those up to the next bin, too.
 */
#ifndef TESSERA_STORAGE_INDEX_INDEX_BINS_H
#define TESSERA_STORAGE_INDEX_INDEX_BINS_H

#include "storage/codec/chunk_reader.h"
#include "storage/column/column.h"

/* Sets bin_count, bounds and exact of *index by its wish. STATUS_BAD_INPUT if the column has more different values
 * than a bin each is possible for. On `threads` threads (0: all). */
NODISCARD enum status index_bins_choose(const struct column_data *data, unsigned threads,
                                        struct column_index *index, struct error *error);

/* Lets the bins of an index of older rows hold those of `data`, too. */
NODISCARD enum status index_bins_extend(const struct column_data *data, unsigned threads,
                                        struct column_index *index, struct error *error);

/* The vectors of an index: its bins', and one of NULLs. The NULLs' is the last. */
static inline uint32_t index_vector_count(const struct column *column, const struct column_index *index)
{
    return index->bin_count + (column->statistics.nulls > 0);
}

#define INDEX_NO_BIN UINT32_MAX

/* Finds bins by value; it points at the index's bounds. */
struct index_lookup {
    const struct column_index *index;
    int64_t least, greatest;
    uint32_t nulls; /* the vector of NULLs; INDEX_NO_BIN if the column has none */
    uint16_t *bins; /* of least .. greatest, if these are few; else NULL */
};

NODISCARD enum status index_lookup_make(const struct column *column, const struct column_index *index,
                                        struct index_lookup *lookup, struct error *error);
void index_lookup_free(struct index_lookup *lookup);

/* The value's bin; INDEX_NO_BIN if the value is outside the column's statistics, or not a bound of an exact index. */
uint32_t index_lookup_bin(const struct index_lookup *lookup, int64_t value);

/* Gives each row of a tile its vector: its value's bin, or that of NULLs. Returns the rows.
 * STATUS_CHECK_FAILED if a row has no bin. `where` is for the error text. */
NODISCARD enum status index_lookup_tile(const struct index_lookup *lookup, const struct segment_data *segment,
                                        uint32_t tile, struct chunk_reader *reader, uint32_t *codes,
                                        uint32_t *rows, struct error *error);

#endif
