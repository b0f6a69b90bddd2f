/*
 * nvcomp.c: see nvcomp.h. The options of the formats are declared here, from the headers of versions 5.3 and 6.0.
 */
#define _GNU_SOURCE
#include "lab/bench/nvcomp_internal.h"

#include "lab/bench/kernel.h"
#include "storage/base/memory.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES \
    (UINT64_C(64) << 10) /* uncompressed; nvCOMP's headers recommend it for the fastest decompression */
#define SLOT_BYTES 256u  /* compressed chunks begin at multiples; nvCOMP asks for 8 or 16 */

/* ---- Options ---- */

enum { TYPE_CHAR = 0, TYPE_INT = 4, TYPE_UNKNOWN = 0xff };              /* nvcompType_t */
enum { MODE_ASYMMETRIC = 1, TERMINAL_BITPACK = 1 };                     /* version 6 */
enum { FINE_DELTA = 1, FINE_RLE = 2, FINE_FOR = 4, LEVEL_DEFAULT = 3 }; /* version 6 */
#define CASCADED_5_CHUNK_BYTES 4096u /* the default; not used by the library */

struct cascaded_5 {
    uint64_t internal_chunk_bytes;
    int32_t type, rles, deltas, bitpack;
    char reserved[40];
};
struct cascaded_6_common {
    int32_t type, mode;
    uint64_t terminal, coarse;
};
struct cascaded_6 {
    struct cascaded_6_common common;
    uint64_t fine;
    uint8_t level;
    char reserved[31];
};
struct cascaded_6_decompress {
    int32_t backend; /* 0: nvCOMP decides */
    struct cascaded_6_common common;
    char reserved[32];
};
struct bitcomp {
    int32_t algorithm, type; /* algorithm 0: the default */
    char reserved[56];       /* version 6: 0 is lossless */
};
struct ans {
    int32_t algorithm_or_backend, type; /* 0: rANS; nvCOMP decides */
    char reserved[56];
};
_Static_assert(sizeof(struct nvcomp_options) == 64 && sizeof(struct cascaded_5) == 64 &&
                   sizeof(struct cascaded_6) == 64 && sizeof(struct cascaded_6_decompress) == 64 &&
                   sizeof(struct bitcomp) == 64 && sizeof(struct ans) == 64,
               "all options have 64 bytes");

static const struct scheme {
    enum nvcomp_format format;
    int32_t rles, deltas; /* of version 5 */
    uint64_t fine;        /* of version 6 */
} schemes[NVCOMP_SCHEMES] = {
    {NVCOMP_CASCADED, 0, 0, FINE_FOR},
    {NVCOMP_CASCADED, 0, 1, FINE_FOR | FINE_DELTA},
    {NVCOMP_CASCADED, 1, 0, FINE_FOR | FINE_RLE},
    {NVCOMP_CASCADED, 2, 1, FINE_FOR | FINE_DELTA | FINE_RLE},
    {NVCOMP_BITCOMP, 0, 0, 0},
    {NVCOMP_ANS, 0, 0, 0},
};
const char *const nvcomp_schemes[NVCOMP_SCHEMES] = {
    "nvCOMP FOR+BP",   "nvCOMP Delta+FOR+BP", "nvCOMP RLE+FOR+BP",
    "nvCOMP cascaded", "nvCOMP bitcomp",      "nvCOMP ANS",
};

static struct nvcomp_options options_of(const void *fields)
{
    struct nvcomp_options options;
    memcpy(&options, fields, sizeof options);
    return options;
}

static void cascaded_options(unsigned version, const struct scheme *scheme, struct nvcomp_options *compress,
                             struct nvcomp_options *decompress)
{
    const struct cascaded_6_common common = {
        .type = TYPE_INT, .mode = MODE_ASYMMETRIC, .terminal = TERMINAL_BITPACK};
    struct cascaded_5 five = {.internal_chunk_bytes = CASCADED_5_CHUNK_BYTES,
                              .type = TYPE_INT,
                              .rles = scheme->rles,
                              .deltas = scheme->deltas,
                              .bitpack = 1};
    struct cascaded_6 six = {.common = common, .fine = scheme->fine, .level = LEVEL_DEFAULT};
    struct cascaded_6_decompress six_decompress;
    memset(&six_decompress, 0, sizeof six_decompress); /* its padding, too */
    six_decompress.common = common;
    *compress = version < NVCOMP_6 ? options_of(&five) : options_of(&six);
    *decompress = version < NVCOMP_6 ? (struct nvcomp_options){{0}} : options_of(&six_decompress);
}

