/* codec_costs.c: see codec_costs.h. */
#include "storage/codec/codec_costs.h"

#include "storage/base/file.h"
#include "storage/base/number/number_text.h"
#include "storage/codec/codec_costs_builtin.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VERSION    "1"
#define TEXT_BYTES 65536u /* the largest file; a table has 4 KB */

/* The built-in table of any GPU; the prefix of a CPU's, which its instruction set completes; and the name
 * that stands for the table of this CPU. */
#define BUILTIN_GPU "h200"
#define BUILTIN_CPU "cpu-"
#define THIS_CPU    "cpu"

const uint32_t codec_cost_widths[CODEC_COST_WIDTHS] = {1, 4, 8, 12, 16, 20, 24, 28};
const char *const codec_use_names[CODEC_USES] = {"compare", "probe", "fetch"};

/* ---- Estimating ---- */

static double cost_at(const double ns[CODEC_COST_WIDTHS], uint32_t width)
{
    if (width <= codec_cost_widths[0])
        return ns[0];
    for (uint32_t i = 1; i < CODEC_COST_WIDTHS; i++) {
        const uint32_t low = codec_cost_widths[i - 1], high = codec_cost_widths[i];
        if (width <= high)
            return ns[i - 1] + (ns[i] - ns[i - 1]) * (width - low) / (high - low);
    }
    return ns[CODEC_COST_WIDTHS - 1];
}

/* What an estimate adds for the values of survivors. */
static double fetching(const double ns[CODEC_COST_WIDTHS], uint32_t width)
{
    return cost_at(ns, width) * CODEC_COST_FETCHED / TILE_ROWS;
}

double codec_costs_estimate(const struct codec_costs *costs, enum codec_id codec, uint64_t bytes,
                            uint32_t rows, uint32_t width, bool probed)
{
    const bool measured = costs->ns[codec][CODEC_USE_COMPARE][0] != 0;
    const double(*const ns)[CODEC_COST_WIDTHS] = costs->ns[measured ? codec : codec_by_id(codec)->costs_like];
    if (ns[CODEC_USE_COMPARE][0] == 0)
        return HUGE_VAL;
    const double reading = (double)bytes / rows / costs->read_bytes_per_ns;
    const uint32_t near = width < CODEC_COST_NEAR_WIDTH ? width : CODEC_COST_NEAR_WIDTH;
    const double working =
        probed ? cost_at(ns[CODEC_USE_PROBE], near) : cost_at(ns[CODEC_USE_COMPARE], width);
    return fmax(reading, working) + fetching(ns[CODEC_USE_FETCH], width);
}

double codec_costs_estimate_planes(const struct codec_costs *costs, enum codec_id codec, uint32_t bits,
                                   uint32_t planes)
{
    const bool measured = costs->ns[codec][CODEC_USE_COMPARE][0] != 0;
    const double(*const ns)[CODEC_COST_WIDTHS] = costs->ns[measured ? codec : codec_by_id(codec)->costs_like];
    if (ns[CODEC_USE_COMPARE][0] == 0)
        return HUGE_VAL;
    const uint32_t half = (planes + 1) / 2, rest = planes < bits ? 2 : 0;
    const double reading = half / 8.0 / costs->read_bytes_per_ns;
    return fmax(reading, cost_at(ns[CODEC_USE_COMPARE], half)) + fetching(ns[CODEC_USE_FETCH], planes + rest);
}

/* ---- Text ---- */

struct reader {
    const char *name;
    const char *next; /* the next line */
    unsigned line;    /* the line's number, from 1 */
    char *rest;       /* the rest of the line, NULL at its end */
    char text[1024];
};

static enum status wrong(const struct reader *reader, const char *field, const char *found,
                         const char *wanted, struct error *error)
{
    return error_set(error, STATUS_BAD_INPUT,
                     "table of costs %s, line %u, field %s: '%.40s' is not %s; make the table again with "
                     "`tessera calibrate --out FILE`",
                     reader->name, reader->line, field, found ? found : "", wanted);
}

/* Reads the next line that is not empty or a comment; false at the end. */
static bool line_next(struct reader *reader)
{
    do {
        if (*reader->next == '\0')
            return false;
        const size_t length = strcspn(reader->next, "\n");
        const size_t kept = length < sizeof reader->text ? length : sizeof reader->text - 1;
        memcpy(reader->text, reader->next, kept);
        reader->text[kept] = '\0';
        reader->next += length + (reader->next[length] == '\n');
        reader->line++;
        reader->rest = reader->text;
    } while (reader->text[0] == '#' || reader->text[strspn(reader->text, " \r")] == '\0');
    return true;
}

static const char *word_next(struct reader *reader)
{
    return strtok_r(NULL, " \r", &reader->rest);
}

static enum status number_next(struct reader *reader, const char *field, double *number, struct error *error)
{
    const char *word = word_next(reader);
    char *end = NULL;
    *number = word ? number_parse(word, &end) : 0;
    /* 1 s a value, or 1 PB a second, cannot be a measurement */
    if (!word || *end || !(*number > 0 && *number <= 1e9))
        return wrong(reader, field, word, "a number greater than 0 and at most 1e9", error);
    return STATUS_OK;
}

