/* commands.c: what the engine brings to the command line. */
#include "engine/commands.h"

#include <stddef.h>

const struct command engine_commands[] = {
    {"devices", "what this machine has, or why the GPU cannot be used", command_devices},
    {NULL, NULL, NULL},
};
