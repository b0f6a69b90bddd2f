/* decode_cuda.c: see decode.h; a GPU. */
#include "lab/bench/kernel.h"

/* ---- To memory ---- */

static enum status decode_work(void *context, struct error *error)
{
    return cuda_decode_run(context, error);
}

static enum status measure_memory(struct lab *lab, const struct dataset *dataset, struct lab_column *column,
                                  struct speed *speed, struct error *error)
{
    RETURN_IF_ERROR(cuda_decode_run(column->decode, error));
    RETURN_IF_ERROR(
        lab_compare(lab, dataset, cuda_decode_values(column->decode, 0), column->data.codec->name, error));
    return lab_time(lab, decode_work, column->decode, speed, error);
}

/* ---- To a sum ---- */

struct summing {
    struct lab *lab;
    struct lab_kernel kernel;
    cuda_address chunks, work, out;
    uint32_t items;
};

static enum status sum_work(void *context, struct error *error)
{
    struct summing *const sum = context;
    void *arguments[] = {&sum->chunks, &sum->work, &sum->items, &sum->out};
    return lab_kernel_launch(sum->lab, &sum->kernel, arguments, error);
}

static enum status measure_sum_with(struct lab *lab, const struct dataset *dataset, struct lab_column *column,
                                    struct summing *sum, struct speed *speed, struct error *error)
{
    const struct codec *const codec = column->data.codec;
    char *source;
    uint32_t found = 0;
    RETURN_IF_ERROR(cuda_allocate(lab->cuda, sizeof found, "a sum", &sum->out, error));
    RETURN_IF_ERROR(kernel_text_sum(&column->shape, &source, error));
    RETURN_IF_ERROR(lab_kernel_open(lab, source, KERNEL_SUM, KERNEL_SUM_THREADS,
                                    (uint64_t)codec->gpu.scratch_bytes * WORK_TILES, &sum->kernel, error));
    sum->chunks = cuda_decode_chunks(column->decode);
    sum->work = cuda_decode_work(column->decode, &sum->items);
    RETURN_IF_ERROR(cuda_set_words(lab->cuda, sum->out, 0, 1, error)); /* later runs add to it, unchecked */
    RETURN_IF_ERROR(sum_work(sum, error));
    RETURN_IF_ERROR(cuda_copy_to_host(lab->cuda, &found, sum->out, sizeof found, error));
    RETURN_IF_ERROR(cuda_synchronize(lab->cuda, error));
    if (found != dataset->sum)
        return error_set(error, STATUS_CHECK_FAILED, "%s decodes to the sum %u, not %u (modulo 2^32)",
                         codec->name, found, dataset->sum);
    return lab_time(lab, sum_work, sum, speed, error);
}

static enum status measure_sum(struct lab *lab, const struct dataset *dataset, struct lab_column *column,
                               struct speed *speed, struct error *error)
{
    struct summing sum = {.lab = lab};
    if (codec_is_staged(column->data.codec, true))
        return STATUS_OK;
    const enum status status = measure_sum_with(lab, dataset, column, &sum, speed, error);
    lab_kernel_close(lab, &sum.kernel);
    cuda_free(lab->cuda, sum.out);
    return status;
}

/* ---- Both ---- */

enum status decode_compile(struct lab *lab, const struct encoded *encoded, struct error *error)
{
    struct lab_column column;
    char *source;
    enum status status = lab_column_shape(encoded, &column, error);
    if (status == STATUS_OK)
        status = cuda_decoder_source(&column.shape, 1, &source, error);
    if (status == STATUS_OK)
        status = lab_text_compile(lab, source, NULL, error);
    if (status == STATUS_OK && !codec_is_staged(encoded->codec, true)) {
        status = kernel_text_sum(&column.shape, &source, error);
        if (status == STATUS_OK)
            status = lab_text_compile(lab, source, NULL, error);
    }
    lab_column_close(&column);
    return status;
}

enum status decode_measure_cuda(struct lab *lab, const struct dataset *dataset, const struct encoded *encoded,
                                struct decode_result *result, struct error *error)
{
    struct lab_column column;
    enum status status = lab_column_open(lab, encoded, &column, error);
    if (status == STATUS_OK)
        status = measure_memory(lab, dataset, &column, &result->memory, error);
    if (status == STATUS_OK)
        status = measure_sum(lab, dataset, &column, &result->sum, error);
    lab_column_close(&column);
    return status;
}
