/*
 * nvcomp.c: see nvcomp.h. What of nvCOMP's C interface is needed is declared here, from the headers of versions 5.3 and
 * 6.0.
 *
 * Its batched calls are the same for all formats and in both versions, but for the call that asks for temporary memory.
 * Each takes options by value, in a struct of 64 bytes that differs by format and version. C passes any struct of that
 * size in memory, in the same way, so one type of function serves all.
 */
#define _GNU_SOURCE
#include "lab/bench/nvcomp.h"

#include "lab/bench/kernel.h"
#include "storage/base/memory.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES \
    (UINT64_C(64) << 10)   /* uncompressed; nvCOMP's headers recommend it for the fastest decompression */
#define SLOT_BYTES   256u  /* compressed chunks begin at multiples; nvCOMP asks for 8 or 16 */
#define VERSION_5    5000u /* major * 1000 + minor * 100 + patch */
#define VERSION_6    6000u
#define VERSION_NEXT 7000u

/* ---- Options ---- */

struct options {
    uint64_t words[8];
};

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
_Static_assert(sizeof(struct options) == 64 && sizeof(struct cascaded_5) == 64 &&
                   sizeof(struct cascaded_6) == 64 && sizeof(struct cascaded_6_decompress) == 64 &&
                   sizeof(struct bitcomp) == 64 && sizeof(struct ans) == 64,
               "all options have 64 bytes");

enum format { CASCADED, BITCOMP, ANS, FORMATS };

static const struct scheme {
    enum format format;
    int32_t rles, deltas; /* of version 5 */
    uint64_t fine;        /* of version 6 */
} schemes[NVCOMP_SCHEMES] = {
    {CASCADED, 0, 0, FINE_FOR},
    {CASCADED, 0, 1, FINE_FOR | FINE_DELTA},
    {CASCADED, 1, 0, FINE_FOR | FINE_RLE},
    {CASCADED, 2, 1, FINE_FOR | FINE_DELTA | FINE_RLE},
    {BITCOMP, 0, 0, 0},
    {ANS, 0, 0, 0},
};
const char *const nvcomp_schemes[NVCOMP_SCHEMES] = {
    "nvCOMP FOR+BP",   "nvCOMP Delta+FOR+BP", "nvCOMP RLE+FOR+BP",
    "nvCOMP cascaded", "nvCOMP bitcomp",      "nvCOMP ANS",
};

static struct options options_of(const void *fields)
{
    struct options options;
    memcpy(&options, fields, sizeof options);
    return options;
}

static void cascaded_options(unsigned version, const struct scheme *scheme, struct options *compress,
                             struct options *decompress)
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
    *compress = version < VERSION_6 ? options_of(&five) : options_of(&six);
    *decompress = version < VERSION_6 ? (struct options){{0}} : options_of(&six_decompress);
}

static void options_make(unsigned version, const struct scheme *scheme, struct options *compress,
                         struct options *decompress)
{
    const struct bitcomp bitcomp = {.type = TYPE_INT};
    const struct ans ans = {.type = TYPE_CHAR};
    const struct ans ans_decompress = {.type = version < VERSION_6 ? TYPE_CHAR : TYPE_UNKNOWN};
    if (scheme->format == CASCADED) {
        cascaded_options(version, scheme, compress, decompress);
        return;
    }
    *compress = scheme->format == BITCOMP ? options_of(&bitcomp) : options_of(&ans);
    *decompress = scheme->format == BITCOMP ? (struct options){{0}} : options_of(&ans_decompress);
}

/* ---- The library ---- */

/* All return 0 (nvcompSuccess) or the number of an error. Addresses are the GPU's, in lists that are there, too. */
typedef int temporary_5(size_t chunks, size_t chunk_bytes, struct options options, size_t *bytes,
                        size_t all_bytes);
typedef int temporary_6(size_t chunks, size_t chunk_bytes, struct options options, size_t *bytes,
                        size_t all_bytes, void *stream);
typedef int output_bound(size_t chunk_bytes, struct options options, size_t *bytes);
typedef int compress_batch(cuda_address in, cuda_address in_bytes, size_t chunk_bytes, size_t chunks,
                           cuda_address temporary, size_t temporary_bytes, cuda_address out,
                           cuda_address out_bytes, struct options options, cuda_address statuses,
                           void *stream);
typedef int decompress_batch(cuda_address in, cuda_address in_bytes, cuda_address room_bytes,
                             cuda_address out_bytes, size_t chunks, cuda_address temporary,
                             size_t temporary_bytes, cuda_address out, struct options options,
                             cuda_address statuses, void *stream);
