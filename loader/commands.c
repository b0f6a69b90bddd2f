/* commands.c: the commands that the loader brings to the program: none of its own. The benchmark's rows come
 * in through `tessera ssb load` (ssb/commands.c), which is built on this folder. */
#include "storage/command.h"

#include <stddef.h>

const struct command loader_commands[] = {
    {NULL, NULL, NULL},
};
