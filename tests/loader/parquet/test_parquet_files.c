/*
 * test_parquet_files.c: the files of tests/data/parquet, made by pyarrow and DuckDB, give the same rows as the CSV
 * files of tests/data/orc: every type, encoding, compression, kind of page and pattern of NULLs, one row group and
 * several. What no library writes any more is in files put together byte by byte. What does not fit is refused with
 * file, row group, column and row.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/loader/parquet/parquet_cases.h"

static void every_file_gives_the_rows_of_its_text(void **state)
{
    (void)state;
    for (size_t f = 0; f < parquet_files.count; f++)
        for (unsigned threads = 1; threads <= 13; threads += 6)
            columnar_is_its_text(&parquet_files, parquet_files.names[f],
                                 &(struct load_options){.threads = threads});
}

/* A GPU decompresses many pages in one call. */
static void a_decoder_of_large_calls_gives_the_same_rows(void **state)
{
    const struct byte_decoder large = {
        .schemes = byte_decoder_host.schemes, .batch_bytes = 1u << 30, .decode = byte_decoder_host.decode};
    (void)state;
    for (size_t f = 0; f < parquet_files.count; f++)
        columnar_is_its_text(&parquet_files, parquet_files.names[f],
                             &(struct load_options){.decoder = &large});
}

static void loads(const char *script, const char *name, const char *sql, const char *expected)
{
    char file[PATH_BYTES];
    const char *const files[] = {file};
    struct load_report report;
    snprintf(file, sizeof file, PARQUET_FOLDER "%s.parquet", name);
    must(columnar_load(script, files, 1, (struct load_options){.text.reading.round = strstr(name, "round")},
                       &report, error));
    char *const answer = columnar_answer(sql);
    assert_string_equal(answer, expected);
    free(answer);
}

static void old_files_are_read(void **state)
{
    (void)state;
    loads("CREATE TABLE t (number INT, again INT, word TEXT, price DECIMAL(9,2))", "hand-old",
          "select * from t",
          "number,again,word,price\n,,one,0.01\n-1000,-1000,two,-0.01\n0,0,drei ü,1.28\n,,one,-3.00\n"
          "2000,2000,two,0.00\n3000,3000,drei ü,327.67\n4000,4000,one,-327.68\n5000,5000,two,0.07\n"
          ",,drei ü,31.25\n7000,7000,one,-0.13\n");
}

static void all_types_are_read(void **state)
{
    (void)state;
    loads("CREATE TABLE t (u8 INT, u16 INT, u32 BIGINT, none TEXT)", "pyarrow-types", "select * from t",
          "u8,u16,u32,none\n0,0,0,\n200,40000,3000000000,\n255,65535,4294967295,\n,,,\n");
    loads("CREATE TABLE t (key TEXT)", "pyarrow-types", "select * from t",
          "key\n00010203-0405-0607-0809-0a0b0c0d0e0f\nffffffff-ffff-ffff-ffff-ffffffffffff\n\n"
          "00010203-0405-0607-0809-0a0b0c0d0e0f\n");
    loads("CREATE TABLE t (u64 DOUBLE, none INT)", "pyarrow-types", "select * from t",
          "u64,none\n0.0,\n1e+18,\n1.8446744073709552e+19,\n,\n");
    loads("CREATE TABLE t (single DOUBLE, ratio DOUBLE)", "pyarrow-types", "select * from t",
          "single,ratio\n0.5,0.1\n-1.25,0.0\n,\ninf,nan\n");
    loads("CREATE TABLE t (milli TIMESTAMP, utc TIMESTAMP)", "pyarrow-types", "select * from t",
          "milli,utc\n1970-01-01 00:00:00,1970-01-01 00:00:00\n1970-01-01 00:00:01.500000,1970-01-01 "
          "00:00:01.500000\n"
          "1969-12-31 23:59:58.500000,1969-12-31 23:59:58.500000\n1970-01-01 23:59:59.999000,1970-01-01 "
          "23:59:59.999000\n");
    loads("CREATE TABLE t (row INT, ratio DECIMAL(9,2), half BIGINT, fine DECIMAL(6,2))", "pyarrow-round",
          "select ratio, half, fine from t order by row",
          "ratio,half,fine\n2.68,1,1.01\n-2.68,-1,-1.01\n0.01,1,1.00\n0.00,3,0.00\n12345.68,3,-1.00\n,,\n"
          "0.00,0,0.00\n1000000.00,7,7.50\n");
}

