/*
 * test_sql_changes.c: COPY, DELETE, INSERT, CREATE TABLE and CREATE VIEW as scripts of `tessera sql` meet them: what they do, what
 * they refuse and what is left then, files and their formats; and .output, .once and .read.
 *
 * What CSV and JSON look like is compared with what DuckDB 2.0 writes for the same rows, but for digits of times and
 * infinity, which are ours.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/load_program.h"

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

/* A new star of shops and sales, and the folder in which statements run. */
static void begin(void)
{
    file_is("star.sql", "CREATE TABLE shops (id INT PRIMARY KEY, city TEXT NOT NULL, opened DATE);\n"
                        "CREATE TABLE sales (nr BIGINT PRIMARY KEY, shop INT NOT NULL REFERENCES shops(id),\n"
                        "  day DATE, amount DECIMAL(9,2), rate DOUBLE, paid BOOLEAN, note TEXT);\n");
    file_is("shops.csv", "1,Bonn,2020-01-01\n2,K\xc3\xb6ln,\n3,\"a;b \"\"x\"\"\",2021-05-05\n");
    file_is("sales.csv", "1,1,2024-01-01,1.50,1.5,true,a\n2,2,2024-02-01,2.50,1e300,false,\"\"\n"
                         "3,3,2024-02-03,,,,\n4,1,2024-02-04,0.25,,true,NULL\n");
    run_shell("rm -rf $D", &run);
    load_ends("shops=shops.csv sales=sales.csv", 0, "");
}

/* The statements end so, in the folder of the database. */
static void sql_ends(const char *statements, int exit_code, const char *said)
{
    setenv("Q", statements, 1);
    run_shell("cd $D/.. && $T sql --device cpu --db $D --format csv \"$Q\"", &run);
    if (run.exit_code != exit_code || !strstr(run.errors, said))
        fail_msg("%s: exit code %d\n%s%s", statements, run.exit_code, run.output, run.errors);
}

static void rows_are(const char *sales_and_shops)
{
    answer_is("select concat((select count(*) from sales), ',', (select count(*) from shops)) as counts",
              sales_and_shops);
}

/* ---- COPY ---- */

static void files_have_the_rows(void **state)
{
    (void)state;
    begin();
    sql_ends("copy (select * from sales where nr < 4 order by nr) to 'a.csv'", 0, "a.csv: 3 rows written\n");
    assert_string_equal(run.output, "");
    shell_prints("cat a.csv", "nr,shop,day,amount,rate,paid,note\n1,1,2024-01-01,1.50,1.5,true,a\n"
                              "2,2,2024-02-01,2.50,1e+300,false,\"\"\n3,3,2024-02-03,,,,\n");
    sql_ends("copy shops to 'b.csv' (format csv, header false, delimiter ';', null 'NULL');", 0, "3 rows");
    shell_prints("cat b.csv", "1;Bonn;2020-01-01\n2;K\xc3\xb6ln;NULL\n3;\"a;b \"\"x\"\"\";2021-05-05\n");
    sql_ends("copy (select note from sales where nr in (2, 4) order by nr) to 'b.csv' with (nullstr 'NULL')",
             0, "");
    shell_prints("cat b.csv", "note\n\n\"NULL\"\n"); /* told from what stands for NULL */
    sql_ends("copy shops (city, id) to 'c.tsv'", 0, "");
    shell_prints("cat c.tsv", "city\tid\nBonn\t1\nK\xc3\xb6ln\t2\n\"a;b \"\"x\"\"\"\t3\n");
    sql_ends("copy (select nr, note, rate, paid from sales where nr < 4 order by nr) to 'a.json'", 0, "");
    shell_prints("cat a.json", "{\"nr\":1,\"note\":\"a\",\"rate\":1.5,\"paid\":true}\n"
                               "{\"nr\":2,\"note\":\"\",\"rate\":1e+300,\"paid\":false}\n"
                               "{\"nr\":3,\"note\":null,\"rate\":null,\"paid\":null}\n");
    sql_ends("copy (select 1 as a, 2 as a) to 'a.json' (array)", 0, "");
    shell_prints("cat a.json", "[\n {\"a\": 1, \"a_1\": 2}\n]\n");
    sql_ends("copy (select * from shops where id > 9) to 'a.json'", 0, "a.json: 0 rows written");
    shell_prints("cat a.json", "");
    sql_ends("copy (select id from shops where id > 9) to 'a.csv'", 0, "0 rows");
    shell_prints("cat a.csv", "id\n");
    sql_ends("select 'before' as x; copy shops(id) to '/dev/stdout' (header no); select 'after' as x", 0, "");
    assert_string_equal(run.output, "x\nbefore\n1\n2\n3\nx\nafter\n");
}

static void files_are_compressed(void **state)
{
    (void)state;
    begin();
    sql_ends(
        "copy (select a.nr * 1000 + b.nr * 7, a.note from sales a, sales b, sales c, sales d) to 'p.csv';"
        "copy (select a.nr * 1000 + b.nr * 7, a.note from sales a, sales b, sales c, sales d) to 'p.csv.gz';"
        "copy (select a.nr * 1000 + b.nr * 7, a.note from sales a, sales b, sales c, sales d) to 'z' "
        "(compression zstd, format csv)",
        0, "p.csv.gz: 256 rows written\n");
    shell_prints("gzip -dc p.csv.gz | cmp - p.csv", "");
    file_is("n.sql", "CREATE TABLE n (k INT, t TEXT);");
    shell_prints("rm -rf n.db && $T load --db n.db --schema n.sql --header yes --columns n=k,t n=z 2>&1 | "
                 "grep -o '256 rows'",
                 "256 rows\n");
}

