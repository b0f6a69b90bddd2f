/* kernel.c: see kernel.h. */
#include "lab/bench/kernel.h"

#include "engine/cuda/kernel_cache.h"
#include "storage/base/memory.h"

#include <inttypes.h>
#include <stdlib.h>

enum status lab_column_shape(const struct encoded *encoded, struct lab_column *column, struct error *error)
{
    *column = (struct lab_column){0};
    RETURN_IF_ERROR(memory_zeros(&column->segments, encoded->chunk_count * sizeof *column->segments,
                                 "a list of chunks", error));
    column->data.codec = encoded->codec;
    column->data.segment_count = encoded->chunk_count;
    column->data.segments = column->segments;
    for (uint32_t c = 0; c < encoded->chunk_count; c++)
        column->segments[c].chunk = encoded->chunks[c];
    column->shape = (struct kernel_column){.data = &column->data, .value_bytes = sizeof(int32_t)};
    column_data_widths(&column->data, &column->shape.width_low, &column->shape.width_high);
    return STATUS_OK;
}

enum status lab_column_open(struct lab *lab, const struct encoded *encoded, struct lab_column *column,
                            struct error *error)
{
    RETURN_IF_ERROR(lab_column_shape(encoded, column, error));
    return cuda_decode_open(lab->cuda, &column->data, &column->decode, error);
}

void lab_column_close(struct lab_column *column)
{
    cuda_decode_close(column->decode);
    free(column->segments);
    column->segments = NULL;
    column->decode = NULL;
}

static enum status compile(struct lab *lab, char *source, const char *const *options,
                           struct kernel_binary *binary, struct error *error)
{
    const struct nvrtc_request request = {
        .source = source, .arch = cuda_properties(lab->cuda)->arch, .options = options};
    const enum status status = kernel_cache_get(&request, binary, NULL, error);
    free(source);
    return status;
}

enum status lab_text_compile(struct lab *lab, char *source, const char *const *options, struct error *error)
{
    struct kernel_binary binary = {0};
    const enum status status = compile(lab, source, options, &binary, error);
    kernel_binary_free(&binary);
    return status;
}

enum status lab_kernel_open(struct lab *lab, char *source, const char *name, unsigned threads,
                            uint64_t shared_bytes, struct lab_kernel *kernel, struct error *error)
{
    return lab_kernel_open_with(lab, source, NULL, name, threads, shared_bytes, kernel, error);
}

enum status lab_kernel_open_with(struct lab *lab, char *source, const char *const *options, const char *name,
                                 unsigned threads, uint64_t shared_bytes, struct lab_kernel *kernel,
                                 struct error *error)
{
    *kernel = (struct lab_kernel){.threads = threads, .shared_bytes = shared_bytes};
    struct kernel_binary binary = {0};
    RETURN_IF_ERROR(compile(lab, source, options, &binary, error));
    const enum status status = cuda_module_load(lab->cuda, binary.cubin, &kernel->module, error);
    kernel_binary_free(&binary);
    RETURN_IF_ERROR(status);
    RETURN_IF_ERROR(cuda_module_function(lab->cuda, kernel->module, name, &kernel->function, error));
    RETURN_IF_ERROR(cuda_function_allow_shared(lab->cuda, kernel->function, shared_bytes, error));
    RETURN_IF_ERROR(
        cuda_function_blocks(lab->cuda, kernel->function, threads, shared_bytes, &kernel->blocks, error));
    kernel->blocks *= cuda_properties(lab->cuda)->multiprocessors;
    return STATUS_OK;
}

void lab_kernel_close(struct lab *lab, struct lab_kernel *kernel)
{
    cuda_module_unload(lab->cuda, kernel->module);
    *kernel = (struct lab_kernel){0};
}

enum status lab_kernel_launch(struct lab *lab, const struct lab_kernel *kernel, void **arguments,
                              struct error *error)
{
    return cuda_launch(lab->cuda, kernel->function, kernel->blocks, kernel->threads, kernel->shared_bytes,
                       arguments, error);
}

/* ---- Times ---- */

struct timing {
    struct cuda_event *begin, *end;
    double *ms;
};

static enum status time_once(struct lab *lab, struct timing *timing, lab_work *work, void *context,
                             double *ms, struct error *error)
{
    RETURN_IF_ERROR(cancel_check(error));
    RETURN_IF_ERROR(cuda_event_record(lab->cuda, timing->begin, error));
    RETURN_IF_ERROR(work(context, error));
    RETURN_IF_ERROR(cuda_event_record(lab->cuda, timing->end, error));
    RETURN_IF_ERROR(cuda_synchronize(lab->cuda, error));
    return cuda_event_elapsed(lab->cuda, timing->begin, timing->end, ms, error);
}

static enum status time_all(struct lab *lab, struct timing *timing, lab_work *work, void *context,
                            struct error *error)
{
    double unmeasured;
    RETURN_IF_ERROR(memory_take(&timing->ms, lab->repeat * sizeof *timing->ms, "a list of times", error));
    RETURN_IF_ERROR(cuda_event_create(lab->cuda, &timing->begin, error));
    RETURN_IF_ERROR(cuda_event_create(lab->cuda, &timing->end, error));
    RETURN_IF_ERROR(time_once(lab, timing, work, context, &unmeasured, error));
    for (uint32_t i = 0; i < lab->repeat; i++)
        RETURN_IF_ERROR(time_once(lab, timing, work, context, &timing->ms[i], error));
    return STATUS_OK;
}

enum status lab_time(struct lab *lab, lab_work *work, void *context, struct speed *speed, struct error *error)
{
    struct timing timing = {0};
    const enum status status = time_all(lab, &timing, work, context, error);
    if (status == STATUS_OK)
        *speed = speed_of(timing.ms, lab->repeat);
    cuda_event_destroy(lab->cuda, timing.begin);
    cuda_event_destroy(lab->cuda, timing.end);
    free(timing.ms);
    return status;
}

/* ---- Checks ---- */

static enum status count_differences(struct lab *lab, const struct dataset *dataset, cuda_address values,
                                     struct lab_kernel *kernel, cuda_address out, uint32_t *wrong,
                                     struct error *error)
{
    char *source;
    cuda_address expected = dataset->on_device;
    uint64_t rows = dataset->rows;
    void *arguments[] = {&values, &expected, &rows, &out};
    RETURN_IF_ERROR(kernel_text_compare(&source, error));
    RETURN_IF_ERROR(lab_kernel_open(lab, source, KERNEL_COMPARE, 256, 0, kernel, error));
    RETURN_IF_ERROR(cuda_set_words(lab->cuda, out, 0, 1, error));
    RETURN_IF_ERROR(lab_kernel_launch(lab, kernel, arguments, error));
    RETURN_IF_ERROR(cuda_copy_to_host(lab->cuda, wrong, out, sizeof *wrong, error));
    return cuda_synchronize(lab->cuda, error);
}

enum status lab_compare(struct lab *lab, const struct dataset *dataset, cuda_address values, const char *what,
                        struct error *error)
{
    struct lab_kernel kernel = {0};
    cuda_address out = 0;
    uint32_t wrong = 0;
    enum status status = cuda_allocate(lab->cuda, sizeof wrong, "a count", &out, error);
    if (status == STATUS_OK)
        status = count_differences(lab, dataset, values, &kernel, out, &wrong, error);
    lab_kernel_close(lab, &kernel);
    cuda_free(lab->cuda, out);
    if (status == STATUS_OK && wrong)
        return error_set(error, STATUS_CHECK_FAILED, "%s: %u of %" PRIu64 " values are decoded wrongly", what,
                         wrong, dataset->rows);
    return status;
}
