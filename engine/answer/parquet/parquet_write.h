/* parquet_write.h: writes an answer as a Parquet file, in groups of rows whose columns are made on threads. */
#ifndef TESSERA_ENGINE_ANSWER_PARQUET_PARQUET_WRITE_H
#define TESSERA_ENGINE_ANSWER_PARQUET_PARQUET_WRITE_H

#include "engine/answer/rowset.h"
#include "storage/base/parquet_numbers.h"

struct parquet_style {
    enum parquet_codec codec; /* PARQUET_UNCOMPRESSED, PARQUET_SNAPPY or PARQUET_ZSTD */
    const char *software;     /* "name version 1.2.3", which readers know writers by */
};

/* Writes the file to `out` from its beginning to its end, on `threads` threads (0: all), each of which needs some
 * megabytes of memory. Columns are BOOLEAN, INT64, DOUBLE, DATE, TIMESTAMP (microseconds, of no time zone), STRING, and
 * DECIMAL of 18 digits or, if some value has more, 19; all may be NULL. Names that are there twice become a, a_1.
 *
 * STATUS_MACHINE if a write fails or memory is out, STATUS_INTERRUPTED on Ctrl-C, STATUS_BAD_INPUT for a string of more
 * than a gigabyte. */
NODISCARD enum status rowset_write_parquet(const struct rowset *rows, const struct parquet_style *style,
                                           unsigned threads, FILE *out, struct error *error);

#endif
