/*
 * test_sql_doubles.c: columns of doubles in statements: every kind of number, comparisons, groups and order, and sums that
 * are exact whatever the order of rows, the threads and the codec.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "tests/support/sql/sql_star.h"

/* Group 1 cancels out but for the least double; 2 is just above a tie; 3 overflows; 4 and 5 have infinities; 6 has NaN; 7
 * is ten times 0.1; 8 has only NULLs; 9 is a tie, which goes to the even number. */
static const char script[] = "CREATE TABLE hard (number INT, x DOUBLE PRECISION);\n"
                             "CREATE TABLE many (number INT NOT NULL, part INT, x FLOAT NOT NULL, y REAL);\n";
static const char hard_rows[] = "1,1e308\n1,1e308\n1,-1e308\n1,5e-324\n1,-1e308\n"
                                "2,1\n2,1.1102230246251565e-16\n2,1.232595164407831e-32\n"
                                "3,1e308\n3,1e308\n"
                                "4,inf\n4,1\n4,-1e300\n"
                                "5,Infinity\n5,-INF\n"
                                "6,nan\n6,1.5\n6,-inf\n"
                                "7,.1\n7,0.1\n7,0.10\n7,1e-1\n7,+0.1\n7,0.1\n7,0.1\n7,0.1\n7,0.1\n7,0.1\n"
                                "8,\n8,\n"
                                "9,1\n9,1.1102230246251565e-16\n"
                                "10,-0.0\n10,0\n10,-0\n";

#define MANY 5001u

static double many[MANY][2];

static double random_double(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    const double unit = (double)(*state >> 11) * 0x1p-53 - 0.5;
    return *state % 7 == 0 ? unit * 1e280 : *state % 7 == 1 ? unit * 1e-280 : unit;
}

