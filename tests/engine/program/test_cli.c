/* test_cli.c: what the program promises to scripts: help, exit codes, where output goes, what a slip gets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/program/commands.h"
#include "loader/commands.h"
#include "ssb/commands.h"
#include "tests/support/run_program.h"

#include <jansson.h>

static struct program_run run; /* large, so not on the stack */

static void assert_one_sentence(const char *errors)
{
    assert_memory_equal(errors, "tessera: ", 9);
    const char *end = strchr(errors, '\n');
    assert_non_null(end);
    assert_string_equal(end, "\n");
}

static void help_lists_every_command(void **state)
{
    (void)state;
    run_shell("$T --help", &run);
    assert_int_equal(run.exit_code, 0);
    assert_string_equal(run.errors, "");
    const struct command *const tables[] = {engine_commands, loader_commands, ssb_commands};
    for (size_t t = 0; t < 3; t++)
        for (const struct command *command = tables[t]; command->path; command++) {
            assert_non_null(strstr(run.output, command->path));
            assert_non_null(strstr(run.output, command->summary));
        }
}

static void every_command_explains_itself(void **state)
{
    (void)state;
    const struct command *const tables[] = {engine_commands, loader_commands, ssb_commands};
    for (size_t t = 0; t < 3; t++)
        for (const struct command *command = tables[t]; command->path; command++) {
            char shell[128], usage[128];
            snprintf(shell, sizeof shell, "$T %s --help", command->path);
            snprintf(usage, sizeof usage, "Usage: tessera %s", command->path);
            run_shell(shell, &run);
            assert_int_equal(run.exit_code, 0);
            assert_non_null(strstr(run.output, usage));
            assert_string_equal(run.errors, "");
            snprintf(shell, sizeof shell, "$T %s --no-such-option", command->path);
            run_shell(shell, &run);
            assert_int_equal(run.exit_code, 2);
            assert_string_equal(run.output, "");
            assert_non_null(strstr(run.errors, "--no-such-option"));
        }
}

/* Commands in help can be copied: a line that goes on ends with a backslash. */
static void examples_are_broken_as_shells_read_them(void **state)
{
    (void)state;
    const struct command *const tables[] = {engine_commands, loader_commands, ssb_commands};
    size_t commands = 0, folds = 0;
    for (size_t t = 0; t < 3; t++)
        for (const struct command *command = tables[t]; command->path; command++) {
            char shell[128];
            snprintf(shell, sizeof shell, "$T %s --help", command->path);
            run_shell(shell, &run);
            char *line = strstr(run.output, "Examples:\n");
            bool open = false;
            if (!line)
                continue;
            for (strtok(line, "\n"); (line = strtok(NULL, "\n"));) {
                const size_t length = strlen(line);
                if (strncmp(line, "  ", 2) != 0 && !open)
                    break;
                if (length > 79 || strncmp(line, open ? "      " : "  ", open ? 6 : 2) != 0)
                    fail_msg("%s: %s", command->path, line);
                commands += !open;
                open = line[length - 1] == '\\';
                folds += open;
            }
            assert_false(open);
        }
    assert_true(commands > 20 && folds > 5);
}

/* An option's text stands in column 29, beside or below its names, and no line is longer than 79. */
static void options_stand_below_each_other(void **state)
{
    (void)state;
    const struct command *const tables[] = {engine_commands, loader_commands, ssb_commands};
    size_t options = 0;
    for (size_t t = 0; t < 3; t++)
        for (const struct command *command = tables[t]; command->path; command++) {
            char shell[128];
            snprintf(shell, sizeof shell, "$T %s --help", command->path);
            run_shell(shell, &run);
            bool text_next = false; /* names were so long that the text begins below */
            for (char *line = strtok(run.output, "\n"); line && strcmp(line, "Examples:") != 0;
                 line = strtok(NULL, "\n")) {
                const size_t blanks = strspn(line, " "), length = strlen(line);
                const bool names = (blanks == 2 || blanks == 6) && line[blanks] == '-';
                if (length > 79 || (text_next && blanks != 29))
                    fail_msg("%s: %s", command->path, line);
                if (names && length > 29 && strncmp(line + 27, "  ", 2) == 0)
                    assert_int_not_equal(line[29], ' ');
                text_next = names && (length < 30 || strncmp(line + 27, "  ", 2) != 0);
                options += names;
            }
            assert_false(text_next);
        }
    assert_true(options > 100);
}

