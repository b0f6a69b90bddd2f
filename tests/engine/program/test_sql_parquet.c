/*
 * test_sql_parquet.c: Parquet files that COPY writes, read back by `tessera load`: every type with NULLs, groups of rows
 * that are full, one more and many, codecs, pages of long strings, and what the footer says by `tessera inspect`. Other
 * libraries read them in test_parquet_written.py.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/load_program.h"

/* A database that queries need and do not look at. */
static void begin(void)
{
    shell_prints("echo 'CREATE TABLE one (x INT);' > star.sql && echo 1 > one.csv && rm -rf $D", "");
    load_ends("one=one.csv", 0, "");
}

/* From 1 up to a number below 2^18, of pairs: a step of a recursion for each takes a minute. */
#define NUMBERS                                                                               \
    "with recursive m(j) as (select 0 union all select j + 1 from m where j < 511), n(i) as " \
    "(select a.j * 512 + b.j + 1 from m a, m b where a.j * 512 + b.j <= %d) "
#define TABLE                                                                                               \
    "CREATE TABLE t (k BIGINT, b BIGINT, small BIGINT, d DECIMAL(18,2), r DOUBLE, day DATE, at TIMESTAMP, " \
    "f BOOLEAN, word TEXT, line TEXT, none TEXT, runs TEXT);"
#define COLUMNS                                                                                          \
    "select i as k, "                                                                                    \
    "case i % 7 when 0 then null when 1 then 9223372036854775807 when 2 then -9223372036854775807 "      \
    "else i * i end as b, "                                                                              \
    "case when i % 5 > 0 then i % 100 end as small, "                                                    \
    "case when i % 3 > 0 then cast(i * -1.25 as decimal(18,2)) end as d, "                               \
    "case when i % 4 > 0 then (i - 500) / 3e0 end as r, "                                                \
    "case when i % 2 > 0 then date '1969-12-01' + i % 5000 end as day, "                                 \
    "case when i % 9 > 0 then timestamp '1969-12-31 23:59:59' + interval '1 second' * i end as at, "     \
    "case when i % 11 > 0 then i % 3 = 0 end as f, "                                                     \
    "case when i % 6 > 0 then concat('wörd ', i % 40) when i % 12 > 0 then '' end as word, "            \
    "case when i % 10 > 0 then concat('a longer line, ', i, 'x') else '' end as line, "                  \
    "case when i < 0 then 'never' end as none, case when i > 70 then concat('r', i / 5000) end as runs " \
    "from n where i <= "

/* Writes `rows` rows with the options, loads the file, and compares. */
static void comes_back(int rows, const char *options)
{
    char question[4096];
    const int length = snprintf(question, sizeof question, NUMBERS, rows);
    snprintf(question + length, sizeof question - (size_t)length, "%s%d order by k", COLUMNS, rows);
    setenv("Q", question, 1);
    setenv("S", TABLE, 1);
    setenv("O", options, 1);
    shell_prints("$T sql --device cpu --db $D --threads 3 \"copy ($Q) to 'a.parquet' $O\" 2>/dev/null && "
                 "$T sql --device cpu --db $D --threads 1 \"copy ($Q) to 'b.parquet' $O\" 2>/dev/null && "
                 "cmp a.parquet b.parquet",
                 "");
    shell_prints("echo \"$S\" > t.sql && rm -rf t.db && $T load --db t.db --schema t.sql t=a.parquet "
                 "2>/dev/null && $T sql --device cpu --db $D --format csv \"$Q\" > want.csv && "
                 "$T sql --device cpu --db t.db --format csv 'select * from t order by k' | cmp - want.csv",
                 "");
    snprintf(question, sizeof question, "%d\n", rows + 1);
    shell_prints("wc -l < want.csv", question);
}

