/* benchmark_options.c: the options that `ssb run` and `ssb compare` share. */
#include "ssb/benchmark/benchmark.h"

#include "engine/program/cluster_command.h"

#include <string.h>

#define RUNS_MAX 1000000u /* runs of each query; each keeps 8 bytes */

struct benchmark_options benchmark_options_default(void)
{
    struct benchmark_options options = {
        .device = "auto", .verify = VERIFY_DEFAULT, .repeat = 5, .warmup = 1, .query_count = SSB_QUERIES};
    memcpy(options.queries, ssb_queries, sizeof options.queries);
    return options;
}

static enum status add_query(struct benchmark_options *options, const char *name, struct error *error)
{
    const struct ssb_query *query = ssb_query_by_name(name);
    if (!query)
        return error_set(error, STATUS_BAD_INPUT,
                         "query '%.40s' does not exist; give all, or some of q1.1, q1.2, q1.3, q2.1, q2.2, "
                         "q2.3, q3.1, q3.2, q3.3, q3.4, q4.1, q4.2, q4.3",
                         name);
    for (uint32_t i = 0; i < options->query_count; i++)
        if (options->queries[i] == query)
            return STATUS_OK;
    options->queries[options->query_count++] = query;
    return STATUS_OK;
}

static enum status read_queries(void *arguments, const char *text, struct error *error)
{
    struct benchmark_options *const options = arguments;
    if (strcmp(text, "all") == 0) {
        options->query_count = SSB_QUERIES;
        memcpy(options->queries, ssb_queries, sizeof options->queries);
        return STATUS_OK;
    }
    options->query_count = 0;
    while (text) {
        const char *comma = strchr(text, ',');
        char name[64];
        snprintf(name, sizeof name, "%.*s", comma ? (int)(comma - text) : (int)sizeof name - 1, text);
        RETURN_IF_ERROR(add_query(options, name, error));
        text = comma ? comma + 1 : NULL;
    }
    return STATUS_OK;
}

const struct command_option benchmark_option_list[] = {
    {"db", 'd', "DIR", "The database, as `tessera ssb load` made it",
     TO_TEXT(struct benchmark_options, database),
     .missing =
         "--db is missing; give the folder of a database, as in --db ssb1.db (`tessera ssb load` makes one)"},
    {"query", 'q', "all|q1.1,...", "Which of the 13 queries; all by default. q11 and Q1.1 are q1.1",
     BY_FUNCTION(read_queries)},
    {"queries", .kind = OPTION_ANOTHER_NAME},
    {"device", 0, "auto|cpu|cuda[:N,...]",
     "Where; auto (the default) takes the first GPU that can be used, else the CPU. cuda:0,1 and cuda:all "
     "are several GPUs, which share the rows",
     TO_TEXT(struct benchmark_options, device)},
    {"gpu-memory", 0, "BYTES",
     "The most bytes of a GPU's memory that columns and statements take (4G, 512M; 0: no column stays "
     "between "
     "statements). Columns that do not fit are streamed from the host's memory; statements may have 4 GiB "
     "however little it is. By default what is free, less a reserve",
     TO_TEXT(struct benchmark_options, gpu_memory)},
    {"memory", 0, "BYTES",
     "The most bytes of the host's memory that answers, joins, groups and sorts of a statement take (4G, "
     "512M); by default half of what is available",
     TO_TEXT(struct benchmark_options, memory)},
    {"spill", 0, "DIR",
     "Where rows are kept that are more than --memory, in files without names; by default $TMPDIR, or else "
     "/tmp",
     TO_TEXT(struct benchmark_options, spill)},
    {"late-transfer", 0, "auto|off|on",
     "Columns that a GPU does not keep: auto (the default) lets its kernels read single sectors from the "
     "host's memory where this moves fewer bytes than copying the column, on everywhere, off nowhere",
     TO_WORD(struct benchmark_options, late, "auto|off|on")},
    {"cluster", 0, "mpi", CLUSTER_OPTION_HELP, TO_TEXT(struct benchmark_options, cluster)},
    {"verify", 0, "sqlite|plain|none",
     "What answers are compared with: SQLite's, those of the plain codec on the same device, or nothing. "
     "sqlite by default up to scale factor 10, plain beyond",
     TO_WORD(struct benchmark_options, verify, "sqlite|plain|none")},
    {"staged", 0, NULL,
     "Decode columns into scratch memory first and query them there, to compare with the default, which "
     "decodes them inside the scan; both parts are timed",
     TO_FLAG(struct benchmark_options, staged)},
    {"index", 0, "auto|on|off",
     "Bitmap indexes (`tessera index`): auto (the default) uses one where it is expected to be faster than "
     "reading the column, on wherever it can decide a condition, off nowhere",
     TO_WORD(struct benchmark_options, index, "auto|on|off")},
    {"repeat", 0, "N", "Timed runs of each query; 5 by default, the median is reported",
     TO_NUMBER(struct benchmark_options, repeat, 1, RUNS_MAX)},
    {"warmup", 0, "N", "Untimed runs before them; 1 by default",
     TO_NUMBER(struct benchmark_options, warmup, 0, RUNS_MAX)},
    {"threads", 'j', "N", "Threads of the CPU; all processors by default",
     TO_NUMBER(struct benchmark_options, threads, 1, PARALLEL_THREADS_MAX)},
    {"format", 0, "table|csv|json", "How to print the report; a table by default",
     TO_WORD(struct benchmark_options, format, "table|csv|json")},
    {"report", 0, "FILE.html",
     "Also write the report as a page with charts: runtimes, sizes, bytes read against time",
     TO_TEXT(struct benchmark_options, page)},
    {"answers", 0, "DIR", "Write each answer to DIR/q11.csv ... DIR/q43.csv",
     TO_TEXT(struct benchmark_options, answers)},
    {0}};
