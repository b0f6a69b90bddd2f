/* test_bad_input.c: what `tessera ssb load` says about input that is no good: one sentence with the place and
 * what to do, the right exit code, and nothing half-written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/run_program.h"

#include <stdbool.h>
#include <sys/stat.h>

static char folder[128]; /* below $TMPDIR */
static struct program_run run;

/* Runs a shell command in the folder: $T is the program, tbl the five files of SF 0.001. */
static void shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void shell(const char *format, ...)
{
    char command[2048], whole[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    snprintf(whole, sizeof whole, "cd %s && %s", folder, command);
    run_shell(whole, &run);
}

static bool exists(const char *name)
{
    char path[256];
    struct stat info;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return stat(path, &info) == 0;
}

static void assert_failure(int exit_code, const char *sentence)
{
    if (run.exit_code != exit_code || !strstr(run.errors, sentence))
        fail_msg("expected exit code %d and \"%s\"\n but got exit code %d and %s", exit_code, sentence,
                 run.exit_code, run.errors);
    const char *end = strchr(run.errors, '\n');
    assert_true(end && end[1] == '\0'); /* one sentence */
    assert_memory_equal(run.errors, "tessera: ", 9);
    assert_string_equal(run.output, "");
}

/* `edit` changes the copy of the files in `bad`; loading them must fail with that sentence and leave no
 * database. */
static void refused(const char *edit, const char *sentence)
{
    shell("rm -rf bad bad.db && cp -r tbl bad && cd bad && %s", edit);
    assert_int_equal(run.exit_code, 0);
    shell("$T ssb load --from bad --db bad.db");
    assert_failure(2, sentence);
    assert_false(exists("bad.db"));
}

static void rows_that_are_no_rows(void **state)
{
    (void)state;
    refused("sed -i '17s/^\\([^|]*|[^|]*|\\).*/\\1/' lineorder.tbl",
            "bad/lineorder.tbl:17: the row has 2 fields instead of 17: it ends with ");
    refused("sed -i '17s/$/7|/' lineorder.tbl", "bad/lineorder.tbl:17: the row has 18 fields instead of 17: "
                                                "it goes on with '7|' behind column lo_shipmode");
    refused("sed -i '17s/.*//' lineorder.tbl",
            "bad/lineorder.tbl:17: the row is empty: it must have 17 fields");
    refused("head -c -3 lineorder.tbl >l && mv l lineorder.tbl",
            "the row lacks the delimiter that ends the first row: it ends with '");
    refused("sed -i '2s/|/|\\x00/' supplier.tbl",
            "bad/supplier.tbl:2: the row has a NUL byte: it is byte 3 of it");
    refused("head -c 400000 /dev/zero | tr '\\0' x >>date.tbl",
            "bad/date.tbl:2558: the row has 1 field instead of 17: it ends with 'xxxxx");
    refused("head -c 100000 /dev/urandom >part.tbl", "bad/part.tbl:");
}

static void numbers_that_are_no_numbers(void **state)
{
    (void)state;
    refused("sed -i '5s/^[0-9]*/1O/' lineorder.tbl",
            "bad/lineorder.tbl:5: column lo_orderkey: '1O' is no whole number");
    refused("sed -i '3s/^3|/3.5|/' customer.tbl",
            "bad/customer.tbl:3: column c_custkey: '3.5' is no whole number");
    refused("sed -i '3s/^3|/|/' customer.tbl", "bad/customer.tbl:3: column c_custkey: '' is no whole number");
    refused("sed -i '9s/^9|/99999999999|/' part.tbl",
            "bad/part.tbl:9: column p_partkey: '99999999999' is out of range: the column holds -2147483648 "
            "to 2147483647; "
            "correct the row");
    refused("sed -i '5s/^[0-9]*/99999999999999999999/' lineorder.tbl",
            "bad/lineorder.tbl:5: column lo_orderkey: '99999999999999999999' is out of range");
}

static void keys_that_find_nothing(void **state)
{
    (void)state;
    refused("sed -i '6s/^\\([^|]*|[^|]*|\\)[^|]*/\\1777/' lineorder.tbl",
            "bad/lineorder.tbl:6: column lo_custkey: no row of table customer has c_custkey '777' "
            "(--dangling null stores NULL for such keys); correct the row");
    refused("sed -i '8s/^\\([^|]*|[^|]*|[^|]*|[^|]*|\\)[^|]*/\\1-1/' lineorder.tbl",
            "bad/lineorder.tbl:8: column lo_suppkey: no row of table supplier has s_suppkey '-1' ");
    refused("sed -i \"/^$(head -1 lineorder.tbl | cut -d'|' -f6)/d\" date.tbl",
            "bad/lineorder.tbl:1: column lo_orderdate: no row of table date has d_datekey '19");
    shell("$T ssb load --from bad --db bad.db --dangling null");
    assert_int_equal(run.exit_code, 0);
    shell("$T ssb load --sf 0.001 --date-table classic --db classic.db");
    assert_failure(2, "(--dangling null stores NULL for such keys)");
    assert_false(exists("classic.db"));
}

static void keys_that_come_twice(void **state)
{
    (void)state;
    refused("sed -i '150s/^150|/7|/' part.tbl",
            "bad/part.tbl:150: table part, column p_partkey: the key '7' is that of bad/part.tbl:7 already");
    refused("head -1 date.tbl >>date.tbl", "bad/date.tbl:2558: table date, column d_datekey: the key "
                                           "'19920101' is that of bad/date.tbl:1 already");
}

static void files_that_are_missing_or_empty(void **state)
{
    (void)state;
    refused("rm supplier.tbl", "bad/supplier.tbl is missing; `tessera ssb generate");
    refused(": >lineorder.tbl", "bad/lineorder.tbl is empty");
    refused("rm date.tbl && mkdir date.tbl", "bad/date.tbl: is a folder; name its files");
    shell("$T ssb load --from nowhere --db bad.db");
    assert_failure(2, "nowhere");
    assert_false(exists("bad.db"));
}

static void options_that_make_no_sense(void **state)
{
    (void)state;
    const char *const cases[][2] = {
        {"--sf 0 --db o.db", "0"},
        {"--sf -1 --db o.db", "-1"},
        {"--sf nan --db o.db", "nan"},
        {"--sf inf --db o.db", "inf"},
        {"--sf ten --db o.db", "ten"},
        {"--sf 1e9 --db o.db", "1e9"},
        {"--sf 0.001", "--db is missing"},
        {"--sf 0.001 --db o.db --codec gzip", "gzip"},
        {"--sf 0.001 --db o.db --codec lo_nothing=plain", "lo_nothing"},
        {"--sf 0.001 --db o.db --dangling maybe", "--dangling 'maybe'"},
        {"--sf 0.001 --db o.db --mode both", "both"},
        {"--sf 0.001 --db o.db --variant tpch", "tpch"},
        {"--sf 0.001 --db o.db --date-table short", "short"},
        {"--sf 0.001 --db o.db --threads 0", "--threads '0'"},
        {"--sf 0.001 --db no/such/place.db", "no/such/place.db"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        shell("$T ssb load %s", cases[i][0]);
        assert_failure(2, cases[i][1]);
        assert_false(exists("o.db"));
    }
    shell("$T ssb load --no-such-option");
    assert_int_equal(run.exit_code, 2);
    shell("$T ssb load --sf 0.001 --db o.db surplus");
    assert_int_equal(run.exit_code, 2);
    assert_false(exists("o.db"));
}

static void directories_that_are_no_place_for_a_database(void **state)
{
    (void)state;
    shell("mkdir full && echo hello >full/mine && $T ssb load --sf 0.001 --db full");
    assert_failure(2, "full is no database and is not empty");
    shell("test \"$(ls full)\" = mine");
    assert_int_equal(run.exit_code, 0);
    shell("$T ssb load --sf 0.001 --db full/mine");
    assert_failure(2, "full/mine is a file");
    shell("test \"$(cat full/mine)\" = hello");
    assert_int_equal(run.exit_code, 0);
    shell("$T ssb load --sf 0.001 --db none/such");
    assert_failure(2, "none/such (create its parent first)");
    shell("mkdir empty && $T ssb load --sf 0.001 --db empty --codec bad");
    assert_failure(2, "bad");
    shell("test -z \"$(ls -A empty)\" && $T ssb load --sf 0.001 --db empty 2>&1 | grep -q lineorder");
    assert_int_equal(run.exit_code, 0);
}

static void a_database_that_exists_stays(void **state)
{
    (void)state;
    shell("$T ssb load --sf 0.001 --db there.db && find there.db -type f | sort | xargs sha256sum >before");
    assert_int_equal(run.exit_code, 0);
    shell("$T ssb load --sf 0.002 --db there.db");
    assert_failure(2, "there.db is a database already");
    shell("$T ssb load --from bad --db there.db --force --codec auto --dangling error");
    assert_failure(2, "bad/");
    shell("find there.db -type f | sort | xargs sha256sum | cmp - before");
    assert_int_equal(run.exit_code, 0);
}

/* A file size limit ends writing as a full disk does, but for everyone's disk. */
static void a_disk_that_is_full(void **state)
{
    (void)state;
    for (int kilobytes = 1; kilobytes <= 256; kilobytes *= 16) {
        shell("ulimit -f %d; exec $T ssb load --sf 0.1 --db big.db --codec plain", kilobytes);
        assert_failure(3, "big.db");
        assert_false(exists("big.db"));
    }
}

static int make_folder(void **state)
{
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/tessera-bad-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(folder))
        return -1;
    shell("$T ssb generate --sf 0.001 --out tbl");
    if (run.exit_code != 0)
        fprintf(stderr, "%s", run.errors);
    return run.exit_code;
}

static int remove_folder(void **state)
{
    (void)state;
    shell("rm -rf %s", folder);
    return run.exit_code;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_that_are_no_rows),
        cmocka_unit_test(numbers_that_are_no_numbers),
        cmocka_unit_test(keys_that_find_nothing),
        cmocka_unit_test(keys_that_come_twice),
        cmocka_unit_test(files_that_are_missing_or_empty),
        cmocka_unit_test(options_that_make_no_sense),
        cmocka_unit_test(directories_that_are_no_place_for_a_database),
        cmocka_unit_test(a_database_that_exists_stays),
        cmocka_unit_test(a_disk_that_is_full),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
