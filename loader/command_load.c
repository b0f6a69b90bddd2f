/* command_load.c: `tessera load`, which loads a user's star schema from delimited text. */
#include "loader/commands.h"
#include "loader/table/table_loader.h"
#include "storage/base/clock.h"

#include <argp.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INPUTS_MAX SCHEMA_TABLES_MAX
#define FILES_MAX  65536u /* of all tables */
#define GLOBS_MAX  256u

enum option_key {
    KEY_DB = 'd',
    KEY_SCHEMA = 's',
    KEY_DELIMITER = 'D',
    KEY_HEADER = 'H',
    KEY_NULL = 'n',
    KEY_CODEC = 'c',
    KEY_DANGLING = 'g',
    KEY_SORT_BY = 'b',
    KEY_MAX_ERRORS = 'm',
    KEY_REJECT = 'r',
    KEY_FORCE = 'f',
    KEY_APPEND = 'a',
    KEY_THREADS = 't',
    KEY_MEMORY = 'M'
};

static const struct argp_option option_list[] = {
    {"db", KEY_DB, "DIR", 0, "The database, which is made if it does not exist", 0},
    {"schema", KEY_SCHEMA, "FILE", 0, "CREATE TABLE statements with PRIMARY KEY and REFERENCES", 0},
    {"delimiter", KEY_DELIMITER, "CHARACTER", 0,
     "Between fields: ',' , ';', '|', or \\t; by default by the file's name (.csv, .tsv, .tbl), else by its "
     "first "
     "line",
     0},
    {"header", KEY_HEADER, "auto|yes|no", 0,
     "Whether files begin with the columns' names, in any order; auto (the default): if the first row's "
     "fields are "
     "such names",
     0},
    {"null", KEY_NULL, "TEXT", 0,
     "What stands for NULL where it is not quoted; by default nothing, as in a,,b", 0},
    {"codec", KEY_CODEC, "NAME|COLUMN=CODEC,...", 0, "How columns are compressed; auto by default", 0},
    {"dangling", KEY_DANGLING, "error|null", 0,
     "What a foreign key becomes that finds no row; error is the default", 0},
    {"sort-by", KEY_SORT_BY, "COLUMN", 0,
     "Stores the fact table in the order of that column, for tile skipping", 0},
    {"max-errors", KEY_MAX_ERRORS, "N", 0, "Leaves out up to N rows that are wrong; 0 by default", 0},
    {"reject", KEY_REJECT, "FILE", 0, "Where rows that are left out are written, as they came", 0},
    {"append", KEY_APPEND, NULL, 0,
     "Adds the rows to tables that exist, facts and dimensions; together with --sort-by all rows are sorted",
     0},
    {"force", KEY_FORCE, NULL, 0, "Replaces tables that exist", 0},
    {"threads", KEY_THREADS, "N", 0, "Threads; by default all processors", 0},
    {"memory", KEY_MEMORY, "SIZE", 0,
     "Memory for rows and for columns that are encoded: 512M, 4G; by default half of what is available. Rows "
     "beyond it "
     "are kept in a file without a name in the database's directory meanwhile",
     0},
    {0}};

struct arguments {
    struct load_options load;
    const char *schema;
    struct load_input inputs[INPUTS_MAX];
    const char *paths[FILES_MAX];
    uint32_t path_count;
    char *copies[INPUTS_MAX]; /* the arguments, cut into paths */
    uint32_t glob_count;
    glob_t globs[GLOBS_MAX];
};

static void parse_number(struct argp_state *state, const char *what, const char *text, uint64_t most,
                         uint64_t *number)
{
    char *end;
    const unsigned long long parsed = strtoull(text, &end, 10);
    if (*end || end == text || *text == '-' || parsed > most)
        argp_error(state, "%s '%s' is no number from 0 to %" PRIu64, what, text, most);
    *number = parsed;
}