static void large_files_are_written_in_order(void **state)
{
    (void)state;
    begin();
    sql_ends("copy (with recursive m(j) as (select 0 union all select j + 1 from m where j < 599) select a.j "
             "* 500 + "
             "b.j + 1 as i from m a, m b where b.j < 500 order by i) to 'n.csv.gz' (header false)",
             0, "n.csv.gz: 300000 rows written\n");
    shell_prints("gzip -dc n.csv.gz > n1; seq 300000 | cmp - n1", "");
}

static void failures_leave_the_old_file(void **state)
{
    (void)state;
    begin();
    file_is("old.csv", "old\n");
    sql_ends("copy (select nope from sales) to 'old.csv'", 2, "line 1, column 14: there is no column nope");
    sql_ends("copy (select sum(nr * 9223372036854775807) from sales) to 'old.csv'", 2, "");
    sql_ends("copy shops to 'old.csv' (hedder)", 2,
             "line 1, column 26: COPY has no option hedder; did you mean header");
    shell_prints(
        "(ulimit -f 1; trap '' XFSZ; $T sql --device cpu --db $D \"copy (select a.*, b.* from sales a, "
        "sales b, sales c, sales d) to 'old.csv'\") 2>&1 | grep -o 'cannot be written: .*'; cat "
        "old.csv; ls | grep -c partial; true",
        "cannot be written: File too large\nold\n0\n");
    sql_ends("copy shops to '/nowhere/x.csv'", 2, "/nowhere/x.csv cannot be written: ");
    sql_ends("copy shops to '/tmp'", 2, "/tmp is a folder");
    shell_prints("ln -sf old.csv link.csv && $T sql --db $D \"copy shops(id) to 'link.csv'\" 2>&1 && test -h "
                 "link.csv && cat old.csv",
                 "link.csv: 3 rows written\nid\n1\n2\n3\n");
}

static void what_is_no_copy_is_refused(void **state)
{
    static const char *const refused[][2] = {
        {"copy shops to 'a.parquet' (header)", "column 28: header is an option of CSV, not of Parquet"},
        {"copy shops to 'a.parquet' (compression gzip)",
         "column 28: COMPRESSION of Parquet is none, snappy, zstd or auto, not 'gzip'"},
        {"copy shops to 'a.parquet.gz'", "column 15: a Parquet file is compressed page by page"},
        {"copy shops to 'never.csv' (compression snappy)", "COMPRESSION is none, gzip, zstd or auto"},
        {"copy shops to 'a.xyz'", "column 15: the ending of 'a.xyz' says no format; add (FORMAT csv)"},
        {"copy shops to 'never.csv' (format orc)", "ORC files are not written"},
        {"copy shops to 'never.csv' (format xml)", "column 28: FORMAT is csv, json, parquet or arrow, not"},
        {"copy shops to 'a.arrow' (header)", "column 26: header is an option of CSV, not of Arrow"},
        {"copy shops to 'a.arrows' (compression snappy)",
         "column 27: COMPRESSION of Arrow is none, lz4, zstd or auto, not 'snappy'"},
        {"copy shops to 'a.arrow.gz'", "column 15: an Arrow file is compressed buffer by buffer"},
        {"copy shops to 'never.csv' (compression lz4)", "COMPRESSION is none, gzip, zstd or auto"},
        {"copy shops to 'never.csv' (header perhaps)", "header is true or false, not 'perhaps'"},
        {"copy shops to 'never.csv' (delimiter 'ab')", "'ab' is no delimiter"},
        {"copy shops to 'a.json' (header)", "header is an option of CSV, not of JSON"},
        {"copy shops to 'never.csv' (array)", "array is an option of JSON, not of CSV"},
        {"copy shops to 'never.csv' (compression lzma)", "COMPRESSION is none, gzip, zstd or auto"},
        {"copy shops to 'never.csv' (delim '|', null 'a|b')", "the text of NULL has the delimiter in it"},
        {"copy shops to 'never.csv' (null '0123456789abcdef')", "at most 15 bytes"},
        {"copy shops to a.csv", "column 15: the file's name should stand here, in single quotes"},
        {"copy shop to 'never.csv'", "column 6: database "},
        {"copy shops(town) to 'never.csv'", "column 12: table shops has no column town"},
        {"copy shops from 'never.csv'", "column 12: COPY writes files; `tessera load --append`"},
        {"copy (shops) to 'never.csv'", "column 7: a query should stand here"},
        {"copy (select 1 to 'never.csv'", "the statement ends where ) should stand"},
        {"copy (select ?) to 'never.csv'", "parameters"},
        {"copy shops to 'never.csv' 1", "column 27: '1' is not expected here"}};
    (void)state;
    begin();
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        sql_ends(refused[i][0], 2, refused[i][1]);
    shell_prints("ls never.csv 2>&1 | grep -c 'No such'", "1\n");
}

/* ---- DELETE, INSERT ---- */

