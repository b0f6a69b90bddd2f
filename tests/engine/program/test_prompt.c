/*
 * test_prompt.c: `tessera sql` as people meet it, on a pseudo-terminal: statements of several lines, Tab, the pager, Ctrl-C,
 * the history, signals.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/engine/program/shell_database.h"
#include "tests/support/pseudo_terminal.h"

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <time.h>

static int terminal;
static pid_t program;
static char screen[1 << 20];
static size_t seen, shown; /* of the screen: what was expected, and all */

static void terminal_run(const char *shell)
{
    const struct winsize size = {.ws_row = 50, .ws_col = 200};
    need_pseudo_terminal();
    seen = shown = 0;
    program = forkpty(&terminal, NULL, NULL, &size);
    assert_true(program >= 0);
    if (program == 0) {
        setenv("TERM", "vt100", 1);
        setenv("LC_ALL", "C.UTF-8", 1);
        setenv("T", TESSERA_PROGRAM, 1);
        setenv("D", database, 1);
        setenv("PAGER", "", 0);
        execl("/bin/sh", "sh", "-c", shell, (char *)NULL);
        _exit(127);
    }
}

static void terminal_open(void)
{
    terminal_run("exec $T sql --db $D");
}

/* False when the program has gone. */
static bool look(int milliseconds)
{
    struct pollfd input = {.fd = terminal, .events = POLLIN};
    if (poll(&input, 1, milliseconds) <= 0)
        return true;
    if (shown == sizeof screen - 1) { /* a long answer: only what is near the end is asked for */
        memmove(screen, screen + sizeof screen / 2, sizeof screen / 2);
        shown = sizeof screen / 2 - 1;
        seen = 0;
    }
    const ssize_t got = read(terminal, screen + shown, sizeof screen - 1 - shown);
    if (got <= 0)
        return false;
    for (ssize_t i = 0; i < got; i++) /* the time that old terminals take */
        if (screen[shown + (size_t)i] == '\0')
            screen[shown + (size_t)i] = ' ';
    shown += (size_t)got;
    screen[shown] = '\0';
    return true;
}

/* What is typed before a prompt comes may be lost: until then the terminal is not the prompt's.
 *
 * Waits until the screen shows the text behind what was expected before. */
static void expect(const char *text)
{
    const time_t end = time(NULL) + 60;
    screen[shown] = '\0';
    for (;;) {
        const char *const at = strstr(screen + seen, text);
        if (at) {
            seen = (size_t)(at - screen) + strlen(text);
            return;
        }
        if (!look(200) || time(NULL) > end)
            fail_msg("'%s' did not come: %s", text, screen + seen);
    }
}

static void type(const char *keys)
{
    assert_int_equal(write(terminal, keys, strlen(keys)), strlen(keys));
}

/* A program that does not end is a failure, and ended. */
static void terminal_close(int exit_code)
{
    int status = 0;
    const time_t end = time(NULL) + 60;
    bool left = false;
    while (!(left = waitpid(program, &status, WNOHANG) == program) && time(NULL) <= end)
        (void)look(100);
    if (!left) {
        kill(program, SIGKILL);
        waitpid(program, &status, 0);
    }
    close(terminal);
    if (!left || !WIFEXITED(status) || WEXITSTATUS(status) != exit_code)
        fail_msg("ended with status %x: %s", (unsigned)status, screen + seen);
}

static void a_prompt_takes_statements_of_several_lines(void **state)
{
    (void)state;
    terminal_open();
    expect(".help lists");
    expect("tessera> ");
    type("select count(*) as days\n");
    expect("...> ");
    type("from date -- with ; in a comment\n");
    expect("...> ");
    type("where d_month <> 'a;b';\n");
    expect("2557");
    expect("tessera> ");
    type(".mode csv\n");
    expect("tessera> ");
    type("select '\xc3\xa4', d_year from date limit 1;\n");
    expect("\xc3\xa4,1992");
    expect("tessera> ");
    type("\x04");
    terminal_close(0);
}

/* Words that other prompts know, as long as no statement was begun. */
static void a_prompt_knows_words_of_other_prompts(void **state)
{
    (void)state;
    terminal_run("exec $T $D"); /* a database in the place of a command */
    expect("exit or Ctrl-D ends");
    expect("tessera> ");
    type("Help;\n");
    expect("the most rows of an answer");
    expect("tessera> ");
    type("\\dt\n");
    expect("references customer");
    expect("tessera> ");
    type("clear\n");
    expect("\033[H\033[2J");
    expect("tessera> ");
    type("select\n");
    expect("...> ");
    type("1 as\n");
    expect("...> ");
    type("exit\n");
    expect("...> ");
    type(";\n");
    expect("exit\r\n----\r\n   1\r\n1 row, ");
    expect(" ms");
    expect("tessera> ");
    type("select d_year from date limit 2;\n");
    expect("2 rows, ");
    expect("tessera> ");
    type("exit ;\n");
    terminal_close(0);
}

