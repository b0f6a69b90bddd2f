/* test_guide.c: what docs/guide.md says to type gives what it shows: every line of an answer that stands in the guide
 * is printed by the commands, run here as they stand there. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/database_cases.h"
#include "tests/support/run_program.h"

static struct program_run run;

/* The guide's commands that begin with "tessera ", with their continued lines, one after the other. */
static char *commands_of(const char *guide)
{
    char *commands = NULL;
    size_t bytes;
    FILE *out = open_memstream(&commands, &bytes);
    bool quoted = false, inside = false;
    for (const char *line = guide; *line; line += strcspn(line, "\n") + 1) {
        const size_t length = strcspn(line, "\n");
        if (strncmp(line, "    tessera ", 12) == 0)
            inside = true;
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
    static const char *const others[] = {"    tessera", "    make ", "    CREATE TABLE"};
    unsigned printed = 0;
    bool before = false, answer = false;
    for (const char *line = guide; *line; line += strcspn(line, "\n") + 1) {
        const size_t length = strcspn(line, "\n");
        const bool indented = strncmp(line, "    ", 4) == 0;
        if (indented && !before) { /* a block begins */
            answer = true;
            for (size_t o = 0; o < sizeof others / sizeof *others; o++)
                answer &= strncmp(line, others[o], strlen(others[o])) != 0;
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
    snprintf(shell, sizeof shell,
             "set -e; cd '%.*s'; '%s/docs/guide/make-data.sh' cafe; tessera() { \"$T\" \"$@\"; }\n%s"
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
