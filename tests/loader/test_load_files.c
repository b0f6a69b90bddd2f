/*
 * test_load_files.c: `tessera load` with schemas and files as databases and people write them: rules that rows must
 * fulfil, names in any script, odd numbers, fields too many, a schema that is inferred.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/load_program.h"

/* Writes a file beside the database. */
static void file_is(const char *name, const char *text)
{
    char file[PATH_BYTES + 64];
    snprintf(file, sizeof file, "%s", path);
    snprintf(strrchr(file, '/') + 1, 64, "%s", name);
    FILE *const out = fopen(file, "wb");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

/* Loads with --force. */
static void load(const char *arguments, int exit_code, const char *said)
{
    char all[PATH_BYTES + 16];
    snprintf(all, sizeof all, "--force %s", arguments);
    load_ends(all, exit_code, said);
}

static void rows_fulfil_check_and_unique(void **state)
{
    (void)state;
    file_is("star.sql",
            "CREATE TABLE shops (id INT PRIMARY KEY, size INT UNIQUE CHECK (size > 0), name TEXT UNIQUE);\n"
            "CREATE TABLE sales (shop INT REFERENCES shops ON DELETE CASCADE CHECK (shop < 100), paid "
            "DECIMAL(9,2) "
            "CHECK (paid >= 0), kind TEXT CHECK (kind IN ('a', 'b')));\n");
    file_is("shops.csv", "1,10,x\n2,,y\n3,,\n4,11,\n100,7,z\n");
    file_is("sales.csv", "1,1.50,a\n2,3,\n4,0,b\n");
    load("shops=shops.csv sales=sales.csv", 0, "8 rows");
    answer_is("select size, sum(paid) as paid from sales join shops on id = shop group by size order by paid",
              "size,paid\n11,0.00\n10,1.50\n,3.00\n");
    file_is("sales.csv", "1,1.50,a\n2,-3,\n4,0,c\n100,1,a\n");
    load("shops=shops.csv sales=sales.csv", 2,
         "sales.csv:2: the row fails CHECK (paid >= 0); nothing was loaded");
    load("shops=shops.csv sales=sales.csv --max-errors 3 --reject bad.csv", 0, "3 rows were left out");
    run_shell("cat $D/../bad.csv", &run);
    assert_string_equal(run.output, "file,line,reason,row\n"
                                    "\"sales.csv\",2,\"the row fails CHECK (paid >= 0)\",\"2,-3,\"\n"
                                    "\"sales.csv\",3,\"the row fails CHECK (kind IN ('a', 'b'))\",\"4,0,c\"\n"
                                    "\"sales.csv\",4,\"the row fails CHECK (shop < 100)\",\"100,1,a\"\n");
    file_is("shops.csv", "1,10,x\n2,,y\n3,10,\n");
    load("shops=shops.csv", 2,
         "shops.csv:3: table shops, column size: the value '10' is that of shops.csv:1 already");
    file_is("shops.csv", "1,10,x\n2,,y\n3,,y\n");
    load("shops=shops.csv", 2,
         "shops.csv:3: table shops, column name: the value is that of shops.csv:2 already");
}

/* A foreign key is a position when it is stored; its conditions are about its value, as the options read it. */
static void conditions_of_keys_are_tested_by_their_values(void **state)
{
    (void)state;
    file_is("star.sql", "CREATE TABLE shops (id INT PRIMARY KEY);"
                        "CREATE TABLE sales (shop INT REFERENCES shops CHECK (shop < 2000), n INT);");
    file_is("shops.csv", "1.000\n2.500\n");
    file_is("sales.csv", "1.000;1\n");
    load("--thousands . shops=shops.csv sales=sales.csv", 0, "3 rows");
    file_is("sales.csv", "1.000;1\n2.500;2\n");
    load("--thousands . sales=sales.csv", 2, "sales.csv:2: the row fails CHECK (shop < 2000)");
}

/* Threads find bad rows in any order; the one that is told is the first in the file. */
static void the_first_bad_row_is_told(void **state)
{
    (void)state;
    file_is("star.sql", "CREATE TABLE t (a INT);");
    run_shell("cd $D/.. && seq 1 600000 | awk '{print ($1 < 150000 ? $1 : \"x\" $1)}' >t.csv", &run);
    load("--threads 4 --max-errors 1000000 t=t.csv", 0,
         "450001 rows were left out; the first: t.csv:150000:");
}

static void names_are_in_any_script(void **state)
{
    (void)state;
    file_is("star.sql", "CREATE TABLE \"../\xd0\xbc\xd0\xb0\xd0\xb3.\" (\"Gr\xc3\xb6\xc3\x9f"
                        "e %\" INT PRIMARY KEY);"
                        "CREATE TABLE \xe5\xa3\xb2\xe4\xb8\x8a (\"a.b/c\" INT REFERENCES "
                        "\"../\xd0\xbc\xd0\xb0\xd0\xb3.\", \"select\" INT)");
    file_is("keys.csv", "5\n6\n");
    file_is("sales.csv", "select,a.b/c\n1,6\n2,6\n3,5\n");
    load("'../\xd0\xbc\xd0\xb0\xd0\xb3.=keys.csv' \xe5\xa3\xb2\xe4\xb8\x8a=sales.csv", 0, "5 rows");
    answer_is("select \"a.b/c\" as k, sum(\"select\") as s from \xe5\xa3\xb2\xe4\xb8\x8a group by \"a.b/c\" "
              "order by s desc, k",
              "k,s\n5,3\n6,3\n");
    load("\xe5\xa3\xb2\xe4\xb8\x8a=sales.csv", 0, "3 rows"); /* again, so that old files are removed */
    run_shell("$T check --db $D >$D/../said && ls $D/tables", &run);
    assert_string_equal(run.output, "%2E%2E%2F\xd0\xbc\xd0\xb0\xd0\xb3%2E\n\xe5\xa3\xb2\xe4\xb8\x8a\n");
}

static void numbers_and_times_are_as_programs_write_them(void **state)
{
    (void)state;
    file_is("star.sql", "CREATE TABLE sales (id INT, paid DECIMAL(9,2), at TIMESTAMP WITH TIME ZONE);");
    file_is("sales.csv",
            "id,paid,at\n1.0,1.5e2,2024-05-01 12:00:00+02\n2,-0.005,2024-05-01T12:00:00.123456789Z\n");
    load("sales=sales.csv", 2,
         "sales.csv:3: column paid: '-0.005' has more than 2 decimals (--round rounds such numbers)");
    load("--round sales=sales.csv", 2,
         "has more than 6 decimals of a second (--nanoseconds cut cuts them); nothing was loaded");
    load("--round --nanoseconds cut sales=sales.csv", 0, "2 rows");
    answer_is("select * from sales",
              "id,paid,at\n1,150.00,2024-05-01 10:00:00+00\n2,-0.01,2024-05-01 12:00:00.123456+00\n");
    file_is("sales.csv", "1;1.234,5;2024-05-01\n");
    load("--thousands . sales=sales.csv", 0, "1 row");
    answer_is("select paid from sales", "paid\n1234.50\n");
    load("--thousands x sales=sales.csv", 2, "--thousands 'x' is none of");
    load("--thousands , --decimal-mark , sales=sales.csv", 2, "which is it?");
}

/* Options for single columns, before those for all. */
static void columns_are_written_in_their_own_way(void **state)
{
    (void)state;
    file_is("star.sql",
            "CREATE TABLE days (day DATE PRIMARY KEY, name TEXT);"
            "CREATE TABLE sales (id INT, at TIMESTAMP, day DATE REFERENCES days, paid DECIMAL(9,2), "
            "us DECIMAL(9,2), off DECIMAL(6,4), note TEXT);");
    file_is("days.csv", "31/12/24,a\n1/1/25,b\n");
    file_is("sales.csv", "1;1.2.24 13:14;31.12.2024;€ 1.234,50;$1,234.50;12,5 %;1,5\n"
                         "2;;1.1.2025;-0,99 €;$-5;;\n");
    load("--date-format days.day=%d/%m/%y --date-format %d.%m.%Y --timestamp-format 'at=%d.%m.%y %H:%M' "
         "--currency paid=€ --thousands . --thousands us=, --decimal-mark sales.us=. --currency 'us=$' "
         "--percent off=fraction days=days.csv sales=sales.csv",
         0, "4 rows");
    answer_is(
        "select id, at, s.day, name, paid, us, off, note from sales s join days on s.day = days.day",
        "id,at,day,name,paid,us,off,note\n1,2024-02-01 13:14:00,2024-12-31,a,1234.50,1234.50,0.1250,\"1,5\"\n"
        "2,,2025-01-01,b,-0.99,-5.00,,\n");
    file_is("new.csv", "3;;2.1.2025;1;2;3;\n");
    load_ends("--append --date-format %d.%m.%Y sales=new.csv", 2,
              "new.csv:1: column day: no row of table days has day '2.1.2025'");
    file_is("new.csv", "3;;1.1.2025;1;2;3;\n4;;01/02/2025;1;2;3;\n");
    load_ends("--append --date-format %d.%m.%Y sales=new.csv", 2,
              "new.csv:2: column day: '01/02/2025' is not of the form %d.%m.%Y; nothing was loaded");
    load_ends("--append --date-format %d.%m.%Y --max-errors 1 sales=new.csv", 0, "1 row");
    load_ends("--append --currency paid=€ sales=new.csv", 2,
              "new.csv:1: column day: '1.1.2025' is no date YYYY-MM-DD");
    load("--thousands x=. sales=sales.csv", 2, "--thousands 'x=.': no table that is loaded has a column 'x'");
    load("--thousands days.day=. sales=sales.csv", 2, "no table that is loaded has a column 'days.day'");
    load("--currency note=€ sales=sales.csv", 2,
         "--currency 'note=€': column note of table sales is string and not a number");
    load("--date-format at=%Y sales=sales.csv", 2,
         "--date-format 'at=%Y': column at of table sales is timestamp and not a DATE");
    load("--timestamp-format %d.%m sales=sales.csv", 2, "the format '%d.%m' has no year");
    load("--percent 0.01 sales=sales.csv", 2, "--percent '0.01' is neither points");
    load("--currency 5 sales=sales.csv", 2, "--currency '5' is no sign of a currency");
    load("--thousands us=, --decimal-mark us=, sales=sales.csv", 2, "which is it?");
}

static void fields_that_the_table_lacks_are_skipped(void **state)
{
    (void)state;
    file_is("star.sql", "CREATE TABLE sales (id INT, paid DECIMAL(9,2));");
    file_is("sales.csv", ",Paid,note,id\n0,1.5,\"a,\nb\",1\n1,2,,2\n");
    load("sales=sales.csv", 0, "2 rows");
    answer_is("select * from sales", "id,paid\n1,1.50\n2,2.00\n");
    file_is("sales.csv", "x,5,7,2\nx,6,8,2\n");
    load("--columns sales=-,id,paid,- sales=sales.csv", 0, "2 rows");
    answer_is("select * from sales", "id,paid\n5,7.00\n6,8.00\n");
    load("--columns sales=-,id,- sales=sales.csv", 2, "--columns -,id,- lacks the table's column 'paid'");
    file_is("twice.csv", "id,paid,Paid\n1,2,3\n");
    load("sales=twice.csv", 2,
         "twice.csv:1: the header names 'paid' twice; say what the fields are by --columns");
    load("--columns sales=id,-,paid sales=twice.csv", 0, "1 row");
    answer_is("select * from sales", "id,paid\n1,3.00\n");
    load("--columns shops=id sales=sales.csv", 2, "no files of table shops are loaded");
    load("--columns sales sales=sales.csv", 2, "--columns 'sales' is not TABLE=COLUMN,COLUMN...");
}

static void a_schema_is_inferred_and_loaded(void **state)
{
    (void)state;
    file_is("shops.csv", "\xef\xbb\xbfid;Name;PLZ;opened;area\r\n1;\"A;\"\"b\"\"\";01234;2020-02-29;1.25\r\n"
                         "2;;99999;;3\r\n3;C;00001;2021-01-01;\r\n");
    file_is("sales.tsv", "nr\tshop_id\tback shop\tat\tpaid\tis_new\tbig\torder\n"
                         "10\t1\t3\t2024-01-01\t1.50\tyes\t9999999999\tx\n"
                         "11\t2\t\t2024-01-02 10:00:00\t-0.125\tno\t1\t7\n"
                         "12\t2\t9\t2024-01-02 10:00:00\t3\tYES\t2\t7\n"
                         "13\t1\t1\t2024-01-02 10:00:00\t3\tno\t2\t7\n");
    run_shell("cd $D/.. && $T load --infer shops.csv sales.tsv >star.sql && cat star.sql", &run);
    assert_int_equal(run.exit_code, 0);
    static const char *const parts[] = {
        "tessera load --db DIR --schema FILE.sql 'shops=shops.csv' 'sales=sales.tsv'\n",
        "-- shops.csv: 3 rows, ';' between fields, with a header\nCREATE TABLE shops (\n"
        "    id INT PRIMARY KEY, -- 1 to 3, no duplicates\n"
        "    Name TEXT, -- up to 5 bytes, no duplicates, 1 NULL\n"
        "    PLZ TEXT NOT NULL, -- up to 5 bytes, no duplicates, numbers with zeros in front\n"
        "    opened DATE, -- 2020-02-29 to 2021-01-01, no duplicates, 1 NULL\n"
        "    area DECIMAL(9,2) -- up to 4 bytes, no duplicates, 1 NULL\n);\n",
        "    nr INT PRIMARY KEY, -- 10 to 13",
        "    shop_id INT NOT NULL REFERENCES shops, -- 1 to 2, 2 different; all are keys of shops\n",
        "    \"back shop\" INT, -- 1 to 9, no duplicates, 1 NULL; REFERENCES shops? 1 of its values are no "
        "keys",
        "    at TIMESTAMP NOT NULL, -- 2024-01-01 to 2024-01-02, 2 different\n",
        "    paid DECIMAL(9,3) NOT NULL,",
        "    is_new BOOLEAN NOT NULL,",
        "    big BIGINT NOT NULL, -- 1 to 9999999999, 3 different\n",
        "    \"order\" TEXT NOT NULL -- up to 1 bytes, 2 different",
    };
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
        if (!strstr(run.output, parts[p]))
            fail_msg("%s\nlacks: %s", run.output, parts[p]);
    load("shops=shops.csv sales=sales.tsv", 0, "7 rows");
    answer_is("select PLZ, sum(paid) as paid from sales join shops on id = shop_id group by PLZ order by PLZ",
              "PLZ,paid\n01234,4.500\n99999,2.875\n");
    file_is("marks.csv", "id;a;b;c\n1;1.234,5;12.34;1.234\n2;0,25;1.5;2.000.000\n");
    run_shell("cd $D/.. && $T load --infer --thousands . marks.csv", &run);
    assert_non_null(strstr(run.output, " a DECIMAL(9,2) NOT NULL,"));
    assert_non_null(strstr(run.output, " b TEXT NOT NULL,")); /* groups have three digits */
    assert_non_null(strstr(run.output, " c INT NOT NULL --"));
    file_is("forms.csv",
            "id;a;b;c;d\n1;€ 1.234,5;31.12.2024;1.2.24 3:04;12,5 %\n2;0,25 €;1.1.2025;1.2.24 3:05;0\n");
    run_shell("cd $D/.. && $T load --infer --thousands a=. --currency a=€ --date-format %d.%m.%Y "
              "--timestamp-format "
              "'forms.c=%d.%m.%y %H:%M' --percent fraction --decimal-mark d=, forms.csv",
              &run);
    assert_non_null(
        strstr(run.output, " --date-format '%d.%m.%Y' --timestamp-format 'forms.c=%d.%m.%y %H:%M' "));
    assert_non_null(strstr(run.output, " a DECIMAL(9,2) NOT NULL,"));
    assert_non_null(strstr(run.output, " b DATE NOT NULL, -- 2024-12-31 to 2025-01-01"));
    assert_non_null(strstr(run.output, " c TIMESTAMP NOT NULL,"));
    assert_non_null(strstr(run.output, " d DECIMAL(9,3) NOT NULL --"));
    file_is("plain.txt", "1|2\n3|4|5\nx|6\n");
    run_shell("cd $D/.. && $T load --infer t=plain.txt", &run);
    assert_non_null(
        strstr(run.output, "without a header: load with --header no\n-- 1 row is unlike the others"));
    assert_non_null(
        strstr(run.output, "c1 TEXT PRIMARY KEY, -- up to 1 bytes, no duplicates, first other value 'x'\n"));
    run_shell("cd $D/.. && $T load --infer t=- <plain.txt", &run);
    assert_int_equal(run.exit_code, 2);
    assert_non_null(strstr(run.errors, "a file is read twice"));
    run_shell("cd $D/.. && $T load --infer none.csv", &run);
    assert_int_equal(run.exit_code, 2);
    run_shell("cd $D/.. && $T load --infer a/sales.csv sales.tsv", &run);
    assert_int_equal(run.exit_code, 2);
    load("sales.tsv", 2, "'sales.tsv' is not TABLE=FILE");
}

/* What --infer proposes for the file loads it, by the command that it proposes, and gives these rows. */
static void inferred_rows_are(const char *text, const char *rows)
{
    file_is("t.csv", text);
    run_shell("cd $D/.. && $T load --infer t.csv >star.sql && "
              "sed -n '2s/--  *tessera load --db DIR --schema FILE.sql//p' star.sql",
              &run);
    assert_int_equal(run.exit_code, 0);
    run.output[strcspn(run.output, "\n")] = '\0';
    char arguments[PATH_BYTES];
    snprintf(arguments, sizeof arguments, "%.480s", run.output);
    load(arguments, 0, "");
    answer_is("select * from t", rows);
}

static void headers_are_as_people_write_them(void **state)
{
    (void)state;
    inferred_rows_are("id, name ,\tcity\n1,Anna,Berlin\n", "id,name,city\n1,Anna,Berlin\n");
    inferred_rows_are("id,c3,name,name,x\n1,2,3,4,5\n", "id,c3,name,c4,x\n1,2,3,4,5\n");
    inferred_rows_are("id,,b\n1,2,3\n4,5,6\n", "id,b\n1,3\n4,6\n");
    inferred_rows_are("id,\"a\nb\",ID\n1,2,x\n", "id,a_b,c3\n1,2,x\n");
    inferred_rows_are("\"\"\nx\n", "c1\n\"\"\nx\n");                           /* no name at all */
    inferred_rows_are("id,f\n1,1e400\n2,1e300\n", "id,f\n1,1e400\n2,1e300\n"); /* no double */
    inferred_rows_are("a;\"\"\n\"x\";2\n", "a\nx\n");
    inferred_rows_are("id,at\n1,2024-01-01T10:00:00+01:00\n2,\n3,2024-01-01 10:00Z\n",
                      "id,at\n1,2024-01-01 09:00:00+00\n2,\n3,2024-01-01 10:00:00+00\n");
    inferred_rows_are("id,at\n1,2024-01-01T10:00:00+01:00\n2,2024-01-01 10:00\n", /* one has no offset */
                      "id,at\n1,2024-01-01 09:00:00\n2,2024-01-01 10:00:00\n");
    inferred_rows_are("id,at\n1,01/Feb/2024:10:00:00 -0500\n", "id,at\n1,2024-02-01 15:00:00+00\n");
    inferred_rows_are("x,x\ny,x\n", "c1,c2\nx,x\ny,x\n"); /* no header: nothing below differs */
    file_is("star.sql", "\xef\xbb\xbf"
                        "CREATE TABLE t (a INT);\r\n"); /* a script has a mark, too */
    file_is("t.csv", "\xef\xbb\xbf"
                     "7\r\n");
    load("t=t.csv", 0, "1 row");
    run_shell("cd $D/.. && printf '\\377\\3767\\0008\\000\\n\\000' >t.csv", &run); /* UTF-16 has one, too */
    load("t=t.csv", 0, "1 row");
    answer_is("select * from t", "a\n78\n");
    inferred_rows_are("fulltext;exclude;like\n1;2;3\n", "fulltext,exclude,like\n1,2,3\n");
}

/* A schema with the options that read its columns. Two forms that read all values are none. */
/* Blocks of text are read column by column, and rows that are not whole are left out. */
static void a_schema_is_the_same_on_any_number_of_threads(void **state)
{
    (void)state;
    run_shell(
        "cd $D/.. && awk 'BEGIN { print \"id,day,price,word\"; for (i = 0; i < 120000; i++) { "
        "if (i % 50000 < 2) print \"half,a row\"; printf \"%d,%02d.%02d.2024,%d,%d,w%d\\n\", i, 1 + i % 28, "
        "1 + i % 12, i % 300, i % 10, i % 5000 } }' | sed 's/,\\([0-9]*\\),\\([0-9]\\),w/,\"\\1,\\2\",w/' "
        ">many.csv; "
        "for t in 1 2 5; do $T load --threads $t --infer many.csv >$t.sql || exit 1; done; "
        "cmp 1.sql 2.sql && cmp 1.sql 5.sql && cat 1.sql; ls -s many.csv",
        &run);
    assert_int_equal(run.exit_code, 0);
    static const char *const told[] = {
        "many.csv: 120000 rows, ',' between fields, with a header",
        "    id INT PRIMARY KEY, -- 0 to 119999, no duplicates\n",
        "    day DATE NOT NULL, -- --date-format %d.%m.%Y, up to 10 bytes, 84 different\n",
        "    price DECIMAL(9,1) NOT NULL, -- --decimal-mark ,, up to 5 bytes, 300 different\n",
        "    word TEXT NOT NULL -- up to 5 bytes, 5000 different\n"};
    for (size_t t = 0; t < sizeof told / sizeof *told; t++)
        if (!strstr(run.output, told[t]))
            fail_msg("%s is not in\n%s", told[t], run.output);
}

static void forms_are_proposed_if_they_are_certain(void **state)
{
    static const struct {
        const char *name, *values[3], *type; /* NULL: TEXT */
        const char *option;
    } columns[] = {
        {"eu", {"1.234,50", "0,25", "-7"}, "DECIMAL(9,2)", "--thousands 't.eu=.'"},
        {"comma", {"12", "-0,125", "1,5"}, "DECIMAL(9,3)", "--decimal-mark 't.comma=,'"},
        {"us", {"1,234,567", "1", "1.0"}, "INT", "--thousands 't.us=,'"},
        {"cents", {"1,234.50", "1", "0.5"}, "DECIMAL(9,2)", "--thousands 't.cents=,'"},
        {"either", {"1,234", "2,345", "1"}, NULL, NULL},
        {"neither", {"1,5", "1.5", "2"}, NULL, NULL},
        {"zeros", {"01,5", "1,5", "2"}, NULL, NULL},
        {"day", {"31.12.2024", "1.1.2025", "01.02.2025"}, "DATE", "--date-format 't.day=%d.%m.%Y'"},
        {"slash", {"02/13/2024", "01/02/2024", ""}, "DATE", "--date-format 't.slash=%m/%d/%Y'"},
        {"unsure", {"01/02/2024", "3/4/2024", "12/12/2024"}, NULL, NULL},
        {"at",
         {"1.2.24 3:04", "31.12.99 23:59", "1.1.00 0:00"},
         "TIMESTAMP",
         "--timestamp-format 't.at=%d.%m.%y %H:%M'"},
        {"log",
         {"10/Oct/2000:13:55:36 -0700", "11/Oct/2000:13:55:36 +0000", ""},
         "TIMESTAMP",
         "--timestamp-format 't.log=%d/%b/%Y:%T %z'"},
        {"version", {"1.2.2024", "1.3", "2.4.1"}, NULL, NULL},
        {"plain", {"1.5", "2.5", "3"}, "DECIMAL(9,1)", NULL},
        {"nothing", {"", "", ""}, NULL, NULL}};
    const size_t count = sizeof columns / sizeof *columns;
    char text[4096] = "id", part[128];
    (void)state;
    for (size_t c = 0; c < count; c++)
        strcat(strcat(text, ";"), columns[c].name);
    for (int row = 0; row < 3; row++) {
        snprintf(part, sizeof part, "\n%d", row);
        strcat(text, part);
        for (size_t c = 0; c < count; c++)
            strcat(strcat(text, ";"), columns[c].values[row]);
    }
    file_is("t.csv", strcat(text, "\n"));
    run_shell("cd $D/.. && $T load --infer t.csv", &run);
    for (size_t c = 0; c < count; c++) {
        snprintf(part, sizeof part, "    %s %s", columns[c].name, columns[c].type ? columns[c].type : "TEXT");
        if (!strstr(run.output, part))
            fail_msg("%s\nlacks: %s", run.output, part);
        snprintf(part, sizeof part, "'t.%s=", columns[c].name);
        if (!strstr(run.output, columns[c].option ? columns[c].option : part) != !columns[c].option)
            fail_msg("%s\ncolumn %s", run.output, columns[c].name);
    }
    inferred_rows_are("id;eu;us;day\n1;1.234,50;1,234,567;31.12.2024\n2;0,5;1;1.1.2025\n",
                      "id,eu,us,day\n1,1234.50,1234567,2024-12-31\n2,0.50,1,2025-01-01\n");
    file_is("days.csv", "day;name\n1.2.2024;a\n2.2.2024;b\n31.12.2024;c\n");
    file_is("sales.csv", "id;day\n1;1.2.2024\n2;2.2.2024\n3;1.2.2024\n");
    run_shell("cd $D/.. && $T load --infer days.csv sales.csv", &run);
    assert_non_null(strstr(run.output, "day DATE PRIMARY KEY"));
    assert_non_null(strstr(run.output, "day DATE NOT NULL REFERENCES days"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_fulfil_check_and_unique, setup, teardown),
        cmocka_unit_test_setup_teardown(conditions_of_keys_are_tested_by_their_values, setup, teardown),
        cmocka_unit_test_setup_teardown(the_first_bad_row_is_told, setup, teardown),
        cmocka_unit_test_setup_teardown(names_are_in_any_script, setup, teardown),
        cmocka_unit_test_setup_teardown(numbers_and_times_are_as_programs_write_them, setup, teardown),
        cmocka_unit_test_setup_teardown(columns_are_written_in_their_own_way, setup, teardown),
        cmocka_unit_test_setup_teardown(fields_that_the_table_lacks_are_skipped, setup, teardown),
        cmocka_unit_test_setup_teardown(a_schema_is_inferred_and_loaded, setup, teardown),
        cmocka_unit_test_setup_teardown(a_schema_is_the_same_on_any_number_of_threads, setup, teardown),
        cmocka_unit_test_setup_teardown(forms_are_proposed_if_they_are_certain, setup, teardown),
        cmocka_unit_test_setup_teardown(headers_are_as_people_write_them, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