/* The line comes after a second of a statement that would take minutes. */
static void a_long_statement_shows_how_far_it_is(void **state)
{
    (void)state;
    terminal_run("exec $T sql --db $D --device cpu --threads 1");
    expect("tessera> ");
    /* On one thread, billions of pairs whose texts no machine compares at once. */
    type("select count(*) from lineorder a, lineorder b where "
         "cast(a.lo_revenue as varchar) || cast(b.lo_revenue as varchar) = 'x';\n");
    expect("\rrunning  [");
    expect(" %   ");
    type("\x03");
    expect("tessera> ");
    type("select 1 as one;\n");
    expect("1 row, ");
    expect("tessera> ");
    type("\x04");
    terminal_close(0);
}

static void a_prompt_goes_on_after_an_error(void **state)
{
    (void)state;
    terminal_open();
    expect("tessera> ");
    type("select nope from date;\n");
    expect("line 1, column 8: there is no column nope");
    expect("select nope from date\r\n         ^");
    expect("tessera> ");
    type(".nope\n");
    expect("there is no command '.nope'");
    expect("tessera> ");
    type("select count(*) from date;\n");
    expect("2557");
    expect("tessera> ");
    type(".quit\n");
    terminal_close(0);
}

static void long_answers_are_cut_and_paged(void **state)
{
    (void)state;
    terminal_run("PAGER='sed s/^/paged:/' exec $T sql --db $D");
    expect("tessera> ");
    type("select d_datekey from date limit 3;\n"); /* it fits */
    expect("19920103");
    expect("tessera> ");
    type("select d_datekey from date;\n");
    expect("paged:d_datekey");
    expect("paged:1000 of 2557 rows are shown; .rows all");
    expect("tessera> ");
    type(".rows all\n");
    expect("tessera> ");
    type("select d_datekey from date;\n");
    expect("paged: 19981231");
    expect("tessera> ");
    type(".pager off\n");
    expect("tessera> ");
    type(".rows 2\n");
    expect("tessera> ");
    type("select d_datekey from date;\n");
    expect("2 of 2557 rows are shown");
    expect("tessera> ");
    type("\x04");
    terminal_close(0);
    terminal_run("PAGER=no-such-pager exec $T sql --db $D"); /* the answer is not lost */
    expect("tessera> ");
    type("select d_datekey from date limit 100;\n");
    expect("the pager 'no-such-pager' could not be run");
    expect("19920101");
    expect("tessera> ");
    type("\x04");
    terminal_close(0);
    terminal_run("PAGER='head -n 2' exec $T sql --db $D"); /* left early */
    expect("tessera> ");
    type(".rows all\n");
    expect("tessera> ");
    type("select * from lineorder;\n");
    expect("lo_orderkey");
    expect("tessera> ");
    type("select count(*) from date;\n");
    expect("2557");
    expect("tessera> ");
    type("\x04");
    terminal_close(0);
}

/* Types keys that end with a tab, and waits for what they become. */
static void complete(const char *keys, const char *line)
{
    type(keys);
    expect(line);
}

static void tab_completes_names_and_keywords(void **state)
{
    (void)state;
    terminal_open();
    expect("tessera> ");
    complete("sel\t", "ect");
    complete("d_y\t", "ear"); /* d_yearmonth begins so, too: no blank follows */
    type(" ");
    complete("fr\t", "om");
    complete("da\t", "te");
    complete("where D_LASTDAYINW\t", "d_lastdayinweekfl");
    type("and d_year = 1992 limit 1;\n");
    expect("1992\r\n");
    expect("tessera> ");
    type("select count(*) from date as x\n");
    expect("...> ");
    complete("where x.d_dayofw\t", "eek"); /* columns of an alias of an earlier line */
    type("= 'Monday';\n");
    expect("36");
    expect("tessera> ");
    complete("describe lineor\t", "der");
    type("\x03");
    expect("tessera> ");
    type("select c_\t"); /* all begin so: they are listed */
    expect("c_address");
    expect("c_custkey");
    expect("select c_");
    type("\x03");
    expect("tessera> ");
    complete(".mo\t", "de");
    complete("js\t", "on");
    type("\n");
    expect("tessera> ");
    complete("select coale\t", "sce"); /* functions, aggregates and windows, too */
    complete("NULL, 1), count_\t", "if");
    complete("row_n\t", "umber");
    complete("qual\t", "ify");
    type("\x03");
    expect("tessera> ");
    complete("SEL\t", "ECT");
    type("1 as one from date limit 1;\n");
    expect("{\"one\": 1}");
    expect("tessera> ");
    type("\x04");
    terminal_close(0);
}

