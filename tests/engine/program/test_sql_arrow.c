/*
 * test_sql_arrow.c: Arrow files that COPY writes are the same on any number of threads, what a file and a stream begin and
 * end with, and a failure leaves the old file. pyarrow reads them in test_arrow_written.py.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/load_program.h"

/* Two batches and some rows of a third one. */
#define ROWS 131105

static void begin(void)
{
    char shell[256];
    snprintf(shell, sizeof shell,
             "echo 'CREATE TABLE one (x INT); CREATE TABLE n (i INT);' > star.sql && echo 1 > one.csv && "
             "seq %d > n.csv && rm -rf $D",
             ROWS);
    shell_prints(shell, "");
    load_ends("one=one.csv n=n.csv", 0, "");
}

#define QUERY                                                                                                \
    "select i, case when i %% 3 > 0 then i * 1.25 end as d, case when i %% 4 > 0 then i / 3e0 end as r, "    \
    "i %% 3 = 0 as f, case when i %% 5 > 0 then concat('wörd ', i %% 40) end as word from n where i <= %d " \
    "order by i"

static void files_are_the_same_on_any_number_of_threads(void **state)
{
    static const int rows[] = {0, 1, 31, 1023, 1025, 65536, ROWS};
    static const char *const options[] = {"", "(compression lz4)", "(compression zstd)"};
    char question[1024];
    (void)state;
    begin();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(question, sizeof question, QUERY, rows[i]);
        setenv("Q", question, 1);
        setenv("O", options[i % 3], 1);
        shell_prints(
            "for t in 1 2 7; do $T sql --device cpu --db $D --threads $t \"copy ($Q) to '$t.arrow' $O\" "
            "2>/dev/null || exit 1; done; cmp 1.arrow 2.arrow && cmp 1.arrow 7.arrow",
            "");
    }
}

/* A stream is what a file has between its first 8 bytes and its footer, but for the padding that aligns bodies. */
static void files_and_streams_begin_and_end(void **state)
{
    (void)state;
    begin();
    shell_prints(
        "for f in a.arrow b.feather c.arrows; do $T sql --device cpu --db $D \"copy one to '$f'\" "
        "2>/dev/null; done; cmp a.arrow b.feather; head -c 12 a.arrow | od -An -tx1; tail -c 6 a.arrow; "
        "echo; head -c 4 c.arrows | od -An -tx1; tail -c 8 c.arrows | od -An -tx1",
        " 41 52 52 4f 57 31 00 00 ff ff ff ff\nARROW1\n ff ff ff ff\n ff ff ff ff 00 00 00 00\n");
    shell_prints("$T sql --device cpu --db $D \"copy one to '/dev/stdout' (format arrow)\" 2>/dev/null | "
                 "cmp - a.arrow; $T sql --device cpu --db $D \"copy one to '/dev/stdout' (format arrows)\" "
                 "2>/dev/null | cmp - c.arrows",
                 "");
}

static void failures_leave_the_old_file(void **state)
{
    (void)state;
    begin();
    shell_prints("echo old > o.arrow && (ulimit -f 1; trap '' XFSZ; $T sql --device cpu --db $D \"copy "
                 "(select i * i from n) to "
                 "'o.arrow'\") 2>&1 | grep -o 'cannot be written: .*'; cat o.arrow; ls | grep -c "
                 "partial; true",
                 "cannot be written: File too large\nold\n0\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_the_same_on_any_number_of_threads),
        cmocka_unit_test(files_and_streams_begin_and_end),
        cmocka_unit_test(failures_leave_the_old_file),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
