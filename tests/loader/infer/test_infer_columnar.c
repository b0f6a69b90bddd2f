/*
 * test_infer_columnar.c: schemas of ORC and Parquet files are inferred, with keys and references across kinds of files,
 * and load them; columns that no table can have are told. Folders stand for their files.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/load_program.h"

#define DATA TESSERA_SOURCE "/tests/data"

static void infers(const char *arguments, int exit_code)
{
    char shell[2 * PATH_BYTES];
    snprintf(shell, sizeof shell,
             "cd $D/.. && $T load --infer %s >star.sql; code=$?; cat star.sql; exit $code", arguments);
    run_shell(shell, &run);
    if (run.exit_code != exit_code)
        fail_msg("%s: exit code %d\n%s", arguments, run.exit_code, run.errors);
}

static void tells(const char *text)
{
    if (!strstr(run.output, text) && !strstr(run.errors, text))
        fail_msg("\"%s\" is not in:\n%s%s", text, run.output, run.errors);
}

static void types_are_those_of_the_file(void **state)
{
    static const char *const files[] = {DATA "/orc/pyarrow-full-0.12.orc",
                                        DATA "/parquet/pyarrow-full-delta.parquet",
                                        DATA "/parquet/pyarrow-full-int96.parquet"};
    char arguments[PATH_BYTES];
    (void)state;
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        snprintf(arguments, sizeof arguments, "t=%s", files[f]);
        infers(arguments, 0);
        tells("    flag BOOLEAN NOT NULL, -- ");
        tells("    small INT NOT NULL, -- -32768 to 131, 25 different\n");
        tells("    number INT PRIMARY KEY, -- -100 to 347, no duplicates\n");
        tells("    big BIGINT NOT NULL, -- -8689336702330733279 to 8042560152215846689");
        tells("    day DATE NOT NULL, -- 1992-01-28 to 1998-08-04");
        tells("    moment TIMESTAMP NOT NULL, -- 1939-02-08 to 2032-12-19");
        tells("    price DECIMAL(12,2) NOT NULL, -- ");
        tells("    fine DECIMAL(18,6) NOT NULL, -- ");
        tells("    line TEXT NOT NULL -- ");
        snprintf(arguments, sizeof arguments, "--force t=%s", files[f]);
        load_ends(arguments, 0, "150 rows");
    }
    infers("t=" DATA "/parquet/pyarrow-null.parquet", 0);
    tells("    price DECIMAL(12,2), -- no value, 70 NULL\n");
    infers("t=" DATA "/parquet/pyarrow-empty.parquet", 0);
    tells("pyarrow-empty.parquet: 0 rows, Parquet, ");
    infers("--memory 1000 t=" DATA "/parquet/duckdb-shapes-v1.parquet", 3);
    tells("duckdb-shapes-v1.parquet, row group 1, column ");
    tells(": reading it takes 1 MB of memory, and --memory ");
    infers("--threads 1 --memory 50000 t=" DATA "/parquet/duckdb-shapes-v1.parquet", 0);
    infers("t=" DATA "/parquet/hand-narrow.parquet", 0);
    tells("    price DECIMAL(3,2) NOT NULL");
    infers("t=" DATA "/parquet/hand-narrow.parquet," DATA "/parquet/pyarrow-limits-whole.parquet", 0);
    tells("    price DECIMAL(12,2) NOT NULL");
}

/* Values that come again are counted without their texts: codes mean other texts in another group of rows, and a key is one
 * only if no value comes again, also much later. */
static void values_that_come_again_are_counted(void **state)
{
    (void)state;
    run_shell(
        "cd $D/.. && echo 'CREATE TABLE n (i INT);' >n.sql && seq 200000 >n.csv && $T load --db n.db "
        "--schema n.sql n=n.csv && $T sql --device cpu --db n.db \"copy (select i as id, i % 199999 as "
        "again_id, concat(i / 122880, 'w', i % 50) as word, i % 1000 / 8e0 as real, timestamp '2024-01-01 "
        "00:00:00' + interval '1 second' * (i % 7000) as moment, case when i % 3 = 0 then i % 11 end as "
        "small "
        "from n order by id) to 't.parquet'\"",
        &run);
    assert_int_equal(run.exit_code, 0);
    infers("t=t.parquet", 0);
    tells("    id INT PRIMARY KEY, -- 1 to 200000, no duplicates\n");
    tells("    again_id INT NOT NULL, -- 0 to 199998, 199999 different\n");
    tells("    word TEXT NOT NULL, -- up to 4 bytes, 100 different\n");
    tells("    real DOUBLE NOT NULL, -- 0 to 124.875, 1000 different\n");
    tells("    moment TIMESTAMP NOT NULL, -- 2024-01-01 to 2024-01-01, 7000 different\n");
    tells("    small INT -- 0 to 10, 11 different, 133334 NULL\n");
}

