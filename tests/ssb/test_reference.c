/*
 * test_reference.c: SQLite is loaded with the raw rows and nothing else, once, and its answers are kept.
 *
 * Tests use scale factor 0.01 (60 175 rows of lineorder) with every date.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/database_cases.h"
#include "ssb/benchmark/answer.h"
#include "ssb/queries/queries.h"
#include "ssb/benchmark/reference.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* All tests run in it. */
static struct execution execution;

static char folder[PATH_BYTES], file[PATH_BYTES + 32], partial[PATH_BYTES + 64];
static struct ssb_generator *generator;

static struct reference_source source_of(double scale_factor)
{
    struct reference_source source = {.options = {.scale_factor = scale_factor}};
    struct ssb_generator *counts;
    assert_int_equal(ssb_generator_create(&source.options, 1, &counts, NULL), STATUS_OK);
    for (int t = 0; t < SSB_TABLES; t++)
        source.rows[t] = ssb_rows(counts, (enum ssb_table)t);
    ssb_generator_destroy(counts);
    return source;
}

static int make_folder(void **state)
{
    (void)state;
    const struct ssb_options options = {.scale_factor = 0.01};
    directory_make(folder);
    if (mkdir(folder, 0777) != 0 || ssb_generator_create(&options, 1, &generator, NULL) != STATUS_OK)
        return -1;
    snprintf(file, sizeof file, "%s/%s", folder, REFERENCE_FILE);
    snprintf(partial, sizeof partial, "%s.partial", file);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    ssb_generator_destroy(generator);
    directory_remove(folder);
    return 0;
}

/* Opens the reference; returns whether it had to be loaded. */
static bool open_loads(const struct reference_source *source, struct reference **reference)
{
    struct error error = {0};
    if (reference_open(folder, source, 2, NULL, reference, &error) != STATUS_OK)
        fail_msg("%s", error.text);
    return reference_was_loaded(*reference);
}

static void all_answers(struct reference *reference, struct reference_answer answers[SSB_QUERIES])
{
    const char *statements[SSB_QUERIES];
    struct error error = {0};
    for (uint32_t i = 0; i < SSB_QUERIES; i++)
        statements[i] = ssb_queries[i]->sql;
    if (reference_answers(reference, statements, SSB_QUERIES, 2, NULL, answers, &error) != STATUS_OK)
        fail_msg("%s", error.text);
}

static void destroy_answers(struct reference_answer answers[SSB_QUERIES])
{
    for (uint32_t i = 0; i < SSB_QUERIES; i++)
        rowset_free(&answers[i].rows);
}

static void assert_same_answers(const struct reference_answer *a, const struct reference_answer *b)
{
    struct error error = {0};
    for (uint32_t i = 0; i < SSB_QUERIES; i++)
        if (answer_compare(ssb_queries[i]->name, "the first", &a[i].rows, &b[i].rows, &error) != STATUS_OK)
            fail_msg("%s", error.text);
}

static sqlite3 *open_sqlite(void)
{
    sqlite3 *connection;
    assert_int_equal(sqlite3_open(file, &connection), SQLITE_OK);
    return connection;
}