static enum status line_ends(struct reader *reader, const char *field, struct error *error)
{
    const char *word = word_next(reader);
    return word ? wrong(reader, field, word, "the end of the line", error) : STATUS_OK;
}

static enum status keyword(struct reader *reader, const char *key, struct error *error)
{
    char wanted[40];
    snprintf(wanted, sizeof wanted, "'%s'", key);
    const char *word = NULL;
    if (line_next(reader))
        word = word_next(reader);
    else
        reader->line++;
    return word && strcmp(word, key) == 0 ? STATUS_OK : wrong(reader, "1", word, wanted, error);
}

static enum status read_head(struct reader *reader, struct codec_costs *costs, struct error *error)
{
    RETURN_IF_ERROR(keyword(reader, "tessera-costs", error));
    const char *word = word_next(reader);
    if (!word || strcmp(word, VERSION) != 0)
        return wrong(reader, "version", word, VERSION ", the version that this program reads", error);
    RETURN_IF_ERROR(line_ends(reader, "version", error));
    RETURN_IF_ERROR(keyword(reader, "device", error));
    const char *device = reader->rest ? reader->rest + strspn(reader->rest, " ") : "";
    if (*device == '\0' || strlen(device) >= CODEC_COSTS_DEVICE_BYTES)
        return wrong(reader, "device", device, "a name of 1 to 127 characters", error);
    snprintf(costs->device, sizeof costs->device, "%.*s", (int)strcspn(device, "\r"), device);
    RETURN_IF_ERROR(keyword(reader, "read", error));
    RETURN_IF_ERROR(number_next(reader, "read", &costs->read_bytes_per_ns, error));
    RETURN_IF_ERROR(line_ends(reader, "read", error));
    RETURN_IF_ERROR(keyword(reader, "widths", error));
    for (uint32_t i = 0; i < CODEC_COST_WIDTHS; i++) {
        char expected[16];
        snprintf(expected, sizeof expected, "%u", codec_cost_widths[i]);
        word = word_next(reader);
        if (!word || strcmp(word, expected) != 0)
            return wrong(reader, "widths", word, expected, error);
    }
    return line_ends(reader, "widths", error);
}

static enum status read_costs(struct reader *reader, struct codec_costs *costs, struct error *error)
{
    const char *word = word_next(reader);
    const struct codec *codec = word ? codec_by_name(word) : NULL;
    if (!codec)
        return wrong(reader, "codec", word, "a codec that this program knows", error);
    word = word_next(reader);
    uint32_t use = 0;
    while (use < CODEC_USES && (!word || strcmp(word, codec_use_names[use]) != 0))
        use++;
    if (use == CODEC_USES)
        return wrong(reader, "use", word, "compare, probe or fetch", error);
    if (costs->ns[codec->id][use][0] != 0)
        return wrong(reader, "use", word, "there once: this codec has such a line already", error);
    for (uint32_t i = 0; i < CODEC_COST_WIDTHS; i++) {
        char field[24];
        snprintf(field, sizeof field, "width %u", codec_cost_widths[i]);
        RETURN_IF_ERROR(number_next(reader, field, &costs->ns[codec->id][use][i], error));
    }
    return line_ends(reader, "width 28", error);
}

/* The table must have the baseline: it holds any values, so there is always a choice. */
static enum status check_complete(const struct reader *reader, const struct codec_costs *costs,
                                  struct error *error)
{
    for (uint32_t id = 1; id < CODEC_COUNT; id++)
        for (uint32_t use = 0; use < CODEC_USES; use++) {
            bool wanted = id == codec_baseline()->id;
            for (uint32_t other = 0; other < CODEC_USES; other++)
                wanted |= costs->ns[id][other][0] != 0;
            if (wanted && costs->ns[id][use][0] == 0)
                return error_set(error, STATUS_BAD_INPUT,
                                 "table of costs %s, line %u: it ends without a line '%s %s'; make the table "
                                 "again with `tessera calibrate --out FILE`",
                                 reader->name, reader->line, codec_by_id(id)->name, codec_use_names[use]);
        }
    return STATUS_OK;
}

enum status codec_costs_parse(const char *name, const char *text, struct codec_costs *costs,
                              struct error *error)
{
    struct reader reader = {.name = name, .next = text};
    *costs = (struct codec_costs){0};
    RETURN_IF_ERROR(read_head(&reader, costs, error));
    while (line_next(&reader))
        RETURN_IF_ERROR(read_costs(&reader, costs, error));
    return check_complete(&reader, costs, error);
}

