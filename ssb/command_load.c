/* command_load.c: `tessera ssb load`, which makes a database of the benchmark. */
#define _GNU_SOURCE
#include "ssb/commands.h"

#include "ssb/data/load.h"
#include "ssb/options.h"
#include "storage/base/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum option_key {
    KEY_CODEC = 'c',
    KEY_DATABASE = 'd',
    KEY_FROM = 'f',
    KEY_THREADS = 'j',
    KEY_DANGLING = 0x200,
    KEY_FORCE,
    KEY_SORT_BY
};

static const struct argp_option option_list[] = {
    {"db", KEY_DATABASE, "DIR", 0, "Directory of the database; made if missing, its parent not", 0},
    {"from", KEY_FROM, "DIR", 0,
     "Read part.tbl, supplier.tbl, customer.tbl, date.tbl and lineorder.tbl from this folder instead of "
     "generating "
     "the rows; --sf, --mode, --variant and --date-table then only tell what they are",
     0},
    {"codec", KEY_CODEC, "LIST", 0,
     "Codecs of the columns: one for all of lineorder (auto, smallest, gpu-star, plain, ...; default auto) "
     "and "
     "COLUMN=CODEC for single ones, separated by commas. Columns of the dimensions are nsf unless named",
     0},
    {"dangling", KEY_DANGLING, "error|null", 0,
     "What becomes of a foreign key that finds no row: the load fails (error, the default), or NULL is "
     "stored, which "
     "joins drop (null)",
     0},
    {"sort-by", KEY_SORT_BY, "COLUMN", 0,
     "Store the rows of lineorder sorted by this column of it, such as lo_orderdate, NULLs first and rows "
     "with "
     "equal values as they come: queries then skip the tiles that their filters rule out. Takes 24 bytes of "
     "memory "
     "and 68 of disk a row meanwhile",
     0},
    {"force", KEY_FORCE, NULL, 0, "Replace the tables of a database that exists", 0},
    {"threads", KEY_THREADS, "N", 0, "Threads; all processors by default", 0},
    {0}};

struct arguments {
    struct ssb_options_input data;
    struct ssb_load_options load;
};

static enum status parse_dangling(const char *text, bool *dangling_null, struct error *error)
{
    *dangling_null = strcmp(text, "null") == 0;
    if (*dangling_null || strcmp(text, "error") == 0)
        return STATUS_OK;
    return error_set(error, STATUS_BAD_INPUT, "--dangling '%.40s' does not exist; give error or null", text);
}

static error_t parse_key(int key, char *argument, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    struct ssb_load_options *load = &arguments->load;
    struct error *error = arguments->data.error;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->data;
        return 0;
    case KEY_DATABASE:
        load->directory = argument;
        return 0;
    case KEY_FROM:
        load->from = argument;
        return 0;
    case KEY_CODEC:
        load->codecs = argument;
        return 0;
    case KEY_DANGLING:
        return parse_dangling(argument, &load->dangling_null, error) == STATUS_OK ? 0 : EINVAL;
    case KEY_SORT_BY:
        load->sort_by = argument;
        return 0;
    case KEY_FORCE:
        load->replace = true;
        return 0;
    case KEY_THREADS:
        return ssb_threads_parse(argument, &load->threads, error) == STATUS_OK ? 0 : EINVAL;
    case ARGP_KEY_SUCCESS:
        if (load->directory)
            return 0;
        error_set(error, STATUS_BAD_INPUT,
                  "--db is missing; give the directory for the database, as in --db ssb1.db");
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
    .doc = "Makes a database of the Star Schema Benchmark: generates the rows straight into compressed "
           "columns, or "
           "reads them from .tbl files.\v"
           "Examples:\n"
           "  tessera ssb load --sf 1 --db ssb1.db\n"
           "  tessera ssb load --db ssb1.db --from ssb1 --codec gpu-star,lo_tax=plain --force\n"
           "  tessera ssb load --sf 10 --db sorted.db --sort-by lo_orderdate\n"
           "  tessera ssb load --sf 0.1 --date-table classic --dangling null --db small.db",
};

/* Prints one line for a person: what was loaded, and how fast. */
static enum status report(const struct ssb_load_options *load, double took, struct error *error)
{
    struct database *database;
    const struct table *lineorder;
    RETURN_IF_ERROR(database_open(load->directory, &database, error));
    enum status status = database_table(database, "lineorder", &lineorder, error);
    if (status == STATUS_OK)
        fprintf(stderr, "%s: %" PRIu64 " rows of lineorder in %.2f s (%.2f million rows a second)\n",
                load->directory, lineorder->rows, took, 1e-6 * (double)lineorder->rows / took);
    database_close(database);
    return status;
}

enum status ssb_load_command(int argc, char **argv, struct progress *progress, struct error *error)
{
    struct error failure = {0};
    struct arguments arguments = {.data = {.options = {.scale_factor = 0}, .error = &failure}};
    struct ssb_load_options *load = &arguments.load;
    RETURN_IF_ERROR(ssb_command_line(&parser, argc, argv, &arguments, &failure, error));
    load->data = arguments.data.options;
    if (load->data.scale_factor == 0 && !load->from)
        load->data.scale_factor = 1;
    const double start = clock_seconds();
    RETURN_IF_ERROR(ssb_load(load, progress, error));
    return report(load, clock_seconds() - start, error);
}
