/*
 * test_text_format.c: files that are no delimited text are refused by name, by a load and by --infer: Parquet, Arrow,
 * archives, databases, text that is not UTF-8. Text that begins alike is read.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/load_program.h"

/* Writes a file beside the database, by `printf`. */
static void write_file(const char *name, const char *format)
{
    char shell[2 * PATH_BYTES];
    snprintf(shell, sizeof shell, "cd $D/.. && rm -rf $D && printf '%s' >'%s'", format, name);
    run_shell(shell, &run);
    assert_int_equal(run.exit_code, 0);
}

static void infer_ends(const char *arguments, int exit_code, const char *said)
{
    char shell[2 * PATH_BYTES];
    snprintf(shell, sizeof shell, "cd $D/.. && $T load --infer %s", arguments);
    run_shell(shell, &run);
    if (run.exit_code != exit_code || !strstr(exit_code ? run.errors : run.output, said))
        fail_msg("--infer %s: exit code %d\n%s%s", arguments, run.exit_code, run.output, run.errors);
}

static int make_schema(void **state)
{
    setup(state);
    write_file("star.sql", "CREATE TABLE t (a TEXT, b TEXT);");
    return 0;
}

static void is_refused(const char *name, const char *format, const char *said)
{
    char arguments[PATH_BYTES];
    write_file(name, format);
    infer_ends(name, 2, said);
    assert_string_equal(run.output, "");
    snprintf(arguments, sizeof arguments, "t=%s", name);
    load_ends(arguments, 2, said);
    snprintf(arguments, sizeof arguments, "--max-errors 9 t=%s", name);
    load_ends(arguments, 2, said);
}

static void other_programs_files_are_refused_by_name(void **state)
{
    (void)state;
    is_refused("t.csv", "PAR1\\025\\000\\n", "t.csv: is a Parquet file; give the whole file itself");
    is_refused("t.feather", "ARROW1\\000\\000\\377\\377\\377\\377",
               "t.feather: is an Arrow or Feather file; docs/examples/tessera_files.py");
    is_refused("t1.feather", "FEA1\\000\\000\\000\\000\\001", "t1.feather: is a Feather file of version 1");
    is_refused("t.arrows", "\\377\\377\\377\\377x\\000\\000\\000", "t.arrows: is an Arrow stream");
    is_refused("t.db", "SQLite format 3\\000\\020", "t.db: is an SQLite database");
    is_refused("t.duckdb", "\\001\\002\\003\\004\\005\\006\\007\\010DUCK\\000",
               "t.duckdb: is a DuckDB database");
    is_refused("t.xlsx", "PK\\003\\004\\024\\000", "t.xlsx: is a ZIP archive, or a spreadsheet");
    is_refused("t.avro", "Obj\\001\\002", "t.avro: is an Avro file");
    run_shell("cd $D/.. && printf 'PAR1\\025\\000\\n' >t.parquet && gzip <t.parquet >t.parquet.gz && tar "
              "-czf t.tar.gz star.sql",
              &run);
    infer_ends("t.parquet.gz", 2, "t.parquet.gz: is a Parquet file");
    load_ends("t=t.parquet", 2,
              "t.parquet: is no Parquet file, or is not whole: it does not begin and end as one");
    load_ends("t=t.parquet.gz", 2, "t.parquet.gz: is a Parquet file");
    load_ends("t=- <t.parquet", 2, "-: is a Parquet file");
    infer_ends("t.tar.gz", 2, "t.tar.gz: is a tar archive");
    run_shell("cd $D/.. && $T load --db $D --schema t.parquet t=t.csv", &run);
    assert_int_equal(run.exit_code, 2);
    assert_non_null(strstr(run.errors, "t.parquet: is a Parquet file"));
}

/* test_load_json.c has the rest. */
static void json_is_read_as_such(void **state)
{
    (void)state;
    write_file("t.csv", "{\"a\\\\\"b\" : 1, \"a\" : 2}\\n");
    load_ends("t=t.csv", 0, "1 row");
    answer_is("select * from t", "a,b\n2,\n");
    write_file("t.dat", "\\357\\273\\277 [\\n  {\"a\": 1, \"b\": \"x\"},\\n {}]\\n");
    load_ends("t=t.dat", 0, "2 rows");
    answer_is("select * from t", "a,b\n1,x\n,\n");
}