static void a_statement_sees_the_state_before_it(void **state)
{
    (void)state;
    begin();
    sql_ends("insert into sales select nr + 10, shop, day, amount, rate, paid, note from sales;"
             "select count(*) as n from sales;"
             "delete from Sales where amount > (select avg(amount) from sales) or nr = 13;"
             "select nr from sales order by nr;"
             "insert into sales (shop, nr) values (2, 100), (1, 101);"
             "select shop, day, note from sales where nr >= 100 order by nr",
             0, "sales: 4 rows inserted\nsales: 5 rows deleted\nsales: 2 rows inserted\n");
    assert_string_equal(run.output, "n\n8\nnr\n3\n4\n14\nshop,day,note\n2,,\n1,,\n");
    sql_ends("delete from sales where nr > 1000; insert into sales select * from sales where nr > 1000", 0,
             "sales: 0 rows deleted\nsales: 0 rows inserted\n");
    sql_ends("delete from sales", 0, "sales: 5 rows deleted\n");
    sql_ends(
        "insert into sales (nr, shop) select id, id from shops union all values (50, 1); insert into "
        "shops values (7, 'Ulm', '2024-02-29'), (8, 'x', null); insert into sales (nr, shop) values (51, 8)",
        0, "");
    rows_are("counts\n\"5,5\"\n");
    answer_is("select city, opened from shops where id > 3 order by id", "city,opened\nUlm,2024-02-29\nx,\n");
    sql_ends("insert into sales by name select 'n' as note, 3 as SHOP, 77 as nr; select shop, day, note from "
             "sales "
             "where nr = 77",
             0, "sales: 1 row inserted\n");
    assert_string_equal(run.output, "shop,day,note\n3,,n\n");
    sql_ends("insert into sales by name select 1 as shop, 78 as number", 2,
             "line 1, column 27: table sales has no column number");
    sql_ends("insert into sales by name select 1 as nr, 2 as nr", 2, "column nr is named twice");
    /* the schema that clients name */
    sql_ends(
        "insert into \"main\".shops (id, city) values (31, 'x'); delete from Public.shops where id = 31; "
        "copy \"MAIN\".shops to 'm.csv'",
        0, "shops: 1 row deleted\nm.csv: 5 rows written\n");
    shell_prints("$T check --db $D | grep -c 'no fault'", "1\n");
}

/* As DuckDB has it for decimals: half goes away from 0; whole numbers do, too. */
static void numbers_are_rounded_to_the_columns_digits(void **state)
{
    (void)state;
    begin();
    sql_ends("create table n (i int, b bigint, d decimal(9,2), f double);"
             "insert into n values (2.5, -2.5, 1.005, 1), (-0.4, 0.49, -1.234, 2.5), (7, 8, 9, 10);"
             "insert into n select x, -x, x, x from (values (2.5e0), (0.125e0), (-7.4e0)) v(x);"
             "insert into n values ('3.5', '4', '1.234', '0.1');"
             "select * from n",
             0, "n: 3 rows inserted\nn: 3 rows inserted\nn: 1 row inserted\n");
    assert_string_equal(run.output, "i,b,d,f\n3,-3,1.01,1.0\n0,0,-1.23,2.5\n7,8,9.00,10.0\n3,-3,2.50,2.5\n"
                                    "0,0,0.13,0.125\n-7,7,-7.40,-7.4\n4,4,1.23,0.1\n");
}

/* A month is replaced by two statements. Who opened the database before sees what was there. */
static void a_month_is_replaced(void **state)
{
    (void)state;
    begin();
    sql_ends("delete from sales where day >= date '2024-02-01' and day < date '2024-03-01';"
             "insert into sales (nr, shop, day) select nr + 1, 3, date '2024-02-10' from sales;"
             "select nr, shop, day from sales order by nr",
             0, "sales: 3 rows deleted\nsales: 1 row inserted\n");
    assert_string_equal(run.output, "nr,shop,day\n1,1,2024-01-01\n2,3,2024-02-10\n");
}

/* In one commit: rows that pass the condition go, those of the query come. */
static void rows_are_replaced_in_one_commit(void **state)
{
    (void)state;
    begin();
    sql_ends("insert into sales (nr, shop, day) replace where day between date '2024-02-01' and date "
             "'2024-02-29' select nr + 1, 3, date '2024-02-10' from sales where nr < 3; "
             "select nr, shop, day from sales order by nr",
             0, "sales: 2 rows inserted, 3 deleted\n"); /* key 2 is one of those that go */
    assert_string_equal(run.output, "nr,shop,day\n1,1,2024-01-01\n2,3,2024-02-10\n3,3,2024-02-10\n");
    sql_ends("insert into sales by name replace where shop = 3 select 3 as shop, 5 as nr; "
             "insert into sales replace where nr = 5 select * from sales where nr > 5; "
             "insert into sales replace where nr = 77 select 77, 2, null, 1, 2, true, 'x'; "
             "insert into sales replace where nr is not distinct from 77 and not (shop in (select id from "
             "shops where city = 'Bonn')) with w as (select 2) values (77, 2, null, 3, 4, false, 'y'); "
             "insert into shops replace where id = 3 values (3, 'Trier', null);"
             "select * from sales order by nr",
             0,
             "sales: 1 row inserted, 2 deleted\nsales: 0 rows inserted, 1 deleted\nsales: 1 row inserted, 0 "
             "deleted\nsales: 1 row inserted, 1 deleted\nshops: 1 row inserted, 1 deleted\n");
    assert_string_equal(run.output, "nr,shop,day,amount,rate,paid,note\n1,1,2024-01-01,1.50,1.5,true,a\n"
                                    "77,2,,3.00,4.0,false,y\n");
    sql_ends("insert into sales (nr, shop) replace where true values (1, 1)", 0, "1 row inserted, 2 deleted");
    shell_prints("$T check --db $D | grep -c 'no fault'; $T compact --db $D 2>&1 | grep -c sales; "
                 "$T check --db $D | grep -c 'no fault'",
                 "1\n1\n1\n");
}

