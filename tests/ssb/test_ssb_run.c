/*
 * test_ssb_run.c: the benchmark from end to end, as a user runs it: load, 13 queries, every codec, every
 * instruction set, checked by SQLite. It also tests wrong answers and wrong command lines.
 *
 * The tests use scale factor 0.05 (299 814 rows) on the CPU. $D is the test's folder, $D/db the database.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/database_cases.h"
#include "tests/support/run_program.h"
#include "tests/support/well_formed.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <xxhash.h>

#define QUERIES 13

static char database[PATH_BYTES]; /* $D/db */
static struct program_run run;

static int load(void **state)
{
    (void)state;
    char folder[PATH_BYTES];
    directory_make(database);
    snprintf(folder, sizeof folder, "%.*s", (int)(strlen(database) - strlen("/db")), database);
    setenv("D", folder, 1);
    run_shell("$T ssb load --sf 0.05 --db $D/db", &run);
    return run.exit_code;
}

static int unload(void **state)
{
    (void)state;
    directory_remove(database);
    return 0;
}

static void assert_runs(const char *shell, int exit_code)
{
    run_shell(shell, &run);
    if (run.exit_code != exit_code)
        fail_msg("%s: exit code %d, not %d\n%s", shell, run.exit_code, exit_code, run.errors);
}

/* The number of lines of the CSV report with this check, which is the last column, or the last before those of staged
 * columns. */
static unsigned lines_with(const char *check)
{
    char ending[16];
    unsigned count = 0;
    snprintf(ending, sizeof ending, ",%s", check);
    for (const char *at = run.output; (at = strstr(at, ending)); at++)
        count += at[strlen(ending)] == '\n' || at[strlen(ending)] == ',';
    return count;
}

static void edit_reference(const char *statement)
{
    char path[PATH_BYTES + 32];
    sqlite3 *connection;
    snprintf(path, sizeof path, "%s/reference.sqlite", database);
    assert_int_equal(sqlite3_open(path, &connection), SQLITE_OK);
    assert_int_equal(sqlite3_exec(connection, statement, NULL, NULL, NULL), SQLITE_OK);
    assert_true(sqlite3_changes(connection) > 0);
    sqlite3_close(connection);
}

static void every_codec_answers_as_sqlite_does(void **state)
{
    (void)state;
    char command[2048] = "$T ssb compare --db $D/db --device cpu --repeat 1 --warmup 0 --format csv --codecs "
                         "gpu-star,smallest,auto";
    size_t choices = 3;
    for (uint32_t id = 1; id < CODEC_COUNT; id++)
        if (!codec_needs_levels(codec_by_id(id))) { /* which only some columns have */
            strcat(command, ",");
            strcat(command, codec_by_id(id)->name);
            choices++;
        }
    assert_runs(command, 0);
    assert_int_equal(lines_with("ok"), choices * QUERIES);
    assert_int_equal(lines_with("wrong") + lines_with("skipped"), 0);
    assert_non_null(strstr(run.output, "\nlo_shipmode,auto,"));
    assert_non_null(strstr(run.errors, "SQLite was loaded from the raw rows"));
}

