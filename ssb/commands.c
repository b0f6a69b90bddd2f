/* commands.c: the benchmark's commands. */
#include "ssb/commands.h"

#include <stddef.h>

const struct command ssb_commands[] = {
    {"ssb generate", "Write the benchmark's tables as text files", ssb_generate_command},
    {"ssb load", "Make a database of the benchmark", ssb_load_command},
    {"ssb run", "Run the 13 queries, timed and checked", ssb_run_command},
    {"ssb compare", "Compare runtimes and sizes of codecs", ssb_compare_command},
    {NULL, NULL, NULL},
};
