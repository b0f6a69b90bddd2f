/*
 * test_sql_shell.c: `tessera sql` as scripts and people meet it: statements and dot commands in a text, positions
 * of errors, exit codes; and a prompt on a pseudo-terminal.
 *
 * Over SSB at scale factor 0.01 (60 175 rows). $D is the database.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/database_cases.h"
#include "tests/support/pseudo_terminal.h"
#include "tests/support/run_program.h"

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <time.h>

static char database[PATH_BYTES], history[PATH_BYTES + 16];
static struct program_run run;

static int load(void **state)
{
    (void)state;
    directory_make(database);
    setenv("D", database, 1);
    snprintf(history, sizeof history, "%.*s/history", (int)(strlen(database) - strlen("/db")), database);
    setenv("TESSERA_HISTORY", history, 1);
    run_shell("$T ssb load --sf 0.01 --db $D", &run);
    return run.exit_code;
}

static int unload(void **state)
{
    (void)state;
    directory_remove(database);
    return 0;
}

/* ---- Scripts ---- */

static void assert_script(const char *script, int exit_code, const char *output, const char *errors)
{
    char path[PATH_BYTES + 16], shell[PATH_BYTES + 64];
    snprintf(path, sizeof path, "%.*s/script.sql", (int)(strlen(database) - strlen("/db")), database);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(script, file);
    fclose(file);
    snprintf(shell, sizeof shell, "$T sql --db $D < %s", path);
    run_shell(shell, &run);
    if (run.exit_code != exit_code || !strstr(run.output, output) || !strstr(run.errors, errors))
        fail_msg("%s: exit code %d\n%s\n%s", script, run.exit_code, run.output, run.errors);
}

static void statements_and_dot_commands_are_answered_in_turn(void **state)
{
    (void)state;
    assert_script("-- how many days\nselect count(*) as days from date;\n.mode csv\n"
                  "/* and years */ select count(distinct d_year) as years from date; .mode json;\n"
                  "select min(d_year) as y, 'a' as s from date",
                  0, "days\n----\n2557\nyears\n7\n[\n {\"y\": 1992, \"s\": \"a\"}\n]\n", "");
    assert_string_equal(run.errors, "");
    assert_script("", 0, "", "");
    assert_script(" ; -- nothing\n;;", 0, "", "");
    assert_string_equal(run.output, "");
}

static void the_first_error_ends_a_script(void **state)
{
    (void)state;
    assert_script("select count(*) from date;\nselect\n  nope from date;\nselect 'never' as never from date",
                  2, "2557", "tessera: line 3, column 3: there is no column nope; there are d_datekey, ");
    assert_null(strstr(run.output, "never"));
    assert_script("select count(*) from date; select d_year d_month d_year from date;", 2, "2557",
                  "tessera: line 1, column 50: 'd_year' is not expected here\n");
    assert_script("\n\n  .tabels\nselect 1 from date;", 2, "",
                  "tessera: line 3, column 3: there is no command '.tabels'; did you mean .tables?\n");
    assert_script("select 'x", 2, "", "tessera: line 1, column 8: ");
    assert_script("select 1; select '\xc3\xa4\xe6\x97\xa5',\tnope\n  from date;", 2, "", "nope; there are ");
    assert_non_null(strstr(run.errors, "\n  select 1; select '\xc3\xa4\xe6\x97\xa5', nope\n"
                                       "                          ^\n"));
    assert_script("select count(*)\nfrom dates\nwhere d_year = 1992;", 2, "", "did you mean date?");
    assert_non_null(strstr(run.errors, "\n  from dates\n       ^\n"));
    assert_script("select d_year from date where \n\n", 2, "", "the statement ends where a value should");
    assert_non_null(
        strstr(run.errors, "\n  select d_year from date where\n                               ^\n"));
    assert_script("select ? from date;", 2, "", "only programs can set");
}