/* Q1.1 to Q1.3 with indexes on the columns of their conditions answer as SQLite does, and the report says so. */
static void indexed_queries_answer_as_sqlite_does(void **state)
{
    (void)state;
    assert_runs("$T ssb load --sf 0.02 --db $D/indexed --index lo_discount,lo_quantity,lo_orderdate", 0);
    assert_runs(
        "$T ssb run --db $D/indexed --device cpu --index on --repeat 2 --warmup 0 --format json --query "
        "q1.1,q1.2,q1.3,q3.2",
        0);
    json_t *root = json_loads(run.output, 0, NULL);
    for (size_t q = 0; q < 4; q++) {
        const json_t *query = json_array_get(json_object_get(root, "queries"), q);
        assert_string_equal(json_string_value(json_object_get(query, "check")), "ok");
        assert_int_equal(json_integer_value(json_object_get(query, "indexes")), q < 3 ? 3 : 1);
    }
    json_decref(root);
    assert_runs("$T ssb run --db $D/indexed --device cpu --index on --repeat 1 --query q1.1", 0);
    assert_non_null(strstr(run.output, "Indexes:  bitmap indexes decide conditions"));
    assert_runs("$T ssb run --db $D/indexed --device cpu --index off --repeat 1 --query q1.1 --format csv",
                0);
    assert_null(strstr(run.output, "indexes"));
    assert_runs(
        "$T sql --db $D/indexed --device cpu --index on \"explain select count(*) from lineorder where "
        "lo_discount = 4 and lo_quantity in (1, 7)\"",
        0);
    assert_non_null(strstr(run.output, "count from indexes alone"));
}

/* Every codec is decoded first, then queried as plain values. The answers are the same, and the report tells the
 * two parts. */
static void staged_queries_answer_as_sqlite_does(void **state)
{
    (void)state;
    char command[512];
    for (uint32_t id = 1; id < CODEC_COUNT; id++) {
        const bool decodes = codec_by_id(id) != codec_baseline();
        if (codec_needs_levels(codec_by_id(id)))
            continue;
        snprintf(command, sizeof command,
                 "$T ssb run --db $D/db --device cpu --staged --repeat 1 --warmup 0 --format json --profile "
                 "--query q1.1,q2.3,q3.2,q4.1 --codec %s",
                 codec_by_id(id)->name);
        assert_runs(command, 0);
        json_t *root = json_loads(run.output, 0, NULL);
        assert_true(json_is_true(json_object_get(root, "staged")));
        for (size_t q = 0; q < 4; q++) {
            const json_t *query = json_array_get(json_object_get(root, "queries"), q);
            const double total =
                             json_number_value(json_object_get(json_object_get(query, "total_ms"), "median")),
                         decode = json_number_value(
                             json_object_get(json_object_get(query, "decode_ms"), "median"));
            assert_string_equal(json_string_value(json_object_get(query, "check")), "ok");
            assert_true(decode < total);
            assert_int_equal(json_integer_value(json_object_get(query, "decode_bytes_read")) > 0, decodes);
            const json_t *step = json_array_get(json_object_get(query, "steps"), 0);
            assert_string_equal(json_string_value(json_object_get(step, "step")), "decode");
            assert_true(json_number_value(json_object_get(step, "median_ms")) == decode);
        }
        json_decref(root);
    }
    assert_runs("$T ssb compare --db $D/db --device cpu --staged --repeat 1 --warmup 0 --query q1.1 --codecs "
                "plain,auto",
                0);
    assert_non_null(strstr(run.output, "Staged:   columns are decoded into scratch memory"));
    assert_runs(
        "$T sql --db $D/db --device cpu --staged --timer \"explain select sum(lo_revenue) from lineorder\"",
        0);
    assert_non_null(strstr(run.output, " decoded first, "));
    assert_non_null(strstr(run.errors, "(decoding "));
}

static void every_instruction_set_answers_as_sqlite_does(void **state)
{
    (void)state;
    static const char *const levels[] = {"baseline", "avx2", "avx512"};
    for (int i = 0; i < 3; i++) {
        setenv("TESSERA_ISA", levels[i], 1);
        assert_runs("$T ssb compare --db $D/db --device cpu --repeat 1 --warmup 0 --format csv "
                    "--codecs plain,gpu-rfor,lane-for",
                    0);
        assert_int_equal(lines_with("ok"), 3 * QUERIES);
        assert_null(strstr(run.errors, "loaded")); /* the second run does not load SQLite again */
    }
    unsetenv("TESSERA_ISA");
}

