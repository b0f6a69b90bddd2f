/* parquet_cases.h: the Parquet files of tests/data/parquet, which other writers made. */
#ifndef TESSERA_TESTS_LOADER_PARQUET_PARQUET_CASES_H
#define TESSERA_TESTS_LOADER_PARQUET_PARQUET_CASES_H

#include "tests/loader/columnar/columnar_cases.h"

#define PARQUET_FOLDER TESSERA_SOURCE "/tests/data/parquet/"

static const char *const parquet_names[] = {"pyarrow-rows-none",
                                            "pyarrow-rows-snappy",
                                            "pyarrow-rows-gzip",
                                            "pyarrow-rows-zstd",
                                            "pyarrow-rows-lz4",
                                            "pyarrow-rows-v2-none",
                                            "pyarrow-rows-v2-snappy",
                                            "pyarrow-rows-v2-gzip",
                                            "pyarrow-rows-v2-zstd",
                                            "pyarrow-rows-v2-lz4",
                                            "pyarrow-full-delta",
                                            "pyarrow-stripes-delta",
                                            "pyarrow-limits-delta",
                                            "pyarrow-shapes-delta",
                                            "pyarrow-full-split",
                                            "pyarrow-full-plain",
                                            "pyarrow-stripes-groups",
                                            "pyarrow-limits-whole",
                                            "pyarrow-limits-dictionary",
                                            "pyarrow-full-int96",
                                            "pyarrow-chunks-fallback",
                                            "pyarrow-empty",
                                            "pyarrow-null",
                                            "pyarrow-one",
                                            "duckdb-rows-v1-uncompressed",
                                            "duckdb-rows-v1-zstd",
                                            "duckdb-rows-v1-lz4_raw",
                                            "duckdb-rows-v2-uncompressed",
                                            "duckdb-rows-v2-zstd",
                                            "duckdb-rows-v2-lz4_raw",
                                            "duckdb-shapes-v1",
                                            "duckdb-shapes-v2"};

static const struct columnar_files parquet_files = {PARQUET_FOLDER, ".parquet", parquet_names,
                                                    sizeof parquet_names / sizeof *parquet_names};

#endif