/* What help shows can be pasted into a shell. */
static void examples_in_help_run(void **state)
{
    (void)state;
    run_shell(
        "H=$(mktemp -d) && mkdir $H/bin && ln -s $(realpath $T) $H/bin/tessera && cd $H && $T sql --help |"
        " sed '1,/^Examples:/d' > paste.sh && PATH=$H/bin:$PATH sh -e paste.sh && cat parts.csv; rm -r $H",
        &run);
    assert_int_equal(run.exit_code, 0);
    assert_non_null(strstr(run.output, "d_year  sum(lo_revenue)"));
    assert_non_null(strstr(run.output, "p_partkey"));
    assert_non_null(strstr(run.output, "count(*)\n2000\n"));
}

static void a_database_may_stand_for_a_command(void **state)
{
    (void)state;
    run_shell("$T $D --format csv 'select count(*) as n from date'", &run);
    assert_string_equal(run.output, "n\n2557\n");
    run_shell("echo 'select nope from date' | $T $D", &run);
    assert_int_equal(run.exit_code, 2);
    assert_non_null(strstr(run.errors, "there is no column nope"));
    run_shell("$T ./no-such.db", &run);
    assert_int_equal(run.exit_code, 2);
    assert_non_null(strstr(run.errors, "there is no command and no database './no-such.db'"));
    run_shell("$T $D/tables", &run); /* a folder that is no database */
    assert_int_equal(run.exit_code, 2);
}

static void quit_ends_a_script_well(void **state)
{
    (void)state;
    assert_script(".quit\nthis is no SQL", 0, "", "");
    assert_script(".exit", 0, "", "");
}

static void tables_and_their_schemas_are_told(void **state)
{
    (void)state;
    assert_script(
        ".tables", 0,
        "lineorder               60175 rows,  17 columns; references customer, part, supplier, date\n", "");
    assert_script(".schema DATE", 0,
                  "CREATE TABLE date (\n    d_datekey INT PRIMARY KEY,\n    d_date TEXT NOT NULL,\n", "");
    assert_script(".schema \"lineorder\";", 0,
                  "    lo_custkey INT NOT NULL REFERENCES customer(c_custkey),\n", "");
    assert_script(".schema lineorders", 2, "", "lineorder");
}

static void schemas_can_be_loaded_again(void **state)
{
    (void)state;
    run_shell("cd $D/.. && $T sql --db $D '.schema' > star.sql && $T sql --db $D --format csv "
              "'select * from supplier' > supplier.csv && $T load --db $D/../again --schema star.sql "
              "supplier=supplier.csv && $T sql --db $D/../again --format csv 'select * from supplier' | "
              "cmp - supplier.csv",
              &run);
    if (run.exit_code != 0)
        fail_msg("%s%s", run.output, run.errors);
}

static void names_are_quoted_where_scripts_need_it(void **state)
{
    (void)state;
    run_shell(
        "mkdir -p $D/../odd && cd $D/../odd && printf '%s\\n' 'CREATE TABLE \"group\" (\"2024\" INT PRIMARY "
        "KEY, "
        "\"a\"\"b\" TEXT, \"order\" INT, \"primary\" INT, \"Gr\303\266\303\237e\" DECIMAL(5,1));' "
        "'CREATE TABLE f (\"from\" INT REFERENCES \"group\", \"\"\"\" DOUBLE);' >one.sql && echo 1,x,2,3,4.5 "
        ">g.csv && "
        "echo 1,0.5 >f.csv && for n in one two; do $T load --db $n --schema $n.sql group=g.csv f=f.csv && $T "
        "sql "
        "--db $n .schema >two.sql && cp two.sql $n.out; done 2>&1 && cmp one.out two.out && cat two.out",
        &run);
    if (run.exit_code != 0)
        fail_msg("%s%s", run.output, run.errors);
    assert_non_null(strstr(
        run.output, "CREATE TABLE \"group\" (\n    \"2024\" INT PRIMARY KEY,\n    \"a\"\"b\" TEXT,\n"));
    assert_non_null(
        strstr(run.output, "    \"from\" INT REFERENCES \"group\"(\"2024\"),\n    \"\"\"\" DOUBLE\n"));
}

