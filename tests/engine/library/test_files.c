/*
 * test_files.c: FROM 'file': what statements answer over files that were not loaded, how files are named, what of them is read
 * and when again, what is refused, and that nothing is left of them.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/library/tessera.h"
#include "tests/support/load_program.h"

#include <sys/stat.h>
#include <unistd.h>

static void file_path(const char *name, char file[PATH_BYTES + 64])
{
    snprintf(file, PATH_BYTES + 64, "%s", path);
    snprintf(strrchr(file, '/') + 1, 64, "%s", name);
}

static void file_is(const char *name, const char *text)
{
    char file[PATH_BYTES + 64];
    file_path(name, file);
    FILE *const out = fopen(file, "wb");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

/* Statements without a database, or over that of `begin`, print these rows. */
static void prints(const char *options, const char *statements, const char *rows)
{
    char shell[256];
    snprintf(shell, sizeof shell, "$T sql --device cpu --format csv %s \"$Q\" 2>&1", options);
    setenv("Q", statements, 1);
    shell_prints(shell, rows);
}

static void refuses(const char *statement, int exit_code, const char *said)
{
    setenv("Q", statement, 1);
    run_shell("cd $D/.. && $T sql --device cpu --format csv \"$Q\"", &run);
    if (run.exit_code != exit_code || !strstr(run.errors, said))
        fail_msg("%s: exit code %d\n%s%s", statement, run.exit_code, run.output, run.errors);
}

static void begin(void)
{
    file_is("star.sql",
            "CREATE TABLE shops (id INT PRIMARY KEY, city TEXT);\n"
            "CREATE TABLE sales (nr BIGINT, shop INT REFERENCES shops, paid DECIMAL(9,2), day DATE);\n");
    file_is("shops.csv", "1,Bonn\n2,Ulm\n3,Trier\n");
    file_is("sales.csv", "1,1,1.50,2024-01-01\n2,2,2.50,2024-02-01\n");
    file_is("new.csv", "nr,shop,paid,day\n7,1,5.25,2024-03-01\n8,3,,2024-03-02\n9,9,0.5,\n");
    run_shell("rm -rf $D", &run);
    load_ends("shops=shops.csv sales=sales.csv", 0, "");
}

/* ---- Answers ---- */

static void statements_ask_files(void **state)
{
    (void)state;
    begin();
    prints("", "select * from 'new.csv' order by nr",
           "nr,shop,paid,day\n7,1,5.25,2024-03-01\n8,3,,2024-03-02\n9,9,0.50,\n");
    prints("", "select count(*) from 'new.csv'", "count(*)\n3\n");
    prints("", "select max(day), sum(paid) from 'new.csv' where nr < 9",
           "max(day),sum(paid)\n2024-03-02,5.25\n");
    prints("", "select c2, count(*) from 'shops.csv' group by c2 order by 1 limit 1",
           "c2,count(*)\nBonn,1\n");
    prints("", "from 'new.csv' select new.nr where shop > 1 order by 1", "nr\n8\n9\n");
    prints("", "select a.nr, b.nr from 'new.csv' a, 'new.csv' as b where a.nr = b.nr + 1 order by 1",
           "nr,nr\n8,7\n9,8\n");
    prints("", "select x, z from 'new.csv' t (x, y, z) where y = 1", "x,z\n7,5.25\n");
    prints("",
           "with w as (select shop, day from 'new.csv') select count(*) from w, w v where w.shop <= v.shop",
           "count(*)\n6\n");
    prints("", "select column_name, column_type, count from (summarize 'new.csv') s",
           "column_name,column_type,count\nnr,BIGINT,3\nshop,BIGINT,3\npaid,\"DECIMAL(18,2)\",3\nday,DATE,"
           "3\n");
    prints("", "describe 'new.csv'",
           "column,type,null,key,references\nnr,int32,yes,\"\",\"\"\nshop,int32,yes,\"\",\"\"\n"
           "paid,\"decimal(9,2)\",yes,\"\",\"\"\nday,date,yes,\"\",\"\"\n");
    prints("", "select nr, row_number() over (order by paid nulls last) from 'new.csv' order by nr",
           "nr,row_number() over (order by paid nulls last)\n7,2\n8,3\n9,1\n");
    prints("", "select nr from 'new.csv' union all select c1 from 'shops.csv' order by 1 desc limit 2",
           "nr\n9\n8\n");
    prints("--threads 1",
           "select (select count(*) from 'new.csv' n where n.shop = c1) from 'shops.csv' order by c1",
           "(select count(*) from 'new.csv' n where n.shop = c1)\n1\n0\n1\n");
}