/* A pager that was left: statements fail, the prompt stays. */
static void a_prompt_outlives_the_reader_of_its_answers(void **state)
{
    (void)state;
    terminal_run("($T sql --db $D; echo \"code $?\" >&2) | { head -1; exec <&-; echo 'nobody reads' >&2; }");
    expect("tessera> ");
    type("select 'first' as head from date limit 1;\n");
    expect("nobody reads"); /* before or after the next prompt */
    for (int i = 0; i < 2; i++) {
        type(i ? ".tables\n" : "select * from lineorder;\n");
        expect("could not be written: Broken pipe");
        expect("tessera> ");
    }
    type("\x04");
    expect("code 0");
    terminal_close(0);
}

static void ctrl_c_gives_up_a_line(void **state)
{
    (void)state;
    terminal_open();
    expect("tessera> ");
    type("select half\n");
    expect("...> ");
    type("a li\x03");
    expect("^C");
    expect("tessera> ");
    type("\x03\x03\x03");
    expect("tessera> ");
    type("select count(*) from date;\n");
    expect("2557");
    expect("tessera> ");
    type("\x04");
    terminal_close(0);
}

/* The terminal is not read meanwhile, so the answer of 9 MB stands still half way. */
static void ctrl_c_stops_a_statement_and_not_the_program(void **state)
{
    (void)state;
    terminal_open();
    expect("tessera> ");
    type(".rows all\n");
    expect("tessera> ");
    type("select * from lineorder;\n");
    expect("lo_shipmode");
    usleep(300000);
    type("\x03");
    expect("interrupted");
    expect("tessera> ");
    type("select count(*) from date;\n");
    expect("2557");
    expect("tessera> ");
    type("\x04");
    terminal_close(0);
}

static void a_file_that_is_cut_short_meanwhile_is_named(void **state)
{
    char path[2 * PATH_BYTES];
    (void)state;
    run_shell("cp -r $D ${D}2 && cd ${D}2/tables/date && echo d_year.[!s]*", &run);
    snprintf(path, sizeof path, "%s2/tables/date/%.*s", database, (int)strcspn(run.output, "\n"), run.output);
    terminal_run(
        "$T sql --device cpu --db ${D}2; echo exit code $?"); /* a GPU has the column in its own memory */
    expect("tessera> ");
    type("select max(d_year) from date;\n");
    expect("1998");
    expect("tessera> ");
    assert_int_equal(truncate(path, 4096), 0);
    type("select sum(d_year) from date;\n");
    expect(path);
    expect("became shorter");
    expect("exit code 2");
    terminal_close(0);
}

static void history_outlives_the_program(void **state)
{
    (void)state;
    terminal_open();
    expect("tessera> ");
    type("select count(*)\n");
    expect("...> ");
    type("+ 1000000 from date;\n");
    expect("1002557");
    expect("tessera> ");
    type(".quit\n");
    terminal_close(0);
    terminal_open();
    expect("tessera> ");
    type("\x10\x10\n"); /* Ctrl-P: the entry before .quit, of two lines */
    expect("1002557");
    expect("tessera> ");
    type("\x04");
    terminal_close(0);
}

static void sigterm_ends_the_prompt(void **state)
{
    (void)state;
    terminal_open();
    expect("tessera> ");
    kill(program, SIGTERM);
    terminal_close(130);
}

/* The history is the test's own. */
static int load_for_prompt(void **state)
{
    char history[PATH_BYTES];
    if (load(state) != 0)
        return -1;
    beside_database("history", history);
    setenv("TESSERA_HISTORY", history, 1);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_prompt_takes_statements_of_several_lines),
        cmocka_unit_test(a_prompt_knows_words_of_other_prompts),
        cmocka_unit_test(a_prompt_goes_on_after_an_error),
        cmocka_unit_test(a_long_statement_shows_how_far_it_is),
        cmocka_unit_test(a_prompt_outlives_the_reader_of_its_answers),
        cmocka_unit_test(tab_completes_names_and_keywords),
        cmocka_unit_test(long_answers_are_cut_and_paged),
        cmocka_unit_test(ctrl_c_gives_up_a_line),
        cmocka_unit_test(ctrl_c_stops_a_statement_and_not_the_program),
        cmocka_unit_test(a_file_that_is_cut_short_meanwhile_is_named),
        cmocka_unit_test(history_outlives_the_program),
        cmocka_unit_test(sigterm_ends_the_prompt),
    };
    return cmocka_run_group_tests_name("prompt", tests, load_for_prompt, unload);
}