static void groups_have_help(void **state)
{
    (void)state;
    const char *groups[] = {"ssb"};
    for (size_t g = 0; g < 1 && ssb_commands[0].path; g++) {
        char shell[64];
        snprintf(shell, sizeof shell, "$T %s --help", groups[g]);
        run_shell(shell, &run);
        assert_int_equal(run.exit_code, 0);
        assert_non_null(strstr(run.output, ssb_commands[0].path));
        assert_null(strstr(run.output, "tessera devices"));
        snprintf(shell, sizeof shell, "$T %s", groups[g]);
        run_shell(shell, &run);
        assert_int_equal(run.exit_code, 2);
        assert_string_equal(run.output, "");
        assert_non_null(strstr(run.errors, ssb_commands[0].path));
    }
}

static void version_is_one_line(void **state)
{
    (void)state;
    int major, minor, patch, used = 0;
    run_shell("$T --version", &run);
    assert_int_equal(run.exit_code, 0);
    assert_int_equal(sscanf(run.output, "tessera %d.%d.%d%n", &major, &minor, &patch, &used), 3);
    assert_string_equal(run.output + used, "\n");
}

static void nothing_asked_shows_help_and_fails(void **state)
{
    (void)state;
    run_shell("$T", &run);
    assert_int_equal(run.exit_code, 2);
    assert_string_equal(run.output, "");
    assert_non_null(strstr(run.errors, "Usage: tessera"));
}

static void a_slip_gets_a_suggestion(void **state)
{
    (void)state;
    run_shell("$T devcies", &run);
    assert_int_equal(run.exit_code, 2);
    assert_string_equal(run.errors, "tessera: there is no command 'devcies'; did you mean 'devices'?\n");
    run_shell("$T frobnicate", &run);
    assert_int_equal(run.exit_code, 2);
    assert_one_sentence(run.errors);
    assert_null(strstr(run.errors, "did you mean"));
    run_shell("$T sql --fromat json --db x 'select 1'", &run);
    assert_int_equal(run.exit_code, 2);
    assert_string_equal(run.errors, "tessera: there is no option --fromat; did you mean --format?\n");
    run_shell("$T codecs --form json", &run); /* a beginning is enough */
    assert_int_equal(run.exit_code, 0);
    /* longer than any command, and no word at all */
    run_shell("$T \"$(printf '%0500d' 7)\"", &run);
    assert_int_equal(run.exit_code, 2);
    assert_one_sentence(run.errors);
    run_shell("$T ''", &run);
    assert_int_equal(run.exit_code, 2);
    assert_one_sentence(run.errors);
}

static void a_statement_is_no_codec(void **state)
{
    static const char *const commands[] = {"$T sql --db /dev -c 'select 1' </dev/null",
                                           "$T sql --db /dev --codec nonsense </dev/null",
                                           "$T sql --db /dev --codec a=nonsense 'select 1'"};
    (void)state;
    for (size_t c = 0; c < sizeof commands / sizeof *commands; c++) {
        run_shell(commands[c], &run);
        assert_int_equal(run.exit_code, 2);
        assert_string_equal(run.output, "");
        assert_one_sentence(run.errors);
        if (!strstr(run.errors, c ? "there is no codec 'nonsense'"
                                  : "'select 1' is no codec; a statement is given without an option"))
            fail_msg("%s", run.errors);
    }
}

/* What is no database stays, and nobody is told to remove it. */
static void a_directory_is_taken_for_a_database(void **state)
{
    (void)state;
    run_shell(
        "mkdir -p ${TMPDIR:-/tmp}/tessera-no-db && echo 1 >${TMPDIR:-/tmp}/tessera-no-db/photo && $T inspect "
        "${TMPDIR:-/tmp}/tessera-no-db; result=$?; rm -r ${TMPDIR:-/tmp}/tessera-no-db; exit $result",
        &run);
    assert_int_equal(run.exit_code, 2);
    assert_string_equal(run.output, "");
    assert_one_sentence(run.errors);
    assert_non_null(strstr(run.errors, "tessera-no-db is no database"));
    assert_null(strstr(run.errors, "remove"));
}

static void devices_always_answers(void **state)
{
    (void)state;
    run_shell("$T devices", &run);
    assert_int_equal(run.exit_code, 0);
    assert_string_equal(run.errors, "");
    assert_non_null(strstr(run.output, "CPU "));
    assert_non_null(strstr(run.output, "GPU "));
    assert_non_null(strstr(run.output, "compiler "));

    run_shell("$T devices --format json", &run);
    assert_int_equal(run.exit_code, 0);
    json_t *root = json_loads(run.output, 0, NULL);
    assert_non_null(root);
    assert_true(json_integer_value(json_object_get(json_object_get(root, "cpu"), "threads")) >= 1);
    json_t *gpus = json_object_get(root, "gpus");
    assert_true(json_is_array(gpus));
    /* either GPUs, or the reason */
    assert_int_equal(json_array_size(gpus) == 0, json_is_string(json_object_get(root, "gpu_problem")));
    json_decref(root);
}

