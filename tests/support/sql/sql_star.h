/* sql_star.h: a small star schema for the tests of SQL, loaded from text, and functions to query it. */
#ifndef TESSERA_TESTS_SUPPORT_SQL_SQL_STAR_H
#define TESSERA_TESTS_SUPPORT_SQL_SQL_STAR_H

#include "loader/table/table_loader.h"
#include "tests/support/sql/sql_answer.h"

static const char star_script[] =
    "CREATE TABLE regions (id INT PRIMARY KEY, label TEXT NOT NULL);\n"
    "CREATE TABLE shops (name TEXT PRIMARY KEY, region INT REFERENCES regions, opened DATE, area "
    "DECIMAL(8,1));\n"
    "CREATE TABLE products (id BIGINT PRIMARY KEY, kind TEXT, since DATE);\n"
    "CREATE TABLE sales (shop TEXT NOT NULL REFERENCES shops(name), product BIGINT REFERENCES products(id),\n"
    "  gift BIGINT REFERENCES products, day DATE NOT NULL, at TIMESTAMP, pieces INT, paid DECIMAL(12,2),\n"
    "  online BOOLEAN, note TEXT, big BIGINT);\n"
    "CREATE TABLE visits (shop TEXT NOT NULL REFERENCES shops, people INT NOT NULL);\n"
    "CREATE TABLE boxes (shelf INT, pieces INT);\n";

static const struct {
    const char *table, *rows;
} star_tables[] = {{"regions", "1,north\n2,south\n"},
                   {"shops", "A,1,2001-05-06,120.5\nB,2,1999-12-31,80\nC,,,\n"},
                   {"products", "-5,tea,2000-01-01\n12,tea,1999-09-09\n70,coffee,\n"},
                   {"sales", "A,12,,2024-01-31,2024-01-31 10:11:12,3,2.97,true,plain,9000000000000000000\n"
                             "A,70,-5,2024-02-29,,1,12.00,false,100%,9000000000000000000\n"
                             "B,12,12,2024-02-29,2024-02-29 23:59:59.25,,,true,Mixed,1\n"
                             "C,-5,12,2023-12-31,,-2,7.00,false,,-7\n"
                             "B,,70,2024-03-01,2024-03-01 00:00:00,10,0.50,true,a_b,0\n"},
                   {"visits", "A,100\nB,250\nA,3\n"},
                   {"boxes", "1,1\n1,2\n1,\n1,4\n2,5\n2,6\n2,7\n2,8\n"}};
#define STAR_TABLES (sizeof star_tables / sizeof *star_tables)

static char star_path[PATH_BYTES];
static struct database *star_database;
static struct engine *star_engine;

static inline int star_open(void **state)
{
    (void)state;
    static char files[STAR_TABLES][PATH_BYTES + 64];
    static const char *paths[STAR_TABLES];
    struct load_input inputs[STAR_TABLES];
    struct load_report report;
    struct schema_script schema;
    directory_make(star_path);
    for (size_t t = 0; t < STAR_TABLES; t++) {
        snprintf(files[t], sizeof files[t], "%.*s/%s.csv", (int)(strlen(star_path) - 3), star_path,
                 star_tables[t].table);
        FILE *file = fopen(files[t], "wb");
        assert_non_null(file);
        fputs(star_tables[t].rows, file);
        fclose(file);
        paths[t] = files[t];
        inputs[t] = (struct load_input){.table = star_tables[t].table, .paths = &paths[t], .path_count = 1};
    }
    must(schema_script_parse("star.sql", star_script, strlen(star_script), &schema, error));
    const struct load_options options = {
        .directory = star_path, .inputs = inputs, .input_count = STAR_TABLES, .threads = 1};
    must(tables_load(&schema, &options, &report, NULL, error));
    schema_script_free(&schema);
    must(database_open(star_path, &star_database, error));
    must(engine_open(&(struct engine_options){.device = test_device(),
                                              .threads = 2,
                                              .memory = getenv("TESSERA_TEST_MEMORY")},
                     &star_engine, error));
    return 0;
}

static inline int star_close(void **state)
{
    (void)state;
    engine_close(star_engine);
    database_close(star_database);
    directory_remove(star_path);
    return 0;
}

static inline struct sql_statement *prepare_query(const char *sql)
{
    struct sql_statement *statement;
    struct error why = {0};
    size_t used;
    if (sql_prepare(star_engine, star_database, sql, strlen(sql), NULL, &statement, &used, &why) != STATUS_OK)
        fail_msg("%s: %s", sql, why.text);
    return statement;
}

/* Fails the test unless the statement's answer is this CSV (without the header line). */
static inline void statement_answers(struct sql_statement *statement, const char *sql, const char *expected)
{
    struct rowset rows;
    struct error why = {0};
    if (sql_run(statement, &rows, NULL, &why) != STATUS_OK)
        fail_msg("%s: %s", sql, why.text);
    char *const text = rowset_csv(&rows);
    rowset_free(&rows);
    const char *const body = strchr(text, '\n') + 1;
    if (strcmp(body, expected) != 0)
        fail_msg("%s\nanswers  %s\nand not  %s", sql, body, expected);
    free(text);
}

static inline void answers(const char *sql, const char *expected)
{
    struct sql_statement *statement = prepare_query(sql);
    statement_answers(statement, sql, expected);
    sql_statement_free(statement);
}

/* Runs a statement that has no answer, and gives what it says. */
static inline enum status no_answer(const char *sql, struct error *why)
{
    struct sql_statement *statement = NULL;
    struct rowset rows;
    size_t used;
    *why = (struct error){0};
    enum status status =
        sql_prepare(star_engine, star_database, sql, strlen(sql), NULL, &statement, &used, why);
    if (status == STATUS_OK)
        status = sql_run(statement, &rows, NULL, why);
    if (status == STATUS_OK)
        rowset_free(&rows);
    sql_statement_free(statement);
    return status;
}

/* Fails the test unless the statement is refused with a sentence that begins with `sentence`. */
static inline void refused(const char *sql, const char *sentence)
{
    struct error why;
    const enum status status = no_answer(sql, &why);
    if (status != STATUS_BAD_INPUT || strncmp(why.text, sentence, strlen(sentence)) != 0)
        fail_msg("%s: status %d, %s", sql, (int)status, why.text);
}

/* Fails the test unless a value of the statement leaves 64 bits. A GPU cannot tell, so there it is refused before. */
static inline void leaves_64_bits(const char *sql)
{
    struct error why;
    const enum status status = no_answer(sql, &why);
    if (status != STATUS_BAD_INPUT || !strstr(why.text, " 64 bits"))
        fail_msg("%s: status %d, %s", sql, (int)status, why.text);
}

#endif