static void a_load_replaces_rows(void **state)
{
    (void)state;
    begin();
    file_is("feb.csv", "12,1,2024-02-05,1,1,true,x\n3,2,2024-02-06,,,,y\n");
    file_is("mar.csv", "30,1,2024-03-05,1,1,true,x\n31,2,2024-02-06,,,,y\n32,2,,,,,y\n");
    file_is("none.csv", "");
    file_is("new.csv", "9,Ulm,\n");
    file_is("feb9.csv", "13,9,2024-02-05,1,1,true,x\n");
    load_ends("--append sales=feb.csv --replace-where \"day >= date '2024-02-01'\"", 0,
              "3 rows of sales were replaced\n");
    answer_is("select nr, day from sales order by nr", "nr,day\n1,2024-01-01\n3,2024-02-06\n12,2024-02-05\n");
    load_ends(
        "--append sales=mar.csv --replace-where \"month(day) = 3\"", 2,
        "row 2 (nr = 31, shop = 2, day = 2024-02-06, amount = NULL, rate = NULL, paid = NULL, note = y) "
        "does not meet the condition of the rows that are replaced (2 of 3 rows); nothing was changed");
    load_ends("--append sales=mar.csv --cluster-by shop --replace-where \"month(day) = 3\"", 2,
              ", note = y) does not meet the condition of the rows that are replaced (2 of 3 rows)");
    load_ends("--append sales=mar.csv --sort-by day --replace-where \"month(day) = 3\"", 2,
              "a row does not meet the condition of the rows that are replaced (2 of 3 rows)");
    load_ends("--append sales=feb9.csv shops=new.csv --replace-where \"nr = 13\"", 0,
              "0 rows of sales were replaced\n");
    load_ends("--append sales=none.csv --replace-where \"nr = 12\"", 0, "1 row of sales was replaced\n");
    load_ends("--append sales=none.csv --replace-where \"nr = 12\"", 0, "0 rows of sales were replaced\n");
    load_ends("--append shops=none.csv --replace-where \"id = 1\"", 2,
              "1 row of table sales (column shop) references them");
    load_ends("sales=feb.csv --replace-where \"nr = 12\"", 2, "give --append, too");
    load_ends("--append sales=feb.csv --replace-where \"no = 12\"", 2,
              "line 1, column 1: there is no column no");
    answer_is("select nr, day from sales order by nr", "nr,day\n1,2024-01-01\n3,2024-02-06\n13,2024-02-05\n");
    shell_prints("$T check --db $D | grep -c 'no fault'", "1\n");
}

static void others_changes_are_seen_by_a_change(void **state)
{
    (void)state;
    begin();
    shell_prints("mkfifo in out; $T sql --db $D --format csv <in >out 2>&1 & exec 3>in 4<out; "
                 "echo 'select count(*) from sales;' >&3; read -r x <&4; read -r y <&4; echo $x $y; "
                 "$T sql --db $D 'insert into sales (nr, shop) values (9, 1)' 2>/dev/null; "
                 "echo 'select count(*) from sales; delete from sales where nr = 9; "
                 "select count(*) from sales;' >&3; exec 3>&-; cat <&4; wait $!; rm in out",
                 "count(*) 4\ncount(*)\n4\nsales: 1 row deleted\ncount(*)\n4\n");
}