static void is_refused(const char *script, const char *file, const char *sentence)
{
    columnar_is_refused(&parquet_files, script, file, sentence);
}

static void types_that_no_column_takes_are_refused_by_name(void **state)
{
    (void)state;
    is_refused("CREATE TABLE t (numbers TEXT)", "pyarrow-types",
               "pyarrow-types.parquet: column numbers has the type list, which cannot be stored as string");
    is_refused("CREATE TABLE t (pairs TEXT)", "pyarrow-types", "column pairs has the type map");
    is_refused("CREATE TABLE t (both TEXT)", "pyarrow-types", "column both has the type struct");
    is_refused("CREATE TABLE t (clock TEXT)", "pyarrow-types", "column clock has the type time(micros)");
    is_refused("CREATE TABLE t (half DOUBLE)", "pyarrow-types", "column half has the type float16");
    is_refused("CREATE TABLE t (fixed TEXT)", "pyarrow-types", "column fixed has the type fixed binary");
    is_refused("CREATE TABLE t (row TEXT)", "pyarrow-types", "has the type int32, which cannot be stored as");
    is_refused(
        "CREATE TABLE t (ratio INT)", "pyarrow-types",
        "has the type double, which cannot be stored as int32: floating-point numbers need a column of type");
    is_refused("CREATE TABLE t (none INT, a INT)", "pyarrow-types",
               "has no column a of table t; its columns are row, numbers, pairs, both, clock,");
    is_refused(
        "CREATE TABLE t (number INT)", "hand-brotli",
        "hand-brotli.parquet, row group 1, column number: its compression (brotli, number 4) cannot be "
        "read; write it with none, snappy, gzip, zstd or lz4");
}

static void values_that_do_not_fit_are_told_with_their_place(void **state)
{
    (void)state;
    is_refused("CREATE TABLE t (raw TEXT)", "pyarrow-types",
               "pyarrow-types.parquet, row group 1, row 2: column raw: '");
    is_refused("CREATE TABLE t (u32 INT)", "pyarrow-types",
               "row 2: column u32: '3000000000' is out of range");
    is_refused("CREATE TABLE t (u64 DECIMAL(18,0))", "pyarrow-types",
               "row 3: column u64: '18446744073709551615' is out of range");
    is_refused("CREATE TABLE t (u64 BIGINT)", "pyarrow-types",
               "row 3: column u64: '18446744073709551615' is out");
    is_refused("CREATE TABLE t (nano TIMESTAMP)", "pyarrow-types",
               "row 4: column nano: '1970-01-01 23:59:59.999000001' ");
    is_refused("CREATE TABLE t (milli DATE)", "pyarrow-types",
               "row 2: column milli: '1970-01-01 00:00:01.500000000' is no whole day");
    is_refused("CREATE TABLE t (wide DECIMAL(18,2))", "pyarrow-types",
               "row 2: column wide: '-12345678901234567890.25' is out of range");
    is_refused("CREATE TABLE t (tiny INT NOT NULL)", "pyarrow-stripes-groups",
               "row 2: column tiny: '' is NULL, but the column is NOT NULL");
    is_refused("CREATE TABLE t (price DECIMAL(12,2) NOT NULL)", "pyarrow-stripes-groups",
               "pyarrow-stripes-groups.parquet, row group 2, row 101: column price: '' is NULL");
}

/* ---- Damage ---- */

static uint8_t damaged[1u << 16];

static size_t read_bytes(const char *name)
{
    char file[PATH_BYTES];
    snprintf(file, sizeof file, PARQUET_FOLDER "%s.parquet", name);
    FILE *const in = fopen(file, "rb");
    assert_non_null(in);
    const size_t size = fread(damaged, 1, sizeof damaged, in);
    fclose(in);
    return size;
}

/* What a load says of the bytes; "" if it reads them. */
static const char *said_of(const char *script, size_t size)
{
    static struct error why;
    char file[PATH_BYTES + 64];
    const char *const files[] = {file};
    struct load_report report;
    why = (struct error){0};
    snprintf(file, sizeof file, "%.*s/damaged.parquet", (int)(strlen(path) - 3), path);
    FILE *const out = fopen(file, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(damaged, 1, size, out), size);
    fclose(out);
    const enum status status = columnar_load(script, files, 1, (struct load_options){0}, &report, &why);
    assert_true(status == STATUS_OK || status == STATUS_BAD_INPUT);
    return why.text;
}