static void files_are_joined_with_tables(void **state)
{
    (void)state;
    begin();
    prints("--db $D",
           "with w as (select 3) select count(*), max(city) from 'w', 'sales', 'shops' s where sales.shop = "
           "s.id",
           "count(*),max(city)\n2,Ulm\n");
    prints("--db $D",
           "select n.nr, city from 'new.csv' n left join shops on shop = id order by 1;"
           "select nr from sales where nr not in (select nr - 6 from 'new.csv' where nr < 8);"
           "insert into sales select * from 'new.csv' where shop in (select id from shops);"
           "select count(*), sum(paid) from sales;"
           "create table copied as select day, nr from 'new.csv'; select * from copied order by nr;"
           "create view seen as select * from 'new.csv'; select count(day) from seen;"
           "delete from sales where nr in (select nr from 'new.csv'); select count(*) from sales;"
           "copy (select nr from 'new.csv' order by nr) to 'out.csv'; select * from 'out.csv'",
           "nr,city\n7,Bonn\n8,Trier\n9,\nnr\n2\nsales: 2 rows inserted\ncount(*),sum(paid)\n4,9.25\n"
           "copied: 3 rows\nday,nr\n2024-03-01,7\n2024-03-02,8\n,9\nview seen created\ncount(day)\n2\n"
           "sales: 2 rows deleted\ncount(*)\n2\nout.csv: 3 rows written\nnr\n7\n8\n9\n");
}

/* Two files of one name in a view, all parts of which have the view's place in the statement. */
static void files_of_one_name_are_two(void **state)
{
    (void)state;
    begin();
    shell_prints(
        "mkdir -p one two && printf 'k,v\\n1,10\\n2,20\\n' > one/x.csv && printf 'k,v\\n1,100\\n2,200\\n' > "
        "two/x.csv",
        "");
    prints("--db $D",
           "create view both as select a.k, a.s, b.s as t from (select k, sum(v) as s from 'one/x.csv' group "
           "by k) a "
           "join (select k, sum(v) as s from 'two/x.csv' group by k) b on a.k = b.k; select * from both "
           "order by k; "
           "create view sums as select sum(v) as s from 'one/x.csv' where k > 0 union all select sum(v) from "
           "'two/x.csv' where k > 0; select * from sums order by 1; create table \"x.csv\" as select 1 as k, "
           "7 as v; "
           "create view all_sums as select s from sums union all select sum(v) from \"x.csv\" where k > 0; "
           "select * "
           "from all_sums order by 1",
           "view both created\nk,s,t\n1,10,100\n2,20,200\nview sums created\ns\n30\n300\nx.csv: 1 row\nview "
           "all_sums created\ns\n7\n30\n300\n");
}

/* ---- Files ---- */

