/* command_check.c: `tessera check`, which checks every checksum of a database, and every value against its
 * statistics. */
#include "engine/program/commands.h"

#include "storage/base/command/command_line.h"
#include "storage/database/database.h"

#include <stdio.h>

struct check_options {
    const char *database;
    uint64_t faults;
};

static void print_line(void *context, const char *line, bool fault)
{
    struct check_options *options = context;
    options->faults += fault;
    printf("%s %s\n", fault ? "FAULT" : "note ", line);
}

enum status command_check(int argc, char **argv, struct progress *progress, struct error *error)
{
    static const struct command_option known[] = {
        {"db", 'd', "DIR", "the database to check", TO_TEXT(struct check_options, database),
         .missing = "which database? Add --db DIR"},
        {0},
    };
    static const struct command_line line = {
        .options = known,
        .help = "Checks every checksum of a database, and every value against its statistics; names each "
                "fault and each file that does not belong to it. Exit code 1 if there is a fault.",
    };
    struct check_options options = {0};
    RETURN_IF_ERROR(command_line_read(&line, argc, argv, &options, error));
    struct error first = {0};
    enum status status = database_check(options.database, 0, print_line, &options, progress, &first);
    if (status == STATUS_OK)
        printf("%s: no fault\n", options.database);
    if (status == STATUS_CHECK_FAILED)
        return error_set(
            error, status,
            "%s has %llu fault%s; restore the files named from a copy or load their tables again",
            options.database, (unsigned long long)options.faults, options.faults == 1 ? "" : "s");
    if (status != STATUS_OK && error)
        *error = first;
    return status;
}