static void execute(const char *statement)
{
    sqlite3 *connection = open_sqlite();
    assert_int_equal(sqlite3_exec(connection, statement, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(connection), SQLITE_OK);
}

/* Compares every row and column of the dimensions, and every column of lineorder, with the generator. */
static void it_holds_the_generated_rows(void **state)
{
    (void)state;
    const struct reference_source source = source_of(0.01);
    struct reference *reference;
    assert_true(open_loads(&source, &reference));
    reference_close(reference);
    sqlite3 *connection = open_sqlite();
    static const enum ssb_table dimensions[] = {SSB_PART, SSB_SUPPLIER, SSB_CUSTOMER, SSB_DATE};
    for (size_t d = 0; d < sizeof dimensions / sizeof *dimensions; d++) {
        const struct ssb_table_info *info = ssb_table_info(dimensions[d]);
        sqlite3_stmt *select;
        char text[128];
        uint64_t row = 0;
        snprintf(text, sizeof text, "SELECT * FROM %s", info->name);
        assert_int_equal(sqlite3_prepare_v2(connection, text, -1, &select, NULL), SQLITE_OK);
        for (; sqlite3_step(select) == SQLITE_ROW; row++) {
            struct ssb_row expected;
            ssb_generate_row(generator, dimensions[d], row, &expected);
            for (int c = 0; c < sqlite3_column_count(select); c++)
                for (uint32_t i = 0; i < info->column_count; i++) {
                    if (strcmp(info->columns[i].name, sqlite3_column_name(select, c)) != 0)
                        continue;
                    if (info->columns[i].number)
                        assert_int_equal(sqlite3_column_int64(select, c), expected.numbers[i]);
                    else
                        assert_string_equal((const char *)sqlite3_column_text(select, c),
                                            expected.strings[i]);
                }
        }
        assert_int_equal(row, source.rows[dimensions[d]]);
        sqlite3_finalize(select);
    }
    const struct ssb_table_info *info = ssb_table_info(SSB_LINEORDER);
    void *columns[SSB_COLUMNS_MAX] = {NULL};
    for (uint32_t i = 0; i < info->column_count; i++)
        assert_non_null(columns[i] = malloc(source.rows[SSB_LINEORDER] * sizeof(int64_t)));
    ssb_generate_lineorder(generator, 0, source.rows[SSB_LINEORDER], columns);
    sqlite3_stmt *select;
    uint64_t row = 0;
    assert_int_equal(sqlite3_prepare_v2(connection, "SELECT * FROM lineorder", -1, &select, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_column_count(select), 9);
    for (; sqlite3_step(select) == SQLITE_ROW; row++)
        for (int c = 0; c < 9; c++)
            for (uint32_t i = 0; i < info->column_count; i++)
                if (strcmp(info->columns[i].name, sqlite3_column_name(select, c)) == 0)
                    assert_int_equal(sqlite3_column_int(select, c), ((const int32_t *)columns[i])[row]);
    assert_int_equal(row, source.rows[SSB_LINEORDER]);
    sqlite3_finalize(select);
    sqlite3_close(connection);
    for (uint32_t i = 0; i < info->column_count; i++)
        free(columns[i]);
}

static void rows_and_answers_are_kept(void **state)
{
    (void)state;
    const struct reference_source source = source_of(0.01);
    struct reference_answer first[SSB_QUERIES], second[SSB_QUERIES];
    struct reference *reference;
    open_loads(&source, &reference);
    all_answers(reference, first);
    reference_close(reference);
    assert_false(open_loads(&source, &reference));
    all_answers(reference, second);
    reference_close(reference);
    assert_same_answers(first, second);
    for (uint32_t i = 0; i < SSB_QUERIES; i++) {
        assert_true(second[i].kept);
        assert_true(first[i].sqlite_ms > 0);
        assert_true(first[i].sqlite_ms == second[i].sqlite_ms);
        assert_string_equal(second[i].sqlite, sqlite3_libversion());
        assert_string_equal(first[i].made, second[i].made);
    }
    assert_int_equal(first[0].rows.rows, 1);
    assert_string_equal(first[3].rows.columns[2].name, "p_brand1");
    assert_int_equal(first[3].rows.columns[2].type.kind, VALUE_STRING);
    assert_int_equal(first[3].rows.columns[0].type.kind, VALUE_INTEGER);
    destroy_answers(first);
    destroy_answers(second);
}

/* The second run uses the kept answers: it returns a cell that was edited in the file. NULL is not 0. */
static void kept_answers_come_from_the_file(void **state)
{
    (void)state;
    const struct reference_source source = source_of(0.01);
    const char *const statements[] = {
        "select sum(lo_revenue) as a, 0 as b from lineorder where lo_discount > 99",
        "select d_yearmonth, d_year from date where d_year < 0"};
    struct reference_answer answers[2];
    struct reference *reference;
    open_loads(&source, &reference);
    for (int i = 0; i < 2; i++) { /* computed, then kept */
        assert_int_equal(reference_answers(reference, statements, 2, 1, NULL, answers, NULL), STATUS_OK);
        assert_int_equal(answers[0].kept, i == 1);
        assert_int_equal(answers[0].rows.rows, 1);
        assert_true(answers[0].rows.columns[0].nulls[0]);
        assert_false(answers[0].rows.columns[1].nulls[0]);
        assert_int_equal(answers[1].rows.rows, 0);
        assert_int_equal(answers[1].rows.columns[0].type.kind, VALUE_STRING);
        assert_int_equal(answers[1].rows.columns[1].type.kind, VALUE_INTEGER);
        rowset_free(&answers[0].rows);
        rowset_free(&answers[1].rows);
    }
    execute("UPDATE answer_cell SET value = 7 WHERE column = 1 AND answer ="
            " (SELECT id FROM answer WHERE statement LIKE '%> 99')");
    assert_int_equal(reference_answers(reference, statements, 1, 1, NULL, answers, NULL), STATUS_OK);
    assert_int_equal(answers[0].rows.columns[1].values[0], 7);
    rowset_free(&answers[0].rows);
    reference_close(reference);
}

static void other_rows_and_damaged_files_are_loaded_again(void **state)
{
    (void)state;
    const struct reference_source source = source_of(0.01), smaller = source_of(0.005);
    struct reference_source other_mode = source;
    struct reference *reference;
    open_loads(&source, &reference);
    reference_close(reference);
    assert_true(open_loads(&smaller, &reference));
    reference_close(reference);
    assert_true(open_loads(&source, &reference));
    reference_close(reference);
    other_mode.options.variant = SSB_VARIANT_CRYSTAL; /* the same row counts, except for one date less */
    other_mode.rows[SSB_DATE]--;
    assert_true(open_loads(&other_mode, &reference));
    reference_close(reference);
    assert_int_equal(truncate(file, 100000), 0);
    assert_true(open_loads(&source, &reference));
    reference_close(reference);
    FILE *text = fopen(file, "w");
    fputs("this is no SQLite database\n", text);
    fclose(text);
    text = fopen(partial, "w"); /* as after a crash */
    fputs("half a file", text);
    fclose(text);
    assert_true(open_loads(&source, &reference));
    reference_close(reference);
    assert_int_equal(access(partial, F_OK), -1);
}

static void copy_file(const char *from, const char *to)
{
    char command[3 * PATH_BYTES];
    snprintf(command, sizeof command, "cp '%s' '%s'", from, to);
    assert_int_equal(system(command), 0);
}

/* Leaves the file and its journal as a process does that is killed while it changes every row of lineorder. */
static void be_killed_while_writing(void)
{
    char journal[PATH_BYTES + 64], file_then[PATH_BYTES + 64], journal_then[PATH_BYTES + 96];
    snprintf(journal, sizeof journal, "%s-journal", file);
    snprintf(file_then, sizeof file_then, "%s.then", file);
    snprintf(journal_then, sizeof journal_then, "%s.then", journal);
    sqlite3 *connection = open_sqlite();
    assert_int_equal(sqlite3_exec(connection,
                                  "PRAGMA cache_size = 1; BEGIN; UPDATE lineorder SET lo_revenue = 1;", NULL,
                                  NULL, NULL),
                     SQLITE_OK);
    copy_file(file, file_then);
    copy_file(journal, journal_then);
    assert_int_equal(sqlite3_close(connection), SQLITE_OK);
    assert_int_equal(rename(file_then, file), 0);
    assert_int_equal(rename(journal_then, journal), 0);
}

static void what_a_killed_run_leaves_is_taken_back(void **state)
{
    (void)state;
    const struct reference_source source = source_of(0.01), smaller = source_of(0.005);
    struct reference_answer first[SSB_QUERIES], again[SSB_QUERIES];
    struct reference *reference;
    char journal[PATH_BYTES + 64];
    snprintf(journal, sizeof journal, "%s-journal", file);
    open_loads(&source, &reference);
    all_answers(reference, first);
    reference_close(reference);
    execute("DELETE FROM answer; DELETE FROM answer_cell");
    be_killed_while_writing();
    assert_false(open_loads(&source, &reference));
    assert_int_equal(access(journal, F_OK), -1);
    all_answers(reference, again);
    assert_same_answers(first, again);
    destroy_answers(again);
    reference_close(reference);
    /* the journal of a file that another takes the place of goes with it */
    execute("DROP TABLE reference");
    be_killed_while_writing();
    assert_true(open_loads(&smaller, &reference));
    assert_int_equal(access(journal, F_OK), -1);
    reference_close(reference);
    assert_true(open_loads(&source, &reference));
    all_answers(reference, again);
    assert_same_answers(first, again);
    destroy_answers(again);
    destroy_answers(first);
    reference_close(reference);
}

static void failures_leave_no_file(void **state)
{
    (void)state;
    struct reference_source source = source_of(0.01);
    struct reference *reference;
    struct error error = {0};
    unlink(file);
    source.rows[SSB_LINEORDER]++;
    assert_int_equal(reference_open(folder, &source, 2, NULL, &reference, &error), STATUS_CHECK_FAILED);
    assert_string_equal(error.text, "the raw rows of lineorder are 60175, but the database has 60176; it was "
                                    "loaded from other rows, load it again");
    assert_int_equal(access(file, F_OK), -1);
    assert_int_equal(access(partial, F_OK), -1);
    source.rows[SSB_LINEORDER]--;
    execution_stop(&execution);
    assert_int_equal(reference_open(folder, &source, 2, NULL, &reference, &error), STATUS_INTERRUPTED);
    execution_resume(&execution);
    assert_int_equal(access(file, F_OK), -1);
    assert_int_equal(access(partial, F_OK), -1);
    assert_int_equal(reference_open("/nowhere", &source, 2, NULL, &reference, &error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "/nowhere/reference.sqlite"));
    int held = open(partial, O_RDWR | O_CREAT, 0600);
    assert_int_equal(flock(held, LOCK_EX), 0);
    assert_int_equal(reference_open(folder, &source, 2, NULL, &reference, &error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "another process"));
    close(held);
    unlink(partial);
}

static void a_statement_that_fails_says_so(void **state)
{
    (void)state;
    const struct reference_source source = source_of(0.01);
    const char *const statement = "select lo_nothing from lineorder";
    struct reference_answer answer;
    struct reference *reference;
    struct error error = {0};
    open_loads(&source, &reference);
    assert_int_equal(reference_answers(reference, &statement, 1, 1, NULL, &answer, &error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "no such column: lo_nothing"));
    rowset_free(&answer.rows);
    reference_close(reference);
}

static void write_tables(const char *tables)
{
    for (int t = 0; t < SSB_TABLES; t++)
        assert_int_equal(ssb_write_tbl(generator, (enum ssb_table)t, tables, 2, NULL, NULL), STATUS_OK);
}

static void tbl_files_give_the_same_answers(void **state)
{
    (void)state;
    struct reference_source source = source_of(0.01);
    struct reference_answer generated[SSB_QUERIES], read[SSB_QUERIES];
    struct reference *reference;
    char tables[PATH_BYTES + 16], path[PATH_BYTES + 64], hidden[PATH_BYTES + 64];
    snprintf(tables, sizeof tables, "%s/tables", folder);
    snprintf(path, sizeof path, "%s/supplier.tbl", tables);
    snprintf(hidden, sizeof hidden, "%s/supplier", tables);
    open_loads(&source, &reference);
    all_answers(reference, generated);
    reference_close(reference);
    write_tables(tables);
    source.from = tables;
    assert_true(open_loads(&source, &reference));
    all_answers(reference, read);
    reference_close(reference);
    assert_same_answers(generated, read);
    destroy_answers(generated);
    destroy_answers(read);
    assert_false(open_loads(&source, &reference));
    reference_close(reference);

    /* Files that are gone are not needed again; files that changed are read again. */
    assert_int_equal(rename(path, hidden), 0);
    assert_false(open_loads(&source, &reference));
    reference_close(reference);
    struct error error = {0};
    unlink(file);
    assert_int_equal(reference_open(folder, &source, 2, NULL, &reference, &error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, path));
    assert_int_equal(rename(hidden, path), 0);
    assert_true(open_loads(&source, &reference));
    reference_close(reference);
    const struct timespec times[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    assert_true(open_loads(&source, &reference));
    reference_close(reference);
}

/* Lines without the last bar, or with \r\n, are accepted, as by the loader. */
static void text_of_other_programs_is_read(void **state)
{
    (void)state;
    struct reference_source source = source_of(0.01);
    struct reference *reference;
    char tables[PATH_BYTES + 16], path[PATH_BYTES + 64];
    snprintf(tables, sizeof tables, "%s/tables", folder);
    snprintf(path, sizeof path, "%s/supplier.tbl", tables);
    source.from = tables;
    source.rows[SSB_SUPPLIER] = 3;
    write_tables(tables);
    FILE *table = fopen(path, "w");
    fputs("1|S|a|CITY|NATION|REGION|phone\n2|S|a|C|N|R|1|\r\n3|S|a|C|N|R|1\r\n", table);
    fclose(table);
    assert_true(open_loads(&source, &reference));
    reference_close(reference);
}

static void bad_lines_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *line, *sentence;
    } cases[] = {
        {"1|Supplier|address|CITY|NATION|REGION\n", "supplier.tbl, line 3: 5 fields where supplier has 7"},
        {"1|Supplier|address|CITY|NATION|REGION|\n", "supplier.tbl, line 3: 6 fields where supplier has 7"},
        {"\n", "supplier.tbl, line 3: 0 fields where supplier has 7"},
        {"x1|Supplier|a|CITY|NATION|REGION|1|\n", "line 3, s_suppkey: \"x1\" is not a number of 32 bits"},
        {"9999999999|Supplier|a|CITY|NATION|REGION|1|\n", "\"9999999999\" is not a number of 32 bits"},
        {"1|Supplier|a|CITY IN A COUNTRY WITH A VERY LONG NAME|NATION|REGION|1|\n",
         "is longer than 31 characters"},
        {"1|Supplier|a|CITY|NATION|REGION|1|\n", "UNIQUE constraint failed: supplier.s_suppkey"},
    };
    struct reference_source source = source_of(0.01);
    struct reference *reference;
    char tables[PATH_BYTES + 16], path[PATH_BYTES + 64];
    snprintf(tables, sizeof tables, "%s/tables", folder);
    snprintf(path, sizeof path, "%s/supplier.tbl", tables);
    source.from = tables;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error error = {0};
        write_tables(tables);
        FILE *table = fopen(path, "w");
        fputs("1|S|a|C|N|R|1|\n2|S|a|C|N|R|1|\n", table);
        fputs(cases[i].line, table);
        fclose(table);
        assert_int_equal(reference_open(folder, &source, 2, NULL, &reference, &error), STATUS_BAD_INPUT);
        if (!strstr(error.text, cases[i].sentence))
            fail_msg("%s", error.text);
    }
}

