/* command_run.c: `tessera ssb run`, which times and checks the 13 queries with one choice of codecs. */
#include "ssb/benchmark/benchmark.h"
#include "ssb/commands.h"
#include "ssb/options.h"

enum option_key { KEY_CODEC = 'c', KEY_PROFILE = 'p' };

static const struct argp_option option_list[] = {
    {"codec", KEY_CODEC, "NAME|COLUMN=CODEC,...", 0,
     "Codec of the fact columns: a codec, gpu-star, smallest, auto, or one for each column named; what is "
     "missing is encoded and kept. By default each column's own",
     0},
    {"profile", KEY_PROFILE, NULL, 0,
     "Also print the steps of each query (dimension filters, scan, on a CPU merging the threads' sums): "
     "rows, "
     "bytes, median time, GB/s and percent of what the device reads at most",
     0},
    {0}};

struct arguments {
    struct benchmark_options options;
    const char *codec;
};

static error_t parse_key(int key, char *argument, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->options;
        return 0;
    case KEY_CODEC:
        arguments->codec = argument;
        return 0;
    case KEY_PROFILE:
        arguments->options.profile = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{.argp = &benchmark_argp}, {0}};

static const struct argp parser = {
    .options = option_list,
    .parser = parse_key,
    .children = children,
    .doc = "Runs the queries of the Star Schema Benchmark, checks every answer, and prints times, bytes read "
           "and a hash of each answer. Exit code 1 if an answer is wrong.\v"
           "Examples:\n"
           "  tessera ssb run --db ssb1.db\n"
           "  tessera ssb run --db ssb1.db --query q2.1,q4.3 --codec gpu-star --device cuda --repeat 20\n"
           "  tessera ssb run --db ssb1.db --query q3.1 --profile\n"
           "  tessera ssb run --db ssb1.db --format json --answers answers",
};

enum status ssb_run_command(int argc, char **argv, struct progress *progress, struct error *error)
{
    struct error failure = {0};
    struct arguments arguments = {0};
    benchmark_options_default(&arguments.options, &failure);
    RETURN_IF_ERROR(ssb_command_line(&parser, argc, argv, &arguments, &failure, error));
    const char *const choices[] = {arguments.codec};
    return benchmark(&arguments.options, choices, 1, false, progress, error);
}