static void files_of_many_kinds_are_read(void **state)
{
    (void)state;
    begin();
    shell_prints(
        "gzip -kf new.csv && tr , '\\t' < new.csv > new.tsv && mkdir -p f && rm -f f/* && cp new.csv f/1.csv "
        "&& sed 's/^7/17/' new.csv > f/2.csv && $T sql --db $D \"copy (select * from 'new.csv') to "
        "'new.parquet'; copy (select day, nr, shop, paid from 'new.csv') to 'new.jsonl'; copy (select * from "
        "'new.csv') to 'new.json' (array)\" 2>&1",
        "new.parquet: 3 rows written\nnew.jsonl: 3 rows written\nnew.json: 3 rows written\n");
    static const char *const names[] = {"new.csv",     "new.csv.gz", "new.tsv",
                                        "new.parquet", "new.jsonl",  "new.json"};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        char question[128];
        snprintf(question, sizeof question, "select sum(nr), max(paid), min(day), count(day) from '%s'",
                 names[n]);
        prints("", question, "sum(nr),max(paid),min(day),count(day)\n24,5.25,2024-03-01,2\n");
    }
    prints("", "select count(*), max(nr) from 'f/*.csv'", "count(*),max(nr)\n6,17\n");
    prints("", "select count(*), max(nr) from 'f'", "count(*),max(nr)\n6,17\n");
    prints("",
           "select max(read_csv.nr), max(n.nr) from read_csv('f/*.csv') as read_csv, "
           "Read_Parquet('new.parquet') n",
           "max(read_csv.nr),max(n.nr)\n17,9\n");
    prints("", "select max(new.nr) from read_json_auto('new.jsonl')", "max(new.nr)\n9\n");
    file_is("o.json", "[{\"a, b\": 1, \"o\": {\"x\": [1, 2]}},\n {\"o\": null, \"\": 3, \"A, B\": 2.5}\n]");
    prints("", "select \"a, b\", o ->> '$.x[1]' as x, o from 'o.json' order by 1",
           "\"a, b\",x,o\n1.0,2,\"{\"\"x\"\": [1, 2]}\"\n2.5,,\n");
    prints("",
           "select count(*), sum(big), max(line) from '" TESSERA_SOURCE
           "/tests/data/orc/pyarrow-rows-0.12-zlib.orc'",
           "count(*),sum(big),max(line)\n60,2601613502793939624,row 8 xxxxxxxxxxxxxxxxxx\n");
    file_is("rows.jsonl",
            "{\"nr\": 1, \"day\": \"31.12.2024\"}\n{\"nr\": 2.5, \"a, b\": {\"c\": [1]}}\n{\"nr\": null}\n");
    file_is("rows.txt", "[{\"nr\": 1}, {\"nr\": 2, \"of\": \"x\"}]");
    prints("",
           "select * from 'rows.jsonl' order by nr nulls last; select of, sum(nr) from 'rows.txt' group by "
           "of order by 2",
           "nr,day,\"a, b\"\n1.0,2024-12-31,\n2.5,,\"{\"\"c\"\": [1]}\"\n,,\nof,sum(nr)\n,1\nx,2\n");
    shell_prints("seq 140000 | sed 's/.*/{\"n\": &}/' > n.json; $T sql --device cpu --format csv \"select n "
                 "from 'n.json' limit "
                 "1 offset 2; select sum(n) from 'n.json'\"",
                 "n\n3\nsum(n)\n9800070000\n");
}

/* No number is rounded in silence: not one above 2^63, nor a decimal of more than 18 digits. */
static void numbers_without_room_are_refused(void **state)
{
#define TYPES "'" TESSERA_SOURCE "/tests/data/parquet/pyarrow-types.parquet'"
    (void)state;
    prints("", "select column_type from (summarize select u32 from " TYPES ")", "column_type\nBIGINT\n");
    prints("", "select count(*), sum(u32) from " TYPES, "count(*),sum(u32)\n4,7294967295\n");
    refuses(
        "select count(distinct u64) from " TYPES, 2,
        "row 3: column u64: '18446744073709551615' is out of range: the column holds -9223372036854775808 to "
        "9223372036854775807; a statement reads all rows of a file, or none; * EXCLUDE leaves columns out");
    refuses("select min(wide) from " TYPES, 2,
            "row 2: column wide: '-12345678901234567890.25' is out of range: the column holds "
            "-9999999999999999.99 to");
}

static void forms_of_values_are_found(void **state)
{
    (void)state;
    begin();
    file_is("forms.csv",
            "when;amount;code;some thing;empty;none\n31.12.2023;1.234,50;007;a;;x\n01.01.2024;2;010;b;;\n");
    prints("", "select \"when\", amount, code, \"some thing\", \"empty\", none from 'forms.csv' order by 1",
           "when,amount,code,some thing,empty,none\n2023-12-31,1234.50,007,a,,x\n2024-01-01,2.00,010,b,,\n");
    prints("", "select sum(amount) from 'forms.csv' where none is null", "sum(amount)\n2.00\n");
    file_is("head.csv", "a,b\n");
    prints("", "select count(*), max(a) from 'head.csv'", "count(*),max(a)\n0,\n");
    file_is("twice.csv", "a,a\n1,2\n");
    prints("", "select a, c2 from 'twice.csv'", "a,c2\n1,2\n");
    file_is("index.csv", ",a,,\n0,1,x,\n5,2,,\n"); /* the last field is empty throughout */
    prints("", "select * from 'index.csv' order by c1; select max(c3) from 'index.csv'",
           "c1,a,c3\n0,1,x\n5,2,\nmax(c3)\nx\n");
    shell_prints(
        "seq 1025 | sed 's/$/,x/' > n.csv; $T sql --device cpu --threads 3 --format csv \"select count(*), "
        "sum(c1), max(c2) from 'n.csv'\"",
        "count(*),sum(c1),max(c2)\n1025,525825,x\n");
}