static void dot_commands_check_their_words(void **state)
{
    (void)state;
    assert_script(".mode\n.mode markdown\n.mode\n.timer\n.timer on\n.timer", 0, "table\nmarkdown\noff\non\n",
                  "");
    assert_script(".mode xml", 2, "", "line 1, column 1: 'xml' is no mode; use table, csv, json or markdown");
    assert_script(".index\n.index off\n.index", 0, "auto\noff\n", "");
    assert_script(".like\n.like sqlite\n.like", 0, "standard\nsqlite\n", "");
    assert_script(".index maybe", 2, "", "line 1, column 1: indexes are used auto, on or off, not 'maybe'");
    assert_script(".timer maybe", 2, "", "the timer is on or off, not 'maybe'");
    assert_script(".timer on off", 2, "", ".timer takes one word, not 'off' too");
    assert_script(".tables x", 2, "", ".tables takes nothing behind it, not 'x' too");
    assert_script(".device cpu\n.device", 0, "CPU, ", "");
    assert_script(".device abacus", 2, "", "abacus");
    assert_script(".help", 0, ".quit", "");
    assert_script(".timer on\nselect count(*) from date;", 0, "2557", "1 row; parse ");
}

/* A statement of several levels obeys as one of a single level does. */
static void settings_hold_for_all_levels(void **state)
{
    (void)state;
    assert_script(
        ".mode csv\n.like sqlite\nwith t as (select s_region from supplier where s_region like 'asi%') "
        "select count(*) > 0 as any from t;\nselect count(*) > 0 as inside from (select s_region from "
        "supplier) t "
        "where s_region like 'asi%';",
        0, "any\ntrue\ninside\ntrue\n", "");
    assert_script(".mode csv\nselect count(*) as none from (select s_region from supplier) t where s_region "
                  "like 'asi%';",
                  0, "none\n0\n", "");
    assert_script(".explain on\nselect max(n) from (select count(*) as n from date group by d_year) t;", 0,
                  "plan\n", "");
    assert_non_null(strstr(run.output, "scan date: 2557 rows"));
}

static void tables_can_be_described_in_sql(void **state)
{
    (void)state;
    assert_script(".mode csv\nshow tables;\ndescribe date; select 1 as one from date limit 1;", 0,
                  "table,rows,columns,references\n", "");
    assert_non_null(strstr(run.output, "lineorder,60175,17,\"customer, part, supplier, date\"\n"));
    assert_non_null(strstr(run.output, "column,type,null,key,references\nd_datekey,int32,no,primary,\"\"\n"));
    assert_non_null(strstr(run.output, "one\n1\n"));
    assert_script(".mode csv\nDESC table \"lineorder\"", 0,
                  "lo_custkey,int32,no,foreign,customer(c_custkey)\n", "");
    assert_script("describe dates;", 2, "", "line 1, column 10: database ");
    assert_non_null(strstr(run.errors, "has no table \"dates\"; did you mean date?"));
    assert_script("show columns;", 2, "",
                  "line 1, column 6: there are SHOW TABLES and SHOW VIEWS; DESCRIBE NAME shows");
    assert_script("describe;", 2, "", "line 1, column 9: DESCRIBE needs the name of a table");
    assert_script("describe date date;", 2, "", "line 1, column 15: nothing more is expected here");
    assert_script(
        ".explain\n.explain on\nselect count(*) from date;\n.explain off\nselect count(*) from date;", 0,
        "off\nplan\n", "");
    assert_non_null(strstr(run.output, "scan date: 2557 rows"));
    assert_non_null(strstr(run.output, "count(*)\n--------\n    2557\n"));
    assert_script(".explain maybe", 2, "", "line 1, column 1: explain is on, analyze or off, not 'maybe'");
    assert_script(".pager\n.pager off\n.pager\n.rows\n.rows all\n.rows\n.rows 2\nselect d_year from date;", 0,
                  "on\noff\n1000\nall\nd_year\n------\n  1992\n  1992\n2 of 2557 rows are shown; .rows all",
                  "");
    assert_script(".rows no", 2, "", "rows are a number or all, not 'no'");
    run_shell("$T sql --db $D --rows 1 --format csv 'select d_year from date'", &run);
    assert_string_equal(run.output, "d_year\n1992\n"); /* data for a program stay data */
    assert_non_null(strstr(run.errors, "1 of 2557 rows are shown"));
    run_shell("$T sql --db $D --rows -1 'select d_year from date'", &run);
    assert_int_equal(run.exit_code, 2);
}