static void refused_changes_change_nothing(void **state)
{
    static const char *const refused[][2] = {
        {"create table kept (a int check (a > 1))", "line 1, column 14: CHECK is not kept with a table"},
        {"create table kept (a int unique)", "line 1, column 14: UNIQUE is not kept with a table"},
        {"create table kept (a int, b int, unique (a, b))", "UNIQUE is not kept with a table"},
        {"create table kept (a int default 5)", "DEFAULT is not kept with a table, so that INSERT would not"},
        {"insert into sales (nr, shop) replace where nr >= 8 values (8, 1), (7, 2), (6, 3)",
         "line 1, column 44: row 2 (nr = 7, shop = 2, day = NULL, amount = NULL, rate = NULL, paid = NULL, "
         "note = NULL) does not meet the condition of the rows that are replaced (2 of 3 rows)"},
        {"insert into sales (nr, shop) replace where day = date '2024-02-01' values (8, 1)",
         "column 44: row 1 (nr = 8, shop = 1, day = NULL, "},
        {"insert into sales (nr, shop) replace where nr = 2 values (2, 99)",
         "inserted row 1: column shop: no row of table shops has id '99'"},
        {"insert into sales (nr, shop) replace where nr = 2 values (2, 1), (1, 2)",
         "inserted row 2: table sales, column nr: the key '1' is that of row 1 of the table as it was"},
        {"insert into shops replace where id = 1 values (1, 'x', null)",
         "2 rows of table sales (column shop) reference them"},
        {"insert into sales (nr, shop) replace where nr <= (select max(nr) - 2 from sales) values (20, 1), "
         "(0, "
         "1)",
         "the condition is true for 3 rows after 2 took the place of those for which it was true"},
        {"insert into sales (nr, shop) replace where no = 1 values (8, 1)",
         "column 44: there is no column no"},
        {"insert into sales (nr, shop) replace where note values (8, 1)", "column 44: "},
        {"insert into sales (nr, shop) replace nr = 1 values (8, 1)",
         "column 38: 'nr' stands where WHERE should behind REPLACE"},
        {"insert into sales (nr, shop) replace where nr = 1", "column 49: a query should stand here"},
        {"insert into sales (nr, shop) values (8, 1), (9, 99)",
         "table sales, inserted row 2: column shop: no row of table shops has id '99'; nothing was changed"},
        {"insert into sales (nr, shop) values (8, 1), (8, 1)",
         "column nr: the key '8' is that of inserted row 1"},
        {"insert into sales (nr, shop) values (1, 1)", "column nr: the key '1'"},
        {"insert into sales (nr, shop, day) values (8, 1, '2024-13-01')",
         "inserted row 1: column day: '2024-13-01' is a day that no calendar has"},
        {"insert into sales (nr, shop) values (8, 1.0)",
         "column 2 of the query (column2) is a decimal, and column shop"},
        {"insert into sales (nr, shop, day) values (8, 1, 5)",
         "column 3 of the query (column3) is a whole number"},
        {"insert into sales (nr, shop, amount) values (8, 1, 9999999.995)",
         "column amount: '9999999.995' is out of range: the column holds -9999999.99 to 9999999.99; nothing "
         "was"},
        {"insert into sales (nr, shop, amount) values (8, 1, 12345678.00)", "is out of range"},
        {"insert into sales (nr) values (8)", "column shop: '' is NULL, but the column is NOT NULL"},
        {"insert into sales (nr, shop, amount) select 9, 1, avg(rate) from sales",
         "inserted row 1: column amount: '5"},
        {"insert into sales (nr, shop, note) select 9, 1, rate from sales",
         "column 3 of the query (rate) is a double, and column note of sales is string; write CAST(... AS "
         "string)"},
        {"insert into shops values (9, 5, null)",
         "column 2 of the query (column2) is a whole number, and column city"},
        {"insert into sales (nr, shop, foo) values (1, 1, 1)", "column 30: table sales has no column foo"},
        {"insert into sales (nr, nr) values (1, 1)", "column 24: column nr is named twice"},
        {"insert into sales (nr, shop) values (1)",
         "column 30: the query has 1 column, and INSERT INTO sales needs 2"},
        {"insert into shops select 1, 'a'", "INSERT INTO shops needs 3; name the columns"},
        {"insert into shop values (1)", "column 13: database "},
        {"insert into shops (id, city) values (9, nope)", "column 41: there is no column nope"},
        {"insert into shops (id) delete", "column 24: a query should stand here"},
        {"insert or replace into shops values (1, 'a', null)", "a row whose key exists is an error"},
        {"insert into shops", "a query should stand here"},
        {"delete from shops where city = 'Bonn'", "2 rows of table sales (column shop) reference them"},
        {"delete from shops\n where citty = 'x'",
         "line 2, column 8: there is no column citty; did you mean city?"},
        {"delete from shops where", "column 24: the statement ends where a condition should stand"},
        {"delete from shops where id = 1) or (true", "line 1, column 31: "},
        {"delete from shops where city", "line 1, column 25: "},
        {"delete from shops s where s.id = 1", "column 19: WHERE or the statement's end should stand here"},
        {"delete shops", "column 8: 'shops' stands where FROM should"},
        {"update shops set id = 1", "column 1: rows are not changed where they are: DELETE them and INSERT"},
        {"begin; delete from sales; commit", "column 1: there are no transactions"},
        {"drop table sales", "column 6: there is DROP VIEW alone; no statement removes a table"},
        {"explain delete from sales", "column 9: DELETE is no query"},
        {"create table sales as select 1 as a", "column 14: there is a table sales already"},
        {"create or replace table shops as select 1 as a", "because table sales references it"},
        {"create table t as select 1 as a, 2 as A", "two columns of the query are called A"},
        {"create table t (a, b) as select 1", "column 17: 2 columns are named, and the query has 1"},
        {"create table t (a, b)", "column 22: AS and a query should stand here"},
        {"create table t (a int,\n b nope)", "line 2, column 4: there is no type 'nope'"},
        {"create table t as select nope from sales", "column 26: there is no column nope"},
        {"create or replace table t if not exists as select 1", "column 27: "},
        {"create or replace table if not exists t as select 1", "column 25: OR REPLACE and IF NOT EXISTS"},
        {"create or replace view if not exists v as select 1", "column 24: OR REPLACE and IF NOT EXISTS"}};
    (void)state;
    begin();
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        sql_ends(refused[i][0], 2, refused[i][1]);
    file_is("e.sql", ".explain on\ndelete from sales;\n");
    shell_prints(
        "$T sql --db $D < e.sql 2>&1; true",
        "tessera: line 2, column 1: only queries are explained; .explain off lets this statement run\n"
        "  delete from sales\n"
        "  ^\n");
    rows_are("counts\n\"4,3\"\n");
}

/* ---- CREATE TABLE ---- */