static void options_make(unsigned version, const struct scheme *scheme, struct nvcomp_options *compress,
                         struct nvcomp_options *decompress)
{
    const struct bitcomp bitcomp = {.type = TYPE_INT};
    const struct ans ans = {.type = TYPE_CHAR};
    const struct ans ans_decompress = {.type = version < NVCOMP_6 ? TYPE_CHAR : TYPE_UNKNOWN};
    if (scheme->format == NVCOMP_CASCADED) {
        cascaded_options(version, scheme, compress, decompress);
        return;
    }
    *compress = scheme->format == NVCOMP_BITCOMP ? options_of(&bitcomp) : options_of(&ans);
    *decompress =
        scheme->format == NVCOMP_BITCOMP ? (struct nvcomp_options){{0}} : options_of(&ans_decompress);
}

/* ---- The library ---- */

/* POSIX makes an address of a function from one of data; ISO C has no cast for it. */
static bool find(void *library, const char *name, void *function)
{
    void *const address = dlsym(library, name);
    memcpy(function, &address, sizeof address);
    return address;
}

static bool find_format(struct nvcomp *nvcomp, const char *format, struct nvcomp_functions *functions)
{
    const char *const temporary = nvcomp->version < NVCOMP_6 ? "TempSizeAsync" : "TempSize";
    const struct {
        const char *before, *after;
        void *function;
    } wanted[] = {{"CompressGet", temporary, &functions->compress_temporary},
                  {"DecompressGet", temporary, &functions->decompress_temporary},
                  {"CompressGetMax", "OutputChunkSize", &functions->bound},
                  {"Compress", "Async", &functions->compress},
                  {"Decompress", "Async", &functions->decompress}};
    for (size_t f = 0; f < sizeof wanted / sizeof *wanted; f++) {
        char name[96];
        snprintf(name, sizeof name, "nvcompBatched%s%s%s", format, wanted[f].before, wanted[f].after);
        if (!find(nvcomp->library, name, wanted[f].function))
            return false;
    }
    return true;
}

static void *open_library(void)
{
    static const char *const names[] = {"libnvcomp.so.6", "libnvcomp.so.5", "libnvcomp.so"};
    const char *const folder = getenv("TESSERA_NVCOMP");
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        char path[4096];
        snprintf(path, sizeof path, "%s%s%s", folder ? folder : "", folder && *folder ? "/" : "", names[n]);
        void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (library)
            return library;
    }
    return NULL;
}

/* Sets nvcomp->missing unless all is found. */
static void find_all(struct nvcomp *nvcomp)
{
    static const char *const formats[NVCOMP_FORMATS] = {"Cascaded", "Bitcomp", "ANS", "Deflate"};
    struct {
        uint32_t version, runtime;
    } about = {0, 0};
    int (*properties)(void *about);
    if (!find(nvcomp->library, "nvcompGetProperties", &properties) ||
        !find(nvcomp->library, "nvcompGetStatusString", &nvcomp->status_text) || properties(&about) != 0) {
        snprintf(nvcomp->missing, sizeof nvcomp->missing, "libnvcomp.so is not nvCOMP 5 or 6");
        return;
    }
    nvcomp->version = about.version;
    bool found = about.version >= NVCOMP_5 && about.version < NVCOMP_NEXT;
    for (uint32_t f = 0; found && f < NVCOMP_FORMATS; f++)
        found = find_format(nvcomp, formats[f], &nvcomp->formats[f]);
    if (!found)
        snprintf(nvcomp->missing, sizeof nvcomp->missing, "nvCOMP %u.%u is installed, 5 or 6 is needed",
                 about.version / 1000, about.version % 1000 / 100);
}

