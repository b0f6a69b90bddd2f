/*
 * column_index.h: which bitmap indexes there are. Plain data; storage/index builds and reads the files.
 *
 * An index has a bit vector for each bin, and one more for the NULLs if the column has any. Bin b has the stored values
 * bounds[b] .. bounds[b + 1] - 1; the last bin ends at the column's maximum. So every row is in exactly one vector.
 */
#ifndef TESSERA_STORAGE_COLUMN_COLUMN_INDEX_H
#define TESSERA_STORAGE_COLUMN_COLUMN_INDEX_H

#include "storage/base/status.h"

#include <stdbool.h>
#include <stdint.h>

/* A vector a segment costs 16 bytes and more, even if it is empty. Beyond this the packed column is smaller. */
#define INDEX_BINS_MAX 4096u

/* Bins of an index that was to choose itself, of a column with more than INDEX_BINS_MAX different values. */
#define INDEX_BINS_OWN 256u

/* The numbers are those of the files. INDEX_FLAT: a bit a row, in words of 64 bits, nothing compressed. */
enum index_format { INDEX_WAH64 = 1, INDEX_WAH32 = 2, INDEX_FLAT = 3 };
#define INDEX_FORMAT_COUNT 4

/* How values come to bins. INDEX_AUTO: a bin a value if there are at most INDEX_BINS_MAX, else INDEX_BINS_OWN bins of
 * equal depth. */
enum index_bins { INDEX_AUTO, INDEX_VALUES, INDEX_WIDTH, INDEX_DEPTH };
#define INDEX_BINS_COUNT 4

/* What was asked for. A table that is replaced gets its indexes again by the same wish. */
struct index_wish {
    enum index_format format;
    enum index_bins bins;
    uint32_t count; /* of INDEX_WIDTH and INDEX_DEPTH: bins, at most; else 0 */
};

struct column_index; /* column.h */

/* "wah64", "equal-depth": the words of the catalogue and of the program. */
const char *index_format_name(enum index_format format);
const char *index_bins_name(enum index_bins bins);

/* Read "auto", "values", "64" or "64:width", and "wah64", "wah32" or "flat", from the command line. */
NODISCARD enum status index_wish_bins(const char *text, struct index_wish *wish, struct error *error);
NODISCARD enum status index_wish_format(const char *text, struct index_wish *wish, struct error *error);

/* NULL is legal. */
void column_index_free(const struct column_index *index);

#endif