/* Reads 512M, 4G, 100000K, or a number of bytes. */
static void parse_memory(struct argp_state *state, const char *text, uint64_t *bytes)
{
    static const char units[] = "KMGT";
    char *end;
    const unsigned long long number = strtoull(text, &end, 10);
    const char *const unit = *end ? strchr(units, *end >= 'a' ? *end - 'a' + 'A' : *end) : NULL;
    const unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    if (end == text || *text == '-' || (*end && (!unit || end[1])) || number == 0 ||
        number > UINT64_MAX >> shift)
        argp_error(state, "--memory '%s' is no size; give 512M or 4G, say", text);
    *bytes = (uint64_t)number << shift;
}

static void add_path(struct arguments *arguments, struct load_input *input, char *path,
                     struct argp_state *state)
{
    if (arguments->path_count == FILES_MAX)
        argp_error(state, "more than %u files", FILES_MAX);
    arguments->paths[arguments->path_count++] = path;
    input->path_count++;
}

/* Expands a pattern that the shell did not expand, because TABLE= is before it. A file with exactly that name
 * is taken instead. */
static void add_pattern(struct arguments *arguments, struct load_input *input, char *pattern,
                        struct argp_state *state)
{
    glob_t *const found = &arguments->globs[arguments->glob_count];
    if (!strpbrk(pattern, "*?[") || access(pattern, F_OK) == 0) {
        add_path(arguments, input, pattern, state);
        return;
    }
    if (arguments->glob_count == GLOBS_MAX)
        argp_error(state, "more than %u patterns", GLOBS_MAX);
    if (glob(pattern, 0, NULL, found) != 0)
        argp_error(state, "no file is called like '%s'", pattern);
    arguments->glob_count++;
    for (size_t i = 0; i < found->gl_pathc; i++)
        add_path(arguments, input, found->gl_pathv[i], state);
}

/* Reads TABLE=FILE,FILE,... */
static void parse_input(struct arguments *arguments, char *argument, struct argp_state *state)
{
    struct load_options *load = &arguments->load;
    char *const copy = strdup(argument), *const equals = copy ? strchr(copy, '=') : NULL;
    if (load->input_count == INPUTS_MAX)
        argp_error(state, "more than %u tables", INPUTS_MAX);
    if (!copy || !equals || equals == copy || !equals[1])
        argp_error(state, "'%s' is not TABLE=FILE[,FILE...]", argument);
    *equals = '\0';
    struct load_input *input = &arguments->inputs[load->input_count];
    arguments->copies[load->input_count++] = copy;
    *input = (struct load_input){.table = copy, .paths = &arguments->paths[arguments->path_count]};
    for (char *path = strtok(equals + 1, ","); path; path = strtok(NULL, ","))
        add_pattern(arguments, input, path, state);
}