enum status nvcomp_open(struct lab *lab, struct nvcomp **out, struct error *error)
{
    RETURN_IF_ERROR(memory_zeros(out, sizeof **out, "nvCOMP", error));
    struct nvcomp *const nvcomp = *out;
    nvcomp->lab = lab;
    nvcomp->library = open_library();
    if (!nvcomp->library)
        snprintf(nvcomp->missing, sizeof nvcomp->missing, "not installed");
    else
        find_all(nvcomp);
    if (!*nvcomp->missing && !lab->cuda)
        snprintf(nvcomp->missing, sizeof nvcomp->missing, "needs a GPU");
    return STATUS_OK;
}

void nvcomp_close(struct nvcomp *nvcomp)
{
    if (nvcomp && nvcomp->library)
        dlclose(nvcomp->library);
    free(nvcomp);
}

const char *nvcomp_missing(const struct nvcomp *nvcomp)
{
    return *nvcomp->missing ? nvcomp->missing : NULL;
}

enum status nvcomp_check(const struct nvcomp *nvcomp, const char *what, int number, struct error *error)
{
    const char *const text = number ? nvcomp->status_text(number) : NULL;
    return number == 0 ? STATUS_OK
                       : error_set(error, STATUS_MACHINE, "nvCOMP: %s: status %d (%s)", what, number,
                                   text ? text : "unknown");
}

enum status nvcomp_temporary(struct nvcomp *nvcomp, void *function, size_t chunks, size_t chunk_bytes,
                             size_t all_bytes, const struct nvcomp_options *options, cuda_address *temporary,
                             size_t *bytes, struct error *error)
{
    struct cuda *const cuda = nvcomp->lab->cuda;
    nvcomp_temporary_5 *five;
    nvcomp_temporary_6 *six;
    void *stream;
    memcpy(&five, &function, sizeof five);
    memcpy(&six, &function, sizeof six);
    *bytes = 0;
    RETURN_IF_ERROR(cuda_share(cuda, &stream, error));
    RETURN_IF_ERROR(nvcomp_check(nvcomp, "asking for temporary memory",
                                 nvcomp->version < NVCOMP_6
                                     ? five(chunks, chunk_bytes, *options, bytes, all_bytes)
                                     : six(chunks, chunk_bytes, *options, bytes, all_bytes, stream),
                                 error));
    return cuda_allocate(cuda, *bytes, "nvCOMP's temporary memory", temporary, error);
}

/* ---- A batch ---- */

/* A dataset in chunks. Lists have an item for each chunk: 8 bytes, a status 4. */
struct batch {
    struct nvcomp *nvcomp;
    const struct nvcomp_functions *functions;
    const struct dataset *dataset;
    struct nvcomp_options compress_options, decompress_options;
    size_t chunks, slot_bytes; /* slot_bytes: from one compressed chunk to the next */
    uint64_t *list;            /* on the host */
    cuda_address values, compressed, decompressed, temporary;
    cuda_address value_list, value_bytes, compressed_list, compressed_bytes, decompressed_list,
        decompressed_bytes, statuses;
    size_t temporary_bytes;
};

static size_t chunk_bytes(const struct batch *batch, size_t chunk)
{
    const uint64_t left = batch->dataset->rows * sizeof(int32_t) - chunk * CHUNK_BYTES;
    return left < CHUNK_BYTES ? left : CHUNK_BYTES;
}

static enum status upload_list(struct batch *batch, const char *what, cuda_address *list, struct error *error)
{
    struct cuda *const cuda = batch->nvcomp->lab->cuda;
    const uint64_t bytes = batch->chunks * sizeof *batch->list;
    RETURN_IF_ERROR(cuda_allocate(cuda, bytes, what, list, error));
    RETURN_IF_ERROR(cuda_copy_to_device(cuda, *list, batch->list, bytes, error));
    return cuda_synchronize(cuda, error); /* the next list is written to the same memory */
}

static enum status upload_addresses(struct batch *batch, cuda_address first, uint64_t step,
                                    cuda_address *list, struct error *error)
{
    for (size_t c = 0; c < batch->chunks; c++)
        batch->list[c] = first + c * step;
    return upload_list(batch, "a list of chunks", list, error);
}

