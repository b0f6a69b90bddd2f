/* command_generate.c: `tessera ssb generate`, which writes ssb-dbgen's .tbl files. */
#include "ssb/commands.h"

#include "ssb/data/generator.h"
#include "ssb/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct arguments {
    struct ssb_options data; /* first: the shared options are its */
    const char *directory;
    bool tables[SSB_TABLES];
    unsigned threads;
};

static enum status find_table(const char *name, enum ssb_table *table, struct error *error)
{
    for (*table = 0; *table < SSB_TABLES; ++*table)
        if (strcmp(name, ssb_table_info(*table)->name) == 0)
            return STATUS_OK;
    return error_set(
        error, STATUS_BAD_INPUT,
        "table '%.40s' does not exist; the tables are part, supplier, customer, date and lineorder", name);
}

static enum status read_tables(void *arguments, const char *text, struct error *error)
{
    struct arguments *const all = arguments;
    for (const char *rest = text; rest;) {
        const char *comma = strchr(rest, ',');
        const int length = comma ? (int)(comma - rest) : (int)strlen(rest);
        char name[64];
        snprintf(name, sizeof name, "%.*s", length, rest);
        enum ssb_table table;
        RETURN_IF_ERROR(find_table(name, &table, error));
        all->tables[table] = true;
        rest = comma ? comma + 1 : NULL;
    }
    return STATUS_OK;
}

static const struct command_option option_list[] = {
    {"out", 'o', "DIR", "Folder for the files; made if missing, files of the same names are replaced",
     TO_TEXT(struct arguments, directory),
     .missing = "--out is missing; give the folder for the files, as in --out ssb1"},
    {"table", 't', "NAME,...", "Only these tables: part, supplier, customer, date, lineorder",
     BY_FUNCTION(read_tables)},
    {"threads", 'j', "N", "Threads; all processors by default. The files do not depend on it",
     TO_NUMBER(struct arguments, threads, 1, PARALLEL_THREADS_MAX)},
    {0}};

static const struct command_line line = {
    .options = option_list,
    .shared = ssb_data_options,
    .help = "Writes the tables of the Star Schema Benchmark as text, byte-identical to ssb-dbgen's "
            "files unless --skew is given.\vExamples:\n"
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
    RETURN_IF_ERROR(ssb_generator_create(&arguments->data, arguments->threads, &generator, error));
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
    struct arguments arguments = {.data = SSB_OPTIONS_DEFAULT};
    RETURN_IF_ERROR(command_line_read(&line, argc, argv, &arguments, error));
    return write_tables(&arguments, progress, error);
}
