/* commands.c: what ssb brings to the command line. */
#include "storage/command.h"

#include <stddef.h>

const struct command ssb_commands[] = {
    {NULL, NULL, NULL},
};
