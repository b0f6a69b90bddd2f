/*
 * comma_locale.h: for tests in a locale whose numbers have a comma, as a program that embeds the library may have set it.
 * A machine without that locale gets it by localedef, in a temporary folder, if the locales' sources are installed (on
 * Debian: the package locales).
 */
#ifndef TESSERA_TESTS_SUPPORT_COMMA_LOCALE_H
#define TESSERA_TESTS_SUPPORT_COMMA_LOCALE_H

#include "tests/support/database_cases.h"

#include <locale.h>

static char comma_locale_folder[PATH_BYTES];

/* Sets the locale of a language, such as "de_DE"; false, with a word on standard error, if the machine cannot. */
static inline bool comma_locale_set(const char *language)
{
    char name[64], command[2 * PATH_BYTES];
    snprintf(name, sizeof name, "%s.UTF-8", language);
    if (!setlocale(LC_ALL, name)) {
        if (!comma_locale_folder[0]) {
            directory_make(comma_locale_folder);
            mkdir(comma_locale_folder, 0700);
            setenv("LOCPATH", comma_locale_folder, 1);
        }
        snprintf(command, sizeof command, "localedef -i %s -f UTF-8 '%s/%s' >/dev/null 2>&1", language,
                 comma_locale_folder, name);
        if (system(command) != 0 || !setlocale(LC_ALL, name)) {
            fprintf(stderr, "there is no locale %s, and localedef cannot make it: nothing is tested\n", name);
            return false;
        }
    }
    assert_string_equal(localeconv()->decimal_point, ",");
    return true;
}

static inline void comma_locale_end(void)
{
    setlocale(LC_ALL, "C");
    if (comma_locale_folder[0])
        directory_remove(comma_locale_folder);
    comma_locale_folder[0] = '\0';
    unsetenv("LOCPATH");
}

#endif