static void columns_that_no_table_can_have_are_told(void **state)
{
    (void)state;
    infers("t=" DATA "/parquet/pyarrow-types.parquet", 0);
    tells("    -- column numbers of type list is skipped: no table can have it\n");
    tells("    -- column both of type struct is skipped");
    tells("    u32 BIGINT, -- 0 to 4294967295");
    tells("    u64 DOUBLE, -- "); /* beyond 64 bits with sign */
    tells("    wide DOUBLE -- "); /* more than 18 digits */
    tells(", 1 NULL, more than 18 digits, which a DOUBLE rounds\n");
    tells("nanoseconds: load with --nanoseconds cut\n");
    infers("t=" DATA "/orc/pyorc-types.orc", 0);
    tells("    -- column either of type union is skipped");
    infers("t=" DATA "/parquet/pyarrow-one.parquet," DATA "/orc/pyarrow-one.orc", 2);
    tells("pyarrow-one.orc: is no Parquet file, but " DATA
          "/parquet/pyarrow-one.parquet is; the files of one");
    infers("t=" DATA "/parquet/pyarrow-one.parquet," DATA "/parquet/pyarrow-round.parquet", 2);
    tells("pyarrow-round.parquet: has no column flag, which " DATA "/parquet/pyarrow-one.parquet has");
}

static void references_go_across_kinds_of_files(void **state)
{
    static const char files[] = "number=" DATA "/parquet/pyarrow-shapes-delta.parquet facts=facts.csv";
    (void)state;
    run_shell(
        "cd $D/.. && rm -rf $D && printf 'id,number_id\\n1,1000000\\n2,999999\\n3,999996\\n' >facts.csv",
        &run);
    infers(files, 0);
    tells("    number INT PRIMARY KEY, -- -437601 to 1000000, no duplicates\n");
    tells("    number_id INT NOT NULL REFERENCES number -- 999996 to 1000000, no duplicates; all are keys of "
          "number");
    load_ends(files, 0, "1203 rows");
    answer_is("select count(*) from facts join number on number_id = number", "count(*)\n3\n");
}

static void a_folder_is_its_files(void **state)
{
    (void)state;
    run_shell("cd $D/.. && rm -rf $D many && mkdir many && cp " DATA
              "/parquet/pyarrow-stripes-groups.parquet many/b.parquet && "
              "cp " DATA
              "/parquet/duckdb-rows-v2-zstd.parquet many/a.parquet && touch many/_SUCCESS many/.hidden",
              &run);
    assert_int_equal(run.exit_code, 0);
    infers("many/", 0);
    tells("'many=many/a.parquet,many/b.parquet'\n");
    tells("-- many/a.parquet and others: 252 rows, Parquet, 4 row groups\nCREATE TABLE many (\n");
    load_ends("many=many", 0, "252 rows");
    load_ends("--append many=many/a.parquet", 0, "60 rows");
    answer_is("select count(*), count(line) from many", "count(*),count(line)\n312,228\n");
    run_shell("cd $D/.. && mkdir many/more empty", &run);
    load_ends("--force many=many", 2,
              "many/more: is a folder in a folder; name the files by a pattern, as 'many/*/*'");
    load_ends("--force many=empty", 2, "empty: there is no file in this folder");
}

/* What is said of one table must be of use for its files; what is said of all is for those that are text. */
static void options_of_text_are_refused_for_a_table_that_is_none(void **state)
{
    static const char no_use[] = " is read as Parquet, which needs no such option";
    (void)state;
    infers("--encoding latin1 t=" DATA "/parquet/pyarrow-one.parquet", 0);
    load_ends("--encoding latin1 t=" DATA "/parquet/pyarrow-one.parquet", 0, "1 row");
    load_ends("--append --encoding t=latin1 t=" DATA "/parquet/pyarrow-one.parquet", 2, no_use);
    load_ends("--append --columns t=day,line t=" DATA "/parquet/pyarrow-one.parquet", 2, no_use);
    infers("--encoding t=latin1 t=" DATA "/parquet/pyarrow-one.parquet", 2);
    tells("--encoding t=latin1: ");
    tells(no_use);
    infers("t=,", 2);
    tells("'t=,' is not TABLE=FILE[,FILE...]");
    load_ends("--append t=,", 2, "'t=,' is not TABLE=FILE[,FILE...]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(types_are_those_of_the_file, setup, teardown),
        cmocka_unit_test_setup_teardown(values_that_come_again_are_counted, setup, teardown),
        cmocka_unit_test_setup_teardown(columns_that_no_table_can_have_are_told, setup, teardown),
        cmocka_unit_test_setup_teardown(references_go_across_kinds_of_files, setup, teardown),
        cmocka_unit_test_setup_teardown(a_folder_is_its_files, setup, teardown),
        cmocka_unit_test_setup_teardown(options_of_text_are_refused_for_a_table_that_is_none, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
