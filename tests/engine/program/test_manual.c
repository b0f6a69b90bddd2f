/*
 * test_manual.c: `tessera --man`, `--completion` and `--commands` say what --help says, and the shells and man take them.
 *
 * Where zsh, fish or groff are not installed, their part is left out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/not_run.h"
#include "tests/support/run_program.h"

#include <stdbool.h>

static struct program_run run, page; /* large, so not on the stack */

static void assert_shell(const char *shell)
{
    run_shell(shell, &run);
    if (run.exit_code != 0)
        fail_msg("%s: exit code %d\n%s%s", shell, run.exit_code, run.output, run.errors);
}

/* Calls `visit` with each command's words. */
static void each_command(void (*visit)(const char *command))
{
    char commands[4096];
    assert_shell("$T --commands");
    assert_true(strlen(run.output) < sizeof commands);
    strcpy(commands, run.output);
    int count = 0;
    for (char *next = NULL, *command = strtok_r(commands, "\n", &next); command;
         command = strtok_r(NULL, "\n", &next)) {
        visit(command);
        count++;
    }
    assert_true(count >= 14);
}

/* The page has every long option of --help, and no other. */
static void compare_page_with_help(const char *command)
{
    char shell[512];
    snprintf(shell, sizeof shell,
             "$T %s --help | grep -oE '^ {2,6}(-., )?( *--[a-z-]+(=[^ ]*)?,?)+' | grep -oE -- '--[a-z-]+' | "
             "sort -u | "
             "grep -v -e --usage",
             command);
    assert_shell(shell);
    snprintf(shell, sizeof shell,
             "$T --man %s | sed 's/\\\\f[BRI]/@/g; s/\\\\-/-/g' | grep -A1 '^[.]TP' | grep -oE '@--[a-z-]+' "
             "| tr -d @ | sort -u",
             command);
    run_shell(shell, &page);
    assert_string_equal(page.output, run.output);
}

static void pages_have_the_options_of_help(void **state)
{
    (void)state;
    each_command(compare_page_with_help);
}

static void read_page(const char *command)
{
    char shell[256];
    snprintf(shell, sizeof shell, "$T --man %s | groff -man -ww -Tutf8 2>&1 >/dev/null", command);
    assert_shell(shell);
    assert_string_equal(run.output, "");
}

static void man_reads_the_pages(void **state)
{
    (void)state;
    run_shell("command -v groff", &run);
    if (run.exit_code != 0)
        not_run("groff, which reads manual pages, is not installed");
    read_page("");
    each_command(read_page);
    assert_shell("$T --man load | groff -man -Tascii -P-cbou -rLL=200n");
    assert_non_null(strstr(run.output, "-d, --db=DIR"));
    assert_non_null(strstr(run.output, "'|', or \\t; by default")); /* as it is in the source */
    assert_non_null(strstr(run.output, "SYNOPSIS\n       tessera load [OPTION...] TABLE=FILE[,FILE...]..."));
}

static void the_program_s_page_names_all_commands(void **state)
{
    (void)state;
    assert_shell("$T --man");
    assert_non_null(strstr(run.output, "tessera-ssb-run"));
    assert_non_null(strstr(run.output, "tessera sql"));
    run_shell("$T --man nope", &run);
    assert_int_equal(run.exit_code, 2);
    assert_non_null(strstr(run.errors, "there is no command 'nope'"));
    run_shell("$T --completion tcsh", &run);
    assert_int_equal(run.exit_code, 2);
    assert_non_null(strstr(run.errors, "bash, zsh or fish"));
}

/* What bash offers after the words, the last of which is begun. */
static void assert_offers(const char *words, const char *offers)
{
    char shell[512];
    snprintf(shell, sizeof shell,
             "bash -c 'compopt() { :; }; eval \"$($T --completion bash)\"; COMP_WORDS=(%s); "
             "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _tessera; echo \"${COMPREPLY[*]}\"'",
             words);
    assert_shell(shell);
    if (strcmp(run.output, offers) != 0)
        fail_msg("%s: %s", words, run.output);
}

static void bash_completes(void **state)
{
    (void)state;
    assert_offers("tessera i", "inspect index\n");
    assert_offers("tessera ssb \"\"", "generate load run compare --help\n");
    assert_offers("tessera ssb r", "run\n");
    assert_offers("tessera sql --fo", "--format=\n");
    assert_offers("tessera sql --format =", "table csv json markdown\n"); /* `=` divides words */
    assert_offers("tessera sql --format = j", "json\n");
    assert_offers("tessera sql -f m", "markdown\n");
    assert_offers("tessera ssb run --late-transfer o", "off on\n");
    assert_offers("tessera sql --db /us", "/usr\n");
    assert_offers("tessera load --threads \"\"", "\n");
    assert_offers("tessera load sales = /etc/hostna", "/etc/hostname\n");
    assert_offers("tessera --completion z", "zsh\n");
}

static void zsh_and_fish_take_their_scripts(void **state)
{
    (void)state;
    assert_shell("if command -v zsh; then $T --completion zsh | zsh -n; fi");
    assert_shell("if command -v fish; then $T --completion fish | fish -n; fi");
    assert_shell("if command -v fish; then fish -c '$T --completion fish | source; complete -C \"tessera sql "
                 "--format j\"' | "
                 "grep -q json; fi");
    assert_shell("$T --completion zsh");
    assert_non_null(
        strstr(run.output, "'(-f --format)'{-f+,--format=}'[table]:value:(table csv json markdown)'"));
    assert_shell("$T --completion fish");
    assert_non_null(strstr(run.output,
                           "complete -c tessera -n '__tessera_runs sql' -l format -s f -x -a 'table csv json "
                           "markdown'"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_have_the_options_of_help),        cmocka_unit_test(man_reads_the_pages),
        cmocka_unit_test(the_program_s_page_names_all_commands), cmocka_unit_test(bash_completes),
        cmocka_unit_test(zsh_and_fish_take_their_scripts),
    };
    return cmocka_run_group_tests_name("manual", tests, NULL, NULL);
}