/* Some blocks of text, in two files with headers; the last row decides the types. */
static void types_are_those_of_all_rows(void **state)
{
    (void)state;
    begin();
    shell_prints(
        "(printf '\\n\\nn,m\\n'; seq 300000 | awk '{print $1 \",\" $1 % 7}'; echo '0.5,2024-01-01') > "
        "big1.csv; "
        "cp big1.csv big2.csv; for t in 1 3; do $T sql --device cpu --threads $t --format csv \"describe "
        "'big*.csv'; select count(*), sum(n), min(m), max(m) from 'big*.csv'\"; done",
        "column,type,null,key,references\nn,\"decimal(9,1)\",yes,\"\",\"\"\nm,string,yes,\"\",\"\"\n"
        "count(*),sum(n),min(m),max(m)\n600002,90000300001.0,0,6\n"
        "column,type,null,key,references\nn,\"decimal(9,1)\",yes,\"\",\"\"\nm,string,yes,\"\",\"\"\n"
        "count(*),sum(n),min(m),max(m)\n600002,90000300001.0,0,6\n");
}

/* LIMIT loads a beginning of large files, which later statements extend or leave. */
static void first_rows_are_loaded_alone(void **state)
{
    static const char answers[] =
        "n,m\n1,1\n2,2\nm,n\n1,50002\nn\n60001\nm\n5\ncount(*),sum(m)\n300000,899998\nn\n1\n"
        "n\nn\n131001\n";
    (void)state;
    begin();
    shell_prints(
        "(echo n,m; seq 300000 | awk '{print $1 \",\" $1 % 7}') > large.csv; "
        "$T sql --device cpu \"copy (select * from 'large.csv') to 'large.parquet'; copy (select * from "
        "'large.csv') to 'large.json' (array)\" 2>&1",
        "large.parquet: 300000 rows written\nlarge.json: 300000 rows written\n");
    static const char *const names[] = {"large.csv", "large.json", "large.parquet"};
    for (int f = 0; f < 3; f++) {
        char statements[1024];
        const char *const name = names[f];
        char said[64];
        snprintf(statements, sizeof statements,
                 "select * from '%s' limit 2; select m, n from '%s' limit 1 offset 50001; select n from '%s' "
                 "limit 1 "
                 "offset 60000; select m from '%s' limit 1 offset 4; select count(*), sum(m) from '%s'; "
                 "select n from "
                 "'%s' limit 1; select n from '%s' limit 0; select n from '%s' limit 1 offset 131000",
                 name, name, name, name, name, name, name, name);
        prints("--threads 1", statements, answers);
        prints("--threads 3", statements, answers);
        snprintf(statements, sizeof statements, "explain select n from '%s' limit 3", name);
        setenv("Q", statements, 1);
        run_shell("cd $D/.. && $T sql --device cpu \"$Q\"", &run);
        assert_null(strstr(run.output, "300000 rows"));
        snprintf(said, sizeof said, "%s, first rows: %s", name, f == 2 ? "122880 rows" : "");
        assert_non_null(strstr(run.output, said));
    }
}

/* ---- Again ---- */

static void changed_files_are_read_again(void **state)
{
    (void)state;
    begin();
    /* Files change after an answer has come, in the same run of the program. */
    shell_prints("rm -f f*.txt; printf 'x\\n1\\n' > f0.txt; mkfifo in out; "
                 "$T sql --device cpu --format csv <in >out & exec 3>in 4<out; "
                 "echo \"select sum(nr) from 'new.csv';\" >&3; read -r x <&4; read -r y <&4; echo $x $y; "
                 "printf 'nr\\n1\\n' > new.csv; "
                 "echo \"select sum(nr) from 'new.csv'; select count(*) from 'f*.txt';\" >&3; "
                 "read -r x <&4; read -r y <&4; read -r z <&4; read -r n <&4; echo $x $y $z $n; "
                 "printf 'x\\n1\\n' > f1.txt; echo \"select count(*) from 'f*.txt';\" >&3; "
                 "exec 3>&-; cat <&4; wait $!; rm in out",
                 "sum(nr) 24\nsum(nr) 1 count(*) 1\ncount(*)\n2\n");
}

