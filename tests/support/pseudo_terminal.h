/* pseudo_terminal.h: for tests that need a pseudo-terminal, which some containers do not have. Include it after cmocka.h. */
#ifndef TESSERA_TESTS_SUPPORT_PSEUDO_TERMINAL_H
#define TESSERA_TESTS_SUPPORT_PSEUDO_TERMINAL_H

#include "tests/support/not_run.h"

#include <pty.h>
#include <unistd.h>

/* Skips the test where none can be opened. */
static inline void need_pseudo_terminal(void)
{
    int terminal, screen;
    if (openpty(&terminal, &screen, NULL, NULL, NULL) != 0)
        not_run("there are no pseudo-terminals here (is /dev/pts mounted?)");
    close(terminal);
    close(screen);
}

#endif