static void every_type_comes_back(void **state)
{
    static const int rows[] = {0, 1, 2, 7, 8, 9, 63, 1025, 4099};
    static const char *const options[] = {"", "(compression snappy)", "(compression none)",
                                          "(format parquet, compression zstd)"};
    (void)state;
    begin();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        comes_back(rows[i], options[i % 4]);
}

static void groups_are_full_and_many(void **state)
{
    (void)state;
    begin();
    comes_back(122880, "(compression snappy)");
    comes_back(245761, "");
}

static void extreme_values_come_back(void **state)
{
    (void)state;
    begin();
    shell_prints(
        "$T sql --device cpu --db $D \"copy (select * from (values (1, -9223372036854775807 - 1, "
        "9999999999999999.99, 1e308, date '0001-01-01'), (2, 9223372036854775807, "
        "-9999999999999999.99, -5e-324, date '9999-12-31'), (3, 0, 0.00, 'inf'::double, null), "
        "(4, null, null, 'nan'::double, null)) v(k, b, d, r, day)) to 'e.parquet'\" 2>/dev/null && "
        "echo 'CREATE TABLE e (k INT, b BIGINT, d DECIMAL(18,2), r DOUBLE, day DATE);' > e.sql && rm -rf "
        "e.db && $T load --db e.db --schema e.sql e=e.parquet 2>/dev/null && $T sql --device cpu --db "
        "e.db --format csv 'select * from e order by k'",
        "k,b,d,r,day\n"
        "1,-9223372036854775808,9999999999999999.99,1e+308,0001-01-01\n"
        "2,9223372036854775807,-9999999999999999.99,-5e-324,9999-12-31\n"
        "3,0,0.00,inf,\n4,,,nan,\n");
}

/* More than a page and more than what waits for its turn; many of them, of few different ones, are no dictionary. */
static void long_strings_are_pages(void **state)
{
    (void)state;
    begin();
    setenv(
        "Q",
        "with recursive n(i) as (select 1 union all select i + 1 from n where i < 60) select i as k, "
        "repeat(concat('abcdefghij', i % 15), 40000) as s, repeat(cast(i as text), i) as t from n order by k",
        1);
    shell_prints(
        "$T sql --device cpu --threads 2 --db $D \"copy ($Q) to 's.parquet'\" 2>/dev/null && "
        "echo 'CREATE TABLE s (k INT, s TEXT, t TEXT);' > s.sql && rm -rf s.db && $T load --db s.db "
        "--schema s.sql s=s.parquet 2>/dev/null && $T sql --device cpu --db $D --format csv \"$Q\" > "
        "want.csv && $T sql --device cpu --db s.db --format csv 'select * from s order by k' | cmp - "
        "want.csv",
        "");
}

static void names_are_unique(void **state)
{
    (void)state;
    begin();
    shell_prints(
        "$T sql --device cpu --db $D \"copy (select 1 as a, 2 as a, 'x' as \\\"b c\\\") to 'n.parquet'\" "
        "2>/dev/null && $T inspect --format json n.parquet | grep -o '\"name\": *\"[^\"]*\"' | tr -d ' \"'",
        "name:a\nname:a_1\nname:bc\n");
}

static void failures_leave_the_old_file(void **state)
{
    (void)state;
    begin();
    shell_prints(
        "echo old > o.parquet && (ulimit -f 1; trap '' XFSZ; $T sql --device cpu --db $D \"copy (with "
        "recursive n(i) as (select 1 union all select i + 1 from n where i < 300) select (a.i * 300 + b.i) * "
        "a.i from n a, n b) to 'o.parquet'\") 2>&1 | grep -o 'cannot be written: .*'; cat o.parquet; ls | "
        "grep -c "
        "partial; true",
        "cannot be written: File too large\nold\n0\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_comes_back),    cmocka_unit_test(groups_are_full_and_many),
        cmocka_unit_test(extreme_values_come_back), cmocka_unit_test(long_strings_are_pages),
        cmocka_unit_test(names_are_unique),         cmocka_unit_test(failures_leave_the_old_file),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