/* What only begins as another format does, and what an option says to be text. */
static void text_that_begins_alike_is_read(void **state)
{
    (void)state;
    write_file("t.csv", "PAR1,PK\\nARROW1,Obj\\n");
    load_ends("--header no t=t.csv", 0, "2 rows");
    answer_is("select * from t order by a", "a,b\nARROW1,Obj\nPAR1,PK\n");
    write_file("t.tsv", "{\"a\":1}\\tx\\n");
    load_ends("--null - t=t.tsv", 0, "1 row");
    write_file("t.txt", "{\"a\":1}|x\\n");
    load_ends("t=t.txt", 2, "give --delimiter");
    load_ends("--delimiter '|' t=t.txt", 0, "1 row");
    write_file("t.csv", "{x},[y]\\n[1,2]\\n{1:2},{\"a\"\\n");
    load_ends("t=t.csv", 0, "3 rows");
}

static void text_that_is_not_utf8_is_refused_by_name(void **state)
{
    static const char latin1[] =
        "the row is no UTF-8: if it is Latin-1, tessera load --encoding latin1 reads it";
    (void)state;
    write_file("t.csv", "a,b\\nM\\374ller,K\\366ln\\n");
    infer_ends("t.csv", 2,
               "t.csv:2: the row is no UTF-8: if it is Latin-1, tessera load --encoding latin1 reads it");
    load_ends("t=t.csv", 2, latin1);
    write_file("t.csv", "gr\\366\\337e,b\\nx,y\\n");
    infer_ends("t.csv", 2, "t.csv:1: the header is no UTF-8: if it is Latin-1");
    load_ends("--header yes t=t.csv", 2, "t.csv:1: the header is no UTF-8: if it is Latin-1");
    load_ends("t=t.csv", 2, latin1);
    run_shell("cd $D/.. && iconv -f LATIN1 -t UTF-8 <t.csv >u.csv", &run);
    infer_ends("u.csv", 0, "größe");
    infer_ends("--encoding latin-1 t.csv", 0, "--encoding 'latin-1' 't=t.csv'");
    assert_non_null(strstr(run.output, "\"größe\" TEXT"));
    write_file("star.sql", "CREATE TABLE t (größe TEXT, b TEXT);");
    write_file("v.csv", "gr\\303\\266\\303\\237e,b\\nx,y\\n");
    load_ends("--encoding t=latin1 t=t.csv", 0, "1 row");
    load_ends("--append --encoding utf-8 t=v.csv", 0, "1 row");
    load_ends("--append --encoding x=latin1 t=v.csv", 2,
              "--encoding x=latin1: no files of table x are loaded");
    load_ends("--append --encoding lattin t=v.csv", 2, "--encoding 'lattin' is not known; latin1");
}

/* A table whose rows are all unlike its first one has no schema. */
static void nothing_is_inferred_from_no_row(void **state)
{
    (void)state;
    write_file("t.csv", "a,b\\n1\\n2\\n");
    infer_ends("t.csv", 2, "t.csv:2: the row has 1 field instead of 2");
    write_file("t.csv", "a,b\\n1\\n2,3\\n");
    infer_ends("t.csv", 0, "1 row is unlike the others");
    write_file("t.csv", "a,b\\n");
    infer_ends("t.csv", 0, "0 rows");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(other_programs_files_are_refused_by_name, make_schema, teardown),
        cmocka_unit_test_setup_teardown(json_is_read_as_such, make_schema, teardown),
        cmocka_unit_test_setup_teardown(text_that_begins_alike_is_read, make_schema, teardown),
        cmocka_unit_test_setup_teardown(text_that_is_not_utf8_is_refused_by_name, make_schema, teardown),
        cmocka_unit_test_setup_teardown(nothing_is_inferred_from_no_row, make_schema, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
