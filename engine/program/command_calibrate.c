/* command_calibrate.c: `tessera calibrate`, which measures a cost table of the codecs on this machine. */
#include "engine/measure/calibrate.h"
#include "engine/program/commands.h"
#include "engine/gpu/device.h"
#include "engine/run/engine.h"
#include "storage/base/command/command_line.h"
#include "storage/base/file.h"
#include "storage/base/text/text_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct arguments {
    const char *device, *out;
    bool keep;
};

static enum status save(const struct codec_costs *costs, const char *path, struct error *error)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *stream = text_stream(&text, &bytes);
    if (!stream)
        return error_out_of_memory(error, BUFSIZ, "a file");
    codec_costs_write(costs, stream);
    const enum status status = fclose(stream) == 0 ? file_replace(path, text, bytes, error)
                                                   : error_out_of_memory(error, bytes, "a file");
    free(text);
    return status;
}

/* Where codec_costs_in_use finds it; folders are made. `gpu` NULL: the table is the processor's. */
static enum status keep(const struct codec_costs *costs, const char *gpu, struct error *error)
{
    char path[CODEC_COSTS_SOURCE_BYTES];
    if (!codec_costs_kept_path(gpu, path))
        return error_set(error, STATUS_BAD_INPUT,
                         "--keep finds no folder of settings: the environment names no HOME; use --out FILE");
    for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        (void)mkdir(path, 0755); /* if it cannot be made, the file cannot, and says why */
        *slash = '/';
    }
    RETURN_IF_ERROR(save(costs, path, error));
    fprintf(stderr, "kept in %s\n", path);
    return STATUS_OK;
}

enum status command_calibrate(int argc, char **argv, struct progress *progress, struct error *error)
{
    static const struct command_option options[] = {
        {"device", 'd', "auto|cpu|cuda[:N]", "whose costs; auto (the default): the GPU's, if one can be used",
         TO_TEXT(struct arguments, device)},
        {"out", 'o', "FILE", "where the table goes; by default to standard output",
         TO_TEXT(struct arguments, out)},
        {"keep", 'k', NULL,
         "the table goes to your folder of settings, where loads on a machine with this device find it",
         TO_FLAG(struct arguments, keep)},
        {0},
    };
    static const struct command_line line = {
        .options = options,
        .help = "Measures what it costs this machine to compare, probe and fetch a value, codec by codec and "
                "width by width, and how fast it reads memory: the table by which `--codec auto` chooses. "
                "Takes a few seconds.\vA machine with a GPU chooses by its GPU's costs, another one by its "
                "processor's: by the table that was kept, else by a built-in one, h200 for GPUs, cpu-avx512, "
                "cpu-avx2 or cpu-baseline for processors. The environment variable TESSERA_COSTS names "
                "another: a built-in one, cpu for this processor's, or a file.\n"
                "Examples:\n"
                "  tessera calibrate --keep\n"
                "  tessera calibrate --device cpu --out here.costs\n"
                "  TESSERA_COSTS=here.costs tessera ssb load --sf 1 --db ssb1.db",
    };
    struct arguments arguments = {.device = "auto"};
    struct engine *engine;
    struct codec_costs costs = {0};
    RETURN_IF_ERROR(command_line_read(&line, argc, argv, &arguments, error));
    RETURN_IF_ERROR(engine_open(&(struct engine_options){.device = arguments.device, .one_device = true},
                                &engine, error));
    if (engine_why_cpu(engine))
        fprintf(stderr, "no GPU: %s\n", engine_why_cpu(engine));
    snprintf(costs.device, sizeof costs.device, "%.127s", engine_device_text(engine));
    const unsigned threads = engine_threads(engine);
    char gpu[CODEC_COSTS_DEVICE_BYTES] = "";
    if (engine_is_cuda(engine))
        snprintf(gpu, sizeof gpu, "%s", cuda_properties(gpu_device_cuda(engine_device(engine)))->name);
    const enum status status =
        engine_is_cuda(engine)
            ? calibrate_cuda(gpu_device_cuda(engine_device(engine)), threads, false, progress, &costs, error)
            : calibrate_cpu(threads, progress, &costs, error);
    engine_close(engine);
    RETURN_IF_ERROR(status);
    if (arguments.keep)
        RETURN_IF_ERROR(keep(&costs, gpu[0] ? gpu : NULL, error));
    if (arguments.out)
        return save(&costs, arguments.out, error);
    if (!arguments.keep)
        codec_costs_write(&costs, stdout);
    return STATUS_OK;
}