/* The answer of a statement comes before the script goes on; the writer waits for it. */
static void scripts_are_run_while_they_arrive(void **state)
{
    (void)state;
    run_shell(
        "mkfifo $D.in $D.out; $T sql --format csv --db $D < $D.in > $D.out & exec 3> $D.in 4< $D.out; "
        "printf 'select count(*) as a from date; select ' >&3; read -r x <&4; read -r y <&4; echo got $x $y; "
        "printf \"'a;b' as b, d_year from date limit 1;\\n.mode json\\n.mode\\n\" >&3; "
        "read -r x <&4; read -r y <&4; read -r z <&4; echo got $x $y $z; "
        "printf '\\n  select #' >&3; exec 3>&-; cat <&4; wait $!; echo code $?; rm $D.in $D.out",
        &run);
    assert_string_equal(run.output, "got a 2557\ngot b,d_year a;b,1992 json\ncode 2\n");
    assert_non_null(strstr(run.errors, "tessera: line 5, column 10: the character '#'"));
    /* An error does not wait for the end of the script. */
    run_shell(
        "mkfifo $D.in; (echo 'select nope from date;'; exec sleep 200) > $D.in & timeout 100 $T sql --db "
        "$D < $D.in "
        "2>&1; echo code $?; kill $!; rm $D.in",
        &run);
    assert_non_null(strstr(run.output, "line 1, column 8: there is no column nope"));
    assert_non_null(strstr(run.output, "code 2"));
    /* A statement of megabytes, and many small ones. */
    run_shell(
        "(printf 'select count(*) as many from date where d_year in (1992'; seq -s '' -f ',%g' 10000 260000; "
        "echo ');'; for i in $(seq 400); do echo 'select 1 as few from date limit 1;'; done) | "
        "$T sql --format csv --db $D | sort | uniq -c | tr -s ' '",
        &run);
    assert_string_equal(run.output, " 400 1\n 1 366\n 400 few\n 1 many\n");
}

#define TIMER_TRIES 20

/* Runs a statement; fails unless the parts that the timer names are within the total; returns whether they are 95 % of it. */
static bool the_parts_are_the_time(const char *statement)
{
    static const char *const parts[] = {"parse ", "bind ",  "plan ",      "compile ", "load ",
                                        "run ",   "fetch ", "operators ", "output ",  "write "};
    char command[600];
    double part, total = 0, sum = 0;
    snprintf(command, sizeof command, "$T sql --db $D --timer --format json \"%s\" > /dev/null", statement);
    run_shell(command, &run);
    assert_int_equal(run.exit_code, 0);
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
        const char *const at = strstr(run.errors, parts[p]);
        if (!at || sscanf(at + strlen(parts[p]), "%lf", &part) != 1)
            fail_msg("no %s in %s", parts[p], run.errors);
        sum += part;
    }
    const char *const end = strstr(run.errors, "; total ");
    assert_true(end && sscanf(end, "; total %lf on CPU", &total) == 1);
    assert_true(sum <= total + 0.01);
    return sum >= 0.95 * total;
}

static void memory_is_limited(void **state)
{
    (void)state;
    run_shell("$T sql --db $D --memory 100K --timer 'select * from lineorder' > /dev/null", &run);
    assert_int_equal(run.exit_code, 0);
    assert_non_null(strstr(run.errors, " MB, spilled "));
    run_shell("$T sql --db $D --memory 100K --spill /nowhere 'select * from lineorder' > /dev/null", &run);
    assert_int_equal(run.exit_code, 2);
    assert_non_null(strstr(run.errors, "cannot make a file in /nowhere"));
    run_shell("$T sql --db $D --memory 1 'select lo_orderkey, sum(lo_revenue) from lineorder group by 1'",
              &run);
    assert_int_equal(run.exit_code, 3);
    assert_non_null(strstr(run.errors, "of the 1 that are allowed are in use; allow more (--memory)"));
    run_shell("$T sql --db $D --memory 1G --spill /nowhere --timer 'select count(*) from lineorder'", &run);
    assert_int_equal(run.exit_code, 0);
    assert_non_null(strstr(run.errors, "; memory 0.0 MB\n"));
    run_shell("$T sql --db $D --memory lots 'select 1'", &run);
    assert_int_equal(run.exit_code, 2);
    assert_non_null(strstr(run.errors, "--memory: 'lots' is no number of bytes"));
}

