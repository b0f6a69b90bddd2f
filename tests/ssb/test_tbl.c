/*
 * test_tbl.c: .tbl files are complete or absent, and do not depend on the number of threads. `tessera ssb
 * generate` says in one sentence what is wrong with its options.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "ssb/commands.h"
#include "ssb/data/generator.h"
#include "ssb/options.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* All tests run in it. */
static struct execution execution;

static char root[256]; /* the folder of this run's files */
static struct ssb_generator *generator;

static int set_up(void **state)
{
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(root, sizeof root, "%s/tessera_tbl_XXXXXX", base ? base : "/tmp");
    const struct ssb_options options = {.scale_factor = 0.02, .dates = SSB_DATES_CLASSIC};
    return !mkdtemp(root) || ssb_generator_create(&options, 0, &generator, NULL) != STATUS_OK;
}

static int tear_down(void **state)
{
    (void)state;
    ssb_generator_destroy(generator);
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command);
}

/* A path below root; it stays valid during the next call. */
static const char *below(const char *name)
{
    static char paths[2][400];
    static int turn;
    turn = !turn;
    snprintf(paths[turn], sizeof paths[turn], "%s/%s", root, name);
    return paths[turn];
}

static char *read_file(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("%s is missing", path);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *bytes = (size_t)ftell(file);
    rewind(file);
    char *content = malloc(*bytes + 1);
    assert_non_null(content);
    assert_int_equal(fread(content, 1, *bytes, file), *bytes);
    content[*bytes] = '\0';
    fclose(file);
    return content;
}

static int count_entries(const char *path)
{
    DIR *folder = opendir(path);
    if (!folder)
        return -1;
    int count = -2; /* . and .. */
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static void any_number_of_threads_writes_the_same_file(void **state)
{
    (void)state;
    const uint64_t rows = ssb_rows(generator, SSB_LINEORDER);
    assert_true(rows > 7 * 16384); /* several chunks, the last one partly filled */
    char *expected = malloc(rows * SSB_TEXT_ROW_BYTES);
    assert_non_null(expected);
    const size_t expected_bytes = ssb_format_tbl(generator, SSB_LINEORDER, 0, rows, expected);
    const unsigned threads[] = {1, 2, 3, 8, 100, 0};
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        struct error error = {0};
        if (ssb_write_tbl(generator, SSB_LINEORDER, below("threads"), threads[i], NULL, &error) != STATUS_OK)
            fail_msg("%s", error.text);
        size_t bytes;
        char *written = read_file(below("threads/lineorder.tbl"), &bytes);
        assert_int_equal(bytes, expected_bytes);
        assert_memory_equal(written, expected, bytes);
        free(written);
        assert_int_equal(count_entries(below("threads")), 1);
    }
    free(expected);
}

static void a_longer_file_is_replaced_whole(void **state)
{
    (void)state;
    assert_int_equal(mkdir(below("replaced"), 0777), 0);
    FILE *file = fopen(below("replaced/date.tbl"), "w");
    assert_non_null(file);
    for (int i = 0; i < 100000; i++)
        fputs("old row|\n", file);
    fclose(file);
    assert_int_equal(ssb_write_tbl(generator, SSB_DATE, below("replaced"), 0, NULL, NULL), STATUS_OK);
    size_t bytes;
    char *written = read_file(below("replaced/date.tbl"), &bytes);
    assert_null(strstr(written, "old"));
    assert_memory_equal(
        written, "19920101|January 1, 1992|Thursday|January|1992|199201|Jan1992|5|1|1|1|1|Winter|0|0|1|1|\n",
        88);
    free(written);
}

struct seen {
    uint64_t last, total;
    int reports;
    int cancel_at; /* cancels at this report */
};

static void see(struct progress *progress, const char *what, const char *unit, uint64_t done, uint64_t total)
{
    struct seen *seen = progress->context;
    if (strcmp(what, "storing") == 0)
        return;
    assert_string_equal(what, "lineorder");
    assert_string_equal(unit, "rows");
    assert_true(done > seen->last && done <= total);
    seen->last = done;
    seen->total = total;
    if (++seen->reports == seen->cancel_at)
        execution_stop(&execution);
}