static void devices_refuses_what_it_does_not_know(void **state)
{
    (void)state;
    run_shell("$T devices --format xml", &run);
    assert_int_equal(run.exit_code, 2);
    assert_non_null(strstr(run.errors, "xml"));
    run_shell("$T devices gpu", &run);
    assert_int_equal(run.exit_code, 2);
}

/* The variable caps what the machine has, so the name of a better one is no mistake. */
static void the_instruction_set_can_be_capped(void **state)
{
    (void)state;
    run_shell("TESSERA_ISA=baseline $T devices", &run);
    assert_int_equal(run.exit_code, 0);
    assert_non_null(strstr(run.output, " threads, baseline, "));
    run_shell("a=$(TESSERA_ISA=avx512 $T devices) && b=$(TESSERA_ISA= $T devices) && test \"${a%% GiB*}\" = "
              "\"${b%% GiB*}\"",
              &run);
    assert_int_equal(run.exit_code, 0);
    run_shell("TESSERA_ISA=avx $T devices", &run);
    assert_int_equal(run.exit_code, 2);
    assert_one_sentence(run.errors);
    assert_non_null(strstr(run.errors, "TESSERA_ISA is baseline, avx2 or avx512, not 'avx'"));
}

static void output_that_cannot_be_written_is_a_failure(void **state)
{
    (void)state;
    const char *shells[] = {"$T devices > /dev/full", "$T --help > /dev/full",
                            "$T devices --help > /dev/full", "$T devices >&-"};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        run_shell(shells[i], &run);
        assert_int_equal(run.exit_code, 3);
        assert_one_sentence(run.errors);
        assert_non_null(strstr(run.errors, "standard output"));
    }
}

/* A pipe whose reader goes before the program begins; the subshell tells the program's code on standard error. */
#define WITHOUT_READER(command)                                       \
    "f=$(mktemp -u); (until [ -e $f ]; do sleep 0.01; done; " command \
    "; echo \"code $?\" >&2) | (exec <&-; touch $f); rm $f"

/* As `cat` ends: by SIGPIPE, without a word. */
static void a_reader_that_has_gone_is_no_failure(void **state)
{
    (void)state;
    const char *shells[] = {WITHOUT_READER("$T devices"), WITHOUT_READER("$T sql --help")};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        run_shell(shells[i], &run);
        assert_string_equal(run.errors, "code 141\n");
    }
    /* what else fails is told */
    run_shell(WITHOUT_READER("$T sql --db /nowhere 'select 1'"), &run);
    assert_non_null(strstr(run.errors, "/nowhere"));
    assert_non_null(strstr(run.errors, "code 2"));
}

/* Generating 600 million rows takes minutes, so it is certainly under way when the signal comes: once there is a file. */
static void interrupted_work_ends_with_130_and_a_sentence(void **state)
{
    (void)state;
    const char *signals[] = {"INT", "TERM"};
    for (size_t i = 0; i < 2; i++) {
        char shell[500];
        snprintf(shell, sizeof shell,
                 "d=$(mktemp -d \"${TMPDIR:-/tmp}/test_cli.XXXXXX\") || exit 99\n"
                 "$T ssb generate --sf 100 --table lineorder --out $d/out &\n"
                 "until [ -n \"$(ls $d/out 2>/dev/null)\" ] || ! kill -0 $!; do sleep 0.02; done\n"
                 "kill -s %s $!\n"
                 "wait $!\n"
                 "code=$?\nls $d/out 2>/dev/null\nrm -rf $d\nexit $code",
                 signals[i]);
        run_shell(shell, &run);
        assert_int_equal(run.exit_code, 130);
        assert_string_equal(run.errors, "tessera: interrupted; what was not finished is undone\n");
        assert_string_equal(run.output, ""); /* nothing half-written is left */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(help_lists_every_command),
        cmocka_unit_test(every_command_explains_itself),
        cmocka_unit_test(examples_are_broken_as_shells_read_them),
        cmocka_unit_test(options_stand_below_each_other),
        cmocka_unit_test(groups_have_help),
        cmocka_unit_test(version_is_one_line),
        cmocka_unit_test(nothing_asked_shows_help_and_fails),
        cmocka_unit_test(a_slip_gets_a_suggestion),
        cmocka_unit_test(a_statement_is_no_codec),
        cmocka_unit_test(a_directory_is_taken_for_a_database),
        cmocka_unit_test(devices_always_answers),
        cmocka_unit_test(devices_refuses_what_it_does_not_know),
        cmocka_unit_test(the_instruction_set_can_be_capped),
        cmocka_unit_test(output_that_cannot_be_written_is_a_failure),
        cmocka_unit_test(a_reader_that_has_gone_is_no_failure),
        cmocka_unit_test(interrupted_work_ends_with_130_and_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
