/* command_load.c: `tessera ssb load`, which makes a database of the benchmark. */
#define _GNU_SOURCE
#include "ssb/commands.h"

#include "ssb/data/load.h"
#include "ssb/options.h"
#include "storage/base/clock.h"

#include <inttypes.h>
#include <stdio.h>

struct arguments {
    struct ssb_options data; /* first: the shared options are its */
    struct ssb_load_options load;
};

static enum status read_levels(void *context, const char *text, struct error *error)
{
    struct ssb_load_options *const load = &((struct arguments *)context)->load;
    if (load->level_count == SSB_TABLES)
        return error_set(error, STATUS_BAD_INPUT, "more than %d tables have --levels", SSB_TABLES);
    load->levels[load->level_count++] = text;
    return STATUS_OK;
}

/* Reads "2/8". */
static enum status read_part(void *context, const char *text, struct error *error)
{
    struct ssb_load_options *const load = &((struct arguments *)context)->load;
    int end = 0;
    if (sscanf(text, "%" SCNu32 "/%" SCNu32 "%n", &load->part, &load->parts, &end) != 2 || text[end] ||
        load->part < 1 || load->part > load->parts || load->parts > TABLE_PARTS_MAX)
        return error_set(error, STATUS_BAD_INPUT,
                         "--part %s: give the part and the number of parts, 1/8 to 8/8", text);
    return STATUS_OK;
}

static const struct command_option option_list[] = {
    {"db", 'd', "DIR", "Directory of the database; made if missing, its parent not",
     TO_TEXT(struct arguments, load.directory),
     .missing = "--db is missing; give the directory for the database, as in --db ssb1.db"},
    {"from", 'f', "DIR",
     "Read part.tbl, supplier.tbl, customer.tbl, date.tbl and lineorder.tbl from this folder instead of "
     "generating the rows; --sf, --mode, --variant, --date-table and --skew then only tell what they are",
     TO_TEXT(struct arguments, load.from)},
    {"codec", 'c', "LIST",
     "Codecs of the columns: one for all of lineorder (auto, smallest, gpu-star, plain, ...; default auto) "
     "and COLUMN=CODEC for single ones, separated by commas. Columns of the dimensions are nsf unless named",
     TO_TEXT(struct arguments, load.codecs)},
    {"dangling", 0, "error|null",
     "What becomes of a foreign key that finds no row: the load fails (error, the default), or NULL is "
     "stored, which joins drop (null)",
     TO_WORD(struct arguments, load.dangling_null, "error|null")},
    {"sort-by", 0, "COLUMN",
     "Store the rows of lineorder sorted by this column of it, such as lo_orderdate, NULLs first and rows "
     "with equal values as they come: queries then skip the tiles that their filters rule out. Takes 24 "
     "bytes of memory and 68 of disk a row meanwhile",
     TO_TEXT(struct arguments, load.sort_by)},
    {"cluster-by", 0, CLUSTER_BY_VALUES,
     "Store rows of lineorder next to those that are alike: in the first level, or N levels, of what a "
     "foreign key references, or in N leading bits of other columns (docs/clustering.md); auto chooses "
     "levels "
     "of all four keys, none (the default) keeps the order in which rows are made",
     TO_TEXT(struct arguments, load.cluster_by)},
    {"workload", 0, "FILE", WORKLOAD_HELP, TO_TEXT(struct arguments, load.workload)},
    {"index", 'i', "COLUMN[,COLUMN...]",
     "Gives these columns bitmap indexes, as `tessera index create` does without options",
     TO_TEXT(struct arguments, load.indexes)},
    {"dimension-order", 0, DIMENSION_ORDERS,
     "How rows of the dimensions are stored: in the order of levels that are found in them (docs/levels.md), "
     "or as they come",
     TO_WORD(struct arguments, load.dimension_order, DIMENSION_ORDERS)},
    {"levels", 0, "TABLE=COLUMN,COLUMN...",
     "The levels of this table, outermost first: customer=region,nation,city; or TABLE=none. Once for each "
     "table",
     BY_FUNCTION(read_levels)},
    {"part", 'p', "I/N",
     "Load only part I of N, from 1, of lineorder's orders, and the dimensions whole: for a process of its "
     "own in --cluster mpi, which answers over all N directories",
     BY_FUNCTION(read_part)},
    {"force", 0, NULL, "Replace the tables of a database that exists",
     TO_FLAG(struct arguments, load.replace)},
    {"spill", 0, "DIR",
     "Where rows are kept while they are sorted, in files without names; by default $TMPDIR, or else the "
     "database's directory",
     TO_TEXT(struct arguments, load.spill)},
    {"threads", 'j', "N", "Threads; all processors by default",
     TO_NUMBER(struct arguments, load.threads, 1, PARALLEL_THREADS_MAX)},
    {0}};

static const struct command_line line = {
    .options = option_list,
    .shared = ssb_data_options,
    .help = "Makes a database of the Star Schema Benchmark: generates the rows straight into compressed "
            "columns, or reads them from .tbl files.\vExamples:\n"
            "  tessera ssb load --sf 1 --db ssb1.db\n"
            "  tessera ssb load --db ssb1.db --from ssb1 --codec gpu-star,lo_tax=plain --force\n"
            "  tessera ssb load --sf 10 --db sorted.db --sort-by lo_orderdate\n"
            "  tessera ssb load --sf 10 --db indexed.db --index lo_discount,lo_quantity,lo_orderdate\n"
            "  tessera ssb load --sf 100 --part 1/4 --db ssb100.1\n"
            "  tessera ssb load --sf 0.1 --date-table classic --dangling null --db small.db",
};

/* Prints one line for a person: what was loaded, and how fast. The load is done, whatever happens here. */
static void report(const struct ssb_load_options *load, double took)
{
    struct database *database;
    const struct table *lineorder;
    struct error error = {0};
    enum status status = database_open(load->directory, &database, &error);
    status = AND_THEN(status, database_table(database, "lineorder", &lineorder, &error));
    if (status == STATUS_OK)
        fprintf(stderr, "%s: %" PRIu64 " rows of lineorder in %.2f s (%.2f million rows a second)\n",
                load->directory, lineorder->rows, took, 1e-6 * (double)lineorder->rows / took);
    else
        fprintf(stderr, "%s: loaded in %.2f s; how many rows it has cannot be read now: %s\n",
                load->directory, took, error.text);
    database_close(database);
}

enum status ssb_load_command(int argc, char **argv, struct progress *progress, struct error *error)
{
    struct arguments arguments = {.data = {.scale_factor = 0}};
    struct ssb_load_options *load = &arguments.load;
    RETURN_IF_ERROR(command_line_read(&line, argc, argv, &arguments, error));
    load->data = arguments.data;
    if (load->data.scale_factor == 0 && !load->from)
        load->data.scale_factor = 1;
    const double start = clock_seconds();
    RETURN_IF_ERROR(ssb_load(load, progress, error));
    report(load, clock_seconds() - start);
    return STATUS_OK;
}