_Static_assert(sizeof(cuda_address) == sizeof(void *), "addresses are passed as pointers");

struct functions {
    void *compress_temporary, *decompress_temporary; /* temporary_5 or temporary_6 */
    output_bound *bound;
    compress_batch *compress;
    decompress_batch *decompress;
};

struct nvcomp {
    struct lab *lab;
    void *library;
    char missing[NVCOMP_WHY_BYTES]; /* "": all is there */
    unsigned version;
    const char *(*status_text)(int status);
    struct functions formats[FORMATS];
};

/* POSIX makes an address of a function from one of data; ISO C has no cast for it. */
static bool find(void *library, const char *name, void *function)
{
    void *const address = dlsym(library, name);
    memcpy(function, &address, sizeof address);
    return address;
}

static bool find_format(struct nvcomp *nvcomp, const char *format, struct functions *functions)
{
    const char *const temporary = nvcomp->version < VERSION_6 ? "TempSizeAsync" : "TempSize";
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
    static const char *const formats[FORMATS] = {"Cascaded", "Bitcomp", "ANS"};
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
    bool found = about.version >= VERSION_5 && about.version < VERSION_NEXT;
    for (uint32_t f = 0; found && f < FORMATS; f++)
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

/* ---- A batch ---- */

/* A dataset in chunks. Lists have an item for each chunk: 8 bytes, a status 4. */
struct batch {
    struct nvcomp *nvcomp;
    const struct functions *functions;
    const struct dataset *dataset;
    struct options compress_options, decompress_options;
    size_t chunks, slot_bytes; /* slot_bytes: from one compressed chunk to the next */
    uint64_t *list;            /* on the host */
    cuda_address values, compressed, decompressed, temporary;
    cuda_address value_list, value_bytes, compressed_list, compressed_bytes, decompressed_list,
        decompressed_bytes, statuses;
    size_t temporary_bytes;
};

static enum status check(const struct nvcomp *nvcomp, const char *what, int number, struct error *error)
{
    const char *const text = number ? nvcomp->status_text(number) : NULL;
    return number == 0 ? STATUS_OK
                       : error_set(error, STATUS_MACHINE, "nvCOMP: %s: status %d (%s)", what, number,
                                   text ? text : "unknown");
}

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
    RETURN_IF_ERROR(check(batch->nvcomp, "asking for the bound of a chunk",
                          batch->functions->bound(CHUNK_BYTES, batch->compress_options, &bound), error));
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
static enum status allocate_temporary(struct batch *batch, void *function, const struct options *options,
                                      struct error *error)
{
    struct cuda *const cuda = batch->nvcomp->lab->cuda;
    const size_t all_bytes = batch->dataset->rows * sizeof(int32_t);
    temporary_5 *five;
    temporary_6 *six;
    size_t bytes = 0;
    void *stream;
    memcpy(&five, &function, sizeof five);
    memcpy(&six, &function, sizeof six);
    cuda_free(cuda, batch->temporary);
    batch->temporary = 0;
    RETURN_IF_ERROR(cuda_share(cuda, &stream, error));
    RETURN_IF_ERROR(check(batch->nvcomp, "asking for temporary memory",
                          batch->nvcomp->version < VERSION_6
                              ? five(batch->chunks, CHUNK_BYTES, *options, &bytes, all_bytes)
                              : six(batch->chunks, CHUNK_BYTES, *options, &bytes, all_bytes, stream),
                          error));
    batch->temporary_bytes = bytes;
    return cuda_allocate(cuda, bytes, "nvCOMP's temporary memory", &batch->temporary, error);
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
        RETURN_IF_ERROR(check(batch->nvcomp, what, statuses[c], error));
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
    RETURN_IF_ERROR(check(batch->nvcomp, "compression",
                          batch->functions->compress(batch->value_list, batch->value_bytes, CHUNK_BYTES,
                                                     batch->chunks, batch->temporary, batch->temporary_bytes,
                                                     batch->compressed_list, batch->compressed_bytes,
                                                     batch->compress_options, batch->statuses, stream),
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
    return check(batch->nvcomp, "decompression",
                 batch->functions->decompress(
                     batch->compressed_list, batch->compressed_bytes, batch->value_bytes,
                     batch->decompressed_bytes, batch->chunks, batch->temporary, batch->temporary_bytes,
                     batch->decompressed_list, batch->decompress_options, batch->statuses, stream),
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