static int64_t number_of(struct tessera_statement *statement)
{
    struct tessera_error why;
    struct tessera_result *result;
    if (tessera_run(statement, &result, &why) != TESSERA_OK)
        fail_msg("%s", why.text);
    const int64_t number = tessera_int64(result, 0, 0);
    tessera_result_free(result);
    return number;
}

/* A statement that was prepared before sees the file as it is when it runs; further columns are loaded when they are asked for. */
static void the_library_asks_files(void **state)
{
    struct tessera_database *database;
    struct tessera_statement *sum, *other;
    struct tessera_error why;
    char file[PATH_BYTES + 64], question[PATH_BYTES + 128];
    (void)state;
    begin();
    file_path("new.csv", file);
    assert_int_equal(tessera_open(path, "cpu", 2, &database, &why), TESSERA_OK);
    snprintf(question, sizeof question, "select sum(nr) from '%s' where nr > ?", file);
    assert_int_equal(tessera_prepare(database, question, &sum, &why), TESSERA_OK);
    assert_int_equal(tessera_bind_int64(sum, 0, 7, &why), TESSERA_OK);
    assert_int_equal(number_of(sum), 17);
    assert_int_equal(number_of(sum), 17);
    snprintf(question, sizeof question, "select sum(shop) + count(day) from '%s'", file);
    assert_int_equal(tessera_prepare(database, question, &other, &why), TESSERA_OK);
    assert_int_equal(number_of(other), 15);
    file_is("new.csv", "shop,nr,day\n4,70,\n");
    assert_int_equal(number_of(sum), 70);
    assert_int_equal(number_of(other), 4);
    assert_int_equal(number_of(sum), 70);
    remove(file);
    struct tessera_result *result;
    assert_int_equal(tessera_run(sum, &result, &why), TESSERA_BAD_INPUT);
    assert_non_null(strstr(why.text, "there is no file "));
    tessera_finalize(sum);
    tessera_finalize(other);
    tessera_close(database);
}

/* ---- Parts of files ---- */

/* 300,000 rows in groups of 122,880, which is what COPY writes; n ascends. */
static void begin_parts(void)
{
    begin();
    shell_prints("(echo n,m,s; seq 300000 | awk '{print $1 \",\" $1 % 7 \",\" sprintf(\"w%03d\", int($1 / "
                 "1000))}') > large.csv; "
                 "$T sql --device cpu \"copy (select n, m, nullif(s, 'w000') as s, case when n > 245760 then "
                 "timestamp "
                 "with time zone '2000-01-01 00:00:00+00' else now() + interval '1' second end as at from "
                 "'large.csv') to 'large.parquet'\" 2>&1",
                 "large.parquet: 300000 rows written\n");
}

static void explains(const char *statements, const char *said)
{
    setenv("Q", statements, 1);
    run_shell("cd $D/.. && $T sql --device cpu \"$Q\" 2>&1", &run);
    if (!strstr(run.output, said))
        fail_msg("%s\ndoes not say %s:\n%s", statements, said, run.output);
}

/* What is kept of a file for one statement is not all of it for the next one. */
static void groups_of_rows_without_matches_are_not_read(void **state)
{
    (void)state;
    begin_parts();
    explains("explain select m from 'large.parquet' where n = 5",
             "large.parquet, 1 of 3 row groups: 122880 rows");
    explains("explain select m from 'large.parquet' where s = 'w280'",
             "large.parquet, 1 of 3 row groups: 54240 rows");
    explains("explain select m from 'large.parquet' where s is null", "large.parquet, 1 of 3 row groups");
    explains("explain select count(*) from 'large.parquet' where n < 0",
             "large.parquet, 0 of 3 row groups: 0 rows");
    explains("explain select m from 'large.parquet' where n = 5 or m = 3", "large.parquet: 300000 rows");
    explains("explain select m from 'large.parquet' where n between 122880 and 122881",
             "large.parquet: 300000 rows"); /* most of them */
    explains(
        "select sum(m) from 'large.parquet' where n > 0; explain select m from 'large.parquet' where n = 5",
        "large.parquet: 300000 rows"); /* they are loaded */
    prints(
        "",
        "select m from 'large.parquet' where n = 5; select sum(m) from 'large.parquet'; select count(*), "
        "max(n) from 'large.parquet' where n > 299990; select n from 'large.parquet' where m = 2 order by n "
        "desc limit 1; select count(*) from 'large.parquet' where n < 0; select m from 'large.parquet' where "
        "n = 200000; select count(s) from 'large.parquet' where n < 3000; select sum(a.m), count(b.n) from "
        "'large.parquet' a left join (select * from 'large.parquet' where n < 20) b on a.n = b.n where a.n < "
        "30",
        "m\n5\nsum(m)\n899998\ncount(*),max(n)\n10,300000\nn\n299994\ncount(*)\n0\nm\n3\ncount(s)\n2000\n"
        "sum(a.m),count(b.n)\n85,19\n");
    prints(
        "--db $D",
        "create view late as select n as nr, m from 'large.parquet' where n > 250000; select count(*), "
        "min(nr) from late where nr < 250011; with w as (select * from late) select sum(m) from w where nr = "
        "299999; select count(*) from late, sales where late.nr = 250000 + sales.nr",
        "view late created\ncount(*),min(nr)\n10,250001\nsum(m)\n0\ncount(*)\n2\n");
}