static void damage_is_told_with_its_place(void **state)
{
    static const char words[] = "CREATE TABLE t (word TEXT)";
    size_t size = read_bytes("pyarrow-rows-none"), found = 0;
    (void)state;
    for (size_t at = 4; at < 90; at++) { /* the first column: its header, and then its bits */
        damaged[at] ^= 1;
        const char *const said = said_of("CREATE TABLE t (flag BOOLEAN)", size);
        found += strstr(said, "damaged.parquet, row group 1, column flag: page 1 has other bytes than its "
                              "checksum says; the file is damaged: write or copy it again") != NULL;
        damaged[at] ^= 1;
    }
    assert_true(found > 5); /* the others hit the header */
    assert_non_null(
        strstr(said_of(words, size / 2),
               "damaged.parquet: is no Parquet file, or is not whole: it does not begin and end as one"));
    size = read_bytes("hand-old");
    const size_t footer = damaged[size - 8] | (size_t)damaged[size - 7] << 8;
    damaged[size - 8 - footer - 4] = 0xff; /* the first four entries, of two bits each */
    assert_non_null(strstr(said_of(words, size), "column word: page 2 has entry 3 of a dictionary of 3"));
    damaged[size - 8 - footer - 5] = 0x01; /* no groups of entries, but a run without its value */
    assert_string_not_equal(said_of(words, size), "");
    damaged[size - 8]++;
    assert_non_null(strstr(said_of(words, size), "the file is damaged"));
    damaged[size - 5] = 0x7f;
    assert_non_null(strstr(said_of(words, size), "damaged.parquet: its footer has "));
    is_refused("CREATE TABLE t (none TEXT)", "hand-nulls",
               "row group 1, column none: page 1 has values of a type without values; the file is damaged");
}

static void bad_rows_are_left_out_and_counted(void **state)
{
    static const char *const files[] = {PARQUET_FOLDER "pyarrow-stripes-groups.parquet"};
    struct load_report report;
    (void)state;
    must(columnar_load("CREATE TABLE t (price DECIMAL(12,2) NOT NULL, line TEXT)", files, 1,
                       (struct load_options){.max_errors = 200}, &report, error));
    assert_int_equal(report.rows, 100);
    assert_int_equal(report.rejected, 92);
}

static void files_follow_each_other(void **state)
{
    static const char *const files[] = {PARQUET_FOLDER "pyarrow-stripes-groups.parquet",
                                        PARQUET_FOLDER "pyarrow-empty.parquet",
                                        PARQUET_FOLDER "duckdb-rows-v2-zstd.parquet"};
    (void)state;
    columnar_files_follow(files, 3, 192 + 60);
}

static void kinds_of_files_do_not_mix_within_a_table(void **state)
{
    static const char *const files[] = {PARQUET_FOLDER "pyarrow-one.parquet",
                                        TESSERA_SOURCE "/tests/data/orc/pyarrow-one.orc"};
    (void)state;
    columnar_load_fails(columnar_script, files, 2, (struct load_options){0}, STATUS_BAD_INPUT,
                        "pyarrow-one.orc: is no Parquet file, but others of table t are");
}

static void too_little_memory_is_a_sentence(void **state)
{
    static const char *const files[] = {PARQUET_FOLDER "duckdb-shapes-v1.parquet"};
    (void)state;
    columnar_load_fails(columnar_script, files, 1, (struct load_options){.memory = 50000}, STATUS_MACHINE,
                        "reading its row group 1 of 1200 rows takes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_file_gives_the_rows_of_its_text, setup, teardown),
        cmocka_unit_test_setup_teardown(a_decoder_of_large_calls_gives_the_same_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(old_files_are_read, setup, teardown),
        cmocka_unit_test_setup_teardown(all_types_are_read, setup, teardown),
        cmocka_unit_test_setup_teardown(types_that_no_column_takes_are_refused_by_name, setup, teardown),
        cmocka_unit_test_setup_teardown(values_that_do_not_fit_are_told_with_their_place, setup, teardown),
        cmocka_unit_test_setup_teardown(damage_is_told_with_its_place, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_rows_are_left_out_and_counted, setup, teardown),
        cmocka_unit_test_setup_teardown(files_follow_each_other, setup, teardown),
        cmocka_unit_test_setup_teardown(kinds_of_files_do_not_mix_within_a_table, setup, teardown),
        cmocka_unit_test_setup_teardown(too_little_memory_is_a_sentence, setup, teardown),
    };
    return cmocka_run_group_tests(tests, columnar_engine_open, columnar_engine_close);
}
