/*
 * test_load_writers.c: `tessera load` beside other loads, into databases that are damaged or whose catalogue is gone, and
 * with calls that fail: rows that were committed are still there, and the exit code says whether rows were.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/faults.h"
#include "tests/support/load_program.h"

static int make_files(void **state)
{
    setup(state);
    run_shell("cd $D/.. && mkfifo pipe && printf 'CREATE TABLE sales (shop TEXT, pieces INT);"
              "CREATE TABLE shops (name TEXT, city TEXT);' >star.sql && "
              "printf 'A,1\\n' >a.csv && printf 'B,2\\n' >b.csv",
              &run);
    return run.exit_code;
}

static void sales_are(const char *rows)
{
    answer_is("select * from sales", rows);
}

static void must_run(const char *shell)
{
    run_shell(shell, &run);
    if (run.exit_code != 0)
        fail_msg("%s: exit code %d\n%s%s", shell, run.exit_code, run.output, run.errors);
}

/* The one that ends later finds what the first one committed. It stops where it opens --reject, a pipe that nobody reads,
 * and has looked at the directory before. */
static void two_first_loads_at_once(void **state)
{
    (void)state;
    run_shell("cd $D/.. && { $T load --db $D --schema star.sql --reject pipe sales=b.csv & } && sleep 0.3 && "
              "$T load --db $D --schema star.sql sales=a.csv && cat pipe && wait $!",
              &run);
    assert_int_equal(run.exit_code, 2);
    assert_non_null(strstr(run.errors, "has a table sales already"));
    sales_are("shop,pieces\nA,1\n");
    /* Tables that do not exist are added. */
    must_run("cd $D/.. && rm -r $D && { $T load --db $D --schema star.sql --reject pipe shops=b.csv & } && "
             "sleep 0.3 && $T load --db $D --schema star.sql sales=a.csv && cat pipe && wait $!");
    sales_are("shop,pieces\nA,1\n");
    answer_is("select * from shops", "name,city\nB,2\n");
}

/* Rows that were found in a state that is no longer the newest one are found again. */
static void rows_are_deleted_beside_appends(void **state)
{
    (void)state;
    must_run("cd $D/.. && printf 'C,3\\n' >c.csv && $T load --db $D --schema star.sql sales=c.csv && "
             "{ for i in $(seq 60); do $T load --db $D --append sales=a.csv 2>/dev/null || exit; done & } && "
             "for i in $(seq 60); do $T delete --db $D --device cpu sales \"shop = 'A' AND pieces IN "
             "(SELECT pieces FROM sales)\" || exit; done && wait $! && "
             "$T delete --db $D --device cpu sales \"shop = 'A'\"");
    sales_are("shop,pieces\nC,3\n");
}

static void a_damaged_database_is_not_replaced(void **state)
{
    (void)state;
    load_ends("sales=a.csv shops=b.csv", 0, "2 rows");
    must_run("mv $D/tables/sales/shop.side.1 $D/../away");
    load_ends("sales=b.csv", 2, "has a table sales already");
    load_ends("--append sales=b.csv", 2, "shop.side.1");
    must_run(
        "cp $D/../star.sql $D/../more.sql && echo 'CREATE TABLE other (a TEXT, b INT);' >>$D/../more.sql");
    load_ends("--schema more.sql other=b.csv", 0, "1 row"); /* it needs nothing of the others */
    must_run("cp $D/../away $D/tables/sales/shop.side.1");
    sales_are("shop,pieces\nA,1\n");
    must_run("rm $D/tables/sales/shop.side.1");
    load_ends("--force sales=b.csv", 0, "1 row");
    sales_are("shop,pieces\nB,2\n");
    answer_is("select * from shops", "name,city\nB,2\n");
    must_run("echo 'CREATE TABLE shops (name TEXT PRIMARY KEY, city TEXT);"
             "CREATE TABLE sales (shop TEXT REFERENCES shops, pieces INT);' >$D/../keys.sql");
    load_ends("--schema keys.sql --force shops=b.csv sales=b.csv", 0, "2 rows");
    must_run("mv $D/tables/shops/name.side.* $D/../away");
    load_ends("--schema keys.sql --force sales=b.csv", 2, "name.side"); /* the keys are there */
}

static void files_of_a_missing_catalogue_are_kept(void **state)
{
    static const char *const loads[] = {"sales=none.csv", "--force sales=a.csv", "--append sales=a.csv",
                                        "shops=b.csv"};
    (void)state;
    load_ends("sales=a.csv", 0, "1 row");
    must_run("mv $D/catalogue $D/../away");
    for (int l = 0; l < 4; l++)
        load_ends(loads[l], 2, "catalogue");
    must_run("mv $D/../away $D/catalogue && $T check --db $D");
    sales_are("shop,pieces\nA,1\n");
}