static void write_file(char *path, size_t bytes, const char *name, bool backwards)
{
    snprintf(path, bytes, "%.*s/%s.csv", (int)(strlen(star_path) - 3), star_path, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    if (strcmp(name, "hard") == 0)
        fputs(hard_rows, file);
    else
        for (uint32_t i = 0; i < MANY; i++) {
            const uint32_t row = backwards ? MANY - 1 - i : i;
            fprintf(file, "%u,%u,%.17g,%.2f\n", row, row % 7, many[row][0], many[row][1]);
        }
    fclose(file);
}

static void load_tables(bool backwards, const char *codec)
{
    static char files[2][PATH_BYTES + 64];
    static const char *const paths[2] = {files[0], files[1]};
    struct load_report report;
    struct schema_script schema;
    directory_make(star_path);
    write_file(files[0], sizeof files[0], "hard", backwards);
    write_file(files[1], sizeof files[1], "many", backwards);
    const struct load_input inputs[2] = {{.table = "hard", .paths = &paths[0], .path_count = 1},
                                         {.table = "many", .paths = &paths[1], .path_count = 1}};
    must(schema_script_parse("d.sql", script, strlen(script), &schema, error));
    must(tables_load(
        &schema,
        &(struct load_options){
            .directory = star_path, .inputs = inputs, .input_count = 2, .codecs = codec, .threads = 1},
        &report, NULL, error));
    schema_script_free(&schema);
    must(database_open(star_path, &star_database, error));
    must(engine_open(&(struct engine_options){.device = test_device(), .threads = 2}, &star_engine, error));
}

static int open_doubles(void **state)
{
    (void)state;
    uint64_t random = 20261122;
    for (uint32_t i = 0; i < MANY; i++) {
        many[i][0] = random_double(&random);
        many[i][1] = (double)(int64_t)(random_double(&random) * 1e5) / 100;
    }
    load_tables(false, NULL);
    return 0;
}

static void sums_are_exact_and_rounded_once(void **state)
{
    (void)state;
    answers("select number, sum(x), avg(x), count(x) from hard group by 1 order by 1",
            "1,5e-324,0.0,5\n"
            "2,1.0000000000000002,0.33333333333333337,3\n"
            "3,inf,1e+308,2\n"
            "4,inf,inf,3\n"
            "5,nan,nan,2\n"
            "6,nan,nan,3\n"
            "7,1.0,0.1,10\n"
            "8,,,0\n"
            "9,1.0,0.5,2\n"
            "10,0.0,0.0,3\n");
    answers("select sum(x), avg(x) from hard where number > 100", ",\n");
    answers("select sum(x * 3 - x), sum(2.5e0), sum(-x) from hard where number = 7",
            "2.0000000000000004,25.0,-1.0\n");
    answers("select sum(y), avg(y) - sum(y) / count(*) from many where y is null", ",\n");
}

/* Sums of doubles that a function makes, of arguments down to 1, and to 0, and of none. */
static void sums_of_functions_are_exact(void **state)
{
    (void)state;
    answers("select sum(sqrt(number)), sum(ln(number)), sum(sqrt(number - 1)), sum(number / 7e0) from hard",
            "78.12854782624957,51.949892442495475,66.17603777940553,27.285714285714285\n");
    answers("select count(ln(number - 1)), count(sqrt(number - 2)), sum(floor(number / 4e0)) from hard",
            "30,30,32.0\n");
    answers("select sum(sqrt(number)), sum(ln(number)) from hard where number > 100", ",\n");
    answers(
        "select number, count(x / (number - 3)) from hard where number in (1, 3, 8) group by 1 order by 1",
        "1,5\n3,0\n8,0\n");
}

static void numbers_have_one_order(void **state)
{
    (void)state;
    answers("select x, count(*) from hard where number in (4, 5, 6, 10) group by x order by x",
            "-inf,2\n-1e+300,1\n0.0,3\n1.0,1\n1.5,1\ninf,2\nnan,1\n");
    answers("select min(x), max(x), count(distinct x) from hard where number in (4, 5, 6, 10)",
            "-inf,nan,7\n");
    answers("select count(*) from hard where x > 1e308", "3\n");
    answers("select count(*) from hard where x = x", "33\n");
    answers("select count(*) from hard where x = 0 and -x = 0 and x = -0.0", "3\n");
    answers("select count(*) from hard where x in (0.1, 1, -1e300)", "14\n");
    answers("select count(*) from hard where x = 0.1 or x between 1.4 and 3/2.0", "11\n");
    answers("select number from hard where x / 0 is null and x = 1.5", "6\n");
    answers("select 1 + x, x * 2, 3 / x, abs(-x) from hard where x = 1.5", "2.5,3.0,2.0,1.5\n");
}

static void run_star(const char *sql, struct rowset *rows)
{
    struct sql_statement *const statement = prepare_query(sql);
    must(sql_run(statement, rows, NULL, error));
    sql_statement_free(statement);
}

/* The same sums from rows in the other order, and in every codec that holds 64 bits. */
static void sums_do_not_depend_on_order_or_codec(void **state)
{
    static const char *const codecs[] = {"plain", "alp", "lane-for", "lane-pfor"};
    static const char sql[] =
        "select part, sum(x), avg(x), sum(x * y), sum(y), min(x), max(x) from many group by 1 order by 1";
    struct rowset first, rows;
    (void)state;
    run_star(sql, &first);
    for (size_t c = 0; c < sizeof codecs / sizeof *codecs; c++) {
        star_close(NULL);
        load_tables(c % 2 == 0, codecs[c]);
        run_star(sql, &rows);
        assert_int_equal(rows.rows, 7);
        for (uint32_t column = 0; column < first.column_count; column++)
            assert_memory_equal(rows.columns[column].values, first.columns[column].values,
                                first.rows * sizeof(int64_t));
        rowset_free(&rows);
    }
    rowset_free(&first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_exact_and_rounded_once),
        cmocka_unit_test(sums_of_functions_are_exact),
        cmocka_unit_test(numbers_have_one_order),
        cmocka_unit_test(sums_do_not_depend_on_order_or_codec),
    };
    return cmocka_run_group_tests_name("sql_doubles", tests, open_doubles, star_close);
}