/* The values of a prepared statement, and the time of its run, decide anew. */
static void values_decide_which_groups_are_read(void **state)
{
    struct tessera_database *database;
    struct tessera_statement *one, *past;
    struct tessera_error why;
    char file[PATH_BYTES + 64], question[PATH_BYTES + 128];
    int64_t before = 0;
    (void)state;
    begin_parts();
    file_path("large.parquet", file);
    assert_int_equal(tessera_open(NULL, "cpu", 1, &database, &why), TESSERA_OK);
    snprintf(question, sizeof question, "select count(*) from '%s' where at < now()", file);
    assert_int_equal(tessera_prepare(database, question, &past, &why), TESSERA_OK);
    before = number_of(past);
    assert_true(before == 54240 || before == 300000);
    snprintf(question, sizeof question, "select sum(m) + 10 * count(*) from '%s' where n = ?", file);
    assert_int_equal(tessera_prepare(database, question, &one, &why), TESSERA_OK);
    for (int64_t n = 5; n < 300000; n += 99999) {
        assert_int_equal(tessera_bind_int64(one, 0, n, &why), TESSERA_OK);
        assert_int_equal(number_of(one), 10 + n % 7);
        assert_int_equal(number_of(one), 10 + n % 7);
    }
    for (int i = 0; i < 100 && number_of(past) < 300000; i++)
        usleep(50000);
    assert_int_equal(number_of(past), 300000);
    tessera_finalize(one);
    tessera_finalize(past);
    tessera_close(database);
}

static void the_library_needs_no_database(void **state)
{
    struct tessera_database *database;
    struct tessera_statement *statement;
    struct tessera_result *result;
    struct tessera_error why;
    char file[PATH_BYTES + 64], question[PATH_BYTES + 128];
    (void)state;
    begin();
    file_path("new.csv", file);
    assert_int_equal(tessera_open(NULL, "cpu", 1, &database, &why), TESSERA_OK);
    snprintf(question, sizeof question, "select max(nr) from '%s'", file);
    assert_int_equal(tessera_prepare(database, question, &statement, &why), TESSERA_OK);
    assert_int_equal(number_of(statement), 9);
    tessera_finalize(statement);
    assert_int_equal(tessera_prepare(database, "create table t (a int)", &statement, &why), TESSERA_OK);
    assert_int_equal(tessera_run(statement, &result, &why), TESSERA_BAD_INPUT);
    assert_non_null(strstr(why.text, "there is no database to change"));
    tessera_finalize(statement);
    tessera_close(database);
}

static void nothing_is_left(void **state)
{
    (void)state;
    begin();
    file_is("bad.csv", "a,b\n1,2\n3\n");
    shell_prints(
        "rm -rf tmp; mkdir tmp; TMPDIR=tmp $T sql --device cpu --format csv \"select sum(nr) from 'new.csv'; "
        "explain select * from 'new.csv'; select * from 'bad.csv'\" >/dev/null 2>&1; "
        "$T sql --device cpu --spill tmp --memory 200M --format csv \"select min(paid) from 'new.csv'\"; ls "
        "tmp",
        "min(paid)\n0.50\n");
    refuses("select 1; select * from 'bad.csv'", 2, "bad.csv:3: the row has 1 field instead of 2");
    run_shell("cd $D/.. && seq 30000 >many.csv && $T sql --device cpu --memory 100K \"select max(c1) from "
              "'many.csv'\"",
              &run);
    assert_int_equal(run.exit_code, 3);
    assert_non_null(strstr(run.errors, "writing a column of many.csv takes "));
    run_shell("cd $D/.. && $T sql --device cpu --spill nowhere \"select nr from 'new.csv'\"", &run);
    assert_int_equal(run.exit_code, 2);
    assert_non_null(strstr(run.errors, "no folder can be made in nowhere: No such file or directory"));
}

