/* column_data.h: opens a column in one encoding and checks all of it. */
#ifndef TESSERA_STORAGE_COLUMN_COLUMN_DATA_H
#define TESSERA_STORAGE_COLUMN_COLUMN_DATA_H

#include "storage/column/column.h"

/* Maps the column's files in the database's directory and checks them: checksums, then chunk_open of every
 * segment, on `threads` threads (0: all). `column` must outlive *data, which column_data_free frees.
 * STATUS_BAD_INPUT for a missing encoding or another file than expected; STATUS_CHECK_FAILED for a wrong
 * checksum. */
NODISCARD enum status column_data_read(const char *directory, const struct column *column,
                                       enum codec_id codec, unsigned threads, struct column_data **data,
                                       struct error *error);

/* Makes the opened column of segments in memory, whose values are known to be valid. It owns `segments` and `memory`,
 * into which they point, both from malloc; after a failure they are freed. */
NODISCARD enum status column_data_wrap(const struct column *column, struct segment_data *segments,
                                       void *memory, uint64_t bytes, struct column_data **data,
                                       struct error *error);

/* NULL is legal. */
void column_data_free(struct column_data *data);

#endif
