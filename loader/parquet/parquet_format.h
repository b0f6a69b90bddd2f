/* parquet_format.h: Parquet files as a format of columnar files (loader/columnar/columnar_file.h). */
#ifndef TESSERA_LOADER_PARQUET_PARQUET_FORMAT_H
#define TESSERA_LOADER_PARQUET_PARQUET_FORMAT_H

#include "loader/parquet/parquet_file.h"

extern const struct columnar_format parquet_format;

/* Reads nothing but the footer (parquet_inspect.c). */
NODISCARD enum status parquet_inspect(const struct columnar_file *file, bool json, FILE *out,
                                      struct error *error);

#endif