static enum status allocate(struct batch *batch, struct error *error)
{
    struct cuda *const cuda = batch->nvcomp->lab->cuda;
    size_t bound = 0;
    RETURN_IF_ERROR(nvcomp_check(batch->nvcomp, "asking for the bound of a chunk",
                                 batch->functions->bound(CHUNK_BYTES, batch->compress_options, &bound),
                                 error));
    batch->slot_bytes = (bound + SLOT_BYTES - 1) / SLOT_BYTES * SLOT_BYTES;
    RETURN_IF_ERROR(
        memory_take(&batch->list, batch->chunks * sizeof *batch->list, "a list of chunks", error));
    RETURN_IF_ERROR(cuda_allocate(cuda, batch->chunks * batch->slot_bytes, "compressed chunks",
                                  &batch->compressed, error));
    RETURN_IF_ERROR(
        cuda_allocate(cuda, batch->chunks * CHUNK_BYTES, "decompressed values", &batch->decompressed, error));
    RETURN_IF_ERROR(
        cuda_allocate(cuda, batch->chunks * sizeof(int32_t), "a list of statuses", &batch->statuses, error));
    RETURN_IF_ERROR(
        upload_addresses(batch, batch->dataset->on_device, CHUNK_BYTES, &batch->value_list, error));
    RETURN_IF_ERROR(
        upload_addresses(batch, batch->compressed, batch->slot_bytes, &batch->compressed_list, error));
    RETURN_IF_ERROR(
        upload_addresses(batch, batch->decompressed, CHUNK_BYTES, &batch->decompressed_list, error));
    for (size_t c = 0; c < batch->chunks; c++)
        batch->list[c] = chunk_bytes(batch, c);
    RETURN_IF_ERROR(upload_list(batch, "a list of lengths", &batch->value_bytes, error));
    RETURN_IF_ERROR(upload_list(batch, "a list of lengths", &batch->compressed_bytes, error));
    return upload_list(batch, "a list of lengths", &batch->decompressed_bytes, error);
}

/* Allocates the memory that compression or decompression asks for. */
static enum status allocate_temporary(struct batch *batch, void *function,
                                      const struct nvcomp_options *options, struct error *error)
{
    cuda_free(batch->nvcomp->lab->cuda, batch->temporary);
    batch->temporary = 0;
    return nvcomp_temporary(batch->nvcomp, function, batch->chunks, CHUNK_BYTES,
                            batch->dataset->rows * sizeof(int32_t), options, &batch->temporary,
                            &batch->temporary_bytes, error);
}

/* Waits, and checks each chunk's status, which is set before to what no chunk has. */
#define STATUS_UNSET 0x7fffffffu
static enum status check_statuses(struct batch *batch, const char *what, struct error *error)
{
    struct cuda *const cuda = batch->nvcomp->lab->cuda;
    int32_t *const statuses = (int32_t *)batch->list;
    RETURN_IF_ERROR(
        cuda_copy_to_host(cuda, statuses, batch->statuses, batch->chunks * sizeof *statuses, error));
    RETURN_IF_ERROR(cuda_synchronize(cuda, error));
    for (size_t c = 0; c < batch->chunks; c++)
        RETURN_IF_ERROR(nvcomp_check(batch->nvcomp, what, statuses[c], error));
    return STATUS_OK;
}

static enum status compress(struct batch *batch, uint64_t *bytes, struct error *error)
{
    struct cuda *const cuda = batch->nvcomp->lab->cuda;
    void *stream;
    RETURN_IF_ERROR(
        allocate_temporary(batch, batch->functions->compress_temporary, &batch->compress_options, error));
    RETURN_IF_ERROR(cuda_set_words(cuda, batch->statuses, STATUS_UNSET, batch->chunks, error));
    RETURN_IF_ERROR(cuda_share(cuda, &stream, error));
    RETURN_IF_ERROR(nvcomp_check(
        batch->nvcomp, "compression",
        batch->functions->compress(batch->value_list, batch->value_bytes, CHUNK_BYTES, batch->chunks,
                                   batch->temporary, batch->temporary_bytes, batch->compressed_list,
                                   batch->compressed_bytes, batch->compress_options, batch->statuses, stream),
        error));
    RETURN_IF_ERROR(check_statuses(batch, "compression", error));
    RETURN_IF_ERROR(cuda_copy_to_host(cuda, batch->list, batch->compressed_bytes,
                                      batch->chunks * sizeof *batch->list, error));
    RETURN_IF_ERROR(cuda_synchronize(cuda, error));
    *bytes = 0;
    for (size_t c = 0; c < batch->chunks; c++)
        *bytes += batch->list[c];
    return STATUS_OK;
}