static enum status load_file(const char *path, struct codec_costs *costs, struct error *error)
{
    FILE *file = file_stream(path, "re");
    if (!file)
        return error_set_errno(
            error, errno,
            "the table of costs %s cannot be opened (TESSERA_COSTS takes a built-in table, cpu or a file)",
            path);
    char *text = calloc(1, TEXT_BYTES + 1);
    enum status status = STATUS_OK;
    if (!text)
        status = error_out_of_memory(error, TEXT_BYTES, "a table of costs");
    else if (fread(text, 1, TEXT_BYTES, file) == TEXT_BYTES)
        status = error_set(error, STATUS_BAD_INPUT,
                           "the table of costs %s is larger than the %u bytes that one can have", path,
                           TEXT_BYTES);
    else if (ferror(file))
        status = error_set_errno(error, errno, "the table of costs %s cannot be read", path);
    else
        status = codec_costs_parse(path, text, costs, error);
    free(text);
    fclose(file);
    return status;
}

static const struct codec_costs_text *builtin(const char *name)
{
    const struct codec_costs_text *table = codec_costs_builtin;
    while (table->name && strcmp(name, table->name) != 0)
        table++;
    return table->name ? table : NULL;
}

enum status codec_costs_load(const char *name, struct codec_costs *costs, struct error *error)
{
    char cpu[32];
    snprintf(cpu, sizeof cpu, BUILTIN_CPU "%s", isa_name(isa_level()));
    const struct codec_costs_text *table = builtin(strcmp(name, THIS_CPU) == 0 ? cpu : name);
    RETURN_IF_ERROR(table ? codec_costs_parse(table->name, table->text, costs, error)
                          : load_file(name, costs, error));
    snprintf(costs->source, sizeof costs->source, "%s", table ? table->name : name);
    return STATUS_OK;
}

void codec_costs_write(const struct codec_costs *costs, FILE *file)
{
    number_write(file,
                 "# Written by `tessera calibrate`.\ntessera-costs " VERSION "\ndevice %s\nread %.4g\nwidths",
                 costs->device, costs->read_bytes_per_ns);
    for (uint32_t i = 0; i < CODEC_COST_WIDTHS; i++)
        fprintf(file, " %u", codec_cost_widths[i]);
    fputc('\n', file);
    for (uint32_t id = 1; id < CODEC_COUNT; id++)
        for (uint32_t use = 0; use < CODEC_USES && costs->ns[id][use][0] != 0; use++) {
            fprintf(file, "%s %s", codec_by_id(id)->name, codec_use_names[use]);
            for (uint32_t i = 0; i < CODEC_COST_WIDTHS; i++)
                number_write(file, " %.4g", costs->ns[id][use][i]);
            fputc('\n', file);
        }
}

/* ---- The process's table ---- */

bool codec_costs_kept_path(const char *gpu, char path[CODEC_COSTS_SOURCE_BYTES])
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    char folder[CODEC_COSTS_SOURCE_BYTES / 2], device[CODEC_COSTS_DEVICE_BYTES];
    int length = 0;
    if (config && config[0] == '/') /* the XDG specification says: ignore relative paths */
        length = snprintf(folder, sizeof folder, "%s", config);
    else if (home && *home)
        length = snprintf(folder, sizeof folder, "%s/.config", home);
    if (length <= 0 || (size_t)length >= sizeof folder)
        return false;
    snprintf(device, sizeof device, "%s%s", gpu ? "" : BUILTIN_CPU, gpu ? gpu : isa_name(isa_level()));
    for (char *c = device; *c; c++)
        *c = isalnum((unsigned char)*c) || *c == '-' ? *c : '-';
    snprintf(path, CODEC_COSTS_SOURCE_BYTES, "%s/tessera/costs/%s.costs", folder, device);
    return true;
}

static codec_costs_find_gpu *_Atomic find_gpu; /* set by each engine that opens, in any thread */

void codec_costs_ask_gpu(codec_costs_find_gpu *find)
{
    atomic_store(&find_gpu, find);
}

static enum status load_for_device(struct codec_costs *costs, struct error *error)
{
    char gpu[CODEC_COSTS_DEVICE_BYTES], kept[CODEC_COSTS_SOURCE_BYTES];
    codec_costs_find_gpu *const find = atomic_load(&find_gpu);
    const bool has_gpu = find && find(gpu);
    if (codec_costs_kept_path(has_gpu ? gpu : NULL, kept) && access(kept, R_OK) == 0)
        return codec_costs_load(kept, costs, error);
    return codec_costs_load(has_gpu ? BUILTIN_GPU : THIS_CPU, costs, error);
}

static struct codec_costs in_use;
static struct error in_use_error;
static pthread_once_t in_use_once = PTHREAD_ONCE_INIT;

static void load_in_use(void)
{
    const char *name = getenv("TESSERA_COSTS");
    in_use_error.status = name && *name ? codec_costs_load(name, &in_use, &in_use_error)
                                        : load_for_device(&in_use, &in_use_error);
}

enum status codec_costs_in_use(const struct codec_costs **costs, struct error *error)
{
    pthread_once(&in_use_once, load_in_use);
    if (in_use_error.status != STATUS_OK)
        return error_set(error, in_use_error.status, "%s", in_use_error.text);
    *costs = &in_use;
    return STATUS_OK;
}