static void keys_of_the_rows_are_kept(void **state)
{
    (void)state;
    begin();
    sql_ends(
        "create table big as select * from sales where amount > 1 order by nr desc;"
        "create table j as select s.*, city from sales s left join shops on shop = id;"
        "create table per_shop (shop, n, mean, total) as select shop, count(*), avg(rate), sum(amount) from "
        "sales group by shop;"
        "create table if not exists big as select 1 as a;"
        "create or replace table j as select city, day, paid, null as nothing from sales join shops on shop "
        "= id;"
        "create table none as select shop from sales where nr > 1000",
        0,
        "big: 2 rows\nj: 4 rows\nper_shop: 3 rows\nbig: the table is there already\nj: 4 rows\nnone: 0 "
        "rows\n");
    file_is("s.sql", ".schema big\n.schema j\n.schema per_shop\n.schema none\n");
    shell_prints(
        "$T sql --db $D < s.sql",
        "CREATE TABLE big (\n    nr BIGINT PRIMARY KEY,\n    shop INT NOT NULL REFERENCES shops(id),\n"
        "    day DATE,\n    amount DECIMAL(9,2),\n    rate DOUBLE,\n    paid BOOLEAN,\n    note TEXT\n);\n"
        "CREATE TABLE j (\n    city TEXT,\n    day DATE,\n    paid BOOLEAN,\n    nothing BIGINT\n);\n"
        "CREATE TABLE per_shop (\n    shop INT REFERENCES shops(id),\n    n BIGINT,\n    mean DOUBLE,\n"
        "    total DECIMAL(18,2)\n);\nCREATE TABLE none (\n    shop INT NOT NULL REFERENCES shops(id)\n);\n");
    answer_is("select city, n, total from per_shop join shops on shop = id order by n desc, total nulls last",
              "city,n,total\nBonn,2,1.75\nK\xc3\xb6ln,1,2.50\n\"a;b \"\"x\"\"\",1,\n");
    sql_ends("create table told as summarize shops; insert into told summarize sales; create view v as "
             "summarize told; copy (summarize v) to 'v.csv'",
             0, "told: 3 rows\ntold: 7 rows inserted\nview v created\nv.csv: 12 rows written\n");
    answer_is("select max, count from v where column_name = 'count'", "max,count\n4,10\n");
    sql_ends("delete from shops where id = 3", 2, "references them");
    shell_prints("$T check --db $D | grep -c 'no fault'", "1\n");
}

/* What is a stored column in one row and something else in another, and rows that may come twice, keep nothing. */
static void what_may_not_hold_is_not_kept(void **state)
{
    (void)state;
    begin();
    sql_ends("create table u1 as select shop from sales union all select 99;"
             "create table u2 as with recursive n(i) as (select shop from sales where nr = 1 union all "
             "select i + 50 "
             "from n where i < 200) select i from n;"
             "create table u3 as select coalesce(shop, 99) as shop, nr from sales group by all;"
             "create table u4 as select a.shop, b.nr from sales a full join sales b on a.shop = b.shop + 1;"
             "create table u5 as with t as (select shop as s, nr from sales) select t.s, u.nr from t, t u "
             "where t.nr = "
             "u.nr;"
             "create table u6 as select id, city from shops where exists (select 1 from sales where shop = "
             "id) and id "
             "not in (select shop from sales where nr = 1)",
             0, "u1: 5 rows\nu2: 5 rows\n");
    file_is("s.sql", ".schema u1\n.schema u2\n.schema u3\n.schema u4\n.schema u5\n.schema u6\n");
    shell_prints("$T sql --db $D < s.sql | tr -d '\\n'",
                 "CREATE TABLE u1 (    shop BIGINT);CREATE TABLE u2 (    i BIGINT);"
                 "CREATE TABLE u3 (    shop BIGINT,    nr BIGINT);"
                 "CREATE TABLE u4 (    shop INT REFERENCES shops(id),    nr BIGINT);"
                 "CREATE TABLE u5 (    s INT REFERENCES shops(id),    nr BIGINT);"
                 "CREATE TABLE u6 (    id INT PRIMARY KEY,    city TEXT NOT NULL);");
}

static void keys_of_several_columns_are_kept(void **state)
{
    (void)state;
    begin();
    sql_ends("create table offers (part int, firm text, price decimal(8,2), primary key (part, firm));"
             "create table items (n int, part int, firm text, foreign key (part, firm) references offers "
             "(part, firm));"
             "insert into offers values (1, 'a', 2), (1, 'b', 3);"
             "insert into items values (7, 1, 'a'), (8, 1, 'b'), (9, null, 'a');"
             "create table two as select firm, n, part from items where n <> 7;"
             "create table some as select part, price, firm from offers;"
             "create table less as select part, price from offers",
             0, "two: 2 rows\nsome: 2 rows\nless: 2 rows\n");
    file_is("s.sql", ".schema two\n.schema some\n.schema less\n");
    shell_prints(
        "$T sql --db $D < s.sql",
        "CREATE TABLE two (\n    firm TEXT,\n    n INT,\n    part INT,\n"
        "    FOREIGN KEY (part, firm) REFERENCES offers (part, firm)\n);\n"
        "CREATE TABLE some (\n    part INT NOT NULL,\n    price DECIMAL(8,2),\n    firm TEXT NOT NULL,\n"
        "    PRIMARY KEY (part, firm)\n);\n"
        "CREATE TABLE less (\n    part INT NOT NULL,\n    price DECIMAL(8,2)\n);\n");
    sql_ends("insert into items values (7, 2, 'a')", 2,
             "inserted row 1: columns (part, firm): no row of table offers has the key");
}

/* ---- .output, .once and .read ---- */

static void output_goes_to_files(void **state)
{
    (void)state;
    begin();
    file_is("r.sql", "select 1 as in_read;\n.once 'o 1.txt'\n.schema shops\nselect 2 as two;\n");
    file_is("o.sql",
            ".output o.csv\nselect id from shops;\nselect 7 as seven;\n.output\nselect 8 as eight;\n"
            ".once o2.csv\nselect 9 as nine;\nselect 10 as ten;\n.read r.sql\n.output stdout\n.once o3.csv\n"
            ".tables\n");
    shell_prints("$T sql --db $D --format csv < o.sql", "eight\n8\nten\n10\nin_read\n1\ntwo\n2\n");
    shell_prints(
        "gzip -k r.sql && mkfifo f.sql && (echo 'select 3 as three;' > f.sql & echo '.read r.sql.gz\n.read "
        "f.sql' | $T sql --db $D --format csv)",
        "in_read\n1\ntwo\n2\nthree\n3\n");
    shell_prints(
        "cat o.csv o2.csv 'o 1.txt' && grep -c . o3.csv",
        "id\n1\n2\n3\nseven\n7\nnine\n9\nCREATE TABLE shops (\n    id INT PRIMARY KEY,\n    city TEXT NOT "
        "NULL,\n    opened DATE\n);\n2\n");
}