static void a_codec_for_each_column_and_threads_change_no_answer(void **state)
{
    (void)state;
    assert_runs("$T ssb run --db $D/db --device cpu --threads 1 --repeat 2 --format csv "
                "--codec lo_orderdate=rank-rle,lo_revenue=plain,lo_discount=gpu-for",
                0);
    assert_int_equal(lines_with("ok"), QUERIES);
    assert_runs("$T ssb run --db $D/db --device cpu --threads 7 --format csv --query Q1.1,q11,q43", 0);
    assert_int_equal(lines_with("ok"), 2); /* q11 is another name of q1.1 */
}

static void a_wrong_answer_is_named_and_ends_with_1(void **state)
{
    (void)state;
    edit_reference("UPDATE answer_cell SET value = value + 1 WHERE row = 2 AND column = 0 AND answer ="
                   " (SELECT id FROM answer WHERE statement LIKE '%MFGR#12%')");
    assert_runs("$T ssb run --db $D/db --device cpu --repeat 2 --format csv", 1);
    assert_int_equal(lines_with("ok"), QUERIES - 1);
    assert_int_equal(lines_with("wrong"), 1);
    assert_non_null(strstr(run.errors, "q2.1 is wrong: row 3, column lo_revenue: SQLite answers "));
    assert_non_null(strstr(run.errors, "1 of 13 answers are wrong: q2.1 (auto)"));
    edit_reference("DELETE FROM answer_cell WHERE row = 2 AND answer ="
                   " (SELECT id FROM answer WHERE statement LIKE '%MFGR#12%')");
    assert_runs("$T ssb run --db $D/db --device cpu --query q2.1", 1);
    assert_non_null(strstr(run.output, "wrong"));
    edit_reference("DELETE FROM answer WHERE statement LIKE '%MFGR#12%'"); /* so that SQLite is asked again */
    assert_runs("$T ssb run --db $D/db --device cpu --query q2.1 --format csv", 0);
    assert_int_equal(lines_with("ok"), 1);
}

static void other_judges(void **state)
{
    (void)state;
    assert_runs("$T ssb compare --db $D/db --device cpu --verify plain --codecs plain,gpu-star --repeat 1 "
                "--format csv",
                0);
    assert_int_equal(lines_with("ok"), QUERIES);
    assert_int_equal(lines_with("skipped"), QUERIES); /* the codec is plain itself */
    assert_runs("$T ssb run --db $D/db --device cpu --verify none --repeat 1 --format csv", 0);
    assert_int_equal(lines_with("skipped"), QUERIES);
    assert_runs("mv $D/db/ssb.json $D/ && $T ssb run --db $D/db --device cpu --codec lane-for --format csv",
                0);
    assert_int_equal(lines_with("ok"), QUERIES);
    assert_non_null(strstr(run.errors, "compared with the plain codec's, not with SQLite's"));
    assert_runs("$T ssb run --db $D/db --device cpu --verify sqlite --query q1.1", 2);
    assert_runs("mv $D/ssb.json $D/db/", 0);
}