/* Of a statement that one scan answers, of one with joins and sorts above scans, of rows that are printed. A machine that is
 * busy may stop the program between two parts. */
static void the_timer_names_the_time(void **state)
{
    static const char *const statements[] = {
        "select * from lineorder",
        "select d_year, sum(lo_revenue) from lineorder, date where lo_orderdate = d_datekey group by d_year",
        "select a.n, count(*) from (select lo_custkey k, count(*) n from lineorder group by lo_custkey) a "
        "join "
        "(select lo_partkey k, sum(lo_revenue) n from lineorder group by lo_partkey) b on a.k = b.k group by "
        "a.n "
        "order by 2 desc",
        "select lo_orderkey, sum(lo_revenue) over (partition by lo_custkey order by lo_orderkey) from "
        "lineorder "
        "order by 2"};
    (void)state;
    for (size_t s = 0; s < sizeof statements / sizeof *statements; s++)
        for (int tries = 0; !the_parts_are_the_time(statements[s]); tries++)
            if (tries == TIMER_TRIES)
                fail_msg("%s", run.errors);
}

/* As `cat` ends: by SIGPIPE, at once and without a word. The subshell tells the program's code on standard error. */
static void a_reader_that_has_gone_ends_a_script(void **state)
{
    static const char *const shells[] = {
        "for i in 1 2 3 4 5 6 7 8 9; do echo 'select * from lineorder;'; done | "
        "($T sql --db $D --format csv; echo \"code $?\" >&2) | head -1",
        "($T sql --db $D --format csv 'select * from lineorder'; echo \"code $?\" >&2) | head -1"};
    (void)state;
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        run_shell(shells[i], &run);
        assert_memory_equal(run.output, "lo_orderkey,", 12);
        assert_string_equal(run.errors, "code 141\n");
    }
    run_shell("$T sql --db $D 'select * from lineorder' > /dev/full", &run);
    assert_int_equal(run.exit_code, 3);
    assert_non_null(
        strstr(run.errors, "could not be written: No space left on device; what was printed is not"));
    run_shell("$T sql --db $D '.tables' > /dev/full", &run);
    assert_int_equal(run.exit_code, 3);
}

/* ---- A terminal ---- */

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
    terminal_run("exec $T sql --db $D --device cpu");
    expect("tessera> ");
    type("select count(*) from lineorder a, lineorder b, lineorder c where a.lo_tax * b.lo_tax < "
         "c.lo_revenue;\n");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements_and_dot_commands_are_answered_in_turn),
        cmocka_unit_test(the_first_error_ends_a_script),
        cmocka_unit_test(quit_ends_a_script_well),
        cmocka_unit_test(examples_in_help_run),
        cmocka_unit_test(a_database_may_stand_for_a_command),
        cmocka_unit_test(tables_and_their_schemas_are_told),
        cmocka_unit_test(schemas_can_be_loaded_again),
        cmocka_unit_test(names_are_quoted_where_scripts_need_it),
        cmocka_unit_test(dot_commands_check_their_words),
        cmocka_unit_test(settings_hold_for_all_levels),
        cmocka_unit_test(tables_can_be_described_in_sql),
        cmocka_unit_test(scripts_are_run_while_they_arrive),
        cmocka_unit_test(the_timer_names_the_time),
        cmocka_unit_test(memory_is_limited),
        cmocka_unit_test(a_reader_that_has_gone_ends_a_script),
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
    return cmocka_run_group_tests_name("sql_shell", tests, load, unload);
}
