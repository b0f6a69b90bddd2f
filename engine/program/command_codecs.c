/* command_codecs.c: `tessera codecs`, which lists the codecs of the registry (storage/codec/codec_list.h). */
#include "engine/program/commands.h"

#include "storage/codec/codec.h"

#include <argp.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

enum format { FORMAT_TABLE, FORMAT_CSV, FORMAT_JSON };

static const char *yes_no(bool is)
{
    return is ? "yes" : "no";
}

static void print_table(void)
{
    printf("%-12s %-10s %-13s %-6s %-12s  %s\n", "codec", "family", "single values", "int64", "decoded by",
           "what it is");
    for (uint32_t id = 1; id < CODEC_COUNT; id++) {
        const struct codec *codec = codec_by_id(id);
        printf("%-12s %-10s %-13s %-6s %-12s  %s\n", codec->name, codec->family, yes_no(codec->random_access),
               yes_no(codec->holds_int64), codec->gpu.decoder ? "CPU, GPU" : "CPU", codec->summary);
    }
}

static void print_csv(void)
{
    puts("codec,family,random_access,int64,gpu,gpu_random_access,summary");
    for (uint32_t id = 1; id < CODEC_COUNT; id++) {
        const struct codec *codec = codec_by_id(id);
        printf("%s,%s,%s,%s,%s,%s,\"%s\"\n", codec->name, codec->family, yes_no(codec->random_access),
               yes_no(codec->holds_int64), yes_no(codec->gpu.decoder), yes_no(codec->gpu.random_access),
               codec->summary);
    }
}

static enum status print_json(struct error *error)
{
    json_t *list = json_array();
    bool good = list != NULL;
    for (uint32_t id = 1; good && id < CODEC_COUNT; id++) {
        const struct codec *codec = codec_by_id(id);
        json_t *object = json_pack("{s:s, s:s, s:s, s:b, s:b, s:s?, s:b}", "codec", codec->name, "family",
                                   codec->family, "summary", codec->summary, "random_access",
                                   codec->random_access, "int64", codec->holds_int64, "gpu_decoder",
                                   codec->gpu.decoder, "gpu_random_access", codec->gpu.random_access);
        good = json_array_append_new(list, object) == 0;
    }
    if (good && json_dumpf(list, stdout, JSON_INDENT(2)) == 0)
        putchar('\n'); /* main reports a failed write */
    json_decref(list);
    return good ? STATUS_OK : error_out_of_memory(error, 4096, "the answer as JSON");
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    static const char *const names[] = {
        [FORMAT_TABLE] = "table", [FORMAT_CSV] = "csv", [FORMAT_JSON] = "json"};
    enum format *format = state->input;
    switch (key) {
    case 'f':
        for (int i = FORMAT_TABLE; i <= FORMAT_JSON; i++)
            if (strcmp(value, names[i]) == 0) {
                *format = (enum format)i;
                return 0;
            }
        argp_error(state, "--format is table, csv or json, not '%s'", value);
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "it takes no argument, not '%s'", value);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

enum status command_codecs(int argc, char **argv, struct progress *progress, struct error *error)
{
    static const struct argp_option options[] = {
        {"format", 'f', "FORMAT", 0, "table (the default), csv or json", 0},
        {0},
    };
    static const struct argp argp = {
        .options = options,
        .parser = parse_option,
        .doc = "Lists the codecs: their family, whether single values can be read without decoding others, "
               "whether "
               "they hold 64-bit values, and where they are decoded. Any of them can be named in --codec.",
    };
    enum format format = FORMAT_TABLE;
    (void)progress;
    if (argp_parse(&argp, argc, argv, 0, NULL, &format) != 0)
        return error_set(error, STATUS_BAD_INPUT,
                         "the options could not be read; see `tessera codecs --help`");
    if (format == FORMAT_JSON)
        return print_json(error);
    if (format == FORMAT_CSV)
        print_csv();
    else
        print_table();
    return STATUS_OK;
}