static void json_and_answer_files_agree(void **state)
{
    (void)state;
    static const char *const headers[QUERIES] = {"revenue",
                                                 "revenue",
                                                 "revenue",
                                                 "lo_revenue,d_year,p_brand1",
                                                 "lo_revenue,d_year,p_brand1",
                                                 "lo_revenue,d_year,p_brand1",
                                                 "c_nation,s_nation,d_year,revenue",
                                                 "c_city,s_city,d_year,revenue",
                                                 "c_city,s_city,d_year,revenue",
                                                 "c_city,s_city,d_year,revenue",
                                                 "d_year,c_nation,profit",
                                                 "d_year,s_nation,p_category,profit",
                                                 "d_year,s_city,p_brand1,profit"};
    assert_runs("$T ssb run --db $D/db --device cpu --repeat 3 --warmup 0 --answers $D/answers --format json",
                0);
    json_t *root = json_loads(run.output, 0, NULL);
    assert_non_null(root);
    assert_string_equal(json_string_value(json_object_get(root, "database")), database);
    assert_true(json_number_value(json_object_get(root, "scale_factor")) == 0.05);
    const json_t *list = json_object_get(root, "queries");
    assert_int_equal(json_array_size(list), QUERIES);
    for (size_t q = 0; q < QUERIES; q++) {
        const json_t *query = json_array_get(list, q);
        const char *name = json_string_value(json_object_get(query, "query"));
        char path[PATH_BYTES + 64], hash[17], text[65536];
        snprintf(path, sizeof path, "%s/answers/q%c%c.csv", getenv("D"), name[1], name[3]);
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        size_t bytes = fread(text, 1, sizeof text, file), lines = 0;
        fclose(file);
        snprintf(hash, sizeof hash, "%016" PRIx64, (uint64_t)XXH3_64bits(text, bytes));
        assert_string_equal(json_string_value(json_object_get(query, "result_hash")), hash);
        assert_int_equal(strncmp(text, headers[q], strlen(headers[q])), 0);
        assert_int_equal(text[strlen(headers[q])], '\n');
        for (size_t i = 0; i < bytes; i++)
            lines += text[i] == '\n';
        assert_int_equal(json_integer_value(json_object_get(query, "answer_rows")), lines - 1);
        assert_int_equal(json_integer_value(json_object_get(query, "rows")), 299814);
        assert_true(json_integer_value(json_object_get(query, "bytes_read")) > 0);
        assert_true(json_number_value(json_object_get(query, "sqlite_ms")) > 0);
        assert_string_equal(json_string_value(json_object_get(query, "codec")), "auto");
        assert_string_equal(json_string_value(json_object_get(query, "check")), "ok");
        const json_t *times = json_object_get(query, "total_ms"), *runs = json_object_get(times, "runs");
        assert_int_equal(json_array_size(runs), 3);
        for (size_t i = 0; i < 3; i++)
            assert_true(json_number_value(json_array_get(runs, i)) >=
                        json_number_value(json_object_get(times, "min")));
    }
    json_decref(root);
}

/* With one run, each median is that run's time, so the steps add up to the query's time, except for
 * rounding. */
static void a_profile_accounts_for_all_the_time(void **state)
{
    (void)state;
    static const char *const names[] = {"filter", "scan", "merge"};
    assert_runs("$T ssb run --db $D/db --device cpu --threads 3 --repeat 1 --profile --format json", 0);
    json_t *root = json_loads(run.output, 0, NULL);
    const json_t *list = json_object_get(root, "queries");
    const double ceiling = json_number_value(json_object_get(root, "read_ceiling_gb_per_second"));
    assert_int_equal(json_array_size(list), QUERIES);
    for (size_t q = 0; q < QUERIES; q++) {
        const json_t *query = json_array_get(list, q), *steps = json_object_get(query, "steps");
        double sum = 0,
               total = json_number_value(json_object_get(json_object_get(query, "total_ms"), "median"));
        assert_int_equal(json_array_size(steps), 3);
        for (size_t s = 0; s < 3; s++) {
            const json_t *step = json_array_get(steps, s);
            const double ms = json_number_value(json_object_get(step, "median_ms")),
                         rate = json_number_value(json_object_get(step, "gb_per_second")),
                         bytes = (double)json_integer_value(json_object_get(step, "bytes"));
            assert_string_equal(json_string_value(json_object_get(step, "step")), names[s]);
            assert_true(json_integer_value(json_object_get(step, "rows")) > 0);
            assert_true(ms > 0 && bytes > 0);
            assert_true(fabs(rate - bytes / ms * 1e-6) < 1e-6 * rate);
            assert_true(fabs(json_number_value(json_object_get(step, "percent_of_ceiling")) -
                             100 * rate / ceiling) < 1e-5 * 100 * rate / ceiling);
            sum += ms;
        }
        assert_true(fabs(sum - total) < 1e-5 * total);
        const json_t *filter = json_array_get(steps, 0), *scan = json_array_get(steps, 1);
        assert_int_equal(json_integer_value(json_object_get(scan, "rows")), 299814);
        assert_int_equal(json_integer_value(json_object_get(scan, "bytes")),
                         json_integer_value(json_object_get(query, "bytes_read")));
        if (q < 3) /* flight 1 filters the dates only */
            assert_in_range(json_integer_value(json_object_get(filter, "rows")), 2556, 2557);
    }
    json_decref(root);
    assert_runs("$T ssb run --db $D/db --device cpu --threads 1 --query q3.1 --profile", 0);
    assert_non_null(strstr(run.output, "q3.1   auto   merge        0    0.000"));
    assert_runs("$T ssb run --db $D/db --device cpu --query q3.1", 0);
    assert_null(strstr(run.output, "merge"));
}

