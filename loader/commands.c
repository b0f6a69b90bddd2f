/* commands.c: the loader's commands. */
#include "loader/commands.h"

#include <stddef.h>

const struct command loader_commands[] = {
    {"load", "Loads a star schema of your own from CSV, TSV, '|'-delimited, JSON, ORC or Parquet files",
     command_load},
    {NULL, NULL, NULL},
};
