/* command_codecs.c: `tessera codecs`, which lists the codecs of the registry (storage/codec/codec_list.h). */
#include "engine/program/commands.h"

#include "storage/base/command/command_line.h"
#include "storage/base/text/json_text.h"
#include "storage/codec/codec.h"

#include <jansson.h>
#include <stdio.h>

struct codecs_options {
    enum { FORMAT_TABLE, FORMAT_CSV, FORMAT_JSON } format;
};

static const char *yes_no(bool is)
{
    return is ? "yes" : "no";
}

/* "CPU, staged": a GPU decodes a column before the query; "both, staged": a processor too. */
static const char *decoded_by(const struct codec *codec)
{
    return !codec->gpu.decoder             ? "CPU"
           : codec_is_staged(codec, false) ? "both, staged"
           : codec_is_staged(codec, true)  ? "CPU, staged"
                                           : "CPU, GPU";
}

static void print_table(void)
{
    printf("%-14s %-14s %-13s %-6s %-12s  %s\n", "codec", "family", "single values", "int64", "decoded by",
           "what it is");
    for (uint32_t id = 1; id < CODEC_COUNT; id++) {
        const struct codec *codec = codec_by_id(id);
        printf("%-14s %-14s %-13s %-6s %-12s  %s\n", codec->name, codec->family, yes_no(codec->random_access),
               yes_no(codec->holds_int64), decoded_by(codec), codec->summary);
    }
}

static void print_csv(void)
{
    puts("codec,family,random_access,int64,gpu,gpu_random_access,gpu_staged,summary");
    for (uint32_t id = 1; id < CODEC_COUNT; id++) {
        const struct codec *codec = codec_by_id(id);
        printf("%s,%s,%s,%s,%s,%s,%s,\"%s\"\n", codec->name, codec->family, yes_no(codec->random_access),
               yes_no(codec->holds_int64), yes_no(codec->gpu.decoder), yes_no(codec->gpu.random_access),
               yes_no(codec_is_staged(codec, true)), codec->summary);
    }
}

static enum status print_json(struct error *error)
{
    json_t *list = json_array();
    bool good = list != NULL;
    for (uint32_t id = 1; good && id < CODEC_COUNT; id++) {
        const struct codec *codec = codec_by_id(id);
        json_t *object =
            json_pack("{s:s, s:s, s:s, s:b, s:b, s:s?, s:b, s:b}", "codec", codec->name, "family",
                      codec->family, "summary", codec->summary, "random_access", codec->random_access,
                      "int64", codec->holds_int64, "gpu_decoder", codec->gpu.decoder, "gpu_random_access",
                      codec->gpu.random_access, "gpu_staged", codec_is_staged(codec, true));
        good = json_array_append_new(list, object) == 0;
    }
    const enum status status = good ? json_write(list, JSON_INDENT(2), stdout, error)
                                    : error_out_of_memory(error, 4096, "the answer as JSON");
    json_decref(list);
    return status; /* main reports a failed write */
}

enum status command_codecs(int argc, char **argv, struct progress *progress, struct error *error)
{
    static const struct command_option known[] = {
        {"format", 'f', "FORMAT", "table (the default), csv or json",
         TO_WORD(struct codecs_options, format, "table|csv|json")},
        {0},
    };
    static const struct command_line line = {
        .options = known,
        .help = "Lists the codecs: their family, whether single values can be read without decoding others, "
                "whether they hold 64-bit values, and where they are decoded (CPU, staged: a GPU decodes a "
                "column before the query; both, staged: so does a CPU). Any of them can be named in --codec.",
    };
    struct codecs_options options = {.format = FORMAT_TABLE};
    (void)progress;
    RETURN_IF_ERROR(command_line_read(&line, argc, argv, &options, error));
    if (options.format == FORMAT_JSON)
        return print_json(error);
    if (options.format == FORMAT_CSV)
        print_csv();
    else
        print_table();
    return STATUS_OK;
}
