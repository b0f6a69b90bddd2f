/* published.c: see published.h. */
#include "lab/published/published.h"

#include "engine/cuda/cccl.h"

#include <stdio.h>

const struct published_method published_methods[PUBLISHED_METHODS] = {
    {"gpu-for, published", "gpu-for", "for_cuda.h", "for_offsets<4>", 128, 512, false},
    {"gpu-dfor, published", "gpu-dfor", "dfor_cuda.h", "dfor", 128, 512, true},
    {"gpu-rfor, published", "gpu-rfor", "rfor_cuda.h", "rfor", 128, 512, true},
    {"gpu-simdbp128, published", "gpu-simdbp128", "simdbp128_cuda.h", "simdbp128", 128, 4096, false},
    {"gpu-bp128, published", "gpu-bp128", "lists_cuda.h", "bp<128>", 128, 128, true},
    {"gpu-bp256, published", "gpu-bp256", "lists_cuda.h", "bp<256>", 256, 256, true},
    {"gpu-vbyte128, published", "gpu-vbyte128", "lists_cuda.h", "vbyte<128>", 128, 128, true},
    {"gpu-vbyte1024, published", "gpu-vbyte1024", "lists_cuda.h", "vbyte<1024>", 1024, 1024, true},
};

static enum status options_of(const struct published_method *method, const char *const **options,
                              struct error *error)
{
    *options = NULL;
    return method->cub ? cccl_options(options, error) : STATUS_OK;
}

bool published_is_here(const struct published_method *method, char *why, size_t why_bytes)
{
    const char *const *options;
    const bool here = options_of(method, &options, NULL) == STATUS_OK;
    snprintf(why, why_bytes, "%s", here ? "" : "CUB's headers are not installed");
    return here;
}

/* ---- Kernels ---- */

enum status published_compile(struct lab *lab, const struct published_method *method, struct error *error)
{
    const char *const *options;
    char *source;
    RETURN_IF_ERROR(options_of(method, &options, error));
    for (int sum = 0; sum < 2; sum++) {
        RETURN_IF_ERROR(
            kernel_text_published(method->header, method->type, method->threads, sum, &source, error));
        RETURN_IF_ERROR(lab_text_compile(lab, source, options, error));
    }
    return STATUS_OK;
}

enum status published_decode_open(struct lab *lab, const struct published_method *method,
                                  const struct lab_column *column, uint64_t rows, bool sum,
                                  struct published_decode *decode, struct error *error)
{
    const uint32_t tiles = (uint32_t)((rows + TILE_ROWS - 1) / TILE_ROWS);
    const char *const *options;
    char *source;
    *decode = (struct published_decode){.lab = lab,
                                        .rows = rows,
                                        .chunk_tiles = ENCODED_CHUNK_ROWS / TILE_ROWS,
                                        .tiles = tiles,
                                        .chunks = cuda_decode_chunks(column->decode),
                                        .out = cuda_decode_values(column->decode, 0)};
    RETURN_IF_ERROR(options_of(method, &options, error));
    RETURN_IF_ERROR(
        kernel_text_published(method->header, method->type, method->threads, sum, &source, error));
    RETURN_IF_ERROR(lab_kernel_open_with(lab, source, options, KERNEL_PUBLISHED, method->threads, 0,
                                         &decode->kernel, error));
    /* a piece for each thread block */
    decode->kernel.blocks = (unsigned)(((uint64_t)tiles * TILE_ROWS + method->rows - 1) / method->rows);
    return STATUS_OK;
}

void published_decode_close(struct published_decode *decode)
{
    if (decode->lab)
        lab_kernel_close(decode->lab, &decode->kernel);
}

enum status published_decode_run(void *context, struct error *error)
{
    struct published_decode *const decode = context;
    void *arguments[] = {&decode->chunks, &decode->out, &decode->chunk_tiles, &decode->tiles, &decode->rows};
    return lab_kernel_launch(decode->lab, &decode->kernel, arguments, error);
}

static enum status measure_memory(struct published_decode *decode, const struct published_method *method,
                                  const struct dataset *dataset, struct speed *speed, struct error *error)
{
    struct lab *const lab = decode->lab;
    RETURN_IF_ERROR(cuda_set_words(lab->cuda, decode->out, 0, dataset->rows, error));
    RETURN_IF_ERROR(published_decode_run(decode, error));
    RETURN_IF_ERROR(lab_compare(lab, dataset, decode->out, method->name, error));
    return lab_time(lab, published_decode_run, decode, speed, error);
}

static enum status measure_sum(struct published_decode *decode, const struct published_method *method,
                               const struct dataset *dataset, struct speed *speed, struct error *error)
{
    struct lab *const lab = decode->lab;
    uint32_t found = 0;
    RETURN_IF_ERROR(
        cuda_set_words(lab->cuda, decode->out, 0, 1, error)); /* later runs add to it, unchecked */
    RETURN_IF_ERROR(published_decode_run(decode, error));
    RETURN_IF_ERROR(cuda_copy_to_host(lab->cuda, &found, decode->out, sizeof found, error));
    RETURN_IF_ERROR(cuda_synchronize(lab->cuda, error));
    if (found != dataset->sum)
        return error_set(error, STATUS_CHECK_FAILED, "%s decodes to the sum %u, not %u (modulo 2^32)",
                         method->name, found, dataset->sum);
    return lab_time(lab, published_decode_run, decode, speed, error);
}

enum status published_measure(struct lab *lab, const struct published_method *method,
                              const struct dataset *dataset, const struct encoded *encoded,
                              struct decode_result *result, struct error *error)
{
    struct lab_column column;
    *result = (struct decode_result){0};
    enum status status = lab_column_open(lab, encoded, &column, error);
    for (int sum = 0; status == STATUS_OK && sum < 2; sum++) {
        struct published_decode decode;
        status = published_decode_open(lab, method, &column, dataset->rows, sum, &decode, error);
        if (status == STATUS_OK)
            status = sum ? measure_sum(&decode, method, dataset, &result->sum, error)
                         : measure_memory(&decode, method, dataset, &result->memory, error);
        published_decode_close(&decode);
    }
    lab_column_close(&column);
    return status;
}
