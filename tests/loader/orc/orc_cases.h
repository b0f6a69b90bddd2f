/* orc_cases.h: loading the ORC files of tests/data/orc, which other writers made, and asking for their rows. */
#ifndef TESSERA_TESTS_LOADER_ORC_ORC_CASES_H
#define TESSERA_TESTS_LOADER_ORC_ORC_CASES_H

#include "loader/table/table_loader.h"
#include "tests/support/one_directory.h"
#include "tests/support/sql/sql_answer.h"

#define ORC_FOLDER TESSERA_SOURCE "/tests/data/orc/"

/* The columns that every file has, in another order than there. */
static const char orc_script[] = "CREATE TABLE t (line TEXT, word TEXT, fine DECIMAL(18,6), price "
                                 "DECIMAL(12,2), moment TIMESTAMP, day DATE, "
                                 "big BIGINT, number INT, small INT, tiny INT, flag BOOLEAN)";

/* WRITER-ROWS[-MORE].orc has the rows of ROWS.csv. */
static const char *const orc_files[] = {"pyarrow-rows-0.11-uncompressed",
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
#define ORC_FILES (sizeof orc_files / sizeof *orc_files)

static struct engine *orc_engine;

static inline int orc_engine_open(void **state)
{
    (void)state;
    must(engine_open(&(struct engine_options){.device = test_device(), .threads = 2}, &orc_engine, error));
    return 0;
}

static inline int orc_engine_close(void **state)
{
    (void)state;
    engine_close(orc_engine);
    return 0;
}

/* Loads table t of a script from files, with some options. */
static inline enum status orc_load(const char *script, const char *const *files, uint32_t count,
                                   struct load_options options, struct load_report *report, struct error *why)
{
    struct schema_script schema;
    const struct load_input input = {.table = "t", .paths = files, .path_count = count};
    options.directory = path;
    options.inputs = &input;
    options.input_count = 1;
    options.replace = !options.append;
    options.threads = options.threads ? options.threads : 2;
    must(schema_script_parse("t.sql", script, strlen(script), &schema, error));
    const enum status status = tables_load(&schema, &options, report, NULL, why);
    schema_script_free(&schema);
    return status;
}

/* An answer of the database at `path`; the caller frees it. */
static inline char *orc_answer(const char *sql)
{
    struct database *database;
    must(database_open(path, &database, error));
    char *const text = sql_answer(orc_engine, database, sql);
    database_close(database);
    return text;
}

#endif