static void files_that_cannot_be_used_are_named(void **state)
{
    (void)state;
    begin();
    file_is("bad.sql", "select 1 as one;\n\nselect nope from shops;\n");
    file_is("loop.sql", ".read loop.sql\n");
    static const char *const scripts[][2] = {
        {"select 2 as two;\\n  .read bad.sql\\n",
         "tessera: bad.sql: line 3, column 8: there is no column nope"},
        {".read loop.sql\\n", "more than 20 deep; does one read itself?"},
        {".read\\n", "line 1, column 1: .read needs the name of a file"},
        {".once\\n", "line 1, column 1: .once needs the name of a file"},
        {".read nothing.sql\\n", "nothing.sql"},
        {".read .\\n", ".: "},
        {".output /nowhere/o\\n", "/nowhere/o cannot be written: No such file"},
        {".output /dev/full\\nselect 1;\\n", "/dev/full cannot be written: No space left"}};
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        char shell[PATH_BYTES];
        snprintf(shell, sizeof shell, "cd $D/.. && printf '%s' | $T sql --db $D --format csv", scripts[i][0]);
        run_shell(shell, &run);
        if (run.exit_code == 0 || !strstr(run.errors, scripts[i][1]))
            fail_msg("%s: exit code %d\n%s", shell, run.exit_code, run.errors);
    }
}

static void views_are_queries(void **state)
{
    (void)state;
    begin();
    sql_ends("create view paid as select nr, shop, amount from sales where paid", 0, "view paid created");
    answer_is("select count(*), sum(amount) from paid", "count(*),sum(amount)\n2,1.75\n");
    sql_ends(
        "create view cities (city, n) as select s.city, count(*) from paid p join shops s on s.id = p.shop "
        "group by s.city",
        0, "view cities created");
    answer_is("select c.city, c.n from CITIES c order by city", "city,n\nBonn,2\n");
    /* a query of WITH of that name comes first */
    answer_is("with paid as (select 7 as x) select x from paid", "x\n7\n");
    sql_ends("copy CITIES to 'v.csv'; copy cities (n) to 'w.csv'", 0, "w.csv: 1 row written");
    shell_prints("cat v.csv w.csv", "city,n\nBonn,2\nn\n2\n");
    sql_ends("copy cities (n, m) to 'w.csv'", 2, "line 1, column 6: there is no column m; there are city, n");
    sql_ends("insert into sales (nr, shop, amount, paid) values (9, 1, 3, true)", 0, "");
    answer_is("select n from cities", "n\n3\n"); /* the rows are those of now */
    sql_ends("create or replace view paid as select * from sales where nr = 1", 0, "view paid created");
    answer_is("select n from cities", "n\n1\n");
    sql_ends("create table kept as select * from cities", 0, "kept: 1 row");
    shell_prints("$T sql --db $D --format csv 'show views'",
                 "view,query\npaid,select * from sales where nr = 1\n"
                 "cities,\"SELECT * FROM (select s.city, count(*) from paid p join shops s on s.id = p.shop "
                 "group by s.city) AS \"\"cities\"\" (\"\"city\"\", \"\"n\"\")\"\n");
    shell_prints("$T check --db $D | tail -1 | sed 's/.*: //'", "no fault\n");
    sql_ends("create or replace view paid as select 1 as one", 0, "");
    sql_ends("select 7 as x;\nselect * from cities", 2,
             "line 2, column 15: view cities: there is no column p.shop; there are one");
    sql_ends("drop view cities", 0, "view cities dropped");
    sql_ends("drop view if exists cities", 0, "view cities is not there");
    sql_ends("create view if not exists paid as select 1 as x", 0, "view paid is there already");
    sql_ends("select * from cities", 2, "has no table \"cities\"");
}

static void views_that_cannot_be_are_refused(void **state)
{
    (void)state;
    begin();
    sql_ends("create view v as select nr from sales", 0, "");
    sql_ends("create view w as select nr from v", 0, "");
    sql_ends("create view v as select 1 as x", 2, "CREATE OR REPLACE VIEW replaces it");
    sql_ends("create view SALES as select 1 as x", 2, "there is a table sales");
    sql_ends("create table V as select 1 as x", 2, "there is a view");
    sql_ends("create view x as select nope from sales", 2, "line 1, column 25: there is no column nope");
    sql_ends("create view x as select nr from sales where nr = ?", 2, "a view cannot have parameters");
    sql_ends("create view x as select now() as t", 2, "a view cannot name the current time");
    sql_ends("create view x (a, b) as select nr from sales", 2, "names 2 columns, but its query has 1");
    sql_ends("create or replace view v as select * from v", 2, "view v would name itself");
    sql_ends("create or replace view v as select * from w where exists (select * from w)", 2,
             "view v would name itself");
    sql_ends("drop view nope", 2, "has no view \"nope\"");
    sql_ends("drop table sales", 2, "there is DROP VIEW alone");
    sql_ends("insert into v values (1)", 2, "has no table \"v\"");
    answer_is("select count(*) from w", "count(*)\n4\n");
}

