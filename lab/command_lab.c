/* command_lab.c: `tessera lab`, which runs experiments of the papers. */
#include "lab/bytes/byte_set.h"
#include "lab/ssb/ssb_databases.h"
#include "lab/commands.h"
#include "lab/lab.h"

#include "engine/gpu/device.h"
#include "storage/base/command/command_line.h"
#include "storage/base/number/number_text.h"
#include "storage/database/database.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPERIMENTS_MAX  32u
#define CODEC_NAME_BYTES 64u
#define PROCESSOR_SCALE  0.01 /* of rows, unless --scale says another */
#define BLOCK_KIB_MIN    64u
#define BLOCK_KIB_MAX    1024u
#define BLOCK_BYTES      (128u << 10) /* as CODAG was measured */

struct arguments {
    const struct lab_experiment *experiments[EXPERIMENTS_MAX + 1]; /* ends with NULL */
    uint32_t count;
    double scale; /* 0: by the device */
    const char *device, *report, *database;
    uint32_t repeat, threads, block_bytes;
    enum lab_format format;
    bool list;
    bool left_out[CODEC_COUNT];
    uint32_t sets_left_out;
};

static enum status add(struct arguments *arguments, const struct lab_experiment *experiment,
                       struct error *error)
{
    for (uint32_t i = 0; i < arguments->count; i++)
        if (arguments->experiments[i] == experiment)
            return STATUS_OK;
    if (arguments->count == EXPERIMENTS_MAX)
        return error_set(error, STATUS_BAD_INPUT, "too many experiments");
    arguments->experiments[arguments->count++] = experiment;
    return STATUS_OK;
}

static enum status read_name(void *context, const char *text, struct error *error)
{
    bool found = false;
    for (const struct lab_experiment *experiment = lab_experiments; experiment->name; experiment++)
        if (strcmp(text, "all") == 0 || strcmp(text, experiment->name) == 0) {
            RETURN_IF_ERROR(add(context, experiment, error));
            found = true;
        }
    return found ? STATUS_OK
                 : error_set(error, STATUS_BAD_INPUT,
                             "there is no experiment '%s'; `tessera lab --list` lists them", text);
}

static enum status read_scale(void *context, const char *text, struct error *error)
{
    char *end;
    const double scale = number_parse(text, &end);
    if (*end || !(scale > 0 && scale <= 4))
        return error_set(error, STATUS_BAD_INPUT, "--scale is a number above 0, at most 4, not '%s'", text);
    ((struct arguments *)context)->scale = scale;
    return STATUS_OK;
}

/* What --codecs gives by default. Byte streams have an experiment of their own; compressing them by zlib would take most of the time of
 * those on integers. */
static void leave_out(bool left_out[CODEC_COUNT])
{
    for (uint32_t id = 1; id < CODEC_COUNT; id++)
        left_out[id] = strcmp(codec_by_id(id)->family, "byte streams") == 0;
}

static enum status read_codecs(void *context, const char *text, struct error *error)
{
    struct arguments *const arguments = context;
    for (uint32_t id = 1; id < CODEC_COUNT; id++)
        arguments->left_out[id] = true;
    for (const char *name = text; name; name = strchr(name, ',') ? strchr(name, ',') + 1 : NULL) {
        char one[CODEC_NAME_BYTES], names[CODEC_NAMES_BYTES];
        snprintf(one, sizeof one, "%.*s", (int)strcspn(name, ","), name);
        const struct codec *const codec = codec_by_name(one);
        if (!codec)
            return error_set(error, STATUS_BAD_INPUT, "--codecs: there is no codec '%s'; there are %s", one,
                             codec_names(names, sizeof names));
        arguments->left_out[codec->id] = false;
    }
    return STATUS_OK;
}

static enum status read_block(void *context, const char *text, struct error *error)
{
    char *end;
    const unsigned long number = strtoul(text, &end, 10), kib = *end == 'm' ? number << 10 : number;
    if ((*end != 'k' && *end != 'm') || end[1] || kib < BLOCK_KIB_MIN || kib > BLOCK_KIB_MAX ||
        (kib & (kib - 1)) != 0)
        return error_set(error, STATUS_BAD_INPUT, "--block is 64k, 128k, 256k, 512k or 1m, not '%s'", text);
    ((struct arguments *)context)->block_bytes = (uint32_t)kib << 10;
    return STATUS_OK;
}

static enum status read_sets(void *context, const char *text, struct error *error)
{
    return byte_sets_choose(text, &((struct arguments *)context)->sets_left_out, error);
}

/* Before a long measurement begins. */
static enum status check_database(const char *path, struct error *error)
{
    struct database *database;
    RETURN_IF_ERROR(database_open(path, &database, error));
    database_close(database);
    return STATUS_OK;
}

static enum status check(void *context, const char *text, struct error *error)
{
    const struct arguments *const arguments = context;
    (void)text;
    if (!arguments->list && arguments->count == 0)
        return error_set(error, STATUS_BAD_INPUT,
                         "name experiments, or all; `tessera lab --list` lists them");
    if (arguments->database)
        RETURN_IF_ERROR(check_database(arguments->database, error));
    return arguments->report ? page_check(arguments->report, error) : STATUS_OK;
}

