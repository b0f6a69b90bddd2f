/*
 * test_lab_runs.c: `tessera lab` as a user runs it, on the processor: what its formats look like, that rows come as they are measured, what is
 * refused, and what Ctrl-C leaves. test_lab.c has the tables.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/lab/lab_shell.h"

#include <signal.h>
#include <time.h>

static int make_folder(void **state)
{
    setup(state);
    assert_int_equal(shell("mkdir $D"), 0);
    return 0;
}

/* ---- Formats ---- */

static uint32_t count_of(const char *text, char c)
{
    uint32_t count = 0;
    for (; *text; text++)
        count += *text == c;
    return count;
}

static void csv_is_a_table_after_each_caption(void **state)
{
    uint32_t tables = 0, rows = 0, commas = 0;
    (void)state;
    assert_int_equal(shell("\"$T\" lab distributions --device cpu --scale 0.0001 --repeat 1 --format csv "
                           "--codecs plain,lane-for"),
                     0);
    for (char *rest = run.output, *line; (line = strsep(&rest, "\n"));) {
        if (strncmp(line, "# D", 3) == 0) {
            tables++;
            commas = 0;
        } else if (strncmp(line, "codec,", 6) == 0) {
            commas = count_of(line, ',');
        } else if (*line) {
            assert_true(strncmp(line, "plain,None,3", 12) == 0 || strncmp(line, "plain,None,0", 12) == 0 ||
                        strncmp(line, "lane-for,", 9) == 0);
            assert_true(commas >= 5 && count_of(line, ',') == commas);
            rows++;
        }
    }
    assert_int_equal(tables, 9);
    assert_int_equal(rows, 2 * tables);
}

static void tables_are_for_people(void **state)
{
    (void)state;
    assert_int_equal(shell("\"$T\" lab encode --device cpu --scale 0.0001 --repeat 1 --codecs lane-for"), 0);
    assert_non_null(strstr(run.output, "encode: Compression speed\n"));
    assert_non_null(strstr(run.output, "lane-for"));
    assert_null(strstr(run.output, "plain"));
}

/* Figure 5 has the published kernels' points alone, which need a GPU. */
static void a_chart_without_points_is_not_shown(void **state)
{
    (void)state;
    assert_int_equal(shell("\"$T\" lab optimisations --device cpu --scale 0.0001 --repeat 1"), 0);
    assert_non_null(strstr(run.output, "base algorithm"));
    assert_null(strstr(run.output, "D, blocks of a thread block"));
    assert_int_equal(shell("\"$T\" lab random-access --device cpu --scale 0.0001 --repeat 1 --codecs plain"),
                     0);
    assert_non_null(strstr(run.output, "right: selectivity"));
}

/* zlib would take most of the time of experiments on integers. */
static void byte_streams_are_measured_if_they_are_named(void **state)
{
    (void)state;
    assert_int_equal(shell("\"$T\" lab encode --device cpu --scale 0.0001 --repeat 1 --codecs deflate"), 0);
    assert_non_null(strstr(run.output, "\ndeflate "));
    assert_int_equal(shell("\"$T\" lab encode --device cpu --scale 0.0001 --repeat 1"), 0);
    assert_null(strstr(run.output, "deflate"));
    assert_non_null(strstr(run.output, "\nlane-for "));
}

/* ---- Rows as they are measured ---- */

/* Experiments that have nothing to measure on a processor: they say so and end. */
static bool needs_gpu(const char *experiment)
{
    static const char *const all[] = {"inline-query", "coprocessor", "decode-threads"};
    for (size_t a = 0; a < sizeof all / sizeof *all; a++)
        if (strcmp(experiment, all[a]) == 0)
            return true;
    return false;
}

#define HEAD_LINES \
    10 /* the device, the experiment, a table's caption, its head of one or two lines, and a row */

static pid_t begin_rows(const char *experiment, FILE **output)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        setenv("TMPDIR", path, 1);
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        if (!freopen("/dev/null", "w", stderr))
            _exit(127);
        execl(TESSERA_PROGRAM, "tessera", "lab", experiment, "--device", "cpu", "--scale", "0.002",
              "--threads", "1", "--repeat", "5", (char *)NULL);
        _exit(127);
    }
    assert_true(child > 0);
    close(ends[1]);
    *output = fdopen(ends[0], "r");
    assert_non_null(*output);
    return child;
}

/* An experiment that is stopped once it has printed a row has not come to its end. */
static void first_row_comes_early(const char *experiment)
{
    FILE *output;
    char line[4096];
    int status = 0, lines = 0;
    const pid_t child = begin_rows(experiment, &output);
    while (lines < HEAD_LINES && fgets(line, sizeof line, output))
        lines++;
    kill(child, SIGINT);
    while (fgets(line, sizeof line, output))
        ;
    fclose(output);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 130)
        fail_msg("%s printed %d lines, and then came to its end", experiment, lines);
}

