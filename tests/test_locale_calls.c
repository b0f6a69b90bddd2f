/* test_locale_calls.c: no source calls what asks the locale, which a program that embeds the library may have set:
 *
 *   * numbers are read and written by storage/base/number/number_text.h: no strtod and atof, and no printf and its like
 *     with %e, %f or %g, but for %.0f, which has no point; nor
 *     vsnprintf and vfprintf, whose formats are anywhere
 *   * words are compared by storage/base/words/word.h: no strcasecmp, no tolower
 *
 * What only the program has may print as it likes: it sets no locale but LC_CTYPE, for the prompt, which is tested, too.
 * Each offence is printed as file:line. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <ctype.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof array / sizeof *(array))

static const char *const never[] = {"strtod",     "strtof",      "strtold",    "atof",
                                    "strcasecmp", "strncasecmp", "strcasestr", "tolower",
                                    "strcoll",    "vsnprintf",   "vfprintf"};
static const char *const prints[] = {"printf", "fprintf", "snprintf", "asprintf", "dprintf"};

/* The program's own: commands, pages of reports, the benchmark's and the laboratory's tables. */
static const char *const of_the_program[] = {"engine/program/",
                                             "engine/report/",
                                             "loader/command_",
                                             "loader/orc/orc_inspect.c",
                                             "loader/parquet/parquet_inspect.c",
                                             "ssb/",
                                             "lab/"};

static unsigned files, offences;

/* ---- Calls ---- */

static bool is_one_of(const char *name, size_t length, const char *const *names, size_t count)
{
    for (size_t n = 0; n < count; n++)
        if (strlen(names[n]) == length && strncmp(name, names[n], length) == 0)
            return true;
    return false;
}

/* The end of the literal that begins at `at`. */
static const char *skip_literal(const char *at)
{
    const char quote = *at++;
    while (*at && *at != quote)
        at += at[0] == '\\' && at[1] ? 2 : 1;
    return *at ? at + 1 : at;
}

/* True if a format has a conversion that writes a point. */
static bool writes_a_point(const char *at, const char *end)
{
    while ((at = memchr(at, '%', (size_t)(end - at)))) {
        const char *const conversion = ++at;
        at += strspn(at, "-+#0123456789.*lLh");
        if (at < end && strchr("aefgAEFG", *at) && strncmp(at - 2, ".0", 2) != 0)
            return true;
        at += at < end && at == conversion && *at == '%';
    }
    return false;
}

/* True if a literal among the arguments of the call that begins at its parenthesis does. */
static bool call_writes_a_point(const char *at)
{
    int depth = 0;
    do {
        if (*at == '"' || *at == '\'') {
            const char *const end = skip_literal(at);
            if (*at == '"' && writes_a_point(at, end))
                return true;
            at = end;
            continue;
        }
        depth += (*at == '(') - (*at == ')');
        at++;
    } while (*at && depth > 0);
    return false;
}

/* What is wrong with the call of a name, or NULL. `at`: its parenthesis. */
static const char *offence(const char *name, size_t length, const char *at, bool is_program)
{
    if (is_one_of(name, length, never, COUNT(never)))
        return "asks the locale; see storage/base/number/number_text.h and storage/base/words/word.h";
    if (!is_program && is_one_of(name, length, prints, COUNT(prints)) && call_writes_a_point(at))
        return "writes the locale's point; see storage/base/number/number_text.h";
    if (length == strlen("setlocale") && strncmp(name, "setlocale", length) == 0 &&
        strncmp(at, "(LC_CTYPE", 9) != 0)
        return "sets more of the locale than LC_CTYPE";
    return NULL;
}

/* ---- Sources ---- */

static void read_source(const char *file, const char *text, bool is_program)
{
    unsigned line = 1;
    for (const char *at = text; *at;) {
        if (at[0] == '/' && (at[1] == '*' || at[1] == '/')) {
            const char *const end = strstr(at + 2, at[1] == '*' ? "*/" : "\n");
            for (; *at && at < end; at++)
                line += *at == '\n';
        } else if (*at == '"' || *at == '\'') {
            at = skip_literal(at);
        } else if (isalpha((unsigned char)*at) || *at == '_') {
            const size_t length =
                strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
            const char *const wrong = at[length] == '(' ? offence(at, length, at + length, is_program) : NULL;
            if (wrong) {
                print_error("%s:%u: %.*s %s\n", file, line, (int)length, at, wrong);
                offences++;
            }
            at += length;
        } else {
            line += *at++ == '\n';
        }
    }
}

static void asking_calls_are_found(void **state)
{
    const unsigned before = offences;
    (void)state;
    print_message("four offences are found here on purpose:\n");
    read_source("test", "x = strtod(text, &end); /* strtod( */", true);
    read_source("test", "snprintf(text, 9,\n \"%d\" \"%.4g\", f(1), 2.0)", false);
    read_source("test", "fprintf(out, \"%5.1lf\", x)", false);
    read_source("test", "setlocale(LC_ALL, \"\")", true);
    assert_int_equal(offences - before, 4);
    read_source("test",
                "fprintf(out, \"%.0f %% gone %d %\" PRIu64 \" a\", x, 1, y); number_print(t, 9, \"%g\", x)",
                false);
    read_source("test", "printf(\"%.1f\", x); setlocale(LC_CTYPE, \"\")", true);
    assert_int_equal(offences - before, 4);
    offences = before;
}

static int visit(const char *path, const struct stat *stat, int type, struct FTW *where)
{
    const char *const dot = strrchr(path, '.'), *const file = path + strlen(TESSERA_SOURCE) + 1;
    char *text = NULL;
    size_t capacity = 0;
    bool is_program = false;
    (void)stat;
    (void)where;
    if (type != FTW_F || !dot || strcmp(file, "storage/base/number/number_text.c") == 0 ||
        (strcmp(dot, ".c") != 0 && strcmp(dot, ".h") != 0))
        return 0;
    for (size_t p = 0; p < COUNT(of_the_program); p++)
        is_program |= strncmp(file, of_the_program[p], strlen(of_the_program[p])) == 0;
    FILE *const stream = fopen(path, "re");
    assert_non_null(stream);
    if (getdelim(&text, &capacity, '\0', stream) > 0)
        read_source(file, text, is_program);
    free(text);
    fclose(stream);
    files++;
    return 0;
}

static void the_source_asks_no_locale(void **state)
{
    static const char *const modules[] = {"storage", "operators", "engine", "loader", "ssb", "lab"};
    char path[4096];
    (void)state;
    for (size_t m = 0; m < COUNT(modules); m++) {
        snprintf(path, sizeof path, "%s/%s", TESSERA_SOURCE, modules[m]);
        nftw(path, visit, 16, FTW_PHYS);
    }
    assert_true(files > 200);
    assert_int_equal(offences, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asking_calls_are_found),
        cmocka_unit_test(the_source_asks_no_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
