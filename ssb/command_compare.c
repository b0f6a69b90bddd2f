/* command_compare.c: `tessera ssb compare`, which compares runtimes and sizes of several codecs. */
#include "ssb/benchmark/benchmark.h"
#include "ssb/commands.h"

#include <stdio.h>
#include <string.h>

#define CODEC_NAME_BYTES 32

struct arguments {
    struct benchmark_options options; /* first: the shared options are its */
    uint32_t count;
    char names[BENCHMARK_CHOICES_MAX][CODEC_NAME_BYTES];
};

static enum status read_codecs(void *context, const char *text, struct error *error)
{
    struct arguments *const arguments = context;
    arguments->count = 0;
    while (text) {
        const char *comma = strchr(text, ',');
        if (arguments->count == BENCHMARK_CHOICES_MAX)
            return error_set(error, STATUS_BAD_INPUT, "--codecs compares at most %u at once",
                             BENCHMARK_CHOICES_MAX);
        char *name = arguments->names[arguments->count];
        snprintf(name, CODEC_NAME_BYTES, "%.*s", comma ? (int)(comma - text) : CODEC_NAME_BYTES - 1, text);
        struct codec_choice choice;
        RETURN_IF_ERROR(codec_choice_parse(name, &choice, error));
        for (uint32_t i = 0; i < arguments->count; i++)
            if (strcmp(arguments->names[i], name) == 0)
                return error_set(error, STATUS_BAD_INPUT, "--codecs names %s twice", name);
        arguments->count++;
        text = comma ? comma + 1 : NULL;
    }
    return STATUS_OK;
}

static const struct command_option option_list[] = {
    {"codecs", 'c', "NAME,...",
     "Codecs or choosers to compare; the first is what the others are measured against. plain,gpu-star,auto "
     "by default",
     BY_FUNCTION(read_codecs)},
    {0}};

static const struct command_line line = {
    .options = option_list,
    .shared = benchmark_option_list,
    .help = "Runs the queries of the Star Schema Benchmark with several codecs and prints runtimes, ratios "
            "and sizes side by side. Exit code 1 if an answer is wrong.\vExamples:\n"
            "  tessera ssb compare --db ssb1.db\n"
            "  tessera ssb compare --db ssb1.db --codecs plain,smallest,auto --queries q1.1,q4.1\n"
            "  tessera ssb compare --db ssb1.db --report codecs.html",
};

enum status ssb_compare_command(int argc, char **argv, struct progress *progress, struct error *error)
{
    struct arguments arguments = {
        .options = benchmark_options_default(), .count = 3, .names = {"", "gpu-star", "auto"}};
    snprintf(arguments.names[0], sizeof arguments.names[0], "%s", codec_baseline()->name);
    arguments.options.argc = argc;
    arguments.options.argv = argv;
    RETURN_IF_ERROR(command_line_read(&line, argc, argv, &arguments, error));
    const char *choices[BENCHMARK_CHOICES_MAX];
    for (uint32_t i = 0; i < arguments.count; i++)
        choices[i] = arguments.names[i];
    return benchmark(&arguments.options, choices, arguments.count, true, progress, error);
}