/* SQLite's plans scan lineorder once and look every other table up by its key. */
static void sqlite_scans_lineorder_once(void **state)
{
    (void)state;
    const struct reference_source source = source_of(0.01);
    struct reference *reference;
    open_loads(&source, &reference);
    reference_close(reference);
    sqlite3 *connection = open_sqlite();
    sqlite3_exec(connection, "PRAGMA automatic_index = OFF", NULL, NULL, NULL);
    for (uint32_t i = 0; i < SSB_QUERIES; i++) {
        char text[1200];
        sqlite3_stmt *plan;
        int scans = 0;
        snprintf(text, sizeof text, "EXPLAIN QUERY PLAN %s", ssb_queries[i]->sql);
        assert_int_equal(sqlite3_prepare_v2(connection, text, -1, &plan, NULL), SQLITE_OK);
        while (sqlite3_step(plan) == SQLITE_ROW) {
            const char *step = (const char *)sqlite3_column_text(plan, 3);
            scans += strcmp(step, "SCAN lineorder") == 0;
            if (strncmp(step, "SCAN ", 5) == 0 && strcmp(step, "SCAN lineorder") != 0)
                fail_msg("%s: %s", ssb_queries[i]->name, step);
            if (strncmp(step, "SEARCH ", 7) == 0 && !strstr(step, "USING INTEGER PRIMARY KEY"))
                fail_msg("%s: %s", ssb_queries[i]->name, step);
        }
        assert_int_equal(scans, 1);
        sqlite3_finalize(plan);
    }
    sqlite3_close(connection);
}

int main(void)
{
    execution_enter(&execution);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_holds_the_generated_rows),
        cmocka_unit_test(rows_and_answers_are_kept),
        cmocka_unit_test(kept_answers_come_from_the_file),
        cmocka_unit_test(other_rows_and_damaged_files_are_loaded_again),
        cmocka_unit_test(what_a_killed_run_leaves_is_taken_back),
        cmocka_unit_test(failures_leave_no_file),
        cmocka_unit_test(a_statement_that_fails_says_so),
        cmocka_unit_test(tbl_files_give_the_same_answers),
        cmocka_unit_test(text_of_other_programs_is_read),
        cmocka_unit_test(bad_lines_are_named),
        cmocka_unit_test(sqlite_scans_lineorder_once),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
