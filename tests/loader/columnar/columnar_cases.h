/* columnar_cases.h: loading columnar files that other writers made, and asking for their rows. */
#ifndef TESSERA_TESTS_LOADER_COLUMNAR_COLUMNAR_CASES_H
#define TESSERA_TESTS_LOADER_COLUMNAR_COLUMNAR_CASES_H

#include "loader/table/table_loader.h"
#include "tests/support/one_directory.h"
#include "tests/support/sql/sql_answer.h"

/* The columns that every file with the rows of tests/data/orc/ROWS.csv has, in another order than there. */
static const char columnar_script[] = "CREATE TABLE t (line TEXT, word TEXT, fine DECIMAL(18,6), price "
                                      "DECIMAL(12,2), moment TIMESTAMP, day DATE, "
                                      "big BIGINT, number INT, small INT, tiny INT, flag BOOLEAN)";

/* The files of a format in a folder: WRITER-ROWS[-MORE] has the rows of ROWS.csv. */
struct columnar_files {
    const char *folder, *ending;
    const char *const *names;
    size_t count;
};

static struct engine *columnar_engine;

static inline int columnar_engine_open(void **state)
{
    (void)state;
    must(engine_open(&(struct engine_options){.device = test_device(), .threads = 2}, &columnar_engine,
                     error));
    return 0;
}

static inline int columnar_engine_close(void **state)
{
    (void)state;
    engine_close(columnar_engine);
    return 0;
}

/* Loads table t of a script from files, with some options. */
static inline enum status columnar_load(const char *script, const char *const *files, uint32_t count,
                                        struct load_options options, struct load_report *report,
                                        struct error *why)
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
static inline char *columnar_answer(const char *sql)
{
    struct database *database;
    must(database_open(path, &database, error));
    char *const text = sql_answer(columnar_engine, database, sql);
    database_close(database);
    return text;
}

static inline void columnar_paths(const struct columnar_files *files, const char *name, char file[PATH_BYTES],
                                  char csv[PATH_BYTES])
{
    const char *const rows = strchr(name, '-') + 1;
    snprintf(file, PATH_BYTES, "%s%s%s", files->folder, name, files->ending);
    snprintf(csv, PATH_BYTES, TESSERA_SOURCE "/tests/data/orc/%.*s.csv", (int)strcspn(rows, "-"), rows);
}

/* A file gives the rows of its text. */
static inline void columnar_is_its_text(const struct columnar_files *of, const char *name,
                                        const struct load_options *options)
{
    char file[PATH_BYTES], csv[PATH_BYTES];
    const char *files[] = {file};
    struct load_report report;
    columnar_paths(of, name, file, csv);
    must(columnar_load(columnar_script, files, 1, *options, &report, error));
    char *const read = columnar_answer("select * from t");
    files[0] = csv;
    must(columnar_load(columnar_script, files, 1, (struct load_options){0}, &report, error));
    char *const expected = columnar_answer("select * from t");
    if (strcmp(read, expected) != 0)
        fail_msg("%s: other rows than %s:\n%.2000s\ninstead of\n%.2000s", file, csv, read, expected);
    free(read);
    free(expected);
}

/* Files loaded together have `rows` rows, the same as the first one and then the others. */
static inline void columnar_files_follow(const char *const *files, uint32_t count, uint64_t rows)
{
    static const char script[] = "CREATE TABLE t (NUMBER INT, Word TEXT)";
    struct load_report report;
    must(columnar_load(script, files, count, (struct load_options){0}, &report, error));
    assert_int_equal(report.rows, rows);
    char *const together = columnar_answer("select * from t");
    must(columnar_load(script, files, 1, (struct load_options){0}, &report, error));
    must(columnar_load(script, files + 1, count - 1, (struct load_options){.append = true}, &report, error));
    char *const appended = columnar_answer("select * from t");
    assert_string_equal(together, appended);
    free(together);
    free(appended);
}

/* A load ends with a status and a sentence. */
static inline void columnar_load_fails(const char *script, const char *const *files, uint32_t count,
                                       struct load_options options, enum status status, const char *sentence)
{
    struct load_report report;
    struct error why = {0};
    assert_int_equal(columnar_load(script, files, count, options, &report, &why), status);
    if (!strstr(why.text, sentence))
        fail_msg("%s: \"%s\" is not in: %s", files[0], sentence, why.text);
}

/* A load of one file of a folder is refused with a sentence. */
static inline void columnar_is_refused(const struct columnar_files *of, const char *script, const char *name,
                                       const char *sentence)
{
    char file[PATH_BYTES];
    const char *const files[] = {file};
    snprintf(file, sizeof file, "%s%s%s", of->folder, name, of->ending);
    columnar_load_fails(script, files, 1, (struct load_options){0}, STATUS_BAD_INPUT, sentence);
}

#endif
