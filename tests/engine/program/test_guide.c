/*
 * test_guide.c: what docs/guide.md says to type gives what it shows: every line of an answer that stands in the guide is
 * printed by the commands, run here as they stand there, from the first to the last, in a folder that is as a clone after
 * `make build`, whose program is the one that is tested.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/database_cases.h"
#include "tests/support/run_program.h"

static struct program_run run;

/* How a command begins. */
static const char *const beginnings[] = {"    make ", "    export ", "    docs/", "    tessera "};

static bool is_command(const char *line)
{
    for (size_t b = 0; b < sizeof beginnings / sizeof *beginnings; b++)
        if (strncmp(line, beginnings[b], strlen(beginnings[b])) == 0)
            return true;
    return false;
}

/* The guide's commands, with their continued lines, one after the other. */
static char *commands_of(const char *guide)
{
    char *commands = NULL;
    size_t bytes;
    FILE *out = open_memstream(&commands, &bytes);
    bool quoted = false, inside = false;
    for (const char *line = guide; *line; line += strcspn(line, "\n") + 1) {
        const size_t length = strcspn(line, "\n");
        inside |= is_command(line);
        if (!inside)
            continue;
        for (size_t i = 0; i < length; i++)
            quoted ^= line[i] == '"';
        fprintf(out, "%.*s\n", (int)length, line);
        inside = quoted;
    }
    fclose(out);
    return commands;
}

static char *file_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 1 << 16);
    assert_true(fread(text, 1, (1 << 16) - 1, file) > 0);
    fclose(file);
    return text;
}

/* Every indented line of the guide that is no command, no script and no message is in the output; gives their number. */
static unsigned lines_are_printed(const char *guide, const char *output)
{
    static const char message[] = "    tessera:", script[] = "    CREATE TABLE";
    unsigned printed = 0;
    bool before = false, answer = false;
    for (const char *line = guide; *line; line += strcspn(line, "\n") + 1) {
        const size_t length = strcspn(line, "\n");
        const bool indented = strncmp(line, "    ", 4) == 0;
        if (indented && !before) { /* a block begins */
            answer = !is_command(line) && strncmp(line, message, strlen(message)) != 0 &&
                     strncmp(line, script, strlen(script)) != 0;
        }
        before = indented;
        if (!indented || !answer || strncmp(line, "    ...", 7) == 0)
            continue;
        char shown[256];
        snprintf(shown, sizeof shown, "%.*s\n", (int)length - 4, line + 4);
        if (!strstr(output, shown))
            fail_msg("not printed: %s\n%s", shown, output);
        printed++;
    }
    return printed;
}

static void the_guide_s_commands_print_what_it_shows(void **state)
{
    char path[PATH_BYTES], shell[1 << 14];
    (void)state;
    directory_make(path);
    char *guide = file_text(TESSERA_SOURCE "/docs/guide.md"), *commands = commands_of(guide);
    assert_non_null(strstr(commands, "tessera load"));
    assert_non_null(strstr(commands, "docs/guide/make-data.sh cafe\n"));
    snprintf(shell, sizeof shell,
             "set -e; cd '%.*s'; ln -s '%s/docs' docs; mkdir -p build/release; ln -s \"$T\" "
             "build/release/tessera\n"
             "make() { test \"$*\" = build; }; PATH=/usr/bin:/bin\n%s"
             "sed 's/Hafen/Hofen/' cafe/sales.csv > cafe/bad.csv\n",
             (int)(strlen(path) - 3), path, TESSERA_SOURCE, commands);
    run_shell(shell, &run);
    if (run.exit_code != 0)
        fail_msg("%s\n%s", shell, run.errors);
    assert_true(lines_are_printed(guide, run.output) > 12);
    snprintf(
        shell, sizeof shell,
        "cd '%.*s'; \"$T\" load --db bad.db --schema cafe/star.sql sales=cafe/bad.csv shops=cafe/shops.csv "
        "products=cafe/products.csv",
        (int)(strlen(path) - 3), path);
    run_shell(shell, &run);
    assert_int_equal(run.exit_code, 2);
    assert_non_null(strstr(run.errors, "column shop: no row of table shops has name 'Hofen' (--dangling null "
                                       "stores NULL for such keys); nothing"));
    free(guide);
    free(commands);
    directory_remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_guide_s_commands_print_what_it_shows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