static enum status decompress_work(void *context, struct error *error)
{
    struct batch *const batch = context;
    void *stream;
    RETURN_IF_ERROR(cuda_share(batch->nvcomp->lab->cuda, &stream, error));
    return nvcomp_check(batch->nvcomp, "decompression",
                        batch->functions->decompress(batch->compressed_list, batch->compressed_bytes,
                                                     batch->value_bytes, batch->decompressed_bytes,
                                                     batch->chunks, batch->temporary, batch->temporary_bytes,
                                                     batch->decompressed_list, batch->decompress_options,
                                                     batch->statuses, stream),
                        error);
}

static enum status decompress(struct batch *batch, const char *name, struct speed *speed, struct error *error)
{
    struct lab *const lab = batch->nvcomp->lab;
    RETURN_IF_ERROR(
        allocate_temporary(batch, batch->functions->decompress_temporary, &batch->decompress_options, error));
    RETURN_IF_ERROR(cuda_set_bytes(lab->cuda, batch->decompressed, 0xff, batch->chunks * CHUNK_BYTES, error));
    RETURN_IF_ERROR(cuda_set_words(lab->cuda, batch->statuses, STATUS_UNSET, batch->chunks, error));
    RETURN_IF_ERROR(decompress_work(batch, error));
    RETURN_IF_ERROR(check_statuses(batch, "decompression", error));
    RETURN_IF_ERROR(lab_compare(lab, batch->dataset, batch->decompressed, name, error));
    return lab_time(lab, decompress_work, batch, speed, error);
}

static void batch_free(struct batch *batch)
{
    struct cuda *const cuda = batch->nvcomp->lab->cuda;
    const cuda_address all[] = {batch->compressed,       batch->decompressed,      batch->temporary,
                                batch->value_list,       batch->value_bytes,       batch->compressed_list,
                                batch->compressed_bytes, batch->decompressed_list, batch->decompressed_bytes,
                                batch->statuses};
    for (size_t a = 0; a < sizeof all / sizeof *all; a++)
        cuda_free(cuda, all[a]);
    free(batch->list);
}

enum status nvcomp_measure(struct nvcomp *nvcomp, uint32_t scheme, const struct dataset *dataset,
                           struct nvcomp_result *result, struct error *error)
{
    struct batch batch = {.nvcomp = nvcomp,
                          .functions = &nvcomp->formats[schemes[scheme].format],
                          .dataset = dataset,
                          .chunks = (dataset->rows * sizeof(int32_t) + CHUNK_BYTES - 1) / CHUNK_BYTES};
    struct error why = {0};
    uint64_t bytes = 0;
    *result = (struct nvcomp_result){0};
    if (*nvcomp->missing) {
        memcpy(result->why, nvcomp->missing, sizeof result->why);
        return STATUS_OK;
    }
    options_make(nvcomp->version, &schemes[scheme], &batch.compress_options, &batch.decompress_options);
    enum status status = allocate(&batch, &why);
    if (status == STATUS_OK)
        status = compress(&batch, &bytes, &why);
    if (status == STATUS_OK)
        status = decompress(&batch, nvcomp_schemes[scheme], &result->memory, &why);
    batch_free(&batch);
    if (status == STATUS_INTERRUPTED)
        return error_set(error, status, "%s", why.text);
    if (status == STATUS_OK)
        result->bits = 8.0 * (double)bytes / (double)dataset->rows;
    else
        snprintf(result->why, sizeof result->why, "%.*s", (int)sizeof result->why - 1, why.text);
    return STATUS_OK;
}
