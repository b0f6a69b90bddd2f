/* column_data.h: a column opened in one encoding, checked whole. */
#ifndef TESSERA_STORAGE_COLUMN_COLUMN_DATA_H
#define TESSERA_STORAGE_COLUMN_COLUMN_DATA_H

#include "storage/column/column.h"

/* Maps the column's files in the database's directory and checks them: checksums, then chunk_open of every segment, on
 * `threads` threads (0: all). `column` outlives *data, which column_data_free frees. An encoding that is not there or
 * a file that is not what it should be: STATUS_BAD_INPUT; a wrong checksum: STATUS_CHECK_FAILED. */
NODISCARD enum status column_data_read(const char *directory, const struct column *column,
                                       enum codec_id codec, unsigned threads, struct column_data **data,
                                       struct error *error);

/* NULL is legal. */
void column_data_free(struct column_data *data);

#endif