/* Every report of a run on several devices: right answers, all devices' names, and a merge. */
static void several_devices_are_reported(void **state)
{
    (void)state;
    assert_runs(
        "$T ssb run --db $D/db --device cpu,cpu,cpu --threads 6 --repeat 2 --profile --format json --report "
        "$D/several.html",
        0);
    json_t *root = json_loads(run.output, 0, NULL);
    const json_t *list = json_object_get(root, "queries");
    const char *device = json_string_value(json_object_get(root, "device"));
    assert_int_equal(strncmp(device, "3 x CPU (cpu,cpu,cpu), 6 threads, ", 34), 0);
    assert_int_equal(json_array_size(list), QUERIES);
    for (size_t q = 0; q < QUERIES; q++) {
        const json_t *query = json_array_get(list, q);
        assert_string_equal(json_string_value(json_object_get(query, "check")), "ok");
        assert_string_equal(json_string_value(json_object_get(query, "device")), device);
        assert_int_equal(json_array_size(json_object_get(query, "steps")), 3);
        assert_true(json_integer_value(json_object_get(query, "bytes_read")) > 0);
    }
    json_decref(root);
    assert_runs("grep -c '3 x CPU (cpu,cpu,cpu), 6 threads' $D/several.html", 0);
    assert_runs("$T ssb compare --db $D/db --device cpu,cpu --repeat 1 --codecs plain,auto --format csv", 0);
    assert_int_equal(lines_with("ok"), 2 * QUERIES);
    assert_runs("$T ssb run --db $D/db --device cpu,cuda --query q1.1", 2);
    assert_non_null(strstr(run.errors, "'cpu,cuda' names a CPU and a GPU"));
    assert_runs("$T lab widths --device cpu,cpu --scale 0.001", 2);
    assert_non_null(strstr(run.errors, "'cpu,cpu' names 2 devices"));
}

/* With 255 dates six queries find no rows; NULL or no rows are the right answers then. */
static void a_short_date_table_drops_rows_as_sql_does(void **state)
{
    (void)state;
    assert_runs("$T ssb load --sf 0.05 --date-table classic --dangling null --db $D/classic", 0);
    assert_runs(
        "$T ssb run --db $D/classic --device cpu --repeat 1 --format csv --answers $D/classic-answers", 0);
    assert_int_equal(lines_with("ok"), QUERIES);
    assert_runs("cat $D/classic-answers/q11.csv $D/classic-answers/q12.csv", 0);
    assert_string_equal(run.output, "revenue\n\nrevenue\n\n"); /* there are no dates of 1993 and 1994: NULL */
}

