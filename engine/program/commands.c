/* commands.c: the engine's commands. */
#include "engine/program/commands.h"

#include <stddef.h>

const struct command engine_commands[] = {
    {"inspect",
     "What a database holds: codecs, sizes and statistics of its columns; or an ORC or Parquet file",
     command_inspect},
    {"index create", "Gives a column a bitmap index", command_index_create},
    {"index drop", "Drops the bitmap index of a column", command_index_drop},
    {"delete", "Deletes the rows of a table that pass a condition", command_delete},
    {"compact", "Full segments instead of the small ones that appends made", command_compact},
    {"check", "Every checksum of a database", command_check},
    {"calibrate", "What codecs cost on this machine: the table that `--codec auto` chooses by",
     command_calibrate},
    {"sql", "Answers SELECT statements over a star schema", command_sql},
    {"codecs", "What a column can be compressed with", command_codecs},
    {"devices", "What this machine has, or why the GPU cannot be used", command_devices},
    {NULL, NULL, NULL},
};