/* A view may have its columns in another order than the table below it; deleted rows have a column that nobody sees. */
static void views_and_tables_with_deleted_rows_are_summarized(void **state)
{
    (void)state;
    begin();
    sql_ends("create view few as select city, id from shops where id < 3; create view few2 (a, b) as from "
             "few; delete from sales where nr = 4",
             0, "");
    answer_is("select column_name, column_type, min, max, count from (summarize few)",
              "column_name,column_type,min,max,count\ncity,VARCHAR,Bonn,K\xc3\xb6ln,2\nid,BIGINT,1,2,2\n");
    answer_is("select column_name, min, max, count from (summarize few2) where column_name = 'a'",
              "column_name,min,max,count\na,Bonn,K\xc3\xb6ln,2\n");
    answer_is("select column_name, column_type, max, count from (summarize sales) where column_name < 'o'",
              "column_name,column_type,max,count\nnr,BIGINT,3,3\nday,DATE,2024-02-03,3\n"
              "amount,\"DECIMAL(9,2)\",2.50,3\nnote,VARCHAR,a,3\n");
}

/* The column of the file, of the copy of the table, and of what is inserted has its instants. */
static void times_with_time_zone_stay_instants(void **state)
{
    (void)state;
    begin();
    sql_ends(
        "create table moments as select nr, '2024-01-01 10:00+02'::timestamptz + interval 1 day * nr as at, "
        "timestamp '2024-01-01 10:00' as clock from sales where nr < 3; copy (select * from moments) to "
        "'moments.parquet'; insert into moments select 9, clock, at from moments where nr = 1; insert into "
        "moments values (10, '2024-05-01T00:00:00-01', null)",
        0, "");
    answer_is(
        "select * from moments order by nr",
        "nr,at,clock\n1,2024-01-02 08:00:00+00,2024-01-01 10:00:00\n2,2024-01-03 08:00:00+00,"
        "2024-01-01 10:00:00\n9,2024-01-01 10:00:00+00,2024-01-02 08:00:00\n10,2024-05-01 01:00:00+00,\n");
    shell_prints(
        "$T load --infer moments.parquet | grep -c ' at TIMESTAMP WITH TIME ZONE NOT NULL,.* 2024-01-02 to "
        "2024-01-03'",
        "1\n");
    shell_prints("$T sql --db $D .schema | grep -c ' at TIMESTAMP WITH TIME ZONE'; head -c 20 $D/catalogue",
                 "1\ntessera catalogue 11");
    /* Conditions go by the clock of the statement's zone, and by its LIKE. */
    sql_ends("set timezone = 'Europe/Berlin'; delete from moments where at = '2024-01-02 09:00';"
             "insert into moments replace where at = '2024-05-01 03:00' values (11, timestamptz '2024-05-01 "
             "03:00', null)",
             0, "moments: 1 row deleted\nmoments: 1 row inserted, 1 deleted\n");
    answer_is("select nr, at from moments order by nr",
              "nr,at\n2,2024-01-03 08:00:00+00\n9,2024-01-01 10:00:00+00\n11,2024-05-01 01:00:00+00\n");
    sql_ends("insert into moments values (12, '2024-05-01 02:00', null)", 0, "");
    shell_prints("$T sql --db $D --time-zone Europe/Berlin --like sqlite \"delete from moments where "
                 "('X' || at::varchar) like 'x%04:00:00+02'\" 2>&1",
                 "moments: 1 row deleted\n");
    sql_ends("delete from moments where at >= '2024-01-02'", 0, "");
    answer_is("select nr from moments", "nr\n9\n");
    /* So do texts and dates that are inserted, but for a text that has an offset. */
    sql_ends(
        "set timezone = 'europe/berlin'; insert into moments values (13, '2024-07-01 02:00', '2024-07-01 "
        "02:00'), "
        "(14, timestamp '2024-07-01 03:00', null); insert into moments values (15, date '2024-07-02', null), "
        "(16, null, null); insert into moments values (17, '2024-07-01 02:00-01', null), (18, '2024-12-01', "
        "null)",
        0, "");
    answer_is("select nr, at, clock from moments where nr > 12 order by nr",
              "nr,at,clock\n13,2024-07-01 00:00:00+00,2024-07-01 02:00:00\n14,2024-07-01 01:00:00+00,\n"
              "15,2024-07-01 22:00:00+00,\n16,,\n17,2024-07-01 03:00:00+00,\n18,2024-11-30 23:00:00+00,\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_have_the_rows),
        cmocka_unit_test(times_with_time_zone_stay_instants),
        cmocka_unit_test(files_are_compressed),
        cmocka_unit_test(large_files_are_written_in_order),
        cmocka_unit_test(failures_leave_the_old_file),
        cmocka_unit_test(what_is_no_copy_is_refused),
        cmocka_unit_test(a_statement_sees_the_state_before_it),
        cmocka_unit_test(numbers_are_rounded_to_the_columns_digits),
        cmocka_unit_test(a_month_is_replaced),
        cmocka_unit_test(rows_are_replaced_in_one_commit),
        cmocka_unit_test(a_load_replaces_rows),
        cmocka_unit_test(others_changes_are_seen_by_a_change),
        cmocka_unit_test(refused_changes_change_nothing),
        cmocka_unit_test(keys_of_the_rows_are_kept),
        cmocka_unit_test(what_may_not_hold_is_not_kept),
        cmocka_unit_test(keys_of_several_columns_are_kept),
        cmocka_unit_test(output_goes_to_files),
        cmocka_unit_test(files_that_cannot_be_used_are_named),
        cmocka_unit_test(views_are_queries),
        cmocka_unit_test(views_that_cannot_be_are_refused),
        cmocka_unit_test(views_and_tables_with_deleted_rows_are_summarized),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