static void progress_counts_all_rows(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct progress progress = {.report = see, .context = &seen};
    assert_int_equal(ssb_write_tbl(generator, SSB_LINEORDER, below("progress"), 3, &progress, NULL),
                     STATUS_OK);
    assert_int_equal(seen.last, ssb_rows(generator, SSB_LINEORDER));
    assert_int_equal(seen.total, seen.last);
}

static void cancelling_leaves_nothing(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 4; threads++) {
        struct seen seen = {.cancel_at = 2};
        struct progress progress = {.report = see, .context = &seen};
        struct error error = {0};
        assert_int_equal(
            ssb_write_tbl(generator, SSB_LINEORDER, below("cancelled"), threads, &progress, &error),
            STATUS_INTERRUPTED);
        execution_resume(&execution);
        assert_int_equal(error.status, STATUS_INTERRUPTED);
        assert_int_equal(count_entries(below("cancelled")), -1); /* the folder was new */
    }
}

static void cancelling_leaves_the_file_that_was_there(void **state)
{
    (void)state;
    assert_int_equal(ssb_write_tbl(generator, SSB_DATE, below("kept"), 0, NULL, NULL), STATUS_OK);
    execution_stop(&execution);
    assert_int_equal(ssb_write_tbl(generator, SSB_DATE, below("kept"), 0, NULL, NULL), STATUS_INTERRUPTED);
    execution_resume(&execution);
    assert_int_equal(count_entries(below("kept")), 1);
    assert_int_equal(access(below("kept/date.tbl"), R_OK), 0);
}

/* A limit on the length of files simulates a full disk: one write is short, the next one fails. */
static void a_full_disk_is_the_machines_fault_and_leaves_nothing(void **state)
{
    (void)state;
    struct rlimit limit, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small = limit;
    small.rlim_cur = 5000000;
    void (*old)(int) = signal(SIGXFSZ, SIG_IGN);
    for (unsigned threads = 1; threads <= 4; threads++) {
        struct error error = {0};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        const enum status status =
            ssb_write_tbl(generator, SSB_LINEORDER, below("full"), threads, NULL, &error);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        assert_int_equal(status, STATUS_MACHINE);
        assert_non_null(strstr(error.text, below("full/lineorder.tbl")));
        assert_int_equal(count_entries(below("full")), -1);
    }
    signal(SIGXFSZ, old);
}

static void a_folder_that_cannot_be_is_named(void **state)
{
    (void)state;
    struct error error = {0};
    assert_int_equal(ssb_write_tbl(generator, SSB_DATE, below("missing/inner"), 0, NULL, &error),
                     STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, below("missing/inner")));
    FILE *file = fopen(below("plain"), "w");
    assert_non_null(file);
    fclose(file);
    assert_int_equal(ssb_write_tbl(generator, SSB_DATE, below("plain"), 0, NULL, &error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, below("plain")));
    char *long_path = malloc(6000);
    memset(long_path, 'a', 5999);
    long_path[5999] = '\0';
    assert_int_equal(ssb_write_tbl(generator, SSB_DATE, long_path, 0, NULL, &error), STATUS_BAD_INPUT);
    free(long_path);
    /* A directory has the name of the file, so the last step (the rename) fails. */
    assert_int_equal(mkdir(below("blocked"), 0777), 0);
    assert_int_equal(mkdir(below("blocked/date.tbl"), 0777), 0);
    assert_int_equal(ssb_write_tbl(generator, SSB_DATE, below("blocked"), 0, NULL, &error), STATUS_BAD_INPUT);
    assert_int_equal(count_entries(below("blocked")), 1);
}

static void a_second_writer_of_the_same_file_is_refused(void **state)
{
    (void)state;
    assert_int_equal(mkdir(below("locked"), 0777), 0);
    const int other = open(below("locked/date.tbl.partial"), O_RDWR | O_CREAT, 0666);
    assert_true(other >= 0);
    assert_int_equal(flock(other, LOCK_EX), 0);
    struct error error = {0};
    assert_int_equal(ssb_write_tbl(generator, SSB_DATE, below("locked"), 0, NULL, &error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "another process"));
    close(other);
    /* The partial file of a killed process is reused. */
    assert_int_equal(ssb_write_tbl(generator, SSB_DATE, below("locked"), 0, NULL, &error), STATUS_OK);
    assert_int_equal(count_entries(below("locked")), 1);
}