static void a_damaged_catalogue_is_kept(void **state)
{
    (void)state;
    load_ends("sales=a.csv", 0, "1 row");
    must_run("cp $D/catalogue $D/../away && sed -i 's/pieces/places/' $D/catalogue");
    load_ends("sales=b.csv", 1, "remove");
    load_ends("--force sales=b.csv", 1, "remove");
    load_ends("--append sales=b.csv", 1, "catalogue is damaged");
    must_run("mv $D/../away $D/catalogue && $T check --db $D");
    sales_are("shop,pieces\nA,1\n");
}

/* ---- Calls that fail ---- */

#define SALES "$T sql --device cpu --db $D --format csv 'select * from sales'"

static void faults_end(struct faults *faults)
{
    munmap(faults->state, sizeof *faults->state);
    free(faults->before);
}

/* Whatever fails, a load without --force and --append is refused, and the table is what it was. */
static void a_failing_call_replaces_no_table(void **state)
{
    static const struct fault_operation load = {
        .prepare = "$T load --db $D --schema star.sql sales=a.csv shops=b.csv",
        .run = "$T load --db $D --schema star.sql sales=b.csv",
        .observe = SALES};
    static const struct {
        struct fault fault;
        uint64_t most; /* calls that are tried */
    } tries[] = {{{.kinds = "stat", .error = "EIO"}, 100},
                 {{.kinds = "open,list,map", .error = "EIO"}, 30},
                 {{.kinds = "memory", .error = "ENOMEM"}, 20}};
    (void)state;
    for (size_t t = 0; t < sizeof tries / sizeof *tries; t++) {
        struct faults faults = {.operation = &load, .fault = &tries[t].fault};
        faults_map_state(&faults);
        faults_prepare(&faults);
        faults_try(&faults, 0);
        const uint64_t calls = atomic_load(&faults.state->calls);
        for (uint64_t n = 0; n <= calls; n += calls / tries[t].most + 1) {
            if (n)
                faults_try(&faults, n);
            char *const now = faults_observe(&faults);
            if (faults_run.exit_code == 0 || strcmp(now, faults.before) != 0)
                fail_msg("%s %s %" PRIu64 ": exit code %d\n%s%s", tries[t].fault.kinds, tries[t].fault.error,
                         n, faults_run.exit_code, faults_run.errors, now);
            free(now);
            faults_restore(&faults);
        }
        faults_end(&faults);
    }
}

/* An append is repeated by its script unless exit code 4 says that its rows are there. */
static void an_append_that_may_not_be_on_disk_says_that_it_was_made(void **state)
{
    static const struct fault_operation append = {
        .prepare = "$T load --db $D --schema star.sql sales=a.csv",
        .run = "$T load --db $D --schema star.sql --append sales=b.csv",
        .observe = SALES};
    static const struct fault fault = {.kinds = "sync", .error = "EIO"};
    struct faults faults = {.operation = &append, .fault = &fault};
    unsigned made = 0;
    (void)state;
    faults_map_state(&faults);
    faults_prepare(&faults);
    for (uint64_t n = 1;; n++) {
        faults_try(&faults, n);
        if (!atomic_load(&faults.state->faults))
            break;
        char *const now = faults_observe(&faults);
        const bool visible = strcmp(now, faults.before) != 0;
        made += faults_run.exit_code == 4;
        if (visible != (faults_run.exit_code == 0 || faults_run.exit_code == 4) ||
            (faults_run.exit_code == 4) != (strstr(faults_run.errors, "do not repeat it") != NULL))
            fail_msg("sync %" PRIu64 ": exit code %d\n%s%s", n, faults_run.exit_code, faults_run.errors, now);
        free(now);
        if (faults_run.exit_code == 4) /* what a power cut brings back is whole */
            must_run("test -e $D/tables/sales/shop.side.1 && test -e $D/tables/sales/shop.side.2");
        faults_restore(&faults);
    }
    assert_int_equal(made, 1);
    faults_end(&faults);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(two_first_loads_at_once, make_files, teardown),
        cmocka_unit_test_setup_teardown(rows_are_deleted_beside_appends, make_files, teardown),
        cmocka_unit_test_setup_teardown(a_damaged_database_is_not_replaced, make_files, teardown),
        cmocka_unit_test_setup_teardown(files_of_a_missing_catalogue_are_kept, make_files, teardown),
        cmocka_unit_test_setup_teardown(a_damaged_catalogue_is_kept, make_files, teardown),
        cmocka_unit_test_setup_teardown(a_failing_call_replaces_no_table, make_files, teardown),
        cmocka_unit_test_setup_teardown(an_append_that_may_not_be_on_disk_says_that_it_was_made, make_files,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