static const struct command_option options[] = {
    {"list", 'l', NULL, "list the experiments", TO_FLAG(struct arguments, list)},
    {"scale", 's', "F", "row counts of the papers times F; 1 by default on a GPU, 0.01 on a processor",
     BY_FUNCTION(read_scale)},
    {"codecs", 'c', "NAME,...",
     "only these codecs; by default all but byte streams. ssb-columns leaves out systems that take others, "
     "ssb-queries keeps "
     "all",
     BY_FUNCTION(read_codecs)},
    {"block", 'k', "64k|...|1m", "bytes of a block of byte-streams (128k)", BY_FUNCTION(read_block)},
    {"sets", 'S', "NAME,...", "only these sets of byte-streams; all by default", BY_FUNCTION(read_sets)},
    {"device", 'd', "auto|cpu|cuda[:N]", "what to measure; auto (the default): a GPU, if one can be used",
     TO_TEXT(struct arguments, device)},
    {"repeat", 'r', "N", "timed runs of each measurement (7)", TO_NUMBER(struct arguments, repeat, 1, 10000)},
    {"threads", 't', "N", "threads (all)", TO_NUMBER(struct arguments, threads, 1, PARALLEL_THREADS_MAX)},
    {"db", 'b', "DIR",
     "a database of `tessera ssb load` for ssb-queries; by default one is made in the folder for temporary "
     "files, and "
     "removed",
     TO_TEXT(struct arguments, database)},
    {"format", 'f', "table|csv|json", "how tables are printed",
     TO_WORD(struct arguments, format, "table|csv|json")},
    {"report", 'R', "FILE.html", "also write the tables and charts to a page",
     TO_TEXT(struct arguments, report)},
    {0},
};

static const struct command_line line = {
    .options = options,
    .words_help = "NAME... | all",
    .word = read_name,
    .finish = check,
    .help =
        "Runs experiments of the papers on compression: each codec of `tessera codecs`, checked and timed on "
        "generated data.\vEvery decode is compared with the values that were encoded before it is timed. "
        "Decoding "
        "to memory writes 4 bytes a value; decode-and-sum writes nothing back.\n"
        "Examples:\n"
        "  tessera lab --list\n"
        "  tessera lab widths --scale 0.01\n"
        "  tessera lab all --device cuda --report lab.html",
};

static void list_experiments(void)
{
    for (const struct lab_experiment *experiment = lab_experiments; experiment->name; experiment++)
        printf("%-15s %s\n%-15s   %s\n", experiment->name, experiment->summary, "", experiment->source);
}

static void describe(struct lab *lab, int argc, char **argv)
{
    char text[64];
    page_fact(lab->page, "Device", engine_device_text(lab->engine));
    snprintf(text, sizeof text, "%.0f GB/s", lab->read_ceiling * 1e-9);
    page_fact(lab->page, "Memory read at most", text);
    snprintf(text, sizeof text, "%g", lab->scale);
    page_fact(lab->page, "Scale of the papers' rows", text);
    page_command(lab->page, argc, argv);
    page_date(lab->page);
    if (lab->format == LAB_TABLE)
        printf("%s, reads memory at %.0f GB/s at most; rows of the papers times %g\n",
               engine_device_text(lab->engine), lab->read_ceiling * 1e-9, lab->scale);
}

static enum status run(struct lab *lab, const struct arguments *arguments, int argc, char **argv,
                       struct error *error)
{
    lab->threads = engine_threads(lab->engine);
    lab->cuda = engine_is_cuda(lab->engine) ? gpu_device_cuda(engine_device(lab->engine)) : NULL;
    lab->scale = arguments->scale > 0 ? arguments->scale : lab->cuda ? 1 : PROCESSOR_SCALE;
    if (engine_why_cpu(lab->engine))
        fprintf(stderr, "no GPU: %s\n", engine_why_cpu(lab->engine));
    RETURN_IF_ERROR(engine_read_ceiling(lab->engine, &lab->read_ceiling, error));
    describe(lab, argc, argv);
    RETURN_IF_ERROR(lab_run(lab, arguments->experiments, error));
    return arguments->report ? page_write(arguments->report, lab->page, error) : STATUS_OK;
}

static enum status command_lab(int argc, char **argv, struct progress *progress, struct error *error)
{
    struct arguments arguments = {.device = "auto", .repeat = 7, .block_bytes = BLOCK_BYTES};
    leave_out(arguments.left_out);
    RETURN_IF_ERROR(command_line_read(&line, argc, argv, &arguments, error));
    if (arguments.list) {
        list_experiments();
        return STATUS_OK;
    }
    struct lab lab = {.repeat = arguments.repeat,
                      .device = arguments.device,
                      .database = arguments.database,
                      .block_bytes = arguments.block_bytes,
                      .progress = progress,
                      .sets_left_out = arguments.sets_left_out,
                      .format = arguments.format};
    memcpy(lab.left_out, arguments.left_out, sizeof lab.left_out);
    enum status status = page_create("Tessera: the codec laboratory", &lab.page, error);
    if (status == STATUS_OK)
        status = engine_open(&(struct engine_options){.device = arguments.device,
                                                      .threads = arguments.threads,
                                                      .one_device = true,
                                                      .kernel = KERNEL_SPECIALISED},
                             &lab.engine, error);
    if (status == STATUS_OK)
        status = run(&lab, &arguments, argc, argv, error);
    engine_close(lab.engine);
    ssb_databases_close(&lab);
    page_destroy(lab.page);
    return status;
}

const struct command lab_commands[] = {
    {"lab", "Run the papers' experiments on codecs", command_lab},
    {NULL, NULL, NULL},
};
