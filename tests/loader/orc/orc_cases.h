/* orc_cases.h: the ORC files of tests/data/orc, which other writers made. */
#ifndef TESSERA_TESTS_LOADER_ORC_ORC_CASES_H
#define TESSERA_TESTS_LOADER_ORC_ORC_CASES_H

#include "tests/loader/columnar/columnar_cases.h"

#define ORC_FOLDER TESSERA_SOURCE "/tests/data/orc/"

static const char *const orc_names[] = {"pyarrow-rows-0.11-uncompressed",
                                        "pyarrow-rows-0.11-zlib",
                                        "pyarrow-rows-0.11-snappy",
                                        "pyarrow-rows-0.11-lz4",
                                        "pyarrow-rows-0.11-zstd",
                                        "pyarrow-rows-0.12-uncompressed",
                                        "pyarrow-rows-0.12-zlib",
                                        "pyarrow-rows-0.12-snappy",
                                        "pyarrow-rows-0.12-lz4",
                                        "pyarrow-rows-0.12-zstd",
                                        "pyarrow-dictionary-0.11",
                                        "pyarrow-dictionary-0.12",
                                        "pyarrow-full-0.11",
                                        "pyarrow-full-0.12",
                                        "pyarrow-stripes-0.11",
                                        "pyarrow-stripes-0.12",
                                        "pyarrow-limits-0.11",
                                        "pyarrow-limits-0.12",
                                        "pyarrow-shapes-0.11",
                                        "pyarrow-shapes-0.12",
                                        "pyarrow-empty",
                                        "pyarrow-null",
                                        "pyarrow-one",
                                        "pyorc-types",
                                        "pyorc-chunks-none",
                                        "pyorc-chunks-zlib",
                                        "pyorc-chunks-lz4",
                                        "pyorc-chunks-zstd"};

static const struct columnar_files orc_files = {ORC_FOLDER, ".orc", orc_names,
                                                sizeof orc_names / sizeof *orc_names};

#endif