static void rows_are_printed_as_they_are_measured(void **state)
{
    char names[EXPERIMENTS_MAX][32];
    const uint32_t count = list_names(names);
    (void)state;
    for (uint32_t e = 0; e < count; e++)
        if (!needs_gpu(names[e]))
            first_row_comes_early(names[e]);
}

/* ---- What is refused ---- */

static void mistakes_are_refused_before_anything_is_measured(void **state)
{
    static const struct {
        const char *arguments, *sentence;
        int exit_code;
    } mistakes[] = {
        {"", "name experiments, or all", 2},
        {"nothing", "there is no experiment 'nothing'", 2},
        {"all nothing", "there is no experiment 'nothing'", 2},
        {"all --codecs lane-for,nothing", "there is no codec 'nothing'; there are plain, ", 2},
        {"all --codecs ''", "there is no codec ''", 2},
        {"all --scale 0", "--scale is a number above 0", 2},
        {"all --scale -1", "--scale is a number above 0", 2},
        {"all --scale 5", "at most 4, not '5'", 2},
        {"all --scale 1x", "not '1x'", 2},
        {"all --scale nan", "not 'nan'", 2},
        {"all --block 128", "--block is 64k, 128k, 256k, 512k or 1m, not '128'", 2},
        {"all --block 96k", "not '96k'", 2},
        {"all --block 2m", "not '2m'", 2},
        {"byte-streams --sets MC0,nowhere", "--sets: there is no set 'nowhere'; there are MC0, MC3", 2},
        {"all --repeat 0", "--repeat '0'", 2},
        {"all --format xml", "--format 'xml' does not exist", 2},
        {"all --device tpu", "'tpu' is no device", 2},
        {"all --report $D/missing/lab.html", "the report cannot be written to", 2},
        {"all --device cuda", "no GPU can be used: ", 3},
    };
    (void)state;
    for (size_t m = 0; m < sizeof mistakes / sizeof *mistakes; m++) {
        char command[256];
        snprintf(command, sizeof command, "CUDA_VISIBLE_DEVICES= timeout 60 \"$T\" lab %s",
                 mistakes[m].arguments);
        assert_int_equal(shell(command), mistakes[m].exit_code);
        assert_string_equal(run.output, "");
        assert_non_null(strstr(run.errors, mistakes[m].sentence));
        assert_int_equal(count_of(run.errors, '\n'), 1);
    }
}

/* ---- Ctrl-C ---- */

static pid_t begin(const char *experiment, const char *page)
{
    const pid_t child = fork();
    if (child == 0) {
        setenv("TMPDIR", path, 1);
        if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
            _exit(127);
        execl(TESSERA_PROGRAM, "tessera", "lab", experiment, "--device", "cpu", "--scale", "0.02",
              "--threads", "1", "--repeat", "10000", "--report", page, (char *)NULL);
        _exit(127);
    }
    assert_true(child > 0);
    return child;
}

/* Until the program handles SIGINT, which would end it at once before. */
static void wait_for_handler(pid_t child)
{
    char name[64], line[256];
    unsigned long long caught = 0;
    snprintf(name, sizeof name, "/proc/%d/status", (int)child);
    while (!(caught >> (SIGINT - 1) & 1)) {
        FILE *const in = fopen(name, "r");
        assert_non_null(in);
        bool ended = false;
        while (fgets(line, sizeof line, in)) {
            ended |= strncmp(line, "State:\tZ", 8) == 0;
            (void)sscanf(line, "SigCgt: %llx", &caught);
        }
        fclose(in);
        assert_false(ended);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

/* It would go on for hours. One signal, to the program alone: timeout(1) sends two, and the second one ends it at once. */
static void interrupt_after(const char *experiment, uint32_t milliseconds)
{
    char page[PATH_BYTES + 32];
    int status = 0;
    snprintf(page, sizeof page, "%s.interrupted.html", path);
    const pid_t child = begin(experiment, page);
    nanosleep(&(struct timespec){.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000L},
              NULL);
    wait_for_handler(child);
    kill(child, SIGINT);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 130);
    assert_int_equal(access(page, F_OK), -1);
    assert_true(is_empty_folder());
}

static void ctrl_c_leaves_nothing(void **state)
{
    char names[EXPERIMENTS_MAX][32];
    const uint32_t count = list_names(names);
    (void)state;
    for (uint32_t e = 0; e < count; e++)
        if (!needs_gpu(names[e]))
            interrupt_after(names[e], 600);
    interrupt_after("ssb-queries", 1500); /* its temporary database is there by then */
    interrupt_after("pattern", 1500);     /* and the files that it reads back */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_is_a_table_after_each_caption),
        cmocka_unit_test(tables_are_for_people),
        cmocka_unit_test(a_chart_without_points_is_not_shown),
        cmocka_unit_test(byte_streams_are_measured_if_they_are_named),
        cmocka_unit_test(rows_are_printed_as_they_are_measured),
        cmocka_unit_test(mistakes_are_refused_before_anything_is_measured),
        cmocka_unit_test(ctrl_c_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, make_folder, teardown);
}