static error_t parse_key(int key, char *argument, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    struct load_options *load = &arguments->load;
    uint64_t number;
    switch (key) {
    case KEY_DB:
        load->directory = argument;
        return 0;
    case KEY_SCHEMA:
        arguments->schema = argument;
        return 0;
    case KEY_DELIMITER:
        load->text.delimiter =
            strcmp(argument, "\\t") == 0 || strcmp(argument, "tab") == 0 ? '\t' : *argument;
        if ((strlen(argument) != 1 && load->text.delimiter != '\t') || strchr("\"\n\r", load->text.delimiter))
            argp_error(state, "'%s' is no delimiter; give one character, or \\t", argument);
        return 0;
    case KEY_HEADER:
        load->text.header = strcmp(argument, "yes") == 0  ? TEXT_HEADER_YES
                            : strcmp(argument, "no") == 0 ? TEXT_HEADER_NO
                                                          : TEXT_HEADER_AUTO;
        if (load->text.header == TEXT_HEADER_AUTO && strcmp(argument, "auto") != 0)
            argp_error(state, "--header '%s' does not exist; give auto, yes or no", argument);
        return 0;
    case KEY_NULL:
        load->text.null_text = argument;
        return 0;
    case KEY_CODEC:
        load->codecs = argument;
        return 0;
    case KEY_DANGLING:
        load->dangling_null = strcmp(argument, "null") == 0;
        if (!load->dangling_null && strcmp(argument, "error") != 0)
            argp_error(state, "--dangling '%s' does not exist; give error or null", argument);
        return 0;
    case KEY_SORT_BY:
        load->sort_by = argument;
        return 0;
    case KEY_MAX_ERRORS:
        parse_number(state, "--max-errors", argument, INT64_MAX, &load->max_errors);
        return 0;
    case KEY_REJECT:
        load->reject = argument;
        return 0;
    case KEY_FORCE:
        load->replace = true;
        return 0;
    case KEY_APPEND:
        load->append = true;
        return 0;
    case KEY_MEMORY:
        parse_memory(state, argument, &load->memory);
        return 0;
    case KEY_THREADS:
        parse_number(state, "--threads", argument, PARALLEL_THREADS_MAX, &number);
        load->threads = (unsigned)number;
        return 0;
    case ARGP_KEY_ARG:
        parse_input(arguments, argument, state);
        return 0;
    case ARGP_KEY_END:
        if (!load->directory || !arguments->schema || !load->input_count)
            argp_error(state, "give --db DIR, --schema FILE, and TABLE=FILE for each table");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp parser = {
    .options = option_list,
    .parser = parse_key,
    .args_doc = "TABLE=FILE[,FILE...]...",
    .doc = "Loads a star schema from CSV (RFC 4180), TSV or '|'-delimited files, plain, gzip or zstd; - is "
           "standard "
           "input. Either everything is loaded, or the database stays as it was.\v"
           "docs/loading.md says what schema scripts and files may hold.\n\n"
           "Examples:\n"
           "  tessera load --db shop.db --schema star.sql sales=sales.csv shops=shops.csv.gz\n"
           "  tessera load --db shop.db --schema star.sql --max-errors 100 --reject bad.csv "
           "'sales=sales-*.csv' shops=shops.csv\n"
           "  zcat export.gz | tessera load --db shop.db --schema star.sql --force sales=-\n"
           "  tessera load --db shop.db --schema star.sql --append sales=today.csv shops=new-shops.csv",
};

static enum status run(struct arguments *arguments, struct progress *progress, struct error *error)
{
    struct schema_script schema;
    struct load_report report;
    RETURN_IF_ERROR(schema_script_read(arguments->schema, &schema, error));
    const double begin = clock_seconds();
    arguments->load.inputs = arguments->inputs;
    const enum status status = tables_load(&schema, &arguments->load, &report, progress, error);
    schema_script_free(&schema);
    RETURN_IF_ERROR(status);
    const double took = clock_seconds() - begin;
    fprintf(stderr, "%s: %" PRIu64 " row%s in %.2f s (%.2f million rows a second)\n",
            arguments->load.directory, report.rows, report.rows == 1 ? "" : "s", took,
            1e-6 * (double)report.rows / took);
    if (report.rejected)
        fprintf(stderr, "%" PRIu64 " row%s left out%s%s; the first: %s\n", report.rejected,
                report.rejected == 1 ? " was" : "s were", arguments->load.reject ? " and written to " : "",
                arguments->load.reject ? arguments->load.reject : "", report.first_rejected);
    return STATUS_OK;
}

enum status command_load(int argc, char **argv, struct progress *progress, struct error *error)
{
    struct arguments *arguments = calloc(1, sizeof *arguments);
    if (!arguments)
        return error_out_of_memory(error, sizeof *arguments, "the options");
    enum status status =
        argp_parse(&parser, argc, argv, 0, NULL, arguments) == 0
            ? run(arguments, progress, error)
            : error_set(error, STATUS_BAD_INPUT, "the options could not be read; see `tessera load --help`");
    for (uint32_t i = 0; i < INPUTS_MAX; i++)
        free(arguments->copies[i]);
    for (uint32_t i = 0; i < arguments->glob_count; i++)
        globfree(&arguments->globs[i]);
    free(arguments);
    return status;
}