/* ---- The command ---- */

static enum status command(struct error *error, const char *const *words)
{
    char *argv[16] = {(char *)"tessera ssb generate"};
    int argc = 1;
    for (; words[argc - 1]; argc++)
        argv[argc] = (char *)words[argc - 1];
    /* The command's standard error is for people; keep it out of the test's output. */
    fflush(stderr);
    const int saved = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY);
    dup2(null, STDERR_FILENO);
    const enum status status = ssb_generate_command(argc, argv, NULL, error);
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(null);
    return status;
}
#define COMMAND(error, ...) command(error, (const char *const[]){__VA_ARGS__, NULL})

static void the_command_writes_the_tables_asked_for(void **state)
{
    (void)state;
    struct error error = {0};
    assert_int_equal(COMMAND(&error, "--sf", "0.01", "--out", below("command")), STATUS_OK);
    assert_int_equal(count_entries(below("command")), 5);
    size_t bytes;
    char *dates = read_file(below("command/date.tbl"), &bytes);
    assert_int_equal(bytes, 229628); /* every date, although the scale factor is small */
    free(dates);

    assert_int_equal(COMMAND(&error, "--sf=0.01", "--table=date,customer", "--mode", "all", "--date-table",
                             "classic", "--threads", "2", "--variant=crystal", "--out", below("some")),
                     STATUS_OK);
    assert_int_equal(count_entries(below("some")), 2);
    dates = read_file(below("some/date.tbl"), &bytes);
    assert_non_null(strstr(dates, "19920125|"));
    assert_null(strstr(dates, "19920126|"));
    free(dates);
    char *customers = read_file(below("some/customer.tbl"), &bytes);
    assert_int_equal(strncmp(customers, "1|Customer#000000001|j5JsirBM9P|", 31), 0);
    free(customers);
}

static void bad_options_get_one_sentence_and_write_nothing(void **state)
{
    (void)state;
    const struct {
        const char *option, *value, *says;
    } bad[] = {
        {"--sf", "0", "greater than 0"},
        {"--sf", "-1", "greater than 0"},
        {"--sf", "nan", "not a number"},
        {"--sf", "inf", "not a number"},
        {"--sf", "abc", "not a number"},
        {"--sf", "1x", "not a number"},
        {"--sf", "1e6", "largest is 71582"},
        {"--mode", "both", "single or all"},
        {"--variant", "tpch", "eyalroz or crystal"},
        {"--date-table", "none", "full or classic"},
        {"--table", "orders", "'orders'"},
        {"--table", "part,,date", "''"},
        {"--threads", "0", "from 1 to"},
        {"--threads", "two", "from 1 to"},
        {"--threads", "99999999999999999999", "from 1 to"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct error error = {0};
        assert_int_equal(COMMAND(&error, "--out", below("bad"), bad[i].option, bad[i].value),
                         STATUS_BAD_INPUT);
        if (!strstr(error.text, bad[i].says))
            fail_msg("%s %s: %s", bad[i].option, bad[i].value, error.text);
        assert_null(strchr(error.text, '\n'));
        assert_int_equal(count_entries(below("bad")), -1);
    }
    struct error error = {0};
    assert_int_equal(COMMAND(&error, "--sf", "0.01"), STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "--out"));
}

int main(void)
{
    execution_enter(&execution);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_threads_writes_the_same_file),
        cmocka_unit_test(a_longer_file_is_replaced_whole),
        cmocka_unit_test(progress_counts_all_rows),
        cmocka_unit_test(cancelling_leaves_nothing),
        cmocka_unit_test(cancelling_leaves_the_file_that_was_there),
        cmocka_unit_test(a_full_disk_is_the_machines_fault_and_leaves_nothing),
        cmocka_unit_test(a_folder_that_cannot_be_is_named),
        cmocka_unit_test(a_second_writer_of_the_same_file_is_refused),
        cmocka_unit_test(the_command_writes_the_tables_asked_for),
        cmocka_unit_test(bad_options_get_one_sentence_and_write_nothing),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
