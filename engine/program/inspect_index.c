/* inspect_index.c: see inspect_index.h. */
#include "engine/program/inspect_index.h"

#include "storage/index/index_bins.h"

#include <inttypes.h>
#include <stdio.h>

/* How many times smaller the index is than flat bit vectors. */
static double ratio(const struct column *column)
{
    const double flat = (double)index_vector_count(column, column->index) * (double)column->table->rows / 8;
    return column->index->bytes ? flat / (double)column->index->bytes : 1.0;
}

void inspect_index_print(const struct column *column)
{
    const struct column_index *const index = column->index;
    const uint32_t vectors = index_vector_count(column, index);
    printf("    index %s of %" PRIu32 " vector%s (%s%s%s), %" PRIu64 " atoms of which %" PRIu64
           " are fills, %" PRIu64 " bytes, ratio %.2f\n",
           index_format_name(index->wish.format), vectors, vectors == 1 ? "" : "s",
           index_bins_name(index->wish.bins),
           index->wish.bins != INDEX_AUTO ? ""
           : index->exact                 ? ": values"
                                          : ": equal-depth",
           column->statistics.nulls ? ", and NULLs" : "", index->words, index->fills, index->bytes,
           ratio(column));
}

json_t *inspect_index_json(const struct column *column)
{
    const struct column_index *const index = column->index;
    return json_pack("{s:s, s:s, s:b, s:I, s:b, s:I, s:I, s:I, s:f}", "format",
                     index_format_name(index->wish.format), "bins", index_bins_name(index->wish.bins),
                     "exact", index->exact, "vectors", (json_int_t)index_vector_count(column, index), "nulls",
                     column->statistics.nulls > 0, "atoms", (json_int_t)index->words, "fills",
                     (json_int_t)index->fills, "bytes", (json_int_t)index->bytes, "ratio", ratio(column));
}