static void a_database_from_text_is_checked_with_the_text(void **state)
{
    (void)state;
    assert_runs("$T ssb generate --sf 0.02 --variant crystal --mode all --out $D/tables && "
                "$T ssb load --from $D/tables --db $D/text",
                0);
    assert_runs("$T ssb run --db $D/text --device cpu --repeat 1 --format csv", 0);
    assert_int_equal(lines_with("ok"), QUERIES);
    /* Add a row to a file: the files no longer have the rows that were loaded. */
    assert_runs("sed -n '$p' $D/tables/lineorder.tbl >>$D/tables/lineorder.tbl && "
                "$T ssb run --db $D/text --device cpu --repeat 1",
                1);
    assert_non_null(strstr(run.errors, "load it again"));
}

static void what_bad_usage_gets(void **state)
{
    (void)state;
    static const struct {
        const char *arguments;
        int exit_code;
        const char *words;
    } cases[] = {
        {"run", 2, "--db is missing"},
        {"run --db /nowhere/db", 2, "/nowhere/db"},
        {"run --db $D/db --query q5.1", 2,
         "query 'q5.1' does not exist; give all, or some of q1.1, q1.2, q1.3, q2.1, q2.2, q2.3, q3.1, q3.2, "
         "q3.3, q3.4, q4.1, q4.2, q4.3"},
        {"run --db $D/db --query q1.1,,q1.2", 2, "query '' does not exist"},
        {"run --db $D/db --verify oracle", 2, "--verify 'oracle' does not exist; give sqlite, plain or none"},
        {"run --db $D/db --format xml", 2, "--format 'xml' does not exist; give table, csv or json"},
        {"run --db $D/db --repeat 0", 2, "--repeat '0' is not a number from 1 to 1000000"},
        {"run --db $D/db --repeat -1", 2, "--repeat '-1' is not"},
        {"run --db $D/db --warmup few", 2, "--warmup 'few' is not a number from 0 to 1000000"},
        {"run --db $D/db --threads 0", 2, "--threads '0' is not"},
        {"run --db $D/db --device tpu", 2, "tpu"},
        {"run --db $D/db --codec zip", 2, "zip"},
        {"run --db $D/db --codec lo_nothing=plain", 2, "lo_nothing"},
        {"run --db $D/db --query q1.1 --device cpu --answers /nowhere/answers", 2, "/nowhere/answers"},
        {"compare --db $D/db --codecs plain,zip", 2, "zip"},
        {"compare --db $D/db --codecs plain,plain", 2, "--codecs names plain twice"},
        {"compare --db $D/db extra", 2, ""},
        {"compare --db $D/db --profile", 2, ""},
        {"run --db $D/db --query q1.1 --device cpu >/dev/full", 3, "standard output"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char shell[256];
        snprintf(shell, sizeof shell, "$T ssb %s", cases[i].arguments);
        assert_runs(shell, cases[i].exit_code);
        if (!strstr(run.errors, cases[i].words))
            fail_msg("%s: %s", shell, run.errors);
        assert_string_equal(run.output, "");
    }
}

static void cuda_without_a_gpu_cannot(void **state)
{
    (void)state;
    assert_runs("CUDA_VISIBLE_DEVICES= $T ssb run --db $D/db --query q1.1 --device cuda", 3);
    assert_string_equal(run.output, "");
    assert_runs("CUDA_VISIBLE_DEVICES= $T ssb run --db $D/db --query q1.1", 0);
    assert_int_equal(strncmp(run.output, "Device:   CPU", 13), 0);
    assert_non_null(strstr(run.output, "no GPU"));
}

static void reports_are_pages_beside_what_is_printed(void **state)
{
    static char text[1 << 20];
    struct xml xml;
    (void)state;
    static const char *const commands[] = {"run --codec gpu-for --profile", "run --staged --query q2.1",
                                           "compare --codecs plain,auto"};
    for (int i = 0; i < 3; i++) {
        char command[256];
        snprintf(command, sizeof command,
                 "$T ssb %s --db $D/db --device cpu --repeat 3 --report $D/page.html", commands[i]);
        assert_runs(command, 0);
        assert_int_equal(strncmp(run.output, "Device:   CPU", 13), 0);
        snprintf(command, sizeof command, "%s/page.html", getenv("D"));
        FILE *const file = fopen(command, "r");
        assert_non_null(file);
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
        if (!well_formed(text, &xml))
            fail_msg("%s", xml.why);
        assert_non_null(strstr(text, "<h2>Runtimes</h2>"));
        assert_non_null(strstr(text, "lo_revenue"));
        assert_true((strstr(text, "lo_shipmode") != NULL) == (i == 2)); /* no query reads it */
        assert_true((strstr(text, "<h2>Steps</h2>") != NULL) == (i == 0));
    }
    assert_runs("$T ssb run --db $D/db --report $D/no/page.html", 2);
    assert_string_equal(run.output, "");
    assert_non_null(strstr(run.errors, "/no/page.html"));
}

/* Q1.1 of the rows that are left is that of all but the order of a month; SQLite has all rows, and is not asked. */
static void deleted_rows_are_left_out(void **state)
{
    char left[64];
    (void)state;
    assert_runs("$T ssb load --sf 0.02 --db $D/deleted", 0);
    assert_runs("$T sql --db $D/deleted --device cpu --format csv \"select sum(lo_extendedprice * "
                "lo_discount) from lineorder, "
                "date where lo_orderdate = d_datekey and d_year = 1993 and lo_discount between 1 and 3 and "
                "lo_quantity < 25 and "
                "not lo_orderdate between 19930501 and 19930531\"",
                0);
    snprintf(left, sizeof left, "%s", strchr(run.output, '\n') + 1);
    assert_runs("$T delete --db $D/deleted lineorder \"lo_orderdate between 19930501 and 19930531\"", 0);
    assert_runs("$T ssb run --db $D/deleted --device cpu --repeat 1 --format csv --answers $D/left", 0);
    assert_int_equal(lines_with("ok"), QUERIES);
    assert_non_null(strstr(run.errors, "rows of lineorder were deleted"));
    assert_runs("tail -1 $D/left/q11.csv", 0);
    assert_string_equal(run.output, left);
    assert_runs("$T ssb run --db $D/deleted --device cpu --verify sqlite", 2);
    assert_non_null(strstr(run.errors, "use --verify plain"));
}

static void help_says_what_there_is(void **state)
{
    (void)state;
    assert_runs("$T ssb run --help", 0);
    assert_non_null(strstr(run.output, "--answers=DIR"));
    assert_non_null(strstr(run.output, "--profile"));
    assert_non_null(strstr(run.output, "--report=FILE.html"));
    assert_runs("$T ssb compare --help", 0);
    assert_non_null(strstr(run.output, "--codecs=NAME,..."));
    assert_runs("$T ssb --help", 0);
    assert_non_null(strstr(run.output, "ssb compare"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_codec_answers_as_sqlite_does),
        cmocka_unit_test(indexed_queries_answer_as_sqlite_does),
        cmocka_unit_test(staged_queries_answer_as_sqlite_does),
        cmocka_unit_test(every_instruction_set_answers_as_sqlite_does),
        cmocka_unit_test(a_codec_for_each_column_and_threads_change_no_answer),
        cmocka_unit_test(a_wrong_answer_is_named_and_ends_with_1),
        cmocka_unit_test(other_judges),
        cmocka_unit_test(json_and_answer_files_agree),
        cmocka_unit_test(a_profile_accounts_for_all_the_time),
        cmocka_unit_test(several_devices_are_reported),
        cmocka_unit_test(a_short_date_table_drops_rows_as_sql_does),
        cmocka_unit_test(a_database_from_text_is_checked_with_the_text),
        cmocka_unit_test(deleted_rows_are_left_out),
        cmocka_unit_test(what_bad_usage_gets),
        cmocka_unit_test(cuda_without_a_gpu_cannot),
        cmocka_unit_test(reports_are_pages_beside_what_is_printed),
        cmocka_unit_test(help_says_what_there_is),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
