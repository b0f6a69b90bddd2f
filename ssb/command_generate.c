/* command_generate.c: `tessera ssb generate`, which writes ssb-dbgen's .tbl files. */
#include "ssb/commands.h"

#include "ssb/data/generator.h"
#include "ssb/options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum option_key { KEY_OUT = 'o', KEY_TABLE = 't', KEY_THREADS = 'j' };

static const struct argp_option option_list[] = {
    {"out", KEY_OUT, "DIR", 0, "Folder for the files; made if missing, files of the same names are replaced",
     0},
    {"table", KEY_TABLE, "NAME,...", 0, "Only these tables: part, supplier, customer, date, lineorder", 0},
    {"threads", KEY_THREADS, "N", 0, "Threads; all processors by default. The files do not depend on it", 0},
    {0}};

struct arguments {
    struct ssb_options_input data;
    const char *directory;
    bool tables[SSB_TABLES];
    unsigned threads;
};

static enum status parse_tables(const char *text, bool tables[SSB_TABLES], struct error *error)
{
    for (const char *rest = text; rest;) {
        const char *comma = strchr(rest, ',');
        const int length = comma ? (int)(comma - rest) : (int)strlen(rest);
        char name[64];
        snprintf(name, sizeof name, "%.*s", length, rest);
        enum ssb_table table;
        RETURN_IF_ERROR(ssb_table_parse(name, &table, error));
        tables[table] = true;
        rest = comma ? comma + 1 : NULL;
    }
    return STATUS_OK;
}

static error_t parse_key(int key, char *argument, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    struct error *error = arguments->data.error;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->data;
        return 0;
    case KEY_OUT:
        arguments->directory = argument;
        return 0;
    case KEY_TABLE:
        return parse_tables(argument, arguments->tables, error) == STATUS_OK ? 0 : EINVAL;
    case KEY_THREADS:
        return ssb_threads_parse(argument, &arguments->threads, error) == STATUS_OK ? 0 : EINVAL;
    case ARGP_KEY_SUCCESS:
        if (arguments->directory)
            return 0;
        error_set(error, STATUS_BAD_INPUT,
                  "--out is missing; give the folder for the files, as in --out ssb1");
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{.argp = &ssb_options_argp}, {0}};

static const struct argp parser = {
    .options = option_list,
    .parser = parse_key,
    .children = children,
    .doc = "Writes the tables of the Star Schema Benchmark as text, byte-identical to ssb-dbgen's files.\v"
           "Examples:\n"
           "  tessera ssb generate --sf 1 --out ssb1\n"
           "  tessera ssb generate --sf 0.1 --out small --table date,lineorder --date-table classic",
};

static enum status write_tables(const struct arguments *arguments, struct progress *progress,
                                struct error *error)
{
    bool every = true; /* without --table */
    for (enum ssb_table table = 0; table < SSB_TABLES; table++)
        every &= !arguments->tables[table];
    struct ssb_generator *generator = NULL;
    RETURN_IF_ERROR(ssb_generator_create(&arguments->data.options, arguments->threads, &generator, error));
    enum status status = STATUS_OK;
    for (enum ssb_table table = 0; table < SSB_TABLES && status == STATUS_OK; table++) {
        if (!every && !arguments->tables[table])
            continue;
        status = ssb_write_tbl(generator, table, arguments->directory, arguments->threads, progress, error);
        if (status == STATUS_OK)
            fprintf(stderr, "%s/%s.tbl: %" PRIu64 " rows\n", arguments->directory,
                    ssb_table_info(table)->name, ssb_rows(generator, table));
    }
    ssb_generator_destroy(generator);
    return status;
}

enum status ssb_generate_command(int argc, char **argv, struct progress *progress, struct error *error)
{
    struct error failure = {0};
    struct arguments arguments = {.data = {.options = SSB_OPTIONS_DEFAULT, .error = &failure}};
    RETURN_IF_ERROR(ssb_command_line(&parser, argc, argv, &arguments, &failure, error));
    return write_tables(&arguments, progress, error);
}