/* ---- What is refused ---- */

static void what_is_no_file_is_refused(void **state)
{
    (void)state;
    begin();
    file_is("cut.json", "\n{\"a\": \"x");
    refuses(
        "select * from 'cut.json'", 2,
        "cut.json: has no object with a member, so nothing can be inferred from it; the row of line 2 is no "
        "JSON: it has a string that does not end");
    file_is("none.csv", "");
    file_is("junk.parquet", "PAR1 and no more");
    refuses("select *\n from 'nothing.csv'", 2, "line 2, column 7: there is no file nothing.csv");
    refuses("select * from 'nwe.csv'", 2, "column 15: there is no file nwe.csv; did you mean new.csv?");
    refuses("select * from './shosp.csv'", 2, "there is no file ./shosp.csv; did you mean shops.csv?");
    refuses("select * from 'nothing*.csv'", 2, "column 15: no file is called like 'nothing*.csv'");
    refuses("describe 'nothing.csv'", 2, "column 10: there is no file nothing.csv");
    refuses("select * from ''", 2, "column 15: '' is no name of a file");
    refuses("select * from '-'", 2, "column 15: -: standard input can be read once");
    refuses("select * from 'none.csv'", 2, "none.csv: is empty, so nothing can be inferred from it");
    refuses("select * from 'junk.parquet'", 2, "junk.parquet: is no Parquet file");
    run_shell("cd $D/.. && mkdir mixed && cp new.csv mixed/b.csv && echo '{\"a\": 1}' > mixed/c.json", &run);
    refuses("select * from 'mixed'", 2,
            "mixed/c.json: is JSON, but mixed/b.csv is delimited text; the files of one table must be of one "
            "kind");
    run_shell("cd $D/.. && mv mixed/c.json mixed/a.json", &run);
    refuses("select * from 'mixed'", 2, "mixed/b.csv: is delimited text, but mixed/a.json is JSON; ");
    run_shell("cd $D/.. && $T sql --device cpu \"copy (select 1 a) to 'mixed/d.parquet'\" && rm mixed/a.json",
              &run);
    refuses("select * from 'mixed'", 2, "mixed/d.parquet: is Parquet, but mixed/b.csv is delimited text; ");
    refuses("select * from read_csv('new.csv', header = true)", 2,
            "column 33: read_csv has no options here: how a file is written is found in it");
    refuses("select * from read_csv(new)", 2, "column 24: read_csv takes the name of a file");
    refuses("select * from range(3)", 2,
            "column 20: FROM has tables, files and subqueries, and of functions");
    refuses("select sum(nr), frist(shop) from 'new.csv'", 2,
            "column 17: there is no function frist; there are");
    refuses("select shp from 'new.csv'", 2, "column 8: there is no column shp; did you mean shop?");
    refuses("select * from 'new.csv', 'new.csv'", 2, "column 26: FROM has new twice");
    refuses("select * from new.csv", 2,
            "column 18: schemas are main and public alone; a file is named in single quotes, FROM 'new.csv'");
    refuses("select * from new", 2, "there is no table \"new\" without a database (--db DIR)");
    refuses("create table t (a int)", 2, "column 1: there is no database to change; open one (--db DIR)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(statements_ask_files),
                                       cmocka_unit_test(files_are_joined_with_tables),
                                       cmocka_unit_test(files_of_one_name_are_two),
                                       cmocka_unit_test(files_of_many_kinds_are_read),
                                       cmocka_unit_test(numbers_without_room_are_refused),
                                       cmocka_unit_test(forms_of_values_are_found),
                                       cmocka_unit_test(types_are_those_of_all_rows),
                                       cmocka_unit_test(first_rows_are_loaded_alone),
                                       cmocka_unit_test(changed_files_are_read_again),
                                       cmocka_unit_test(the_library_asks_files),
                                       cmocka_unit_test(groups_of_rows_without_matches_are_not_read),
                                       cmocka_unit_test(values_decide_which_groups_are_read),
                                       cmocka_unit_test(the_library_needs_no_database),
                                       cmocka_unit_test(nothing_is_left),
                                       cmocka_unit_test(what_is_no_file_is_refused)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
