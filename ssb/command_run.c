/* command_run.c: `tessera ssb run`, which times and checks the 13 queries with one choice of codecs. */
#include "ssb/benchmark/benchmark.h"
#include "ssb/commands.h"

struct arguments {
    struct benchmark_options options; /* first: the shared options are its */
    const char *codec;
};

static const struct command_option option_list[] = {
    {"codec", 'c', "NAME|COLUMN=CODEC,...",
     "Codec of the fact columns: a codec, gpu-star, smallest, auto, or one for each column named; what is "
     "missing is encoded and kept. By default each column's own",
     TO_TEXT(struct arguments, codec)},
    {"profile", 'p', NULL,
     "Also print the steps of each query (dimension filters, scan, on a CPU merging the threads' sums): "
     "rows, bytes, median time, GB/s and percent of what the device reads at most",
     TO_FLAG(struct arguments, options.profile)},
    {0}};

static const struct command_line line = {
    .options = option_list,
    .shared = benchmark_option_list,
    .help = "Runs the queries of the Star Schema Benchmark, checks every answer, and prints times, bytes "
            "read and a hash of each answer. Exit code 1 if an answer is wrong.\vExamples:\n"
            "  tessera ssb run --db ssb1.db\n"
            "  tessera ssb run --db ssb1.db --query q2.1,q4.3 --codec gpu-star --device cuda --repeat 20\n"
            "  tessera ssb run --db ssb1.db --query q3.1 --profile\n"
            "  tessera ssb run --db ssb1.db --format json --answers answers\n"
            "  tessera ssb run --db ssb1.db --report run.html",
};

enum status ssb_run_command(int argc, char **argv, struct progress *progress, struct error *error)
{
    struct arguments arguments = {.options = benchmark_options_default()};
    arguments.options.argc = argc;
    arguments.options.argv = argv;
    RETURN_IF_ERROR(command_line_read(&line, argc, argv, &arguments, error));
    const char *const choices[] = {arguments.codec};
    return benchmark(&arguments.options, choices, 1, false, progress, error);
}
