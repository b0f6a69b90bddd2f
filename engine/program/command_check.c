/* command_check.c: `tessera check`, which checks every checksum of a database, and every value against its
 * statistics. */
#include "engine/program/commands.h"

#include "storage/database/database.h"

#include <argp.h>
#include <stdio.h>

struct check_options {
    const char *database;
    uint64_t faults;
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct check_options *options = state->input;
    switch (key) {
    case 'd':
        options->database = value;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "it takes no argument, not '%s'", value);
        return 0;
    case ARGP_KEY_END:
        if (!options->database)
            argp_error(state, "which database? Add --db DIR");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void print_line(void *context, const char *line, bool fault)
{
    struct check_options *options = context;
    options->faults += fault;
    printf("%s %s\n", fault ? "FAULT" : "note ", line);
}

enum status command_check(int argc, char **argv, struct progress *progress, struct error *error)
{
    static const struct argp_option known[] = {
        {"db", 'd', "DIR", 0, "the database to check", 0},
        {0},
    };
    static const struct argp argp = {
        .options = known,
        .parser = parse_option,
        .doc = "Checks every checksum of a database, and every value against its statistics; names each "
               "fault and each "
               "file that does not belong to it. Exit code 1 if there is a fault.",
    };
    struct check_options options = {0};
    if (argp_parse(&argp, argc, argv, 0, NULL, &options) != 0)
        return error_set(error, STATUS_BAD_INPUT,
                         "the options could not be read; see `tessera check --help`");
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
